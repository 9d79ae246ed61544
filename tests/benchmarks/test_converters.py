"""vigym.to_mjcf and vigym.to_pybullet of random mechanisms: masses, inertias, poses, and how they start to move."""

import subprocess
import sys
from pathlib import Path

import mechanisms
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vigym
from vigym import Mechanism, MechanismError, Simulator
from vigym.benchmarks.scenes import Scene
from vigym.benchmarks.scenes.scene import at_rest
from vigym.engine.rotation import rotation_matrix

some = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
H = 1e-3  # s, of the first step


@st.composite
def trees(draw: st.DrawFn) -> Scene:
    """A tree of 1 to 6 bodies, on the world or free, at random coordinates, at rest; joints that all engines have."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = Mechanism(gravity=(0.5, -1.0, -9.0))
    free = draw(st.booleans())
    for i in range(draw(st.integers(1, 6))):
        body = mechanisms.random_body(rng)
        m.add_body(f"b{i}", **body) if i == 0 and free else m.add_body(f"b{i}", body["mass"], body["inertia"])
        if i == 0 and free:
            continue
        kind = draw(st.sampled_from(["revolute", "prismatic", "spherical", "fixed"]))
        parent = f"b{draw(st.integers(0, i - 1))}" if i else "world"
        m.add_joint(f"j{i}", kind, parent, f"b{i}", **mechanisms.random_joint(rng, kind, laws=False))
    positions = 0.5 * rng.normal(size=sum(joint.n_free for joint in m.joints))
    return Scene("tree", m, at_rest(m, positions), H, steps=1)


def first_acceleration(scene: Scene) -> np.ndarray:
    """dv/dt of all bodies in vigym, from rest: v over one step, extrapolated from H and H/2 to zero."""
    found = []
    for h in (H, H / 2):
        sim = Simulator(scene.mechanism, dt=h, compiled=False)
        sim.set_state(x=scene.start.x, q=scene.start.q)
        sim.step()
        found.append(sim.state.v[0] / h)
    return 2 * found[1] - found[0]


@some
@given(trees())
def test_mujoco(scene):
    pytest.importorskip("mujoco")
    from vigym.benchmarks.peers.mujoco import Mujoco

    assert vigym.to_mjcf(scene.mechanism).startswith("<mujoco")
    engine = Mujoco(scene, H, 1)
    engine.reset()
    for body, number in zip(scene.mechanism.bodies, engine.ids, strict=True):
        assert engine.model.body_mass[number] == pytest.approx(body.mass, rel=1e-12)
        R = rotation_matrix(engine.model.body_iquat[number])
        tensor = R @ np.diag(engine.model.body_inertia[number]) @ R.T
        np.testing.assert_allclose(tensor, body.inertia, atol=1e-9 * np.abs(body.inertia).max())
    x, q = engine.poses()
    np.testing.assert_allclose(x, scene.start.x, atol=1e-9)
    np.testing.assert_allclose(np.abs((q * scene.start.q).sum(-1)), 1.0, atol=1e-9)
    engine.step(0)
    # from rest, velocities after a step are H times accelerations, to first order: H a rad/s times a few m and rad/s
    ours = first_acceleration(scene)
    np.testing.assert_allclose(engine.velocities()[0] / H, ours, atol=5e-3 * (1 + np.abs(ours).max()))


@some
@given(trees())
def test_pybullet(scene):
    pybullet = pytest.importorskip("pybullet")
    from vigym.benchmarks.peers.bullet_runner import Bullet

    engine = Bullet(scene, H, 1)
    try:
        engine.reset()
        for body in scene.mechanism.bodies:
            where = engine.handle.bodies[body.name]
            info = pybullet.getDynamicsInfo(*where, physicsClientId=engine.client)
            assert info[0] == pytest.approx(body.mass, rel=1e-12)
            R = rotation_matrix(engine.handle.turns[body.name])
            np.testing.assert_allclose(R @ np.diag(info[2]) @ R.T, body.inertia, atol=1e-12)
        x, q = engine.poses()
        np.testing.assert_allclose(x, scene.start.x, atol=1e-6)  # single precision is in PyBullet's URDF reader
        np.testing.assert_allclose(np.abs((q * scene.start.q).sum(-1)), 1.0, atol=1e-6)
        engine.step(0)
        ours = first_acceleration(scene)
        np.testing.assert_allclose(engine.velocities()[0] / H, ours, atol=5e-3 * (1 + np.abs(ours).max()))
    finally:
        pybullet.disconnect(engine.client)


def test_a_client_of_its_own_and_restitution():
    """A ball dropped by 0.2 m with restitution 0.5 comes back to a quarter of it, in PyBullet too."""
    pybullet = pytest.importorskip("pybullet")
    m = Mechanism()
    m.add_body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), position=(0, 0, 0.3))
    m.add_contact("skin", "ball", radius=0.1, friction=0.0, restitution=0.5)
    handle = vigym.to_pybullet(m)
    h = 1 / 240  # s; at much shorter steps, PyBullet brakes what comes close before it touches, and nothing bounces
    pybullet.setTimeStep(h, physicsClientId=handle.client)
    heights = []
    for _ in range(96):
        pybullet.stepSimulation(physicsClientId=handle.client)
        x, _ = pybullet.getBasePositionAndOrientation(handle.bodies["ball"][0], physicsClientId=handle.client)
        heights.append(x[2] - 0.1)
    pybullet.disconnect(handle.client)
    # impacts are at the ends of steps: up to h v, at 2 m/s, too high or too low
    assert max(heights[55:]) == pytest.approx(0.05, abs=2 * h)
    with pytest.raises(MechanismError, match="no restitution"):
        vigym.to_mjcf(m)


def test_peers_are_not_imported_by_vigym():
    """Not even by looking at what converts to them; only comparison code imports PyBullet."""
    code = "import sys, vigym; vigym.to_mjcf, vigym.to_pybullet; print({'mujoco', 'pybullet'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_only_comparison_code_imports_pybullet():
    root = Path(vigym.__file__).resolve().parent
    found = {
        path.relative_to(root).as_posix()
        for folder in ("engine", "envs", "assets", "training", "benchmarks")
        for path in (root / folder).rglob("*.py")
        if "import pybullet" in path.read_text(encoding="utf-8")
    }
    assert found == {"benchmarks/peers/bullet.py"}
