"""Mechanisms that hardly are what was meant are told of, once, when a simulator is made."""

import warnings

import pytest

from vigym import Box, Mechanism, MechanismWarning, Mesh, Simulator, Sphere


def told(m: Mechanism) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        Simulator(m, compiled=False)
    assert all(one.category is MechanismWarning and one.filename == __file__ for one in found)
    return [str(one.message) for one in found]


def cubes(gravity=(0, 0, -9.81)) -> Mechanism:
    m = Mechanism(gravity=gravity)
    for k in range(3):
        m.add_body(f"cube {k}", mass=1.0, shapes=[Box((0.1, 0.1, 0.1))], position=(0.2 * k, 0, 1))
    return m


def test_bodies_that_fall_for_ever():
    # they may touch each other, but nothing that stays
    (text,) = told(cubes())
    assert text.startswith("body 'cube 0' (and 2 more) will fall forever")
    assert "m.add_ground()" in text
    with pytest.warns(MechanismWarning, match="fall forever"):
        Simulator(cubes(), compiled=False)


def with_ground() -> Mechanism:
    m = cubes()
    m.add_ground()
    return m


def with_table() -> Mechanism:
    """Only one of them may touch the table, but all may touch that one."""
    m = cubes()
    m.add_collider("table", "world", Box((1, 1, 0.1)), group=2)
    for k in (1, 2):
        m.ignore_contact(f"cube {k}", "table")
    return m


def with_joint() -> Mechanism:
    """One hangs on the world, one on that one; the third may land on them."""
    m = cubes()
    m.add_joint("hook", "spherical", "world", "cube 0")
    m.add_joint("chain", "spherical", "cube 0", "cube 1", parent_anchor=(0.2, 0, 0))
    return m


def with_contact() -> Mechanism:
    m = cubes()
    m.add_contact("foot", "cube 2")
    return m


@pytest.mark.parametrize("make", [with_ground, with_table, with_joint, with_contact, lambda: cubes(gravity=(0, 0, 0))])
def test_what_can_be_stopped_is_not_told_of(make):
    assert told(make()) == []


def test_a_body_that_passes_what_stops_others():
    m = with_contact()
    m.ignore_contact("cube 1", "cube 2")
    m.ignore_contact("cube 0", "cube 2")
    (text,) = told(m)
    assert text.startswith("body 'cube 0' (and 1 more) will fall")
    m = with_ground()
    m.add_joint("free", "floating", "world", "cube 0")  # which ties nothing
    m.ignore_contact("cube 0", "world")
    assert told(m) == []  # it may land on others
    m.add_body("point", mass=1.0, inertia=(1, 1, 1))
    (text,) = told(m)
    assert text.startswith("body 'point' will fall")
    assert "m.add_contact" in text


CORNERS = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
TETRAHEDRON = Mesh(CORNERS, [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)])


def test_meshes_that_pass_through_others():
    m = Mechanism()
    m.add_body("rod", mass=1.0, shapes=[TETRAHEDRON])
    m.add_joint("hinge", "revolute", "world", "rod", child_anchor=(0, 0, 0.5))
    assert told(m) == []  # nothing is there that it could touch
    m.add_ground()
    assert told(m) == []  # the world is its neighbour
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], position=(0, 0, 3))
    (text,) = told(m)
    assert text.startswith("body 'rod' will pass through others: a Mesh of a body touches nothing")
    m.add_body("drum", mass=1.0, shapes=[TETRAHEDRON], position=(2, 0, 3))
    falls, passes = told(m)
    assert falls.startswith("body 'drum' will fall")
    assert "a Mesh of a body touches nothing" in falls
    assert passes == text


def test_meshes_that_should_touch_nothing_are_not_told_of():
    m = with_ground()
    m.add_body("rod", mass=1.0, shapes=[TETRAHEDRON], collide=False)
    m.add_joint("hook", "spherical", "cube 0", "rod")
    assert told(m) == []
