"""Tasks of the Panda: goals, their rewards, the arm's commands, and controllers that solve them."""

import gymnasium as gym
import numpy as np
import pytest

from vigym import InputError
from vigym.assets import panda
from vigym.envs.arms.hand import NEUTRAL, REACH
from vigym.envs.controllers import scripted
from vigym.envs.registration import ARMS

LAST = 49  # steps: the next one ends the episode


@pytest.mark.parametrize("reward_type", ["sparse", "dense"])
def test_rewards_are_those_of_the_goals(reward_type):
    env = gym.make("VIPandaReach-v0", reward_type=reward_type, distance_threshold=0.1)
    observation, info = env.reset(seed=0)
    rows, rewards = [], []
    for _ in range(10):
        way = observation["desired_goal"] - observation["achieved_goal"]
        observation, reward, _, _, info = env.step(np.clip(way / REACH, -1, 1).astype(np.float32))
        goals = observation["achieved_goal"], observation["desired_goal"]
        far = np.linalg.norm(goals[0] - goals[1])
        assert info["distance"] == pytest.approx(far, rel=1e-14)
        assert info["is_success"] == (far < 0.1)
        assert reward == pytest.approx(-far if reward_type == "dense" else -float(far > 0.1), rel=1e-14)
        assert env.unwrapped.compute_reward(*goals, info) == reward  # as Gymnasium-Robotics asks
        rows.append(goals)
        rewards.append(reward)
    achieved, desired = np.array(rows).swapaxes(0, 1)
    np.testing.assert_array_equal(env.unwrapped.compute_reward(achieved, desired, None), rewards)
    grid = env.unwrapped.compute_reward(achieved.reshape(2, 5, 3), desired.reshape(2, 5, 3), None)
    np.testing.assert_array_equal(grid.ravel(), rewards)
    if reward_type == "sparse":
        assert rewards[0] == -1.0
        assert rewards[-1] == 0.0


@pytest.mark.parametrize(
    ("achieved", "desired"),
    [(np.zeros(2), np.zeros(2)), (np.zeros(3), np.zeros((2, 3))), ("a", np.zeros(3)), (1.0, 1.0)],
)
def test_goals_that_are_none(achieved, desired):
    env = gym.make("VIPandaReach-v0").unwrapped
    with pytest.raises(InputError, match="achieved_goal"):
        env.compute_reward(achieved, desired, {})


def test_success_ends_an_episode_if_asked():
    ends = []
    for going_on in (True, False):
        env = gym.make_vec("VIPandaReach-v0", num_envs=2, continuing_task=going_on, autoreset_mode="Disabled")
        observation, _ = env.reset(seed=0)
        for _ in range(12):
            observation, _, terminated, _, info = env.step(scripted("VIPandaReach-v0").act(observation))
            assert (terminated == (info["is_success"] & (not going_on))).all()
            if terminated.any():
                break
        ends.append(terminated.any())
    assert ends == [False, True]


def test_the_hand_goes_where_it_is_told_and_stays_where_it_is_left():
    env = gym.make("VIPandaReach-v0").unwrapped
    env.reset(seed=0)
    task = env.task
    for action in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        for _ in range(10):  # lets it come to rest
            observation = env.step(np.zeros(3))[0]
        before = observation["achieved_goal"]
        for _ in range(4):
            after = env.step(np.array(action))[0]["achieved_goal"]
        # a step of 5 cm would get as far as 1 - exp(-1) = 0.63 of it if the arm had no inertia
        moved = (after - before) / (4 * REACH)
        assert 0.35 < moved @ action < 0.63
        assert np.linalg.norm(moved - (moved @ action) * np.array(action)) < 0.06
    rest = [env.step(np.zeros(3))[0] for _ in range(30)][-1]
    assert np.linalg.norm(rest["observation"][3:]) < 5e-3  # m/s: the arm carries its own weight
    q = task.sim.state.q[0, 6]
    assert abs(q @ task.arm.down) > 1 - 1e-6  # it still points down
    env.reset(seed=1)
    for _ in range(30):  # into the table
        low = env.step(np.array([0.0, 0.0, -1.0]))[0]
    assert 0.0 < low["achieved_goal"][2] < 0.012


