"""Checkpoints: everything that a training depends on, so that it goes on after a stop as if there had been none.

A checkpoint is taken between an update and the next rollout. Its parts are rl_zoo3's (the model with its optimizers,
the normalisation, the replay buffer) and one more for the rest: states of all generators of random numbers, of the
environments, of the wrappers and callbacks, and how long the files were that only grow. That one is written last, and
files take their names when they are complete: a checkpoint with it is whole.
"""

import os
import pickle
import random
import warnings
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize

from vigym.engine.errors import InputError
from vigym.training.runs import write_whole
from vigym.training.sb3.vec_env import NativeVecEnv

KEPT = 2  # checkpoints in a folder: the last one, and the one before in case that is damaged
GROWING = ("0.monitor.csv",)
PARTS = {"model": "rl_model_{}_steps.zip", "state": "rl_model_state_{}_steps.pkl"}
PARTS |= {name: f"rl_model_{name}_{{}}_steps.pkl" for name in ("vecnormalize", "replay_buffer")}


def path_of(folder: Path, part: str, steps: int) -> Path:
    """The file of a part of the checkpoint after that many steps."""
    return folder / PARTS[part].format(steps)


def found(folder: Path) -> list[int]:
    """Steps of all complete checkpoints in a folder, in order."""
    before, after = PARTS["state"].split("{}")
    return sorted(int(path.name[len(before) : -len(after)]) for path in folder.glob(PARTS["state"].format("*")))


def save(folder: Path, model: BaseAlgorithm, callbacks: dict[str, Any]) -> None:
    """Write a checkpoint, then delete those that are no longer needed; `callbacks` is what these want to have kept."""
    steps = model.num_timesteps
    write_whole(path_of(folder, "model", steps), model.save)
    normalize = wrapper(model, VecNormalize)
    if normalize is not None:
        write_whole(path_of(folder, "vecnormalize", steps), lambda path: normalize.save(str(path)))
    if isinstance(model, OffPolicyAlgorithm):
        write_whole(path_of(folder, "replay_buffer", steps), model.save_replay_buffer)
    lengths = {name: (folder / name).stat().st_size for name in GROWING}
    state = {"generators": generators(model), "env": env_state(model), "callbacks": callbacks, "lengths": lengths}
    write_whole(path_of(folder, "state", steps), lambda path: path.write_bytes(pickle.dumps(state)))
    for old in found(folder)[:-KEPT]:
        for part in ("state", "model", "vecnormalize", "replay_buffer"):
            path_of(folder, part, old).unlink(missing_ok=True)


def last(folder: Path) -> tuple[int, dict[str, Any]]:
    """Steps and state of the last complete checkpoint; files that grow are cut to what they were at that time."""
    for steps in reversed(found(folder)):
        try:
            state = pickle.loads(path_of(folder, "state", steps).read_bytes())
        except (pickle.UnpicklingError, EOFError):
            continue
        if not is_zipfile(path_of(folder, "model", steps)):
            continue
        for name, length in state["lengths"].items():
            os.truncate(folder / name, length)
        return steps, state
    raise InputError(f"{folder} has no checkpoint to resume from: start the training anew")


def load(
    folder: Path, steps: int, state: dict[str, Any], algorithm: type[BaseAlgorithm], env: VecEnv, **options: Any
) -> BaseAlgorithm:
    """The model of a checkpoint on `env` (a VecMonitor on a native batch), as it was."""
    if path_of(folder, "vecnormalize", steps).exists():
        env = VecNormalize.load(str(path_of(folder, "vecnormalize", steps)), env)
    model = algorithm.load(path_of(folder, "model", steps), env=env, force_reset=False, **options)
    if isinstance(model, OffPolicyAlgorithm):
        model.load_replay_buffer(path_of(folder, "replay_buffer", steps))
    set_env_state(model, state["env"])
    set_generators(model, state["generators"])
    return model


def wrapper(model: BaseAlgorithm, kind: type) -> Any:
    """The wrapper of that kind around the model's environments, or the native batch itself; None if there is none."""
    env = model.get_env()
    while env is not None and not isinstance(env, kind):
        env = getattr(env, "venv", None)
    return env


def env_state(model: BaseAlgorithm) -> dict[str, Any]:
    """State of the environments and of what SB3 does not save of its wrappers."""
    monitor, normalize = wrapper(model, VecMonitor), wrapper(model, VecNormalize)
    kept = {name: getattr(monitor, name) for name in ("episode_returns", "episode_lengths", "episode_count")}
    native = wrapper(model, NativeVecEnv).env.get_state()
    return {"native": native, "monitor": kept, "returns": None if normalize is None else normalize.returns}


def set_env_state(model: BaseAlgorithm, state: dict[str, Any]) -> None:
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
        return
    vars(wrapper(model, VecMonitor)).update(state["monitor"])
    if state["returns"] is not None:
        wrapper(model, VecNormalize).returns = state["returns"]


def generators(model: BaseAlgorithm) -> dict[str, Any]:
    """States of the generators of random numbers that SB3 draws from."""
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002
        "torch": torch.get_rng_state(),
        "actions": model.action_space.np_random.bit_generator.state,
    }


def set_generators(model: BaseAlgorithm, states: dict[str, Any]) -> None:
    """Go on where `generators` found them."""
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])  # noqa: NPY002
    torch.set_rng_state(states["torch"])
    model.action_space.np_random.bit_generator.state = states["actions"]
