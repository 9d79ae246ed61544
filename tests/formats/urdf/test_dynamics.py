"""Accelerations of loaded robots agree with PyBullet's forward dynamics.

The velocity of a vigym state is that of the chord that led to the pose; `set_joint_state` takes the velocity at the
pose itself. So a first step is made to turn one into the other, and the acceleration is the change of velocity in the
second, divided by the step. It belongs to a state that is O(h) away from the one that was set, and dampers act with
the velocity at the end of the step: the difference to PyBullet, which evaluates at the state itself, is c1 h + O(h^2).
Halving the step halves it, and one extrapolation takes c1 away.

Rounding: velocities come from differences of poses, so accelerations have an error of some eps/h^2. Steps are therefore
shorter where accelerations are large, which is also where time scales are short.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("pybullet", reason="the peer; pip install vigym[compare] (Python < 3.12)")

from urdf.peer import DATA, Peer, read
from urdf.trees import Tree, trees
from urdf.write import write_urdf

from vigym import Mechanism, Simulator
from vigym.engine.rotation import conjugate, cross, rotate

STATES = 4  # as many as a lane group holds: they cost no more than one
LONGEST = 4e-5  # s, where accelerations are at most USUAL
USUAL = 200.0  # m/s^2 or rad/s^2; eps/h^2 is then 1e-9 of it
TOLERANCE = 1e-4  # relative to the robot's largest acceleration
NOISE = 3e-5  # below this, relative, rounding blurs the order
BASE_VELOCITY, BASE_SPIN = np.array([0.3, -0.2, 0.1]), np.array([0.5, -0.4, 0.8])

FLOATING = [
    "TwoJointRobot_w_fixedJoints.urdf",
    "a1/a1.urdf",
    "aliengo/aliengo.urdf",
    "bicycle/bike.urdf",
    "franka_panda/panda.urdf",
    "humanoid/humanoid.urdf",
    "husky/husky.urdf",
    "kuka_iiwa/model_free_base.urdf",
    "laikago/laikago.urdf",
    "laikago/laikago_toes_zup.urdf",
    "mini_cheetah/mini_cheetah.urdf",
    "pr2_gripper.urdf",
    "quadruped/microtaur/microtaur.urdf",
    "quadruped/minitaur.urdf",
    "quadruped/minitaur_rainbow_dash_v1.urdf",
    "quadruped/quadruped.urdf",
    "quadruped/spirit40.urdf",
    "quadruped/spirit40newer.urdf",
    "quadruped/vision60.urdf",
    "r2d2.urdf",
    "racecar/racecar.urdf",
    "racecar/racecar_differential.urdf",
    "spherical_joint_limit.urdf",
]
FIXED = [
    "biped/biped2d_pybullet.urdf",
    "cartpole.urdf",
    "cube_no_rotation.urdf",
    "cube_rotate.urdf",
    "differential/diff_ring.urdf",
    "franka_panda/panda.urdf",
    "kuka_iiwa/model.urdf",
    "pendulum5.urdf",
    "xarm/xarm6_robot.urdf",
]
# Files that differ from one of the others in meshes, limits or numbers only.
ALIKE_FLOATING = [
    "TwoJointRobot_wo_fixedJoints.urdf",
    "laikago/laikago_toes.urdf",
    "laikago/laikago_toes_limits.urdf",
    "laikago/laikago_toes_zup_lores.urdf",
    "quadruped/minitaur_derpy.urdf",
    "quadruped/minitaur_fixed_knees.urdf",
    "quadruped/minitaur_rainbow_dash.urdf",
    "quadruped/minitaur_single_motor.urdf",
    "quadruped/minitaur_v1.urdf",
]
ALIKE_FIXED = [
    "kuka_iiwa/model_vr_limits.urdf",
    "xarm/xarm6_robot_white.urdf",
    "xarm/xarm6_with_gripper.urdf",
]
ROBOTS = [
    *((file, True) for file in FLOATING),
    *((file, False) for file in FIXED),
    *(pytest.param(file, True, marks=pytest.mark.slow) for file in ALIKE_FLOATING),
    *(pytest.param(file, False, marks=pytest.mark.slow) for file in ALIKE_FIXED),
]


def without_limits(mechanism: Mechanism) -> Mechanism:
    """The same without position limits, which do nothing inside their range but take time."""
    m = Mechanism(mechanism.gravity)
    for body in mechanism.bodies:
        m.add_body(body.name, body.mass, body.inertia, position=body.position, orientation=body.orientation)
    for joint in mechanism.joints:
        m.add_joint(
            joint.name,
            joint.kind,
            joint.parent,
            joint.child,
            axis=joint.basis[2],
            parent_anchor=joint.parent_anchor,
            child_anchor=joint.child_anchor,
            orientation=joint.orientation,
            damping=joint.damping,
            friction=joint.friction,
            effort_limit=joint.effort_limit,
        )
    return m


def random_states(mechanism: Mechanism, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates inside limits, velocities that dry friction does not stop at once, efforts below limits."""
    joints = mechanism.joints
    reach = [3.0 if joint.n_free == 1 else 1.0 for joint in joints]  # m or rad
    lower = np.concatenate([np.maximum(joint.lower, -far) for joint, far in zip(joints, reach, strict=True)])
    upper = np.concatenate([np.minimum(joint.upper, far) for joint, far in zip(joints, reach, strict=True)])
    limit = np.concatenate([np.minimum(joint.effort_limit, 1.0) for joint in joints])
    shape = (STATES, len(lower))
    phi = lower + (upper - lower) * rng.uniform(0.1, 0.9, shape)
    rates = rng.uniform(0.2, 1.0, shape) * rng.choice([-1.0, 1.0], shape)
    return phi, rates, rng.uniform(-0.9, 0.9, shape) * limit