def test_it_starts_where_panda_gym_starts():
    env = gym.make("VIPandaReach-v0").unwrapped
    observation, _ = env.reset(seed=0)
    np.testing.assert_allclose(env.task.sim.joint_positions()[0, :9], NEUTRAL, atol=1e-12)
    # PyBullet's link "panda_grasptarget" at this pose, which is 1.6 mm farther out than the middle of the pads
    np.testing.assert_allclose(observation["achieved_goal"], (0.0384, 0.0, 0.1974), atol=2e-3)
    q = env.task.sim.state.q[0, 7:9]
    closing = [np.array([1 - 2 * (a[2] ** 2 + a[3] ** 2), 2 * (a[1] * a[2] + a[0] * a[3])]) for a in q]
    assert np.abs(closing[0] + closing[1]).max() < 1e-9  # one finger is turned by half a turn
    assert abs(abs(closing[0][0]) - 1) < 1e-6  # they open along y
    assert (NEUTRAL[:7] < panda.UPPER).all()


def solved(env_id: str, num_envs: int, seed: int) -> np.ndarray:
    """Distances from the goals at the end of episodes under the scripted controller, m."""
    env = gym.make_vec(env_id, num_envs=num_envs, num_threads=2)
    observation, _ = env.reset(seed=seed)
    controller = scripted(env_id)
    for _ in range(LAST):
        observation, _, terminated, _, info = env.step(controller.act(observation).astype(np.float32))
        assert not terminated.any()
    assert (info["is_success"] == (info["distance"] < 0.05)).all()
    return info["distance"]


@pytest.mark.parametrize("env_id", ARMS)
def test_controllers_solve_it(env_id):
    assert solved(env_id, 4, seed=0).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ARMS)
def test_controllers_solve_a_hundred_of_a_hundred(env_id):
    assert solved(env_id, 100, seed=1).max() < 0.03


def test_nothing_but_friction_holds_the_cube():
    # 1 kg between pads that press with 70 N each: 2 mu N is 70 N, or 2.8 N, which is less than its weight
    heights = []
    for friction in (0.5, 0.02):
        env = gym.make("VIPandaPickAndPlace-v0", friction=friction)
        observation, _ = env.reset(seed=0)
        controller = scripted("VIPandaPickAndPlace-v0")
        for _ in range(LAST):
            observation["desired_goal"][:] = 0.0, 0.0, 0.2
            observation = env.step(controller.act(observation).astype(np.float32))[0]
        heights.append(observation["achieved_goal"][2])
    assert heights[0] == pytest.approx(0.2, abs=0.01)
    assert heights[1] < 0.03


def test_hindsight_experience_replay_works(tmp_path):
    sb3 = pytest.importorskip("stable_baselines3", reason='pip install "vigym[train]"')
    from vigym.training.sb3.vec_env import NativeVecEnv

    env = NativeVecEnv("VIPandaReach-v0", num_envs=2)
    options = {"n_sampled_goal": 4, "goal_selection_strategy": "future"}
    model = sb3.SAC(
        "MultiInputPolicy",
        env,
        replay_buffer_class=sb3.HerReplayBuffer,
        replay_buffer_kwargs=options,
        learning_starts=120,
        batch_size=64,
        policy_kwargs={"net_arch": [16]},
        seed=0,
    )
    model.learn(140)
    samples = model.replay_buffer.sample(200)
    goals = samples.next_observations["achieved_goal"], samples.next_observations["desired_goal"]
    far = np.linalg.norm((goals[0] - goals[1]).numpy(), axis=-1)
    rewards = samples.rewards.numpy()[:, 0]
    clear = np.abs(far - 0.05) > 1e-6
    np.testing.assert_array_equal(rewards[clear], -(far[clear] > 0.05).astype(float))
    assert (rewards == 0).mean() > 0.05  # goals that were reached in hindsight
