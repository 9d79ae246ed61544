"""Random mechanisms with a state, for the comparison of the kernels with the dense reference."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from vigym import Mechanism, Simulator
from vigym.engine.rotation import conjugate, multiply, rotate

KINDS = ["revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "floating", "fixed", "custom"]
DT = 0.01


@dataclass
class Scene:
    """A mechanism, and all that one step takes: state (x, q, v, w), effort, force, torque."""

    mechanism: Mechanism
    state: tuple[np.ndarray, ...]
    effort: np.ndarray
    force: np.ndarray
    torque: np.ndarray


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

    A loop is closed by one more joint, which the motion does not obey unless it is to be `consistent`. Two of three
    contacts are `soft`, and may be below their planes; half of the joints with laws have `dry` friction.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2 if loops else 1, 8))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=n, max_size=n))
    parents = [draw(st.integers(-1, i - 1)) for i in range(n)]
    bodies = [random_body(rng) for _ in range(n)]
    joints = [random_joint(rng, kind, laws, dry) for kind in kinds]

    def build(x: np.ndarray | None = None, q: np.ndarray | None = None) -> Mechanism:
        m = Mechanism(gravity=(0.5, -1.0, -9.0))
        for i, body in enumerate(bodies):
            m.add_body(f"b{i}", **body)
        for i, (kind, options) in enumerate(zip(kinds, joints, strict=True)):
            m.add_joint(f"j{i}", kind, "world" if parents[i] < 0 else f"b{parents[i]}", f"b{i}", **options)
        if x is not None and q is not None:
            if contacts:
                add_contacts(m, np.random.default_rng(seed), x, q, soft)
            if loops:
                add_loop(m, np.random.default_rng(seed), x, q, parents)
        return m

    seed = int(rng.integers(2**32))
    bare = Simulator(build(), dt=DT, compiled=False)
    bounds = np.array([bound for joint in build().joints if joint.kind != "floating" for bound in limits(joint)])
    phi = rng.uniform(*bounds.reshape(-1, 2).T)
    bare.set_joint_state(phi, rng.normal(size=phi.shape))
    state = tuple(part[0] for part in bare.state)
    m = build(state[0], state[1])
    if consistent and len(m.joints) > n:
        whole = Simulator(m, dt=DT, compiled=False)
        whole.set_state(x=state[0], q=state[1], v=state[2], w=state[3])
        whole.set_joint_state(whole.joint_positions(), whole.joint_velocities())
        state = tuple(part[0] for part in whole.state)
    n_efforts = len(phi) + (m.joints[-1].n_free if loops and len(m.joints) > n else 0)
    effort, force, torque = rng.normal(size=n_efforts), rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3))
    return Scene(m, state, effort, force, torque)


def random_body(rng: np.random.Generator) -> dict:
    mass = rng.uniform(0.3, 2.0)
    box = rng.uniform(0.1, 0.5, 3) ** 2
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = axes @ np.diag(mass / 12 * (box.sum() - box)) @ axes.T
    position = rng.normal(size=3)
    return {"mass": mass, "inertia": inertia, "position": position, "orientation": rng.normal(size=4)}


def random_joint(rng: np.random.Generator, kind: str, laws: bool, dry: bool = False) -> dict:
    reach = 0.0 if kind == "floating" else 0.3
    options: dict = {"parent_anchor": reach * rng.normal(size=3), "child_anchor": reach * rng.normal(size=3)}
    options["orientation"] = rng.normal(size=4)
    if kind not in ("fixed", "floating", "spherical"):
        options["axis"] = rng.normal(size=3)
    if kind == "custom":
        options["constrained"] = rng.random(6) < 0.6
        if not options["constrained"].any():
            options["constrained"][0] = True
    n_free = 6 - options["constrained"].sum() if kind == "custom" else 0 if kind in ("fixed", "floating") else 1
    if laws and n_free and rng.random() < 0.7:
        options |= {"stiffness": rng.uniform(0, 5), "rest": 0.3 * rng.normal(), "damping": rng.uniform(0, 0.5)}
        bounds = {"lower": -rng.uniform(0.2, 1.0), "upper": rng.uniform(0.2, 1.0)}
        options |= {name: bound for name, bound in bounds.items() if rng.random() < 0.8}
        if rng.random() < 0.6:
            options |= {"kp": rng.uniform(0, 50), "kd": rng.uniform(0, 2), "target": rng.normal()}
            options |= {"target_velocity": rng.normal()}
            options |= {"effort_limit": rng.uniform(0.5, 5)} if rng.random() < 0.8 else {}
        if dry and rng.random() < 0.5:
            options["friction"] = rng.uniform(0.05, 0.5)
    return options


def limits(joint) -> list[tuple[float, float]]:
    """A range for every free axis within its limits; often at one of them."""
    return [(max(low, -1.0), min(high, 1.0)) for low, high in zip(joint.lower, joint.upper, strict=True)]


def add_contacts(m: Mechanism, rng: np.random.Generator, x: np.ndarray, q: np.ndarray, soft: bool = False) -> None:
    """Points and spheres that are just about to touch planes of any orientation, or all of them level ones."""
    level = rng.random() < 0.4
    for c in range(rng.integers(1, 5)):
        i = rng.integers(len(x))
        point, radius, normal = 0.3 * rng.normal(size=3), rng.choice([0.0, 0.05]), rng.normal(size=3)
        normal = np.array([0.0, 0.0, 1.0]) if level else normal / np.linalg.norm(normal)
        gap = rng.choice([0.0, 1e-4, 2e-3, 0.5])
        friction = rng.choice([0.0, 0.3, 0.9])
        give = {}
        if soft and rng.integers(3):
            gap = gap * rng.choice([1.0, -1.0]) if gap < 0.1 else gap  # 0.5 m deep, bodies are shot out
            give = {"compliance": rng.choice([1e-5, 1e-3]), "damping": rng.choice([0.0, 10.0])}
        offset = normal @ (x[i] + rotate(q[i], point)) - radius - gap
        m.add_contact(f"c{c}", f"b{i}", point, radius=radius, friction=friction, normal=normal, offset=offset, **give)


def add_loop(m: Mechanism, rng: np.random.Generator, x: np.ndarray, q: np.ndarray, parents: list[int]) -> None:
    """One more joint, closed at this pose, between two bodies that no joint connects yet."""
    pairs = [(a, b) for a in range(-1, len(x)) for b in range(len(x)) if a != b and parents[b] != a]
    pairs = [(a, b) for a, b in pairs if a < 0 or parents[a] != b]
    if not pairs:
        return
    a, b = pairs[rng.integers(len(pairs))]
    xa, qa = (np.zeros(3), np.array([1.0, 0, 0, 0])) if a < 0 else (x[a], q[a])
    point = 0.5 * (xa + x[b]) + 0.1 * rng.normal(size=3)
    kind = rng.choice(["spherical", "revolute", "custom"])
    options: dict = {} if kind == "spherical" else {"axis": rng.normal(size=3)}
    if kind == "custom":
        options["constrained"] = (1, 0, 0, 0, 0, 0)
    m.add_joint(
        "loop",
        str(kind),
        "world" if a < 0 else f"b{a}",
        f"b{b}",
        parent_anchor=rotate(conjugate(qa), point - xa),
        child_anchor=rotate(conjugate(q[b]), point - x[b]),
        orientation=multiply(conjugate(qa), q[b]),
        **options,
    )
