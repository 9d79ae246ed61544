"""Tasks: sensed once a step, judged by functions that change nothing, compiled or not."""

import copy
import os
import pickle
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from vigym.assets import cartpole
from vigym.envs.env import RobotEnv
from vigym.envs.robot import RobotTask
from vigym.envs.task import Task
from vigym.envs.vector import RobotVectorEnv


def acted(env_id: str, num_envs: int = 5, **arguments: Any) -> Any:
    """A batch after some random actions, in the middle of episodes."""
    env = gym.make_vec(env_id, num_envs=num_envs, autoreset_mode="Disabled", **arguments)
    env.reset(seed=3)
    for action in np.random.default_rng(0).uniform(-0.5, 0.5, (4, *env.action_space.shape)):
        env.step(action)
    return env


def test_what_a_task_tells_changes_nothing(env_id):
    env = acted(env_id)
    task, before = env.task, env.get_state()

    def tell() -> list[Any]:
        parts = task.observe(), task.rewards(), task.terminated(), task.info(), task.outcome(), task.told()
        return copy.deepcopy(list(parts))

    first = tell()
    assert data_equivalence(first, tell(), exact=True)
    assert data_equivalence(env.get_state(), before, exact=True)
    assert set(first[-1]) == {*first[1], *first[3], *first[4]}


def test_a_step_returns_what_the_task_tells(env_id):
    task = acted(env_id).task
    observation, reward, terminated = task.step(np.full((5, task.n_actions), 0.1))
    np.testing.assert_array_equal(observation, task.observe())
    np.testing.assert_array_equal(terminated, task.terminated())
    total = sum(task.rewards().values(), np.zeros(5))  # from left to right, as the compiled loops add
    np.testing.assert_array_equal(reward, total)


def test_what_a_user_is_told_is_his_own(env_id):
    """Neither the next step nor a user who writes into infos changes what somebody else has."""
    single = gym.make(env_id).unwrapped
    single.reset(seed=0)
    for env in (acted(env_id), single):
        step = env.step(np.zeros(env.action_space.shape))
        kept, twin = copy.deepcopy(step), copy.deepcopy(env)
        seen = env.step(np.ones(env.action_space.shape))
        assert data_equivalence(step, kept, exact=True)
        seen_parts = step[0].values() if isinstance(step[0], dict) else [step[0]]
        for value in (*seen_parts, *step[4].values()):
            if isinstance(value, np.ndarray):
                value[...] = 1
        assert data_equivalence(seen, twin.step(np.ones(env.action_space.shape)), exact=True)


def test_a_reset_leaves_others_alone(env_id):
    env = acted(env_id)
    before = env.task.told()
    env.task.reset(np.array([1, 4]), [np.random.default_rng(k) for k in range(2)], {})
    for name, value in env.task.told().items():
        np.testing.assert_array_equal(value[[0, 2, 3]], before[name][[0, 2, 3]])
    assert env.task.elapsed.tolist() == [4, 0, 4, 4, 0]


@pytest.mark.parametrize("env_id", ["VIHopper-v0", "VIHopperHop-v0", "VISnake-v0"])
@pytest.mark.parametrize(
    "arguments", [{}, {"exclude_current_positions_from_observation": False}, {"observation": "maximal"}]
)
def test_the_compiled_observation_of_the_base_is_that_of_numpy(env_id, arguments):
    task = acted(env_id, **arguments).task
    expected = RobotTask.observe(task)
    np.testing.assert_array_equal(task.observe()[:, : expected.shape[1]], expected)
    if env_id != "VISnake-v0":  # which tells of its centre
        for name, value in RobotTask.info(task).items():
            np.testing.assert_array_equal(task.info()[name], value)


