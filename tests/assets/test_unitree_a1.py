"""The A1: published figures leg by leg, poses against a chain of rotations, and that it stands because it is held."""

import numpy as np
import pytest
import scenes
from scipy.spatial.transform import Rotation

from vigym import Simulator, Sphere
from vigym.assets import unitree_a1

WEIGHT = 9.81 * (4.713 + 4 * (0.696 + 1.013 + 0.166 + 0.06))  # N

# Mirror images, written out: left legs flip y of the centre of mass, xy and yz; rear hips x, xy and xz.
HIP_COM = {
    "FR": (-0.003311, -0.000635, 0.000031),
    "FL": (-0.003311, 0.000635, 0.000031),
    "RR": (0.003311, -0.000635, 0.000031),
    "RL": (0.003311, 0.000635, 0.000031),
}
HIP_PRODUCTS = {  # xy, xz, yz
    "FR": (9.409e-6, -3.42e-7, 4.66e-7),
    "FL": (-9.409e-6, -3.42e-7, -4.66e-7),
    "RR": (-9.409e-6, 3.42e-7, 4.66e-7),
    "RL": (9.409e-6, 3.42e-7, -4.66e-7),
}
HIP_AT = {"FR": (0.183, -0.047, 0), "FL": (0.183, 0.047, 0), "RR": (-0.183, -0.047, 0), "RL": (-0.183, 0.047, 0)}
LEGS = ("FR", "FL", "RR", "RL")


def products(inertia: np.ndarray) -> np.ndarray:
    return inertia[[0, 0, 1], [1, 2, 2]]


