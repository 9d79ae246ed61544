"""Hyperparameters of `vigym train`, an entry an environment, with the names of Stable-Baselines3 and rl_zoo3.

n_timesteps: of all environments together; n_envs: how many of them; normalize: observations and rewards, by
VecNormalize; learning_rate "lin_X": from X down to 0. Everything else goes to SB3 as it is, the activation by name.
"""

from typing import Any

Settings = dict[str, Any]


def network(*sizes: int, activation: str = "ELU", **others: Any) -> Settings:
    """policy_kwargs of a network for the actor, and another one like it for the critic."""
    return {"net_arch": list(sizes), "activation_fn": activation, **others}


PPO: dict[str, Settings] = {
    "VIPendulum-v0": {
        "n_timesteps": 150_000,
        "n_envs": 16,
        "normalize": True,
        "n_steps": 256,
        "batch_size": 512,
        "n_epochs": 10,
        "learning_rate": 1e-3,
        "gamma": 0.95,
        "gae_lambda": 0.95,
        "policy_kwargs": network(64, 64, activation="Tanh"),
    },
    "VICartPole-v0": {
        "n_timesteps": 80_000,
        "n_envs": 32,
        "normalize": True,
        "n_steps": 32,
        "batch_size": 512,
        "n_epochs": 10,
        "learning_rate": "lin_1e-3",
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "policy_kwargs": network(64, 64, activation="Tanh"),
    },
    "VIHopper-v0": {
        "n_timesteps": 4_000_000,
        "n_envs": 64,
        "normalize": True,
        "n_steps": 200,
        "batch_size": 3200,
        "n_epochs": 5,
        "learning_rate": "lin_1e-3",
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "policy_kwargs": network(64, 64, log_std_init=-0.5),
    },
    "VIHopperHop-v0": {
        "n_timesteps": 12_000_000,
        "n_envs": 64,
        "normalize": True,
        "n_steps": 128,
        "batch_size": 2048,
        "n_epochs": 5,
        "learning_rate": "lin_1e-3",
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "policy_kwargs": network(64, 64, log_std_init=-0.5),
    },
    "VISnake-v0": {
        "n_timesteps": 6_000_000,
        "n_envs": 64,
        "normalize": True,
        "n_steps": 100,
        "batch_size": 3200,
        "n_epochs": 5,
        "learning_rate": "lin_1e-3",
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "policy_kwargs": network(128, 128, log_std_init=-1.0),
    },
    "VIQuadruped-v0": {
        "n_timesteps": 10_000_000,
        "n_envs": 64,
        "normalize": True,
        "n_steps": 100,
        "batch_size": 3200,
        "n_epochs": 5,
        "learning_rate": "lin_1e-3",
        "gamma": 0.98,
        "gae_lambda": 0.95,
        "policy_kwargs": network(128, 128, log_std_init=-1.0),
    },
}
# Gymnasium's MuJoCo suite, of which these carry over: one entry for all that run
PPO |= {
    env_id: {
        "n_timesteps": steps,
        "n_envs": 64,
        "normalize": True,
        "n_steps": 128,
        "batch_size": 2048,
        "n_epochs": 8,
        "learning_rate": "lin_6e-4",
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "policy_kwargs": network(128, 128, activation="Tanh", log_std_init=-0.5),
    }
    for env_id, steps in (
        ("VIHopper2D-v0", 6_000_000),
        ("VIWalker2d-v0", 10_000_000),
        ("VIHalfCheetah-v0", 10_000_000),
        ("VIAnt-v0", 10_000_000),
    )
}
# What a goal-conditioned task learns from: episodes seen again as if their goal had been where they ended up
HINDSIGHT: Settings = {
    "replay_buffer_class": "HerReplayBuffer",
    "replay_buffer_kwargs": {"n_sampled_goal": 4, "goal_selection_strategy": "future"},
}
SAC: dict[str, Settings] = {
    "VIPendulum-v0": {
        "n_timesteps": 20_000,
        "n_envs": 4,
        "buffer_size": 20_000,
        "learning_starts": 1_000,
        "train_freq": 1,
        "gradient_steps": 1,
        "learning_rate": 1e-3,
        "gamma": 0.98,
        "policy_kwargs": network(64, 64, activation="ReLU"),
    },
    "VIPandaReach-v0": {
        "n_timesteps": 20_000,
        "n_envs": 8,
        "buffer_size": 100_000,
        "learning_starts": 1_000,
        "train_freq": 1,
        "gradient_steps": 8,
        "learning_rate": 1e-3,
        "gamma": 0.95,
        "batch_size": 256,
        "policy_kwargs": network(64, 64, activation="ReLU"),
        **HINDSIGHT,
    },
    "VIPandaPush-v0": {
        "n_timesteps": 500_000,
        "n_envs": 16,
        "buffer_size": 500_000,
        "learning_starts": 5_000,
        "train_freq": 1,
        "gradient_steps": 8,
        "learning_rate": 1e-3,
        "gamma": 0.95,
        "batch_size": 512,
        "policy_kwargs": network(128, 128, activation="ReLU"),
        **HINDSIGHT,
    },
}
ALGORITHMS = {"ppo": PPO, "sac": SAC}
# For environments without an entry
DEFAULTS: dict[str, Settings] = {
    "ppo": {
        "n_timesteps": 5_000_000,
        "n_envs": 64,
        "normalize": True,
        "n_steps": 128,
        "batch_size": 2048,
        "n_epochs": 5,
        "learning_rate": "lin_1e-3",
        "policy_kwargs": network(128, 128),
    },
    "sac": {
        "n_timesteps": 300_000,
        "n_envs": 8,
        "normalize": True,
        "buffer_size": 300_000,
        "learning_starts": 5_000,
        "train_freq": 1,
        "gradient_steps": 4,
        "policy_kwargs": network(256, 256, activation="ReLU"),
    },
}


def algorithm(env_id: str) -> str:
    """Return the algorithm that has an entry for an environment: PPO if there is none."""
    return next((algo for algo, entries in ALGORITHMS.items() if env_id in entries), "ppo")


def settings(algo: str, env_id: str) -> Settings:
    """The entry of an environment, or the defaults."""
    return dict(ALGORITHMS[algo].get(env_id, DEFAULTS[algo]))


def for_rl_zoo3(entry: Settings) -> Settings:
    """The same with a policy, and with networks as Python expressions, as rl_zoo3 wants them."""
    network = {**entry["policy_kwargs"]}
    activation = network.pop("activation_fn")
    options = ", ".join(f"{name}={value!r}" for name, value in network.items())
    return entry | {"policy": "MlpPolicy", "policy_kwargs": f"dict({options}, activation_fn=nn.{activation})"}


# python -m rl_zoo3.train --algo ppo --conf-file vigym.training.hyperparameters ...
hyperparams = {env_id: for_rl_zoo3(entry) for env_id, entry in PPO.items()}
