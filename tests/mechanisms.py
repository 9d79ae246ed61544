"""Random mechanisms with a state, for comparisons with the dense reference and with other engines.

Hypothesis draws every part by itself, simplest first: fewer bodies, all of them on the world, hinges about z, no laws,
zeros. A failure therefore shrinks to the smallest mechanism that shows it, and is printed as the calls that build it.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from vigym import Mechanism, Simulator
from vigym.engine.rotation import conjugate, multiply, rotate, rotation_matrix

KINDS = ["revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "floating", "fixed", "custom"]
DT = 0.01
GRAVITY = (0.5, -1.0, -9.0)
Call = tuple[str, tuple[Any, ...], dict[str, Any]]  # method of a mechanism, arguments, options


class Printed:
    """Hypothesis prints it as `repr` does, not field by field."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


@dataclass
class Scene(Printed):
    """A mechanism, and all that one step takes: state (x, q, v, w), effort, force, torque.

    calls: those that build the mechanism. positions, rates: those of the tree's joints, from which the state comes.
    """

    mechanism: Mechanism
    state: tuple[np.ndarray, ...]
    effort: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    calls: list[Call] = field(default_factory=list)
    positions: np.ndarray = field(default_factory=lambda: np.zeros(0))
    rates: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __repr__(self) -> str:
        names = ("positions", "rates", "effort", "force", "torque")
        return listed("Scene", self.calls, **{name: getattr(self, name) for name in names})


def listed(title: str, calls: list[Call], **values: np.ndarray) -> str:
    """The calls and the numbers, one a line, without those that are all zero."""
    lines = [f"{name} = {numbers.tolist()}" for name, numbers in values.items() if np.any(numbers)]
    return "\n    ".join([f"{title}:", f"Mechanism(gravity={GRAVITY})", *map(text, calls), *lines])


def text(call: Call) -> str:
    method, arguments, options = call
    named = [f"{name}={value!r}" for name, value in options.items()]
    return f".{method}({', '.join([*map(repr, arguments), *named])})"


def make(calls: list[Call]) -> Mechanism:
    m = Mechanism(gravity=GRAVITY)
    for method, arguments, options in calls:
        getattr(m, method)(*arguments, **options)
    return m


# -------------------- numbers


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    """Multiples of 1/1000 from low to high; the simplest is the one nearest to zero."""
    return st.integers(round(1000 * low), round(1000 * high)).map(lambda k: k / 1000)


def vectors(size: float) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[numbers(-size, size)] * 3)


def arrays(size: float, *shape: int) -> st.SearchStrategy[np.ndarray]:
    count = int(np.prod(shape))
    return st.lists(numbers(-size, size), min_size=count, max_size=count).map(lambda v: np.reshape(v, shape))


directions = vectors(1.0).map(lambda v: v if any(v) else (0.0, 0.0, 1.0))  # of any length
orientations = st.tuples(*[numbers(-1, 1)] * 4).map(lambda q: q if any(q) else (1.0, 0.0, 0.0, 0.0))  # of any length
often = st.sampled_from([False, True, True])
mostly = st.sampled_from([False, True, True, True, True])


# -------------------- parts


@st.composite
def body_options(draw: st.DrawFn) -> dict[str, Any]:
    """Mass, inertia of a box that is turned in any way, and pose."""
    mass = draw(st.sampled_from([1.0, 0.3, 0.7, 2.0]))
    square = np.array(draw(st.tuples(*[numbers(0.1, 0.5)] * 3))) ** 2
    q = np.array(draw(orientations))
    R = rotation_matrix(q / np.linalg.norm(q))
    inertia = R @ np.diag(mass / 12 * (square.sum() - square)) @ R.T
    inertia = (inertia + inertia.T) / 2
    pose = {"position": draw(vectors(2.0)), "orientation": draw(orientations)}
    return {"mass": mass, "inertia": inertia.tolist(), **pose}


@st.composite
def law_options(draw: st.DrawFn, dry: bool, n_free: int, ball: bool) -> dict[str, Any]:
    """Springs, dampers, limits and drives; rest, target and limits are the same on all axes of a joint.

    Half of those with three free rotations have no limits, so that they can turn by any angle."""
    if not draw(often):
        return {}
    options = {"stiffness": draw(numbers(0.001, 5)), "rest": draw(numbers(-0.5, 0.5)), "damping": draw(numbers(0, 0.5))}
    limited = not ball or draw(st.booleans())
    if limited and draw(mostly):
        options["lower"] = -draw(numbers(0.2, 1.0))
    if limited and draw(mostly):
        options["upper"] = draw(numbers(0.2, 1.0))
    if draw(often):
        options |= {"kp": draw(numbers(0.001, 50)), "target": draw(numbers(-2, 2))}
        options |= {"kd": draw(numbers(0.001, 2)), "target_velocity": draw(numbers(-2, 2))}
        if draw(mostly):
            options["effort_limit"] = draw(numbers(0.5, 5))
    if dry and draw(st.booleans()):
        options["friction"] = draw(numbers(0.05, 0.5))
    if draw(st.booleans()):
        options["armature"] = draw(numbers(0.001, 0.5))
    if draw(st.booleans()):  # not the same on all axes
        for name in options.keys() & {"stiffness", "damping", "kp", "kd", "friction"}:
            options[name] = tuple(options[name] * (1.0, 0.4, 1.7)[k % 3] for k in range(n_free))
    return options


