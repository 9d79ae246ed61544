"""Training on Ray RLlib: PPO on its current API stack, on this machine or on a cluster, over native batches.

Runners, processes on any of the nodes, step batches of environments and send what they saw to the learner, which is
where the command runs. A runner that is lost with its node is started anew where there is room; meanwhile the others
go on.
"""

import pickle
import shutil
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import ray
from gymnasium.wrappers.vector import NormalizeReward
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.env_to_module import MeanStdFilter
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.utils.filter import RunningStat
from ray.tune.registry import register_env
from tqdm import tqdm

from vigym.engine.errors import InputError
from vigym.envs.controllers.learned import LearnedPolicy
from vigym.training.evaluations import Evaluations
from vigym.training.runs import Run

CHECKPOINT, STATE = "rllib_checkpoint_{}", "evaluations.pkl"
NATIVE = "vigym-native"  # as which Ray knows `make_env`


class Plain(gym.vector.VectorWrapper):
    """Observations as float32, no infos: what RLlib needs, and no more."""

    def __init__(self, env: gym.vector.VectorEnv) -> None:
        super().__init__(env)
        low, high = (getattr(env.single_observation_space, name).astype(np.float32) for name in ("low", "high"))
        self.single_observation_space = gym.spaces.Box(low, high, dtype=np.float32)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        observation, _ = self.env.reset(seed=seed, options=options)
        return observation.astype(np.float32), {}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        observation, reward, terminated, truncated, _ = self.env.step(actions)
        return observation.astype(np.float32), reward, terminated, truncated, {}


def make_env(context: Any) -> gym.vector.VectorEnv:
    """The batch of a runner, in mode NEXT_STEP, which is what RLlib expects; rewards by the scale of returns."""
    options = dict(context)
    env_id, gamma = options.pop("env_id"), options.pop("gamma")
    batch = gym.make_vec(f"vigym:{env_id}", autoreset_mode="NextStep", **options)
    return Plain(NormalizeReward(batch, gamma=gamma))


def configuration(run: Run, runners: int) -> PPOConfig:
    """RLlib's configuration of a run: the same hyperparameters as under SB3, the environments shared by the runners."""
    if run.algo != "ppo":
        raise InputError("--backend ray has PPO only: leave out --algo, or use --backend sb3")
    register_env(NATIVE, make_env)
    settings, network = run.settings, run.settings["policy_kwargs"]
    each = -(-settings["n_envs"] // runners)
    rate = settings["learning_rate"]
    if isinstance(rate, str):
        rate = [[0, float(rate.removeprefix("lin_"))], [settings["n_timesteps"], 0.0]]
    gamma = settings.get("gamma", 0.99)
    context = {"env_id": run.env_id, "gamma": gamma, "num_threads": run.arguments["threads"], **run.env_kwargs}
    return (
        PPOConfig()
        .environment(NATIVE, env_config=context)
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=each,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
            rollout_fragment_length=settings["n_steps"],
            env_to_module_connector=lambda env, spaces, device: MeanStdFilter(),
        )
        .fault_tolerance(restart_failed_env_runners=True, env_runner_health_probe_timeout_s=10.0)
        .training(
            lr=rate,
            gamma=gamma,
            lambda_=settings.get("gae_lambda", 0.95),
            clip_param=settings.get("clip_range", 0.2),
            entropy_coeff=settings.get("ent_coef", 0.0),
            vf_loss_coeff=settings.get("vf_coef", 0.5),
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            grad_clip=settings.get("max_grad_norm", 0.5),
            num_epochs=settings["n_epochs"],
            minibatch_size=settings["batch_size"],
            train_batch_size_per_learner=each * runners * settings["n_steps"],
        )
        .rl_module(
            model_config=DefaultModelConfig(
                fcnet_hiddens=network["net_arch"],
                fcnet_activation=network["activation_fn"],
                vf_share_layers=False,
                free_log_std=True,
            )
        )
        .debugging(seed=run.seed, log_level="ERROR")
    )


