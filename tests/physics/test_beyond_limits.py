"""Coordinates that are set beyond their limits, which `overlap="keep"` allows, return to them without a jump."""

import numpy as np
import pytest

from vigym import Mechanism, Simulator, StateError

RETURN = 0.05  # s, of kernels/axis.py


def simulator(kind: str, dt: float, num_envs: int = 1) -> Simulator:
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("arm", 2.0, (0.3, 0.3, 0.3))
    m.add_joint("axis", kind, "world", "arm", axis=(0, 1, 0), lower=0.2, upper=0.9)
    return Simulator(m, dt=dt, num_envs=num_envs, tolerance=1e-10)


@pytest.mark.parametrize("dt", [0.002, 0.01, 0.1])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(("start", "limit"), [(-0.4, 0.2), (1.3, 0.9)])
def test_what_is_beyond_is_pushed_back_at_a_bounded_speed(kind, dt, start, limit):
    """The first step takes h / (RETURN + h) of it away. Limits push but do not pull, so that a body without a load goes
    on at that speed until it is at the other limit, and stops there."""
    sim = simulator(kind, dt)
    with pytest.raises(StateError, match="beyond its"):
        sim.set_joint_state([[start]])
    sim.set_joint_state([[start]], overlap="keep")
    speed = (limit - start) / (RETURN + dt)
    for k in range(1, int(RETURN / dt) + 2):
        sim.step()
        assert sim.joint_velocities()[0, 0] == pytest.approx(speed, rel=1e-6)
        assert sim.joint_positions()[0, 0] == pytest.approx(start + k * dt * speed, abs=1e-6)
    sim.step(repeat=int(np.ceil(1.0 / dt)))
    assert sim.joint_positions()[0, 0] == pytest.approx(0.9 if limit == 0.2 else 0.2, abs=1e-6)
    assert abs(sim.joint_velocities()[0, 0]) < 1e-6


@pytest.mark.parametrize("effort", [0.5, 50.0])
def test_a_load_does_not_take_it_deeper(effort):
    """Against an effort that pulls outwards, what is beyond shrinks by RETURN / (RETURN + h) in every step."""
    sim, dt = simulator("revolute", 0.01), 0.01
    sim.set_joint_state([[-0.4]], overlap="keep")
    beyond = 0.6
    for _ in range(30):
        sim.step(effort=[[-effort]])
        assert 0.2 - sim.joint_positions()[0, 0] <= beyond * RETURN / (RETURN + dt) + 1e-7
        beyond = 0.2 - sim.joint_positions()[0, 0]


def test_an_environment_within_its_limits_is_not_changed_by_others():
    """To the bit: one of a batch is within its limits, others are not."""
    batch, alone = simulator("revolute", 0.01, 4), simulator("revolute", 0.01)
    batch.set_joint_state([[-0.4], [0.5], [1.3], [0.2]], np.full((4, 1), 2.0), overlap="keep")
    alone.set_joint_state([[0.5]], [[2.0]])
    for _ in range(40):
        batch.step()
        alone.step()
        assert batch.joint_positions()[1, 0] == alone.joint_positions()[0, 0]
