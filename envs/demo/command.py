"""The command `vigym demo`."""

import time
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import numpy as np
from tyro.conf import Positional, arg

from vigym.engine.errors import VigymError
from vigym.envs.controllers.choice import Kind, best, choose
from vigym.envs.demo.robots import ROBOTS, Robot
from vigym.envs.demo.scenes import SCENES
from vigym.envs.demo.strip import Strip, write
from vigym.envs.demo.watch import Watch
from vigym.envs.words import bare_id, env_arguments, file_name, known_env

ENDLESS = 500  # control steps of environments without a limit


def demo(
    scene: Annotated[Positional[str], arg(metavar="NAME|ID")] = "quadruped",
    seconds: float | None = None,
    seed: int = 0,
    controller: Kind | None = None,
    env_kwargs: tuple[str, ...] = (),
    picture: bool = True,
    out: Path = Path("vigym-demo"),
) -> None:
    """Run a robot under a controller, or a scene of bodies, and write what happened to files.

    Args:
        scene: hopper (its flip), panda (picks and places a cube), quadruped (the Unitree A1 trots), rough (it does so
            over bumps), snake (its gait); arch (of stones, whose keystone is pulled out), box (thrown), chain (of 20
            links, falls on the floor), fourbar (a closed loop), heap (bodies that fall into a crate); or the id of any
            environment, as module:ID if it is one of your own.
        seconds: Simulated time, in seconds; one episode of an environment, and of names as long as they are
            interesting, unless given.
        seed: Of the start, for environments.
        controller: Of environments: scripted, the learned policy that vigym brings along, or random actions; the best
            of them that there is, unless given.
        env_kwargs: Arguments of the environment, as name=value.
        picture: Draw a film strip as well; the first one compiles the renderer, half a minute.
        out: Folder for the files; it is made if it does not exist.
    """
    if seconds is not None and not 0.0 < seconds < 1e6:
        raise SystemExit(f"--seconds must be a positive number, got {seconds:g}")
    if scene in SCENES and (controller is not None or env_kwargs):
        given = "--controller" if controller is not None else "--env-kwargs"
        raise SystemExit(f"{given} is for environments; {scene} is a scene of bodies")
    if seed < 0:
        raise SystemExit(f"--seed must be at least 0, got {seed}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"no folder can be made of {out}: {error.strerror}; choose another --out") from None
    try:
        if scene in SCENES:
            recording, strip = run_scene(scene, seconds, out)
        else:
            if scene not in ROBOTS and ":" not in scene and scene not in gym.registry:
                names = ", ".join([*ROBOTS, *SCENES])
                raise SystemExit(f"{scene} is neither one of {names}, nor the id of an environment")
            robot = ROBOTS.get(scene) or Robot(known_env(scene))
            arguments = {**robot.arguments, **env_arguments(robot.env_id, env_kwargs)}
            recording = run_robot(robot, file_name(scene), seconds, seed, controller, arguments, out)
            strip = robot.strip
        if picture:
            write(recording, strip)
    except (VigymError, OSError) as error:  # an argument is wrong, the disk is full, ...
        raise SystemExit(str(error)) from error
    print(f'wrote {recording}, play it: vigym view {recording} (needs pip install "vigym[render]")')


def run_scene(name: str, seconds: float | None, out: Path) -> tuple[Path, Strip | None]:
    """Bodies left to themselves, or to the forces of the scene."""
    from tqdm import tqdm

    scene = SCENES[name]
    sim = scene.build()
    watch = Watch(sim)
    recording = out / f"{name}.vigym"
    with sim.record(recording, title=name):
        for k in tqdm(range(max(1, round((seconds or scene.seconds) / sim.dt))), desc=name, unit="step"):
            controls = scene.act(sim, k * sim.dt)
            began = time.perf_counter()
            sim.step(**controls)
            watch.after(1, time.perf_counter() - began)
    print(f"{name}:")
    print(f"  largest speed at the end   {np.abs(sim.state.v).max():.1e} m/s")
    watch.tell(out / f"{name}.csv")
    return recording, scene.strip


def run_robot(
    robot: Robot, name: str, seconds: float | None, seed: int, kind: Kind | None, arguments: dict[str, Any], out: Path
) -> Path:
    """An environment under a controller: of the given kind, or the best one."""
    from tqdm import tqdm

    env_id = bare_id(robot.env_id)
    kind = kind or best(env_id)
    controller = choose(env_id, kind)
    env: Any = gym.make(env_id, **arguments)
    base = env.unwrapped
    observation, info = env.reset(seed=seed, options=robot.options or None)
    env.action_space.seed(seed)
    recording = out / f"{name}.vigym"
    base.record(recording)
    start = base.task.state.x[0].mean(0)
    watch = Watch(base.task.sim)
    total, seconds = 0.0, seconds or robot.seconds
    steps = max(1, round(seconds / base.dt)) if seconds else env.spec.max_episode_steps or ENDLESS
    for _ in tqdm(range(steps), desc=name, unit="step"):
        action = env.action_space.sample() if controller is None else controller.act(observation)
        began = time.perf_counter()
        observation, reward, terminated, truncated, info = env.step(action)
        watch.after(base.task.frame_skip, time.perf_counter() - began)
        total += reward
        if terminated or truncated:
            break
    moved = base.task.state.x[0].mean(0) - start
    print(f"{name}: {env_id} under {'random actions' if controller is None else type(controller).__name__}")
    print(f"  return                     {total:.1f}{', ended early' if terminated else ''}")
    if "is_success" in info:
        print(f"  from the goal              {info['distance']:.4f} m{', success' if info['is_success'] else ''}")
    else:
        print(f"  distance                   {np.hypot(*moved[:2]):.2f} m, {moved[0]:.2f} m forward")
    if env_id == "VIHopper-v0":
        print(f"  apex                       {info['apex']:.2f} m")
        print(f"  turn                       {info['turn']:.0f} degrees{', landed' if info['success'] else ''}")
    watch.tell(out / f"{name}.csv")
    env.close()
    return recording
