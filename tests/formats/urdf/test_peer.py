"""Masses, joints, limits and link poses of PyBullet's own robots are those that PyBullet's loader finds."""

import numpy as np
import pytest

pytest.importorskip("pybullet", reason="the peer; pip install vigym[compare] (Python < 3.12)")

from urdf.peer import DATA, FILES, Peer, read

from vigym import MechanismError, Simulator
from vigym.engine.rotation import conjugate, multiply

TOLERANCE = 1e-6  # m, rad, kg; PyBullet keeps poses in single precision, so some 1e-7 remain
# What PyBullet cannot load: a mesh that is missing, a soft body, a distance field.
REFUSED_BY_PEER = {"kuka_iiwa/model_for_sdf.urdf", "torus_deform.urdf", "toys/concave_box.urdf"}
# Scenery, which has no mass and no joint; and single links of an arm, welded to the world.
STILL = {file for file in FILES if file.startswith(("plane", "table", "tray", "samurai", "sphere2red_nocol"))}
STILL |= {file for file in FILES if file.startswith(("xarm/link", "xarm/base"))}
ROBOTS = [file for file in FILES if file not in REFUSED_BY_PEER | STILL]
# PyBullet takes $(optenv HUSKY_IMU_XYZ 0.19 0 0.149) for zeros; vigym takes the default that is written there.
MISREAD_BY_PEER = {("husky/husky.urdf", "imu_link")}
# Continuous joints with a range: PyBullet repeats what is written, and lets them turn beyond it.
NOT_ENFORCED_BY_PEER = {
    ("r2d2.urdf", "head_swivel"),
    ("racecar/racecar.urdf", "right_steering_hinge_joint"),
    ("racecar/racecar_differential.urdf", "right_steering_hinge_joint"),
}


def random_coordinates(sim: Simulator, rng: np.random.Generator) -> np.ndarray:
    joints = sim.model.mechanism.joints
    lower = [np.maximum(joint.lower, -3.0 if joint.n_free == 1 else -1.0) for joint in joints]
    upper = [np.minimum(joint.upper, 3.0 if joint.n_free == 1 else 1.0) for joint in joints]
    return rng.uniform(np.concatenate([np.zeros(0), *lower]), np.concatenate([np.zeros(0), *upper]))


def angle_between(p: np.ndarray, q: np.ndarray) -> float:
    return 2.0 * float(np.linalg.norm(multiply(conjugate(p), q)[1:]))


@pytest.mark.parametrize("file", ROBOTS)
def test_loads_as_in_pybullet(file: str) -> None:
    rng = np.random.default_rng(3)
    position, orientation = rng.normal(size=3), rng.normal(size=4)
    orientation /= np.linalg.norm(orientation)
    with Peer(DATA / file, floating=True) as peer:
        floating = peer.mass(peer.base) > 0.0  # without mass, PyBullet holds the base
        model = read(DATA / file, floating, position=position, orientation=orientation)
        # total mass; PyBullet does not count that of a base that it holds
        counted = {name: frame.mass for name, frame in model.links.items() if floating or name != peer.base}
        assert sum(counted.values()) == pytest.approx(sum(map(peer.mass, peer.links)), abs=TOLERANCE)
        moving = sum(frame.mass for frame in model.links.values() if frame.body != "world")
        assert sum(body.mass for body in model.mechanism.bodies) == pytest.approx(moving, abs=TOLERANCE)

        joints = model.mechanism.joints
        assert {joint.name for joint in joints} == set(peer.joints)
        for joint in joints:
            lower, upper = peer.limits(joint.name)
            if joint.n_free == 1 and (file, joint.name) not in NOT_ENFORCED_BY_PEER:
                assert joint.lower[0] == pytest.approx(lower, abs=TOLERANCE)
                assert joint.upper[0] == pytest.approx(upper, abs=TOLERANCE)

        assert set(model.links) == set(peer.links)
        peer.set_base(position, orientation)
        sim = Simulator(model.mechanism, compiled=False)
        start = sim.joint_positions()[0]  # zero, or the nearest limit
        for phi in (start, random_coordinates(sim, rng), random_coordinates(sim, rng)):
            sim.set_joint_state(phi)
            peer.set_joints(joints, phi, np.zeros_like(phi))
            for link, x, q in zip(model.links, *model.link_poses(sim.state.x[0], sim.state.q[0]), strict=True):
                if (file, link) not in MISREAD_BY_PEER:
                    expected_x, expected_q = peer.link_pose(link)
                    assert x == pytest.approx(expected_x, abs=TOLERANCE), link
                    assert angle_between(q, expected_q) < TOLERANCE, link


@pytest.mark.parametrize("file", sorted(STILL))
def test_what_cannot_move_is_refused(file: str) -> None:
    with Peer(DATA / file, floating=True) as peer:
        assert peer.mass(peer.base) == 0.0
        assert not peer.joints
    with pytest.raises(MechanismError, match=r"\.urdf:\d+: <robot .*nothing in it can move"):
        read(DATA / file, floating=False)
    with pytest.raises(MechanismError, match=r"\.urdf:\d+: <link .*(it has no mass|is what does not move)"):
        read(DATA / file, floating=True)


def test_the_thousand_objects_load() -> None:
    """Single links; a sample is compared with PyBullet."""
    files = sorted((DATA / "random_urdfs").glob("*/*.urdf"))
    assert len(files) == 1000
    masses = [read(path, floating=True).mechanism.bodies[0].mass for path in files]
    for k in range(0, 1000, 100):
        with Peer(files[k], floating=True) as peer:
            assert masses[k] == pytest.approx(peer.mass(peer.base), abs=TOLERANCE)
