"""Features of joints and contacts, one at a time, in MuJoCo and PyBullet: the same first accelerations."""

from collections.abc import Callable
from importlib import import_module

import numpy as np
import peers
import pytest

import vigym
from vigym import Mechanism, MechanismError, Simulator
from vigym.benchmarks.runner import Runner
from vigym.benchmarks.scenes import Scene
from vigym.benchmarks.scenes.scene import at_rest
from vigym.engine.rotation import from_rotation_vector, multiply, rotation_matrix
from vigym.engine.state import State
from vigym.formats.mjcf.rebound import rebound
from vigym.formats.pybullet.urdf_text import roll_pitch_yaw

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "planar", "spherical", "custom")
LAWS = {
    "nothing": {},
    "springs": {"stiffness": 3.0, "rest": 0.2},
    "dampers": {"damping": 0.05},
    "drives": {"kp": 4.0, "kd": 0.2, "target": 0.5, "target_velocity": -0.3},
    "cut": {"kp": 40.0, "target": 2.0, "effort_limit": 0.7},
}
clients: list[int] = []


def bullet(scene: Scene, **options) -> Callable[[float], Runner]:
    pytest.importorskip("pybullet")
    from vigym.benchmarks.peers.bullet_runner import Bullet

    def make(h: float) -> Runner:
        engine = Bullet(scene, h, 1, **options)
        clients.append(engine.client)
        return engine

    return make


def mujoco(scene: Scene, **options) -> Callable[[float], Runner]:
    pytest.importorskip("mujoco")
    from vigym.benchmarks.peers.mujoco import Mujoco

    return lambda h: Mujoco(scene, h, 1, **options)


@pytest.fixture(autouse=True)
def disconnected():
    yield
    while clients:
        import pybullet

        pybullet.disconnect(clients.pop())


def pair(kind: str, seed: int = 3, rate: float = 0.5, **laws) -> Scene:
    """A free body and another one on it, by a skew joint away from zero."""
    rng = np.random.default_rng(seed)
    m = Mechanism()
    m.add_body("root", **peers.skew_body(rng))
    body = peers.skew_body(rng)
    m.add_body("tip", body["mass"], body["inertia"])
    m.add_joint("joint", kind, "root", "tip", **peers.skew_joint(rng, kind), **laws)
    n = m.joints[0].n_free
    return peers.in_motion(m, 0.4 * rng.normal(size=n), np.full(n, rate))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", LAWS)
def test_laws_on_joints(kind, law):
    scene = pair(kind, **LAWS[law])
    ours = peers.accelerations(scene)
    peers.assert_alike(peers.accelerations_of(bullet(scene)), ours)
    if kind == "spherical" and law != "nothing":
        return  # near zero only, see to_mjcf
    peers.assert_alike(peers.accelerations_of(mujoco(scene, integrator="implicitfast")), ours)
    if law != "nothing":
        assert np.abs(ours - peers.accelerations(pair(kind))).max() > 0.05


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "spherical"])
def test_dry_friction_slows_down(kind):
    # 10 /s: fast enough for MuJoCo's, which is soft, to be at its maximum
    scene = pair(kind, rate=10.0, friction=0.05)
    ours = peers.accelerations(scene)
    assert np.abs(ours - peers.accelerations(pair(kind, rate=10.0))).max() > 0.1
    for theirs in (bullet(scene), mujoco(scene)):
        peers.assert_alike(peers.accelerations_of(theirs), ours)


def assert_stays(scene: Scene) -> None:
    """For 0.2 s, in both engines; MuJoCo's creeps."""
    for make in (bullet(scene), mujoco(scene)):
        engine = make(0.002)
        engine.reset()
        for _ in range(100):
            engine.step(0)
        np.testing.assert_allclose(engine.poses()[0], scene.start.x, atol=2e-3)


def test_dry_friction_holds():
    """A pendulum at 45 degrees that weighs 0.7 N m stays where its friction is 0.8 N m, in all engines."""
    m = Mechanism()
    m.add_body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0), child_anchor=(0, 0, 0.1), friction=0.8)
    scene = peers.in_motion(m, np.array([0.25 * np.pi]), np.zeros(1))
    assert_stays(scene)


