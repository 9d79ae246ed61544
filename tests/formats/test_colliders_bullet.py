"""Colliders in PyBullet: exactly our couples touch, with our friction, shapes and poses."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from crowds import couple_distances, crowd, scattered
from hypothesis import given, settings
from hypothesis import strategies as st

import vigym
from vigym import Box, Capsule, Mechanism, MechanismError, Plane, Sphere
from vigym.formats.couples import laws
from vigym.formats.pybullet.handle import Handle, Link

pybullet = pytest.importorskip("pybullet")

seeds = st.integers(0, 2**32 - 1)
some = settings(max_examples=60)
Pair = frozenset[Link]


@contextmanager
def converted(m: Mechanism, **options) -> Iterator[Handle]:
    handle = vigym.to_pybullet(m, **options)
    try:
        yield handle
    finally:
        pybullet.disconnect(handle.client)


def touching(handle: Handle) -> set[Pair]:
    """Objects and links that touch, all of which overlap."""
    pybullet.performCollisionDetection(physicsClientId=handle.client)
    found = pybullet.getContactPoints(physicsClientId=handle.client)
    return {frozenset(((a, i), (b, j))) for _, a, b, i, j, *_ in found}


def expected(m: Mechanism, handle: Handle) -> dict[Pair, float]:
    links = [handle.colliders[collider.name] for collider in m.colliders]
    return {frozenset((links[a], links[b])): law.friction for (a, b), law in laws(m).items()}


@some
@given(seeds, st.sampled_from([{}, {"moving_planes": True}, {"single": True}, {"loops": True}]), st.booleans())
def test_couples_and_their_friction(seed, form, maximal):
    """Free bodies, trees, what is welded to others or to the world, loops, groups, masks, ignored pairs."""
    m = crowd(seed, **form)
    with converted(m, maximal=maximal and form == {"single": True}) as handle:
        ours = expected(m, handle)
        assert touching(handle) == set(ours)
        for pair, friction in ours.items():
            values = [pybullet.getDynamicsInfo(*where, physicsClientId=handle.client)[1] for where in pair]
            assert np.prod(values) == pytest.approx(friction, rel=1e-12)


@some
@given(seeds, st.booleans())
def test_distances(seed, maximal):
    """At random poses, between free bodies and what the world has.

    PyBullet reads sizes and places of shapes in single precision, 1e-7 of some metres, and rounds the edges and corners
    of boxes by its margin, 1 mm, which puts them up to (sqrt(3) - 1) mm farther in, except above a plane. Where solids
    overlap, it has other rules for the depth, so that only the sign counts."""
    m = crowd(seed, single=True, moving_planes=not maximal)
    state = scattered(m, seed)
    with converted(m, maximal=maximal) as handle:
        handle.place(state)
        links = [handle.colliders[collider.name] for collider in m.colliders]
        for (a, b), ours in zip(m.couples, couple_distances(m, state), strict=True):
            (first, i), (second, j) = links[a], links[b]
            found = pybullet.getClosestPoints(first, second, 100.0, i, j, physicsClientId=handle.client)
            theirs = min(point[8] for point in found)
            kinds = [type(m.colliders[k].shape) for k in (a, b)]
            rounded = 0.0 if Plane in kinds else kinds.count(Box) * (np.sqrt(3) - 1) * 1e-3
            if ours > 0:
                assert -1e-6 < theirs - ours < rounded + 1e-6
            elif ours < -1e-2:
                assert theirs < 0


def test_shapes_are_those_of_vigym():
    """Kind, size and place of every one, in the order added; PyBullet reads them in single precision."""
    turn = np.array([0.5, -0.5, 0.1, 0.7])
    turn /= np.linalg.norm(turn)
    m = Mechanism()
    m.add_body("body", 1.0, (1, 1, 1))
    m.add_ground()
    where = {"position": (0.1, -0.2, 0.3), "orientation": turn}
    shapes = [Sphere(0.1, **where), Capsule(0.05, 0.3, **where), Box((0.1, 0.2, 0.3), **where), Plane(**where)]
    for k, shape in enumerate(shapes):
        m.add_collider(f"{k}", "body", shape)
    with converted(m) as handle:
        # planes do not touch the ground: another link
        assert len({handle.colliders[str(k)] for k in range(4)}) == 2
        found = [
            row[2:4] + row[5:]
            for link in handle.surfaces["body"]
            for row in pybullet.getCollisionShapeData(*link, physicsClientId=handle.client)
        ]
    kinds = [pybullet.GEOM_SPHERE, pybullet.GEOM_CAPSULE, pybullet.GEOM_BOX, pybullet.GEOM_PLANE]
    sizes = [(0.1,), (0.3, 0.05), (0.1, 0.2, 0.3), (0, 0, 1)]
    for (kind, size, at, around), our_kind, our_size in zip(found, kinds, sizes, strict=True):
        assert kind == our_kind
        np.testing.assert_allclose(size[: len(our_size)], our_size, atol=1e-7)
        np.testing.assert_allclose(at, where["position"], atol=1e-7)
        assert abs(np.roll(around, 1) @ turn) == pytest.approx(1.0, abs=1e-7)


def test_compliances_add_up():
    """A ball at rest on soft ground sinks by m g (c1 + c2), whichever of them is soft."""
    for soft, ground in ((1e-4, 0.0), (0.0, 1e-4), (4e-5, 6e-5)):
        m = Mechanism()
        m.add_collider("ground", "world", Plane(), compliance=ground, damping=20.0 if ground else 0.0)
        law = {"compliance": soft, "damping": 0.0 if ground else 20.0}
        m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], position=(0, 0, 0.1), **law)
        with converted(m) as handle:
            pybullet.setTimeStep(0.002, physicsClientId=handle.client)
            for _ in range(1000):
                pybullet.stepSimulation(physicsClientId=handle.client)
            depth = 0.1 - handle.poses()[0][0, 2]
        assert depth == pytest.approx(9.81e-4, rel=0.03)


@pytest.mark.parametrize(
    ("laws", "what"),
    [
        ({"friction": 200.0}, "'ground' and 'skin'|'skin' and 'ground'.*friction above 10"),
        ({"compliance": 1e-3, "damping": 1.0}, "adds the dampings"),
    ],
)
def test_what_pybullet_does_not_have_is_refused(laws, what):
    m = Mechanism()
    m.add_collider("ground", "world", Plane(), friction=1.0, compliance=1e-3, damping=2.0)
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], position=(0, 0, 0.1))
    m.add_collider("skin", "ball", Sphere(0.1), **laws)
    with pytest.raises(MechanismError, match=what):
        vigym.to_pybullet(m)


def test_one_surface_of_a_rigid_body():
    m = Mechanism()
    m.add_ground()
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], position=(0, 0, 0.1), collide=True)
    m.add_collider("nose", "ball", Sphere(0.05, position=(0, 0, 0.1)), friction=0.1)
    with pytest.raises(MechanismError, match="'ball': PyBullet has one surface"):
        vigym.to_pybullet(m, maximal=True)


def test_contacts_and_colliders_of_one_body():
    """A contact touches its plane, at z = -0.2, and no collider; colliders do not touch that plane."""
    m = Mechanism()
    m.add_ground()
    for k in range(2):
        m.add_body(f"ball {k}", mass=1.0, shapes=[Sphere(0.1)], position=(0.1 * k, 0, 0.1), collide=True)
        m.add_contact(f"contact {k}", f"ball {k}", radius=0.3, offset=-0.2)
    with converted(m) as handle:
        balls, skins = ([handle.surfaces[f"ball {k}"][i] for k in range(2)] for i in (1, 0))
        (plane,) = handle.planes
        pairs = [(balls[0], balls[1]), (balls[0], handle.colliders["ground"]), (balls[1], handle.colliders["ground"])]
        pairs += [(skins[0], (plane, -1)), (skins[1], (plane, -1))]
        assert touching(handle) == {frozenset(pair) for pair in pairs}
