"""`vigym demo`: a robot under its scripted controller, or a scene of bodies, simulated and written to files."""

import csv
import time
from collections.abc import Callable
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import gymnasium as gym
import numpy as np
from tyro.conf import Positional

from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Cylinder
from vigym.engine.simulator import Simulator


def box() -> Simulator:
    """A tumbling box, thrown across the floor."""
    size = np.array([0.4, 0.3, 0.2])
    mechanism = Mechanism()
    mechanism.add_body("box", mass=1.0, shapes=[Box(tuple(size))])
    for k, corner in enumerate(product((-0.5, 0.5), repeat=3)):
        mechanism.add_contact(f"corner {k}", "box", corner * size, friction=0.5)
    sim = Simulator(mechanism, dt=0.01)
    sim.set_state(x=[[0, 0, 1.0]], q=[[0.9, 0.3, 0.1, -0.2]] / np.sqrt(0.95), v=[[2.0, 0.5, 1.0]], w=[[4.0, -7.0, 2.0]])
    return sim


def chain() -> Simulator:
    """Twenty links with ball joints, dropped on the floor while sliding."""
    n = 20
    mechanism = Mechanism()
    for k in range(n):
        mechanism.add_body(f"link {k}", mass=1.0, shapes=[Cylinder(0.05, 1.0)])
        if k:
            anchors = {"parent_anchor": (0, 0, 0.5), "child_anchor": (0, 0, -0.5)}
            mechanism.add_joint(f"joint {k}", "spherical", f"link {k - 1}", f"link {k}", **anchors)
        else:
            mechanism.add_contact("start", "link 0", (0, 0, -0.5), friction=0.2)
        mechanism.add_contact(f"end {k}", f"link {k}", (0, 0, 0.5), friction=0.2)
    sim = Simulator(mechanism, dt=0.01)
    x = np.stack([np.arange(n), np.zeros(n), np.full(n, 0.3)], -1)
    v = np.tile([1.0, 0.3, 0.0], (n, 1))
    sim.set_state(x=x, q=np.tile([1, 0, 1, 0] / np.sqrt(2), (n, 1)), v=v)
    return sim


def fourbar() -> Simulator:
    """A closed loop of hinges that swings under its weight."""
    mechanism = Mechanism()
    hinge: dict = {"kind": "revolute", "axis": (0, 1, 0)}
    for name in ("left", "top", "right"):
        mechanism.add_body(name, mass=1.0, shapes=[Box((1.0, 0.05, 0.05))])
    left, right = (-0.5, 0, 0), (0.5, 0, 0)
    mechanism.add_joint("A", parent="world", child="left", parent_anchor=(0, 0, 2), child_anchor=left, **hinge)
    mechanism.add_joint("B", parent="left", child="top", parent_anchor=right, child_anchor=left, **hinge)
    mechanism.add_joint("C", parent="top", child="right", parent_anchor=right, child_anchor=right, **hinge)
    mechanism.add_joint("D", parent="world", child="right", parent_anchor=(1, 0, 2), child_anchor=left, **hinge)
    sim = Simulator(mechanism, dt=0.005)
    sim.set_joint_state(np.array([-0.6, 0.6, -0.6, -0.6]))
    return sim


SCENES: dict[str, Callable[[], Simulator]] = {"box": box, "chain": chain, "fourbar": fourbar}


class Robot(NamedTuple):
    """An environment, its scripted controller ("module:class"), seconds to simulate, options of its reset.

    For the film strip: number of poses, from and to when, s, how far each is moved along x, m, and the camera.
    """

    env_id: str
    controller: str
    seconds: float
    options: dict[str, Any]
    poses: int
    window: tuple[float, float]
    spread: float
    camera: dict[str, Any]


ROBOTS = {
    "hopper": Robot(
        "VIHopper-v0",
        "vigym.envs.controllers.hopper:HopperFlip",
        3.0,
        {},
        9,
        (0.3, 1.7),
        0.5,
        {"distance": 4.2, "azimuth": 90.0, "elevation": -8.0, "lookat": (2.0, 0.0, 0.9)},
    ),
    "quadruped": Robot(
        "VIQuadruped-v0",
        "vigym.envs.controllers.quadruped:QuadrupedTrot",
        8.0,
        {"command": (0.5, 0.0, 0.0)},
        5,
        (0.0, 8.0),
        0.0,
        {"distance": 3.6, "azimuth": 100.0, "elevation": -12.0, "lookat": (2.0, 0.0, 0.3)},
    ),
    "snake": Robot(
        "VISnake-v0",
        "vigym.envs.controllers.snake:SnakeGait",
        10.0,
        {},
        4,
        (0.0, 10.0),
        0.25,
        {"distance": 2.7, "azimuth": 90.0, "elevation": -35.0, "lookat": (1.2, 0.0, 0.0)},
    ),
}


