"""Random mechanisms whose colliders are of all kinds, in each other's way: for what other engines make of them."""

import numpy as np

from vigym import Box, Capsule, Mechanism, Plane, Sphere
from vigym.engine.collisions import distances
from vigym.engine.model import Model
from vigym.engine.state import State

FRICTIONS = (0.0, 0.3, 0.8, 0.8, 1.5)
BITS = ({}, {}, {}, {"group": 2}, {"group": 3, "mask": 1}, {"mask": 2}, {"mask": 0})
SIZE, SPREAD = 0.5, 0.05  # m: colliders have at least that half width, their centres are closer than that


def turn(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def solid(rng: np.random.Generator, kinds: str) -> Sphere | Capsule | Box | Plane:
    """A shape of one of the kinds (the first letters), all of which reach beyond each other's centre."""
    where = {"position": rng.uniform(-SPREAD, SPREAD, 3), "orientation": turn(rng)}
    a, b, c = rng.uniform(SIZE, 2 * SIZE, 3)
    match rng.choice(list(kinds)):
        case "s":
            return Sphere(a, **where)
        case "c":
            return Capsule(a, b, **where)
        case "b":
            return Box((2 * a, 2 * b, 2 * c), **where)
    return Plane(**where)


def crowd(seed: int, moving_planes: bool = False, single: bool = False, loops: bool = False) -> Mechanism:
    """Two to five bodies, free or jointed, and the world, with colliders that all overlap; in one half of all crowds,
    these have the same surface and no masks.

    moving_planes: bodies have planes, too. single: one surface a body, free bodies. loops: two of the bodies close one.
    """
    rng = np.random.default_rng(seed)
    m = Mechanism()
    names = [f"b{k}" for k in range(rng.integers(3 if loops else 2, 6))]
    for k, name in enumerate(names):
        m.add_body(name, 1.0, (0.1, 0.2, 0.25), position=rng.uniform(-SPREAD, SPREAD, 3), orientation=turn(rng))
        kind = "free" if single else rng.choice(["free", "fixed", "revolute", "spherical"])
        if loops and k < 3:
            kind = "spherical"
        if kind != "free":
            anchors = {side: rng.uniform(-SPREAD, SPREAD, 3) for side in ("parent_anchor", "child_anchor")}
            parent = rng.choice(["world", *names[:k]]) if not (loops and k < 3) else ["world", *names][k]
            m.add_joint(f"to {name}", kind, parent, name, **anchors, orientation=turn(rng))
    if loops:
        m.add_joint("closing", "spherical", "world", "b2")
    kinds = "scbp" if moving_planes else "scb"
    alike = rng.random() < 0.5
    for owner in ["world", *names]:
        for k in range(1 if single else rng.integers(1, 4)):
            laws = {} if alike else {"friction": rng.choice(FRICTIONS), **BITS[rng.integers(len(BITS))]}
            m.add_collider(f"{owner} {k}", owner, solid(rng, "scbp" if owner == "world" else kinds), **laws)
    if rng.random() < 0.7:
        m.ignore_contact(*rng.choice(["world", *names], 2, replace=False))
    return m


def scattered(mechanism: Mechanism, seed: int) -> State:
    """All bodies, which are free, somewhere within some metres."""
    rng, n = np.random.default_rng(seed), len(mechanism.bodies)
    return State(
        rng.uniform(-3, 3, (n, 3)), np.array([turn(rng) for _ in range(n)]), np.zeros((n, 3)), np.zeros((n, 3))
    )


def couple_distances(mechanism: Mechanism, state: State) -> np.ndarray:
    """Distances of all couples of a mechanism, in their order, m."""
    return distances(Model(mechanism), state.x[None], state.q[None], np.array(mechanism.couples, np.int64))[0]
