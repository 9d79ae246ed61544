"""Gymnasium's demands on an environment: its own checker, types, determinism, pickles, states."""

import copy
import inspect
import pickle
import re
import subprocess
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from flat import flat
from gymnasium.utils.env_checker import check_env, data_equivalence

from vigym import InputError
from vigym.envs.env import load_task
from vigym.envs.registration import ARMS, ENVIRONMENTS


def rollout(env: gym.Env, steps: int, seed: int = 3) -> list:
    """Collect what `steps` random actions from a seed lead to; resets where an episode ends."""
    seen = [env.reset(seed=seed)]
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        action = rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)
        seen.append(env.step(action))
        if seen[-1][2] or seen[-1][3]:
            seen.append(env.reset())
    return seen


def allow_other_actions(env_id: str) -> None:
    """Both checkers advise actions within +-1, which those of three MuJoCo environments, and so of ours, are not."""
    if load_task(ENVIRONMENTS[env_id][0]).action_limit != 1.0:
        warnings.filterwarnings("ignore", message=".*symmetric and normalized")


def test_the_checker_is_content(env_id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        allow_other_actions(env_id)
        check_env(gym.make(env_id).unwrapped, skip_render_check=True)


def test_the_checker_of_stable_baselines_is_content(env_id):
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason='pip install "vigym[train]"')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        allow_other_actions(env_id)
        env = gym.make(env_id)
        if env_id in ARMS:  # its look for goals does not see through wrappers
            env = env.unwrapped
        checker.check_env(env, warn=True, skip_render_check=True)


@pytest.mark.parametrize("how", ["vigym:{}", "{}"])
def test_both_names_of_an_id(how):
    name = how.format("VICartPole-v0")
    code = f"{'' if ':' in name else 'import vigym; '}import gymnasium as gym; print(gym.make('{name}').spec.id)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "VICartPole-v0"


def test_types_and_fresh_arrays(env_id):
    env = gym.make(env_id).unwrapped
    observation, info = env.reset(seed=0)
    results = [env.step(env.action_space.sample()) for _ in range(2)]
    for observation, reward, terminated, truncated, info in results:
        assert type(reward) is float
        assert type(terminated) is bool
        assert type(truncated) is bool
        assert flat(observation).dtype == np.float64
        assert all(type(value) in (float, int, bool, np.ndarray) for value in info.values())
    first, second = flat(results[0][0]), flat(results[1][0])
    assert first is not second
    assert not np.shares_memory(first, second)
    assert (first != second).any()


def test_reward_is_the_sum_of_its_terms(env_id):
    for entry in rollout(gym.make(env_id), 30):
        if len(entry) == 5:
            _, reward, _, _, info = entry
            terms = [value for name, value in info.items() if name.startswith("reward_")]
            assert terms
            np.testing.assert_allclose(reward, sum(terms), rtol=1e-12, atol=1e-12)


def test_the_physics_is_reported(env_id):
    env = gym.make(env_id)
    infos = [entry[-1] for entry in rollout(env, 30) if len(entry) == 5]
    assert len(infos) == 30
    for info in infos:
        assert info["solver_failed"] is False
        assert info["solver_iterations"] > 0
    if env.unwrapped.task.sim.model.n_contacts:
        assert max(info["penetration"] for info in infos) < 1e-9
        slips = [info["slip"] for info in infos]
        assert 0.0 < max(slips) < np.inf  # random actions do not leave every foot where it is


def test_same_seed_same_trajectory(env_id):
    one, other = (rollout(gym.make(env_id), 40, seed=7) for _ in range(2))
    assert data_equivalence(one, other, exact=True)
    assert not data_equivalence(one[0], gym.make(env_id).reset(seed=8))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alike(env_id, duplicate):
    env = gym.make(env_id).unwrapped
    rollout(env, 10)
    other = duplicate(env)
    for _ in range(2):  # the second time with new episodes: the generator of random numbers is copied too
        actions = [env.action_space.sample() for _ in range(10)]
        for action in actions:
            assert data_equivalence(env.step(action), other.step(action), exact=True)
        assert data_equivalence(env.reset(), other.reset(), exact=True)


