"""Models of Stable-Baselines3 on native batches, as a run's settings say."""

import math
from inspect import signature
from typing import Any

from gymnasium.spaces import Dict
from stable_baselines3 import PPO, SAC, HerReplayBuffer
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from vigym.engine.errors import InputError
from vigym.engine.validation import show
from vigym.envs.controllers.learned import ACTIVATIONS
from vigym.envs.words import suggestion
from vigym.training.runs import Run
from vigym.training.sb3.monitor import monitored
from vigym.training.sb3.schedule import Linear
from vigym.training.sb3.vec_env import NativeVecEnv

POSITIVE = ("n_steps", "batch_size", "n_epochs", "buffer_size", "train_freq")
# Arguments of SB3's algorithms that `build` passes itself
CHOSEN = ("policy", "env", "policy_kwargs", "seed", "device", "tensorboard_log", "_init_setup_model")
ALGORITHMS: dict[str, type[BaseAlgorithm]] = {"ppo": PPO, "sac": SAC}
BUFFERS = {"HerReplayBuffer": HerReplayBuffer}


def build(run: Run, *, append: bool = False) -> BaseAlgorithm:
    """A new model on new environments; InputError for hyperparameters that it does not take.

    append: go on with the table of episodes that is there
    """
    settings = dict(run.settings)
    total, n_envs = settings.pop("n_timesteps"), settings.pop("n_envs")
    try:
        least = min(1.0, n_envs * settings.get("n_steps", 1) / total)  # a rollout's share of the training
        settings |= {
            name: Linear(float(value.removeprefix("lin_")), least)
            for name, value in settings.items()
            if isinstance(value, str) and value.startswith("lin_")
        }
        network = dict(settings.pop("policy_kwargs", {}))
        if (activation := network.get("activation_fn")) is not None:
            if activation not in ACTIVATIONS:
                raise InputError(f"activation_fn must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
            network["activation_fn"] = getattr(nn, activation)
        check_settings(ALGORITHMS[run.algo], settings)
        if (buffer := settings.get("replay_buffer_class")) is not None:
            if buffer not in BUFFERS:
                raise InputError(f"replay_buffer_class must be one of {', '.join(BUFFERS)}, got {show(buffer)}")
            settings["replay_buffer_class"] = BUFFERS[buffer]
        env: VecEnv = batch(run, append=append)
        if settings.pop("normalize", False):
            env = VecNormalize(env, gamma=settings.get("gamma", 0.99))
        policy = "MultiInputPolicy" if isinstance(env.observation_space, Dict) else "MlpPolicy"
        return ALGORITHMS[run.algo](policy, env, policy_kwargs=network, seed=run.seed, device="cpu", **settings)
    except InputError:  # of ours, which names what is wrong
        raise
    except (TypeError, ValueError, AssertionError, RuntimeError) as error:
        raise InputError(f"hyperparameters of {run.algo}: {error}") from error


def check_settings(algorithm: type[BaseAlgorithm], settings: dict[str, Any]) -> None:
    """InputError for hyperparameters that SB3 would stumble over only while it learns: where its own value is a number,
    it takes a number (or a schedule), where that is an integer, an integer. Unknown names are an error, too."""
    known = [name for name in signature(algorithm).parameters if name not in CHOSEN] + ["normalize"]
    for name, value in settings.items():
        if name not in known:
            hint = suggestion(name, [*known, "n_timesteps", "n_envs"]) or f"; it has {', '.join(known)}"
            raise InputError(f"{algorithm.__name__} has no hyperparameter {name!r}{hint}")
        usual = signature(algorithm).parameters[name].default if name in signature(algorithm).parameters else None
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if isinstance(usual, float) and not (is_number or isinstance(value, Linear)):
            raise InputError(f"{name} must be a finite number, got {show(value)}")
        if type(usual) is int and name != "train_freq" and not (is_number and isinstance(value, int)):
            raise InputError(f"{name} must be an integer, got {show(value)}")
        if name in POSITIVE and isinstance(value, int) and value < 1:
            raise InputError(f"{name} must be at least 1, got {show(value)}")


def batch(run: Run, *, append: bool = False) -> VecMonitor:
    """The native batch, with the table of its episodes."""
    env = NativeVecEnv(run.env_id, run.settings["n_envs"], num_threads=run.arguments["threads"], **run.env_kwargs)
    return monitored(env, run.folder, append=append)


def use_logger(model: BaseAlgorithm, run: Run) -> None:
    """Curves for TensorBoard; what an interrupted run wrote after its last checkpoint is dropped."""
    folder = str(run.folder / "tensorboard")
    output = TensorBoardOutputFormat.__new__(TensorBoardOutputFormat)  # its own writer would leave an empty file
    output._is_closed = False
    output.writer = SummaryWriter(folder, purge_step=model.num_timesteps + 1 if model.num_timesteps else None)
    model.set_logger(Logger(folder, [output]))
