"""Inputs beyond all reason: the state stays finite, the status says what happened, and a reset makes all good again."""

import numpy as np
import pytest
from scenes import GAP, OPEN, advance, box, chain
from scipy.spatial.transform import Rotation

from vigym import Mechanism, Simulator
from vigym.assets import unitree_a1
from vigym.assets.unitree_a1 import STANDING
from vigym.engine.kernels.integrator import MOST_SPIN
from vigym.engine.kernels.step import TICKS

H = 0.01


def survive(sim: Simulator, steps: int, **controls) -> np.ndarray:
    """Step, and hold the engine to its word after every step; returns the share of the steps that were solved.

    Always: finite numbers, no penetration, joints closed. Solved: the residual is within the tolerance. Not solved: the
    environment is where it was, bit by bit.
    """
    solved = np.zeros(sim.num_envs)
    for k in range(steps):
        before = [*sim.state, np.array(sim.joint_positions())]
        sim.step(**{name: value(k) if callable(value) else value for name, value in controls.items()})
        after, status = [*sim.state, sim.joint_positions()], sim.status
        assert all(np.isfinite(values).all() for values in after), f"not finite after step {k}"
        assert np.isfinite(status.residual).all()
        assert (status.residual[status.converged] <= sim.tolerance).all()
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(new[~status.converged], old[~status.converged])
        assert sim.contact_gaps().min(initial=0.0) >= -GAP
        solved += status.converged
    assert sim.joint_error().max() < OPEN
    return solved / steps


def assert_usable(sim: Simulator, fresh: Simulator, steps: int, **controls) -> None:
    """Put into the state of a fresh simulator, it does the same as that one, bit by bit."""
    start = fresh.state
    for one in (sim, fresh):
        one.set_state(*start)
        advance(one, steps, **controls)
    for a, b in zip(sim.state, fresh.state, strict=True):
        np.testing.assert_array_equal(a, b)


def free_body() -> Mechanism:
    m = Mechanism()
    m.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.25))
    return m


def test_spins_around_the_end_of_the_map():
    # One step can turn by |w| h < 2, and is cut into up to 16 parts for more: to 1.9 * 16 / h. A tumbling body changes
    # its |w| by up to J_max / J_min = 2.5, so those above 12 / h may have to give up at some time, not before.
    size = np.array([0.5, 0.9, 1.2, 1.5, 1.8, 1.89, 1.9, 1.95, 2.0, 2.1, 3.0, 4.0, 6.0, 10.0, 20.0, 30.0]) / H
    w = np.random.default_rng(10).normal(size=(16, 3))
    w *= size[:, None] / np.linalg.norm(w, axis=-1, keepdims=True)
    sim = Simulator(free_body(), dt=H, num_envs=16)
    sim.set_state(w=w[:, None])
    solved = survive(sim, 1000)
    assert (solved[size < 12.0 / H] == 1.0).all()
    assert_usable(sim, Simulator(free_body(), dt=H, num_envs=16), 20)


def test_momentum_of_fast_spins():
    # The law of the free body holds across substeps of any length: round-off and 1e-8 N m for h in each part of a step.
    w = np.random.default_rng(11).normal(size=(8, 3))
    w *= np.linspace(1.0, 8.0, 8)[:, None] / H / np.linalg.norm(w, axis=-1, keepdims=True)
    sim = Simulator(free_body(), dt=H, num_envs=8)
    sim.set_state(w=w[:, None])
    start = sim.momentum()[:, 3:]
    assert (survive(sim, 300) == 1.0).all()
    np.testing.assert_allclose(sim.momentum()[:, 3:], start, atol=300 * H * sim.tolerance)


def test_a_torque_that_no_step_can_follow():
    # w = h tau / J beyond MOST_SPIN TICKS / h, in every second environment; the others are not disturbed.
    h, mad = H, np.arange(8) % 2 == 1
    torque = np.zeros((8, 1, 3))
    torque[:, 0, 0] = np.where(mad, 2 * MOST_SPIN * TICKS / h * 0.1 / h, 0.5)
    sim, calm = (Simulator(free_body(), dt=h, num_envs=8) for _ in range(2))
    solved = survive(sim, 5, torque=torque)
    assert (solved[~mad] == 1.0).all()
    assert (solved[mad] < 0.5).all()
    assert (sim.status.residual[mad] > sim.tolerance).all()
    advance(calm, 5, torque=torque * ~mad[:, None, None])
    np.testing.assert_array_equal(sim.state.w[~mad], calm.state.w[~mad])
    sim.set_state(*(values[:] for values in calm.state), mask=mad)
    advance(sim, 20)


