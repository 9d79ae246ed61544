"""Training with Stable-Baselines3, on this machine, over a native batch."""

import shutil

import torch
from stable_baselines3.common.callbacks import CallbackList

from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError
from vigym.training.evaluations import Evaluations
from vigym.training.runs import TIMES, Run, write_json
from vigym.training.sb3 import checkpoints, monitor
from vigym.training.sb3.callbacks import Checkpoints, Evaluation, Progress, RewardTerms
from vigym.training.sb3.models import build, use_logger
from vigym.training.stopping import Stop


def learn(run: Run, *, resumed: bool) -> None:
    """Train as the run says, from the start or from its last checkpoint."""
    torch.set_num_threads(run.arguments["threads"])
    evaluations, spent = Evaluations(run), {"clock": 0.0, "cpu": 0.0}
    if resumed:
        at, state = checkpoints.last(run.folder)
        monitor.restore(run.folder, run.env_id, state["monitor"])
        model = build(run, append=True)
        checkpoints.restore(model, checkpoints.path_of(run.folder, at), state["model"])
        evaluations.restore(state["callbacks"]["evaluations"])
        spent = state["callbacks"]["spent"]
    else:
        run.write()
        try:
            model = build(run)
        except InputError:
            shutil.rmtree(run.folder)  # nothing has begun
            raise
    print(f"{'going on with' if resumed else 'writing to'} {run.folder}")
    use_logger(model, run)
    total = run.settings["n_timesteps"]
    with Stop() as stop:
        evaluation, keeper = Evaluation(evaluations), Checkpoints(evaluations, spent, stop)
        callbacks = CallbackList([evaluation, keeper, RewardTerms(), Progress(total)])
        model.learn(total - model.num_timesteps, callbacks, reset_num_timesteps=not resumed)
    if keeper.stopped:
        at = checkpoints.found(run.folder)[-1]
        print(f"stopped after {at} steps; vigym train --resume {run.folder} goes on")
        return
    evaluation.evaluate()
    write_whole(run.folder / f"{run.name}.zip", model.save, checked=True)
    if (normalize := model.get_vec_normalize_env()) is not None:
        write_whole(run.details / "vecnormalize.pkl", lambda path: normalize.save(str(path)), checked=True)
    model.logger.dump(model.num_timesteps)
    model.logger.close()
    model.get_env().close()
    times = keeper.times()
    write_json(run.details / TIMES, times)
    print(f"{times['clock']:.0f} s ({times['cpu']:.0f} s of the processor); {evaluations.summary()}")
    print(f"wrote {run.folder}")