@pytest.mark.parametrize("kind", KINDS)
def test_efforts(kind):
    """`handle.apply(effort)` pushes as `Simulator.step(effort)` does; also next to a drive whose limit cuts."""
    pytest.importorskip("pybullet")
    for laws in ({}, {"kp": 2.0, "target": 0.3, "effort_limit": 1.5}):
        scene = pair(kind, rate=0.0, **laws)
        effort = np.array([2.0, -0.4, 0.3, 0.7])[: scene.mechanism.joints[0].n_free]
        ours, theirs = [], []
        for h in (peers.H, peers.H / 2):
            sim = Simulator(scene.mechanism, dt=h, compiled=False)
            sim.set_state(x=scene.start.x, q=scene.start.q)
            sim.step(effort=effort)
            ours.append(sim.state.v[0] / h)
            engine = bullet(scene)(h)
            engine.reset()
            engine.handle.apply(effort)
            engine.p.stepSimulation(physicsClientId=engine.client)
            theirs.append(engine.velocities()[0] / h)
        peers.assert_alike(2 * theirs[1] - theirs[0], 2 * ours[1] - ours[0])
        with pytest.raises(ValueError, match="effort must be"):
            engine.handle.apply(np.zeros(9))


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
@pytest.mark.parametrize("laws", [LAWS["springs"], LAWS["drives"], {"damping": 0.5}])
def test_laws_on_rigid_bodies(kind, laws):
    """In PyBullet's maximal coordinates joints are constraints on velocities, with anchors in single precision: 1e-7 m,
    of which 0.2 are corrected in a step, make 0.1 m/s^2; and a first step does not know that joints turn, here up to
    (0.5 rad/s)^2 x 0.5 m. Over these inertias that is 1 or 2 rad/s^2."""
    scene = pair(kind, rate=0.5 if "damping" in laws else 0.0, **laws)
    ours, theirs = peers.accelerations(scene), peers.accelerations_of(bullet(scene, maximal=True))
    np.testing.assert_allclose(theirs, ours, atol=0.01 * np.abs(ours).max() + (2.0 if "damping" in laws else 1.0))


def four_bars(**closing) -> Scene:
    """A parallelogram on the world; the joint that is named last lies opposite to the others."""
    m = Mechanism()
    for name in ("left", "right", "top"):
        m.add_body(name, mass=1.0, inertia=(0.02, 0.02, 0.02))
    m.add_joint("a", "revolute", "world", "left", axis=(0, 1, 0), child_anchor=(0, 0, -0.5))
    m.add_joint("b", "revolute", "left", "top", axis=(0, 1, 0), parent_anchor=(0, 0, 0.5), child_anchor=(-0.5, 0, 0))
    m.add_joint("c", "revolute", "world", "right", axis=(0, 1, 0), parent_anchor=(1, 0, 0), child_anchor=(0, 0, -0.5))
    ends = {"parent_anchor": (0, 0, 0.5), "child_anchor": (0.5, 0, 0)}
    m.add_joint("d", parent="right", child="top", axis=(0, 1, 0), **ends, **{"kind": "revolute", **closing})
    sim = Simulator(m, compiled=False)
    sim.set_joint_state(np.array([0.3, -0.3, 0.3, -0.3]))
    return Scene("bars", m, State(*(part[0] for part in sim.state)), peers.H, steps=1)


@pytest.mark.parametrize("law", ["springs", "drives"])
def test_laws_in_loops(law):
    """A spring where the loop would have closed: the tree takes that hinge, and another one closes the loop."""
    scene = four_bars(**LAWS[law])
    found = []
    for h in (peers.H, peers.H / 2):
        sim = Simulator(scene.mechanism, dt=h, compiled=False)
        sim.set_state(x=scene.start.x, q=scene.start.q)
        sim.step()
        found.append(sim.state.v[0] / h)
    ours = 2 * found[1] - found[0]
    for theirs in (bullet(scene), mujoco(scene, stiff=True)):
        # loops are closed softly: some per cent in MuJoCo
        np.testing.assert_allclose(peers.accelerations_of(theirs)[:, :3], ours, atol=0.05 * np.abs(ours).max())
    plain = peers.accelerations_of(bullet(four_bars()))[:, :3]
    assert np.abs(plain - ours).max() > 0.5


