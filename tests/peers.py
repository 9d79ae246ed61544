"""Random trees for the converters, and how bodies start to move in vigym and in other engines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import mechanisms
import numpy as np
from hypothesis import strategies as st
from mechanisms import numbers

from vigym import Mechanism, Simulator
from vigym.benchmarks.runner import Runner
from vigym.benchmarks.scenes import Scene
from vigym.engine.rotation import rotate
from vigym.engine.state import State

H = 5e-4  # s, of the first step, and half of it
INSTANT = 1e-6  # s: what peers take velocities for


@dataclass(frozen=True, eq=False)
class Tree(mechanisms.Printed, Scene):
    """A scene that is printed as the calls that build it."""

    text: str = ""

    def __repr__(self) -> str:
        return self.text


def skew_body(rng: np.random.Generator) -> dict:
    """Mass, full inertia and pose, for mechanisms that are always the same: none of the numbers is special."""
    mass = rng.uniform(0.3, 2.0)
    box = rng.uniform(0.1, 0.5, 3) ** 2
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = axes @ np.diag(mass / 12 * (box.sum() - box)) @ axes.T
    position = rng.normal(size=3)
    return {"mass": mass, "inertia": inertia, "position": position, "orientation": rng.normal(size=4)}


def skew_joint(rng: np.random.Generator, kind: str) -> dict:
    """Anchors, orientation and axis, likewise; a custom joint has two slides and two turns."""
    options: dict = {"parent_anchor": 0.3 * rng.normal(size=3), "child_anchor": 0.3 * rng.normal(size=3)}
    options["orientation"] = rng.normal(size=4)
    if kind not in ("fixed", "spherical"):
        options["axis"] = rng.normal(size=3)
    if kind == "custom":
        options["constrained"] = (0, 1, 0, 0, 1, 0)
    return options


@st.composite
def law_options(draw: st.DrawFn, n: int, ball: bool, peer: str) -> dict[str, list[float]]:
    """Springs, dampers, drives that are cut or not, dry friction, limits that are far; what the peer has of them.

    Balls: neither has friction or limits of their axes; MuJoCo only has springs about zero that are all alike, and a
    damper on the angular velocity, where vigym's is on the rate of the rotation vector.
    """

    def each(values: st.SearchStrategy[float]) -> list[float]:
        return draw(st.lists(values, min_size=n, max_size=n))

    def few(most: float) -> list[float]:
        return each(st.one_of(st.just(0.0), numbers(0.0, most)))

    if n == 0 or not draw(st.booleans()):
        return {}
    if ball and peer == "mujoco":
        return {"stiffness": [draw(numbers(0, 3))] * n}
    laws = {"stiffness": each(numbers(1, 5)), "rest": each(numbers(-0.5, 0.5)), "damping": few(0.2)}
    laws |= {"kp": each(numbers(1, 5)), "kd": each(numbers(0.01, 0.1)), "target": each(numbers(-2, 2))}
    laws["target_velocity"] = each(numbers(-2, 2))
    if peer == "pybullet":  # MuJoCo's default integrator has kd as damping, which nothing limits
        laws["effort_limit"] = each(st.sampled_from([np.inf, 0.5]))
    if not ball:
        laws |= {"lower": each(st.sampled_from([-np.inf, -4.0])), "upper": [4.0] * n}
        if peer == "pybullet":  # MuJoCo's is soft
            laws["friction"] = few(0.05)
    return laws


@st.composite
def links(draw: st.DrawFn, peer: str) -> mechanisms.Link:
    """Any joint but a floating one; one half have laws. numbers: coordinates, rates, signs of the rates."""
    link = draw(mechanisms.links(3, kinds=[kind for kind in mechanisms.KINDS if kind != "floating"]))
    ball = link.kind == "spherical" or (link.kind == "custom" and not any(link.joint["constrained"][3:]))
    link.joint.update(draw(law_options(link.n_free(), ball, peer)))
    return link


@st.composite
def trees(draw: st.DrawFn, peer: str) -> Tree:
    """A tree of 1 to 6 bodies, on the world or free, with joints of all kinds, at random coordinates, in motion."""
    tree, free = draw(st.lists(links(peer), min_size=1, max_size=6)), draw(st.booleans())
    calls: list[mechanisms.Call] = []
    for i, link in enumerate(tree):
        if i == 0 and free:
            calls.append(("add_body", ("b0",), link.body))
            continue
        calls.append(("add_body", (f"b{i}", link.body["mass"], link.body["inertia"]), {}))
        parent = f"b{i - 1 - link.up % i}" if i else "world"
        calls.append(("add_joint", (f"j{i}", link.kind, parent, f"b{i}"), link.joint))
    rows = [link.numbers[:, : link.n_free()] for link in tree[1 if free else 0 :]]
    positions, sizes, signs = np.concatenate([np.zeros((3, 0)), *rows], 1)
    # rates are not near zero, where dry friction holds
    return in_motion(mechanisms.make(calls), 0.7 * positions, np.where(signs < 0, -1, 1) * (0.5 + 0.2 * sizes), calls)


def in_motion(m: Mechanism, positions: np.ndarray, rates: np.ndarray, calls: Sequence[mechanisms.Call] = ()) -> Tree:
    """These joint coordinates and rates."""
    sim = Simulator(m, dt=INSTANT, compiled=False)
    sim.set_joint_state(positions, rates)
    tree = Tree("tree", m, State(*(part[0] for part in sim.state)), H, steps=1)
    return replace(tree, text=mechanisms.listed("Tree", list(calls), positions=positions, rates=rates))


def accelerations(scene: Scene, step: float = H) -> np.ndarray:
    """dv/dt and d(omega)/dt of all bodies in vigym (n_bodies, 6): differences over a step, extrapolated to zero."""
    instant = Simulator(scene.mechanism, dt=INSTANT, compiled=False)
    instant.set_state(*scene.start)
    found = []
    for h in (step, step / 2):
        sim = Simulator(scene.mechanism, dt=h, compiled=False)
        sim.set_state(x=scene.start.x, q=scene.start.q)
        sim.set_joint_state(instant.joint_positions(), instant.joint_velocities())
        _, q, v, w = (part[0].copy() for part in sim.state)
        sim.step()
        found.append(np.concatenate([sim.state.v[0] - v, rotate(q, sim.state.w[0] - w)], -1) / h)
    return 2 * found[1] - found[0]


def accelerations_of(make: Callable[[float], Runner], step: float = H) -> np.ndarray:
    """The same in another engine."""
    found = []
    for h in (step, step / 2):
        engine = make(h)
        engine.reset()
        before = np.concatenate(engine.velocities(), -1)
        engine.step(0)
        found.append((np.concatenate(engine.velocities(), -1) - before) / h)
    return 2 * found[1] - found[0]


def assert_alike(theirs: np.ndarray, ours: np.ndarray) -> None:
    # what is left is of second order in H, at motions that change by some tens per second: (0.02)^2
    np.testing.assert_allclose(theirs, ours, atol=1e-3 * (1 + np.abs(ours).max()))
