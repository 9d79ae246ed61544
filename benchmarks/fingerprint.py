"""States of every environment and every scene, as a fingerprint: does a change of the code change a single bit?

    python -m vigym.benchmarks.fingerprint --out before.npz        # on the code before the change
    python -m vigym.benchmarks.fingerprint --against before.npz    # on the code after it

Machine code, and with it the last bits, depends on the processor and on LLVM: compare only files of one machine.
Trajectories with contact amplify rounding, so where bits differ, the difference of the FIRST step says how large it is.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from vigym.assets import cube, four_bar, hopper, scissor_lift, snake
from vigym.benchmarks.scenes import build
from vigym.engine.durable import write_arrays
from vigym.engine.mechanism import Mechanism
from vigym.engine.simulator import Simulator
from vigym.envs.registration import ENVIRONMENTS

Array = NDArray[np.float64]
LOOKS = (1, 2, 3, 5, 10, 20, 40, 80, 160)  # steps after which a state is kept
NUM_ENVS = 5  # a full lane group and a lane of the next one
LARGEST = 1e-12  # difference of the first step that counts as rounding
VISIBLE = 1e-6  # difference in all steps that does not; what is chaotic gets there from rounding alone
CONES = ("pyramid", "exact")

SCENES: dict[str, dict[str, Any]] = {
    "disc": {"contacts": 12, "drop": 0.02},
    "chain": {"links": 6, "drop": 0.2},
    "a1": {"gait": "trot", "dt": 0.005},
    "hopper": {"dt": 0.005},
    "flip": {"dt": 0.005},
    "toss": {},
    "incline": {},
    "top": {},
    "free-chain": {"links": 5},
    "flying-chain": {"links": 5},
    "loops": {"cells": 3},
    "stack": {"bodies": 3},
    "pinch": {},
    "heap": {"bodies": 6},
    "cubes": {"bodies": 4},
    "coil": {"links": 10},
    "gripper": {},
    "ready": {},
    "humanoid": {},
}


def tossed_cube(**contact: float) -> Mechanism:
    """The cube of the tosses with other contacts, above a tilted plane."""
    m, original = Mechanism(), cube.build()
    body = original.bodies[0]
    m.add_body("cube", mass=body.mass, inertia=body.inertia, position=(0.0, 0.0, 0.3))
    for corner in original.contacts:
        m.add_contact(corner.name, "cube", corner.point, radius=0.004, normal=(0.1, 0.2, 1.0), **contact)
    return m


# Mechanisms that no scene has: contacts that are soft, bouncing or smooth, tilted planes, loops with limits
MECHANISMS: dict[str, tuple[Callable[[], Mechanism], dict[str, float]]] = {
    "soft": (lambda: tossed_cube(friction=0.4, compliance=1e-4, damping=20.0), {}),
    "bouncing": (lambda: tossed_cube(friction=0.3, restitution=0.6), {}),
    "without friction": (lambda: tossed_cube(friction=0.0), {}),
    "smoothed": (lambda: tossed_cube(friction=0.5), {"smoothing": 1e-5}),
    "four-bar": (four_bar.build, {}),
    "scissor lift": (scissor_lift.build, {}),
    "hopper": (hopper.build, {}),
    "snake of balls": (lambda: snake.build(links=4, joints="ball", contact_radius=0.03), {}),
}


class Trace:
    """States of a run, and what was read off them."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Array]] = {"states": [], "read-outs": []}
        self.bodies: list[Array] = []  # their states alone: what only kernels have computed

    def keep(self, step: int, sim: Simulator, *told: Any) -> None:
        """Note the state after this step if it is one of LOOKS, and `told`, or what the simulator tells of contacts."""
        if step in LOOKS:
            self.bodies.append(np.concatenate([np.ravel(part) for part in sim.state]))
            state = *sim.state, sim.joint_positions(), sim.joint_velocities(), sim.status.iterations
            told = told or (sim.contact_forces(), sim.contact_gaps(), sim.contact_velocities(), sim.energy())
            for rows, parts in zip(self.rows.values(), (state, told), strict=True):
                rows.append(np.concatenate([np.ravel(np.asarray(part, float)) for part in parts]))

    @property
    def arrays(self) -> dict[str, Array]:
        """States and read-outs, one row per look."""
        return {name: np.array(rows) for name, rows in self.rows.items()}


