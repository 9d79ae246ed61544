"""`python -m vigym.training.throughput`: steps a second including learning, beside SB3 on Gymnasium's Ant-v5.

PPO of Stable-Baselines3 with the same network, batch and number of environments on both, in turn in one process, on as
many threads: vigym's environment as a native batch, Ant-v5 as SB3's own `make_vec_env` makes it (64 environments one
after the other). Needs the extras `train` and `compare`.
"""

import time
from typing import Any

import torch
import tyro
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize
from torch import nn

from vigym.training.sb3.vec_env import NativeVecEnv

SETTINGS: dict[str, Any] = {
    "n_steps": 64,
    "batch_size": 1024,
    "n_epochs": 5,
    "policy_kwargs": {"net_arch": [128, 128], "activation_fn": nn.ELU},
    "device": "cpu",
    "seed": 0,
}


def throughput(
    env_id: tyro.conf.Positional[str] = "VIQuadruped-v0",
    peer: str = "Ant-v5",
    n_envs: int = 64,
    passes: int = 3,
    threads: int = 1,
) -> None:
    """Measure how fast PPO gets on with two environments, in turn.

    Args:
        env_id: One of vigym's.
        peer: One of Gymnasium's.
        n_envs: Environments of either.
        passes: Of each, of which the fastest counts.
        threads: For the physics, where it can use them, and for the networks.
    """
    torch.set_num_threads(threads)
    ours: VecEnv = VecMonitor(NativeVecEnv(env_id, n_envs, num_threads=threads))
    models = {name: model(env) for name, env in ((env_id, ours), (peer, make_vec_env(peer, n_envs)))}
    fastest = dict.fromkeys(models, 0.0)
    for k in range(passes + 1):  # the first one compiles and warms up
        for name, learner in models.items():
            before, began = learner.num_timesteps, time.perf_counter()
            learner.learn(4 * SETTINGS["n_steps"] * n_envs, reset_num_timesteps=k == 0)
            done = learner.num_timesteps - (0 if k == 0 else before)
            if k:
                fastest[name] = max(fastest[name], done / (time.perf_counter() - began))
    for name, speed in fastest.items():
        print(f"{name:<20} {speed:>8,.0f} steps a second, learning included")
    print(f"ratio                {fastest[env_id] / fastest[peer]:>8.2f}")


def model(env: VecEnv) -> PPO:
    """A model as SETTINGS say, observations and rewards normalised."""
    return PPO("MlpPolicy", VecNormalize(env), **SETTINGS)


if __name__ == "__main__":
    tyro.cli(throughput)
