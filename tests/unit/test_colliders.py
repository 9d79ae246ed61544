"""Colliders: what may touch, how far apart it is, and what is refused."""

import mujoco
import numpy as np
import pytest

from vigym import Box, Capsule, InputError, Mechanism, MechanismError, Mesh, Plane, Simulator, Sphere, StateError

CORNERS = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
TETRAHEDRON = Mesh(CORNERS, [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)])
KINDS = {"sphere": 0, "capsule": 1, "box": 2}


def two(first, second, **options) -> Mechanism:
    m = Mechanism(gravity=(0, 0, 0))
    for name, shape in (("a", first), ("b", second)):
        m.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, 5.0 * (name == "b")))
        m.add_collider(name, name, shape, **options)
    return m


def some_shape(kind: str, rng: np.random.Generator):
    a, b, c = rng.uniform(0.05, 1.0, 3)
    return {"sphere": lambda: Sphere(a), "capsule": lambda: Capsule(a, 2 * b), "box": lambda: Box((a, b, c))}[kind]()


def sizes(shape) -> list[float]:
    match shape:
        case Sphere():
            return [shape.radius]
        case Capsule():
            return [shape.radius, shape.length / 2]
    return [edge / 2 for edge in shape.size]


@pytest.mark.parametrize("kinds", [(a, b) for a in KINDS for b in KINDS if KINDS[a] <= KINDS[b]])
def test_distances_agree_with_mujoco(kinds):
    # apart, mj_geomDistance is exact to its tolerance; overlapping, only of these kinds
    rng = np.random.default_rng(KINDS[kinds[0]] + 3 * KINDS[kinds[1]])
    for _ in range(3):
        shapes = [some_shape(kind, rng) for kind in kinds]
        n = 60
        sim = Simulator(two(*shapes), dt=0.01, num_envs=n)
        x, q = rng.normal(size=(n, 2, 3)), rng.normal(size=(n, 2, 4))
        x[:, 1] += 1.5 * rng.normal(size=(n, 3))
        q /= np.linalg.norm(q, axis=-1, keepdims=True)
        found = sim_distances(sim, x, q)
        geoms = [
            f'<body name="{name}" mocap="true"><geom type="{kind}" size="{" ".join(map(str, sizes(shape)))}"/></body>'
            for name, kind, shape in zip("ab", kinds, shapes, strict=True)
        ]
        option = '<option ccd_tolerance="1e-12" ccd_iterations="500"/>'
        model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{''.join(geoms)}</worldbody></mujoco>")
        data = mujoco.MjData(model)
        for k in range(n):
            data.mocap_pos[:], data.mocap_quat[:] = x[k], q[k]
            mujoco.mj_kinematics(model, data)
            expected = mujoco.mj_geomDistance(model, data, 0, 1, 100.0, None)
            if expected > 0 or kinds != ("capsule", "box"):
                assert found[k] == pytest.approx(expected, abs=1e-9)
            else:
                assert found[k] <= 0


