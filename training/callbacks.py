"""What happens around the learning: a progress bar, evaluations, checkpoints; all between updates and rollouts."""

import signal
import sys
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import safe_mean
from tqdm import tqdm

from vigym.training import checkpoints
from vigym.training.episodes import run_episodes
from vigym.training.export import policy_of
from vigym.training.runs import BEST_POLICY, Run


class Progress(BaseCallback):
    """A bar with steps, steps a second, and return of the last episodes."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self.total = total

    def _on_training_start(self) -> None:
        self.bar = tqdm(total=self.total, initial=self.num_timesteps, unit="step", unit_scale=True, smoothing=0.05)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.bar.update(self.num_timesteps - self.bar.n)
        if self.model.ep_info_buffer:
            told = {"return": f"{safe_mean([episode['r'] for episode in self.model.ep_info_buffer]):.1f}"}
            if self.model.ep_success_buffer:
                told["success"] = f"{safe_mean(self.model.ep_success_buffer):.0%}"
            self.bar.set_postfix(told, refresh=False)

    def _on_training_end(self) -> None:
        self.bar.close()


class Evaluation(BaseCallback):
    """Every so many steps: episodes without exploration, always with the same seeds, and the best model saved.

    The best is the one with the most successes, and of these the one with the highest return.
    """

    def __init__(self, run: Run, every: int, episodes: int) -> None:
        super().__init__()
        self.run, self.every, self.episodes = run, every, episodes
        self.kept: dict[str, Any] = {"next": every, "best": (-1.0, -np.inf), "history": []}

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self.kept["next"]:
            self.evaluate()
            self.kept["next"] += self.every * ((self.num_timesteps - self.kept["next"]) // self.every + 1)

    def evaluate(self) -> None:
        """Evaluate now."""
        run, steps = self.run, self.model.num_timesteps
        policy = policy_of(self.model, env_id=run.env_id, algo=run.algo, seed=run.seed, steps=steps)
        result = run_episodes(run.env_id, policy, range(self.episodes), **run.env_kwargs)
        success = result.success if result.success is not None else np.zeros(self.episodes, bool)
        self.kept["history"].append((steps, result.returns, result.lengths, success))
        columns = [np.array(column) for column in zip(*self.kept["history"], strict=True)]
        names = ("timesteps", "results", "ep_lengths", "successes")
        np.savez(run.folder / "evaluations.npz", **dict(zip(names, columns, strict=True)))
        mean = float(result.returns.mean())
        self.logger.record("eval/mean_reward", mean)
        self.logger.record("eval/mean_ep_length", float(result.lengths.mean()))
        self.logger.record("eval/success_rate", float(success.mean()))
        if (float(success.mean()), mean) > self.kept["best"]:
            self.kept["best"] = float(success.mean()), mean
            self.model.save(run.folder / "best_model.zip")
            policy.save(run.folder / BEST_POLICY)


class Checkpoints(BaseCallback):
    """A checkpoint every so many steps, and when the run is asked to stop (Ctrl-C or SIGTERM): then that ends it."""

    def __init__(self, run: Run, every: int, evaluation: Evaluation) -> None:
        super().__init__()
        self.run, self.every, self.evaluation = run, every, evaluation
        self.next = every
        self.asked = self.stopped = False

    def _on_training_start(self) -> None:
        self.next = self.every * (self.num_timesteps // self.every + 1)
        self.before = {number: signal.signal(number, self.ask) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(self, number: int, frame: Any) -> None:
        """Stop after this rollout and update; the second time at once."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("\nstopping after this update; once more to stop at once", file=sys.stderr)

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self.next or self.asked:
            checkpoints.save(self.run.folder, self.model, {"evaluation": self.evaluation.kept})
            self.next = self.every * (self.num_timesteps // self.every + 1)
            self.stopped = self.asked

    def _on_step(self) -> bool:
        return not self.stopped

    def _on_training_end(self) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