def frames(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres of mass (13, 3) and feet (4, 3) from the trunk's link frame, by turning link after link."""
    centres, feet = [np.array([0.012731, 0.002186, 0.000515])], []
    for leg, (hip, thigh, calf) in zip(LEGS, angles.reshape(4, 3), strict=True):
        left = 1 if leg[1] == "L" else -1
        turn, at = Rotation.from_rotvec([hip, 0, 0]), np.array(HIP_AT[leg])
        centres.append(at + turn.apply(HIP_COM[leg]))
        at = at + turn.apply([0, 0.08505 * left, 0])
        turn = turn * Rotation.from_rotvec([0, thigh, 0])
        centres.append(at + turn.apply([-0.003237, -0.022327 * left, -0.027326]))
        at = at + turn.apply([0, 0, -0.2])
        turn = turn * Rotation.from_rotvec([0, calf, 0])
        x, z = 0.166 * 0.006435 / 0.226, (0.166 * -0.107388 + 0.06 * -0.2) / 0.226  # calf and foot
        centres.append(at + turn.apply([x, 0, z]))
        feet.append(at + turn.apply([0, 0, -0.2]))
    return np.array(centres), np.array(feet)


def foot_centres(sim: Simulator) -> np.ndarray:
    m = sim.model.mechanism
    bodies = [body.name for body in m.bodies]
    rows = [bodies.index(contact.body) for contact in m.contacts]
    x, R = sim.state.x[0, rows], scenes.matrix(sim.state.q[0, rows])
    return x + np.einsum("nij,nj->ni", R, [contact.point for contact in m.contacts])


def test_parts_and_their_names():
    m = unitree_a1.build()
    parts = [f"{leg} {part}" for leg in LEGS for part in ("hip", "thigh", "calf")]
    assert unitree_a1.LEGS == LEGS
    assert [body.name for body in m.bodies] == ["trunk", *parts]
    assert [joint.name for joint in m.joints] == Simulator(m).axis_names == parts
    assert [contact.name for contact in m.contacts] == [f"{leg} foot" for leg in LEGS]
    assert all(contact.radius == 0.02 for contact in m.contacts)


def test_masses_and_inertias_are_the_published_ones():
    m = unitree_a1.build()
    assert sum(body.mass for body in m.bodies) * 9.81 == pytest.approx(WEIGHT, rel=1e-14)
    assert m.body("trunk").mass == 4.713
    assert m.body("trunk").inertia.diagonal().tolist() == [0.01683993, 0.056579028, 0.064713601]
    assert products(m.body("trunk").inertia).tolist() == [8.3902e-5, 5.97679e-4, 2.5134e-5]
    for leg in LEGS:
        left = -1 if leg[1] == "L" else 1
        hip, thigh, calf = (m.body(f"{leg} {part}") for part in ("hip", "thigh", "calf"))
        assert (hip.mass, thigh.mass) == (0.696, 1.013)
        assert calf.mass == pytest.approx(0.226, rel=1e-14)
        assert hip.inertia.diagonal().tolist() == [4.69246e-4, 8.0749e-4, 5.52929e-4]
        assert products(hip.inertia).tolist() == list(HIP_PRODUCTS[leg])
        assert thigh.inertia.diagonal().tolist() == [0.005529065, 0.005139339, 0.001367788]
        assert products(thigh.inertia).tolist() == [-4.825e-6 * left, 3.43869e-4, -2.2448e-5 * left]
        # calf and foot about the knee: J + m (c.c I - c c^T) adds up there, and comes back the same way
        knee = np.zeros((3, 3))
        for mass, c, J in (
            (
                0.166,
                (0.006435, 0, -0.107388),
                [[0.002997972, 0, -1.41163e-4], [0, 0.003014022, 0], [-1.41163e-4, 0, 3.2426e-5]],
            ),
            (0.06, (0, 0, -0.2), 9.6e-6 * np.eye(3)),
        ):
            knee += np.array(J) + mass * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
        c = -m.joint(f"{leg} calf").child_anchor
        np.testing.assert_allclose(calf.inertia, knee - calf.mass * (c @ c * np.eye(3) - np.outer(c, c)), atol=1e-16)


def test_every_pose_is_that_of_the_chain_of_links():
    m = unitree_a1.build()
    sim = Simulator(m)
    turn, origin = Rotation.from_rotvec([0.3, -0.2, 1.0]), np.array([0.4, -0.7, 1.5])  # off the ground
    q = scenes.quaternion(turn * Rotation.from_quat(np.roll(sim.state.q[0], -1, axis=-1)))
    sim.set_state(x=origin + turn.apply(sim.state.x[0].copy()), q=q)
    rng = np.random.default_rng(0)
    for _ in range(5):
        angles = rng.uniform([joint.lower[0] for joint in m.joints], [joint.upper[0] for joint in m.joints])
        sim.set_joint_state(angles)
        centres, feet = frames(angles)
        trunk = sim.state.x[0, 0] - turn.apply(centres[0])
        np.testing.assert_allclose(sim.state.x[0], trunk + turn.apply(centres), atol=1e-12)
        np.testing.assert_allclose(foot_centres(sim), trunk + turn.apply(feet), atol=1e-12)


def test_stands_on_all_feet_below_its_hips():
    sim = Simulator(unitree_a1.build())
    np.testing.assert_allclose(sim.joint_positions()[0], unitree_a1.STANDING, atol=1e-14)
    np.testing.assert_allclose(sim.contact_gaps(), 0.0, atol=1e-12)
    # calf = -2 thigh: two segments of 0.2 m close an isosceles triangle, straight below the thigh's joint
    expected = [(x, y + 0.08505 * np.sign(y), 0.02) for x, y, _ in HIP_AT.values()]
    np.testing.assert_allclose(foot_centres(sim), expected, atol=1e-14)
    trunk = sim.state.x[0, 0] - (0.012731, 0.002186, 0.000515)
    np.testing.assert_allclose(trunk, (0, 0, 0.02 + 0.4 * np.cos(0.8)), atol=1e-14)


def test_legs_mirror_each_other_and_leave_the_trunk_alone_off_centre():
    m = unitree_a1.build()
    sim = Simulator(m)
    masses = np.array([body.mass for body in m.bodies])
    com = masses @ sim.state.x[0] / masses.sum()
    assert com[1] == pytest.approx(4.713 * 0.002186 / masses.sum(), rel=1e-10)
    x = dict(zip([body.name for body in m.bodies], sim.state.x[0], strict=True))
    for part in ("hip", "thigh", "calf"):
        for right, left in (("FR", "FL"), ("RR", "RL")):
            np.testing.assert_allclose(x[f"{left} {part}"], x[f"{right} {part}"] * (1, -1, 1), atol=1e-14)


def test_limits_gains_and_efforts():
    m = unitree_a1.build()
    hip, thigh, calf = (m.joint(f"RL {part}") for part in ("hip", "thigh", "calf"))
    limits = [(joint.lower[0], joint.upper[0]) for joint in (hip, thigh, calf)]
    assert limits == [(-0.802851, 0.802851), (-1.047198, 4.188790), (-2.696534, -0.916298)]
    assert [(joint.kp[0], joint.kd[0]) for joint in (hip, thigh, calf)] == [(100, 5), (80, 4), (60, 3)]
    assert {joint.effort_limit[0] for joint in m.joints} == {33.5} == {unitree_a1.EFFORT_LIMIT}
    assert unitree_a1.VELOCITY_LIMIT == 21.0
    assert {contact.friction for contact in unitree_a1.build(friction=0.3).contacts} == {0.3}
    other = unitree_a1.build(kp=(10, 20, 30), kd=(1, 2, 3), effort_limit=12.0)
    assert [joint.kp[0] for joint in other.joints] == [10, 20, 30] * 4
    assert [joint.kd[0] for joint in other.joints] == [1, 2, 3] * 4
    assert {joint.effort_limit[0] for joint in other.joints} == {12.0}
    assert not any(joint.kp[0] or joint.kd[0] for joint in unitree_a1.build(drive=False).joints)


def test_the_drives_carry_it():
    held, limp = Simulator(unitree_a1.build()), Simulator(unitree_a1.build(drive=False))
    height = held.state.x[0, 0, 2]
    scenes.advance(held, 50)
    assert held.contact_forces()[0].sum(0) == pytest.approx([0, 0, WEIGHT], abs=1e-6)
    scenes.advance(limp, 50)
    assert held.state.x[0, 0, 2] == pytest.approx(height, abs=1e-9)
    assert limp.state.x[0, 0, 2] < height - 0.1


def test_holding_torques_balance_without_drives():
    # An equilibrium, not a stable one: one step of plain torques leaves it where it is.
    sim = Simulator(unitree_a1.build(drive=False))
    scenes.advance(sim, 1, effort=unitree_a1.holding_torques())
    assert np.abs(sim.state.v).max() < 1e-9
    assert np.abs(unitree_a1.holding_torques()).max() < 5  # N m: far from the limit


def test_soft_drives_stand_in_the_same_pose():
    sim = Simulator(unitree_a1.build(kp=(40, 40, 40), kd=(2, 2, 2)))
    start = sim.state.x
    scenes.advance(sim, 200)
    assert np.abs(sim.state.x - start).max() < 1e-9


def test_it_looks_like_what_touches_the_ground():
    m = unitree_a1.build()
    assert all(body.drawn and all(shape.color for shape in body.drawn) for body in m.bodies)
    for contact in m.contacts:
        balls = [shape for shape in m.body(contact.body).shapes if isinstance(shape, Sphere)]
        assert [ball.radius for ball in balls] == [contact.radius]
        np.testing.assert_allclose(balls[0].position, contact.point, atol=1e-15)
