"""Models that should stand or rest do so for 10 s, from the first step on, and creep by at most 1e-6 m."""

from collections.abc import Callable

import numpy as np
import pytest
import scenes

from vigym import Mechanism, Simulator
from vigym.assets import (
    cartpole,
    cube,
    disc,
    double_pendulum,
    four_bar,
    hopper,
    pendulum,
    scissor_lift,
    snake,
    unitree_a1,
)

CREEP = 1e-6  # m, of any body
SECONDS = 10.0

RESTING: dict[str, Callable[[], Mechanism]] = {
    "unitree_a1": unitree_a1.build,
    "unitree_a1, slippery": lambda: unitree_a1.build(friction=0.1),
    "snake, ball joints": snake.build,
    "snake, hinges": lambda: snake.build(joints="hinge", links=7, length=0.2, radius=0.03, contact_radius=0.03),
    "snake, springs": lambda: snake.build(links=5, stiffness=10.0, damping=1.0),
    "cube": cube.build,
    "disc, 3 contacts": lambda: disc.build(contacts=3),
    "disc, 20 contacts": lambda: disc.build(contacts=20),
    "pendulum": pendulum.build,
    "double_pendulum": double_pendulum.build,
    "cartpole, hanging": lambda: cartpole.build(angle=np.pi),
    "four_bar": four_bar.build,
    "scissor_lift": scissor_lift.build,
    "scissor_lift, tall": lambda: scissor_lift.build(cells=6, angle=0.9, platform_mass=20.0),
}


def creep(sim: Simulator, **controls) -> float:
    """Largest distance of any body from where it is now, over SECONDS, m."""
    start = sim.state.x
    far = scenes.advance(
        sim, round(SECONDS / sim.dt), lambda: np.linalg.norm(sim.state.x - start, axis=-1).max(), **controls
    )
    return far.max()


@pytest.mark.parametrize("name", RESTING)
def test_rests_where_it_starts(name):
    sim = Simulator(RESTING[name](), dt=0.01)
    if sim.model.n_contacts:
        assert abs(sim.contact_gaps().min()) < 1e-12
    assert creep(sim) < CREEP


def settled(sim: Simulator, seconds: float, **controls) -> Simulator:
    scenes.advance(sim, round(seconds / sim.dt), **controls)
    return sim


def test_a1_told_to_hold_its_pose_sags_and_then_keeps_still():
    # Told to hold STANDING itself, its drives give way to the weight: up to 4.3 N m / 60 N m/rad = 0.07 rad at the
    # knees. The feet, pushed apart, must then be held by friction.
    sim = Simulator(unitree_a1.build(), dt=0.005)
    height = sim.state.x[0, 0, 2]
    settled(sim, 5.0, target=unitree_a1.STANDING)
    assert 0.005 < height - sim.state.x[0, 0, 2] < 0.05
    assert np.abs(sim.contact_forces()[0, :, :2]).max() > 0.1  # N
    assert creep(sim) < CREEP


def test_a1_dropped_comes_to_rest():
    sim = Simulator(unitree_a1.build(), dt=0.01)
    sim.set_state(x=sim.state.x + np.array([0, 0, 0.05]))
    settled(sim, 5.0)
    assert creep(sim) < CREEP


@pytest.mark.parametrize("build", [cube.build, disc.build, lambda: snake.build(links=4)], ids=["cube", "disc", "snake"])
def test_thrown_comes_to_rest(build):
    sim = Simulator(build(), dt=0.01)
    v = np.zeros_like(sim.state.v)
    v[...] = (0.8, 0.3, 0.0)
    sim.set_state(x=sim.state.x + np.array([0, 0, 0.02]), v=v)
    settled(sim, 5.0)
    assert creep(sim) < CREEP


def balance(sim: Simulator) -> np.ndarray:
    """Torque on the hopper's sphere, in its frame (1, 2, 3): kp (z x up) - kd w, which turns its z axis up.

    The weight tips it with m g l = 4.7 N m/rad, so kp is more. The damping lags by a step h, so it stays below 2 J/h:
    0.015 kg m^2 across, 0.004 about the pole.
    """
    kp, kd = 20.0, np.array([2.0, 2.0, 0.1])
    up = scenes.matrix(sim.state.q[0, 0])[2]
    torque = np.zeros((1, 2, 3))
    torque[0, 0] = kp * np.cross((0, 0, 1), up) - kd * sim.state.w[0, 0]
    return torque


def test_hopper_stands_on_its_stop_while_it_is_balanced():
    sim = Simulator(hopper.build(), dt=0.005)
    assert abs(sim.contact_gaps().min()) < 1e-12
    assert creep(sim, torque=lambda _: balance(sim)) < CREEP
    push = np.zeros((1, 2, 3))
    push[0, 1] = (0.1, 0.05, 0)  # N, on the pole
    scenes.advance(sim, 40, torque=lambda _: balance(sim), force=push)
    assert np.abs(sim.state.q[0, 0, 1:3]).max() > 1e-4
    scenes.advance(sim, 1000, torque=lambda _: balance(sim))
    assert creep(sim, torque=lambda _: balance(sim)) < CREEP


def test_hopper_falls_over_without():
    sim = Simulator(hopper.build(), dt=0.005)
    push = np.zeros((1, 2, 3))
    push[0, 1] = (0.1, 0.05, 0)
    scenes.advance(sim, 200, force=push)
    assert scenes.matrix(sim.state.q[0, 0])[2, 2] < 0.9


def test_scissor_lift_sinks_without_its_drive():
    sim = Simulator(scissor_lift.build(drive=False), dt=0.005)
    height = sim.state.x[0, -1, 2]
    scenes.advance(sim, 40)
    assert sim.state.x[0, -1, 2] < height - 0.05


def test_disc_on_two_contacts_tips():
    sim = Simulator(disc.build(contacts=2), dt=0.01)
    scenes.advance(sim, 300, torque=lambda k: np.full((1, 1, 3), 1e-3 if k < 10 else 0.0))
    assert scenes.matrix(sim.state.q[0, 0])[2, 2] < 0.99