def learn(run: Run, *, resumed: bool) -> None:
    """Train as the run says, from the start or from its last checkpoint."""
    told = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    ray.init(address=run.arguments["ray_address"] or "local", **told)
    try:
        runners = run.arguments["ray_runners"] or max(1, int(ray.cluster_resources().get("CPU", 1)))
        algorithm = configuration(run, runners).build_algo()
        evaluations, steps = Evaluations(run), 0
        if resumed:
            steps = found(run.folder)[-1]
            algorithm.restore_from_path(str((run.folder / CHECKPOINT.format(steps)).absolute()))
            evaluations.kept = pickle.loads((run.folder / CHECKPOINT.format(steps) / STATE).read_bytes())
        else:
            run.write()
        print(f"{'going on with' if resumed else 'writing to'} {run.folder}, {runners} runners")
        iterate(run, algorithm, evaluations, steps)
        algorithm.stop()
    finally:
        ray.shutdown()


def iterate(run: Run, algorithm: Algorithm, evaluations: Evaluations, steps: int) -> None:
    """Train until all steps are done, with a progress bar, evaluations and checkpoints."""
    total, every = run.settings["n_timesteps"], run.arguments["checkpoint_every"]
    began, checkpoint = time.perf_counter(), every * (steps // every + 1)
    with tqdm(total=total, initial=steps, unit="step", unit_scale=True, smoothing=0.05) as bar:
        while steps < total:
            result = algorithm.train()
            steps += int(result["env_runners"]["num_env_steps_sampled"])
            bar.update(steps - bar.n)
            alive = algorithm.env_runner_group.num_healthy_remote_workers()
            bar.set_postfix({"return": f"{evaluations.last:.1f}", "runners": alive}, refresh=False)
            if evaluations.due(steps):
                evaluations.add(steps, policy_of(algorithm, run, steps))
            if steps >= checkpoint or steps >= total:
                save(run.folder, steps, algorithm, evaluations)
                checkpoint = every * (steps // every + 1)
    evaluations.add(steps, policy_of(algorithm, run, steps))
    print(f"{time.perf_counter() - began:.0f} s; {evaluations.summary()}")
    print(f"wrote {run.folder}")


def found(folder: Path) -> list[int]:
    """Steps of all complete checkpoints in a folder, in order; InputError if there is none."""
    before = CHECKPOINT.format("")
    steps = sorted(int(path.name.removeprefix(before)) for path in folder.glob(CHECKPOINT.format("*")))
    if not steps:
        raise InputError(f"{folder} has no checkpoint of RLlib to resume from: start the training anew")
    return steps


def save(folder: Path, steps: int, algorithm: Algorithm, evaluations: Evaluations) -> None:
    """Write a checkpoint, which gets its name when it is complete, and delete those no longer needed."""
    whole = folder.absolute() / CHECKPOINT.format(steps)
    partial = whole.with_name(f"partial_{whole.name}")
    algorithm.save_to_path(str(partial))
    (partial / STATE).write_bytes(pickle.dumps(evaluations.kept))
    shutil.rmtree(whole, ignore_errors=True)
    partial.rename(whole)
    for old in found(folder)[:-2]:
        shutil.rmtree(folder / CHECKPOINT.format(old))


def policy_of(algorithm: Algorithm, run: Run, steps: int) -> LearnedPolicy:
    """What the module does now, without exploration, its normalisation of observations included."""
    module: Any = algorithm.get_module()
    weights = {name: value.cpu().numpy() for name, value in module.state_dict().items()}
    names = [name for name in weights if name.startswith(("encoder.actor_encoder.", "pi.")) and name.endswith("weight")]
    layers = [(weights[name].T.copy(), weights[f"{name.removesuffix('weight')}bias"]) for name in names]
    connector: Any = next(part for part in algorithm.env_runner._env_to_module if isinstance(part, MeanStdFilter))
    (state,) = connector.get_state().values()
    (stat,) = (RunningStat.from_state(part) for part in state["running_stats"])
    return LearnedPolicy(
        layers,
        run.settings["policy_kwargs"]["activation_fn"],
        stat.mean,
        stat.std + 1e-8,
        clip=state["clip_by_value"],
        about={"env_id": run.env_id, "algo": run.algo, "backend": "ray", "seed": run.seed, "steps": steps},
    )
