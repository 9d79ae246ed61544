"""The native batch under Stable-Baselines3 does what SB3 does with as many single environments."""

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from vigym import InputError
from vigym.training.sb3.vec_env import NativeVecEnv

NUM, LIMIT = 5, 23
IDS = ["VICartPole-v0", "VIHopper-v0", "VIQuadruped-v0"]  # that fall under random actions, and that do not


def pair(env_id: str) -> tuple[NativeVecEnv, DummyVecEnv]:
    singles = DummyVecEnv([lambda: gym.make(env_id, max_episode_steps=LIMIT) for _ in range(NUM)])
    return NativeVecEnv(env_id, NUM, every_info=True, max_episode_steps=LIMIT), singles


def same(one: dict, other: dict) -> None:
    other = {name: value for name, value in other.items() if value is not None}
    one = {name: value for name, value in one.items() if name != "is_success"}
    other["TimeLimit.truncated"] = other.get("TimeLimit.truncated", False)
    assert set(one) | {"TimeLimit.truncated"} == set(other)
    for name, value in one.items():
        expected = np.asarray(other[name])
        np.testing.assert_array_equal(value, expected.astype(np.asarray(value).dtype))


@pytest.mark.parametrize("env_id", IDS)
def test_it_does_what_single_environments_do(env_id):
    native, singles = pair(env_id)
    native.seed(7), singles.seed(7)
    np.testing.assert_array_equal(native.reset(), singles.reset().astype(np.float32))
    rng = np.random.default_rng(0)
    ends = []
    for _ in range(60):
        actions = rng.uniform(-1, 1, (NUM, *native.action_space.shape)).astype(np.float32)
        ours, theirs = native.step(actions), singles.step(actions)
        np.testing.assert_array_equal(ours[0], theirs[0].astype(np.float32))
        np.testing.assert_array_equal(ours[1], theirs[1])
        np.testing.assert_array_equal(ours[2], theirs[2])
        for one, other in zip(ours[3], theirs[3], strict=True):
            same(one, other)
        ends += [info["TimeLimit.truncated"] for info, done in zip(ours[3], ours[2], strict=True) if done]
    assert len(ends) >= 2 * NUM
    assert (True in ends) or env_id == "VICartPole-v0"


def test_both_ends_of_episodes_are_told():
    """A cart-pole without control falls within a second; a limit before that truncates."""
    for limit, truncated in ((500, False), (5, True)):
        env = NativeVecEnv("VICartPole-v0", 2, max_episode_steps=limit)
        env.seed(0)
        env.reset()
        for _ in range(200):
            observation, _, done, infos = env.step(np.ones((2, 1), np.float32))
            assert [bool(info) for info in infos] == done.tolist()
            if done.any():
                break
        i = int(np.flatnonzero(done)[0])
        assert infos[i]["TimeLimit.truncated"] is truncated
        last = infos[i]["terminal_observation"]
        assert last.dtype == np.float32
        assert np.abs(observation[i]).max() <= 0.05  # a new start
        assert np.abs(last).max() > 0.05
        assert (abs(last[1]) > 0.2) is not truncated


def test_wrappers_of_sb3():
    env = VecNormalize(VecMonitor(NativeVecEnv("VIHopper-v0", 4, max_episode_steps=10), info_keywords=("is_success",)))
    env.seed(0)
    env.reset()
    episodes = []
    for _ in range(200):
        observation, _, done, infos = env.step(np.zeros((4, 4), np.float32))
        assert np.isfinite(observation).all()
        episodes += [infos[i]["episode"] for i in np.flatnonzero(done)]
    assert len(episodes) == 80
    assert {episode["l"] for episode in episodes} == {10}
    assert {episode["is_success"] for episode in episodes} == {False}
    original = env.get_original_obs()
    np.testing.assert_allclose(env.unnormalize_obs(observation), original, atol=1e-3)
    assert env.obs_rms.count > 800


def test_the_batch_is_one_object():
    env = NativeVecEnv("VIPendulum-v0", 3)
    assert env.get_attr("num_envs") == [3, 3, 3]
    assert env.env_is_wrapped(gym.Wrapper, [0, 1]) == [False, False]
    assert len(env.env_method("get_state")) == 3
    env.set_attr("max_episode_steps", 4)
    assert env.env.max_episode_steps == 4
    with pytest.raises(InputError, match="whole batch"):
        env.set_attr("max_episode_steps", 4, indices=[0])
    env.set_options([{"a": 1}, {}, {}])
    with pytest.raises(InputError, match="same options"):
        env.reset()
    with pytest.raises(InputError, match="no native batch"):
        NativeVecEnv("Pendulum-v1", 2)
