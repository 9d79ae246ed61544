"""Several mechanisms in one world: everything is carried over, and each moves as it does alone."""

import numpy as np
import pytest
from arms import arm, everything
from hypothesis import assume, given, settings
from mechanisms import DT, Scene, scenes

from vigym import Box, Mechanism, MechanismError, Plane, Simulator, Sphere
from vigym.assets import cube, unitree_a1
from vigym.engine.rotation import multiply, rotate

YAW = np.array([np.cos(0.4), 0.0, 0.0, np.sin(0.4)])
PLACE = np.array([3.0, -2.0, 0.5])


def grip() -> Mechanism:
    m = Mechanism()
    for name in ("left", "right", "cube"):
        m.add_body(name, mass=1.0, shapes=[Box((0.1, 0.1, 0.1))], position=(0.3 * len(name), 0, 1))
    m.add_joint("slide", "prismatic", "world", "left", axis=(1, 0, 0), parent_anchor=(0, 1, 0), kp=10.0)
    m.add_joint("hinge", "revolute", "left", "right", parent_anchor=(1, 0, 0))
    m.add_collider("table", "world", Box((1, 1, 0.1), position=(0, 0, -1)), friction=0.3)
    m.add_collider("tip", "right", Sphere(0.01, position=(0, 0, 0.3)), group=2)
    m.add_contact("sole", "cube", (0, 0, -0.05), friction=0.4)
    m.set_pair("left", "cube", friction=0.9)
    m.set_pair("world", "cube", restitution=0.5)
    m.ignore_contact("right", "cube")
    m.ignore_colliders("tip", "table")
    m.allow_contact("left", "right")
    return m


def test_all_parts_are_carried_over():
    m, other = Mechanism(), grip()
    m.add_body("cube", mass=2.0, shapes=[Sphere(0.1)], position=(9, 9, 9), group=4, mask=4)
    m.merge(other, prefix="a ", position=PLACE, orientation=2 * YAW)
    assert [body.name for body in m.bodies] == ["cube", "a left", "a right", "a cube"]
    for mine, theirs in zip(m.bodies[1:], other.bodies, strict=True):
        np.testing.assert_allclose(mine.position, PLACE + rotate(YAW, theirs.position), atol=1e-15)
        np.testing.assert_allclose(mine.orientation, multiply(YAW, theirs.orientation), atol=1e-15)
        assert (mine.mass, mine.shapes) == (theirs.mass, theirs.shapes)
    slide, hinge = m.joints
    assert (slide.name, slide.parent, slide.child, slide.kp) == ("a slide", "world", "a left", 10.0)
    np.testing.assert_allclose(slide.parent_anchor, PLACE + rotate(YAW, np.array([0.0, 1.0, 0.0])), atol=1e-15)
    assert (hinge.parent, hinge.child, hinge.parent_anchor.tolist()) == ("a left", "a right", [1, 0, 0])
    (sole,) = m.contacts
    assert (sole.name, sole.body, sole.offset, sole.normal.tolist()) == ("a sole", "a cube", 0.0, [0, 0, 1])
    assert [(c.name, c.body) for c in m.colliders[-2:]] == [("a table", "world"), ("a tip", "a right")]
    np.testing.assert_allclose(m.collider("a table").shape.position, PLACE - np.array([0, 0, 1]), atol=1e-15)
    assert m.collider("a tip").shape == other.collider("tip").shape

    def couples(m: Mechanism, prefix: str) -> dict:
        names = [collider.name.removeprefix(prefix) for collider in m.colliders]
        laws = zip(m.couples, m.pair_laws, strict=True)
        return {(names[a], names[b]): law for (a, b), law in laws}

    assert couples(m, "a ") == couples(other, "")
    m.replace_body("a cube", shapes=[Sphere(0.1)])  # its colliders are still known as those of its shapes
    assert m.collider("a cube").shape == Sphere(0.1)


