"""Contacts between bodies: the kernels and the dense reference agree on one step of random columns of solids."""

from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import numbers, vectors

import reference
from reference import Touch
from vigym import Box, Capsule, Mechanism, Simulator, Sphere
from vigym.benchmarks.touching.parts import about
from vigym.engine.rotation import multiply, rotation_matrix

DT, HEIGHT = 0.01, 0.05  # half of a box's
ZERO = (0.0, 0.0, 0.0)
UP = np.array([0.0, 0.0, 1.0])


class Solid(NamedTuple):
    """One solid of a column, above the last one; `gap` from it. Boxes are flat, unless they are the topmost, small ones
    then and turned by `tilt`; capsules lie."""

    kind: str
    size: float
    gap: float
    yaw: float
    tilt: tuple[float, ...]
    beside: tuple[float, float]
    mass: float
    v: tuple[float, ...]
    w: tuple[float, ...]
    arm: bool


@st.composite
def solids(draw: st.DrawFn) -> Solid:
    kind, size = draw(st.sampled_from(["sphere", "capsule", "box"])), draw(numbers(0.04, 0.08))
    gap = draw(st.sampled_from([0.0, 1e-4, 2e-3]))
    place = (draw(numbers(-0.01, 0.01)), draw(numbers(-0.01, 0.01)))
    motion = draw(vectors(0.3)), draw(vectors(0.5))
    turns = draw(numbers(-0.5, 0.5)), draw(vectors(0.4))
    return Solid(kind, size, gap, *turns, place, draw(numbers(0.2, 2.0)), *motion, draw(st.booleans()))


def shape(solid: Solid, last: bool) -> Sphere | Capsule | Box:
    match solid.kind:
        case "sphere":
            return Sphere(solid.size)
        case "capsule":
            return Capsule(solid.size, 0.12)
    return Box((0.08, 0.06, 2 * HEIGHT)) if last else Box((0.5, 0.4, 2 * HEIGHT))


def build(column: list[Solid], friction: float, kind: str) -> tuple[Mechanism, list[Touch]]:
    """The mechanism, arms being on joints of this kind, and its contacts as the reference wants them."""
    m, touches, top = Mechanism(gravity=(0.5, -1.0, -9.0)), [], 0.0
    m.add_ground(friction=friction)
    placed: list[tuple[str, Any, np.ndarray, np.ndarray]] = []
    for k, solid in enumerate(column):
        last = k == len(column) - 1
        own, q = shape(solid, last), about(UP, solid.yaw + 1.3 * k)
        if solid.kind == "capsule":  # it lies, across the last one
            q = multiply(q, about((0.0, 1.0, 0.0), np.pi / 2))
        elif solid.kind == "box" and last:
            q = multiply(q, reference.from_rotation_vector(np.array(solid.tilt)))
        below = solid.size
        if isinstance(own, Box):
            below = float(np.abs(rotation_matrix(q)[2]) @ own.size) / 2
        x = np.array([*solid.beside, top + solid.gap + below])
        if placed and isinstance(own, Sphere) and not isinstance(placed[-1][1], Box):
            x[:2] += placed[-1][2][:2]
        name = f"b{k}"
        m.add_body(name, mass=solid.mass, shapes=[own], position=x, orientation=q, collide=True, friction=friction)
        touches += contacts(name, own, x, q, placed[-1] if placed else None, friction)
        placed.append((name, own, x, q))
        top = x[2] + below
    for k, solid in enumerate(column):
        if solid.arm:  # something hangs on it that touches nothing
            m.add_body(f"arm{k}", mass=0.3, inertia=(2e-3, 3e-3, 4e-3), position=(5.0, 0, 0))
            ends = {"parent_anchor": (0.02, 0.01, 0.0), "child_anchor": (0.1, 0.0, 0.05)}
            axis = {} if kind == "spherical" else {"axis": (0.0, 0.6, 0.8)}
            m.add_joint(f"arm{k}", kind, f"b{k}", f"arm{k}", damping=0.1, **ends, **axis)
    return m, touches


def corners(box: Box) -> np.ndarray:
    return np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * np.array(box.size) / 2


def tips(solid: Any) -> tuple[np.ndarray, float]:
    """Points of a solid that may touch a plane, and the radius around them."""
    match solid:
        case Sphere(radius=radius):
            return np.zeros((1, 3)), radius
        case Capsule(radius=radius, length=length):
            return np.array([[0, 0, -length / 2], [0, 0, length / 2]]), radius
    return corners(solid), 0.0


