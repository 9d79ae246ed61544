"""Mass matrices, bias forces and Jacobians agree with Pinocchio's, where that is installed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import links, make, tree_calls

from vigym import Mechanism, Simulator
from vigym.engine.rotation import rotation_matrix

pin = pytest.importorskip("pinocchio")
KINDS = ["revolute", "prismatic", "spherical", "floating"]


def peer(m: Mechanism, sim: Simulator) -> tuple:
    """Pinocchio's model, its q and v at the state of `sim`, B with v = B u, and the numbers of its joints by body.

    Frames of its joints are at the children's anchors, with the children's axes; it wants joints depth first."""
    model, state, phi, u = pin.Model(), sim.state, sim.joint_positions()[0], sim.generalized_velocities()[0]
    model.gravity.linear = np.array(m.gravity)
    numbers, anchors, rows, place = {"world": 0}, {"world": np.zeros(3)}, [], []
    roots = [i for i, joint in enumerate(m.joints) if joint.kind == "floating"]
    for i in sim.model.tree.order:
        body, joint = m.bodies[i], m.joints[i]
        floating = joint.kind == "floating"
        kinds = {
            "floating": pin.JointModelFreeFlyer,
            "spherical": pin.JointModelSpherical,
            "revolute": lambda joint=joint: pin.JointModelRevoluteUnaligned(joint.basis[2]),
            "prismatic": lambda joint=joint: pin.JointModelPrismaticUnaligned(joint.basis[2]),
        }
        up = "world" if floating else joint.parent
        at = np.zeros(3) if floating else joint.parent_anchor - anchors[up]
        turn = np.eye(3) if floating else rotation_matrix(joint.orientation)
        number = model.addJoint(numbers[up], kinds[joint.kind](), pin.SE3(turn, at), joint.name)
        inertia = pin.Inertia(body.mass, -joint.child_anchor, np.array(body.inertia))
        model.appendBodyToJoint(number, inertia, pin.SE3.Identity())
        numbers[body.name], anchors[body.name] = number, joint.child_anchor
        R, block = rotation_matrix(state.q[0, i]), np.zeros((6 if floating else joint.n_free, len(u)))
        if floating:
            place += [*state.x[0, i], *np.roll(state.q[0, i], -1)]
            root = 6 * roots.index(i)
            block[:3, root : root + 3], block[3:, root + 3 : root + 6] = R.T, np.eye(3)
        else:
            axis = sim.model.first_axis[i]
            block[:, 6 * len(roots) + axis : 6 * len(roots) + axis + joint.n_free] = np.eye(joint.n_free)
            own = phi[axis : axis + joint.n_free]
            place += [*pin.Quaternion(pin.exp3(own)).coeffs()] if joint.kind == "spherical" else [*own]
        rows.append(block)
    return model, np.array(place), np.concatenate(rows) @ u, np.concatenate(rows), numbers


@given(st.lists(links(2, kinds=KINDS), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_pinocchio(tree):
    m = make(tree_calls(tree))
    sim = Simulator(m, dt=1e-3, compiled=False)
    positions, rates = (np.concatenate([np.zeros(0), *(k.numbers[row, : k.n_free()] for k in tree)]) for row in (0, 1))
    v = np.array([link.numbers[1, 3:] for link in tree])
    sim.set_joint_state(positions, 2.0 * rates, v=v, w=v[:, ::-1])
    model, q, velocity, B, numbers = peer(m, sim)
    data = model.createData()
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    bias, gravity = pin.nonLinearEffects(model, data, q, velocity).copy(), pin.computeGeneralizedGravity(model, data, q)
    # accelerations of free bodies are in their own frames there: d(R^T v)/dt = R^T (dv/dt) - w x (R^T v)
    turning = np.zeros(len(velocity))
    for i, joint in enumerate(m.joints):
        if joint.kind == "floating":
            first = model.joints[numbers[m.bodies[i].name]].idx_v
            turning[first : first + 3] = -np.cross(velocity[first + 3 : first + 6], velocity[first : first + 3])
    scale = 1 + np.abs(M).max() + np.abs(bias).max()
    np.testing.assert_allclose(sim.mass_matrix()[0], B.T @ M @ B, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(sim.bias_forces()[0], B.T @ (bias + M @ turning), rtol=0, atol=1e-9 * scale)
    n = sim.joint_positions().shape[1]
    np.testing.assert_allclose(
        sim.gravity_efforts()[0], (B.T @ gravity)[len(velocity) - n :], rtol=0, atol=1e-9 * scale
    )
    pin.computeJointJacobians(model, data, q)
    for body, joint in zip(m.bodies, m.joints, strict=True):
        J = pin.getJointJacobian(model, data, numbers[body.name], pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        found = sim.jacobian(body.name, joint.child_anchor)[0]
        np.testing.assert_allclose(found, J.reshape(6, -1) @ B, rtol=0, atol=1e-9 * scale)
