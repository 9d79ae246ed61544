"""`vigym train`: learn a policy."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from tyro.conf import Positional

from vigym.engine.errors import InputError
from vigym.envs.words import assignments, bare_id, env_arguments, known_arguments, known_env
from vigym.training import hyperparameters
from vigym.training.locks import locked
from vigym.training.runs import Run, new_folder
from vigym.training.trust import require_no_links, require_own

# Folder of a backend, the modules it needs, and the extra that brings them
BACKENDS = {"sb3": ("sb3", ("stable_baselines3", "tensorboard"), "train"), "ray": ("rllib", ("ray",), "rllib")}
# algo, backend, steps, seed, set, env_kwargs, threads, unless they are given
OTHERWISE = (None, "sb3", None, 0, (), (), 1)


def train(
    env_id: Positional[str] = "",
    algo: Literal["ppo", "sac"] | None = None,
    backend: Literal["sb3", "ray"] = "sb3",
    steps: int | None = None,
    seed: int = 0,
    resume: Path | None = None,
    trust: bool = False,
    set: tuple[str, ...] = (),
    env_kwargs: tuple[str, ...] = (),
    threads: int = 1,
    eval_every: int | None = None,
    eval_episodes: int = 20,
    checkpoint_every: int | None = None,
    ray_address: str | None = None,
    ray_runners: int | None = None,
    out: Path = Path("logs"),
) -> None:
    """Learn a policy for an environment, with Stable-Baselines3 on this machine or with Ray RLlib on many.

    Writes a folder as rl_zoo3 does (logs/ppo/VIHopper-v0_1 and so on) and prints its name. What is learned depends on
    the seed alone, not on interruptions; with --backend ray on both, and on the order of processes.
    Needs the extra `train`, or `rllib` with --backend ray.

    Args:
        env_id: The environment, such as VIHopper-v0; or module:ID for one of your own, whose module is imported first.
        algo: PPO, or SAC; the one that vigym/training/hyperparameters.py has the environment under unless given.
        backend: Stable-Baselines3, or Ray RLlib.
        steps: total environment steps; as vigym/training/hyperparameters.py says unless given.
        seed: Of everything that is random.
        resume: Folder of a run that was interrupted: go on from its last checkpoint, with the run's own arguments. With
            --backend ray, that runs code which is in the folder; otherwise it does not.
        trust: Resume also where code of others could run, or files elsewhere be written: folders of --backend ray that
            others own or can write to, and folders with links in them.
        set: Hyperparameters that differ from the file, as name=value.
        env_kwargs: Arguments of the environment, as name=value.
        threads: For the physics, and for the networks.
        eval_every: Steps between evaluations; a 25th of all unless given.
        eval_episodes: In each evaluation.
        checkpoint_every: Steps between checkpoints; a tenth of all unless given.
        ray_address: With --backend ray: of a cluster that runs already, such as 10.0.0.1:6379; this machine by itself
            unless given.
        ray_runners: With --backend ray: processes that share the environments; as many as there are processors unless
            given.
        out: Folder for the folders of runs.
    """
    try:
        cluster = {"ray_address": ray_address, "ray_runners": ray_runners}
        if backend == "sb3" and resume is None and any(value is not None for value in cluster.values()):
            raise InputError("--ray-address and --ray-runners are for --backend ray")
        if resume is not None:
            if (env_id, algo, backend, steps, seed, set, env_kwargs, threads) != ("", *OTHERWISE):
                raise InputError("--resume goes on with the run's own arguments: leave the others out")
            run = interrupted(resume, trust=trust)
            run.arguments.update(cluster)  # it may have changed since
        else:
            if not env_id:
                raise InputError("which environment? `vigym train VIHopper-v0`, or --resume and the folder of a run")
            chosen = algo or hyperparameters.algorithm(bare_id(env_id))
            settings = hyperparameters.settings(chosen, bare_id(known_env(env_id))) | assignments(set)
            total = settings["n_timesteps"] = settings["n_timesteps"] if steps is None else steps
            arguments: dict[str, Any] = {
                "backend": backend,
                "threads": threads,
                "steps": total,
                "eval_every": -(-total // 25) if eval_every is None else eval_every,
                "eval_episodes": eval_episodes,
                "checkpoint_every": -(-total // 10) if checkpoint_every is None else checkpoint_every,
                **cluster,
            }
            for name in ("steps", "threads", "eval_every", "eval_episodes", "checkpoint_every"):
                if arguments[name] < 1:
                    raise InputError(f"--{name.replace('_', '-')} must be at least 1, got {arguments[name]}")
            if not 0 <= seed < 2**32:
                raise InputError(f"--seed must be at least 0 and below 2**32, got {seed}")
            kwargs = env_arguments(env_id, env_kwargs)
            require(backend)
            run = Run(new_folder(out, chosen, env_id), chosen, env_id, seed, kwargs, settings, arguments)
        hold(run, resumed=resume is not None)
    except InputError as error:
        raise SystemExit(str(error)) from None


def interrupted(folder: Path, *, trust: bool) -> Run:
    """The run in a folder, after a look at what others may have put there."""
    run = Run.read(folder)
    if run.arguments.get("backend") not in BACKENDS:
        raise InputError(f"{folder} is a run of an unknown backend: {run.arguments.get('backend')!r}")
    if not trust:
        require_no_links(folder)
        if run.arguments["backend"] == "ray":
            require_own(folder, "checkpoints of RLlib are pickles, which run code when they are loaded")
        if ":" in run.env_id:
            require_own(folder, f"its environment {run.env_id!r} imports a module")
    known_arguments(known_env(run.env_id), run.env_kwargs)
    require(run.arguments["backend"])
    return run


def hold(run: Run, *, resumed: bool) -> None:
    """Train with the folder locked."""
    with locked(run.folder):
        if run.is_finished:
            raise InputError(
                f"{run.folder} is finished: vigym evaluate {run.env_id} --policy {run.folder} runs its policy"
            )
        try:
            if resumed:
                run.clean()
            learner(run.arguments["backend"])(run, resumed=resumed)
        except OSError as error:
            if error.errno is None:  # not of the system
                raise
            raise InputError(
                f"the training has stopped: {error}; vigym train --resume {run.folder} goes on from its last checkpoint"
            ) from error


def learner(backend: str) -> Callable[..., None]:
    """Entry of a backend's folder, `learn(run, resumed=...)`: train as the run says, from the start or going on."""
    return import_module(f"vigym.training.{BACKENDS[backend][0]}.learn").learn


def require(backend: str) -> None:
    """InputError that names the extra, if a module is not installed."""
    _, modules, extra = BACKENDS[backend]
    for module in modules:
        if find_spec(module) is None:
            raise InputError(f'{module} is not installed: pip install "vigym[{extra}]"')
