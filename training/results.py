"""`python -m vigym.training.results VIHopper-v0`: train with several seeds, evaluate, and write what is committed.

    training/results/VIHopper-v0/README.md      the command, and a row a seed
    training/results/VIHopper-v0/curve.csv      all evaluations during training
    training/results/VIHopper-v0/curve.png      the same, drawn
    assets/policies/VIHopper-v0.npz             the best policy of the best seed

Runs that are finished already, in the folder of logs, are taken as they are if their settings are those of the file.
"""

import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import tyro

from vigym.engine.durable import read_checked, write_whole
from vigym.engine.errors import InputError
from vigym.envs.controllers.learned import LearnedPolicy
from vigym.envs.words import known_env
from vigym.training import hyperparameters
from vigym.training.episodes import Episodes, run_episodes
from vigym.training.runs import BEST_POLICY, TIMES, Run, read_json
from vigym.training.train import train

EPISODES, FIRST = 100, 1_000_000
# What is asked of robots with commands when they are judged
COMMANDS = {"VIQuadruped-v0": (0.6, 0.0, 0.0)}


class Seed(NamedTuple):
    """A finished run, its evaluations during training, and the judgement of its best policy."""

    run: Run
    seconds: dict[str, float]
    curve: dict[str, Any]
    judged: Episodes

    @property
    def score(self) -> tuple[float, float]:
        """Successes, then return."""
        assert self.judged.success is not None
        return float(self.judged.success.sum()), float(self.judged.returns.mean())


def results(
    env_id: tyro.conf.Positional[str],
    seeds: int = 3,
    logs: Path = Path("logs"),
    out: Path = Path("training") / "results",
    policies: Path = Path("assets") / "policies",
) -> None:
    """Train with several seeds, evaluate the best policy of each over 100 episodes, and write it all down.

    Args:
        env_id: The environment, such as VIHopper-v0.
        seeds: 0 and those after it.
        logs: Where runs are looked for, and written to.
        out: Where a folder with curves is made.
        policies: Where the best policy goes.
    """
    try:
        known_env(env_id)
    except InputError as error:
        raise SystemExit(str(error)) from None
    done = []
    for seed in range(seeds):
        if (run := finished(logs, env_id, seed)) is None:
            train(env_id, seed=seed, out=logs)
            run = finished(logs, env_id, seed)
            if run is None:
                raise SystemExit(f"seed {seed} was interrupted: vigym train --resume goes on")
        done.append(judge(run))
    folder = out / env_id
    folder.mkdir(parents=True, exist_ok=True)
    policies.mkdir(parents=True, exist_ok=True)
    best = max(done, key=lambda seed: seed.score)
    policy = LearnedPolicy.load(best.run.folder / BEST_POLICY)
    policy.about["command"] = f"vigym train {env_id} --seed {best.run.seed}"
    policy.save(policies / f"{env_id}.npz")
    write_curve(folder / "curve.csv", done)
    draw(folder / "curve.png", env_id, done)
    write_whole(folder / "README.md", page(env_id, done, best))
    for path in (*sorted(folder.iterdir()), policies / f"{env_id}.npz"):
        print(f"wrote {path}")


def finished(logs: Path, env_id: str, seed: int) -> Run | None:
    """A finished run with that seed and the settings of the file; None if there is none."""
    algo = hyperparameters.algorithm(env_id)
    settings = json.loads(json.dumps(hyperparameters.settings(algo, env_id)))
    for folder in sorted((logs / algo).glob(f"{env_id}_*")):
        try:
            run = Run.read(folder)
        except InputError:  # somebody else's
            continue
        if run.seed == seed and run.settings == settings and not run.env_kwargs and run.is_finished:
            return run
    return None


def judge(run: Run) -> Seed:
    """Evaluate the best policy of a run."""
    options = {"command": COMMANDS[run.env_id]} if run.env_id in COMMANDS else None
    policy = LearnedPolicy.load(run.folder / BEST_POLICY)
    judged = run_episodes(run.env_id, policy, range(FIRST, FIRST + EPISODES), options=options)
    curve = dict(np.load(io.BytesIO(read_checked(run.folder / "evaluations.npz"))))
    return Seed(run, read_json(run.details / TIMES), curve, judged)


def write_curve(path: Path, done: list[Seed]) -> None:
    """One row an evaluation during training."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["seed", "steps", "return", "return of the worst episode", "success"])
        for seed in done:
            for steps, returns, success in zip(
                *(seed.curve[name] for name in ("timesteps", "results", "successes")), strict=True
            ):
                row = f"{returns.mean():.2f}", f"{returns.min():.2f}", f"{success.mean():.3f}"
                writer.writerow([seed.run.seed, steps, *row])


def draw(path: Path, env_id: str, done: list[Seed]) -> None:
    """Return and success over steps, a line a seed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained", height_ratios=[3, 1])
    for seed in done:
        steps = seed.curve["timesteps"] / 1e6
        above.plot(steps, seed.curve["results"].mean(1), label=f"seed {seed.run.seed}")
        below.plot(steps, 100 * seed.curve["successes"].mean(1))
    threshold = gym.spec(env_id).reward_threshold
    if threshold is not None:
        above.axhline(threshold, color="gray", linestyle=":", label=f"solved: {threshold:g}")
    algo = done[0].run.algo.upper()
    above.set(title=f"{env_id}, {algo}: {len(done[0].curve['results'][0])} episodes an evaluation", ylabel="return")
    above.legend(fontsize="small")
    below.set(xlabel="million steps", ylabel="success, %", ylim=(-5, 105))
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def page(env_id: str, done: list[Seed], best: Seed) -> str:
    """The page of an environment's results."""
    measures = [name for name in done[0].judged.measures if name != "success"]
    told = f", command {COMMANDS[env_id]}" if env_id in COMMANDS else ""
    lines = [
        f"# {env_id}",
        "",
        f"Made by `python -m vigym.training.results {env_id} --seeds {len(done)}` "
        f"(settings: training/hyperparameters.py); the policy of seed {best.run.seed} is committed.",
        "",
        f"The best policy of each seed, over {EPISODES} episodes with seeds that training does not use{told}; "
        "means of the measures:",
        "",
        f"| seed | steps | minutes | of the processor | return | success | {' | '.join(measures)} |",
        f"|{'---|' * (6 + len(measures))}",
    ]
    for seed in done:
        values = [f"{np.nanmean(seed.judged.measures[name]):.3g}" for name in measures]
        returns = f"{seed.judged.returns.mean():.1f} +- {seed.judged.returns.std():.1f}"
        minutes = [f"{seed.seconds[name] / 60:.1f}" for name in ("clock", "cpu")]
        row = [
            seed.run.seed,
            f"{seed.curve['timesteps'][-1]:,}",
            *minutes,
            returns,
            f"{seed.score[0]:.0f} of {EPISODES}",
        ]
        lines.append(f"| {' | '.join(map(str, [*row, *values]))} |")
    return "\n".join([*lines, "", "![Curves](curve.png)", ""])


if __name__ == "__main__":
    tyro.cli(results)
