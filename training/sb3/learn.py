"""Training with Stable-Baselines3, on this machine, over a native batch."""

import json
import shutil

import torch
from stable_baselines3.common.callbacks import CallbackList

from vigym.engine.errors import InputError
from vigym.training.evaluations import Evaluations
from vigym.training.runs import TIMES, Run
from vigym.training.sb3 import checkpoints
from vigym.training.sb3.callbacks import Checkpoints, Evaluation, Progress
from vigym.training.sb3.models import build, load, use_logger


def learn(run: Run, *, resumed: bool) -> None:
    """Train as the run says, from the start or from its last checkpoint."""
    torch.set_num_threads(run.arguments["threads"])
    evaluations, spent = Evaluations(run), {"clock": 0.0, "cpu": 0.0}
    if resumed:
        at, state = checkpoints.last(run.folder)
        model = load(run, at, state)
        evaluations.kept, spent = (state["callbacks"][name] for name in ("evaluations", "spent"))
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
    evaluation, keeper = Evaluation(evaluations), Checkpoints(evaluations, spent)
    callbacks = CallbackList([evaluation, keeper, Progress(total)])
    model.learn(total - model.num_timesteps, callbacks, reset_num_timesteps=not resumed)
    if keeper.stopped:
        at = checkpoints.found(run.folder)[-1]
        print(f"stopped after {at} steps; vigym train --resume {run.folder} goes on")
        return
    evaluation.evaluate()
    model.save(run.folder / f"{run.env_id}.zip")
    if (normalize := model.get_vec_normalize_env()) is not None:
        normalize.save(str(run.details / "vecnormalize.pkl"))
    model.logger.dump(model.num_timesteps)
    model.logger.close()
    model.get_env().close()
    times = keeper.times()
    (run.details / TIMES).write_text(json.dumps(times), encoding="utf-8")
    print(f"{times['clock']:.0f} s ({times['cpu']:.0f} s of the processor); {evaluations.summary()}")
    print(f"wrote {run.folder}")
