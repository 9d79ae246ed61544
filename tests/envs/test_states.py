"""States of environments: what changes from step to step, and no more; all others are refused and leave no trace."""

import contextlib
import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from vigym.engine.errors import InputError
from vigym.engine.recording import Recording
from vigym.envs.env import RobotEnv
from vigym.envs.hopper_hop import HopperHop

NUM = 3


def single(env_id: str, **arguments: Any) -> Any:
    return gym.make(env_id, **arguments).unwrapped


def batch(env_id: str, **arguments: Any) -> Any:
    return gym.make_vec(env_id, num_envs=NUM, max_episode_steps=6, **arguments)


def begun(env: Any, seed: int = 1, steps: int = 4) -> Any:
    """The environment after a few steps."""
    env.reset(seed=seed)
    play(env, steps)
    return env


def play(env: Any, steps: int = 8) -> list[Any]:
    """Everything that some steps and a reset return; the same actions every time."""
    rng = np.random.default_rng(3)
    seen = [env.step(rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)) for _ in range(steps)]
    return [*seen, env.reset()]


def same(one: Any, other: Any) -> bool:
    return data_equivalence(one, other, exact=True)


def goes_on_after(env: Any, bad: Any, message: str = "") -> None:
    """`bad` is refused, and the environment goes on as a copy does that never saw it."""
    twin = copy.deepcopy(env)
    with pytest.raises(InputError, match=f"state must be what get_state .*{message}"):
        env.set_state(bad)
    assert same(env.get_state(), twin.get_state())
    assert same(play(env), play(twin))


# -------------------- configuration is no part of a state

OTHERS = {
    "VIHopper-v0": {"turn_reward_weight": 1.0, "stand_reward_weight": 9.0, "frame_skip": 2},
    "VIHopperHop-v0": {"healthy_reward": 7.0, "command_range": (0.0, 1.0)},
    "VISnake-v0": {"ctrl_cost_weight": 3.0, "gait_period": 0.3},
    "VIQuadruped-v0": {"healthy_reward": 7.0, "foot_lift": 0.2},
}


@pytest.mark.parametrize("make", [single, batch])
@pytest.mark.parametrize("env_id", OTHERS)
def test_a_state_changes_no_configuration(env_id, make):
    a, b = begun(make(env_id), 1), begun(make(env_id, **OTHERS[env_id]), 2)
    config = {name: copy.deepcopy(getattr(b.task, name)) for name in ("settings", "frame_skip", "dt")}
    b.set_state(a.get_state())
    for name, value in config.items():
        np.testing.assert_array_equal(getattr(b.task, name), value)
    assert same(b.task.sim.save(), a.task.sim.save())


def test_weights_of_rewards_stay():
    """The reward of b after a state of a is that of b's weights, for the motion of a."""
    a, b = begun(single("VIHopperHop-v0")), begun(single("VIHopperHop-v0", healthy_reward=7.0), 2)
    b.set_state(a.get_state())
    for _ in range(3):
        assert a.step(np.zeros(4))[4]["reward_survive"] == 0.1
        assert b.step(np.zeros(4))[4]["reward_survive"] == 7.0
    assert same(a.task.sim.save(), b.task.sim.save())


def test_every_array_of_a_task_is_declared(env_id):
    for num_envs in range(1, 14):  # weights, joints, ... are as many as environments, some time
        envs = gym.make_vec(env_id, num_envs=num_envs)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            envs.get_state()


def test_arrays_that_no_state_has_are_warned_of():
    class Counting(HopperHop):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.jumps = np.zeros(self.num_envs)

    class Declared(Counting):
        memory = ("jumps",)

    with pytest.warns(UserWarning, match=r"array 'jumps' of Counting .*`memory`"):
        RobotEnv(Counting).get_state()
    env = RobotEnv(Declared)
    env.reset(seed=0)
    env.task.jumps[:] = 5.0
    state = env.get_state()
    env.task.jumps[:] = 6.0
    env.set_state(state)
    assert env.task.jumps == 5.0


# -------------------- what is refused


def without(state: dict, *path: str) -> dict:
    inner = state
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return state


def put(state: dict, value: Any, *path: Any) -> dict:
    inner: Any = state
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return state


def spoiled(array: np.ndarray, value: float) -> np.ndarray:
    array = array.copy()
    array.flat[-1] = value
    return array


