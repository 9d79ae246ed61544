"""VIHopperHop-v0: commands, what hops are worth, and the scripted controller that makes them."""

import gymnasium as gym
import numpy as np
import pytest

from vigym import InputError
from vigym.envs.controllers.hopper_hop import HopperHops
from vigym.envs.hopper_hop import HOP, MEMORY, HopperHop

NAMES = HopperHop().observation_names()


def test_commands_are_drawn_within_their_range():
    env = gym.make_vec("VIHopperHop-v0", num_envs=200, command_range=(0.2, 0.4))
    _, info = env.reset(seed=0)
    assert 0.2 <= info["command"].min() < 0.21
    assert 0.39 < info["command"].max() <= 0.4
    again = env.reset()[1]["command"]
    assert (again != info["command"]).all()


def test_options_set_the_command_and_nothing_else():
    env = gym.make("VIHopperHop-v0")
    free, _ = env.reset(seed=3)
    seen, info = env.reset(seed=3, options={"command": (0.3, -0.2)})
    np.testing.assert_array_equal(info["command"], [0.3, -0.2])
    ours = [not name.startswith("command") for name in NAMES]
    np.testing.assert_array_equal(seen[ours], free[ours])
    # yaw and tilt are small at the start: the sphere's frame is the world's within them (3 times 0.05 rad)
    np.testing.assert_allclose(seen[NAMES.index("command along the sphere's x") :][:2], [0.3, -0.2], atol=0.15 * 0.36)
    length = np.linalg.norm(seen[NAMES.index("command along the sphere's x") :][:3])
    assert length == pytest.approx(np.hypot(0.3, 0.2), rel=1e-12)
    for bad in (0.3, (0.1, np.nan), (1, 2, 3)):
        with pytest.raises(InputError, match="command"):
            env.reset(options={"command": bad})
    with pytest.raises(InputError, match="command_range"):
        gym.make("VIHopperHop-v0", command_range=0.5)


def test_standing_or_sliding_is_worth_no_velocity():
    env = gym.make("VIHopperHop-v0", reset_noise_scale=0.0, friction=0.0).unwrapped
    env.reset(seed=0, options={"command": (0.0, 0.0)})
    for _ in range(20):
        info = env.step(np.zeros(4))[-1]
        assert info["reward_velocity"] < 1e-7  # the foot is at most 1e-9 m above the ground
    env.task.sim.set_state(v=[[[0.5, 0, 0], [0.5, 0, 0]]])
    env.task.now["command"] = 0.5, 0.0
    info = env.step(np.zeros(4))[-1]
    assert info["reward_velocity"] < 1e-7
    assert info["reward_slip"] == pytest.approx(-0.2 * info["slip"])
    assert info["slip"] == pytest.approx(0.5, rel=1e-6)


def test_the_height_of_a_hop_is_remembered_for_a_while():
    task = HopperHop(reset_noise_scale=0.0)
    task.reset(np.zeros(1, np.int64), [np.random.default_rng(0)], {"command": (0.0, 0.0)})
    task.sim.set_joint_state([0.0], x=[[0, 0, 0.4 + HOP], [0, 0, 0]])  # falls from a height that counts in full
    heights = []
    for k in range(25):
        task.step(np.zeros((1, 4)))
        peak = task.now["hop_height"][0]
        heights.append(task.now["foot"][0])
        fallen = max(height * (1.0 - task.dt / MEMORY) ** (k - i) for i, height in enumerate(heights))
        assert peak == pytest.approx(fallen, rel=1e-12)
        assert task.rewards()["reward_velocity"][0] == pytest.approx(peak / HOP, rel=1e-6)
    assert heights[-1] < 1e-6 < 0.05 < peak


def test_tilting_ends_the_episode():
    env = gym.make("VIHopperHop-v0", healthy_tilt=0.3).unwrapped
    env.reset(seed=0)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step([0.0, 0.3, 0.0, 0.0])
    assert np.degrees(0.3) < info["tilt"] < 45.0
    assert not info["solver_failed"]


def test_scripted_hops_follow_the_command():
    env = gym.make_vec("VIHopperHop-v0", num_envs=16, autoreset_mode="Disabled")
    seen, info = env.reset(seed=0)
    controller = HopperHops()
    controller.reset()
    total, start, aloft = np.zeros(16), None, np.zeros(16)
    for k in range(500):
        seen, reward, terminated, _, info = env.step(controller.act(seen))
        assert not terminated.any()
        assert info["penetration"].max() < 1e-9
        total += reward
        if k == 149:
            start = np.stack([info["x_position"], info["y_position"]], -1)
        if k >= 150:
            aloft += ~env.task.now["touching"]
            assert info["hop_height"].min() > HOP
    velocity = (np.stack([info["x_position"], info["y_position"]], -1) - start) / (350 * env.task.dt)
    np.testing.assert_allclose(velocity, info["command"], atol=0.05)
    assert (aloft / 350 > 0.4).all()
    assert total.min() > gym.spec("VIHopperHop-v0").reward_threshold
    np.testing.assert_array_equal(controller.act(seen[0]), controller.act(seen)[0])
