"""The native batch against Gymnasium's SyncVectorEnv of single environments: everything, bit for bit."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from flat import flat
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

from vigym import InputError

NUM = 5


def pair(env_id: str, mode: str, **kwargs):
    native = gym.make_vec(env_id, num_envs=NUM, autoreset_mode=mode, **kwargs)
    limit = {"max_episode_steps": kwargs.pop("max_episode_steps")} if "max_episode_steps" in kwargs else {}
    singles = [lambda: gym.make(env_id, **limit, **kwargs) for _ in range(NUM)]
    return native, gym.vector.SyncVectorEnv(singles, autoreset_mode=mode)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_batch_is_its_environments(env_id, mode):
    native, single = pair(env_id, mode, max_episode_steps=23)
    assert native.metadata["autoreset_mode"] == AutoresetMode(mode)
    assert native.single_observation_space == single.single_observation_space
    assert native.action_space == single.action_space
    assert data_equivalence(native.reset(seed=11), single.reset(seed=11), exact=True)
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(60):
        actions = rng.uniform(-1, 1, native.action_space.shape).astype(np.float32)
        ours, theirs = native.step(actions), single.step(actions)
        assert native.observation_space.contains(ours[0])
        for one, other in zip((flat(ours[0]), *ours[1:4]), (flat(theirs[0]), *theirs[1:4]), strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        same_infos(ours[4], theirs[4])
        ended += (ours[2] | ours[3]).sum()
    assert ended >= 2 * NUM


def same_infos(one: dict, other: dict) -> None:
    assert set(one) == set(other)
    for name, value in one.items():
        if isinstance(value, dict):
            same_infos(value, other[name])
        elif value.dtype == object:
            for a, b in zip(value, other[name], strict=True):
                np.testing.assert_array_equal(flat(a), flat(b))
        else:
            assert value.dtype == other[name].dtype
            np.testing.assert_array_equal(value, other[name])


def test_without_autoreset(env_id):
    native, single = pair(env_id, "Disabled", max_episode_steps=4)
    native.reset(seed=2), single.reset(seed=2)
    actions = np.zeros(native.action_space.shape, np.float32)
    for _ in range(4):
        ours, theirs = native.step(actions), single.step(actions)
        over = ours[2] | ours[3]
        if over.any():
            break
    with pytest.raises(InputError, match="have ended"):
        native.step(actions)
    first = np.flatnonzero(over)[:1]
    for mask in (np.isin(np.arange(NUM), first), over & ~np.isin(np.arange(NUM), first)):
        if mask.any():
            ours, theirs = (env.reset(options={"reset_mask": mask.copy()}) for env in (native, single))
            np.testing.assert_array_equal(flat(ours[0]), flat(theirs[0]))
            same_infos(ours[1], theirs[1])
    np.testing.assert_array_equal(flat(native.step(actions)[0]), flat(single.step(actions)[0]))
    for bad in (np.zeros(NUM, bool), np.ones(NUM), [True] * NUM):
        with pytest.raises(InputError, match="reset_mask"):
            native.reset(options={"reset_mask": bad})


def test_threads_and_batch_sizes_make_no_difference(env_id):
    seen = []
    for size, threads in ((3, 1), (7, 2)):
        env = gym.make_vec(env_id, num_envs=size, num_threads=threads)
        env.reset(seed=5)
        actions = np.random.default_rng(0).uniform(-1, 1, (20, 7, *env.single_action_space.shape))
        seen.append([flat(env.step(action[:size].astype(np.float32))[0])[:3] for action in actions])
    np.testing.assert_array_equal(*seen)


def test_states_and_pickles(env_id):
    env = gym.make_vec(env_id, num_envs=3, max_episode_steps=9)
    env.reset(seed=5)
    actions = np.random.default_rng(0).uniform(-1, 1, (15, *env.action_space.shape)).astype(np.float32)
    for action in actions[:5]:
        env.step(action)
    state, other = env.get_state(), pickle.loads(pickle.dumps(env))
    first = [env.step(action) for action in actions]
    assert data_equivalence(first, [other.step(action) for action in actions], exact=True)
    env.set_state(state)
    assert data_equivalence(first, [env.step(action) for action in actions], exact=True)


def test_vector_wrappers(env_id):
    env = gym.make_vec(env_id, num_envs=3, max_episode_steps=10)
    env = gym.wrappers.vector.RecordEpisodeStatistics(env)
    if isinstance(env.observation_space, gym.spaces.Dict):
        env = gym.wrappers.vector.FlattenObservation(env)
    env = gym.wrappers.vector.NormalizeObservation(env)
    env = gym.wrappers.vector.NormalizeReward(env)
    env = gym.wrappers.vector.ClipAction(env)
    env.reset(seed=0)
    lengths = []
    for _ in range(25):
        _, _, _, _, info = env.step(env.action_space.sample())
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert len(lengths) >= 3
    assert max(lengths) <= 10


def test_randomization_is_drawn_from_the_nominal_model(env_id):
    ranges = {"mass": (0.5, 2.0), "strength": (0.8, 1.2), "latency": (0, 3)}
    env = gym.make_vec(env_id, num_envs=4, randomization=ranges)
    nominal = gym.make(env_id).unwrapped.task.sim.parameter("mass")[0]
    for seed in range(3):
        env.reset(seed=seed)
        mass = env.task.sim.parameter("mass") / nominal
        assert (mass >= 0.5).all()
        assert (mass <= 2.0).all()
        assert mass.std() > 0.1
    with pytest.raises(InputError, match="'gravity' is unknown"):
        gym.make_vec(env_id, num_envs=2, randomization={"gravity": (1, 2)})


def test_latency_delays_actions():
    late = gym.make("VICartPole-v0", randomization={"latency": (2, 2)}).unwrapped
    prompt = gym.make("VICartPole-v0").unwrapped
    actions = [[1.0], [-0.5], [0.3], [0.0], [0.0]]
    for env in (late, prompt):
        env.reset(seed=1)
        env.set_state(env.get_state())
    prompt.task.sim.set_joint_state([0.0, 0.0]), late.task.sim.set_joint_state([0.0, 0.0])
    seen = [late.step(np.array(action))[0] for action in actions]
    prompt.step(np.zeros(1)), prompt.step(np.zeros(1))
    expected = [prompt.step(np.array(action))[0] for action in actions[:3]]
    np.testing.assert_array_equal(seen[2:], expected)


def test_a_batch_has_to_be_reset_first():
    """As `gymnasium.make` asks of single environments; a state that is set is a start as well."""
    env = gym.make_vec("VICartPole-v0", num_envs=3)
    assert env.dt == gym.make("VICartPole-v0").unwrapped.dt
    action = np.zeros((3, 1))
    with pytest.raises(gym.error.ResetNeeded, match=r"\[0 1 2\]"):
        env.step(action)
    env.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(gym.error.ResetNeeded, match=r"\[1\]"):
        env.step(action)
    env.reset(options={"reset_mask": np.array([False, True, False])})
    env.step(action)
    other = gym.make_vec("VICartPole-v0", num_envs=3)
    other.set_state(env.get_state())
    np.testing.assert_array_equal(other.step(action)[0], env.step(action)[0])
