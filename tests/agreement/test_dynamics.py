"""Jacobians, mass matrices and bias forces agree with MuJoCo and Pinocchio, and with what they mean."""

import mechanisms
import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from mechanisms import Scene, scenes

from vigym import Capsule, InputError, Mechanism, Simulator, to_mjcf
from vigym.benchmarks.peers.mujoco import coordinates as to_mujoco
from vigym.engine import coordinates
from vigym.engine.rotation import rotate
from vigym.engine.state import State
from vigym.formats.mjcf.write import axis_names
from vigym.formats.tree import first_axes, shallow_tree

POINT = (0.1, -0.2, 0.3)


def moving(scene: Scene, dt: float = 1e-3) -> Simulator:
    """One environment at the pose of the scene, all its bodies and joints in motion."""
    sim = Simulator(scene.mechanism, dt=dt, compiled=False)
    rng = np.random.default_rng(0)
    x, q, v, w = scene.state
    sim.set_joint_state(scene.positions, scene.rates, x=x, q=q, v=v + rng.normal(size=v.shape), w=w)
    return sim


def mujoco_columns(m: Mechanism, model: mujoco.MjModel, number: int) -> np.ndarray:
    """B (nv, n_velocities): qvel = B u."""
    B, first, roots = np.zeros((model.nv, number)), first_axes(m), 0
    tree = shallow_tree(m)
    offset = 6 * sum(joint is None for joint in tree.joints)

    def address(name: str) -> int:
        return model.jnt_dofadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)]

    for i, joint in enumerate(tree.joints):
        if joint is None:
            d = address(f"{m.bodies[i].name} free")
            B[d : d + 6, 6 * roots : 6 * roots + 6] = np.eye(6)
            roots += 1
            continue
        for k, name in enumerate(axis_names(joint), offset + first[joint.name]):
            d = address(name)
            if name.endswith(" ball"):
                B[d : d + 3, k : k + 3] = joint.basis.T
            else:
                B[d, k] = 1.0
    return B


@given(scenes())
@settings(max_examples=60, deadline=None)
def test_mujoco(scene: Scene):
    """Random trees, several of them and floating ones, with joints of all kinds, at random coordinates in motion."""
    m, sim = scene.mechanism, moving(scene)
    u = sim.generalized_velocities()
    model = mujoco.MjModel.from_xml_string(to_mjcf(m))
    data = mujoco.MjData(model)
    B = mujoco_columns(m, model, u.shape[1])
    data.qpos[:] = to_mujoco(m, model, State(*sim.state))[0][0]
    data.qvel[:] = B @ u[0]
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    assert_near(sim.mass_matrix()[0], B.T @ M @ B)
    assert_near(sim.bias_forces()[0], B.T @ data.qfrc_bias)
    for i, body in enumerate(m.bodies):
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body.name)
        rows = np.zeros((6, model.nv))
        at = sim.state.x[0, i] + rotate(sim.state.q[0, i], np.array(POINT))
        mujoco.mj_jac(model, data, rows[:3], rows[3:], at, number)
        assert_near(sim.jacobian(body.name, POINT)[0], rows @ B)
    data.qvel[:] = 0.0
    mujoco.mj_forward(model, data)
    n = sim.joint_positions().shape[1]
    assert_near(sim.gravity_efforts()[0], (B.T @ data.qfrc_bias)[len(u[0]) - n :])


def assert_near(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * (1 + np.abs(expected).max(initial=0.0)))


@given(scenes())
@settings(max_examples=30, deadline=None)
def test_jacobians_are_derivatives(scene: Scene):
    """Points move as the columns say: central differences of forward kinematics, of second order in their step."""
    m, sim = scene.mechanism, moving(scene)
    step, model = 1e-6, sim.model
    phi, state = sim.joint_positions(), sim.state
    body = len(m.bodies) - 1
    J = sim.jacobian(m.bodies[body].name, POINT)[0]
    for k in range(phi.shape[1]):
        ends = []
        for sign in (-1.0, 1.0):
            # as `earlier` goes back by -sign step of the rate, rotation vectors included
            rates = np.eye(phi.shape[1])[k : k + 1]
            there = coordinates.earlier(model, phi, rates, np.array([-sign * step]))
            x, q = coordinates.forward(model, there, np.array(state.x), np.array(state.q))
            ends.append(x[0, body] + rotate(q[0, body], np.array(POINT)))
        found = (ends[1] - ends[0]) / (2 * step)
        np.testing.assert_allclose(J[:3, J.shape[1] - phi.shape[1] + k], found, rtol=0, atol=1e-8)