def contacts(name: str, own: Any, x: np.ndarray, q: np.ndarray, lower: Any, friction: float) -> list[Touch]:
    """Contacts of a solid with the one below it, or with the ground."""
    points, radius = tips(own)
    if lower is None:
        return [Touch(name, None, "face", p, ZERO, UP, UP, radius, radius, friction) for p in points]
    other, base, xb, qb = lower
    if isinstance(base, Box):  # on its upper face
        top = np.array([0, 0, HEIGHT])
        return [Touch(name, other, "face", p, top, UP, UP, radius, radius, friction) for p in points]
    below, rim = tips(base)
    if isinstance(own, Box):  # its lower face, on something round
        bottom = np.array([0, 0, -HEIGHT])
        return [Touch(other, name, "face", p, bottom, -UP, -UP, rim, rim, friction) for p in below]
    both = radius + rim  # of two round things of a kind, the one that was added first owns the point
    if isinstance(own, Sphere) and isinstance(base, Sphere):
        return [Touch(other, name, "points", ZERO, ZERO, UP, UP, rim, both, friction)]
    if isinstance(own, Sphere):
        return [Touch(name, other, "line", ZERO, ZERO, UP, UP, radius, both, friction)]
    if isinstance(base, Sphere):
        return [Touch(other, name, "line", ZERO, ZERO, UP, UP, rim, both, friction)]
    # two capsules that cross: the point of the owner is where they are nearest
    u, w = rotation_matrix(qb)[:, 2], rotation_matrix(q)[:, 2]
    s, _ = np.linalg.lstsq(np.stack([u, -w], -1), x - xb, rcond=None)[0]
    return [Touch(other, name, "lines", (0, 0, s), ZERO, UP, UP, rim, both, friction)]


def usable(column: list[Solid]) -> bool:
    """A flat box on a flat box has many features; a tilted one only if it is small, on top."""
    kinds = [solid.kind for solid in column]
    tall = all(not (a == b == "box") or k == len(kinds) - 2 for k, (a, b) in enumerate(pairwise(kinds)))
    # a small box has no face for something round below it
    return tall and not (kinds[-1] == "box" and len(kinds) > 1 and kinds[-2] != "box")


def compare(column: list[Solid], friction: float, kind: str, counts: dict[str, int]) -> None:
    m, touches = build(column, friction, kind)
    sim = Simulator(m, dt=DT, tolerance=1e-12, cone="pyramid")
    v, w = (np.array([getattr(solid, part) for solid in column]) for part in "vw")
    x, q, *_ = (part[0] for part in sim.state)
    if m.joints:
        sim.set_joint_state(np.zeros(sim.model.n_axes))
        x, q, *_ = (part[0] for part in sim.state)
    arms = [k for k, solid in enumerate(column) if solid.arm]
    v, w = np.concatenate([v, np.zeros((len(arms), 3))]), np.concatenate([w, np.zeros((len(arms), 3))])
    sim.set_state(x=x, q=q, v=v, w=w)
    sim.step()
    status = sim.status
    plain = SimpleNamespace(gravity=m.gravity, bodies=m.bodies, joints=m.joints, contacts=[], touches=touches)
    expected = reference.step(plain, (x, q, v, w), DT)
    if not expected.converged or not status.converged[0] or status.substeps[0] != 1 or status.relaxed[0]:
        counts["unsolved"] += 1
        return
    V = np.concatenate([sim.state.v[0], sim.state.w[0]], -1)
    difference = np.abs(V - np.concatenate([expected.v, expected.w], -1)).max()
    if difference > 1e-9:
        zero = np.zeros((len(m.bodies), 3))
        effort = np.zeros(sim.model.n_axes)
        misfit = reference.misfit(plain, (x, q, v, w), DT, V, effort, zero, zero)
        assert misfit < 1e-7, f"velocities differ by {difference}, and do not solve the step: {misfit}"
        counts["others"] += 1
    counts["touching"] += int(expected.contact_normal.max() > 1e-3)
    counts["solved"] += 1


def agree(examples: int, *kinds: str) -> dict[str, int]:
    counts = dict.fromkeys(("solved", "unsolved", "others", "touching"), 0)

    @settings(max_examples=examples)
    @given(
        st.lists(solids(), min_size=2, max_size=6).filter(usable),
        st.sampled_from([0.0, 0.3, 0.9]),
        st.sampled_from(kinds),
    )
    def run(column, friction, kind):
        compare(column, friction, kind, counts)

    run()
    return counts


def test_one_step_agrees_with_the_reference():
    counts = agree(12, "revolute")
    assert counts["solved"] >= 11
    assert counts["others"] == 0
    assert counts["touching"] >= 0.5 * counts["solved"]


@pytest.mark.slow
def test_many_steps_agree_with_the_reference():
    counts = agree(300, "revolute", "prismatic", "spherical")
    assert counts["solved"] >= 0.9 * 300
    assert counts["others"] <= 0.05 * 300
