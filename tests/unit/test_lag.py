"""Delay and lag of commands: closed forms, batches, resets, errors."""

import numpy as np
import pytest

from vigym import InputError, Lag, Mechanism, Simulator


def test_a_step_of_the_command_is_followed_exponentially():
    """y = 1 - exp(-(t - delay)/T), exactly, as the command is constant within a step; at any step."""
    for dt in (0.01, 0.002):
        lag = Lag(1, 2, dt, delay=0.04, time_constant=[0.05, 0.0])
        times = dt * np.arange(1, round(0.2 / dt))
        found = np.array([lag(np.ones(2))[0] for _ in times])
        late = np.maximum(times - 0.04, 0.0)
        np.testing.assert_allclose(found[:, 0], 1.0 - np.exp(-late / 0.05), atol=1e-12)
        np.testing.assert_array_equal(found[:, 1], late > 0.5 * dt)


def test_environments_are_apart_and_begin_anew_alone():
    rng = np.random.default_rng(0)
    commands = rng.normal(size=(30, 3, 2))
    constants = np.array([[0.01, 0.02], [0.0, 0.05], [0.03, 0.1]])
    lag = Lag(3, 2, 0.01, delay=0.03, time_constant=constants)
    alone = Lag(1, 2, 0.01, delay=0.03, time_constant=constants[1])
    for k, command in enumerate(commands):
        if k == 12:
            lag.reset(mask=[False, True, False], start=[0.5, -1.0])
            alone.reset(start=[0.5, -1.0])
        found = lag(command)
        np.testing.assert_array_equal(found[1:2], alone(command[1:2]))
    other = Lag(3, 2, 0.01, delay=0.03, time_constant=constants)
    for command in commands:
        last = other(command)
    np.testing.assert_array_equal(last[[0, 2]], found[[0, 2]])  # of those that were not reset
    found[:] = 9.0
    assert (lag(commands[0]) < 8.0).all()  # what was returned is the caller's


def test_a_drive_follows_what_arrives():
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("wheel", mass=1.0, inertia=[0.1, 0.1, 0.2])
    m.add_joint("axle", "revolute", "world", "wheel", kp=100.0, kd=10.0)
    sim = Simulator(m, dt=0.01, compiled=False)
    lag = Lag(1, 1, sim.dt, delay=0.03)
    for k in range(5):
        sim.step(target=lag([1.0]))
        assert (abs(sim.joint_velocities()[0, 0]) > 0) == (k >= 3)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"delay": 0.015}, "delay must be a whole number of dt"),
        ({"delay": -1.0}, "delay must be a finite number >= 0"),
        ({"delay": 1e6}, "at most"),
        ({"time_constant": [-1.0, 0.0]}, "time_constant must be >= 0"),
        ({"time_constant": [1.0, 0.0, 0.0]}, "time_constant must have shape"),
        ({"start": [np.nan, 0.0]}, "start"),
    ],
)
def test_what_a_lag_cannot_be(options, what):
    with pytest.raises(InputError, match=what):
        Lag(3, 2, 0.01, **options)
    with pytest.raises(InputError, match="command must have shape"):
        Lag(3, 2, 0.01)(np.zeros(3))
    with pytest.raises(InputError, match="num_envs"):
        Lag(0, 2, 0.01)
