"""Training on Ray RLlib: PPO on its current API stack, on this machine or on a cluster, over native batches.

Runners, processes on any of the nodes, step batches of environments and send what they saw to the learner, which is
where the command runs. A runner that is lost with its node is started anew where there is room; meanwhile the others
go on.
"""

import pickle
import shutil
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.rllib.algorithms.algorithm import Algorithm
from ray.tune.trainable import trainable
from tqdm import tqdm

from vigym.engine.errors import InputError
from vigym.envs.controllers.learned import LearnedPolicy
from vigym.training.evaluations import Evaluations
from vigym.training.rllib_config import NETWORK, check, configuration
from vigym.training.rllib_normalize import CLIP, Normalize
from vigym.training.runs import Run
from vigym.training.stopping import Stop

CHECKPOINT, STATE = "rllib_checkpoint_{}", "evaluations.pkl"


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


def connect(run: Run) -> int:
    """Go to Ray, on this machine or at an address: how many runners there will be. InputError if that cannot be."""
    address, asked = run.arguments["ray_address"], run.arguments["ray_runners"]
    if asked is not None and asked < 1:
        raise InputError(f"--ray-runners must be at least 1, got {asked}")
    if address is not None:
        reach(address)
        print(f"connecting to Ray at {address}")
    try:
        told = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
        ray.init(address=address or "local", **told)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        if address is None:
            raise
        raise InputError(f"no cluster of Ray for this machine at --ray-address {address}: {error}") from None
    have = int(ray.cluster_resources().get("CPU", 0))
    runners = min(have, run.settings["n_envs"]) if asked is None else asked
    if runners > have or not runners:
        ray.shutdown()
        raise InputError(
            f"--ray-runners {max(runners, 1)} needs as many processors, and Ray has {have}: ask for fewer runners, or "
            "add machines with `ray start --address=...`"
        )
    if address is not None and (free := int(ray.available_resources().get("CPU", 0))) < runners:
        print(f"waiting for processors: {runners} runners need one each, and others use all but {free} of {have}")
    return runners


def reach(address: str) -> None:
    """InputError, soon, if nothing answers at an address; Ray itself tries for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():
        raise InputError(f"--ray-address must be a host and a port, such as 10.0.0.1:6379, got {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5.0).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"nothing answers at --ray-address {address} ({error}): start a cluster there with `ray start --head`"
        ) from None


def train(run: Run, runners: int, steps: int) -> None:
    """Train from the checkpoint after so many steps, or from the start if these are 0."""
    algorithm, evaluations = build(run, runners, steps), Evaluations(run)
    if steps:
        evaluations.kept = pickle.loads((run.folder / CHECKPOINT.format(steps) / STATE).read_bytes())
    else:
        run.write()
    each = algorithm.config.num_envs_per_env_runner
    print(f"{'going on with' if steps else 'writing to'} {run.folder}, {runners} runners with {each} environments each")
    iterate(run, algorithm, evaluations, steps)
    algorithm.stop()


def build(run: Run, runners: int, steps: int = 0) -> Algorithm:
    """The algorithm, as it was after so many steps, or new if these are 0."""
    run.folder.mkdir(parents=True, exist_ok=True)
    trainable.DEFAULT_STORAGE_PATH = str(run.folder.absolute())  # a folder there, not in the user's home,
    algorithm = configuration(run, runners, steps=steps).build_algo()
    Path(algorithm.logdir).rmdir()  # which stays empty
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
            steps += int(np.nan_to_num(result["env_runners"]["num_env_steps_sampled"]))  # NaN if all runners are lost
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


def found(folder: Path) -> list[int]:
    """Steps of all complete checkpoints in a folder, in order."""
    before = CHECKPOINT.format("")
    return sorted(int(path.name.removeprefix(before)) for path in folder.glob(CHECKPOINT.format("*")))


def last(folder: Path) -> int:
    """Steps of the last complete checkpoint; InputError if there is none."""
    steps = found(folder)
    if not steps:
        raise InputError(f"{folder} has no checkpoint of RLlib to resume from: start the training anew")
    return steps[-1]


def save(folder: Path, steps: int, algorithm: Algorithm, evaluations: Evaluations) -> None:
    """Write a checkpoint, which gets its name when it is complete, and delete those no longer needed."""
    whole = folder.absolute() / CHECKPOINT.format(steps)
    partial = whole.with_name(f"partial_{whole.name}")
    for path in folder.absolute().glob(f"partial_{CHECKPOINT.format('*')}"):
        shutil.rmtree(path)  # the training was killed while it wrote this one
    algorithm.save_to_path(str(partial))
    (partial / STATE).write_bytes(pickle.dumps(evaluations.kept))
    shutil.rmtree(whole, ignore_errors=True)
    partial.rename(whole)
    for old in found(folder)[:-2]:
        shutil.rmtree(folder / CHECKPOINT.format(old))


def normalisation(algorithm: Algorithm) -> Normalize | None:
    """What observations and rewards are normalised by, as known to all runners; None if they are not."""
    return next((part for part in algorithm.env_runner._env_to_module if isinstance(part, Normalize)), None)


def policy_of(algorithm: Algorithm, run: Run, steps: int) -> LearnedPolicy:
    """What the module does now, without exploration, its normalisation of observations included."""
    module: Any = algorithm.get_module()
    weights = {name: value.cpu().numpy() for name, value in module.state_dict().items()}
    names = [name for name in weights if name.startswith(("encoder.actor_encoder.", "pi.")) and name.endswith("weight")]
    layers = [(weights[name].T.copy(), weights[f"{name.removesuffix('weight')}bias"]) for name in names]
    size = len(layers[0][0])
    mean, scale, clip = np.zeros(size), np.ones(size), np.inf
    if (normalize := normalisation(algorithm)) is not None:
        known = normalize.of("observations")
        mean, scale, clip = known.mean, known.scale, CLIP
    return LearnedPolicy(
        layers,
        (NETWORK | run.settings.get("policy_kwargs", {}))["activation_fn"],
        mean,
        scale,
        clip=clip,
        about={"env_id": run.env_id, "algo": run.algo, "backend": "ray", "seed": run.seed, "steps": steps},
    )