@given(scenes())
@settings(max_examples=30, deadline=None)
def test_kinetic_energy_and_momentum(scene: Scene):
    """u . M u / 2 is the sum over bodies of m v^2/2 + w J w/2, with velocities from the Jacobians."""
    m, sim = scene.mechanism, moving(scene)
    u, energy = sim.generalized_velocities()[0], 0.0
    for i, body in enumerate(m.bodies):
        twist = sim.jacobian(body.name)[0] @ u
        spin = rotate(sim.state.q[0, i] * [1, -1, -1, -1], twist[3:])
        energy += 0.5 * body.mass * twist[:3] @ twist[:3] + 0.5 * spin @ body.inertia @ spin
    np.testing.assert_allclose(0.5 * u @ sim.mass_matrix()[0] @ u, energy, rtol=1e-11, atol=1e-12)


@given(scenes())
@settings(max_examples=10, deadline=None)
def test_environments_do_not_depend_on_each_other(scene: Scene):
    m = scene.mechanism
    one, many = moving(scene), Simulator(m, dt=1e-3, num_envs=3, compiled=False)
    many.set_parameters(mass=np.outer([1.0, 2.0, 1.0], [body.mass for body in m.bodies]))
    state = one.state
    one.set_state(*state)  # which makes quaternions unit ones again
    many.set_state(*(np.repeat(part, 3, 0) for part in state), mask=np.array([False, True, True]))
    name = m.bodies[-1].name
    for read in (Simulator.mass_matrix, Simulator.gravity_efforts, lambda sim: sim.jacobian(name, POINT)):
        assert read(many)[2].tobytes() == read(one)[0].tobytes()


def test_heavier_environments_have_heavier_matrices():
    m = mechanisms.make([("add_body", ("b", 2.0, (1, 2, 3)), {})])
    sim = Simulator(m, num_envs=2, compiled=False)
    sim.set_parameters(mass=[[2.0], [5.0]])
    assert sim.velocity_names == ["b.vx", "b.vy", "b.vz", "b.wx", "b.wy", "b.wz"]
    np.testing.assert_allclose(
        sim.mass_matrix(), [np.diag([2, 2, 2, 1, 2, 3]), np.diag([5, 5, 5, 1, 2, 3])], atol=1e-12
    )
    expected = [[*(-mass * np.array(mechanisms.GRAVITY)), 0, 0, 0] for mass in (2.0, 5.0)]
    np.testing.assert_allclose(sim.bias_forces(), expected, atol=1e-14)


def four_bar() -> Mechanism:
    m = Mechanism()
    rod = Capsule(0.02, 1.0)
    for name in "abc":
        m.add_body(name, mass=1.0, shapes=[rod], collide=False)
    ends = {"parent_anchor": (0, 0, -0.5), "child_anchor": (0, 0, 0.5), "axis": (0, 1, 0)}
    m.add_joint("j1", "revolute", "world", "a", axis=(0, 1, 0), child_anchor=(0, 0, 0.5))
    m.add_joint("j2", "revolute", "a", "b", **ends, start=np.pi / 2)
    m.add_joint("j3", "revolute", "b", "c", **ends, start=np.pi / 2)
    m.add_joint("j4", "revolute", "world", "c", axis=(0, 1, 0), parent_anchor=(-1, 0, 0), child_anchor=(0, 0, -0.5))
    return m


def test_loops_are_cut():
    """Twists of bodies are J u also where a loop is closed, and u . M u / 2 is the energy; the joint that was cut has
    columns of zeros."""
    sim = Simulator(four_bar(), dt=1e-4, compiled=False)
    sim.set_joint_state(sim.joint_positions()[0], [1.0, -1.0, 1.0, 1.0])
    (cut,) = sim.model.loops.joints
    u = sim.generalized_velocities()[0]
    for i, name in enumerate(sim.body_names):
        J = sim.jacobian(name)[0]
        assert not J[:, cut].any()
        np.testing.assert_allclose(J[:3] @ u, sim.state.v[0, i], atol=2e-4)  # means over a step of 1e-4 s at 1 rad/s
    assert not sim.mass_matrix()[0, cut].any()
    v, w = sim.state.v[0], sim.state.w[0]
    J = sim.parameter("inertia")[0]
    energy = 0.5 * (v**2).sum() + 0.5 * np.einsum("bi,bij,bj", w, J, w)
    np.testing.assert_allclose(0.5 * u @ sim.mass_matrix()[0] @ u, energy, rtol=1e-3)


def test_bad_arguments():
    sim = Simulator(four_bar(), compiled=False)
    with pytest.raises(InputError, match="body 'd' is unknown; known: 'a', 'b', 'c'"):
        sim.jacobian("d")
    with pytest.raises(InputError, match="body 'world' is unknown"):
        sim.jacobian("world")
    with pytest.raises(InputError, match="point must be"):
        sim.jacobian("a", (0, 0))
