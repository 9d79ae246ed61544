"""Controls: an effort limit that changes holds from the next step on; controls end with their step; errors say why."""

import numpy as np
import pytest
from scenes import hinge_and_slider

from vigym import Mechanism, Simulator
from vigym.engine.errors import InputError

ENVS, MASS, DT, EFFORT = 5, 2.0, 0.01, 10.0  # two lane groups, the last one not full
LIMIT, LOWER = 1.5, 0.5  # N, as built and as set later
MASKS = [*np.eye(ENVS, dtype=bool), *~np.eye(ENVS, dtype=bool), np.zeros(ENVS, bool), np.ones(ENVS, bool)]
DRIVES = {
    "effort alone": {},
    "drive": {"kd": 1e-9},
}  # a drive too weak to matter: the kernels cut the effort, not Controls
KINDS = {"compiled": {}, "two threads": {"num_threads": 2}, "uncompiled": {"compiled": False}}


def slider(drive: str, **options) -> Simulator:
    """A wheel and a slider at rest; on the slider, v grows by dt u / m in a step with the effort u."""
    m = hinge_and_slider(mass=MASS, effort_limit=LIMIT, **DRIVES[drive])
    return Simulator(m, dt=DT, num_envs=ENVS, **options)


def pushed(sim: Simulator) -> np.ndarray:
    """Efforts (num_envs,) that reach the slider in a step with more than the limit, and in one the other way."""
    before = sim.joint_velocities()[:, 1]
    sim.step(effort=np.full((ENVS, 2), EFFORT))
    there = sim.joint_velocities()[:, 1]
    sim.step(effort=np.full((ENVS, 2), -EFFORT))
    back = sim.joint_velocities()[:, 1]
    np.testing.assert_allclose(there - before, there - back, rtol=1e-6)
    return (there - before) * MASS / DT


def rolled(sim: Simulator) -> np.ndarray:
    """The same of a rollout."""
    before = sim.joint_velocities()[:, 1]
    effort = np.full((2, ENVS, 2), EFFORT) * np.array([1.0, -1.0])[:, None, None]
    there, back = sim.rollout(effort, read="joint_velocities")["joint_velocities"][..., 1]
    np.testing.assert_allclose(there - before, there - back, rtol=1e-6)
    return (there - before) * MASS / DT


def recorded(sim: Simulator, path) -> np.ndarray:
    """The same of a rollout that is recorded, which runs step by step."""
    with sim.record(path):
        return rolled(sim)


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("drive", DRIVES)
def test_a_limit_that_is_set_holds_from_the_next_step_on(drive, options, tmp_path):
    for k, mask in enumerate(MASKS):
        for how in (pushed, rolled, lambda sim, k=k: recorded(sim, tmp_path / f"{k}.vigym")):
            sim = slider(drive, **options)
            np.testing.assert_allclose(how(sim), LIMIT, rtol=1e-6)
            sim.set_parameters(effort_limit=[LOWER, LOWER], mask=mask)
            np.testing.assert_array_equal(sim.parameter("effort_limit")[:, 1], np.where(mask, LOWER, LIMIT))
            np.testing.assert_allclose(pushed(sim), np.where(mask, LOWER, LIMIT), rtol=1e-6)
            np.testing.assert_allclose(rolled(sim), np.where(mask, LOWER, LIMIT), rtol=1e-6)


@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("how", [pushed, rolled])
def test_a_limit_that_is_restored_holds_from_the_next_step_on(drive, how):
    for mask in MASKS:
        sim = slider(drive)
        first = sim.save()
        sim.set_parameters(effort_limit=[LOWER, LOWER], mask=mask)
        second = sim.save()
        how(sim)
        for one in (sim, slider(drive)):
            one.restore(second)
            np.testing.assert_allclose(how(one), np.where(mask, LOWER, LIMIT), rtol=1e-6)
            one.restore(first)
            np.testing.assert_array_equal(one.parameter("effort_limit"), LIMIT)
            np.testing.assert_allclose(how(one), LIMIT, rtol=1e-6)


def test_a_limit_that_is_set_counts_for_gradients():
    # an effort between both limits: free before, at the limit after
    sim = slider("effort alone")
    effort = np.full((ENVS, 2), 0.5 * (LIMIT + LOWER))
    sim.step(effort)
    assert (np.abs(sim.gradients().effort).max((1, 2)) > 1e-3).all()
    sim.set_parameters(effort_limit=[LOWER, LOWER], mask=np.arange(ENVS) == 1)
    sim.step(effort)
    np.testing.assert_array_equal(np.abs(sim.gradients().effort).max((1, 2)) > 1e-3, np.arange(ENVS) != 1)


