"""`vigym evaluate`: how good a policy is, over many episodes."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from tyro.conf import Positional

from vigym.engine.errors import InputError
from vigym.envs.controllers import SCRIPTED, scripted
from vigym.envs.controllers.learned import LearnedPolicy, learned
from vigym.envs.words import bare_id, env_arguments, known_env
from vigym.training.episodes import Controller, Episodes, run_episodes
from vigym.training.measures import MEASURES
from vigym.training.runs import BEST_POLICY


def evaluate(
    env_id: Positional[str],
    policy: str = "learned",
    episodes: int = 100,
    seed: int = 1_000_000,
    command: tuple[float, ...] | None = None,
    env_kwargs: tuple[str, ...] = (),
    out: Path | None = None,
    replay: Path | None = None,
) -> None:
    """Run a policy for many episodes, and tell return and success.

    No code is run that is in a policy's file or in the folder of a training.

    Args:
        env_id: The environment, such as VIHopper-v0; or module:ID for one of your own, whose module is imported first.
        policy: "learned" for the one that vigym brings along, "scripted", a folder that `vigym train` made, or a
            policy's file (.npz).
        episodes: How many, each with its own seed.
        seed: Of the first episode; those after it count on. Training evaluates with the seeds from 0 on.
        command: What the robot is told to do, for environments with commands; drawn at random unless given.
        env_kwargs: Arguments of the environment, as name=value.
        out: A file for one row an episode (CSV).
        replay: A file for a recording of the first episode, which `vigym view` plays.
    """
    try:
        if episodes < 1:
            raise InputError(f"--episodes must be at least 1, got {episodes}")
        if seed < 0:
            raise InputError(f"--seed must be at least 0, got {seed}")
        arguments = env_arguments(known_env(env_id), env_kwargs)
        env_id = bare_id(env_id)
        controller = load_controller(env_id, policy)
        if command is not None and env_id in MEASURES and "command" not in MEASURES[env_id].infos:
            raise InputError(f"{env_id} takes no command")
        options = None if command is None else {"command": command}
        for path in (out, replay):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.open("ab").close()  # better now than when all episodes are over
        recorded: dict[str, Any] = {"options": options, "replay": replay}
        seeds = range(seed, seed + episodes)
        result = run_episodes(env_id, controller, seeds, **recorded, **arguments)
    except (InputError, OSError) as error:
        raise SystemExit(str(error)) from None
    print(f"{env_id} under {policy}, {episodes} episodes:")
    print(report(env_id, result))
    if out is not None:
        try:
            result.write(out)
        except OSError as error:
            raise SystemExit(f"the episodes could not be written to {out}: {error}") from None
        print(f"wrote {out}")
    if replay is not None:
        print(f"wrote {replay}, play it: vigym view {replay}")


def load_controller(env_id: str, policy: str) -> Controller:
    """The controller that `--policy` names."""
    if policy == "learned":
        return learned(env_id)
    if policy == "scripted":
        if env_id not in SCRIPTED:
            raise InputError(f"{env_id} has no scripted controller; there is one for {', '.join(SCRIPTED)}")
        return scripted(env_id)
    path = Path(policy)
    if path.is_dir():
        path = path / BEST_POLICY
    loaded = LearnedPolicy.load(path)
    if (made_for := bare_id(loaded.about.get("env_id", env_id))) != env_id:
        raise InputError(f"{path} is a policy for {made_for}, not for {env_id}")
    return loaded


def report(env_id: str, result: Episodes) -> str:
    """A few lines: return, length, successes, and the mean and range of every other measure."""
    threshold = gym.spec(env_id).reward_threshold
    solved = "" if threshold is None else f", {(result.returns >= threshold).sum()} reach {threshold:g}"
    lines = [
        f"  return                     {result.returns.mean():.1f} +- {result.returns.std():.1f}{solved}",
        f"  length                     {result.lengths.mean():.0f} steps, {result.lengths.min()} the shortest",
    ]
    if result.success is not None:
        lines.append(f"  success                    {result.success.sum()} of {len(result.success)}")
    for name, values in result.measures.items():
        if name != "success" and not np.isnan(values).all():
            low, high = np.nanmin(values), np.nanmax(values)
            lines.append(f"  {name:<26} {np.nanmean(values):.3g}, {low:.3g} to {high:.3g}")
    return "\n".join(lines)
