"""Wrong arguments, options and actions of environments are errors that name them, not NaNs or errors from inside."""

import inspect
from typing import Annotated, Any, Literal, get_args, get_origin

import gymnasium as gym
import numpy as np
import pytest

from vigym import InputError, MechanismError
from vigym.envs.arguments import Limit, OpenRange, Positive, checks
from vigym.envs.env import load_task
from vigym.envs.registration import ENVIRONMENTS

BAD = {
    bool: ["no", None, 1, np.ones(2, bool)],
    int: [0, -1, 2.5, "2", None, True],
    float: [np.nan, "a", None, 1j, [1.0, 2.0], -np.inf],
    tuple[float, float]: [(0.4, 0.1), (1.0,), 3.0, ("a", "b"), (np.nan, 1.0), None, (1, 2, 3)],
    Literal: ["nonsense", 3, None],
}


def kind(declared: Any) -> Any:
    """The key in BAD of a declared type."""
    if get_origin(declared) is Literal:
        return Literal
    return get_args(declared)[0] if get_origin(declared) is Annotated else declared


def test_every_bad_argument_is_named(env_id):
    task, tried = load_task(ENVIRONMENTS[env_id][0]), set()
    for name, parameter in inspect.signature(task).parameters.items():
        if name == "num_envs":
            continue
        for value in BAD.get(kind(parameter.annotation), []):
            tried.add(kind(parameter.annotation))
            with pytest.raises(InputError, match=f"^{name} must be"):
                gym.make(env_id, **{name: value})
            with pytest.raises(InputError, match=f"^{name} must be"):
                gym.make_vec(env_id, num_envs=2, **{name: value})
    assert {int, float, Literal} <= tried


@pytest.mark.parametrize(
    ("env_id", "arguments"),
    [
        ("VIQuadruped-v0", {"gait_period": 0.0}),
        ("VISnake-v0", {"gait_period": -1.0}),
        ("VIHopperHop-v0", {"velocity_scale": 0.0}),
        ("VIHopper-v0", {"reset_noise_scale": -0.1}),
        ("VIHopperHop-v0", {"command_range": (0.0, np.inf)}),
        ("VIPendulum-v0", {"width": 0}),
        ("VIPendulum-v0", {"height": 10.5}),
        ("VIPendulum-v0", {"default_camera_config": 3}),
        ("VIPendulum-v0", {"randomization": 3}),
        ("VIPendulum-v0", {"randomization": {"mass": "a"}}),
        ("VIPendulum-v0", {"randomization": {"mass": (0.0, 1.0)}}),
        ("VIPendulum-v0", {"randomization": {"mass": (1, 2, 3)}}),
        ("VIPendulum-v0", {"randomization": {"latency": (0.5, 1.7)}}),
        ("VIPendulum-v0", {"randomization": {"friction": (0.5, 1.0)}}),
        ("VIHopper-v0", {"randomization": {"gains": (0.5, 1.0)}}),
    ],
)
def test_numbers_out_of_range(env_id, arguments):
    with pytest.raises(InputError, match=next(iter(arguments))):
        gym.make(env_id, **arguments)


@pytest.mark.parametrize("config", [{"foo": 1}, {"distance": "a"}, {"distance": -1.0}, {"fovy": np.nan}])
def test_cameras_that_cannot_be(config):
    with pytest.raises(InputError, match=f"camera.*{next(iter(config))}"):
        gym.make("VIPendulum-v0", default_camera_config=config)


def test_what_an_argument_must_be_is_part_of_its_type():
    @checks
    def take(*, width: Positive = 1.0, most: Limit = 1.0, reach: OpenRange = (0.0, 1.0), **others: Any) -> list[Any]:
        return [width, most, reach, others]

    assert take(width=2, most=np.inf, reach=[-np.inf, 3], other="a") == [2.0, np.inf, (-np.inf, 3.0), {"other": "a"}]
    for bad in ({"width": 0.0}, {"width": np.inf}, {"most": -np.inf}, {"reach": (1.0, 0.0)}, {"reach": np.inf}):
        with pytest.raises(InputError, match=f"^{next(iter(bad))} must be"):
            take(**bad)


def test_good_arguments_are_taken():
    gym.make("VIQuadruped-v0", healthy_z_range=[0.1, np.inf], frame_skip=np.int64(2), friction=np.float32(0.5))
    gym.make("VISnake-v0", effort_limit=np.inf, num_links=3)
    gym.make("VIPendulum-v0", randomization={"mass": [0.5, 1.0], "push": None})
    with pytest.raises(MechanismError, match="2 to 1000"):
        gym.make("VISnake-v0", num_links=1)


@pytest.mark.parametrize("bad", [{"foo": 1}, {"commnd": (0.5, 0.0, 0.0)}, "command", 3])
@pytest.mark.parametrize("env_id", ["VIQuadruped-v0", "VICartPole-v0"])
def test_unknown_options_of_reset(env_id, bad):
    for env in (gym.make(env_id), gym.make_vec(env_id, num_envs=2)):
        with pytest.raises(InputError, match="option"):
            env.reset(options=bad)
        env.reset(options={})


@pytest.mark.parametrize("command", ["fast", (1, 2), np.nan, (np.nan, 0, 0), None])
@pytest.mark.parametrize("env_id", ["VIQuadruped-v0", "VIHopperHop-v0"])
def test_commands_that_are_none(env_id, command):
    if env_id == "VIHopperHop-v0" and command == (1, 2):
        command = (1, 2, 3)
    with pytest.raises(InputError, match=r"options\['command'\]"):
        gym.make(env_id).reset(options={"command": command})


@pytest.mark.parametrize("bad", ["left", None, ["1"], [1j], [object()], [[1.0], [2.0, 3.0]], [np.nan], [1.0, 2.0], 1.0])
def test_actions_that_are_none(bad: Any):
    env = gym.make("VICartPole-v0").unwrapped
    env.reset(seed=0)
    with pytest.raises(InputError, match="action"):
        env.step(bad)


def test_actions_of_any_number_type():
    env = gym.make("VICartPole-v0").unwrapped
    seen = []
    for action in (
        [1],
        [1.0],
        np.array([1], np.int8),
        np.ones(1, np.float32),
        np.array([True]),
        np.array([5.0, 0])[::2],
    ):
        env.reset(seed=0)
        seen.append(env.step(action)[0])
    assert all((other == seen[0]).all() for other in seen)


@pytest.mark.parametrize("limit", [None, -1])
def test_a_batch_without_a_time_limit(limit):
    """-1 is no limit for `gymnasium.make`, and so for a batch."""
    envs = gym.make_vec("VIPendulum-v0", num_envs=2, max_episode_steps=limit)
    envs.reset(seed=0)
    assert not any(envs.step(np.zeros((2, 1)))[3].any() for _ in range(3))
    for bad in (0, -5, 1.5, "a"):
        with pytest.raises(InputError, match="max_episode_steps"):
            gym.make_vec("VIPendulum-v0", num_envs=2, max_episode_steps=bad)


def test_states_of_something_else_change_nothing():
    env, batch = gym.make("VIPendulum-v0").unwrapped, gym.make_vec("VIPendulum-v0", num_envs=1)
    for one, other in ((env, batch), (batch, env)):
        one.reset(seed=0)
        other.reset(seed=1)
        before = one.get_state()
        for bad in ({}, None, before["sim"], other.get_state()):
            with pytest.raises(InputError, match="state must be what get_state"):
                one.set_state(bad)
        assert one.get_state()["sim"] == before["sim"]
