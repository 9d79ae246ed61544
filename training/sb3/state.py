"""All that the future of a training depends on, as plain data: taken from a model, and put into a new one like it."""

import operator
import random
import warnings
from collections import deque
from typing import Any

import numpy as np
import torch
from stable_baselines3 import HerReplayBuffer
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from vigym.engine.errors import InputError
from vigym.engine.validation import show
from vigym.training.sb3.vec_env import NativeVecEnv

State = dict[str, Any]
# Attributes of SB3's classes that change while they learn, apart from the networks and their optimizers
COUNTS = ("num_timesteps", "_episode_num", "_n_updates", "_current_progress_remaining")
SEEN = ("_last_obs", "_last_episode_starts", "_last_original_obs")
RECENT = ("ep_info_buffer", "ep_success_buffer")
MONITOR = ("episode_returns", "episode_lengths", "episode_count")
STATISTICS = ("obs_rms", "ret_rms")
TRANSITIONS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
EPISODES = ("ep_start", "ep_length")  # of transitions, which hindsight experience replay has too


def state_of(model: BaseAlgorithm) -> State:
    """State of a model, its environments and all generators of random numbers."""
    normalize = wrapper(model, VecNormalize)
    return {
        "networks": model.get_parameters(),
        "variables": {name: operator.attrgetter(name)(model) for name in variables(model)},
        "attributes": {name: getattr(model, name) for name in (*COUNTS, *SEEN)},
        "recent": {name: list(getattr(model, name)) for name in RECENT},
        "normalisation": None if normalize is None else statistics(normalize),
        "replay": transitions(model) if isinstance(model, OffPolicyAlgorithm) else None,
        "env": env_state(model),
        "generators": generators(model),
    }


def set_state(model: BaseAlgorithm, state: State) -> None:
    """Put a new model, of the same settings, where `state_of` found the other one."""
    model.set_parameters(state["networks"], exact_match=True, device="cpu")
    check_optimizers(model)
    for name, value in state["variables"].items():
        operator.attrgetter(name)(model).data = value
    check_attributes(model, state["attributes"])
    vars(model).update({name: state["attributes"][name] for name in (*COUNTS, *SEEN)})
    vars(model).update({name: deque(state["recent"][name], maxlen=model._stats_window_size) for name in RECENT})
    if (normalize := wrapper(model, VecNormalize)) is not None:
        for name in STATISTICS:
            set_moments(getattr(normalize, name), state["normalisation"][name])
        normalize.returns = state["normalisation"]["returns"]
    if isinstance(model, OffPolicyAlgorithm):
        set_transitions(model, state["replay"])
    set_env_state(model, state["env"])
    set_generators(model, state["generators"])


def check_attributes(model: BaseAlgorithm, attributes: State) -> None:
    """ValueError unless counts are numbers, and what was seen is one array row an environment, or nothing."""
    for name in COUNTS:
        kinds = (int,) if name != "_current_progress_remaining" else (int, float)
        if not isinstance(attributes[name], kinds) or not 0 <= attributes[name] < 2**63:
            raise ValueError(f"{name} is {show(attributes[name])}, not a count")
    for name in SEEN:
        value = attributes[name]
        parts = value.values() if isinstance(value, dict) else () if value is None else (value,)
        if any(not isinstance(part, np.ndarray) or part.shape[:1] != (model.n_envs,) for part in parts):
            raise ValueError(f"{name} is {show(value)}, not an array of {model.n_envs} rows")


def check_optimizers(model: BaseAlgorithm) -> None:
    """ValueError unless the optimizers (Adam) have what they would have after some steps; torch takes anything."""
    for name in model._get_torch_save_params()[0]:
        optimizer = operator.attrgetter(name)(model)
        if not isinstance(optimizer, torch.optim.Optimizer):
            continue
        for parameter, known in optimizer.state.items():
            for key, shape in (("step", ()), ("exp_avg", parameter.shape), ("exp_avg_sq", parameter.shape)):
                value = known[key]
                if not isinstance(value, torch.Tensor) or value.shape != shape or not torch.isfinite(value).all():
                    raise ValueError(f"{name}: {key} is not a tensor of finite numbers of shape {tuple(shape)}")
            if known["step"] < 0:
                raise ValueError(f"{name}: step is {known['step']}")


