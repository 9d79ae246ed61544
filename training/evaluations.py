"""Evaluations during training: episodes without exploration, always with the same seeds, and the best policy saved."""

from typing import Any

import numpy as np

from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError
from vigym.engine.validation import show
from vigym.envs.controllers.learned import LearnedPolicy
from vigym.training.episodes import run_episodes
from vigym.training.runs import BEST_POLICY, Run, Told

COLUMNS = ("timesteps", "results", "ep_lengths", "successes")


class Evaluations:
    """The evaluations of a run so far, also in its folder: evaluations.npz as SB3 writes it, and the best policy.

    The best is the one with the most successes, and of these the one with the highest return. `kept` is all there is
    to remember over an interruption.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.every, self.episodes = run.arguments["eval_every"], run.arguments["eval_episodes"]
        self.kept: dict[str, Any] = {"next": self.every, "best": (-1.0, -np.inf), "policy": b"", "history": []}

    def due(self, steps: int) -> bool:
        """Return whether it is time for one; asked once, it is not before the next."""
        if steps < self.kept["next"]:
            return False
        self.kept["next"] = self.every * (steps // self.every + 1)
        return True

    def add(self, steps: int, policy: LearnedPolicy) -> tuple[dict[str, float], bool]:
        """Evaluate a policy now: what came of it, by TensorBoard's names, and whether it is the best so far."""
        run = self.run
        result = run_episodes(run.env_id, policy, range(self.episodes), **run.env_kwargs)
        success = result.success if result.success is not None else np.zeros(self.episodes, bool)
        self.kept["history"].append((steps, result.returns, result.lengths, success))
        self.write()
        values = {
            "eval/mean_reward": float(result.returns.mean()),
            "eval/mean_ep_length": float(result.lengths.mean()),
            "eval/success_rate": float(success.mean()),
        }
        score = values["eval/success_rate"], values["eval/mean_reward"]
        best = score > self.kept["best"]
        if best:
            self.kept["best"] = score
            policy.save(run.folder / BEST_POLICY)
            self.kept["policy"] = (run.folder / BEST_POLICY).read_bytes()
        return values, best

    def write(self) -> None:
        """Write the table of evaluations."""
        columns = [np.array(column) for column in zip(*self.kept["history"], strict=True)]
        table: dict[str, Any] = dict(zip(COLUMNS, columns, strict=True))
        write_whole(self.run.folder / "evaluations.npz", lambda path: np.savez(path, **table), checked=True)

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from what was kept, and write the files as they were then, whatever became of them."""
        self.kept = kept
        if kept["history"]:
            self.write()
        if kept["policy"]:
            write_whole(self.run.folder / BEST_POLICY, kept["policy"])

    @property
    def last(self) -> float:
        """Mean return of the last one, NaN before."""
        return float(self.kept["history"][-1][1].mean()) if self.kept["history"] else np.nan

    def summary(self) -> str:
        """The best one in words."""
        success, mean = self.kept["best"]
        return f"best evaluation: return {mean:.1f}, success {success:.0%}"


def check_kept(kept: Told) -> None:
    """InputError if that is not what `Evaluations` has `kept`."""
    kept.count("next")
    best, history = kept.get("best", tuple), kept.get("history", list)
    kept.get("policy", bytes)
    rows = all(isinstance(row, tuple) and len(row) == len(COLUMNS) for row in history)
    arrays = rows and all(isinstance(part, np.ndarray) and part.ndim == 1 for row in history for part in row[1:])
    alike = arrays and len({part.shape for row in history for part in row[1:]}) <= 1
    if not (alike and all(isinstance(row[0], int) for row in history)):
        raise InputError(f"{kept.where}: history is not a list of evaluations: {show(history)}")
    if len(best) != 2 or not all(isinstance(value, float) for value in best):
        raise InputError(f"{kept.where}: best is {show(best)}, not successes and return")