def test_some_axes_have_limits():
    m = hinge_and_slider(mass=MASS)
    m.add_body("free", mass=MASS, inertia=(1.0, 1.0, 1.0))
    m.add_joint("rail", "planar", "world", "free", effort_limit=(LIMIT, np.inf, np.inf))
    sim = Simulator(m, dt=DT)
    names = sim.axis_names
    limited = names.index(next(name for name in names if name.startswith("rail")))
    sim.step(np.full((1, len(names)), EFFORT))
    v = sim.joint_velocities()[0]
    np.testing.assert_allclose(v[limited], LIMIT * DT / MASS, rtol=1e-6)
    np.testing.assert_allclose(v[names.index("slide")], EFFORT * DT / MASS, rtol=1e-6)


def test_restored_controls_end_with_the_next_step():
    # saved with an effort in its lanes: a step without controls, right after restoring it, is without that effort
    sim = slider("effort alone")
    sim.step(effort=np.full((ENVS, 2), EFFORT))
    saved = sim.save()
    other = slider("effort alone")
    other.step()
    other.restore(saved)
    v = other.joint_velocities()[:, 1]
    other.step()
    np.testing.assert_allclose(other.joint_velocities()[:, 1], v, rtol=1e-9)


@pytest.mark.parametrize("name", ["target", "target_velocity"])
def test_targets_need_a_drive(name):
    sim = slider("effort alone")
    sim.set_joint_state(np.zeros(2))
    before = sim.save()
    for call in (sim.step, lambda **controls: sim.rollout(**controls, steps=2)):
        with pytest.raises(InputError, match=f"{name} has no effect.*kp or kd"):
            call(effort=np.ones((ENVS, 2)), **{name: np.ones((ENVS, 2))})
        assert sim.save() == before  # the effort was not taken over either


@pytest.mark.parametrize("gains", [{}, {"kp": 100.0, "kd": 1.0}])
def test_a_limit_that_is_lifted(gains):
    """An infinite effort limit lets any effort through, with a drive too; a finite one comes back."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("hinge", "revolute", "world", "wheel", axis=(0, 0, 1), effort_limit=1.0, **gains)
    sims = [Simulator(m, dt=0.01, num_envs=2) for _ in range(2)]
    m2 = Mechanism(gravity=(0, 0, 0))
    m2.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m2.add_joint("hinge", "revolute", "world", "wheel", axis=(0, 0, 1), **gains)
    free = Simulator(m2, dt=0.01)
    sims[0].set_parameters(effort_limit=[np.inf], mask=[True, False])
    assert sims[0].parameter("effort_limit").tolist() == [[np.inf], [1.0]]
    for sim in (*sims, free):
        sim.step(effort=[5.0])
    lifted, limited, unlimited = (sim.joint_velocities()[:, 0] for sim in (*sims, free))
    np.testing.assert_allclose(lifted, [unlimited[0], limited[1]], rtol=1e-9)
    assert lifted[0] > 3 * limited[0]
    sims[0].set_parameters(effort_limit=[1.0])
    for sim in sims:
        sim.set_joint_state([0.0])
        sim.step(effort=[5.0])
    np.testing.assert_allclose(sims[0].joint_velocities(), sims[1].joint_velocities(), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool, list])
def test_efforts_of_any_number_type(dtype):
    """Given for each environment, alike for all, or every other entry of a larger array: it is the same."""
    alike = np.array([0, 1])
    each = np.tile(alike, (ENVS, 1))
    sparse = np.repeat(each, 2, axis=1)[:, ::2]
    seen = []
    for effort in (alike, each, sparse):
        sim = slider("effort alone")
        sim.step(effort.tolist() if dtype is list else effort.astype(dtype))
        seen.append(sim.joint_velocities()[:, 1])
        np.testing.assert_allclose(seen[-1], DT / MASS, rtol=1e-6)
    assert all((other == seen[0]).all() for other in seen)


def test_a_control_that_is_refused_leaves_no_trace():
    sim, twin = slider("effort alone"), slider("effort alone")
    for one in (sim, twin):
        one.step(np.full((ENVS, 2), 0.3))
    bad = np.full((ENVS, 2), 0.7)
    bad[3, 1] = np.nan
    with pytest.raises(InputError, match=r"effort\[3, 1\] is nan"):
        sim.step(bad)
    with pytest.raises(InputError, match=r"force.* is inf"):
        sim.step(np.full((ENVS, 2), 0.7), force=np.full((2, 3), np.inf))
    for one in (sim, twin):
        one.step()
    assert sim.save() == twin.save()
