"""Mechanisms in MuJoCo are the same mechanisms: masses, inertias, poses, velocities, and how they start to move."""

import mechanisms
import numpy as np
import pytest
from hypothesis import given, settings

from vigym import Mechanism, Simulator
from vigym.benchmarks.scenes import build
from vigym.engine.rotation import rotate, rotation_matrix
from vigym.engine.state import State
from vigym.formats.mjcf.write import driven_axes, to_mjcf

mujoco = pytest.importorskip("mujoco")
from vigym.benchmarks.peers.mujoco import Mujoco, coordinates  # noqa: E402

few = settings(max_examples=15)


def placed(mechanism: Mechanism, state: State, dt: float = 0.001, **options) -> tuple:
    """Model and data of a mechanism at a state (n_bodies, 3 or 4), and the numbers of its bodies."""
    model = mujoco.MjModel.from_xml_string(to_mjcf(mechanism, dt, **options))
    data = mujoco.MjData(model)
    qpos, qvel = coordinates(mechanism, model, State(*(part[None] for part in state)))
    data.qpos[:], data.qvel[:] = qpos[0], qvel[0]
    return model, data, [model.body(body.name).id for body in mechanism.bodies]


def velocities(model, data, ids) -> np.ndarray:
    """v and w (body frame) of all bodies, (n_bodies, 6)."""
    out, both = np.zeros((len(ids), 6)), np.zeros(6)
    for row, number in zip(out, ids, strict=True):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, number, both, 0)
        row[:3], row[3:] = both[3:], data.xmat[number].reshape(3, 3).T @ both[:3]
    return out


def in_motion(mechanism: Mechanism, positions: np.ndarray, rates: np.ndarray, dt: float) -> State:
    """Bodies at these joint coordinates and rates; v and w are those over a last step of dt."""
    sim = Simulator(mechanism, dt=dt, compiled=False)
    sim.set_joint_state(positions, rates)
    return State(*(part[0] for part in sim.state))


@few
@given(mechanisms.scenes())
def test_bodies_poses_and_velocities(scene):
    m = scene.mechanism
    sim = Simulator(m, dt=mechanisms.DT, compiled=False)
    sim.set_state(*scene.state)
    state = in_motion(m, sim.joint_positions(), sim.joint_velocities(), dt=1e-6)
    model, data, ids = placed(m, state)
    mujoco.mj_forward(model, data)
    for body, number in zip(m.bodies, ids, strict=True):
        assert model.body_mass[number] == pytest.approx(body.mass, rel=1e-12)
        R = rotation_matrix(model.body_iquat[number])
        tensor = R @ np.diag(model.body_inertia[number]) @ R.T
        np.testing.assert_allclose(tensor, body.inertia, atol=1e-12 + 1e-9 * np.abs(body.inertia).max())
        np.testing.assert_array_equal(model.body_ipos[number], 0)
    np.testing.assert_allclose(data.xpos[ids], state.x, atol=1e-9)
    same = np.abs((data.xquat[ids] * state.q).sum(-1))  # q and -q are one
    np.testing.assert_allclose(same, 1.0, atol=1e-9)
    expected = np.concatenate([state.v, state.w], -1)
    # v is over a step of 1e-6 s, on a curve that bends with some rad/s, m and (rad/s)^2: errors of about 1e-5
    np.testing.assert_allclose(velocities(model, data, ids), expected, atol=1e-4)


def test_drives_push_alike():
    """The A1 away from its targets: efforts kp (target - angle) - kd rate at the first instant, cut at the limit."""
    scene = build("a1", gait="trot")
    m = scene.mechanism
    for integrator in ("Euler", "implicitfast"):
        model, data, _ = placed(m, scene.start, integrator=integrator)
        aim = scene.controls(1, scene.dt)[0] + 0.05
        aim[0] = 3.0  # far away: 100 N m/rad would give more than the limit
        data.ctrl[:] = aim[driven_axes(m)]
        data.qvel[6:] = 0.1
        mujoco.mj_forward(model, data)
        angles = data.qpos[7:]
        kp, kd, limit = (np.concatenate([getattr(j, k) for j in m.joints]) for k in ("kp", "kd", "effort_limit"))
        effort = data.qfrc_actuator[6:] + data.qfrc_passive[6:]
        expected = kp * (aim - angles) - kd * 0.1
        free = np.arange(12) != 0
        np.testing.assert_allclose(effort[free], expected[free], rtol=1e-9)
        drag = kd[0] * 0.1 if integrator == "Euler" else 0.0  # there kd is damping, which nothing limits
        assert effort[0] == pytest.approx(limit[0] - drag)