DAMAGED: dict[str, tuple[Callable[[dict], Any], str]] = {
    "nothing": (lambda s: None, "must be a dict"),
    "empty": (lambda s: {}, "has no 'version'"),
    "bytes": (lambda s: s["sim"], "must be a dict"),
    "another version": (lambda s: put(s, 99, "version"), "version is 99"),
    "another task": (lambda s: put(s, "vigym.envs.snake:Worm", "kind"), "kind is"),
    "as many as true": (lambda s: put(s, True, "version"), "version is True"),
    "without a simulator": (lambda s: without(s, "sim"), "has no 'sim'"),
    "half a simulator": (lambda s: put(s, s["sim"][:-8], "sim"), "damaged"),
    "a bit of it": (lambda s: put(s, s["sim"][:-1] + bytes([s["sim"][-1] ^ 1]), "sim"), "damaged"),
    "no simulator": (lambda s: put(s, 5, "sim"), "bytes"),
    "no memory": (lambda s: put(s, [], "task"), "task must be a dict"),
    "forgetful": (lambda s: without(s, "task", "hop_height"), "task has no 'hop_height'"),
    "too much": (lambda s: put(s, np.zeros(1), "task", "frame_skip"), "'frame_skip', which is unknown"),
    "settings": (lambda s: put(s, np.zeros(6), "task", "settings"), "'settings', which is unknown"),
    "shape": (lambda s: put(s, np.zeros((9, 2)), "task", "command"), r"task\['command'\] must be an array"),
    "type": (lambda s: put(s, s["task"]["elapsed"] * 1.0, "task", "elapsed"), "int64"),
    "list": (lambda s: put(s, s["task"]["foot"].tolist(), "task", "foot"), "must be an array"),
    "NaN": (lambda s: put(s, spoiled(s["task"]["foot"], np.nan), "task", "foot"), "has a nan"),
    "inf": (lambda s: put(s, spoiled(s["task"]["R"], np.inf), "task", "R"), "has a inf"),
    "variation": (lambda s: without(s, "variation", "past"), "variation has no 'past'"),
    "late": (lambda s: put(s, spoiled(s["variation"]["delay"], 3), "variation", "delay"), "must be 0 to 0"),
    "early": (lambda s: put(s, spoiled(s["variation"]["delay"], -1), "variation", "delay"), "must be 0 to 0"),
    "extra": (lambda s: put(s, 1, "frame_skip"), "'frame_skip', which is unknown"),
}
RNGS: dict[str, Callable[[dict], Any]] = {
    "None": lambda rng: None,
    "empty": lambda rng: {},
    "another kind": lambda rng: np.random.MT19937(1).state,
    "half": lambda rng: without(rng, "state", "inc"),
    "more": lambda rng: put(rng, 1, "state", "more"),
    "text": lambda rng: put(rng, "a", "state", "inc"),
    "large": lambda rng: put(rng, 2**200, "state", "state"),
    "negative": lambda rng: put(rng, -1, "uinteger"),
}


@pytest.mark.parametrize("make", [single, batch])
@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_states_are_refused(damage, make):
    env = begun(make("VIHopperHop-v0"))
    state = copy.deepcopy(env.get_state())
    play(env, 2)
    change, message = DAMAGED[damage]
    goes_on_after(env, change(state), message)


@pytest.mark.parametrize("damage", RNGS)
def test_bad_generators_are_refused(damage):
    env, envs = begun(single("VICartPole-v0")), begun(batch("VICartPole-v0"))
    state, states = copy.deepcopy(env.get_state()), copy.deepcopy(envs.get_state())
    play(env, 2), play(envs, 2)
    goes_on_after(env, put(state, RNGS[damage](state["rng"]), "rng"), "rng must be the state")
    goes_on_after(envs, put(states, RNGS[damage](states["rngs"][2]), "rngs", 2), r"rngs\[2\] must be the state")


BATCHES: dict[str, tuple[Callable[[dict], Any], str]] = {
    "fewer generators": (lambda s: put(s, s["rngs"][:2], "rngs"), "rngs must be a list of 3"),
    "more generators": (lambda s: put(s, [*s["rngs"], s["rngs"][0]], "rngs"), "rngs must be a list of 3"),
    "no generators": (lambda s: put(s, None, "rngs"), "rngs must be a list"),
    "no episodes": (lambda s: without(s, "batch", "over"), "batch has no 'over'"),
    "half the episodes": (lambda s: put(s, np.zeros(2, bool), "batch", "over"), "must be an array"),
    "no flags": (lambda s: put(s, np.zeros(NUM), "batch", "idle"), r"must be an array \(bool\)"),
    "observation": (lambda s: put(s, s["batch"]["observation"] * np.nan, "batch", "observation"), "has a nan"),
}


@pytest.mark.parametrize("damage", BATCHES)
def test_damaged_batches_are_refused(damage):
    envs = begun(batch("VICartPole-v0"))
    state = copy.deepcopy(envs.get_state())
    play(envs, 2)
    change, message = BATCHES[damage]
    goes_on_after(envs, change(state), message)


