"""Hulls and cylinders in MuJoCo, PyBullet, recordings and pictures; MJCF files with them."""

import mujoco
import numpy as np
import pytest

import vigym
from vigym import Box, Cylinder, HeightField, Hull, Mechanism, Replay, Simulator, Sphere, read_mjcf, to_mjcf
from vigym.engine.collisions import distances

RNG = np.random.default_rng(0)
POINTS = np.float32(RNG.normal(size=(12, 3)) * [0.1, 0.2, 0.3]).astype(float)


def scene() -> Mechanism:
    """A stone above a stone of the world, and a drum beside it."""
    m = Mechanism()
    m.add_ground()
    m.add_collider("rock", "world", Hull(POINTS, position=(0, 0, 0.7), orientation=(0.8, 0.6, 0, 0)))
    points = POINTS[:, ::-1] - Hull(POINTS[:, ::-1]).centre()
    m.add_body("stone", mass=1.0, shapes=[Hull(points)], position=(0.1, 0, 2), orientation=(0.6, 0, 0.8, 0))
    m.add_body("drum", mass=1.0, shapes=[Cylinder(0.2, 0.3)], position=(1, 0, 1.0), orientation=(0.6, 0, 0.8, 0))
    return m


def test_mujoco_has_the_same_solids():
    m = scene()
    model = mujoco.MjModel.from_xml_string(to_mjcf(m))
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-14, 1000
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    sim = Simulator(m, compiled=False)
    number = {name: mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in ("rock", "stone", "drum")}
    for first, second in (("stone", "drum"), ("stone", "rock"), ("drum", "rock")):
        theirs = mujoco.mj_geomDistance(model, data, number[first], number[second], 10.0, None)
        body = "world" if second == "rock" else second
        own = sim.distance(first, body)[0]
        if body == "world":  # of which the ground is part, too
            own = distances(sim.model, *sim.state[:2], couple(m, first))[0, 0]
        assert own == pytest.approx(theirs, abs=1e-7)


def couple(m: Mechanism, first: str) -> np.ndarray:
    names = [collider.name for collider in m.colliders]
    return np.array([[names.index(first), names.index("rock")]])


def test_pybullet_has_the_same_solids():
    p = pytest.importorskip("pybullet")
    handle = vigym.to_pybullet(scene())
    sim = Simulator(scene(), compiled=False)
    (stone, link), (drum, other) = (handle.colliders[name] for name in ("stone", "drum"))
    found = p.getClosestPoints(stone, drum, 5.0, link, other, physicsClientId=handle.client)
    assert min(point[8] for point in found) == pytest.approx(sim.distance("stone", "drum")[0], abs=3e-3)  # its margins
    p.disconnect(handle.client)


def test_a_recording_has_them(tmp_path):
    m = scene()
    sim = Simulator(m, compiled=False)
    with sim.record(tmp_path / "run.npz"):
        sim.step()
    seen = Replay.load(tmp_path / "run.npz").mechanism
    assert [c.shape for c in seen.colliders] == [c.shape for c in m.colliders]
    assert seen.body("stone").drawn == m.body("stone").drawn


def test_mjcf_files_with_meshes_cylinders_and_fields():
    corners = " ".join(repr(float(x)) for x in POINTS.ravel())
    text = f"""<mujoco><asset><mesh name="stone" vertex="{corners}"/>
      <hfield name="hill" nrow="2" ncol="3" size="2 1 0.5 0.1" elevation="0 0 1 0 1 0"/></asset>
      <worldbody><geom name="hill" type="hfield" hfield="hill" pos="0 0 -3"/>
      <geom name="table" type="box" size="1 1 .1"/>
      <body pos="0 0 2"><freejoint/><geom name="stone" type="mesh" mesh="stone"/></body>
      <body pos="1 0 2"><freejoint/><geom name="drum" type="cylinder" size=".1 .2"/></body>
      <body pos="2 0 2"><freejoint/><geom name="ball" size=".1"/></body></worldbody></mujoco>"""
    with pytest.warns(UserWarning, match="1 pairs of a cylinder and a height field"):
        model = read_mjcf(text)
    colliders = {collider.name: collider for collider in model.mechanism.colliders}
    kinds = {name: type(collider.shape) for name, collider in colliders.items()}
    assert kinds == {"hill": HeightField, "table": Box, "stone": Hull, "drum": Cylinder, "ball": Sphere}
    theirs = mujoco.MjModel.from_xml_string(text)
    heights = theirs.hfield_data.reshape(2, 3) * 0.5
    np.testing.assert_allclose(colliders["hill"].shape.heights, heights)
    touching = {frozenset((a, b)) for a, b in model.mechanism.couples}
    names = [collider.name for collider in model.mechanism.colliders]
    pairs = {frozenset(names[k] for k in pair) for pair in touching}
    expected = {("stone", "drum"), ("stone", "ball"), ("drum", "ball"), ("ball", "hill"), ("stone", "hill")}
    expected |= {(name, "table") for name in ("stone", "drum", "ball")}
    assert pairs == {frozenset(pair) for pair in expected}