def scene_states(name: str, cone: str) -> Trace:
    """A scene, driven as it is for every engine."""
    scene = build(name, **SCENES[name])
    sim = Simulator(scene.mechanism, scene.dt, NUM_ENVS, cone=cone)
    x, q, v, w = scene.starts(NUM_ENVS)
    sim.set_state(x=x, q=q, v=v, w=w)
    targets, twists = scene.controls(LOOKS[-1], scene.dt), scene.twists(LOOKS[-1], scene.dt)
    trace = Trace()
    for k in range(LOOKS[-1]):
        controls = {} if scene.targets is None else {"target": targets[k]}
        sim.step(**controls, torque=None if twists is None else twists[k])
        trace.keep(k + 1, sim)
    return trace


def mechanism_states(name: str, cone: str) -> Trace:
    """A mechanism under random forces and efforts."""
    make, options = MECHANISMS[name]
    sim = Simulator(make(), 0.005, NUM_ENVS, cone=cone, **options)  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    v, w = rng.normal(size=(2, NUM_ENVS, sim.model.n_bodies, 3))
    if not sim.model.mechanism.joints:
        sim.set_state(v=v, w=5.0 * w)
    trace = Trace()
    for k in range(LOOKS[-1]):
        sim.step(rng.normal(size=(NUM_ENVS, sim.model.n_axes)), force=0.1 * v)
        trace.keep(k + 1, sim)
    return trace


def environment_states(name: str, num_threads: int) -> Trace:
    """Observations, rewards and infos of a batch under random actions, with resets."""
    env = gym.make_vec(name, num_envs=NUM_ENVS, num_threads=num_threads)
    env.reset(seed=7)
    rng = np.random.default_rng(5)
    low, high = env.single_action_space.low, env.single_action_space.high  # type: ignore[attr-defined]
    trace = Trace()
    for k in range(LOOKS[-1]):
        action = rng.uniform(low, high, (NUM_ENVS, *low.shape)).astype(np.float32)
        _, reward, ended, _, info = env.step(action)
        told = [info[key] for key in sorted(info) if np.asarray(info[key]).dtype == float]
        task = env.unwrapped.task  # type: ignore[attr-defined]
        trace.keep(k + 1, task.sim, task.observe(), reward, ended, *told)
    env.close()
    return trace


def cases() -> Iterator[tuple[str, Callable[[], Trace]]]:
    """All cases by name, as functions to be called."""
    for name in ENVIRONMENTS:
        for threads in (1, 2):
            yield f"{name} {threads} threads", partial(environment_states, name, threads)
    for cone in CONES:
        for name in SCENES:
            yield f"scene {name} {cone}", partial(scene_states, name, cone)
        for name in MECHANISMS:
            yield f"mechanism {name} {cone}", partial(mechanism_states, name, cone)


def digest(states: Array) -> str:
    """A short hash; -0 counts as 0."""
    return hashlib.sha256((states + 0.0).tobytes()).hexdigest()[:16]


def compare(new: Array, old: Array) -> str:
    """Say "equal", or how far the first step and all of them differ."""
    if new.shape != old.shape:
        return f"DIFFERS in shape: {old.shape} before, {new.shape} now"
    if digest(new) == digest(old):
        return "equal"
    first, most = (float(np.abs(new[rows] - old[rows]).max(initial=0.0)) for rows in (slice(1), slice(None)))
    verdict = "rounding" if first < LARGEST and most < VISIBLE else "DIFFERS"  # as NaN does
    return f"{verdict}: {first:.2g} after one step, {most:.2g} in {LOOKS[-1]}"


@dataclass
class Fingerprint:
    """Hash the states of all environments and scenes, and compare them with those of other code.

    out: file to write the states to
    against: file of an earlier run to compare with
    only: run the cases whose names contain this
    """

    out: Path | None = None
    against: Path | None = None
    only: str = ""

    def run(self) -> int:
        """Number of cases that differ by more than rounding."""
        before: Mapping[str, Array] = {} if self.against is None else np.load(self.against)
        if not any(self.only in name for name, _ in cases()):
            raise SystemExit(f"no case has {self.only!r} in its name")
        states, different = {}, 0
        for name, case in cases():
            if self.only not in name:
                continue
            for part, values in case().arrays.items():
                key = f"{name}, {part}"
                states[key] = values
                told = ""
                if self.against is not None:
                    told = compare(values, before[key]) if key in before else "DIFFERS: not in the file"
                different += "DIFFERS" in told
                print(f"{digest(values)}  {key:48s} {told}", flush=True)
        if self.out is not None:
            write_arrays(self.out, states)
        return different


if __name__ == "__main__":
    import tyro

    sys.exit(tyro.cli(Fingerprint).run() > 0)