def test_welded_loops():
    """A joint too many, fixed, between two pendulums: they stay together."""
    m = Mechanism()
    for k, name in enumerate("ab"):
        m.add_body(name, mass=1.0 + k, inertia=(0.01, 0.02, 0.03))
        at = {"parent_anchor": (0.4 * k, 0, 0), "child_anchor": (0, 0, 0.3 + 0.2 * k)}
        m.add_joint(f"hinge {name}", "revolute", "world", name, axis=(0, 1, 0), **at)
    m.add_joint("weld", "fixed", "a", "b", parent_anchor=(0.2, 0, 0.1), child_anchor=(-0.2, 0, 0.3))
    scene = peers.in_motion(m, np.zeros(2), np.zeros(2))
    assert_stays(scene)


def test_surfaces_of_one_body():
    """A sledge with one slippery and one rough runner turns in PyBullet as in vigym; two planes hold it."""
    m = Mechanism()
    m.add_body("sledge", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, 0.05))
    for k, (x, y) in enumerate([(-1, -1), (-1, 1), (1, -1), (1, 1)]):
        point = 0.1 * x, 0.1 * y, -0.05
        m.add_contact(f"corner {k}", "sledge", point, friction=0.05 if y < 0 else 0.4)
    m.add_contact("side", "sledge", (0, 0.1, 0), friction=0.0, normal=(0, -1, 0), offset=-0.3)
    start = State(np.array([[0, 0, 0.05]]), np.array([[1.0, 0, 0, 0]]), np.array([[1.0, 0, 0]]), np.zeros((1, 3)))
    scene = Scene("sledge", m, start, 0.002, steps=100)
    sim = Simulator(m, dt=0.002, cone="exact", compiled=False)
    sim.set_state(*start)
    sim.step(repeat=50)
    engine = bullet(scene)(0.002)
    engine.reset()
    for _ in range(50):
        engine.p.stepSimulation(physicsClientId=engine.client)
    assert len(engine.handle.planes) == 2
    assert len(engine.handle.surfaces["sledge"]) == 3
    assert sim.state.w[0, 0, 2] > 0.5
    np.testing.assert_allclose(engine.velocities()[1][0], sim.state.w[0, 0], atol=0.1 * sim.state.w[0, 0, 2])
    np.testing.assert_allclose(engine.poses()[0][0], sim.state.x[0, 0], atol=2e-3)
    with pytest.raises(MechanismError, match="one surface"):
        vigym.to_pybullet(m, maximal=True)


@pytest.mark.parametrize("restitution", [0.05, 0.3, 0.7, 0.95])
def test_restitution_in_mujoco(restitution):
    """A ball dropped by 0.5 m comes back to e^2 of that; gravity and the time in contact take a little."""
    mj = pytest.importorskip("mujoco")
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("ball", mass=1.7, inertia=(0.004, 0.004, 0.004), position=(0, 0, 0.1001))
    m.add_contact("skin", "ball", radius=0.1, restitution=restitution)
    model = mj.MjModel.from_xml_string(vigym.to_mjcf(m, dt=1e-4))
    data = mj.MjData(model)
    data.qvel[2] = -3.0
    mj.mj_step(model, data, nstep=5000)
    # impedance rises from 0.9 to 0.95 with depth, which softens what the formula takes to be constant
    assert data.qvel[2] / 3.0 == pytest.approx(restitution, abs=0.03)


def test_rebound_is_that_of_a_spring_and_damper():
    for zeta in (0.1, 0.6, 1.0, 3.0):
        y, v, h = 0.0, 1.0, 1e-4
        while v > 0 or 2 * zeta * v + y > 0:
            v -= h * (2 * zeta * v + y)
            y += h * v
        assert rebound(zeta) == pytest.approx(-v, abs=2e-4)


