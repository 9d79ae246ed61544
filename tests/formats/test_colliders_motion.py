"""Colliders move alike in vigym, MuJoCo and PyBullet for 1 s, to what softness and time step of each explain.

MuJoCo's contacts are soft: with solref = (tc, 1) they brake like a damper of rate b = 2/(0.95 tc) on the acceleration
and hold like a spring of k = 1/(0.95 tc)^2, both weakened by an impedance d of 0.9 or more: what presses with an
acceleration a sinks in by (1 - d)/d a/k, what friction holds against a creeps by (1 - d)/d a/b a second. PyBullet's
keep a depth of 1e-5 m, and push out a fifth of what is deeper in each step.
"""

import numpy as np
import pytest

from vigym import Box, Mechanism, Sphere
from vigym.benchmarks.runner import Runner, Vigym
from vigym.benchmarks.scenes import Scene, build
from vigym.engine.rotation import from_rotation_vector, rotate
from vigym.engine.state import State
from vigym.formats.mjcf.rebound import rebound

pytest.importorskip("mujoco")
pybullet = pytest.importorskip("pybullet")
from vigym.benchmarks.peers.bullet_runner import Bullet  # noqa: E402
from vigym.benchmarks.peers.mujoco import Mujoco  # noqa: E402

TC = 0.02  # s, of MuJoCo's default
WEAK = 0.1 / 0.9  # (1 - d)/d
SLOP = 1e-5  # m, PyBullet's


def sinks(a: float, tc: float) -> float:
    return WEAK * a * (0.95 * tc) ** 2


def creeps(a: float, tc: float) -> float:
    return WEAK * a * 0.95 * tc / 2


def end(engine: Runner) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities after all steps (n_bodies, 3), m and m/s."""
    engine.reset()
    for k in range(engine.steps):
        engine.step(k)
        assert engine.failures() == 0
    poses = engine.poses()
    assert poses is not None
    found = poses[0], engine.velocities()[0]
    if isinstance(engine, Bullet):
        pybullet.disconnect(engine.client)
    return found


# Two balls: one flies into the other, 0.06 m beside its centre, without friction.
REACH, BESIDE, RADIUS = 0.4, 0.06, 0.1  # m
LINE = np.array([np.sqrt(4 * RADIUS**2 - BESIDE**2), BESIDE, 0.0]) / (2 * RADIUS)  # of centres, when they meet
WHEN = REACH - 2 * RADIUS * LINE[0]  # s, at 1 m/s
MASSES = (1.0, 0.5)  # kg


def balls(h: float) -> Scene:
    m = Mechanism(gravity=(0, 0, 0))
    x = np.array([[0.0, 0.0, 0.0], [REACH, BESIDE, 0.0]])
    for k, mass in enumerate(MASSES):
        m.add_body(f"ball {k}", mass, shapes=[Sphere(RADIUS)], position=x[k], collide=True, friction=0.0)
    still, upright = np.zeros((2, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    return Scene("balls", m, State(x, upright, np.array([[1.0, 0, 0], [0, 0, 0]]), still), h, round(1.0 / h))


def after_impact() -> np.ndarray:
    """Positions after 1 s: along the line of centres both go on with the velocity of their centre of mass."""
    along = LINE[0] * LINE  # of the first, before
    common = along * MASSES[0] / sum(MASSES)
    v = np.array([np.array([1.0, 0.0, 0.0]) - along + common, common])
    return np.array([[WHEN, 0.0, 0.0], [REACH, BESIDE, 0.0]]) + (1.0 - WHEN) * v


@pytest.mark.parametrize("peer", ["vigym", "mujoco", "pybullet"])
def test_two_balls_that_do_not_rebound(peer):
    """Balls meet up to a step early or late; MuJoCo's sink in by less than v tc, and meanwhile, at 0.3 m/s past each
    other, their line turns by 0.3 tc/(2 r) of the velocity."""
    h = 2e-4
    scene, tc = balls(h), 4 * h
    if peer == "vigym":
        engine, tolerance = Vigym(scene, h, scene.steps), h
    elif peer == "mujoco":
        engine, tolerance = Mujoco(scene, h, scene.steps), h + tc * (1 + 0.3 * (1 - WHEN) / (2 * RADIUS))
        engine.model.geom_solref[:] = tc, 20.0  # so much damping that there is no rebound
    else:
        engine, tolerance = Bullet(scene, h, scene.steps), h
        pybullet.setPhysicsEngineParameter(contactERP=0.0, physicsClientId=engine.client)
    x, _ = end(engine)
    np.testing.assert_allclose(x, after_impact(), atol=tolerance)
    together = np.array(MASSES) @ x / sum(MASSES)
    np.testing.assert_allclose(together, np.array(MASSES) @ after_impact() / sum(MASSES), atol=1e-8)


def test_rebound_of_peers_at_default_settings():
    """A spring with MuJoCo's critical damping gives back exp(-2) of the velocity, less where it stiffens; PyBullet
    takes a fifth of the last step's depth, which is at most the approach, out again in one step."""
    scene = balls(1e-3)
    for engine, most in ((Mujoco(scene, 1e-3, 1000), rebound(1.0)), (Bullet(scene, 1e-3, 1000), 0.2)):
        _, v = end(engine)
        e = (v[1] - v[0]) @ LINE / LINE[0]
        assert 0.01 < e < most
    _, v = end(Vigym(scene, 1e-3, 1000))
    assert abs((v[1] - v[0]) @ LINE) < 1e-3 * 0.3 / (2 * RADIUS)  # the line turns while a step lasts


