"""Height fields in MuJoCo: the same triangles, distances and rest."""

import numpy as np
import pytest

from vigym import Box, Capsule, HeightField, Mechanism, Simulator, Sphere, to_mjcf

mujoco = pytest.importorskip("mujoco")


def world(shape, field):
    m = Mechanism()
    m.add_collider("hill", "world", field)
    m.add_body("body", 1.0, shapes=[shape], position=(0, 0, 3))
    return m


def field(**place):
    return HeightField(np.random.default_rng(6).uniform(-0.3, 0.4, (6, 5)), (2.0, 2.5), **place)


def test_rays_meet_the_same_triangles():
    # a small ball around the point where a ray meets MuJoCo's surface is half in ours; MuJoCo has 32 bits
    n, radius, rng = 60, 1e-3, np.random.default_rng(7)
    m = world(Sphere(radius), field(position=(0.2, -0.1, 0.5)))
    model = mujoco.MjModel.from_xml_string(to_mjcf(m))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    x = np.stack([rng.uniform(-0.9, 0.9, n) + 0.2, rng.uniform(-1.2, 1.2, n) - 0.1, np.full(n, 2.0)], -1)
    geom = np.zeros(1, np.int32)
    for row in x:
        row[2] -= mujoco.mj_ray(model, data, row, np.array([0.0, 0.0, -1.0]), None, 1, -1, geom)
        assert model.geom(geom[0]).name == "hill"
    sim = Simulator(m, num_envs=n)
    sim.set_state(x=x[:, None], overlap="keep")
    assert np.abs(sim.distance("body", "world") + radius).max() < 1e-6


SHAPES = [Sphere(0.1), Capsule(0.05, 0.3), Box((0.2, 0.3, 0.1))]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
def test_distances_agree(shape):
    n, rng = 30, np.random.default_rng(8)
    m = world(shape, field(orientation=(0.9, 0.1, -0.2, 0.3)))
    model = mujoco.MjModel.from_xml_string(to_mjcf(m))
    data = mujoco.MjData(model)
    x, q = rng.uniform(-0.7, 0.7, (n, 1, 3)), rng.normal(size=(n, 1, 4))
    x[..., 2] += 1.3
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    sim = Simulator(m, num_envs=n)
    sim.set_state(x=x, q=q, overlap="keep")
    ours, checked = sim.distance("body", "world"), 0
    for k in range(n):
        data.qpos[:] = *x[k, 0], *q[k, 0]
        mujoco.mj_forward(model, data)
        theirs = mujoco.mj_geomDistance(model, data, model.geom("body").id, model.geom("hill").id, 10.0, None)
        if theirs > 0.0:
            checked += 1
            assert ours[k] == pytest.approx(theirs, abs=2e-5)
    assert checked > n // 2


def test_flat_field_and_rest():
    m = world(Sphere(0.1), HeightField(np.full((3, 4), 0.5), (2.0, 2.0)))
    model = mujoco.MjModel.from_xml_string(to_mjcf(m, 0.002))
    data = mujoco.MjData(model)
    data.qpos[2] = 0.61
    mujoco.mj_step(model, data, 1000)
    assert data.qpos[2] == pytest.approx(0.6, abs=2e-3)
