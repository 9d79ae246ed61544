"""Derivatives of contacts between bodies, and their elimination, against complex steps; see test_jacobians.py."""

import numpy as np
import pytest
from rows_of_joints import joint_rows

from vigym import Box, Capsule, Cylinder, Mechanism, Plane, Simulator, Sphere, StateError
from vigym.engine.collider import Collider
from vigym.engine.kernels import axis, body, contact, joint, layout, ldu, loop
from vigym.engine.kernels.collision import manifold
from vigym.engine.kernels.collision.detect import find_contacts
from vigym.engine.kernels.interior_point import factorize, residual, start_bodies, start_pairs, substitute
from vigym.engine.kernels.motion_bounds import look_ahead
from vigym.engine.kernels.step import begin_step
from vigym.engine.kernels.store import Group
from vigym.engine.recalled import copy_contacts

STEP, DT = 1e-30, 0.01
UNKNOWNS = ("V", "wrench", "touch_ca", "touch_cb")


def random_turn(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def heap(rng: np.random.Generator, shapes: list) -> Mechanism:
    """Solids above each other, turned at random, with a little room between them."""
    m, height = Mechanism(), 0.0
    m.add_ground()
    for k, shape in enumerate(shapes):
        size = Collider("", "", shape).bound
        height += size
        pose = {"position": (*rng.uniform(-0.02, 0.02, 2), height), "orientation": random_turn(rng)}
        m.add_body(f"{k}", mass=rng.uniform(0.2, 2), shapes=[shape], collide=True, **pose)
        height += size
    return m


def snake(rng: np.random.Generator) -> Mechanism:
    """Hinges and balls in turn, so that bodies are linked that no joint connects; and a box that floats."""
    m = Mechanism()
    m.add_ground()
    pose = {"position": (0.2, 0.02, 0.2), "orientation": random_turn(rng)}
    m.add_body("box", mass=0.7, shapes=[Box((0.1, 0.1, 0.1))], collide=True, **pose)
    for k in range(5):
        m.add_body(f"{k}", mass=0.3, shapes=[Capsule(0.03, 0.1)], position=(0, 0, 0.5 - 0.1 * k), collide=True)
        if k:
            kind = "spherical" if k % 2 else "revolute"
            ends = {"parent_anchor": (0, 0, -0.05), "child_anchor": (0, 0, 0.05)}
            m.add_joint(f"{k}", kind, f"{k - 1}", f"{k}", axis=(0, 1, 0), damping=0.1, **ends)
    return m


def net(rng: np.random.Generator) -> Mechanism:
    """Bodies in three loops that share some of them, one through the world; and a ball among them. All may touch."""
    m = Mechanism()
    m.add_ground()
    places = {"a": (0, 0), "b": (0.1, 0), "c": (0.1, 0.1), "d": (0, 0.1), "e": (0.2, 0.05), "f": (0.15, 0.15)}
    at = {name: np.array([x, rng.uniform(-0.02, 0.02), 0.1 + z]) for name, (x, z) in places.items()}
    for name, place in at.items():
        m.add_body(name, mass=rng.uniform(0.2, 1), shapes=[Capsule(0.02, 0.04)], position=place, collide=True)
    m.add_body("ball", mass=0.5, shapes=[Sphere(0.025)], position=(0.05, 0, 0.15), collide=True)
    at["world"] = np.zeros(3)
    pairs = (
        ("world", "a"),
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
        ("world", "d"),
        ("b", "e"),
        ("e", "c"),
        ("c", "f"),
        ("f", "e"),
    )
    for k, (parent, child) in enumerate(pairs):
        hinge = at[child] + rng.normal(size=3) * 0.03
        anchors = {"parent_anchor": hinge - at[parent], "child_anchor": hinge - at[child]}
        law = {"damping": 0.1, "stiffness": 1.0 if k % 2 else 0.0}
        m.add_joint(f"{k}", ("revolute", "spherical", "universal")[k % 3], parent, child, **anchors, **law)
    return m


def stores(sim: Simulator, dtype: type, known: Group | None = None, shaken: float = 0.0) -> tuple[Group, Group, Group]:
    """Model, state and scratch of environment 0, with the contacts that were found, or those that are `known`; bodies
    moved from where joints are closed, and given velocities, if `shaken`."""
    model, m = sim.model, sim._lanes.constants[0]
    s = layout.state_store(model.features, model.sizes, 2, 1, dtype)[0]
    t = layout.scratch_store(model.features, model.sizes, 2, dtype)[0]
    for name, (_, _, shape) in sim._lanes.store.fields.items():
        if shape[-1:] == (4,) and name not in ("room", "columns_of"):
            setattr(s, name, sim._get(name)[0][..., None])
    rng = np.random.default_rng(0)
    for field, size in ((s.x, 1e-2), (s.q, 0.1), (s.v, 0.5), (s.w, 2.0)):
        field[...] += shaken * size * rng.normal(size=(*field.shape[:2], 1))
    s.q[...] /= np.sqrt((s.q**2).sum(1, keepdims=True))
    begin_step(m, s, t)
    t.h, t.live = sim.dt, 1.0
    start_bodies(m, s, t)
    if known is None:
        t.V[...] *= 4.0  # so that solids far from each other are near
        look_ahead(m, s, t)
        find_contacts(m, s, t, 0)
        t.V[...] /= 4.0
    else:
        copy_contacts(known, t)
    start_pairs(m, s, t)
    return m, s, t


def direction(m: Group, s: Group, t: Group) -> dict[str, np.ndarray]:
    """The affine direction of all unknowns."""
    before = {name: getattr(t, name).copy() for name in UNKNOWNS}
    factorize(m, s, t)
    substitute(m, s, t)
    t.alpha = 1.0
    contact.direct_contact(m, s, t)
    axis.direct_axis(m, s, t)
    joint.update_joint(m, s, t)
    ldu.update_loops(m, s, t)
    body.update_body(m, s, t)
    moved = {name: getattr(t, name) - before[name] for name in ("V", "wrench")}
    return moved | {"touch_ca": t.touch_cda, "touch_cb": t.touch_cdb}


def check(sim: Simulator, shaken: float = 0.0) -> set[float]:
    """residual + d(residual) direction = 0; returns the codes of the features that took part."""
    m, s, t = stores(sim, float, shaken=shaken)
    residual(m, s, t)
    slots, n = int(t.n_slots), sim.model.n_bodies
    before = {name: getattr(t, name).copy() for name in (*UNKNOWNS, "r", "touch_cr")}
    codes = set(t.touch_code[:slots, 0, 0].tolist())
    g = joint_rows(sim, t)[0] if sim.model.n_axes else np.zeros(0)
    d = direction(m, s, t)
    _, s1, t1 = stores(sim, complex, known=t, shaken=shaken)
    for name in UNKNOWNS:
        getattr(t1, name)[...] = before[name] + 1j * STEP * d[name]
    residual(m, s1, t1)
    for name, count in (("r", n), ("touch_cr", slots)):
        change, expected = getattr(t1, name).imag[:count] / STEP, -before[name][:count]
        scale = 1.0 + np.abs(expected).max() + np.abs(d["wrench"]).max() + np.abs(d["touch_ca"][:slots]).max(initial=0)
        np.testing.assert_allclose(change, expected, rtol=0, atol=1e-8 * scale, err_msg=name)
    # joints close; rows that close loops give way by EPSILON h^2 / J of the wrench (loop.py)
    if sim.model.n_axes:
        least = min(np.trace(body.inertia) for body in sim.model.mechanism.bodies)
        give = 2 * loop.EPSILON * DT**2 / least * np.abs(d["wrench"]).max() if m.features.loops else 0.0
        change = joint_rows(sim, t1)[0].imag / STEP
        np.testing.assert_allclose(change, -g, rtol=0, atol=1e-8 * (1 + np.abs(d["V"]).max()) + give)
    return codes


@pytest.mark.parametrize("cone", ["exact", "pyramid"])
def test_newton_where_bodies_touch(cone):
    found, rng = set(), np.random.default_rng(0)
    solids = [Box((0.2, 0.15, 0.1)), Capsule(0.05, 0.2), Sphere(0.06), Box((0.1, 0.3, 0.1)), Capsule(0.04, 0.3)]
    for _ in range(12):
        m = heap(rng, [solids[k] for k in rng.integers(len(solids), size=4)])
        sim = Simulator(m, dt=DT, cone=cone, compiled=False)
        sim.set_state(v=rng.normal(size=(4, 3)), w=2 * rng.normal(size=(4, 3)))
        found |= check(sim)
    assert found == {manifold.FACE, manifold.EDGES, manifold.POINTS, manifold.LINE}


def test_newton_where_rims_touch():
    """Leaning, and rolling on both rims; on planes of the world and of bodies, which may be the first of the pair."""
    rng = np.random.default_rng(3)
    for k in range(6):
        m = Mechanism()
        m.add_body("tray", mass=2.0, inertia=(0.3, 0.2, 0.4), position=(0, 0, -0.1), orientation=random_turn(rng))
        turn = m.bodies[0].orientation
        m.add_collider("tray", "tray", Plane(orientation=turn * [1, -1, -1, -1]))
        lying = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
        m.add_body("drum", mass=1.0, shapes=[Cylinder(0.1, 0.15)], position=(0, 0, 0.101),
                   orientation=lying if k % 2 else random_turn(rng))  # fmt: skip
        m.add_ground() if k > 2 else None
        sim = Simulator(m, dt=DT, compiled=False, overlap="keep")
        sim.set_state(v=rng.normal(size=(2, 3)), w=2 * rng.normal(size=(2, 3)), overlap="keep")
        assert manifold.RIM in check(sim)


def test_newton_where_a_chain_touches_itself():
    rng, done = np.random.default_rng(1), 0
    while done < 6:
        sim = Simulator(snake(rng), dt=DT, compiled=False)
        positions = rng.uniform(-0.9, 0.9, sim.model.n_axes)
        try:
            sim.set_joint_state(positions, 3 * rng.normal(size=sim.model.n_axes))
        except StateError:  # it overlaps there
            continue
        check(sim)
        done += 1


def test_newton_where_loops_touch():
    """Joints are open, which the direction closes, too."""
    rng, loops = np.random.default_rng(2), 0
    for _ in range(6):
        sim = Simulator(net(rng), dt=DT, compiled=False)
        check(sim, shaken=1.0)
        loops = max(loops, sim.model.sizes.n_loops)
    assert loops == 3