@pytest.mark.parametrize("peer", ["vigym", "mujoco", "pybullet"])
def test_a_box_slides_down_a_box(peer):
    """g (sin - cf cos) t^2 / 2 down the ramp, cf = sqrt(0.5 0.125) = 0.25: not 0.5, MuJoCo's rule, nor the product.

    First-order engines are off by up to v h; MuJoCo's box is a little deeper."""
    h, angle, size = 1e-3, np.radians(20.0), (0.2, 0.15, 0.1)
    turn = from_rotation_vector(np.array([0.0, angle, 0.0]))
    down, normal = rotate(turn, np.array([1.0, 0.0, 0.0])), rotate(turn, np.array([0.0, 0.0, 1.0]))
    m = Mechanism()
    m.add_collider("ramp", "world", Box((2.0, 1.0, 0.2), position=-0.1 * normal, orientation=turn), friction=0.125)
    m.add_body("box", 1.0, shapes=[Box(size)], position=0.05 * normal, orientation=turn, collide=True, friction=0.5)
    still = np.zeros((1, 3))
    scene = Scene("ramp", m, State(0.05 * normal[None], turn[None], still, still.copy()), h, 1000)
    make = {"vigym": Vigym, "mujoco": Mujoco, "pybullet": Bullet}[peer]
    x, _ = end(make(scene, h, 1000, **({"elliptic": True} if peer == "mujoco" else {})))
    a = 9.81 * (np.sin(angle) - 0.25 * np.cos(angle))
    depth = {"vigym": 1e-9, "mujoco": sinks(9.81 * np.cos(angle), TC), "pybullet": 2 * SLOP}[peer]
    assert x[0] @ down == pytest.approx(0.5 * a, abs=a * h)
    assert x[0] @ normal == pytest.approx(0.05, abs=depth)
    assert x[0, 1] == pytest.approx(0.0, abs=SLOP)


@pytest.mark.parametrize("peer", ["vigym", "mujoco", "mujoco, stiff", "pybullet"])
def test_a_rod_between_plates_stays(peer):
    """Nothing moves but by softness: plates press with 20 N on 0.1 kg, which hangs by friction on both sides."""
    h = 1e-3
    scene = build("pinch", dt=h, seconds=1.0)
    if peer == "vigym":
        engine, depth, creep = Vigym(scene, h, 1000), 1e-9, 1e-9
    elif peer == "pybullet":
        engine, depth, creep = Bullet(scene, h, 1000), 2 * SLOP, SLOP
    else:
        stiff = peer == "mujoco, stiff"
        tc = 2 * h if stiff else TC
        engine = Mujoco(scene, h, 1000, elliptic=True, stiff=stiff)
        depth, creep = sinks(20.0 * (1 / 1.0 + 1 / 0.1), tc), creeps(9.81 / 2, tc)
    x, _ = end(engine)
    moved = x - scene.start.x
    np.testing.assert_allclose(moved[:, 0], 0.0, atol=depth)
    np.testing.assert_allclose(moved[:, 1:], 0.0, atol=creep)