def test_contacts_have_the_same_gaps_and_friction():
    m = Mechanism()
    m.add_body("box", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.1, 0.2, 0.5))
    normal = np.array([0.6, 0.0, 0.8])
    m.add_contact("point", "box", (0.1, 0, 0), friction=0.3, normal=normal, offset=0.1)
    m.add_contact("ball", "box", (0, 0.1, 0), radius=0.07, friction=0.7)
    m.add_contact("ice", "box", (0, 0, 0.1), radius=0.2, friction=0.0)
    model, data, _ = placed(m, State(np.array([[0.1, 0.2, 0.5]]), np.array([[1.0, 0, 0, 0]]), *np.zeros((2, 1, 3))))
    model.pair_margin[:] = 1.0  # report contacts that do not touch, too
    mujoco.mj_forward(model, data)
    gaps = {"point": normal @ (0.2, 0.2, 0.5) - 0.1, "ball": 0.5 - 0.07, "ice": 0.6 - 0.2}
    friction = {"point": 0.3, "ball": 0.7, "ice": 0.0}
    assert data.ncon == 3
    for contact in data.contact:
        name = model.geom(contact.geom[1]).name or model.geom(contact.geom[0]).name
        name = name if name in gaps else model.geom(contact.geom[0]).name
        assert contact.dist == pytest.approx(gaps[name], abs=1e-12)
        assert contact.dim == (3 if friction[name] else 1)
        if friction[name]:
            assert contact.friction[0] == pytest.approx(friction[name])


def test_loops_close():
    """The lift's loops: the anchors of closing hinges stay together to what MuJoCo's soft constraints allow."""
    scene = build("loops", cells=3)
    for planar in (False, True):
        model, data, ids = placed(scene.mechanism, scene.start, planar_loops=planar)
        assert model.neq == 3 * (1 if planar else 2)
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.xpos[ids], scene.start.x, atol=1e-9)
        # zero at the start: all that closes loops is where it should be
        assert np.abs(data.efc_pos[: model.neq]).max() < 1e-9


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"kind": "spherical", "lower": -1.0}, "limits of a ball"),
        ({"kind": "spherical", "damping": (1.0, 2.0, 3.0)}, "different values"),
        ({"kind": "spherical", "stiffness": 1.0, "rest": 0.1}, "with a rest position"),
    ],
)
def test_what_mujoco_does_not_have_is_refused(options, what):
    m = Mechanism()
    m.add_body("a", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("joint", parent="world", child="a", **options)
    with pytest.raises(ValueError, match=what):
        to_mjcf(m)


def test_energy_is_that_of_vigym():
    scene = build("free-chain", links=4, dt=0.001, seconds=0.01)
    engine = Mujoco(scene, scene.dt, scene.steps)
    engine.reset()
    sim = Simulator(scene.mechanism, dt=scene.dt, compiled=False)
    sim.set_state(x=scene.start.x, q=scene.start.q)
    assert engine.energy() == pytest.approx(sim.energy()[0], abs=1e-9)
    for k in range(10):
        engine.step(k)
    # 10 steps of free motion: first-order energy error is h times the power, 4 kg g 0.1 m/s x 1 ms
    assert engine.energy() == pytest.approx(sim.energy()[0], abs=0.02)
    x, q = engine.poses()
    assert np.abs(rotate(q, np.array([1.0, 0, 0]))[:, 2]).max() > 1e-4
    assert x.shape == (4, 3)