def test_what_was_merged_is_independent():
    m, other = Mechanism(), grip()
    m.merge(other)
    same = everything(other)
    m.replace_joint("slide", kp=1.0)
    m.ignore_contact("left", "world")
    assert everything(other) == same
    m.merge(m, prefix="b ", position=(0, 5, 0))  # itself, as it was before
    assert len(m.bodies) == 6
    assert m.joint("b slide").parent_anchor.tolist() == [0, 6, 0]


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (lambda other: None, {}, "merge: body 'upper' exists already; choose another prefix"),
        (lambda other: None, {"prefix": 3}, "prefix must be a string"),
        (lambda other: None, {"prefix": "b ", "position": (0, 0)}, "merge: position must be"),
        (lambda other: None, {"prefix": "b ", "orientation": (0, 0, 0, 0)}, "merge: orientation must not be zero"),
        (lambda other: setattr(other, "gravity", (0, 0, 0)), {"prefix": "b "}, "gravity is .* here and .* there"),
        (lambda other: other.add_body("le", 1.0, (1, 1, 1)), {"prefix": "tab"}, "collider 'table' exists already"),
        (lambda other: other.add_body("orld", 1.0, (1, 1, 1)), {"prefix": "w"}, "body 'world' exists already"),
    ],
)
def test_what_cannot_be_merged_changes_nothing(change, arguments, message):
    m, other = arm(), arm()
    if "table" in message:
        other.add_collider("le", "upper", Plane())
    change(other)
    same = everything(m)
    with pytest.raises(MechanismError, match=message):
        m.merge(other, **arguments)
    assert everything(m) == same
    with pytest.raises(MechanismError, match="other must be a Mechanism"):
        m.merge({}, "b ")


@given(scenes(laws=True), scenes(laws=True))
@settings(max_examples=10, deadline=None)
def test_trees_move_as_they_do_alone(first: Scene, second: Scene):
    """Two trees in one world, the second turned about gravity's direction and moved: after a step, each is where it is
    alone, to what iterations leave. Newton stops when both are solved, so that one of them may be solved further."""
    gravity = first.mechanism.gravity
    axis = gravity / np.linalg.norm(gravity)
    turn, place = np.append(np.cos(0.7), np.sin(0.7) * axis), np.array([1.0, 2.0, 3.0])
    whole = first.mechanism.copy()
    whole.merge(second.mechanism, "other ", place, turn)
    options = {"dt": DT, "tolerance": 1e-12, "compiled": False}
    sims = [Simulator(m, **options) for m in (first.mechanism, second.mechanism, whole)]
    x, q, v, w = (np.concatenate(pair) for pair in zip(first.state, second.state, strict=True))
    n = len(first.mechanism.bodies)
    x[n:], v[n:] = place + rotate(turn, x[n:]), rotate(turn, v[n:])
    q[n:] = multiply(turn, q[n:])
    for sim, state in zip(sims, (first.state, second.state, (x, q, v, w)), strict=True):
        sim.set_state(*state)
    sims[0].step(first.effort)
    sims[1].step(second.effort)
    sims[2].step(np.concatenate([first.effort, second.effort]))
    assume(all(sim.status.converged.all() and (sim.status.substeps == 1).all() for sim in sims))
    alone, other = (sim.state for sim in sims[:2])
    parts = [np.concatenate([mine, theirs], 1)[0] for mine, theirs in zip(alone, other, strict=True)]
    parts[0][n:], parts[2][n:] = place + rotate(turn, parts[0][n:]), rotate(turn, parts[2][n:])
    parts[1][n:] = multiply(turn, parts[1][n:])
    found = [part[0] for part in sims[2].state]
    for mine, expected in zip((found[0], found[1]), parts[:2], strict=True):
        np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-12 * (1 + np.abs(x).max()))
    scale = 1 + np.abs(parts[2]).max() + np.abs(parts[3]).max()
    for mine, expected in zip(found[2:], parts[2:], strict=True):
        np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-12 / DT * scale)


def test_robots_that_land_move_as_they_do_alone():
    """A cube and a quadruped fall side by side, and land: contacts included, each moves as it does alone, to what
    complementary pairs leave, whose products are solved to the tolerance."""
    lift, place, alone = np.array([0.0, 0.0, 0.1]), np.array([2.0, 1.0, 0.0]), [cube.build(), unitree_a1.build()]
    both = alone[0].copy()
    both.merge(alone[1], "dog ", place)
    sims = [Simulator(m, dt=0.005, tolerance=1e-12) for m in (*alone, both)]
    for sim in sims:
        sim.set_state(x=sim.state.x + lift)
    for _ in range(80):
        for sim in sims:
            sim.step()
            assert sim.status.converged.all()
            assert (sim.status.substeps == 1).all()
        x, q = np.concatenate([sims[0].state.x, sims[1].state.x + place], 1), [sim.state.q for sim in sims]
        np.testing.assert_allclose(sims[2].state.x, x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(q[2], np.concatenate(q[:2], 1), rtol=0, atol=1e-12)
    assert all(sim.contact_gaps().min() < 1e-9 for sim in sims)  # they have landed
