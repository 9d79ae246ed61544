"""Learned actuators in environments: those of a PD law move the robot as its torques do, alone, in a batch, resumed."""

import gymnasium as gym
import numpy as np
import pytest

from vigym import ActuatorNetwork, InputError

KP, KD = 60.0, 2.0
PD = ActuatorNetwork([([[KP], [0.0], [-KD], [0.0]], [0.0])], history=(0, 1))
OPTIONS = {"dt": 0.001, "frame_skip": 4}


def test_a_walking_robot():
    env = gym.make("VIQuadruped-v0", actuator=PD, **OPTIONS)
    peer = gym.make("VIQuadruped-v0", actuation="torque", **OPTIONS)
    batch = gym.make_vec("VIQuadruped-v0", num_envs=2, vectorization_mode="vector_entry_point", actuator=PD, **OPTIONS)
    for one in (env, peer):
        one.reset(seed=3)
    batch.reset(seed=2)
    sim, task, kept = peer.unwrapped.task.sim, env.unwrapped.task, None
    rng = np.random.default_rng(0)
    for k in range(8):
        action = rng.uniform(-0.5, 0.5, 12)
        if k == 4:
            kept = env.unwrapped.get_state()
        seen, reward, *_, info = env.step(action)
        together, *_ = batch.step(np.array([action, action]))
        np.testing.assert_array_equal(together[1], seen)
        target = np.clip(task.neutral + 0.5 * action, *task.limits)
        for _ in range(4):
            effort = KP * (target - sim.joint_positions()) - KD * sim.joint_velocities()
            sim.step(effort=effort)
        np.testing.assert_allclose(task.sim.joint_positions(), sim.joint_positions(), atol=1e-7)
        assert info["reward_ctrl"] == pytest.approx(-1e-4 * (np.clip(effort, -33.5, 33.5) ** 2).sum(), rel=1e-5)
    env.unwrapped.set_state(kept)
    rng = np.random.default_rng(0)
    actions = [rng.uniform(-0.5, 0.5, 12) for _ in range(8)]
    for action in actions[4:]:
        again, worth, *_ = env.step(action)
    np.testing.assert_array_equal(again, seen)
    assert worth == reward


def test_robots_without_drives_have_no_place_for_them():
    with pytest.raises(InputError, match="joint 'FR hip' has none"):
        gym.make("VIQuadruped-v0", actuator=PD, actuation="torque")
    with pytest.raises(InputError, match="not an actuator's network"):
        gym.make("VIQuadruped-v0", actuator="none.npz")