@pytest.mark.parametrize(
    ("options", "maximal", "what"),
    [
        ({"kind": "spherical", "lower": -1.0}, False, "no limits of a ball joint's axes"),
        ({"kind": "spherical", "friction": 1.0}, False, "no dry friction about a ball joint's axes"),
        ({"kind": "prismatic"}, True, "no constraints of kind 'prismatic'"),
        ({"kind": "revolute", "friction": 1.0}, True, "no limits or dry friction of joints that are constraints"),
    ],
)
def test_what_pybullet_does_not_have_is_refused(options, maximal, what):
    pybullet = pytest.importorskip("pybullet")
    m = Mechanism()
    m.add_body("a", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("joint", parent="world", child="a", **options)
    clients.append(pybullet.connect(pybullet.DIRECT))
    with pytest.raises(MechanismError, match=f"joint 'joint'.*{what}"):
        vigym.to_pybullet(m, clients[0], maximal)


def test_angles_of_urdf():
    """Angles of any rotation come back, also of those at which roll and yaw are about the same axis."""
    rng = np.random.default_rng(0)
    for q in [*rng.normal(size=(20, 4)), (1, 0, 1, 0), (1, 0, -1, 0), (0.5, 0.5, -0.5, 0.5), (1, 1e-9, 1, 0)]:
        R = rotation_matrix(np.array(q, float) / np.linalg.norm(q))
        roll, pitch, yaw = roll_pitch_yaw(R)
        turns = [
            from_rotation_vector(angle * axis) for angle, axis in zip((yaw, pitch, roll), np.eye(3)[::-1], strict=True)
        ]
        np.testing.assert_allclose(rotation_matrix(multiply(multiply(*turns[:2]), turns[2])), R, atol=1e-12)


MODELS = ("cartpole", "cube", "disc", "double_pendulum", "four_bar", "hopper", "pendulum", "snake", "unitree_a1")


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    """Models of the package in the air, or where they hang, under their own dampers and drives, away from limits."""
    m = import_module(f"vigym.assets.{name}").build()
    floats = not any(joint.parent == "world" for joint in m.joints)
    loops = name == "four_bar"
    bounds = [np.clip([joint.lower, joint.upper], -1, 1) for joint in m.joints if joint.kind != "floating"]
    within = np.concatenate([np.zeros(0), *(low + 0.6 * (high - low) for low, high in bounds)])
    start = at_rest(m, None if loops else within, height=1.0 if floats else None)
    scene = Scene(name, m, start, peers.H, steps=1)
    h = 2e-5 if name == "unitree_a1" else peers.H  # its drives are stiff
    ours = peers.accelerations(scene, h)
    for make in (bullet(scene), mujoco(scene, stiff=True)):
        # loops are closed softly: some per cent of gravity
        atol = 0.5 if loops else 1e-3 * (1 + np.abs(ours).max())
        np.testing.assert_allclose(peers.accelerations_of(make, h), ours, atol=atol)


def test_soft_contacts_in_pybullet():
    """Two balls sink by their weight times their compliance, each by its own."""
    pybullet = pytest.importorskip("pybullet")
    m = Mechanism()
    for k, compliance in enumerate((1e-4, 1e-3)):
        m.add_body(f"ball {k}", mass=1.0, shapes=[vigym.Sphere(0.1)], position=(k, 0, 0.1))
        m.add_contact(f"skin {k}", f"ball {k}", radius=0.1, compliance=compliance, damping=20.0)
    handle = vigym.to_pybullet(m)
    pybullet.setTimeStep(0.002, physicsClientId=handle.client)
    for _ in range(1000):
        pybullet.stepSimulation(physicsClientId=handle.client)
    np.testing.assert_allclose(0.1 - handle.poses()[0][:, 2], 9.81 * np.array([1e-4, 1e-3]), rtol=0.03)


def test_soft_contacts_are_refused_for_mujoco():
    m = Mechanism()
    m.add_body("ball", mass=1.0, shapes=[vigym.Sphere(0.1)])
    m.add_contact("skin", "ball", radius=0.1, compliance=1e-4)
    with pytest.raises(MechanismError, match=r"'skin'.*acceleration by depth"):
        vigym.to_mjcf(m)
