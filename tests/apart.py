"""Distances of colliders by another library, after every step: `follow`, or the fixture `judged` for whole files."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from vigym import Box, Capsule, Mechanism, Plane, Simulator, Sphere
from vigym.engine.collider import pair_law
from vigym.engine.rotation import multiply, rotate, rotation_matrix

ROUND, BOXES = 1e-9, 1e-8  # m that solids may overlap by; of two boxes; times the length of what is shorter than 1 m
NEAR = 0.01  # m: what is farther apart is not looked at


def geom(shape: Sphere | Capsule | Box | Plane) -> str:
    """A geom of MuJoCo."""
    match shape:
        case Sphere(radius=radius):
            kind, sizes = "sphere", [radius]
        case Capsule(radius=radius, length=length):
            kind, sizes = "capsule", [radius, length / 2]
        case Box(size=edges):
            kind, sizes = "box", [edge / 2 for edge in edges]
        case _:
            kind, sizes = "plane", [0, 0, 1]
    return f'<geom type="{kind}" size="{" ".join(repr(float(size)) for size in sizes)}"/>'


class Apart:
    """Distances of the colliders of a mechanism by `mj_geomDistance`."""

    def __init__(self, m: Mechanism) -> None:
        option = '<option ccd_tolerance="1e-14" ccd_iterations="1000"/>'
        geoms = "".join(geom(collider.shape) for collider in m.colliders)
        self.model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{geoms}</worldbody></mujoco>")
        self.data = mujoco.MjData(self.model)
        names = [*(body.name for body in m.bodies), "world"]
        self.body = np.array([names.index(collider.body) for collider in m.colliders])
        self.place = np.array([collider.shape.position for collider in m.colliders], float)
        self.turn = np.array([collider.shape.orientation for collider in m.colliders], float)
        self.couples = np.array(m.couples)
        planes = np.array([isinstance(collider.shape, Plane) for collider in m.colliders])
        self.bound = np.where(planes, np.inf, [collider.bound for collider in m.colliders])
        boxes = np.array([isinstance(collider.shape, Box) for collider in m.colliders])
        lengths = np.minimum(1.0, 2 * self.bound)
        first, second = self.couples.T
        self.allowed = np.where(boxes[first] & boxes[second], BOXES, ROUND) * np.minimum(
            lengths[first], lengths[second]
        )
        laws = [
            pair_law(m.colliders[a], m.colliders[b], own) for (a, b), own in zip(m.couples, m.pair_laws, strict=True)
        ]
        self.allowed[[law.compliance > 0 for law in laws]] = np.inf  # what is soft gives way

    def distances(self, x: np.ndarray, q: np.ndarray, near: float = NEAR) -> np.ndarray:
        """Distances (couples,) at poses (n_bodies, 3 or 4); `near` of those that are not nearer."""
        x, q = np.vstack([x, np.zeros(3)])[self.body], np.vstack([q, [1.0, 0.0, 0.0, 0.0]])[self.body]
        centre = x + rotate(q, self.place)
        self.data.geom_xpos[:] = centre
        self.data.geom_xmat[:] = rotation_matrix(multiply(q, self.turn)).reshape(-1, 9)
        first, second = self.couples.T
        room = np.linalg.norm(centre[first] - centre[second], axis=-1) - self.bound[first] - self.bound[second]
        found = np.full(len(self.couples), near)
        for k in np.flatnonzero(room < near):
            a, b = self.couples[k].tolist()
            found[k] = mujoco.mj_geomDistance(self.model, self.data, a, b, near, None)
        return found

    def check(self, sim: Simulator) -> None:
        """No two colliders overlap by more than is allowed, in any environment."""
        for x, q in zip(sim.state.x, sim.state.q, strict=True):
            over = self.distances(x, q) + self.allowed
            if over.min() < 0:
                worst = int(over.argmin())
                names = [sim.model.mechanism.colliders[k].name for k in self.couples[worst]]
                raise AssertionError(f"{names} overlap by {self.allowed[worst] - over[worst]} m")


class Judge:
    """`Simulator.step`, one step at a time, with a look at distances after each."""

    def __init__(self) -> None:
        self.step = Simulator.step
        self.known: WeakKeyDictionary[Simulator, Apart | None] = WeakKeyDictionary()

    def __call__(self, sim: Simulator, *args: Any, repeat: int = 1, **controls: Any) -> None:
        if sim not in self.known:
            self.known[sim] = Apart(sim.model.mechanism) if sim.model.touches else None
        judge = self.known[sim]
        for _ in range(repeat):
            self.step(sim, *args, **controls)
            if judge is not None:
                judge.check(sim)


def follow(
    sim: Simulator, steps: int, read: Callable[[], Any] | None = None, whole: bool = True, **controls: Any
) -> np.ndarray:
    """Step; after every step it must have converged, nothing may overlap in the eyes of MuJoCo and, if `whole`, it must
    not have been relaxed or cut. controls: as of `sim.step`, or functions of the number of the step. Returns what
    `read` returned."""
    judge, seen = Apart(sim.model.mechanism), []
    for k in range(steps):
        sim.step(**{name: value(k) if callable(value) else value for name, value in controls.items()})
        status = sim.status
        assert status.converged.all(), f"step {k} failed"
        if whole:
            assert (status.substeps == 1).all(), f"step {k} was cut"
            assert not status.relaxed.any(), f"step {k} was relaxed"
        judge.check(sim)
        if read is not None:
            seen.append(np.array(read()))
    return np.array(seen)
