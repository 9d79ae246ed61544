"""`vigym bench envs` in small: every figure is there and can be right; how fast things are is not asserted."""

import csv
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from vigym.benchmarks import environments
from vigym.envs.registration import CLASSICS, ENVIRONMENTS

pytest.importorskip("mujoco")
SOME = ("VICartPole-v0", "VIHopper-v0", "VIQuadruped-v0", "VIReacher-v0")


@pytest.fixture(scope="module", params=[SOME, pytest.param(tuple(ENVIRONMENTS), marks=pytest.mark.slow)])
def figures(request) -> tuple[tuple[str, ...], list[environments.Figure]]:
    """Ids, and what is measured of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environments, "ENVIRONMENTS", request.param)
        patch.setattr(environments, "BATCH", 8)
        patch.setattr(environments, "PEER_BATCH", 2)
        patch.setattr(environments, "BATCHES", environments.BATCHES[:1])
        peers = list(environments.PEERS.items())
        patch.setattr(environments, "PEERS", dict([*peers[:3], peers[-1]]))
        batches = environments.batches(1, 4)
        made = batches + environments.singles(1, 4) + environments.overheads(1, 4) + environments.pictures(1)
    return request.param, made


def test_every_environment_has_a_share_of_its_own(figures):
    ids, made = figures
    shares = {figure.name.split(",")[0]: figure.measured for figure in made if "outside" in figure.name}
    assert list(shares) == list(ids)
    assert all(0 < share < 1 for share in shares.values())  # 1 if the kernels' time were not taken


def test_each_goal_is_judged_once(figures):
    # a batch, pictures, four peers, and all that is outside the engine
    ids, made = figures
    assert len([figure for figure in made if figure.goal]) == 2 + 4 + len(ids)
    assert all((figure.reached is None) == (not figure.goal) for figure in made)


class Clock:
    """Stands in for the module `time`: every look at it is `tick` seconds after the last one."""

    def __init__(self, tick: float) -> None:
        self.now, self.tick = 0.0, tick

    def perf_counter(self) -> float:
        self.now += self.tick
        return self.now


def test_steps_a_second(monkeypatch):
    """4 steps of 3 environments in 0.5 s; 5 steps of one environment, 0.25 s each, the last but one ends an episode."""
    monkeypatch.setattr(environments, "time", Clock(0.5))
    batch = SimpleNamespace(num_envs=3, step=lambda action: None)
    assert environments.steps_per_second(batch, [np.zeros(1)], 4) == 4 * 3 / 0.5
    monkeypatch.setattr(environments, "time", Clock(0.25))
    ends, resets = iter([False, False, False, True, False]), []
    single = SimpleNamespace(step=lambda action: (0, 0.0, next(ends), False, {}), reset=lambda: resets.append(1))
    # from the first look at the clock to the last: 2 before and after each of 5 steps, and one at the end
    assert environments.microseconds(single, [np.zeros(1)], 5) == pytest.approx((0.25e6, 11 * 0.25e6 / 5))
    assert len(resets) == 1


@pytest.mark.parametrize(("own", "reached"), [(49.0, False), (50.0, True)])
def test_five_times_the_steps_of_ant(own, reached, monkeypatch):
    monkeypatch.setattr(environments, "BATCH", 2)
    monkeypatch.setattr(environments, "PEER_BATCH", 1)
    monkeypatch.setattr(environments, "BATCHES", (("VIQuadruped-v0", "Ant-v5", 5.0),))
    rates = {2: own, 1: 10.0}  # by size of the batch
    monkeypatch.setattr(environments, "steps_per_second", lambda env, actions, count: rates[env.num_envs])
    ours, theirs, ratio = environments.batches(1, 4)
    assert (ours.measured, theirs.measured) == (own, 10.0)
    assert (ratio.measured, ratio.reached) == (own / 10.0, reached)


def test_peers_of_the_classics_are_gymnasiums():
    """Every one has the environment whose spaces it has, and no other peer."""
    for name in CLASSICS:
        ours, theirs = gym.make(name), gym.make(environments.PEERS[name][0])
        assert ours.action_space == theirs.action_space
        assert ours.observation_space.shape == theirs.observation_space.shape


@pytest.mark.parametrize(("own", "reached"), [(100.0, True), (110.0, False)])
def test_as_fast_as_a_peer(own, reached, monkeypatch):
    """Best of two passes each, the step and the step with resets by themselves."""
    passes = iter([(70.0, own), (100.0, 200.0), (60.0, own + 5), (120.0, 190.0)])
    monkeypatch.setattr(environments, "microseconds", lambda env, actions, count: next(passes))
    monkeypatch.setattr(environments, "PEERS", {"VIHopper-v0": ("Hopper-v5", 1.9)})
    _, _, steps, resets = environments.singles(1, 4)
    assert steps.measured == pytest.approx(100.0 / 60.0)
    assert resets.measured == pytest.approx(190.0 / own)
    assert resets.reached == reached


def test_the_least_time_of_each_step_counts(monkeypatch):
    """Two repeats of two steps: 1 and 2 s in the kernels, 1 s around them, with a delay of 7 s here and there."""
    inside, outside = iter([9, 2, 1, 2, 1]), iter([9, 1, 8, 8, 1])  # the first is not measured
    clock = SimpleNamespace(now=0.0)
    clock.perf_counter = lambda: clock.now
    monkeypatch.setattr(environments, "time", clock)

    def run(repeat):
        clock.now += next(inside)

    lanes = type("Lanes", (), {"run": staticmethod(run)})()

    def step(action):
        lanes.run(1)
        clock.now += next(outside)

    sim = SimpleNamespace(_lanes=lanes)
    env = SimpleNamespace(task=SimpleNamespace(sim=sim), step=step, reset=lambda seed: None, action_space=np.zeros(1))
    assert environments.share_outside(env, 2, 2) == pytest.approx(2 / (3 + 2))


def test_files(figures, tmp_path):
    made = figures[1]
    table, page = environments.write(made, tmp_path, "a machine")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["measured"]) for row in rows] == [figure.measured for figure in made]
    text = page.read_text()
    assert text.startswith("# a machine")
    assert all(figure.name in text for figure in made)