class Link(NamedTuple):
    """A body, the joint that ties it to one before it or to the world, and what acts on both.

    Nothing in it depends on the other links: hypothesis can leave out any of them. Of `numbers`, one row for each, the
    joint's axes take as many as there are. up: 0 hangs it on the world, 1 on the link before it, 2 on the one before
    that. far: see `positions`.
    """

    up: int
    kind: str
    body: dict[str, Any]
    joint: dict[str, Any]
    numbers: np.ndarray
    far: bool = False

    def parent(self, index: int) -> str:
        return f"b{index - 1 - (self.up - 1) % index}" if self.up and index else "world"

    def n_free(self) -> int:
        free = {"floating": 0, "fixed": 0, "universal": 2, "cylindrical": 2, "spherical": 3, "planar": 3}
        return 6 - sum(self.joint["constrained"]) if self.kind == "custom" else free.get(self.kind, 1)

    def is_ball(self) -> bool:
        """Tell whether three rotations are free."""
        return self.kind == "spherical" or (self.kind == "custom" and not any(self.joint["constrained"][3:]))

    def positions(self) -> np.ndarray:
        """Coordinates at the start, within the limits; of three free rotations that are to start `far` from zero, close
        to half a turn, which half of them pass in the first step."""
        phi = np.clip(self.numbers[0, : self.n_free()], self.joint.get("lower", -1.0), self.joint.get("upper", 1.0))
        size = np.linalg.norm(phi[-3:])
        if self.far and self.is_ball() and size > 0.1 and not {"lower", "upper"} & self.joint.keys():
            phi[-3:] *= 3.138 / size
        return phi


@st.composite
def links(
    draw: st.DrawFn, rows: int, laws: bool = False, dry: bool = False, reach: float = 0.5, kinds: list[str] = KINDS
) -> Link:
    """A joint of any kind with anchors up to `reach` m away; rows: of numbers from -1 to 1, (rows, 6)."""
    up, kind = draw(st.integers(0, 7)), draw(st.sampled_from(kinds))
    reach = 0.0 if kind == "floating" else reach
    joint: dict[str, Any] = {"parent_anchor": draw(vectors(reach)), "child_anchor": draw(vectors(reach))}
    joint["orientation"] = draw(orientations)
    if kind not in ("fixed", "floating", "spherical"):
        joint["axis"] = draw(directions)
    if kind == "custom":
        held = draw(st.tuples(*[st.booleans()] * 6))
        joint["constrained"] = held if any(held) else (True, *held[1:])
    link = Link(up, kind, draw(body_options()), joint, draw(arrays(1.0, rows, 6)))
    if laws and link.n_free():
        joint |= draw(law_options(dry, link.n_free(), link.is_ball()))
    return link._replace(far=draw(st.booleans())) if laws and link.is_ball() else link


def tree_calls(tree: list[Link]) -> list[Call]:
    """Bodies b0, b1, ... and joints j0, j1, ..."""
    calls: list[Call] = [("add_body", (f"b{i}",), link.body) for i, link in enumerate(tree)]
    ends = [(f"j{i}", link.kind, link.parent(i), f"b{i}") for i, link in enumerate(tree)]
    return calls + [("add_joint", end, link.joint) for end, link in zip(ends, tree, strict=True)]


class Touch(NamedTuple):
    """A contact; `body` is taken modulo the number of bodies, offset: such that there is this gap at the start."""

    body: int
    point: tuple[float, ...]
    normal: tuple[float, ...]
    gap: float
    options: dict[str, float]

    def call(self, c: int, x: np.ndarray, q: np.ndarray, level: bool) -> Call:
        i, normal = self.body % len(x), np.array((0.0, 0.0, 1.0) if level else self.normal)
        normal = normal / np.linalg.norm(normal)
        offset = normal @ (x[i] + rotate(q[i], np.array(self.point))) - self.options["radius"] - self.gap
        plane = {"normal": tuple(normal.tolist()), "offset": float(offset)}
        return "add_contact", (f"c{c}", f"b{i}", self.point), self.options | plane


