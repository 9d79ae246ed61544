"""Cases of the benchmark of robustness: environments as they are, randomised, and with arguments at their ends.

Arguments without a bound are taken as far as a user would: time steps from 0.1 ms to 0.1 s, masses and gains over six
orders of magnitude. Weights of rewards, ranges of commands and pictures are left out: no step depends on them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from vigym.assets import unitree_a1
from vigym.benchmarks.touching import counted
from vigym.engine.simulator import Simulator
from vigym.envs.env import load_task
from vigym.envs.registration import ENVIRONMENTS
from vigym.envs.task import Task

NUM_ENVS = 64
USUAL = {
    "friction": (0.3, 1.5),
    "mass": (0.5, 2.0),
    "strength": (0.5, 1.5),
    "gains": (0.5, 2.0),
    "latency": (0, 3),
    "push_interval": (0.5, 2.0),
}
WIDE = {
    "friction": (0.0, 10.0),
    "mass": (0.01, 100.0),
    "strength": (0.01, 100.0),
    "gains": (0.01, 100.0),
    "latency": (0, 20),
    "push_interval": (0.01, 1.0),
}
USUAL_PUSH, WIDE_PUSH = 0.5, 20.0  # largest push over the robot's weight
FREE = {"terminate_when_unhealthy": False}  # a robot that has fallen goes on
CLOCK = {"dt": (1e-4, 0.1), "frame_skip": (1, 50)}
HOPPER = {"dt": (1e-4, 0.05), "frame_skip": (1, 50), "friction": (0.0, 10.0), "reset_noise_scale": (0.0, 3.0)}

# Arguments at the ends of what they may be, by environment; CLOCK for others
ENDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "VIPendulum-v0": CLOCK | {"reset_noise_scale": (0.0, 100.0)},
    "VICartPole-v0": CLOCK | {"reset_noise_scale": (0.0, 0.9), "healthy_angle_range": ((-np.inf, np.inf),)},
    "VIHopper-v0": HOPPER,
    "VIHopperHop-v0": HOPPER | {"healthy_tilt": (3.2,)},
    "VISnake-v0": CLOCK
    | {
        "num_links": (2, 40),
        "joints": ("ball",),
        "link_length": (0.01, 10.0),
        "link_mass": (1e-3, 1e3),
        "link_radius": (1e-3, 1.0),
        "friction": (0.0, 10.0),
        "effort_limit": (1e-3, np.inf),
        "kp": (0.03, 3e4),
        "kd": (1e-3, 1e3),
        "actuation": ("torque",),
        "action_scale": (0.0, 10.0),
        "reset_noise_scale": (0.0, 2.0),
    },
    "VIQuadruped-v0": {
        "dt": (1e-4, 0.05),
        "frame_skip": (1, 50),
        "actuation": ("torque",),
        "action_scale": (0.0, 10.0),
        "friction": (0.0, 10.0),
        "slope": (-1.0, 1.0),
        "step_height": (-0.19, 0.19),
        "step_length": (0.1, 5.0),
        "healthy_z_range": ((-np.inf, np.inf),),
        "healthy_tilt": (3.2,),
        "reset_noise_scale": (0.0, 0.5),
    },
}
# Arguments without which one of the above has no effect
TOGETHER: dict[str, dict[str, Any]] = {
    "slope": {"terrain": "incline"},
    "step_height": {"terrain": "steps"},
    "step_length": {"terrain": "steps"},
    "healthy_z_range": FREE,
    "healthy_tilt": FREE,
}


class Case(NamedTuple):
    """Something to be stepped; make: a new `Scene` of it, with so many environments and a seed."""

    kind: str
    name: str
    make: Callable[[int, int], "Steps"]


class Steps(Protocol):
    """Environments that are stepped: their simulator, a control step, and what follows it."""

    sim: Simulator

    def step(self) -> int:
        """Make a control step; returns how many steps of the simulator it has."""
        ...

    def end(self) -> None:
        """Begin anew where it is time."""
        ...


class Scene:
    """Environments of a task with random actions, gentle and violent; episodes that are over begin anew."""

    def __init__(self, task: Task, limit: int, seed: int) -> None:
        self.task, self.sim, self.limit = task, task.sim, limit
        self.rng = np.random.default_rng(seed)
        self.size, self.steps = 1.0, 0
        self._begin(np.arange(self.sim.num_envs))

    def _begin(self, env: np.ndarray) -> None:
        self.task.reset(env, [np.random.default_rng(self.rng.integers(2**32)) for _ in env], {})

    def step(self) -> int:
        """Make a control step; returns how many steps of the simulator it has."""
        if self.steps % 50 == 0:  # noise of several sizes, and full power to and fro
            self.size = self.rng.choice([0.1, 0.5, 1.0, np.inf])
        self.steps += 1
        noise = self.rng.uniform(-1, 1, (self.sim.num_envs, self.task.n_actions))
        self.over = self.task.step(np.sign(noise) if np.isinf(self.size) else self.size * noise).terminated
        return self.task.frame_skip

    def end(self) -> None:
        """Begin new episodes where they are over."""
        if (over := np.flatnonzero(self.over | (self.task.elapsed >= self.limit))).size:
            self._begin(over)


class Kicked(Scene):
    """The A1 whose targets jump and whose trunk is kicked, in large time steps; it is put up again every 4 s."""

    def __init__(self, num_envs: int, seed: int, dt: float = 0.05) -> None:
        self.sim = Simulator(unitree_a1.build(), dt=dt, num_envs=num_envs, tolerance=1e-6)
        self.rng, self.steps, self.begun = np.random.default_rng(seed), 0, self.sim.state
        self.age = self.rng.integers(0, 80, num_envs)
        joints = self.sim.model.mechanism.joints
        self.limits = np.array([[joint.lower[0], joint.upper[0]] for joint in joints]).T
        self.weight = 9.81 * self.sim.parameter("mass")[0].sum()

    def step(self) -> int:
        sim, rng = self.sim, self.rng
        force = np.zeros((sim.num_envs, sim.model.n_bodies, 3))
        kicked = rng.random(sim.num_envs) < 0.05
        force[kicked, 0] = rng.uniform(-10, 10, (kicked.sum(), 3)) * self.weight
        low, high = self.limits
        sim.step(force=force, target=rng.uniform(low, high, (sim.num_envs, len(low))))
        self.age += 1
        return 1

    def end(self) -> None:
        over = ~self.sim.status.converged | (self.age >= 80)
        if over.any():
            self.sim.set_state(*self.begun, mask=over)
            self.age[over] = 0


def randomized(env_id: str, ranges: Mapping[str, Any], push: float, **arguments: Any) -> dict[str, Any]:
    """Those of the ranges that have an effect on the robot, and pushes of up to `push` times its weight."""
    task = load_task(ENVIRONMENTS[env_id][0])(**arguments)
    of = task.variation.nominal
    there = {"friction": of["friction"].size, "gains": (of["kp"] + of["kd"]).any()}
    there["strength"] = np.isfinite(of["effort_limit"]).any()
    chosen = {name: value for name, value in ranges.items() if there.get(name, True)}
    return {"randomization": chosen | {"push": (0.0, push * 9.81 * of["mass"].sum())}}


def scene(env_id: str, **arguments: Any) -> Callable[[int, int], Scene]:
    """Makes scenes of an environment with these arguments."""
    path, limit, _ = ENVIRONMENTS[env_id]
    return lambda num_envs, seed: Scene(load_task(path)(num_envs=num_envs, **arguments), limit, seed)


def extremes(env_id: str) -> Iterator[Case]:
    """An environment with one argument at an end each, and with wide randomisation."""
    for name, values in ENDS.get(env_id, CLOCK).items():
        for value in values:
            given = {name: value} | TOGETHER.get(name, {})
            yield Case("extreme", f"{env_id} {name}={value}", scene(env_id, **given))
    wide = randomized(env_id, WIDE, WIDE_PUSH)
    yield Case("extreme", f"{env_id} wide randomization", scene(env_id, **wide))


def cases() -> Iterator[Case]:
    """All cases, class by class."""
    for env_id in ENVIRONMENTS:
        yield Case("default", env_id, scene(env_id))
    for env_id in ENVIRONMENTS:
        yield Case("randomized", env_id, scene(env_id, **randomized(env_id, USUAL, USUAL_PUSH)))
    for env_id in ENVIRONMENTS:
        yield from extremes(env_id)
    for actuation in ("pd", "torque"):
        given = {"joints": "ball", "actuation": actuation}
        wide = randomized("VISnake-v0", WIDE, WIDE_PUSH, **given)
        yield Case("ball-joint snake", f"{actuation}, wide randomization", scene("VISnake-v0", **given, **wide))
    yield Case("kicked A1", "h = 0.05", Kicked)
    for name, make in counted.scenes():
        yield Case("touching", name, make)
