"""`vigym view`: a recording, or an environment while it runs, in a browser; or written as a page, a film, a strip."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import gymnasium as gym
from gymnasium.error import DependencyNotInstalled
from tyro.conf import Positional, arg

from vigym.engine.errors import InputError, VigymError
from vigym.envs.controllers import scripted
from vigym.envs.controllers.learned import learned
from vigym.envs.registration import ENVIRONMENTS
from vigym.view.replay.replay import SUFFIXES, Replay
from vigym.view.replay.serve import present


def view(
    what: Annotated[Positional[str], arg(metavar="FILE|ID")],
    out: tuple[Path, ...] = (),
    seconds: float | None = None,
    seed: int | None = None,
    controller: Literal["scripted", "learned", "random"] | None = None,
    speed: float = 1.0,
    forces: bool = True,
    colliders: bool = False,
    browser: bool = True,
) -> None:
    """Play a recording, or run an environment, in a browser; or write it as a page, a film or a film strip.

    Args:
        what: A file that record() or the demo wrote; or the id of an environment, which then runs.
        out: Write files instead: .html (plays offline), .mp4, .gif (films) or .png (a film strip); folders that are
            missing are made.
        seconds: How long an environment runs; until Ctrl-C, or one episode if it is written to files, unless given.
        seed: Of the first start of an environment; 0 unless given.
        controller: Of an environment: scripted, the learned policy that vigym brings along, or random actions; the
            first of them that there is, unless given.
        speed: Times real time, for environments in the browser and for films.
        forces: Show the forces at contacts.
        colliders: Show the colliders that bodies do not look like, in pages, films and film strips of recordings; pages
            have a switch for it, too.
        browser: Open a browser; otherwise only its address is printed.
    """
    for path in out:
        if path.suffix.lower() not in SUFFIXES:
            raise SystemExit(f"--out {path}: write a replay as one of {', '.join(SUFFIXES)}")
    if seconds is not None and not 0.0 < seconds < 1e6:
        raise SystemExit(f"--seconds must be a positive number, got {seconds:g}")
    if seed is not None and seed < 0:
        raise SystemExit(f"--seed must be at least 0, got {seed}")
    try:
        for path in out if Path(what).is_file() or what in ENVIRONMENTS else ():
            path.parent.mkdir(parents=True, exist_ok=True)
        if Path(what).is_file():
            if not seconds is seed is controller is None:
                raise SystemExit(f"--seconds, --seed and --controller are for environments; {what} is a file")
            present(Replay.load(what), out, speed, forces, colliders, browser)
        elif what not in ENVIRONMENTS:
            known = ", ".join(ENVIRONMENTS)
            raise SystemExit(f"{what} is neither a file nor one of the environments: {known}")
        elif out:
            with TemporaryDirectory() as folder:
                recording = Path(folder) / "run.vigym"
                run(what, seconds, seed or 0, controller, record=recording)
                present(Replay.load(recording), out, speed, forces, colliders, browser)
        else:
            run(what, seconds, seed or 0, controller, render_mode="human", speed=speed, browse=browser)
    except (VigymError, DependencyNotInstalled, OSError) as error:
        raise SystemExit(str(error)) from error
    except KeyboardInterrupt:
        print()


def find(env_id: str, kind: str | None) -> Any:
    """A controller of that kind, or the first that there is; None for random actions."""
    if kind == "random":
        return None
    controller = None if kind == "learned" else scripted(env_id)
    if controller is None and kind == "scripted":
        raise InputError(f"{env_id} has no scripted controller; --controller learned has a policy")
    return learned(env_id) if controller is None else controller


def run(
    env_id: str, seconds: float | None, seed: int, kind: str | None, *, record: Path | None = None, **options: Any
) -> None:
    """Episodes under a controller: for `seconds`, one if recorded, or without end."""
    controller = find(env_id, kind)
    env: Any = gym.make(env_id, **options)
    try:
        observation, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        if record is not None:
            env.unwrapped.record(record)
        left = None if seconds is None else max(1, round(seconds / env.unwrapped.dt))
        while left is None or left > 0:
            action = env.action_space.sample() if controller is None else controller.act(observation)
            observation, _, terminated, truncated, _ = env.step(action)
            left = None if left is None else left - 1
            if terminated or truncated:
                if record is not None and left is None:
                    break
                observation, _ = env.reset()
                if controller is not None:
                    controller.reset()
    finally:
        env.close()
