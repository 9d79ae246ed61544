"""Colliders in MuJoCo: exactly our couples touch, with our friction, shapes and poses."""

import numpy as np
import pytest
from crowds import couple_distances, crowd, scattered
from hypothesis import given, settings
from hypothesis import strategies as st

from vigym import Box, InputError, Mechanism, MechanismError, Plane, Sphere
from vigym.engine.state import State
from vigym.formats.couples import laws
from vigym.formats.mjcf.colliders import collider_names
from vigym.formats.mjcf.write import to_mjcf

mujoco = pytest.importorskip("mujoco")
from vigym.benchmarks.peers.mujoco import coordinates  # noqa: E402

seeds = st.integers(0, 2**32 - 1)
some = settings(max_examples=60)
FAR = 1e3  # m: two geoms that are closer than their margin are a contact


def touching(m: Mechanism) -> dict[frozenset[str], float]:
    """Names of the geoms of each pair that MuJoCo would let touch, and its friction (0 if it has none)."""
    model = mujoco.MjModel.from_xml_string(to_mjcf(m))
    data = mujoco.MjData(model)
    model.geom_margin[:], model.pair_margin[:] = FAR, FAR
    mujoco.mj_forward(model, data)
    found = {}
    for contact in data.contact:
        pair = frozenset(model.geom(int(number)).name for number in contact.geom)
        found[pair] = float(contact.friction[0]) if contact.dim > 1 else 0.0
    return found


def expected(m: Mechanism) -> dict[frozenset[str], float]:
    names = collider_names(m)
    return {frozenset((names[a], names[b])): law.friction for (a, b), law in laws(m).items()}


@some
@given(seeds, st.booleans())
def test_couples_and_their_friction(seed, loops):
    """Free bodies, trees, what is welded to others or to the world, loops, groups, masks, ignored pairs."""
    m = crowd(seed, loops=loops)
    ours, theirs = expected(m), touching(m)
    assert set(theirs) == set(ours)
    assert theirs == pytest.approx(ours, rel=1e-12)
    assert len(ours) == len(m.couples)


@some
@given(seeds)
def test_distances(seed):
    """At random poses, between free bodies and what the world has.

    MuJoCo measures boxes, and capsules beside them, iteratively to 1e-6 of their size; where solids overlap, it has
    other rules for the depth, so that only the sign counts."""
    m = crowd(seed, single=True)
    state = scattered(m, seed)
    model = mujoco.MjModel.from_xml_string(to_mjcf(m))
    data = mujoco.MjData(model)
    qpos, _ = coordinates(m, model, State(*(part[None] for part in state)))
    data.qpos[:] = qpos[0]
    mujoco.mj_kinematics(model, data)
    ids = [model.geom(name).id for name in collider_names(m)]
    for (a, b), ours in zip(m.couples, couple_distances(m, state), strict=True):
        theirs = mujoco.mj_geomDistance(model, data, ids[a], ids[b], 100.0, None)
        if ours > 0:
            assert theirs == pytest.approx(ours, abs=5e-6)
        elif ours < -1e-3:
            assert theirs < 0


def test_planes_of_moving_bodies_are_refused():
    m = Mechanism()
    m.add_body("plate", mass=1.0, inertia=(1, 1, 1))
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], collide=True, position=(0, 0, 1))
    m.add_collider("side", "plate", Plane(), friction=0.5)
    with pytest.raises(MechanismError, match=r"'side'.*planes of bodies that move; take a Box"):
        to_mjcf(m)
    m.add_joint("stand", "fixed", "world", "plate")  # now it does not
    assert touching(m) == {frozenset(("side", "ball")): pytest.approx(np.sqrt(0.4))}


def test_a_moving_plane_that_nothing_touches_is_left_out():
    """Only the ground could, which is a plane, too; the box beside it touches the ground as ever."""
    m = Mechanism()
    m.add_ground()
    m.add_body("plate", mass=1.0, shapes=[Box((1, 1, 0.1))], collide=True, position=(0, 0, 1))
    m.add_collider("side", "plate", Plane())
    assert touching(m) == {frozenset(("plate", "ground")): pytest.approx(0.8)}


def test_soft_colliders_are_refused():
    m = Mechanism()
    m.add_ground()
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], position=(0, 0, 1))
    m.add_collider("skin", "ball", Sphere(0.1), compliance=1e-4)
    with pytest.raises(MechanismError, match=r"'skin'.*acceleration by depth"):
        to_mjcf(m)


def test_names_of_contacts_and_colliders():
    """A contact, its plane and a collider may have one name in vigym; geoms may not."""
    m = Mechanism()
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], collide=True, position=(0, 0, 1))
    m.add_contact("ball", "ball", radius=0.2)
    m.add_collider("plane 0", "world", Plane())
    names = collider_names(m)
    assert names == ["ball collider", "plane 0 collider"]
    assert touching(m) == {
        frozenset(names): pytest.approx(0.8),
        frozenset(("ball", "plane 0")): pytest.approx(m.contacts[0].friction),
    }


def test_cones():
    m = Mechanism()
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)])
    for cone, theirs in {None: 1, "exact": 1, "elliptic": 1, "pyramid": 0, "pyramidal": 0}.items():
        options = {} if cone is None else {"cone": cone}
        assert mujoco.MjModel.from_xml_string(to_mjcf(m, **options)).opt.cone == theirs
    with pytest.raises(InputError, match=r"cone must be one of 'exact', 'pyramid'.*got 'round'"):
        to_mjcf(m, cone="round")


def test_softness_reaches_open_geoms_and_pairs():
    m = Mechanism()
    m.add_ground(friction=0.3)
    for k in range(2):
        m.add_body(f"ball {k}", mass=1.0, shapes=[Sphere(0.1)], collide=True, position=(0, 0, k + 0.1))
    model = mujoco.MjModel.from_xml_string(to_mjcf(m, solref=(0.004, 1.0)))
    assert (model.geom_solref == [0.004, 1.0]).all()
    assert (model.pair_solref == [0.004, 1.0]).all()
    assert model.npair == 2  # the ground has another friction; balls find each other