FOREIGN: dict[str, tuple[Callable[[], Any], Callable[[], Any], str]] = {
    "hop in hopper": (lambda: single("VIHopper-v0"), lambda: single("VIHopperHop-v0"), "kind is"),
    "hopper in hop": (lambda: batch("VIHopperHop-v0"), lambda: batch("VIHopper-v0"), "kind is"),
    "another robot": (lambda: single("VIPendulum-v0"), lambda: single("VICartPole-v0"), "kind is"),
    "a batch": (lambda: single("VIPendulum-v0"), lambda: batch("VIPendulum-v0"), ""),
    "not a batch": (lambda: batch("VIPendulum-v0"), lambda: single("VIPendulum-v0"), ""),
    "more": (lambda: batch("VIPendulum-v0"), lambda: gym.make_vec("VIPendulum-v0", num_envs=4), "num_envs is 4"),
    "longer": (lambda: single("VISnake-v0"), lambda: single("VISnake-v0", num_links=3), ""),
    "friction": (lambda: single("VIHopper-v0"), lambda: single("VIHopper-v0", friction=0.9), "another mechanism"),
    "mass": (lambda: single("VISnake-v0"), lambda: single("VISnake-v0", link_mass=0.5), "another mechanism"),
    "gains": (lambda: single("VISnake-v0"), lambda: single("VISnake-v0", kp=31.0), "another mechanism"),
    "dt": (lambda: single("VIHopper-v0"), lambda: single("VIHopper-v0", dt=0.004), "dt"),
    "latency": (
        lambda: single("VIHopper-v0"),
        lambda: single("VIHopper-v0", randomization={"latency": (0, 2)}),
        "variation",
    ),
    "observation": (
        lambda: batch("VIPendulum-v0"),
        lambda: batch("VIPendulum-v0", observation="maximal"),
        r"task\['observation'\]",
    ),
}


@pytest.mark.parametrize("foreign", FOREIGN)
def test_states_of_others_are_refused(foreign):
    own, other, message = FOREIGN[foreign]
    goes_on_after(begun(own()), begun(other(), 2).get_state(), message)


def test_states_of_earlier_versions_are_refused():
    env = begun(single("VIHopperHop-v0"))
    new = env.get_state()
    old = {"sim": new["sim"], "task": new["task"], "variation": new["variation"], "rng": new["rng"]}
    goes_on_after(env, old, "earlier version")
    goes_on_after(env, old | {"version": 1}, "earlier version")


# -------------------- what is taken


@pytest.mark.parametrize("make", [single, batch])
def test_states_survive_pickles_and_give_away_nothing(env_id, make):
    env = begun(make(env_id))
    state = env.get_state()
    kept = pickle.loads(pickle.dumps(state))
    first = play(env)
    env.set_state(state)  # what it was given is its own
    again = play(env)
    assert same(state, kept)
    env.set_state(kept)
    assert same(first, again)
    assert same(first, play(env))


def test_randomized_states():
    ranges = {"mass": (0.5, 2.0), "latency": (0, 3), "push": (0, 10), "push_interval": (0.02, 0.1)}
    a, b = (begun(batch("VIHopperHop-v0", randomization=ranges), seed) for seed in (1, 2))
    b.set_state(a.get_state())
    assert same(play(a), play(b))


def test_environments_that_were_never_reset_stay_so():
    envs, other = gym.make_vec("VICartPole-v0", num_envs=2), gym.make_vec("VICartPole-v0", num_envs=2)
    envs.reset(options={"reset_mask": np.array([True, False])})
    other.reset(seed=0)
    other.set_state(envs.get_state())
    with pytest.raises(gym.error.ResetNeeded, match=r"\[1\]"):
        other.step(np.zeros((2, 1)))


def test_episodes_that_are_over_need_a_mode_that_leaves_them():
    envs = [
        gym.make_vec("VICartPole-v0", num_envs=2, max_episode_steps=3, autoreset_mode=m)
        for m in ("NextStep", "SameStep")
    ]
    for env in envs:
        env.reset(seed=0)
        for _ in range(3):
            env.step(np.zeros((2, 1)))
    goes_on_after(envs[1], envs[0].get_state(), "SAME_STEP")


def test_a_recording_tells_where_a_state_was_set(tmp_path):
    env = gym.make("VICartPole-v0").unwrapped
    env.reset(seed=0)
    state = env.get_state()
    with contextlib.closing(env.record(tmp_path / "run.vigym")):
        for _ in range(3):
            env.step(env.action_space.sample())
        env.set_state(state)
        env.step(env.action_space.sample())
    assert Recording.load(tmp_path / "run.vigym").start.tolist() == [True, False, False, False, True, False]


def test_a_full_disk_does_not_lose_the_end_of_an_episode(tmp_path):
    # two batches with the same actions; the recording of one of them cannot be written in some steps
    batches = [gym.make_vec("VICartPole-v0", num_envs=2, max_episode_steps=5).unwrapped for _ in range(2)]
    for batch in batches:
        batch.reset(seed=0)
    recorder, ends = batches[0].record(tmp_path / "run.vigym"), []
    write = recorder._write
    for k in range(12):

        def full(data, k=k):
            if k in (4, 5, 6):
                raise OSError(28, "No space left on device", "run.vigym")
            write(data)

        recorder._write = full
        for batch in batches:
            failed = False
            try:
                batch.step(np.zeros((2, 1)))
            except OSError:
                failed = True
            assert failed == (batch is batches[0] and k in (4, 5, 6))
        ends.append([batch._over.tolist() for batch in batches])
        assert ends[-1][0] == ends[-1][1]
        np.testing.assert_array_equal(batches[0].task.elapsed, batches[1].task.elapsed)
    assert any(any(over[0]) for over in ends)
