"""vigym.to_mjcf and vigym.to_pybullet of random mechanisms: masses, inertias, poses, and how they start to move."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import peers
import pytest
from hypothesis import given, settings

import vigym
from vigym import Mechanism
from vigym.engine.rotation import rotation_matrix

few = settings(max_examples=15)


@few
@given(peers.trees("mujoco"))
def test_mujoco(scene):
    pytest.importorskip("mujoco")
    from vigym.benchmarks.peers.mujoco import Mujoco

    assert vigym.to_mjcf(scene.mechanism).startswith("<mujoco")
    engine = Mujoco(scene, peers.H, 1)
    engine.reset()
    for body, number in zip(scene.mechanism.bodies, engine.ids, strict=True):
        assert engine.model.body_mass[number] == pytest.approx(body.mass, rel=1e-12)
        R = rotation_matrix(engine.model.body_iquat[number])
        tensor = R @ np.diag(engine.model.body_inertia[number]) @ R.T
        np.testing.assert_allclose(tensor, body.inertia, atol=1e-9 * np.abs(body.inertia).max())
    x, q = engine.poses()
    np.testing.assert_allclose(x, scene.start.x, atol=1e-9)
    np.testing.assert_allclose(np.abs((q * scene.start.q).sum(-1)), 1.0, atol=1e-9)
    peers.assert_alike(peers.accelerations_of(lambda h: Mujoco(scene, h, 1)), peers.accelerations(scene))


@few
@given(peers.trees("pybullet"))
def test_pybullet(scene):
    pybullet = pytest.importorskip("pybullet")
    from vigym.benchmarks.peers.bullet_runner import Bullet

    engine = Bullet(scene, peers.H, 1)
    engine.reset()
    for body in scene.mechanism.bodies:
        info = pybullet.getDynamicsInfo(*engine.handle.bodies[body.name], physicsClientId=engine.client)
        assert info[0] == pytest.approx(body.mass, rel=1e-12)
        R = rotation_matrix(engine.handle.turns[body.name])
        np.testing.assert_allclose(R @ np.diag(info[2]) @ R.T, body.inertia, atol=1e-12)
    x, q = engine.poses()
    np.testing.assert_allclose(x, scene.start.x, atol=1e-6)  # single precision is in PyBullet's URDF reader
    np.testing.assert_allclose(np.abs((q * scene.start.q).sum(-1)), 1.0, atol=1e-6)
    pybullet.disconnect(engine.client)
    clients = []

    def make(h: float) -> Bullet:
        engine = Bullet(scene, h, 1)
        clients.append(engine.client)
        return engine

    theirs = peers.accelerations_of(make)
    for client in clients:
        pybullet.disconnect(client)
    peers.assert_alike(theirs, peers.accelerations(scene))


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


def test_peers_are_not_imported_by_vigym():
    """Not even by looking at what converts to them; only comparison code imports PyBullet."""
    code = "import sys, vigym; vigym.to_mjcf, vigym.to_pybullet; print({'mujoco', 'pybullet'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_only_comparison_code_imports_pybullet():
    root = Path(vigym.__file__).resolve().parent
    found = {
        path.relative_to(root).as_posix()
        for package in root.glob("*/__init__.py")
        for path in package.parent.rglob("*.py")
        if re.search(r"\b(import|from) pybullet|import_module\(.pybullet", path.read_text(encoding="utf-8"))
    }
    assert found == {"formats/pybullet/handle.py"}