class Watch:
    """What is worth telling about a run, and the poses of all its bodies."""

    def __init__(self, sim: Simulator) -> None:
        self.sim, self.names = sim, [body.name for body in sim.model.mechanism.bodies]
        self.rows: list[list[Any]] = []
        self.poses: list[tuple[np.ndarray, np.ndarray]] = []
        self.gap, self.error, self.iterations, self.steps, self.spent = np.inf, 0.0, 0, 0, 0.0

    def after(self, steps: int, spent: float) -> None:
        """Look at the state after some more steps, which took that many seconds."""
        sim = self.sim
        if not sim.status.converged[0]:
            raise SystemExit(f"step {self.steps} could not be solved: residual {sim.status.residual[0]:.3g}")
        self.steps += steps
        self.spent += spent
        self.gap = min(self.gap, sim.contact_gaps().min(initial=np.inf))
        self.error = max(self.error, sim.joint_error()[0])
        self.iterations += sim.status.iterations[0]
        state = sim.state
        self.poses.append((state.x[0], state.q[0]))
        for i, name in enumerate(self.names):
            self.rows.append([f"{self.steps * sim.dt:.6g}", name, *state.x[0, i], *state.q[0, i]])

    def tell(self, path: Path) -> None:
        """Write the poses, print the rest."""
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["time", "body", "x", "y", "z", "qw", "qx", "qy", "qz"])
            writer.writerows(self.rows)
        print(
            f"  steps of physics           {self.steps} of {self.sim.dt:g} s, {self.steps / self.spent:,.0f} a second"
        )
        print(f"  Newton iterations a step   {self.iterations / self.steps:.1f}")
        if self.sim.model.n_contacts:
            print(f"  deepest penetration        {max(0.0, -self.gap):.1e} m")
        if self.sim.model.mechanism.joints:
            print(f"  largest joint error        {self.error:.1e}")
        print(f"wrote {path}")


def demo(
    scene: Positional[Literal["hopper", "quadruped", "snake", "box", "chain", "fourbar"]] = "quadruped",
    seconds: float | None = None,
    seed: int = 0,
    picture: bool = True,
    out: Path = Path("vigym-demo"),
) -> None:
    """Run a robot under its scripted controller, or a scene of bodies, and write what happened to files.

    Args:
        scene: The hopper's flip, the Unitree A1's trot, the snake's gait; or a thrown box, a chain of 20 links that
            falls on the floor, a four-bar linkage.
        seconds: Simulated time, in seconds; as long as the scene is interesting, unless given.
        seed: Of the start, for robots.
        picture: Draw a film strip as well, for robots; the first one compiles the renderer, half a minute.
        out: Folder for the files; it is made if it does not exist.
    """
    if seconds is not None and not 0.0 < seconds < 1e6:
        raise SystemExit(f"--seconds must be a positive number, got {seconds:g}")
    out.mkdir(parents=True, exist_ok=True)
    if scene in ROBOTS:
        run_robot(scene, seconds, seed, picture, out)
    else:
        run_scene(scene, 3.0 if seconds is None else seconds, out)


def run_scene(scene: str, seconds: float, out: Path) -> None:
    """Bodies left to themselves."""
    from tqdm import tqdm

    sim = SCENES[scene]()
    watch = Watch(sim)
    for _ in tqdm(range(max(1, round(seconds / sim.dt))), desc=scene, unit="step"):
        began = time.perf_counter()
        sim.step()
        watch.after(1, time.perf_counter() - began)
    print(f"{scene}:")
    print(f"  largest speed at the end   {np.abs(sim.state.v).max():.1e} m/s")
    watch.tell(out / f"{scene}.csv")


def run_robot(name: str, seconds: float | None, seed: int, picture: bool, out: Path) -> None:
    """A robot under its scripted controller."""
    from tqdm import tqdm

    robot = ROBOTS[name]
    module, controller_name = robot.controller.split(":")
    controller = getattr(import_module(module), controller_name)()
    env: Any = gym.make(robot.env_id).unwrapped
    controller.reset()
    observation, info = env.reset(seed=seed, options=robot.options)
    start = env.task.state.x[0].mean(0)
    watch = Watch(env.task.sim)
    total, height = 0.0, 0.0
    for _ in tqdm(range(max(1, round((seconds or robot.seconds) / env.dt))), desc=name, unit="step"):
        action = controller.act(observation)
        began = time.perf_counter()
        observation, reward, terminated, _, info = env.step(action)
        watch.after(env.task.frame_skip, time.perf_counter() - began)
        total += reward
        height = max(height, env.task.state.x[0, :, 2].max())
        if terminated:
            break
    moved = env.task.state.x[0].mean(0) - start
    print(f"{name}: {robot.env_id} under {controller_name}")
    print(f"  return                     {total:.1f}{', fell' if terminated else ''}")
    print(f"  distance                   {np.hypot(*moved[:2]):.2f} m, {moved[0]:.2f} m forward")
    if name == "hopper":
        print(f"  apex                       {info['apex']:.2f} m")
        print(f"  turn                       {info['turn']:.0f} degrees{', landed' if info['success'] else ''}")
    watch.tell(out / f"{name}.csv")
    if picture:
        print(f"wrote {film_strip(env.task.sim, watch.poses, robot, out / f'{name}.png')}")


def film_strip(sim: Simulator, poses: list, robot: Robot, path: Path) -> Path:
    """Several poses of a run in one picture, the earlier ones paler."""
    from vigym.envs.view.image import save_png
    from vigym.envs.view.picture import Camera, Renderer

    first, last = (min(len(poses) - 1, int(len(poses) * when / robot.seconds)) for when in robot.window)
    chosen = [poses[k] for k in np.linspace(first, last, robot.poses).astype(int)]
    renderer = Renderer(sim.model.mechanism, 960, 400, Camera.from_config(robot.camera))
    x, q = (np.stack(part) for part in zip(*chosen, strict=True))
    x[..., 0] += robot.spread * np.arange(robot.poses)[:, None]
    save_png(path, renderer.render(x, q, fade=np.linspace(0.55, 0.0, len(chosen))))
    return path
