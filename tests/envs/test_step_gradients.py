"""`env.unwrapped.step_gradients()` against differences of whole control steps."""

import gymnasium as gym
import numpy as np
import pytest
from scenes import change

import vigym  # noqa: F401
from vigym import InputError
from vigym.engine import coordinates
from vigym.engine.rotation import from_rotation_vector, multiply
from vigym.envs import task

EPS = 1e-5


def moved(env, index: int, amount: float) -> None:
    """Move number `index` of the state, beside `set_state`: joints may be open by a little."""
    sim, (body, part) = env.task.sim, divmod(index, 12)
    state = {name: value.copy() for name, value in sim.state._asdict().items()}
    name, axis = "xqvw"[part // 3], part % 3
    if name == "q":
        turn = from_rotation_vector(amount * np.eye(3)[axis])
        state["q"][:, body] = multiply(state["q"][:, body], turn)
    else:
        state[name][:, body, axis] += amount
    before, h = sim.state, sim._get("h0")
    turned = sim.joint_positions() - coordinates.positions(sim.model, before.x, before.q)
    for key, value in state.items():
        sim._lanes.set(key, value)
    sim._lanes.set("angle", (coordinates.positions(sim.model, state["x"], state["q"]) + turned)[..., None])
    sim._lanes.set("rate", coordinates.velocities(sim.model, *state.values(), h)[..., None])
    env.task.sense(env.task.everyone)


def differences(env, action: np.ndarray) -> dict[str, np.ndarray]:
    """Derivatives of the next state, the observation and the reward, by state and action side by side."""
    saved, size = env.get_state(), 12 * env.task.sim.model.n_bodies
    columns: dict[str, list] = {"state": [], "observation": [], "reward": []}
    for k in range(size + len(action)):
        ends = []
        for sign in (1.0, -1.0):
            env.set_state(saved)
            acted = action.copy()
            if k < size:
                moved(env, k, sign * EPS)
            else:
                acted[k - size] += sign * EPS
            observation, reward, *_ = env.step(acted)
            ends.append((env.task.sim.state, observation, reward))
        (a, b) = ends
        columns["state"].append(change(a[0], b[0])[0] / (2 * EPS))
        columns["observation"].append((a[1] - b[1]) / (2 * EPS))
        columns["reward"].append(np.array((a[2] - b[2]) / (2 * EPS)))
    env.set_state(saved)
    return {name: np.stack(value, -1) for name, value in columns.items()}


@pytest.fixture
def make(monkeypatch):
    """Environments whose steps are solved as tightly as differences need."""
    monkeypatch.setattr(task, "TOLERANCE", 1e-10)
    return lambda env_id, **options: gym.make(env_id, **options).unwrapped


TASKS = ["VIPendulum-v0", "VIReacher-v0", "VIInvertedDoublePendulum-v0"]


@pytest.mark.parametrize("env_id", TASKS)
def test_against_differences(make, env_id):
    env = make(env_id)
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    limit = 0.3 * env.task.action_limit
    for _ in range(2):
        env.step(limit * rng.uniform(-1, 1, env.task.n_actions))
    action = limit * rng.uniform(-1, 1, env.task.n_actions)
    before, found = env.get_state(), env.step_gradients(action)
    assert np.array_equal(env.get_state()["sim"], before["sim"])  # nothing has moved
    assert found.status == "ok"
    expected = differences(env, action)
    pairs = {
        "state": (found.state, found.action),
        "observation": (found.observation_by_state, found.observation_by_action),
        "reward": (found.reward_by_state, found.reward_by_action),
    }
    size = found.state.shape[-1]
    for name, both in pairs.items():
        for mine, theirs in zip(both, np.split(expected[name], [size], -1), strict=True):
            atol = 2e-6 * max(np.abs(theirs).max(), 1e-2)
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=atol, err_msg=name)
    observation, reward, *_ = env.step(action)
    np.testing.assert_array_equal(found.observation, observation)
    assert found.reward == reward