@pytest.mark.parametrize("h", [0.05, 0.01, 0.002])
def test_impacts_at_50_m_s(h):
    # Boxes shot at the ground in all poses, spinning at up to 30 rad/s.
    count, rng = 16, np.random.default_rng(12)
    q = np.roll(Rotation.random(count, rng).as_quat(), 1, axis=-1)
    x = np.stack([*np.zeros((2, count)), rng.uniform(0.5, 2.0, count)], -1)
    v = np.stack([*rng.normal(scale=10.0, size=(2, count)), np.full(count, -50.0)], -1)
    w = rng.normal(scale=15.0, size=(count, 3))
    sim = Simulator(box(), dt=h, num_envs=count)
    sim.set_state(x[:, None], q[:, None], v[:, None], w[:, None])
    solved = survive(sim, round(0.5 / h))
    assert (solved == 1.0).all()  # violent, but with a solution
    assert np.abs(sim.state.v[:, 0, 2]).max() < 50.0
    assert_usable(sim, Simulator(box(), dt=h, num_envs=count), 20)


@pytest.mark.parametrize("h", [0.01, 0.005, 0.001])
@pytest.mark.parametrize("speed", [3.0, 30.0])
def test_a_box_that_lies_flat_is_slammed_down(h, speed):
    # Four contacts closed from the start, and velocities of m/s and rad/s into the ground and along it: two of the
    # corners must stop at once, with forces of m v / h. There is a solution, so it has to be found.
    count, rng = 256, np.random.default_rng(16)
    v, w = speed / 3 * rng.normal(size=(count, 1, 3)), speed * rng.normal(size=(count, 1, 3))
    v[..., 2] = -np.abs(v[..., 2])
    sim = Simulator(box(), dt=h, num_envs=count)
    sim.set_state(v=v, w=w)
    assert (survive(sim, 10) == 1.0).all()


def test_spinning_boxes_hit_the_ground():
    # |w| from 0.5 / h to 10 / h: corners at up to 250 m/s.
    count, rng = 8, np.random.default_rng(13)
    w = rng.normal(size=(count, 3))
    w *= np.geomspace(0.5, 10.0, count)[:, None] / H / np.linalg.norm(w, axis=-1, keepdims=True)
    sim = Simulator(box(), dt=H, num_envs=count)
    sim.set_state(x=np.broadcast_to([0.0, 0.0, 0.5], (count, 1, 3)), v=np.full((count, 1, 3), -1.0), w=w[:, None])
    survive(sim, 100)
    assert_usable(sim, Simulator(box(), dt=H, num_envs=count), 20)


def standing(**options) -> Simulator:
    sim = Simulator(unitree_a1.build(**options), dt=0.005, num_envs=4)
    sim.set_joint_state(STANDING)
    return sim


@pytest.mark.parametrize("times", [1.0, 10.0, 100.0])
def test_efforts_of_a_robot_without_limits_of_effort(times):
    # 100 times what its motors can do accelerates a calf by 1e6 rad/s^2 and slams all joints into their stops.
    rng = np.random.default_rng(14)
    sim = standing(effort_limit=np.inf)
    solved = survive(sim, 60, effort=lambda k: times * unitree_a1.EFFORT_LIMIT * rng.uniform(-1, 1, (4, 12)))
    if times == 1.0:
        assert (solved == 1.0).all()
    assert_usable(sim, standing(effort_limit=np.inf), 20, target=STANDING)


def test_a_robot_shot_at_the_ground():
    sim = standing()
    x = sim.state.x
    sim.set_state(x=x + np.array([0, 0, 0.3]), v=np.broadcast_to([10.0, 0.0, -50.0], x.shape))
    survive(sim, 60, target=STANDING)
    assert_usable(sim, standing(), 20, target=STANDING)


def test_a_whip():
    # Links of 0.3 m at 10 ms: the tip turns by 1 rad a step and more, too fast to be followed well, not to be survived.
    sim = Simulator(chain(10, "revolute"), dt=H, num_envs=4)
    sim.set_joint_state(np.random.default_rng(15).normal(scale=0.3, size=(4, 10)))
    survive(sim, 4000)
    assert_usable(sim, Simulator(chain(10, "revolute"), dt=H, num_envs=4), 20)
