"""A run in the words of Ray RLlib: environments, hyperparameters, network."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import gymnasium as gym
import numpy as np
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env

from vigym.engine.errors import InputError
from vigym.envs.controllers.learned import ACTIVATIONS
from vigym.training.rllib.normalize import Normalize
from vigym.training.runs import Run

NATIVE = "vigym-native"  # as which Ray knows `make_env`

# Hyperparameters by SB3's names: RLlib's names, and SB3's values unless given
SCHEDULES: dict[str, tuple[str, Any]] = {"learning_rate": ("lr", 3e-4), "ent_coef": ("entropy_coeff", 0.0)}
NUMBERS: dict[str, tuple[str, Any]] = {
    "batch_size": ("minibatch_size", 64),
    "n_epochs": ("num_epochs", 10),
    "gamma": ("gamma", 0.99),
    "gae_lambda": ("lambda_", 0.95),
    "clip_range": ("clip_param", 0.2),
    "vf_coef": ("vf_loss_coeff", 0.5),
    "max_grad_norm": ("grad_clip", 0.5),
}
COUNTS = ("n_timesteps", "n_envs", "n_steps", "batch_size", "n_epochs")
OTHERS = ("n_timesteps", "n_envs", "n_steps", "normalize", "policy_kwargs")
NETWORK: dict[str, Any] = {"net_arch": [64, 64], "activation_fn": "Tanh", "log_std_init": 0.0}


class Plain(gym.vector.VectorWrapper):
    """Observations as float32, no infos, independent seeds: what RLlib needs, and no more."""

    def __init__(self, env: gym.vector.VectorEnv) -> None:
        super().__init__(env)
        low, high = (getattr(env.single_observation_space, name).astype(np.float32) for name in ("low", "high"))
        self.single_observation_space = gym.spaces.Box(low, high, dtype=np.float32)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        if isinstance(seed, int):
            seed = seeds(seed, self.num_envs, restarted=restarted())
        observation, _ = self.env.reset(seed=seed, options=options)
        return observation.astype(np.float32), {}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        observation, reward, terminated, truncated, _ = self.env.step(actions)
        return observation.astype(np.float32), reward, terminated, truncated, {}


def seeds(seed: int, count: int, *, restarted: bool = False) -> list[int]:
    """Seeds of a runner's environments. RLlib numbers those of runners, so these must not be numbered as well."""
    entropy = None if restarted else seed  # a runner that comes again must not see the same starts again
    return [int(word) for word in np.random.SeedSequence(entropy).generate_state(count)]


def restarted() -> bool:
    """Return whether this process is a runner that Ray started anew, after one that was lost."""
    return ray.is_initialized() and bool(ray.get_runtime_context().was_current_actor_reconstructed)


def make_env(context: Any) -> gym.vector.VectorEnv:
    """The batch of a runner, in mode NEXT_STEP, which is what RLlib expects."""
    options = dict(context)
    env_id = options.pop("env_id")
    name = env_id if ":" in env_id else f"vigym:{env_id}"  # a module to import: runners are other processes
    return Plain(gym.make_vec(name, autoreset_mode="NextStep", **options))


class Module(DefaultPPOTorchRLModule):
    """RLlib's own networks, the deviation of actions from its value in the settings on."""

    def setup(self) -> None:
        super().setup()
        self.pi.log_std.data.fill_(self.model_config["log_std_init"])


def check(run: Run) -> None:
    """InputError for what RLlib would ignore, or not understand."""
    if run.algo != "ppo":
        raise InputError("--backend ray has PPO only: leave out --algo, or use --backend sb3")
    refuse("hyperparameter", run.settings, [*SCHEDULES, *NUMBERS, *OTHERS])
    network = run.settings.get("policy_kwargs", {})
    if not isinstance(network, dict):
        raise InputError(f"policy_kwargs must be a dictionary, got {network!r}")
    refuse("name in policy_kwargs", network, NETWORK)
    network = NETWORK | network
    for name in COUNTS:
        if name in run.settings and (not isinstance(run.settings[name], int) or run.settings[name] < 1):
            raise InputError(f"{name} must be a whole number, at least 1, got {run.settings[name]!r}")
    for name in NUMBERS:
        number(name, run.settings.get(name, 0.0))
    for name in SCHEDULES:
        number(name, str(run.settings.get(name, 0.0)).removeprefix("lin_"))
    number("log_std_init", network["log_std_init"])
    if network["activation_fn"] not in ACTIVATIONS:
        raise InputError(f"activation_fn must be one of {', '.join(ACTIVATIONS)}, got {network['activation_fn']!r}")
    sizes = network["net_arch"]
    if not isinstance(sizes, list | tuple) or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise InputError(f"--backend ray needs sizes of layers as net_arch, such as [64, 64], got {sizes!r}")


def refuse(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """InputError that names the first one given that is not known."""
    known = list(known)
    for name in given:
        if name not in known:
            raise InputError(f"--backend ray has no {what} {name!r}; it has {', '.join(known)}")


def number(name: str, value: Any) -> None:
    """InputError unless the value is a number, or reads as one after `lin_` was taken off."""
    try:
        float(value)
    except (TypeError, ValueError):
        raise InputError(f"--backend ray needs a number as {name}, got {value!r}") from None


def schedule(value: Any, total: int) -> Any:
    """A number as it is; "lin_X" from X at the start down to 0 at the end."""
    if isinstance(value, str):
        return [[0, float(value.removeprefix("lin_"))], [total, 0.0]]
    return value


def configuration(run: Run, runners: int, *, steps: int = 0) -> PPOConfig:
    """RLlib's configuration of a run after so many steps, the environments shared by the runners."""
    check(run)
    register_env(NATIVE, make_env)
    settings, network = run.settings, NETWORK | run.settings.get("policy_kwargs", {})
    each = -(-settings["n_envs"] // runners)
    rollout = each * runners * settings["n_steps"]
    training = {name: settings.get(key, otherwise) for key, (name, otherwise) in NUMBERS.items()}
    if training["minibatch_size"] > rollout:
        raise InputError(f"batch_size {training['minibatch_size']} is more than a rollout, which has {rollout} steps")
    for key, (name, otherwise) in SCHEDULES.items():
        training[name] = schedule(settings.get(key, otherwise), settings["n_timesteps"])
    gamma, normalize = training["gamma"], settings.get("normalize", False)
    # Of the run and of where it goes on, so that runs, and parts of one, do not share seeds. Runner k has seed + k.
    seed = int(np.random.SeedSequence([run.seed, steps]).generate_state(1)[0] // 2)
    model = DefaultModelConfig(
        fcnet_hiddens=list(network["net_arch"]),
        fcnet_activation=network["activation_fn"],
        vf_share_layers=False,
        free_log_std=True,
    )
    return (
        PPOConfig()
        .environment(
            NATIVE, env_config={"env_id": run.env_id, "num_threads": run.arguments["threads"], **run.env_kwargs}
        )
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=each,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
            rollout_fragment_length=settings["n_steps"],
            env_to_module_connector=(lambda env, spaces, device: Normalize(gamma=gamma)) if normalize else None,
        )
        .fault_tolerance(restart_failed_env_runners=True, env_runner_health_probe_timeout_s=10.0)
        .training(vf_clip_param=float("inf"), use_kl_loss=False, train_batch_size_per_learner=rollout, **training)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=Module, model_config=asdict(model) | {"log_std_init": float(network["log_std_init"])}
            )
        )
        .debugging(seed=seed, log_level="ERROR")
    )
