"""Distances of hulls and cylinders from other shapes: against brute force, and against MuJoCo."""

from itertools import product

import mujoco
import numpy as np
import pytest
from nearest import least_norm

from vigym import Box, Capsule, Cylinder, Hull, Mechanism, Simulator, Sphere
from vigym.engine.collisions import distances
from vigym.engine.rotation import rotate, rotation_matrix

OTHERS = ("sphere", "capsule", "box", "cylinder", "hull")
PAIRS = [*product(["hull"], OTHERS), *product(["cylinder"], OTHERS[:-1])]
COUNT = 12  # poses of every two shapes


def solid(kind: str, rng: np.random.Generator):
    a, b, c = rng.uniform(0.1, 0.5, 3)
    q = rng.normal(size=4)
    pose = {"position": tuple(0.1 * rng.normal(size=3)), "orientation": tuple(q / np.linalg.norm(q))}
    match kind:
        case "sphere":
            return Sphere(a, position=pose["position"])
        case "capsule":
            return Capsule(a, b, **pose)
        case "box":
            return Box((a, b, c), **pose)
        case "cylinder":
            return Cylinder(a, b, **pose)
    points = rng.normal(size=(14, 3))
    # numbers that a float of 32 bits has, as MuJoCo keeps them
    points = np.float32(points / np.linalg.norm(points, axis=1, keepdims=True) * [a, b, c]).astype(float)
    return Hull(points, **pose)


def core(shape) -> tuple[np.ndarray, float]:
    """Corners of the core of a shape in its body's frame, and the radius around it."""
    match shape:
        case Sphere(radius=radius):
            corners = np.zeros((1, 3))
        case Capsule(radius=radius, length=length):
            corners = np.array([[0, 0, -length / 2], [0, 0, length / 2]])
        case Box(size=size):
            corners, radius = 0.5 * np.array(list(product((-1, 1), repeat=3))) * size, 0.0
        case Hull(points=points):
            corners, radius = np.array(points), 0.0
    return shape.position + corners @ rotation_matrix(np.array(shape.orientation)).T, radius


def geom(shape, number: int) -> tuple[str, str]:
    """A geom of MuJoCo, and its asset."""
    match shape:
        case Sphere(radius=radius):
            kind, sizes = "sphere", [radius]
        case Capsule(radius=radius, length=length):
            kind, sizes = "capsule", [radius, length / 2]
        case Cylinder(radius=radius, length=length):
            kind, sizes = "cylinder", [radius, length / 2]
        case Box(size=size):
            kind, sizes = "box", [edge / 2 for edge in size]
        case Hull(points=points):
            numbers = " ".join(repr(float(x)) for point in points for x in point)
            return f'<geom type="mesh" mesh="m{number}"', f'<mesh name="m{number}" vertex="{numbers}"/>'
    return f'<geom type="{kind}" size="{" ".join(map(repr, sizes))}"', ""


def by_mujoco(shapes, x: np.ndarray, q: np.ndarray) -> float:
    """Distance of two shapes whose bodies are at x (2, 3), q (2, 4)."""
    bodies, assets = "", ""
    for k, shape in enumerate(shapes):
        geometry, asset = geom(shape, k)
        place = [*shape.position], [*shape.orientation], [*x[k]], [*q[k]]
        pos, quat, at, turn = (" ".join(repr(float(v)) for v in values) for values in place)
        bodies += f'<body pos="{at}" quat="{turn}">{geometry} pos="{pos}" quat="{quat}"/></body>'
        assets += asset
    option = '<option ccd_tolerance="1e-14" ccd_iterations="1000"/>'
    text = f"<mujoco>{option}<asset>{assets}</asset><worldbody>{bodies}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return mujoco.mj_geomDistance(model, data, 0, 1, 100.0, None)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_distances(kinds):
    rng, apart, deep = np.random.default_rng(PAIRS.index(kinds)), 0, 0
    for _ in range(4):
        shapes = [solid(kind, rng) for kind in kinds]
        m = Mechanism(gravity=(0, 0, 0))
        for name, shape in zip("ab", shapes, strict=True):
            m.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
            m.add_collider(name, name, shape)
        x, q = 0.4 * rng.normal(size=(COUNT, 2, 3)), rng.normal(size=(COUNT, 2, 4))
        q /= np.linalg.norm(q, axis=-1, keepdims=True)
        sim = Simulator(m, compiled=False, overlap="keep")
        own = distances(sim.model, x, q, np.array([[0, 1]]))[:, 0]
        for k in range(COUNT):
            theirs = by_mujoco(shapes, x[k], q[k])
            if theirs > 1e-6:
                assert own[k] == pytest.approx(theirs, abs=1e-7)
                apart += 1
            elif theirs < -1e-3 and "capsule" not in kinds and "sphere" not in kinds:  # of round ones, cores count
                assert own[k] == pytest.approx(theirs, abs=1e-6)
                deep += 1
            if "cylinder" not in kinds and own[k] > 1e-6:
                (one, r), (two, s) = (core(shape) for shape in shapes)
                first, second = (rotate(q[k, i], points) + x[k, i] for i, points in enumerate((one, two)))
                want = least_norm((first[:, None] - second).reshape(-1, 3)) - r - s
                assert own[k] == pytest.approx(want, abs=1e-9)
    assert apart > COUNT
    assert deep > 0 or {"sphere", "capsule"} & set(kinds)