def acceleration(
    m: Mechanism, base: int | None, com: np.ndarray, state: tuple[np.ndarray, ...], h: float
) -> np.ndarray:
    """Accelerations (STATES, ...) of the joints; with a floating base, before them that of its point `com`, and of its
    spin, in the world. base: index of its body; com: in the body's frame.
    """
    phi, rates, effort = state
    sim = Simulator(m, dt=h, num_envs=STATES, compiled=False)
    sim.set_joint_state(phi, rates)
    if base is not None:  # the whole robot moves with the base, on top of what its joints do
        x, q, v, w = sim.state
        centre = x[:, base] + rotate(q[:, base], com)
        v = v + BASE_VELOCITY + cross(BASE_SPIN, x - centre[:, None])
        sim.set_state(v=v, w=w + rotate(conjugate(q), BASE_SPIN))
    sim.step(effort=effort)
    before, rates = sim.state, sim.joint_velocities()
    sim.step(effort=effort)
    assert sim.status.converged.all()
    joints = (sim.joint_velocities() - rates) / h
    if base is None:
        return joints
    q, w = before.q[:, base], before.w[:, base]
    spin = (sim.state.w[:, base] - w) / h
    linear = (sim.state.v[:, base] - before.v[:, base]) / h + rotate(q, cross(spin, com) + cross(w, cross(w, com)))
    return np.concatenate([linear, rotate(q, spin), joints], -1)


@pytest.mark.parametrize(("file", "floating"), ROBOTS)
def test_robots(file: str, floating: bool, tmp_path: Path) -> None:
    accelerations_agree(DATA / file, floating, tmp_path)


@pytest.mark.parametrize("floating", [True, False])
def test_random_trees(floating: bool, tmp_path: Path) -> None:
    """Inertias, frames and axes all askew, with links welded on: more than the robots have."""

    @settings(max_examples=5)
    @given(trees(most=8))
    def agree(tree: Tree) -> None:
        path = tmp_path / "tree.urdf"
        path.write_text(f'<robot name="tree">{tree.text}</robot>')
        accelerations_agree(path, floating, tmp_path)

    agree()


def accelerations_agree(path: Path, floating: bool, tmp_path: Path) -> None:
    model = read(path, floating)
    m = without_limits(model.mechanism)
    phi, rates, effort = state = random_states(model.mechanism, np.random.default_rng(7))
    joints = m.joints
    with Peer(path, floating) as peer:
        base = peer.base
    # PyBullet drops an inertia that no solid can have, and does not know $(optenv ...): it gets what vigym has.
    other = any(word in text for text in model.warnings for word in ("principal moments", "optenv"))
    with Peer(write_urdf(m, base, tmp_path / "copy.urdf") if other else path, floating) as peer:
        com, index = np.zeros(3), None
        if floating:
            com = peer.base_inertial()[0] + (0.0 if other else model.links[base].position)
            index = [body.name for body in m.bodies].index(base)
        friction = np.concatenate([joint.friction for joint in joints])
        expected = []
        for k in range(STATES):
            if floating:
                peer.set_base(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
                peer.client.resetBaseVelocity(peer.body, BASE_VELOCITY.tolist(), BASE_SPIN.tolist())
            peer.set_joints(joints, phi[k], rates[k])
            # dry friction is a constant as long as nothing turns round; PyBullet has it not
            expected.append(peer.acceleration(joints, effort[k] - friction * np.sign(rates[k])))
    size = np.abs(expected).max()
    h = LONGEST * min(1.0, USUAL / size)
    coarse, fine = (acceleration(m, index, com, state, step) for step in (h, h / 2))
    errors = [np.abs(a - expected).max() / size for a in (coarse, fine, 2 * fine - coarse)]
    assert errors[2] < TOLERANCE
    if errors[1] > NOISE:
        assert 1.7 < errors[0] / errors[1] < 2.3  # first order
    else:
        assert errors[0] < TOLERANCE
