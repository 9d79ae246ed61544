"""The scripted flip lands, from any start of VIHopper-v0 and at other time steps."""

import gymnasium as gym
import numpy as np
import pytest

from vigym.assets.hopper import FORCE_LIMIT, POLE_MASS, SPHERE_MASS, STROKE
from vigym.envs.controllers.hopper import HopperFlip

GRAVITY = 9.81


def episodes(num_envs: int, seed: int = 0, **kwargs) -> dict:
    """Outcome of a flip in every environment: the last infos, and the worst and the sum of some others."""
    env = gym.make_vec("VIHopper-v0", num_envs=num_envs, autoreset_mode="Disabled", **kwargs)
    seen, info = env.reset(seed=seed)
    controller = HopperFlip()
    controller.reset()
    penetration = joint_error = 0.0
    total = np.zeros(num_envs)
    over = False
    while not over:
        seen, reward, terminated, truncated, info = env.step(controller.act(seen))
        assert not terminated.any()
        total += reward
        penetration = max(penetration, info["penetration"].max())
        joint_error = max(joint_error, env.task.sim.joint_error().max())
        over = truncated.any()
    return info | {"penetration": penetration, "joint_error": joint_error, "total": total}


def test_it_lands_from_every_start():
    done = episodes(24)
    assert done["success"].all()
    np.testing.assert_allclose(done["turn"], 360.0, atol=5.0)
    assert done["tilt"].max() < 0.1
    assert done["penetration"] < 1e-9
    assert done["joint_error"] < 1e-9
    # for turn, jump and uprightness, and 1 for every step of standing: at least from 2 s on, 0.5 s after landing
    assert done["total"].min() > 20.0 + 60.0 + 40.0 + 100.0


def apex() -> float:
    """Height of the sphere, m, after an ideal push along the stroke and a flight with the leg extended.

    The force lifts the sphere alone, (F - m g) s = m v^2 / 2; the stop then takes the pole along.
    """
    speed = np.sqrt(2.0 * (FORCE_LIMIT / SPHERE_MASS - GRAVITY) * STROKE[1])
    speed *= SPHERE_MASS / (SPHERE_MASS + POLE_MASS)
    return 0.4 + STROKE[1] + speed**2 / (2.0 * GRAVITY)


@pytest.mark.parametrize(("dt", "frame_skip"), [(0.0025, 8), (0.005, 4), (0.01, 2)])
def test_the_flip_is_that_of_other_time_steps(dt, frame_skip):
    done = episodes(3, dt=dt, frame_skip=frame_skip)
    assert done["success"].all()
    np.testing.assert_allclose(done["turn"], 360.0, atol=5.0)
    # The push ends within a step: the speed is off by F dt / (m + M) at most, the apex by v / g times that. The sphere
    # is s M / (m + M) above the centre of mass at take-off, and as far below it when turned over.
    loss = FORCE_LIMIT * dt / (SPHERE_MASS + POLE_MASS) * 4.6 / GRAVITY
    lower = 2.0 * STROKE[1] * POLE_MASS / (SPHERE_MASS + POLE_MASS)
    assert (done["apex"] < apex()).all()
    assert (done["apex"] > apex() - loss - lower).all()


def test_one_observation_or_many():
    env = gym.make_vec("VIHopper-v0", num_envs=3)
    seen, _ = env.reset(seed=0)
    controller = HopperFlip()
    many = controller.act(seen)
    assert many.shape == (3, 4)
    assert (np.abs(many) <= 1.0).all()
    for one, expected in zip(seen, many, strict=True):
        np.testing.assert_array_equal(controller.act(one), expected)


@pytest.mark.slow
def test_a_hundred_starts_and_rougher_ones():
    assert episodes(100, seed=1000)["success"].sum() >= 95
    assert episodes(100, seed=2000, reset_noise_scale=0.1)["success"].sum() >= 95
    assert episodes(100, seed=3000, randomization={"friction": (0.5, 3.0)})["success"].sum() >= 95
