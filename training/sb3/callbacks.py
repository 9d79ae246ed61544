"""Progress bar, evaluations and checkpoints around the learning; all between updates and rollouts."""

import time

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import safe_mean
from tqdm import tqdm

from vigym.engine.durable import write_whole
from vigym.training.evaluations import Evaluations
from vigym.training.sb3 import checkpoints
from vigym.training.sb3.export import policy_of
from vigym.training.stopping import Stop


class Progress(BaseCallback):
    """A bar with steps, steps a second, and return of the last episodes."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self.total = total

    def _on_training_start(self) -> None:
        self.bar: tqdm | None = None

    def _on_step(self) -> bool:
        if self.bar is None:  # after the first step, which may have compiled: speed is of those after it
            steps = self.num_timesteps
            self.bar = tqdm(total=self.total, initial=steps, unit="step", unit_scale=True, smoothing=0.05)
        return True

    def _on_rollout_end(self) -> None:
        assert self.bar is not None
        self.bar.update(self.num_timesteps - self.bar.n)
        if self.model.ep_info_buffer:
            told = {"return": f"{safe_mean([episode['r'] for episode in self.model.ep_info_buffer]):.1f}"}
            if self.model.ep_success_buffer:
                told["success"] = f"{safe_mean(self.model.ep_success_buffer):.0%}"
            self.bar.set_postfix(told, refresh=False)

    def _on_training_end(self) -> None:
        if self.bar is not None:
            self.bar.close()


class RewardTerms(BaseCallback):
    """Curves of the terms of the reward, reward/NAME: means over the control steps of a rollout."""

    def _on_training_start(self) -> None:
        self.sums: dict[str, float] = {}
        self.count = 0

    def _on_step(self) -> bool:
        for name, total in self.training_env.get_attr("reward_terms", 0)[0].items():
            self.sums[name] = self.sums.get(name, 0.0) + total
        self.count += 1
        return True

    def _on_rollout_end(self) -> None:
        for name, total in self.sums.items():
            self.logger.record(f"reward/{name}", total / self.count)
        self.sums, self.count = {}, 0


class Evaluation(BaseCallback):
    """Evaluations, and the best model saved."""

    def __init__(self, evaluations: Evaluations) -> None:
        super().__init__()
        self.evaluations = evaluations

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.evaluations.due(self.num_timesteps):
            self.evaluate()

    def evaluate(self) -> None:
        """Evaluate now."""
        run, steps = self.evaluations.run, self.model.num_timesteps
        policy = policy_of(self.model, env_id=run.env_id, algo=run.algo, seed=run.seed, steps=steps)
        values, best = self.evaluations.add(steps, policy)
        for name, value in values.items():
            self.logger.record(name, value)
        self.logger.dump(steps)
        if best:
            write_whole(run.folder / "best_model.zip", self.model.save, checked=True)
            if (normalize := self.model.get_vec_normalize_env()) is not None:
                write_whole(run.folder / "best_vecnormalize.pkl", lambda path: normalize.save(str(path)), checked=True)


class Checkpoints(BaseCallback):
    """A checkpoint every so many steps, and when the run is asked to stop (Ctrl-C or SIGTERM): then that ends it.

    spent: seconds of the run until now, on the clock and of the processor
    stop: tells whether it is asked to
    """

    def __init__(self, evaluations: Evaluations, spent: dict[str, float], stop: Stop) -> None:
        super().__init__()
        self.spent, self.began = spent, clocks()
        self.evaluations, self.run = evaluations, evaluations.run
        self.every = self.next = self.run.arguments["checkpoint_every"]
        self.stop, self.stopped = stop, False

    def _on_training_start(self) -> None:
        self.next = self.every * (self.num_timesteps // self.every + 1)

    def times(self) -> dict[str, float]:
        """Seconds of the run so far, interruptions left out."""
        return {name: self.spent[name] + now - self.began[name] for name, now in clocks().items()}

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self.next or self.stop.asked:
            self.logger.dump(self.num_timesteps)  # curves know what the checkpoint knows
            checkpoints.save(self.run.folder, self.model, {"evaluations": self.evaluations.kept, "spent": self.times()})
            self.next = self.every * (self.num_timesteps // self.every + 1)
            self.stopped = self.stop.asked

    def _on_step(self) -> bool:
        return not self.stopped


def clocks() -> dict[str, float]:
    """Seconds since some time in the past, on the clock and of the processor."""
    return {"clock": time.perf_counter(), "cpu": time.process_time()}