def test_states_can_be_set_again(env_id):
    env = gym.make(env_id).unwrapped
    rollout(env, 10)
    state = env.get_state()
    actions = [env.action_space.sample() for _ in range(10)]
    first = [env.step(action) for action in actions] + [env.reset()]
    env.step(actions[0])
    env.set_state(state)
    again = [env.step(action) for action in actions] + [env.reset()]
    assert data_equivalence(first, again, exact=True)
    other = gym.make(env_id).unwrapped
    other.reset(seed=1)
    other.set_state(state)
    assert data_equivalence([other.step(action) for action in actions] + [other.reset()], first, exact=True)


def test_frame_skip(env_id):
    env = gym.make(env_id).unwrapped
    task = env.task
    assert env.dt == pytest.approx(task.sim.dt * task.frame_skip)
    double = gym.make(env_id, frame_skip=2 * task.frame_skip).unwrapped
    assert double.dt == pytest.approx(2 * env.dt)
    assert env.metadata["render_fps"] == round(1 / env.dt)


def test_bad_actions(env_id):
    env = gym.make(env_id).unwrapped
    env.reset(seed=0)
    before = env.get_state()
    n = env.action_space.shape[0]
    for bad, message in ((np.full(n, np.nan), "NaN"), (np.zeros(n + 1), "shape"), (np.zeros((1, n)), "shape")):
        with pytest.raises(InputError, match=message):
            env.step(bad)
    assert data_equivalence(env.get_state()["sim"], before["sim"])
    env.set_state(before)
    far = env.step(np.full(n, 5.0))
    env.set_state(before)
    assert data_equivalence(env.step(np.full(n, env.task.action_limit)), far, exact=True)  # cut to the range


# -------------------- the documentation is the code's


def sections(task: type) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", inspect.getdoc(task) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def table(text: str) -> list[list[str]]:
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.strip().startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def numbers(cell: str) -> list[int]:
    """Elements that a row of a table is about: "3", or "27-32" for several."""
    first, _, last = cell.partition("-")
    return list(range(int(first), int(last or first) + 1))


def test_the_page_is_complete(env_id):
    task = load_task(ENVIRONMENTS[env_id][0])
    page = sections(task)
    expected = ["Description", "Action Space", "Observation Space", "Rewards", "Starting State", "Episode End"]
    assert list(page) == [*expected, "Arguments", "Version History"]
    env = gym.make(env_id).unwrapped
    n, size = env.action_space.shape[0], env.task.observation_size
    limit = f"{env.task.action_limit:g}"
    assert f"Box(-{limit}, {limit}, ({n},), float32)" in page["Action Space"]
    assert all(row[3:5] == [f"-{limit}", limit] for row in table(page["Action Space"]))
    assert [int(row[0]) for row in table(page["Action Space"])] == list(range(n))
    assert f"({env.task.parts.get('observation', size)},), float64)" in page["Observation Space"]
    rows = table(page["Observation Space"])
    names = env.task.observation_names()
    assert [k for row in rows for k in numbers(row[0])] == list(range(size))
    for row in rows:  # one of several elements has what their names begin with
        first, *more = numbers(row[0])
        assert names[first] == row[1] if not more else all(names[k].startswith(f"{row[1]}: ") for k in (first, *more))
    env.reset(seed=0)
    terms = {name for name in env.step(env.action_space.sample())[-1] if name.startswith("reward_")}
    assert {*re.findall(r"^- (reward_\w+)", page["Rewards"], flags=re.MULTILINE)} == terms
    assert f"Truncated after {ENVIRONMENTS[env_id][1]} steps of {env.dt:g} s" in " ".join(page["Episode End"].split())


def test_the_arguments_are_those_of_the_page(env_id):
    task = load_task(ENVIRONMENTS[env_id][0])
    parameters = inspect.signature(task).parameters
    rows = {row[0].strip("`"): row[2].strip("`") for row in table(sections(task)["Arguments"])}
    assert set(rows) == set(parameters) - {"num_envs"}
    for name, default in rows.items():
        assert eval(default) == parameters[name].default