def sim_distances(sim: Simulator, x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Distances at poses that no state may have, as bodies overlap there."""
    from vigym.engine.collisions import distances

    return distances(sim.model, x, q, np.array([[0, 1]]))[:, 0]


def test_which_colliders_may_touch():
    m = Mechanism()
    for name in ("a", "b", "c"):
        m.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
        m.add_collider(name, name, Sphere(0.1))
    m.add_collider("a2", "a", Sphere(0.05))
    m.add_ground()
    names = [collider.name for collider in m.colliders]

    def couples() -> set[tuple[str, str]]:
        return {(names[i], names[j]) for i, j in m.couples}

    everything = {("a", "b"), ("a", "c"), ("b", "c"), ("b", "a2"), ("c", "a2")}
    everything |= {(name, "ground") for name in ("a", "b", "c", "a2")}
    assert couples() == everything  # not those of one body
    m.add_joint("hinge", "revolute", "a", "b")
    m.ignore_contact("c", "world")
    assert couples() == everything - {("a", "b"), ("b", "a2"), ("c", "ground")}
    m.allow_contact("b", "a")
    assert couples() == everything - {("c", "ground")}
    with pytest.raises(MechanismError, match="allow_contact: 'd' is unknown"):
        m.allow_contact("a", "d")


def test_shapes_of_a_body_as_colliders():
    m = Mechanism()
    shapes = [Sphere(0.1, position=(0.1, 0, 0)), Sphere(0.1, position=(-0.1, 0, 0))]
    m.add_body("dumbbell", mass=1.0, shapes=shapes, collide=True, friction=0.3)
    assert [(c.name, c.body, c.friction) for c in m.colliders] == [
        ("dumbbell", "dumbbell", 0.3),
        ("dumbbell 1", "dumbbell", 0.3),
    ]
    m.add_body("rock", mass=1.0, shapes=[TETRAHEDRON])  # touches nothing
    m.add_body("ghost", mass=1.0, shapes=[Sphere(0.1)], collide=False)
    m.add_body("painted", mass=1.0, inertia=(1.0, 1.0, 1.0), visuals=[Sphere(0.1)])
    assert len(m.colliders) == 2


def test_visuals_are_only_drawn():
    m = Mechanism()
    solid, paint = Sphere(0.1), Box((1.0, 1.0, 0.1), position=(0, 0, 3.0))
    body = m.add_body("ball", mass=1.0, shapes=[solid], visuals=[paint])
    assert (body.shapes, body.visuals, body.drawn) == ((solid,), (paint,), (solid, paint))
    np.testing.assert_array_equal(body.inertia, 0.4 * 0.1**2 * np.eye(3))  # that of the ball alone
    assert [collider.shape for collider in m.colliders] == [solid]
    with pytest.raises(MechanismError, match="neither inertia nor shapes"):
        m.add_body("ghost", mass=1.0, visuals=[paint])
    with pytest.raises(MechanismError, match="'ghost': visuals must be a sequence"):
        m.add_body("ghost", mass=1.0, shapes=[solid], visuals=[3])


def test_colliders_of_bodies_with_similar_names():
    # "ball 1" is the second shape of "ball"; a body of that name still gets its own
    m = Mechanism()
    two_balls = [Sphere(0.1, position=(0.1, 0, 0)), Sphere(0.1, position=(-0.1, 0, 0))]
    m.add_body("ball", mass=1.0, shapes=two_balls)
    m.add_body("ball 1", mass=1.0, shapes=two_balls)
    assert [(c.name, c.body) for c in m.colliders] == [
        ("ball", "ball"),
        ("ball 1", "ball"),
        ("ball 1 1", "ball 1"),
        ("ball 1 2", "ball 1"),
    ]
    with pytest.raises(MechanismError, match=r"'ball' exists already \(shapes of body 'ball' are colliders\)"):
        m.add_collider("ball", "ball", Sphere(0.2))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"collide": "no"}, "'a': collide must be one of True, False"),
        ({"friction": -0.1}, "'a': friction"),
        ({"restitution": 1.1}, "'a': restitution must be at most 1"),
        ({"restitution": 0.5, "compliance": 1e-4}, "'a': a soft collider rebounds by its compliance"),
        ({"damping": np.nan}, "'a': damping"),
        ({"mask": 2**70}, "'a': mask must be an integer of 64 bits"),
    ],
)
def test_options_of_shapes_are_checked(options, what):
    m = Mechanism()
    with pytest.raises(MechanismError, match=what):
        m.add_body("a", mass=1.0, shapes=[Sphere(0.1)], **options)
    assert not m.bodies
    assert not m.colliders


def test_a_floating_joint_connects_nothing():
    m = Mechanism()
    m.add_ground()
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)])
    m.add_joint("free", "floating", "world", "ball")
    assert m.couples == [(1, 0)]


def test_ignored_colliders_and_bodies():
    m = Mechanism()
    for name in ("a", "b"):
        m.add_body(name, mass=1.0, shapes=[Sphere(0.1, position=(s, 0, 0)) for s in (-0.2, 0.2)])
    assert m.couples == [(0, 2), (0, 3), (1, 2), (1, 3)]
    m.ignore_colliders("a", "b 1")
    assert m.couples == [(0, 2), (1, 2), (1, 3)]
    m.ignore_contact("a", "b 1")  # all of body a
    assert m.couples == [(0, 2), (1, 2)]
    other = m.copy()
    m.ignore_contact("a", "b")
    assert not m.couples
    assert other.couples == [(0, 2), (1, 2)]
    with pytest.raises(MechanismError, match=r"ignore_contact: 'c' is neither a body nor a collider"):
        m.ignore_contact("a", "c")
    with pytest.raises(MechanismError, match="two different names"):
        m.ignore_contact("a", "a")
    with pytest.raises(MechanismError, match="'world' is no collider"):
        m.ignore_colliders("a", "world")


def test_groups_and_masks():
    m = Mechanism()
    for name, group, mask in (("a", 1, -1), ("b", 2, -1), ("c", 4, 1)):
        m.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
        m.add_collider(name, name, Sphere(0.1), group=group, mask=mask)
    assert m.couples == [(0, 1), (0, 2)]


def test_a_start_with_overlap_is_refused():
    sim = Simulator(two(Sphere(0.1), Box((0.2, 0.2, 0.2))), dt=0.01, num_envs=2)
    before = sim.state
    x = before.x.copy()
    x[1, 1] = (0, 0, 0.15)
    with pytest.raises(StateError, match=r"colliders 'a' and 'b' of environment 1 overlap by 0\.05 m"):
        sim.set_state(x=x)
    np.testing.assert_array_equal(sim.state.x, before.x)
    sim.step()
    assert sim.status.converged.all()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"shape": "box"}, "shape must be a Sphere, Capsule, Box, Plane, Cylinder"),
        ({"shape": TETRAHEDRON}, "a Mesh is ground of the 'world'"),
        ({"body": "nobody"}, "'nobody' is unknown"),
        ({"name": "first"}, "exists already"),
        ({"friction": -1.0}, "friction"),
        ({"group": 1.5}, "group must be an integer"),
        ({"restitution": 2.0}, "restitution must be at most 1"),
        ({"friction": (0.8, 0.01)}, "friction is one number, that of sliding"),
        ({"friction": [[1, 2], [3]]}, "friction is one number, that of sliding"),
    ],
)
def test_what_is_refused(options, what):
    m = Mechanism()
    m.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.add_collider("first", "body", Sphere(0.1))
    given = {"name": "second", "body": "body", "shape": Plane()} | options
    with pytest.raises(MechanismError, match=what):
        m.add_collider(**given)
    assert len(m.colliders) == 1


def test_distances_are_of_two_bodies():
    sim = Simulator(two(Sphere(0.1), Sphere(0.1)), dt=0.01)
    with pytest.raises(InputError, match="two different bodies"):
        sim.distance("a", "a")