UNCOMPILED = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
import gymnasium as gym
import vigym
from vigym import Simulator
Simulator.__init__.__kwdefaults__["compiled"] = False
env = gym.make_vec(sys.argv[1], num_envs=2, frame_skip=1)
state = pickle.load(sys.stdin.buffer)
env.set_state(state)
env.task.elapsed += 1
env.task.sense(env.task.everyone)
pickle.dump((env.task.observe(), env.task.told()), sys.stdout.buffer)
"""


def test_loops_give_the_same_uncompiled(env_id):
    """NumPy's functions are those of the C library, as Numba's are; they may differ by rounding."""
    env = acted(env_id, num_envs=2, frame_skip=1)
    options = {"input": pickle.dumps(env.get_state()), "env": os.environ | {"NUMBA_DISABLE_JIT": "1"}}
    run = subprocess.run([sys.executable, "-c", UNCOMPILED, env_id], check=True, capture_output=True, **options)
    observation, told = pickle.loads(run.stdout)
    env.task.elapsed += 1
    env.task.sense(env.task.everyone)
    np.testing.assert_allclose(observation, env.task.observe(), rtol=1e-13, atol=1e-14)
    for name, value in env.task.told().items():
        np.testing.assert_allclose(told[name], value, rtol=1e-12, atol=1e-13, err_msg=name)


class Farthest(Task):
    """A task in NumPy that remembers how far the cart was; an episode ends at 0.2 m."""

    memory = ("farthest",)
    n_actions = 1

    def __init__(self, *, num_envs: int = 1, num_threads: int = 1) -> None:
        super().__init__(cartpole.build(), num_envs=num_envs, num_threads=num_threads, dt=0.02, frame_skip=1)
        self.farthest, self.sensed = np.zeros(num_envs), []

    def draw(self, rng, options):
        return {"joints": rng.uniform(-0.05, 0.05, 2)}

    def start(self, env, draws):
        joints, mask = self.rows(env, draws["joints"])
        self.sim.set_joint_state(joints, mask=mask)

    def controls(self, action):
        return {"effort": 10.0 * action * [1.0, 0.0]}

    def sense(self, env):
        self.sensed.append(env.tolist())
        way = np.abs(self.sim.joint_positions()[env, 0])
        self.farthest[env] = np.where(self.elapsed[env] == 0, way, np.maximum(self.farthest[env], way))

    def observation_names(self):
        return ["position of the cart", "farthest"]

    def observe(self):
        return np.stack([self.sim.joint_positions()[:, 0], self.farthest], -1)

    def rewards(self):
        return {"reward_far": self.farthest, "reward_ctrl": -0.1 * self.action[:, 0] ** 2}

    def terminated(self):
        return self.farthest > 0.2

    def info(self):
        return {"farthest": self.farthest}


def test_sense_is_called_by_reset_and_step():
    env = RobotVectorEnv(Farthest, num_envs=3, autoreset_mode="Disabled")
    env.reset(seed=0)
    env.step(np.zeros((3, 1)))
    env.reset(options={"reset_mask": np.array([True, False, True])})
    assert env.task.sensed == [[0, 1, 2], [0, 1, 2], [0, 2]]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_task_in_numpy_serves_a_batch_and_one_alike(mode):
    """Ends at different times; infos, rewards and observations are those of Gymnasium's own batch, to the bit."""
    ours = RobotVectorEnv(Farthest, num_envs=3, max_episode_steps=25, autoreset_mode=mode)
    make = [lambda: gym.wrappers.TimeLimit(RobotEnv(Farthest), 25)] * 3
    theirs = gym.vector.SyncVectorEnv(make, autoreset_mode=gym.vector.AutoresetMode(mode))
    assert data_equivalence(ours.reset(seed=5), theirs.reset(seed=5), exact=True)
    ended = 0
    for action in np.random.default_rng(1).uniform(-1, 1, (60, 3, 1)):
        action[0] = 1.0
        own, other = ours.step(action), theirs.step(action.astype(np.float32))
        for one, two in zip(own[:4], other[:4], strict=True):
            np.testing.assert_allclose(one, two, atol=1e-6)  # actions were rounded to float32
        assert set(own[4]) == set(other[4])
        ended += own[2].sum()
    assert ended > 3
