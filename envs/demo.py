"""`vigym demo`: a robot under a scripted or learned controller, or a scene of bodies, simulated; files tell of it."""

import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import gymnasium as gym
import numpy as np
from tyro.conf import Positional

from vigym.engine.durable import write_rows
from vigym.engine.errors import InputError
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Capsule, Cylinder, Sphere
from vigym.engine.simulator import Simulator
from vigym.envs.controllers import scripted
from vigym.envs.controllers.learned import LEARNED_IS_BETTER, learned
from vigym.view.replay.replay import Replay


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
        mechanism.add_body(f"link {k}", mass=1.0, shapes=[Cylinder(0.05, 1.0)], collide=False)
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
        mechanism.add_body(name, mass=1.0, shapes=[Box((1.0, 0.05, 0.05))], collide=False)
    left, right = (-0.5, 0, 0), (0.5, 0, 0)
    mechanism.add_joint("A", parent="world", child="left", parent_anchor=(0, 0, 2), child_anchor=left, **hinge)
    mechanism.add_joint("B", parent="left", child="top", parent_anchor=right, child_anchor=left, **hinge)
    mechanism.add_joint("C", parent="top", child="right", parent_anchor=right, child_anchor=right, **hinge)
    mechanism.add_joint("D", parent="world", child="right", parent_anchor=(1, 0, 2), child_anchor=left, **hinge)
    sim = Simulator(mechanism, dt=0.005)
    sim.set_joint_state(np.array([-0.6, 0.6, -0.6, -0.6]))
    return sim


def heap() -> Simulator:
    """Balls, boxes and capsules that fall into a crate."""
    mechanism = Mechanism()
    mechanism.add_ground()
    mechanism.add_collider("bottom", "world", Box((1.0, 1.0, 0.05), position=(0.0, 0.0, 0.025)))
    for k, (x, y) in enumerate(((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))):
        size = (0.05, 1.1, 0.3) if x else (1.0, 0.05, 0.3)
        mechanism.add_collider(f"wall {k}", "world", Box(size, position=(0.525 * x, 0.525 * y, 0.15)))
    for k, (z, x, y) in enumerate(product((0.3, 0.66), (-0.3, 0.0, 0.3), (-0.3, 0.0, 0.3))):
        shape = (Sphere(0.1), Box((0.2, 0.15, 0.12)), Capsule(0.06, 0.2))[k % 3]
        mechanism.add_body(f"body {k}", 1.0, shapes=[shape], position=(x + 0.002 * k, y, z), collide=True)
    return Simulator(mechanism, dt=0.01)


SCENES: dict[str, Callable[[], Simulator]] = {"box": box, "chain": chain, "fourbar": fourbar, "heap": heap}


class Robot(NamedTuple):
    """An environment, seconds to simulate, options of its reset.

    For the film strip: number of poses, from and to when, s, how far each is moved along x, m, and the camera.
    """

    env_id: str
    seconds: float
    options: dict[str, Any]
    poses: int
    window: tuple[float, float]
    spread: float
    camera: dict[str, Any]


ROBOTS = {
    "hopper": Robot(
        "VIHopper-v0",
        3.0,
        {},
        9,
        (0.1, 1.3),
        0.5,
        {"distance": 4.2, "azimuth": 90.0, "elevation": -8.0, "lookat": (2.0, 0.0, 0.9)},
    ),
    "quadruped": Robot(
        "VIQuadruped-v0",
        8.0,
        {"command": (0.5, 0.0, 0.0)},
        5,
        (0.0, 8.0),
        0.0,
        {"distance": 3.6, "azimuth": 100.0, "elevation": -12.0, "lookat": (2.0, 0.0, 0.3)},
    ),
    "panda": Robot(
        "VIPandaPickAndPlace-v0",
        2.0,
        {},
        1,
        (0.7, 2.0),
        0.0,
        {"distance": 1.2, "azimuth": 140.0, "elevation": -20.0, "lookat": (-0.25, 0.0, 0.25)},
    ),
    "snake": Robot(
        "VISnake-v0",
        10.0,
        {},
        5,
        (0.5, 1.7),
        0.35,
        {"distance": 3.6, "azimuth": 90.0, "elevation": -35.0, "lookat": (2.2, 0.0, 0.0)},
    ),
}


class Watch:
    """Summary of a run, and the poses of all its bodies as rows of a table."""

    def __init__(self, sim: Simulator) -> None:
        self.sim, self.names = sim, [body.name for body in sim.model.mechanism.bodies]
        self.rows: list[list[Any]] = []
        self.gap, self.error, self.iterations, self.steps, self.timed, self.spent = np.inf, 0.0, 0, 0, 0, 0.0

    def after(self, steps: int, spent: float) -> None:
        """Look at the state after some more steps, which took that many seconds."""
        sim = self.sim
        if not sim.status.converged[0]:
            raise SystemExit(f"step {self.steps} could not be solved: residual {sim.status.residual[0]:.3g}")
        if self.steps:  # the first may have compiled
            self.timed += steps
            self.spent += spent
        self.steps += steps
        self.gap = min(self.gap, sim.contact_gaps().min(initial=np.inf), sim.contacts().gap.min(initial=np.inf))
        self.error = max(self.error, sim.joint_error()[0])
        self.iterations += sim.status.iterations[0]
        state = sim.state
        for i, name in enumerate(self.names):
            self.rows.append([f"{self.steps * sim.dt:.6g}", name, *state.x[0, i], *state.q[0, i]])

    def tell(self, path: Path) -> None:
        """Write the poses, print the rest."""
        write_rows(path, [["time", "body", "x", "y", "z", "qw", "qx", "qy", "qz"], *self.rows])
        speed = f", {self.timed / self.spent:,.0f} a second" if self.timed else ""
        print(f"  steps of physics           {self.steps} of {self.sim.dt:g} s{speed}")
        print(f"  Newton iterations a step   {self.iterations / self.steps:.1f}")
        if self.gap < np.inf:
            print(f"  deepest penetration        {max(0.0, -self.gap):.1e} m")
        if self.sim.model.mechanism.joints:
            print(f"  largest joint error        {self.error:.1e}")
        print(f"wrote {path}")