def test_on_its_feet(make):
    """The half cheetah, by joint coordinates, rates and actions: joints and friction both hold it in its plane, so that
    the derivatives by motions that open joints depend on which of them yields."""
    env = make("VIHalfCheetah-v0")
    env.reset(seed=3)
    rng, sim = np.random.default_rng(0), env.task.sim
    for _ in range(2):
        env.step(0.3 * rng.uniform(-1, 1, 6))
    start, action = np.concatenate([sim.joint_positions(), sim.joint_velocities()], -1)[0], 0.3 * rng.uniform(-1, 1, 6)
    sim.set_joint_state(*np.split(start, 2), overlap="keep")
    env.task.sense(env.task.everyone)
    saved, found, axes = env.get_state(), env.step_gradients(action), len(start)
    assert found.status == "ok"
    for k in range(0, axes + 6, 3):
        ends, begins = [], []
        for sign in (EPS, -EPS):
            env.set_state(saved)
            here, acted = start.copy(), action.copy()
            (here if k < axes else acted)[k % axes] += sign
            sim.set_joint_state(*np.split(here, 2), overlap="keep")
            env.task.sense(env.task.everyone)
            begins.append(sim.state)
            observation, reward, *_ = env.step(acted)
            ends.append((sim.state, np.append(observation, reward)))
            assert len(sim.contacts()) > 0
        tangent = change(*begins)[0] / (2 * EPS) if k < axes else np.eye(6)[k - axes]
        expected = [change(ends[0][0], ends[1][0])[0] / (2 * EPS), (ends[0][1] - ends[1][1]) / (2 * EPS)]
        if k < axes:
            mine = [found.state, np.vstack([found.observation_by_state, found.reward_by_state])]
        else:
            mine = [found.action, np.vstack([found.observation_by_action, found.reward_by_action])]
        for slopes, theirs in zip(mine, expected, strict=True):
            np.testing.assert_allclose(slopes @ tangent, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


def test_a_batch_is_its_environments(make):
    batch = gym.make_vec("VIPendulum-v0", num_envs=3).unwrapped
    batch.reset(seed=5)
    actions = np.array([[0.2], [-0.4], [2.0]])
    found = batch.step_gradients(actions)
    assert found.status.tolist() == ["ok"] * 3
    for k in range(3):
        env = make("VIPendulum-v0")
        env.reset(seed=5 + k)
        alone = env.step_gradients(actions[k])
        for name in vars(alone):
            np.testing.assert_array_equal(getattr(found, name)[k], getattr(alone, name), err_msg=name)
    assert found.reward_by_action[:2].all()
    assert not found.reward_by_action[2].any()  # it was cut
    assert not found.action[2].any()


def test_a_plan_follows_the_gradient(make):
    """The reward of a step rises along its gradient by the action."""
    env = make("VIReacher-v0")
    env.reset(seed=0)
    action = np.array([0.05, -0.02])
    found = env.step_gradients(action)
    better = env.step_gradients(action + 1e-3 * found.reward_by_action / np.abs(found.reward_by_action).max())
    assert better.reward > found.reward


@pytest.mark.parametrize("env_id", ["VICartPole-v0", "VIHopper-v0", "VIAnt-v0", "VIPandaReach-v0"])
def test_others_say_that_their_rewards_are_not_smooth(env_id):
    env = gym.make(env_id).unwrapped
    env.reset(seed=0)
    with pytest.raises(InputError, match="step_gradients: its reward, or what it observes, is no smooth function"):
        env.step_gradients(env.action_space.sample())


def test_refusals(make):
    env = gym.make("VIPendulum-v0", randomization={"latency": (0, 2)}).unwrapped
    env.reset(seed=0)
    with pytest.raises(InputError, match="latency"):
        env.step_gradients(np.zeros(1))
    env = make("VIPendulum-v0")
    env.reset(seed=0)
    with pytest.raises(InputError, match="action has a NaN"):
        env.step_gradients(np.array([np.nan]))


def test_at_the_end_of_the_track(make):
    """The observed force of a stop has no derivatives, which the status tells."""
    env = make("VIInvertedDoublePendulum-v0")
    env.reset(seed=0)
    env.set_mujoco_state([0.999, 0.0, 0.0], [2.0, 0.0, 0.0])
    found = env.step_gradients(np.ones(1))
    assert found.status == "rough"
    assert not found.observation_by_state.any()
