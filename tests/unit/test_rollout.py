"""A rollout is its steps one after the other, to the bit."""

import numpy as np
import pytest
from scenes import hinge_and_slider

from vigym import Mechanism, Simulator
from vigym.engine.errors import InputError
from vigym.engine.recording import Recording

ENVS, STEPS = 10, 21  # the last lane group is half empty; steps that do not fill the tasks of threads
CONTROLS = ("effort", "force", "torque", "target", "target_velocity")
READ = ("x", "q", "v", "w", "joint_positions", "joint_velocities")


def leg() -> Mechanism:
    """Two links above the ground; drives with damping, a foot."""
    m = Mechanism()
    m.add_body("thigh", mass=1.0, inertia=(0.02, 0.02, 0.01))
    m.add_body("shin", mass=0.5, inertia=(0.01, 0.01, 0.002))
    m.add_joint(
        "hip", "universal", "world", "thigh", parent_anchor=(0, 0, 0.75), child_anchor=(0, 0, 0.2), kp=5, kd=0.1
    )
    anchors = {"parent_anchor": (0, 0, -0.2), "child_anchor": (0, 0, 0.2)}
    m.add_joint("knee", "revolute", "thigh", "shin", axis=(0, 1, 0), **anchors, kp=5, effort_limit=2.0)
    m.add_contact("foot", "shin", (0, 0, -0.2), friction=0.5, offset=-0.045)
    return m


def simulator(**options) -> Simulator:
    """Environments that start in poses of their own."""
    sim = Simulator(leg(), num_envs=ENVS, **options)
    sim.set_joint_state(np.random.default_rng(0).uniform(-0.3, 0.3, (ENVS, 3)))
    return sim


@pytest.fixture(scope="module")
def controls() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = dict(zip(CONTROLS, [(3,), (2, 3), (2, 3), (3,), (3,)], strict=True))
    return {name: rng.normal(size=(STEPS, ENVS, *shape)) for name, shape in shapes.items()}