def demo(
    scene: Positional[
        Literal["hopper", "panda", "quadruped", "snake", "box", "chain", "fourbar", "heap"]
    ] = "quadruped",
    seconds: float | None = None,
    seed: int = 0,
    controller: Literal["scripted", "learned"] | None = None,
    picture: bool = True,
    out: Path = Path("vigym-demo"),
) -> None:
    """Run a robot under a controller, or a scene of bodies, and write what happened to files.

    Args:
        scene: The hopper's flip, the Panda's pick and place, the Unitree A1's trot, the snake's gait; or a thrown box,
            a chain of 20 links that falls on the floor, a four-bar linkage, a heap of bodies in a crate.
        seconds: Simulated time, in seconds; as long as the scene is interesting, unless given.
        seed: Of the start, for robots.
        controller: Of robots: scripted, or learned where vigym brings a policy along; the better one unless given.
        picture: Draw a film strip as well, for robots; the first one compiles the renderer, half a minute.
        out: Folder for the files; it is made if it does not exist.
    """
    if seconds is not None and not 0.0 < seconds < 1e6:
        raise SystemExit(f"--seconds must be a positive number, got {seconds:g}")
    if controller is not None and scene not in ROBOTS:
        raise SystemExit(f"--controller is for robots ({', '.join(ROBOTS)}), not for {scene}")
    if seed < 0:
        raise SystemExit(f"--seed must be at least 0, got {seed}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"no folder can be made of {out}: {error.strerror}; choose another --out") from None
    try:
        if scene in ROBOTS:
            run_robot(scene, seconds, seed, controller, picture, out)
        else:
            run_scene(scene, 3.0 if seconds is None else seconds, out)
    except OSError as error:  # the disk is full, ...
        raise SystemExit(str(error)) from error


def run_scene(scene: str, seconds: float, out: Path) -> None:
    """Bodies left to themselves."""
    from tqdm import tqdm

    sim = SCENES[scene]()
    watch = Watch(sim)
    recording = out / f"{scene}.vigym"
    recorder = sim.record(recording, title=scene)
    for _ in tqdm(range(max(1, round(seconds / sim.dt))), desc=scene, unit="step"):
        began = time.perf_counter()
        sim.step()
        watch.after(1, time.perf_counter() - began)
    print(f"{scene}:")
    print(f"  largest speed at the end   {np.abs(sim.state.v).max():.1e} m/s")
    watch.tell(out / f"{scene}.csv")
    recorder.close()
    tell_replay(recording)


def run_robot(name: str, seconds: float | None, seed: int, kind: str | None, picture: bool, out: Path) -> None:
    """A robot under a controller: of the given kind, or the better one."""
    from tqdm import tqdm

    robot = ROBOTS[name]
    kind = kind or ("learned" if robot.env_id in LEARNED_IS_BETTER else "scripted")
    try:
        controller = learned(robot.env_id) if kind == "learned" else scripted(robot.env_id)
    except InputError as error:
        raise SystemExit(str(error)) from None
    env: Any = gym.make(robot.env_id).unwrapped
    observation, info = env.reset(seed=seed, options=robot.options)
    recording = out / f"{name}.vigym"
    env.record(recording)
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
    print(f"{name}: {robot.env_id} under {type(controller).__name__}")
    print(f"  return                     {total:.1f}{', fell' if terminated else ''}")
    if "is_success" in info:
        print(f"  from the goal              {info['distance']:.4f} m{', success' if info['is_success'] else ''}")
    else:
        print(f"  distance                   {np.hypot(*moved[:2]):.2f} m, {moved[0]:.2f} m forward")
    if name == "hopper":
        print(f"  apex                       {info['apex']:.2f} m")
        print(f"  turn                       {info['turn']:.0f} degrees{', landed' if info['success'] else ''}")
    watch.tell(out / f"{name}.csv")
    env.close()
    if picture:
        options: dict[str, Any] = {
            "poses": robot.poses,
            "window": robot.window,
            "spread": robot.spread,
            "camera": robot.camera,
        }
        print(f"wrote {Replay.load(recording).save(out / f'{name}.png', **options)}")
    tell_replay(recording)


def tell_replay(path: Path) -> None:
    """Return how to look at a recording."""
    print(f'wrote {path}, play it: vigym view {path} (needs pip install "vigym[render]")')
