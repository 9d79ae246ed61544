"""Training on Ray RLlib: PPO on its current API stack, on this machine or on a cluster, over native batches.

Runners, processes on any of the nodes, step batches of environments and send what they saw to the learner, which is
where the command runs. A runner that is lost with its node is started anew where there is room; meanwhile the others
go on.
"""

import shutil
import time
from tempfile import TemporaryDirectory

import numpy as np
import ray
from ray.rllib.algorithms.algorithm import Algorithm
from ray.tune.trainable import trainable
from tqdm import tqdm

from vigym.engine.errors import InputError
from vigym.training import plain
from vigym.training.evaluations import Evaluations, check_kept
from vigym.training.rllib.checkpoints import CHECKPOINT, STATE, last, save
from vigym.training.rllib.cluster import connect
from vigym.training.rllib.config import check, configuration
from vigym.training.rllib.export import policy_of
from vigym.training.runs import Run, Told
from vigym.training.stopping import Stop


def learn(run: Run, *, resumed: bool) -> None:
    """Train as the run says, from the start or from its last checkpoint."""
    steps = 0
    try:
        check(run)
        if resumed and (steps := last(run.folder)) >= run.settings["n_timesteps"]:
            raise InputError(f"{run.folder} is finished: vigym evaluate {run.env_id} --policy {run.folder}")
        runners = connect(run)
        try:
            train(run, runners, steps)
        finally:
            ray.shutdown()
    except InputError:
        if not run.details.exists():  # nothing has begun
            shutil.rmtree(run.folder, ignore_errors=True)
        raise


def train(run: Run, runners: int, steps: int) -> None:
    """Train from the checkpoint after so many steps, or from the start if these are 0."""
    algorithm, evaluations = build(run, runners, steps), Evaluations(run)
    if steps:
        path = run.folder / CHECKPOINT.format(steps) / STATE
        kept = plain.load(path)
        check_kept(Told(kept, str(path)))
        evaluations.restore(kept)
    else:
        run.write()
    each = algorithm.config.num_envs_per_env_runner
    print(f"{'going on with' if steps else 'writing to'} {run.folder}, {runners} runners with {each} environments each")
    iterate(run, algorithm, evaluations, steps)
    algorithm.stop()


def build(run: Run, runners: int, steps: int = 0) -> Algorithm:
    """The algorithm, as it was after so many steps, or new if these are 0."""
    run.folder.mkdir(parents=True, exist_ok=True)
    # Ray makes a folder for logs, which stays empty, and lets everybody write where that is: neither in the user's home
    # nor in the run's folder
    with TemporaryDirectory() as elsewhere:
        trainable.DEFAULT_STORAGE_PATH = elsewhere
        algorithm = configuration(run, runners, steps=steps).build_algo()
    if steps:
        algorithm.restore_from_path(str((run.folder / CHECKPOINT.format(steps)).absolute()))
        hand_out(algorithm)
    return algorithm


def hand_out(algorithm: Algorithm) -> None:
    """Give all runners the learner's weights, and wait: Ray itself leaves out those still busy with earlier ones."""
    weights = algorithm.learner_group.get_state(components="learner/rl_module", inference_only=True)["learner"]
    algorithm.env_runner_group.foreach_env_runner("set_state", kwargs={"state": weights}, local_env_runner=False)


def iterate(run: Run, algorithm: Algorithm, evaluations: Evaluations, steps: int) -> None:
    """Train until all steps are done or somebody asks to stop, with a progress bar, evaluations and checkpoints."""
    total, every = run.settings["n_timesteps"], run.arguments["checkpoint_every"]
    began, checkpoint = time.perf_counter(), every * (steps // every + 1)
    with Stop() as stop, tqdm(total=total, initial=steps, unit="step", unit_scale=True, smoothing=0.05) as bar:
        while steps < total and not stop.asked:
            result = algorithm.train()
            alive = algorithm.env_runner_group.num_healthy_remote_workers()
            # no entry if no runner was ready in time, NaN if all are lost
            steps += int(np.nan_to_num(result.get("env_runners", {}).get("num_env_steps_sampled", 0)))
            bar.update(steps - bar.n)
            bar.set_postfix({"return": f"{evaluations.last:.1f}", "runners": alive}, refresh=False)
            if evaluations.due(steps) or steps >= total:
                evaluations.add(steps, policy_of(algorithm, run, steps))
            if steps >= min(checkpoint, total):
                save(run.folder, steps, algorithm, evaluations)
                checkpoint = every * (steps // every + 1)
        if steps < total:
            save(run.folder, steps, algorithm, evaluations)
    if steps < total:
        print(f"stopped after {steps} steps; vigym train --resume {run.folder} goes on")
        return
    print(f"{time.perf_counter() - began:.0f} s; {evaluations.summary()}")
    print(f"wrote {run.folder}")