@st.composite
def touches(draw: st.DrawFn, soft: bool) -> Touch:
    """A point or a sphere that is just about to touch a plane."""
    body, point = draw(st.integers(0, 7)), draw(vectors(0.5))
    normal = draw(st.one_of(st.just((0.0, 0.0, 1.0)), directions))  # level ones beside tilted ones
    gap = draw(st.sampled_from([0.0, 1e-4, 2e-3, 0.5]))
    options = {"radius": draw(st.sampled_from([0.0, 0.05])), "friction": draw(st.sampled_from([0.0, 0.3, 0.9]))}
    if soft and draw(often):
        # not the one that is 0.5 m away: bodies that deep in the ground are shot out
        gap = gap * draw(st.sampled_from([1.0, -1.0])) if gap < 0.1 else gap
        options |= {"compliance": draw(st.sampled_from([1e-3, 1e-5])), "damping": draw(st.sampled_from([0.0, 10.0]))}
    return Touch(body, point, normal, gap, options)


class Loop(NamedTuple):
    """One more joint; `pair` is taken modulo the number of pairs of bodies that no joint connects yet."""

    pair: int
    off: tuple[float, ...]
    kind: str
    axis: tuple[float, ...]
    law: dict[str, Any]

    def calls(self, tree: list[Link], x: np.ndarray, q: np.ndarray) -> list[Call]:
        """Closed at this pose; nothing if all bodies are connected with one another."""
        names = ["world", *(f"b{i}" for i in range(len(tree)))]
        taken = {frozenset((link.parent(i), f"b{i}")) for i, link in enumerate(tree)}
        pairs = [(a, b) for a in names for b in names[1:] if a != b and frozenset((a, b)) not in taken]
        if not pairs:
            return []
        a, b = pairs[self.pair % len(pairs)]
        poses = dict(zip(names, zip([np.zeros(3), *x], [np.array([1.0, 0, 0, 0]), *q], strict=True), strict=True))
        (xa, qa), (xb, qb) = poses[a], poses[b]
        point = 0.5 * (xa + xb) + self.off
        ends = {
            "parent_anchor": rotate(conjugate(qa), point - xa),
            "child_anchor": rotate(conjugate(qb), point - xb),
            "orientation": multiply(conjugate(qa), qb),
        }
        options: dict[str, Any] = {name: tuple(values.tolist()) for name, values in ends.items()}
        if self.kind != "spherical":
            options["axis"] = self.axis
        if self.kind == "custom":
            options["constrained"] = (1, 0, 0, 0, 0, 0)
        return [("add_joint", ("loop", self.kind, a, b), options | self.law)]


# -------------------- mechanisms


@st.composite
def scenes(
    draw: st.DrawFn,
    contacts: bool = False,
    laws: bool = False,
    loops: bool = False,
    consistent: bool = False,
    soft: bool = False,
    dry: bool = False,
) -> Scene:
    """A tree of 1 to 8 bodies with any joints at a random pose in motion; with the parts that are asked for.

    Coordinates are often at a limit. Contacts are on planes of any orientation, or all of them on level ones; two of
    three are `soft`, and may be below their planes; half of the joints with laws have `dry` friction. A loop is closed
    by one more joint, which the motion does not obey unless it is to be `consistent`; with laws, it has them too.
    """
    tree = draw(st.lists(links(5, laws, dry), min_size=2 if loops else 1, max_size=8))
    calls, n = tree_calls(tree), len(tree)
    rates, effort = (2.0 * np.concatenate([link.numbers[k, : link.n_free()] for link in tree]) for k in (1, 2))
    positions = np.concatenate([link.positions() for link in tree])
    bare = Simulator(make(calls), dt=DT, compiled=False)
    bare.set_joint_state(positions, rates)
    state = tuple(part[0] for part in bare.state)
    if contacts:
        level = draw(st.sampled_from([True, False, False]))
        touching = draw(st.lists(touches(soft), min_size=1, max_size=4))
        calls += [touch.call(c, state[0], state[1], level) for c, touch in enumerate(touching)]
    if loops:
        kind = draw(st.sampled_from(["spherical", "revolute", "custom"]))
        free = {"spherical": 3, "revolute": 1, "custom": 5}[kind]
        law = draw(law_options(dry, free, kind != "revolute")) if laws else {}
        loop = Loop(draw(st.integers(0, 63)), draw(vectors(0.2)), kind, draw(directions), law)
        calls += loop.calls(tree, state[0], state[1])
        effort = np.append(effort, draw(arrays(2.0, 5)))  # of the loop's joint, if it is there
    m = make(calls)
    if consistent and len(m.joints) > n:
        whole = Simulator(m, dt=DT, compiled=False)
        whole.set_state(*state)
        whole.set_joint_state(whole.joint_positions(), whole.joint_velocities())
        state = tuple(part[0] for part in whole.state)
    effort = effort[: sum(joint.n_free for joint in m.joints if joint.kind != "floating")]
    force, torque = (size * np.array([link.numbers[k, :3] for link in tree]) for k, size in ((3, 2.0), (4, 0.2)))
    return Scene(m, state, effort, force, torque, calls, positions, rates)
