"""`vigym view`: a robot, a recording, or an environment while it runs, in a browser; or written to files."""

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import gymnasium as gym
from gymnasium.error import DependencyNotInstalled
from tyro.conf import Positional, arg

from vigym.engine.errors import InputError, VigymError
from vigym.envs.controllers.choice import Kind, choose
from vigym.envs.robot_file import Robot, kind_of, model, model_names, read_robot
from vigym.envs.words import bare_id, env_arguments, known_env
from vigym.view.page.trial import DT, Trial
from vigym.view.pictures.picture import Renderer, save_png
from vigym.view.replay.replay import SUFFIXES, Replay
from vigym.view.replay.serve import present


def view(
    what: Annotated[Positional[str], arg(metavar="FILE|MODEL|ID")],
    out: tuple[Path, ...] = (),
    seconds: float | None = None,
    seed: int | None = None,
    controller: Kind | None = None,
    env_kwargs: tuple[str, ...] = (),
    speed: float = 1.0,
    forces: bool = True,
    colliders: bool = False,
    browser: bool = True,
    floating: bool = False,
) -> None:
    """Open a robot, play a recording, or run an environment, in a browser; or write it as a page, film or picture.

    Args:
        what: A URDF or MJCF file, or the name of a model of vigym.assets (panda, unitree_a1, ...), whose joints can
            then be moved and which can be simulated; a file that record() or the demo wrote; or the id of an
            environment, which then runs, as module:ID if it is one of your own.
        out: Write files instead: .html (plays offline), .mp4, .gif (films) or .png (a film strip); folders that are
            missing are made.
        seconds: How long an environment or a robot runs; until Ctrl-C, or, if it is written to files, one episode, or
            2 s of a robot that is held by drives, unless given. A robot's .png without it is a picture of its pose.
        seed: Of the first start of an environment; 0 unless given.
        controller: Of an environment: scripted, the learned policy that vigym brings along, or random actions; the
            best of them that there is, unless given.
        env_kwargs: Arguments of the environment, as name=value.
        speed: Times real time, for environments in the browser and for films.
        forces: Show the forces at contacts.
        colliders: Show the colliders that bodies do not look like, in pages, films and film strips of recordings; pages
            have a switch for it, too.
        browser: Open a browser; otherwise only its address is printed.
        floating: Let the root link of a URDF file fly freely, and stand on the ground; it is fixed otherwise.
    """
    for path in out:
        if path.suffix.lower() not in SUFFIXES:
            raise SystemExit(f"--out {path}: write a replay as one of {', '.join(SUFFIXES)}")
    if seconds is not None and not 0.0 < seconds < 1e6:
        raise SystemExit(f"--seconds must be a positive number, got {seconds:g}")
    if seed is not None and seed < 0:
        raise SystemExit(f"--seed must be at least 0, got {seed}")
    try:
        kind = kind_of(Path(what)) if Path(what).is_file() else "environment"
        if kind == "environment" and what in model_names():
            kind = "model"
        arguments: dict[str, Any] = {}
        if kind == "environment":
            try:
                arguments = env_arguments(known_env(what), env_kwargs)
            except InputError as error:
                models = ", ".join(model_names())
                raise SystemExit(f"{what} is not a file, nor a model ({models}), nor an environment: {error}") from None
        elif env_kwargs:
            raise SystemExit(f"--env-kwargs is for environments; {what} is not one")
        for path in out:
            path.parent.mkdir(parents=True, exist_ok=True)
        if floating and kind != "urdf":
            raise SystemExit(f"--floating is for URDF files; {what} is not one")
        if kind in ("urdf", "mjcf", "model"):
            if not seed is controller is None:
                raise SystemExit(f"--seed and --controller are for environments; {what} is a robot")
            robot = model(what) if kind == "model" else read_robot(Path(what), kind, floating)
            for remark in robot.remarks:
                print(f"note: {remark}")
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_: print(f"note: {message}", flush=True)
                show_robot(robot, out, seconds, speed=speed, forces=forces, colliders=colliders, browser=browser)
        elif kind == "recording":
            if not seconds is seed is controller is None:
                raise SystemExit(f"--seconds, --seed and --controller are for environments; {what} is a file")
            present(Replay.load(what), out, speed, forces, colliders, browser)
        elif out:
            with TemporaryDirectory() as folder:
                recording = Path(folder) / "run.vigym"
                run(bare_id(what), seconds, seed or 0, controller, record=recording, **arguments)
                present(Replay.load(recording), out, speed, forces, colliders, browser)
        else:
            shown: dict[str, Any] = {"render_mode": "human", "speed": speed, "browse": browser}
            run(bare_id(what), seconds, seed or 0, controller, **shown, **arguments)
    except (VigymError, DependencyNotInstalled, OSError) as error:
        raise SystemExit(str(error)) from error
    except KeyboardInterrupt:
        print()


def show_robot(
    robot: Robot,
    out: tuple[Path, ...],
    seconds: float | None,
    *,
    speed: float,
    forces: bool,
    colliders: bool,
    browser: bool,
) -> None:
    """A robot on a page of its own; or files: a picture of its pose, pages and films of it while drives hold it."""
    if not out:
        from vigym.view.page.workbench import Workbench

        bench = Workbench(
            robot.mechanism,
            robot.name,
            robot.poses,
            speed=speed,
            forces=forces,
            colliders=colliders,
            browse=browser,
        )
        print("Ctrl-C ends it", flush=True)
        bench.run(seconds)
        return
    trial = Trial(robot.mechanism)
    for name, given in list(robot.poses.items())[:1]:
        if problem := trial.pose(given["positions"], given):
            print(f"note: keyframe {name!r} is left out: {problem}")
    pictures = [path for path in out if path.suffix.lower() == ".png" and seconds is None]
    for path in pictures:
        renderer = Renderer(trial.mechanism, 800, 800, colliders=colliders)
        save_png(path, renderer.render(trial.sim.state.x[0], trial.sim.state.q[0]))
        print(f"wrote {path}")
    if films := tuple(path for path in out if path not in pictures):
        targets = trial.positions()
        trial.step(targets)
        with TemporaryDirectory() as folder:
            recording = Path(folder) / "run.vigym"
            with trial.sim.record(recording, title=robot.name):
                for _ in range(max(1, round((seconds or 2.0) / DT))):
                    trial.step(targets)
            present(Replay.load(recording), films, speed, forces, colliders, browser)


def run(
    env_id: str, seconds: float | None, seed: int, kind: Kind | None, *, record: Path | None = None, **options: Any
) -> None:
    """Episodes under a controller: for `seconds`, one if recorded, or without end."""
    controller = choose(env_id, kind)
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
