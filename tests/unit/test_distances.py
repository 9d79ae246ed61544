"""Distances of random pairs of solids: against brute force, and against two other libraries."""

from itertools import combinations_with_replacement

import mujoco
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from vigym import Box, Capsule, Mechanism, Plane, Simulator, Sphere
from vigym.engine.collisions import distances
from vigym.engine.rotation import rotation_matrix

KINDS = ("sphere", "capsule", "box", "plane")
PAIRS = [pair for pair in combinations_with_replacement(KINDS, 2) if pair != ("plane", "plane")]
EACH = 10_000 // len(PAIRS) + 1  # pairs of solids of every two kinds


def solid(kind: str, rng: np.random.Generator) -> Sphere | Capsule | Box | Plane:
    """Any size from 5 cm to 1 m, placed and turned at random in its body."""
    a, b, c = rng.uniform(0.05, 1.0, 3)
    q = rng.normal(size=4)
    pose = {"position": tuple(rng.normal(size=3)), "orientation": tuple(q / np.linalg.norm(q))}
    match kind:
        case "sphere":
            return Sphere(a, position=pose["position"])
        case "capsule":
            return Capsule(a, 2 * b, **pose)
        case "box":
            return Box((a, b, c), **pose)
    return Plane(**pose)


def core(shape: Sphere | Capsule | Box) -> tuple[np.ndarray, float]:
    """Half lengths of its core, and the radius around that."""
    match shape:
        case Sphere(radius=radius):
            return np.zeros(3), radius
        case Capsule(radius=radius, length=length):
            return np.array([0, 0, length / 2]), radius
    return np.array(shape.size) / 2, 0.0


def world_pose(shape, x: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre and axes, as columns, of a shape whose body is at x, q."""
    R = rotation_matrix(q)
    return x + R @ shape.position, R @ rotation_matrix(np.array(shape.orientation))


def brute(first, second, x: np.ndarray, q: np.ndarray) -> float:
    """Distance by least squares over the points of both cores; of a plane, by all corners of the other."""
    (c0, A0), (c1, A1) = (world_pose(shape, x[k], q[k]) for k, shape in enumerate((first, second)))
    if isinstance(second, Plane):
        half, radius = core(first)
        corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * half
        return float(((c0 + corners @ A0.T - c1) @ A1[:, 2]).min() - radius)
    (h0, r0), (h1, r1) = core(first), core(second)
    columns, bounds = np.hstack([A0, -A1]), np.concatenate([h0, h1])
    free = bounds > 0
    if not free.any():
        return float(np.linalg.norm(c0 - c1) - r0 - r1)
    found = lsq_linear(columns[:, free], c1 - c0, (-bounds[free], bounds[free]), method="bvls", tol=1e-15)
    return float(np.linalg.norm(columns[:, free] @ found.x - (c1 - c0)) - r0 - r1)


def samples(kinds: tuple[str, str], count: int) -> list[tuple]:
    """(first, second, x (2, 3), q (2, 4), distance): bodies apart, and some in each other."""
    rng, found = np.random.default_rng(PAIRS.index(kinds)), []
    sizes = 50  # poses of each two shapes
    for _ in range(-(-count // sizes)):
        shapes = [solid(kind, rng) for kind in kinds]
        m = Mechanism(gravity=(0, 0, 0))
        for name, shape in zip("ab", shapes, strict=True):
            m.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
            m.add_collider(name, name, shape)
        x, q = rng.normal(size=(sizes, 2, 3)), rng.normal(size=(sizes, 2, 4))
        q /= np.linalg.norm(q, axis=-1, keepdims=True)
        own = distances(Simulator(m, compiled=False).model, x, q, np.array([[0, 1]]))[:, 0]
        found += [(*shapes, x[k], q[k], own[k]) for k in range(sizes)]
    return found[:count]


@pytest.mark.parametrize("kinds", PAIRS)
def test_distances_agree_with_brute_force(kinds):
    apart = 0
    for first, second, x, q, own in samples(kinds, EACH):
        expected = brute(first, second, x, q)
        radii = sum(core(shape)[1] for shape in (first, second) if not isinstance(shape, Plane))
        if "plane" in kinds or expected > 1e-6 - radii:  # cores that overlap have no distance for least squares
            assert own == pytest.approx(expected, abs=1e-9)
            apart += 1
        else:
            assert own <= -radii + 1e-6
    assert apart > 0.5 * EACH


@pytest.mark.parametrize("kinds", PAIRS)
def test_distances_agree_with_coal(kinds):
    coal = pytest.importorskip("coal")
    count = 0
    for first, second, x, q, own in samples(kinds, 200):
        if isinstance(second, Plane) or own < 1e-3:
            continue
        geometries, poses = [], []
        for k, shape in enumerate((first, second)):
            match shape:
                case Sphere(radius=radius):
                    geometries.append(coal.Sphere(radius))
                case Capsule(radius=radius, length=length):
                    geometries.append(coal.Capsule(radius, length))
                case Box(size=size):
                    geometries.append(coal.Box(*size))
            centre, axes = world_pose(shape, x[k], q[k])
            poses.append(coal.Transform3s(axes, centre))
        request = coal.DistanceRequest()
        request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
        found = coal.distance(geometries[0], poses[0], geometries[1], poses[1], request, coal.DistanceResult())
        assert own == pytest.approx(found, abs=1e-6)
        count += 1
    assert count > 20 or "plane" in kinds


@pytest.mark.parametrize("poses", [300, pytest.param(EACH, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kinds", PAIRS)
def test_distances_agree_with_mujoco(kinds, poses):
    option = '<option ccd_tolerance="1e-14" ccd_iterations="1000"/>'
    count = 0
    for first, second, x, q, own in samples(kinds, poses):
        if own < 1e-6:
            continue
        geoms = ""
        for shape in (first, second):
            match shape:
                case Sphere(radius=radius):
                    geoms += f'<geom type="sphere" size="{radius!r}"/>'
                case Capsule(radius=radius, length=length):
                    geoms += f'<geom type="capsule" size="{radius!r} {length / 2!r}"/>'
                case Box(size=(a, b, c)):
                    geoms += f'<geom type="box" size="{a / 2!r} {b / 2!r} {c / 2!r}"/>'
                case _:
                    geoms += '<geom type="plane" size="0 0 1"/>'
        model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{geoms}</worldbody></mujoco>")
        data = mujoco.MjData(model)
        for k, shape in enumerate((first, second)):
            data.geom_xpos[k], axes = world_pose(shape, x[k], q[k])
            data.geom_xmat[k] = axes.ravel()
        assert own == pytest.approx(mujoco.mj_geomDistance(model, data, 0, 1, 100.0, None), abs=1e-9)
        count += 1
    assert count > 30