def one_by_one(sim: Simulator, steps: int, controls: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    seen: dict[str, list] = {name: [] for name in READ}
    for k in range(steps):
        sim.step(**{name: value[k] for name, value in controls.items()})
        for name, value in zip(READ, (*sim.state, sim.joint_positions(), sim.joint_velocities()), strict=True):
            seen[name].append(value)
    return {name: np.array(values) for name, values in seen.items()}


def assert_same(sim: Simulator, rolled: dict[str, np.ndarray], controls: dict[str, np.ndarray], steps: int = STEPS):
    other = simulator()
    expected = one_by_one(other, steps, controls)
    assert np.abs(expected["x"][-1] - expected["x"][0]).max() > 0.01
    for name, value in expected.items():
        np.testing.assert_array_equal(rolled[name], value, err_msg=name)
    for one in (sim, other):  # status is that of a call: make the last one the same
        one.step()
    assert sim.save() == other.save()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_steps_one_after_the_other(threads, controls):
    sim = simulator(num_threads=threads)
    assert_same(sim, sim.rollout(**controls, read=READ), controls)


@pytest.mark.parametrize("name", CONTROLS)
def test_a_single_control(name, controls):
    sim, some = simulator(), {name: controls[name]}
    assert_same(sim, sim.rollout(**some, read=READ), some)


def test_the_foot_touches_and_efforts_are_cut(controls):
    # what the others would not see: the scene has contact, and efforts beyond what the knee may have
    sim = simulator()
    sim.rollout(**controls)
    assert (sim.contact_gaps() < 1e-9).any()
    assert np.abs(controls["effort"][..., 2]).max() > 2.0


def test_controls_that_stay(controls):
    sim, effort = simulator(), controls["effort"][0]
    rolled = sim.rollout(effort, target=controls["target"], read=READ)
    assert_same(sim, rolled, {"effort": np.tile(effort, (STEPS, 1, 1)), "target": controls["target"]})


def test_memory_that_is_there(controls):
    sim = simulator()
    rolled = simulator().rollout(**controls, read=READ)
    for value in rolled.values():
        value[:] = np.nan
    assert sim.rollout(**controls, out=rolled) == rolled  # the same arrays
    assert_same(sim, rolled, controls)


def test_memory_that_controls_are_in(controls):
    buffer = np.zeros((STEPS + 1, ENVS, 2, 3))
    buffer[:-1] = controls["force"]
    rolled = simulator().rollout(force=buffer[:-1], out={"x": buffer[1:]})["x"]
    np.testing.assert_array_equal(rolled, simulator().rollout(force=controls["force"])["x"])


def test_without_controls():
    sim = simulator()
    assert_same(sim, sim.rollout(steps=5, read=READ), {}, steps=5)


def test_controls_of_the_step_before_are_over(controls):
    sims = [simulator(), simulator()]
    for sim in sims:
        sim.step(force=controls["force"][0], effort=controls["effort"][0])
    x = sims[0].rollout(steps=3)["x"]
    np.testing.assert_array_equal(x, one_by_one(sims[1], 3, {})["x"])


def test_uncompiled(controls):
    sim, expected = simulator(compiled=False), simulator()
    some = {name: value[:3] for name, value in controls.items()}
    rolled, others = sim.rollout(**some), expected.rollout(**some)
    for name in "xqvw":
        np.testing.assert_allclose(rolled[name], others[name], atol=1e-8)
    assert (abs(sim.status.iterations - expected.status.iterations) <= 2).all()


def test_recorders_see_every_step(tmp_path, controls):
    sim = simulator()
    with sim.record(tmp_path / "run.vigym"):
        rolled = sim.rollout(**controls, read=READ)
    assert_same(sim, rolled, controls)
    recording = Recording.load(tmp_path / "run.vigym")
    np.testing.assert_allclose(recording.x[-STEPS:], rolled["x"][:, 0], atol=1e-6)


@pytest.mark.parametrize("threads", [1, 3])
def test_status_is_that_of_the_call(threads, controls):
    sim = simulator(num_threads=threads)
    iterations = np.zeros(ENVS, int)
    for k in range(STEPS):
        sim.step(target=controls["target"][k])
        iterations += sim.status.iterations
    sim = simulator(num_threads=threads)
    sim.rollout(target=controls["target"], read=())
    np.testing.assert_array_equal(sim.status.iterations, iterations)
    assert (sim.status.substeps >= STEPS).all()


@pytest.mark.parametrize("record", [False, True], ids=["native", "recorded"])
def test_an_environment_that_fails_takes_no_part_in_the_rest(tmp_path, controls, record):
    sim, force = simulator(), np.zeros((STEPS, ENVS, 2, 3))
    force[10, 4] = 1e300
    if record:
        sim.record(tmp_path / "run.vigym")
    x = sim.rollout(force=force)["x"]
    assert list(np.flatnonzero(~sim.status.converged)) == [4]
    np.testing.assert_array_equal(x[10:, 4], np.tile(x[9, 4], (STEPS - 10, 1, 1)))
    calm = np.arange(ENVS) != 4
    np.testing.assert_array_equal(x[:, calm], simulator().rollout(steps=STEPS)["x"][:, calm])


def test_what_cannot_be_done(controls):
    sim = simulator()
    before = sim.save()
    for wrong, said in (
        ({}, "pass `steps=`"),
        ({"effort": np.zeros((ENVS, 3))}, "pass `steps=`"),
        ({"steps": 0}, "steps must be a positive integer"),
        ({"effort": np.zeros((0, ENVS, 3))}, "number of steps in effort"),
        ({"effort": np.zeros((5, ENVS, 3)), "target": np.zeros((4, ENVS, 3))}, r"target must have shape \(5, 10, 3\)"),
        ({"effort": np.zeros((5, ENVS, 3)), "steps": 4}, r"effort must have shape \(4, 10, 3\)"),
        ({"effort": np.full((5, ENVS, 3), np.nan)}, r"effort\[0, 0, 0\] is nan"),
        ({"steps": 2, "read": ("x", "joint_position")}, "did you mean 'joint_positions'"),
        ({"steps": 2, "read": "y"}, "cannot read 'y'"),
        ({"effort": [[[1, 2]], [[3]]]}, "effort must be"),
        ({"steps": 2, "out": {"y": np.zeros(3)}}, "cannot read 'y'"),
        ({"steps": 2, "out": {"x": np.zeros((3, ENVS, 2, 3))}}, r"out\['x'\] must be .* \(2, 10, 2, 3\)"),
        ({"steps": 2, "out": {"x": np.zeros((2, ENVS, 3, 2)).swapaxes(2, 3)}}, "contiguous"),
    ):
        with pytest.raises(InputError, match=said):
            sim.rollout(**wrong)
        assert sim.save() == before
    assert list(sim.rollout(steps=2, read="joint_positions")) == ["joint_positions"]
    assert list(sim.rollout(steps=2, read=(name for name in "xv"))) == ["x", "v"]


def test_controls_alike_for_all_environments_and_steps():
    one, other = (Simulator(hinge_and_slider(), num_envs=3) for _ in range(2))
    n = one.model.n_axes
    paths = one.rollout(effort=np.full(n, 0.1), steps=4), other.rollout(effort=np.full((4, 3, n), 0.1))
    for name, path in paths[0].items():
        np.testing.assert_array_equal(path, paths[1][name])


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"effort": np.nan, "steps": 2}, {"steps": 2, "read": "y"}, {"steps": 2, "force": [1.0]}]
)
def test_a_refused_rollout_changes_nothing(wrong):
    """Not even that the start was looked at."""
    sim = Simulator(hinge_and_slider(), num_envs=3)
    saved = sim.save()
    with pytest.raises(InputError):
        sim.rollout(**wrong)
    assert sim.save() == saved