def variables(model: BaseAlgorithm) -> list[str]:
    """Tensors that are learned outside of networks, such as SAC's coefficient of entropy."""
    return model._get_torch_save_params()[1]


def statistics(normalize: VecNormalize) -> State:
    """Means and variances of observations and returns, and returns so far of the episodes that run."""
    return {name: moments(getattr(normalize, name)) for name in STATISTICS} | {"returns": normalize.returns}


def moments(of: Any) -> State:
    """Contents of a RunningMeanStd, or of those of an observation's parts."""
    return {part: moments(each) for part, each in of.items()} if isinstance(of, dict) else dict(vars(of))


def set_moments(of: Any, state: State) -> None:
    """Put a RunningMeanStd, or those of an observation's parts, where `moments` found them."""
    if isinstance(of, dict):
        for part, each in of.items():
            set_moments(each, state[part])
    else:
        vars(of).update(state)


def transitions(model: OffPolicyAlgorithm) -> State:
    """Filled part of the replay buffer, and where its next transition goes."""
    buffer = model.replay_buffer
    assert buffer is not None
    filled = buffer.buffer_size if buffer.full else min(buffer.pos + 1, buffer.buffer_size)
    arrays = {name: array[:filled] for name, array in arrays_of(buffer).items()}
    kept = {"arrays": arrays, "pos": buffer.pos, "full": buffer.full}
    return kept | {"begun": buffer._current_ep_start} if isinstance(buffer, HerReplayBuffer) else kept


def arrays_of(buffer: ReplayBuffer) -> dict[str, np.ndarray]:
    """All arrays of a replay buffer that have a row a transition, those of an observation's parts by themselves."""
    arrays: dict[str, np.ndarray] = {}
    for name in (*TRANSITIONS, *EPISODES):
        value = getattr(buffer, name, None)
        if isinstance(value, dict):
            arrays |= {f"{name} {part}": array for part, array in value.items()}
        elif value is not None:
            arrays[name] = value
    return arrays


def set_transitions(model: OffPolicyAlgorithm, state: State) -> None:
    """Fill the replay buffer as `transitions` found it."""
    buffer = model.replay_buffer
    assert buffer is not None
    known = arrays_of(buffer)
    for name, array in state["arrays"].items():
        known[name][: len(array)] = array
    buffer.pos, buffer.full = state["pos"], state["full"]
    if isinstance(buffer, HerReplayBuffer):
        buffer._current_ep_start[:] = state["begun"]


def wrapper(model: BaseAlgorithm, kind: type) -> Any:
    """The wrapper of that kind around the model's environments, or the native batch itself; None if there is none."""
    env = model.get_env()
    while env is not None and not isinstance(env, kind):
        env = getattr(env, "venv", None)
    return env


def env_state(model: BaseAlgorithm) -> State:
    """State of the environments, and of the episodes that run in them."""
    monitor = wrapper(model, VecMonitor)
    native = wrapper(model, NativeVecEnv).env.get_state()
    return {"native": native, "monitor": {name: getattr(monitor, name) for name in MONITOR}}


def set_env_state(model: BaseAlgorithm, state: State) -> None:
    """Put the environments where `env_state` found them; into new episodes, with a warning, if their states are those
    of another version of vigym."""
    try:
        wrapper(model, NativeVecEnv).env.set_state(state["native"])
    except InputError as error:
        warnings.warn(
            f"the environments start new episodes, as their states cannot be restored ({error}); what was learned is "
            "kept, but the training does not go on bit for bit",
            stacklevel=2,
        )
        model._last_obs = model.get_env().reset()
        model._last_episode_starts = np.ones(model.n_envs, bool)
        if (normalize := wrapper(model, VecNormalize)) is not None:
            model._last_original_obs = normalize.get_original_obs()
        return
    vars(wrapper(model, VecMonitor)).update({name: state["monitor"][name] for name in MONITOR})


def generators(model: BaseAlgorithm) -> State:
    """States of the generators of random numbers that SB3 draws from."""
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002
        "torch": torch.get_rng_state(),
        "actions": model.action_space.np_random.bit_generator.state,
    }


def set_generators(model: BaseAlgorithm, states: State) -> None:
    """Go on where `generators` found them."""
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])  # noqa: NPY002
    torch.set_rng_state(states["torch"])
    model.action_space.np_random.bit_generator.state = states["actions"]
