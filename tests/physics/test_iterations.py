"""Newton iterations that a step of a walking robot takes."""

import numpy as np
from scenes import advance

from vigym import Simulator
from vigym.assets import unitree_a1
from vigym.assets.unitree_a1 import STANDING
from vigym.engine.kernels import interior_point
from vigym.engine.model import WARM_START_FLOOR

H = 0.005


def trot(k: int) -> np.ndarray:
    """Targets (12,) at step k: diagonal legs swing together, 2.5 times a second, and lift their feet by some cm."""
    phase = 2 * np.pi * 2.5 * k * H + np.array([0.0, np.pi, np.pi, 0.0])
    lift = np.maximum(np.sin(phase), 0.0)
    return np.stack([0 * phase, 0.8 + 0.2 * lift + 0.05 * np.cos(phase), -1.6 - 0.4 * lift], -1).reshape(12)


def pushed(**controls) -> tuple[float, np.ndarray, Simulator]:
    """Mean iterations of 4 robots over 3 s, all but the first pushed sideways at the trunk; contacts of every step."""
    sim = Simulator(unitree_a1.build(), dt=H, num_envs=4)
    sim.set_joint_state(STANDING)
    force = np.zeros((4, 13, 3))
    force[:, 0] = [[0, 0, 0], [5, 0, 0], [0, 5, 0], [-3, 3, 0]]
    seen = advance(
        sim,
        round(3.0 / H),
        lambda: [sim.status.iterations, (sim.contact_gaps() < 1e-6).sum(-1)],
        force=force,
        **controls,
    )
    iterations, contacts = seen[:, 0], seen[:, 1]
    return iterations[contacts > 0].mean(), contacts, sim


def test_standing():
    mean, contacts, sim = pushed(target=STANDING)
    assert (contacts > 0).all()
    assert mean <= 3
    # it does stand, on drives of 60 to 100 N m/rad that give way a little, and carries its weight
    weight = 9.81 * sum(body.mass for body in unitree_a1.build().bodies)
    np.testing.assert_allclose(sim.contact_forces().sum(1)[:, 2], weight, rtol=0.05)
    assert (sim.state.x[:, 0, 2] > 0.25).all()


def test_targets_that_jump():
    """Motors told something else at every fourth step: what a policy does before it has learned anything."""
    sim = Simulator(unitree_a1.build(), dt=H, num_envs=16)
    sim.set_joint_state(STANDING)
    rng = np.random.default_rng(0)
    jumps = STANDING + 0.5 * rng.normal(size=(50, 16, 12))
    iterations = advance(sim, 200, lambda: sim.status.iterations, target=lambda k: jumps[k // 4])
    assert iterations.mean() <= 8


def test_the_floor_of_the_warm_start_is_learned():
    """Lower where nothing changes, higher where everything does; anew after a reset."""
    sim = Simulator(unitree_a1.build(), dt=H, num_envs=2)
    sim.set_joint_state(STANDING)
    rng = np.random.default_rng(0)
    start = sim.state
    jumps = np.stack([np.zeros((100, 12)), 0.5 * rng.normal(size=(100, 12))], 1)
    advance(sim, 100, target=lambda k: STANDING + jumps[k])
    still, moved = sim._get("floor")
    assert still < WARM_START_FLOOR < moved
    sim.set_state(*start, mask=[False, True])
    sim.step(target=STANDING)
    changes = [interior_point.LOWERED, interior_point.RAISED]
    assert np.isclose(sim._get("floor")[1], np.multiply(changes, WARM_START_FLOOR)).any()


def test_trotting():
    mean, contacts, sim = pushed(target=trot)
    assert (contacts == 2).mean() > 0.5  # on two feet most of the time
    assert (contacts > 0).mean() > 0.95
    assert mean <= 4
    assert (sim.state.x[:, 0, 2] > 0.25).all()  # and still up
