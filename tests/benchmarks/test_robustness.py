"""The benchmark of robustness: what it counts is what the status says, and a saved failure fails again."""

import pickle

import numpy as np
import pytest

from vigym import Mechanism, Simulator
from vigym.benchmarks import robustness
from vigym.benchmarks.extremes import ENDS, NUM_ENVS, Case, Kicked, Scene, cases, scene
from vigym.benchmarks.robustness import Robustness, classes, measure
from vigym.benchmarks.touching import counted
from vigym.envs.registration import ENVIRONMENTS


class Spinning(Scene):
    """Tops that are turned faster and faster; one environment in eight is turned too fast to be solved."""

    def __init__(self, num_envs: int, seed: int) -> None:
        m = Mechanism(gravity=(0, 0, 0))
        m.add_body("top", mass=1.0, inertia=(1.0, 1.0, 1.0))
        self.sim = Simulator(m, num_envs=num_envs)
        self.torque = np.zeros((num_envs, 1, 3))
        self.torque[::8, 0, 2] = 1e300

    def step(self) -> int:
        self.sim.step(torque=self.torque, repeat=2)
        return 2

    def end(self) -> None:
        pass


def test_failures_are_counted_and_saved(tmp_path):
    count = measure(Case("extreme", "tops", Spinning), 3 * NUM_ENVS, folder=tmp_path)
    assert (count.steps, count.failed, count.cut) == (3 * NUM_ENVS, 3 * NUM_ENVS // 8, 0)
    files = sorted(tmp_path.iterdir())
    assert len(files) == count.failed
    saved = pickle.loads(files[0].read_bytes())
    saved["sim"].step(**saved["controls"], repeat=saved["repeat"])
    assert not saved["sim"].status.converged[saved["env"]]


def test_a_saved_step_is_the_one_that_was_made():
    """A copy from before a step of an environment, with drives and pushes, makes the same step."""
    ranges = {"push": (50.0, 90.0), "push_interval": (0.02, 0.04), "gains": (0.5, 2.0)}
    own = scene("VIQuadruped-v0", randomization=ranges, terrain="steps")(8, 3)
    for _ in range(5):
        before = own.sim._lanes.saved()
        repeat = own.step()
        sim, controls, repeat = robustness.rewound(own, before, repeat)
        sim.step(**controls, repeat=repeat)
        assert sim.save() == own.sim.save()
        own.end()


def test_every_case_is_one_of_every_environment():
    found = list(cases())
    for kind in ("default", "randomized"):
        assert [case.name for case in found if case.kind == kind] == list(ENVIRONMENTS)
    assert set(ENDS) <= set(ENVIRONMENTS)
    assert {case.kind for case in found} == {
        "default",
        "randomized",
        "extreme",
        "ball-joint snake",
        "kicked A1",
        "touching",
    }


def test_scenes_begin_anew():
    own = scene("VICartPole-v0")(4, 0)
    for _ in range(60):
        own.step()
        own.end()
    assert (own.task.elapsed < 60).any()
    kicked = Kicked(4, 0)
    kicked.age[:] = 79
    kicked.step()
    kicked.end()
    np.testing.assert_array_equal(kicked.sim.state.x, kicked.begun.x)


def test_command(capsys, tmp_path):
    out = tmp_path / "counts.csv"
    assert Robustness(steps=100, only=("default: VIPendulum",), out=out).run() == 0
    assert "| default | 128 | 0 | 0 | 0 | 0 |" in capsys.readouterr().out
    assert out.read_text().split() == ["class,case,steps,failed,relaxed,cut", "default,VIPendulum-v0,128,0,0,0"]


def test_more_failures_than_wanted_are_told(capsys, monkeypatch):
    monkeypatch.setattr(robustness, "cases", lambda: [Case("default", "tops", Spinning)])
    assert Robustness(steps=64).run() == 1
    assert "| default | 64 | 125,000 | 0 | 0 | 0 |" in capsys.readouterr().out


def case_of(name: str) -> Case:
    return next(case for case in cases() if (case.kind, case.name) == ("touching", name))


@pytest.mark.parametrize("name", ["stack of 20", "house of cards", "pinch", "gripper at 5 g", "ball in a groove"])
def test_bodies_that_touch_need_no_shorter_step(name):
    count = measure(case_of(name), 3000, seed=1)
    assert (count.failed, count.relaxed, count.cut) == (0, 0, 0)


def test_things_that_are_dropped_hardly_ever_need_a_shorter_step():
    # 64 times 4 balls and 4 boxes, to the time when all have landed on each other with up to 7 m/s
    count = measure(case_of("8 things dropped"), 100 * NUM_ENVS, seed=1)
    assert count.failed == 0
    assert count.relaxed + count.cut <= 10


def test_every_scene_begins_differently_in_each_environment():
    for name, make in counted.scenes():
        if counted.SCENES[name].make in (counted.piles.stack, counted.grips.gripper):
            scene = make(3, 0)
            scene.step()
            assert len(np.unique(scene.sim.state.x.sum((1, 2)))) == 3
            scene.left[1] = 0
            scene.end()
            assert scene.age.tolist() == [1, 0, 1]
            np.testing.assert_array_equal(scene.sim.state.x[1], scene.begun.x[1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["default", "randomized", "extreme"])
def test_as_few_failures_as_wanted(kind):
    counts = [measure(case, 20_000, seed=5) for case in cases() if case.kind == kind]
    failed, steps = sum(count.failed for count in counts), sum(count.steps for count in counts)
    assert failed <= robustness.GOALS[kind] * steps / 1e6, classes(counts)
