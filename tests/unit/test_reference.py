"""The oracle `tests/reference.py` against closed forms, conservation laws and finite differences."""

from types import SimpleNamespace

import numpy as np
import pytest
import scenes

import reference as ref

GRAVITY = np.array([0.0, 0.0, -9.81])
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
DEFAULTS = {"effort_limit": np.inf, "lower": -np.inf, "upper": np.inf, "friction": 0.0}
PROPERTIES = ("stiffness", "rest", "damping", "kp", "kd", "target", "target_velocity", "armature", *DEFAULTS)
FREE_AXES = {  # of the six (three translations, three rotations)
    "fixed": (),
    "revolute": (4,),
    "prismatic": (2,),
    "cylindrical": (1, 4),
    "planar": (0, 1, 5),
    "universal": (3, 4),
    "universal_31": (3, 5),
    "universal_slide": (2, 4, 5),
    "spherical": (3, 4, 5),
    "spherical_slide": (0, 3, 4, 5),
}


def body(name="body", mass=1.0, inertia=(0.1, 0.1, 0.1)):
    return SimpleNamespace(name=name, mass=mass, inertia=np.diag(inertia))


def joint(free, parent="world", child="body", parent_anchor=(0, 0, 0), child_anchor=(0, 0, 0), **given):
    """A joint with the listed axes free; given: orientation, basis and properties of the free axes."""
    properties = {name: np.full(len(free), given.pop(name, DEFAULTS.get(name, 0.0)), float) for name in PROPERTIES}
    return SimpleNamespace(
        name=f"{parent}-{child}",
        parent=parent,
        child=child,
        parent_anchor=np.array(parent_anchor, float),
        child_anchor=np.array(child_anchor, float),
        constrained=~np.isin(np.arange(6), free),
        **({"orientation": IDENTITY, "basis": np.eye(3)} | properties | given),
    )


def contact(point=(0, 0, 0), friction=0.5, name="body", **given):
    properties = {"radius": 0.0, "normal": np.eye(3)[2], "offset": 0.0, "tangents": np.eye(3)[:2]}
    properties |= {"compliance": 0.0, "damping": 0.0} | given
    return SimpleNamespace(name="contact", body=name, point=np.array(point, float), friction=friction, **properties)


def mechanism(bodies, joints=(), contacts=(), gravity=GRAVITY):
    return SimpleNamespace(bodies=list(bodies), joints=list(joints), contacts=list(contacts), gravity=np.array(gravity))


def rest(x=(0, 0, 0), q=IDENTITY, v=(0, 0, 0), w=(0, 0, 0)):
    """State of one body."""
    return tuple(np.array([part], float) for part in (x, q, v, w))


def about(axis, angle):
    """Quaternion of a rotation by angle about a unit axis."""
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, float)])


def run(m, state, dt, steps, **inputs):
    """The results of all steps; each must converge."""
    results = []
    for _ in range(steps):
        result = ref.step(m, state, dt, **inputs)
        assert result.converged, result.residual
        state = (result.x, result.q, result.v, result.w)
        results.append(result)
    return results


def random_pair(rng, kind, **properties):
    """Two bodies, the first hanging on the world by a Hooke joint, the second on the first by the given kind.

    Frames, anchors and axes are random. The joints slide and turn about one free axis after the other.
    Returns the mechanism, x, q and what was drawn, (slides, turns) of every joint.
    """
    free = FREE_AXES[kind]
    bodies, joints, drawn, x, q = [], [], [], np.zeros((2, 3)), np.zeros((2, 4))
    for i, axes in enumerate(((3, 4), free)):
        basis = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        frame, orientation = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=4)
        orientation /= np.linalg.norm(orientation)
        bodies.append(SimpleNamespace(name=f"b{i}", mass=1.0 + i, inertia=frame @ np.diag([0.1, 0.15, 0.2]) @ frame.T))
        names = {"parent": "world" if i == 0 else "b0", "child": f"b{i}"}
        anchors = {"parent_anchor": rng.normal(size=3), "child_anchor": rng.normal(size=3)}
        given = properties if i else {}
        joints.append(joint(axes, **names, **anchors, orientation=orientation, basis=basis, **given))
        xp, qp = (x[0], q[0]) if i else (np.zeros(3), IDENTITY)
        slides, turns = (rng.uniform(-1, 1, size=np.sum(np.isin(axes, half))) for half in ((0, 1, 2), (3, 4, 5)))
        drawn.append((slides, turns))
        slide = slides @ basis[[k for k in axes if k < 3]]
        q[i] = ref.multiply(qp, orientation)
        for angle, axis in zip(turns, basis[[k - 3 for k in axes if k >= 3]], strict=True):
            q[i] = ref.multiply(q[i], about(axis, angle))
        frame = ref.rotation_matrix(ref.multiply(qp, orientation))
        anchor = xp + ref.rotation_matrix(qp) @ joints[i].parent_anchor + frame @ slide
        x[i] = anchor - ref.rotation_matrix(q[i]) @ joints[i].child_anchor
    return mechanism(bodies, joints), x, q, drawn


def displaced(x, q, d):
    """The pose moved by d = (dx world, dtheta body) of every body."""
    d = d.reshape(-1, 6)
    angle = np.linalg.norm(d[:, 3:], axis=1)
    turns = [about(t / (a or 1.0), a) for t, a in zip(d[:, 3:], angle, strict=True)]
    return x + d[:, :3], ref.multiply(q, np.array(turns))


def differences(function, n, step=1e-6):
    """Central differences of function(d) at d = 0, error about step^2."""
    return np.stack([(function(d) - function(-d)) / (2 * step) for d in step * np.eye(n)], axis=-1)


# Free bodies


def test_free_fall_is_exact():
    # v_n = v0 + n h g, x_n = x0 + n h v0 + h^2 g n (n + 1) / 2
    h, n, v0 = 0.01, 50, np.array([1.0, -2.0, 3.0])
    last = run(mechanism([body()]), rest(v=v0), h, n)[-1]
    np.testing.assert_allclose(last.v[0], v0 + n * h * GRAVITY, atol=1e-12)
    np.testing.assert_allclose(last.x[0], n * h * v0 + h**2 * GRAVITY * n * (n + 1) / 2, atol=1e-12)


def test_torque_free_body_keeps_its_angular_momentum_and_flips():
    h, m = 0.02, mechanism([body(inertia=(0.1, 0.2, 0.3))], gravity=np.zeros(3))
    state = rest(q=about((0.6, 0.8, 0), 0.7), w=(0.05, 8.0, 0.05))
    _, start = ref.momentum(m, state, h)
    results = run(m, state, h, 200)
    for result in results:
        _, angular = ref.momentum(m, (result.x, result.q, result.v, result.w), h)
        np.testing.assert_allclose(angular, start, atol=1e-12)
    assert min(result.w[0, 1] for result in results) < -7.0  # spin about the middle axis turns over


def test_force_is_in_the_world_and_torque_in_the_body():
    h, q = 0.01, about((1, 0, 0), np.pi / 2)
    m = mechanism([body(mass=2.0, inertia=(0.1, 0.2, 0.3))], gravity=np.zeros(3))
    result = ref.step(m, rest(q=q), h, force=[[1, 2, 3]], torque=[[0, 0.3, 0]])
    np.testing.assert_allclose(result.v[0], h * np.array([1, 2, 3]) / 2, atol=1e-12)
    w = result.w[0, 1]  # from rest, about a principal axis: J w / h = torque
    np.testing.assert_allclose(0.2 * w / h, 0.3, atol=1e-9)


# Joints


def pendulum(length=0.5, inertia=0.1, **properties):
    """A body of 1 kg whose centre hangs at `length` below a hinge along y at the origin."""
    return mechanism(
        [body(inertia=(inertia, inertia, inertia))], [joint((4,), child_anchor=(0, 0, length), **properties)]
    )


def hanging(angle, length=0.5):
    return rest(x=(-length * np.sin(angle), 0, -length * np.cos(angle)), q=about((0, 1, 0), angle))


def test_pendulum_period_and_drift():
    # T = 2 pi sqrt((I + m l^2) / (m g l)) (1 + A^2 / 16 + ...): the next term is A^4 11/3072 < 1e-6
    h, amplitude = 0.01, 0.1
    m = pendulum()
    results = run(m, hanging(amplitude), h, 220)
    assert max(ref.joint_error(m, r.x, r.q) for r in results) < 1e-9
    angles = np.array([ref.coordinates(m, r.x, r.q)[0] for r in results])
    before = np.flatnonzero((angles[:-1] > 0) & (angles[1:] <= 0))
    crossings = before + angles[before] / (angles[before] - angles[before + 1])
    period = 2 * np.pi * np.sqrt((0.1 + 0.25) / (9.81 * 0.5)) * (1 + amplitude**2 / 16)
    assert abs(h * (crossings[1] - crossings[0]) - period) < 0.1 * h
    energies = [ref.energy(m, (r.x, r.q, r.v, r.w)) for r in results]
    # A state pairs x(t) with v(t - h/2), so that its energy is off by h/2 x power; power <= m g l A w0 A / 2
    assert np.ptp(energies) < 2 * h / 2 * 9.81 * 0.5 * amplitude**2 * 3.75 / 2


def test_multiplier_carries_the_weight():
    result = ref.step(pendulum(), hanging(0.0), 0.01)
    np.testing.assert_allclose(result.lam[:3], [0, 0, 9.81], atol=1e-9)


@pytest.mark.parametrize("kind", FREE_AXES)
def test_free_pair_conserves_momentum(kind):
    """Springs, dampers, drives and efforts inside a free mechanism change neither momentum."""
    rng, h = np.random.default_rng(1), 0.01
    m, x, q, _ = random_pair(rng, kind, stiffness=20.0, damping=0.5, kp=30.0, kd=1.0, effort_limit=4.0, target=0.3)
    m.gravity, m.joints = np.zeros(3), m.joints[1:]
    G = ref.joint_values(m, *ref.perturb(x, q))[0].imag.T / ref.EPS
    admissible = np.eye(12) - np.linalg.pinv(G) @ G
    twists = (admissible @ rng.normal(size=12)).reshape(2, 6)
    state = (x, q, twists[:, :3], twists[:, 3:])
    linear, angular = ref.momentum(m, state, h)
    for result in run(m, state, h, 5, effort=rng.normal(size=len(FREE_AXES[kind]))):
        now = ref.momentum(m, (result.x, result.q, result.v, result.w), h)
        np.testing.assert_allclose(now[0], linear, atol=1e-10)
        np.testing.assert_allclose(now[1], angular, atol=1e-10)
        assert ref.joint_error(m, result.x, result.q) < 1e-10


@pytest.mark.parametrize("kind", FREE_AXES)
def test_coordinates_of_a_built_pose(kind):
    m, x, q, drawn = random_pair(np.random.default_rng(2), kind)
    assert ref.joint_error(m, x, q) < 1e-14
    c = ref.coordinates(m, x, q)
    for (slides, turns), built in zip(drawn, m.joints, strict=True):
        if len(turns) == 3:  # three turns one after the other make one rotation vector
            R = np.eye(3)
            for axis, angle in zip(built.basis, turns, strict=True):
                R = R @ ref.rotation_matrix(about(axis, angle))
            angle = np.arccos((np.trace(R) - 1) / 2)
            vee = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
            turns = built.basis @ (angle / (2 * np.sin(angle)) * vee)
        expected = np.concatenate([slides, turns])
        np.testing.assert_allclose(c[: len(expected)], expected, atol=1e-12)
        c = c[len(expected) :]


def test_angles_are_looked_for_around_the_middle_of_the_limits():
    pose = np.zeros((1, 3)), about((0, 1, 0), 4.0)[None]
    wrapped = 4.0 - 2 * np.pi
    for limits, expected in (({}, wrapped), ({"lower": 3.0, "upper": 5.0}, 4.0), ({"lower": 3.0}, wrapped)):
        m = mechanism([body()], [joint((4,), **limits)])
        np.testing.assert_allclose(ref.coordinates(m, *pose), [expected], atol=1e-14)


@pytest.mark.parametrize("free", [(4,), (3, 4), (3, 4, 5)])
def test_velocity_is_continuous_where_the_angle_wraps(free):
    """A damped wheel turns past half a revolution: w1 = w0 / (1 + h d / J) a step, to (w h)^2."""
    h, d, J = 0.01, 0.05, 0.1
    m = mechanism([body()], [joint(free, damping=d)], gravity=np.zeros(3))
    w = [r.w[0, 1] for r in run(m, rest(q=about((0, 1, 0), 3.0), w=(0, 5.0, 0)), h, 10)]
    np.testing.assert_allclose(w, 5.0 / (1 + h * d / J) ** np.arange(1, 11), rtol=1e-4)


def test_limit_stops_a_pendulum():
    m, h = pendulum(lower=0.2), 0.01
    results = run(m, hanging(0.5), h, 40)
    angles = np.array([ref.coordinates(m, r.x, r.q)[0] for r in results])
    assert angles.min() > 0.2 - 1e-9
    np.testing.assert_allclose(angles[-5:], 0.2, atol=1e-9)  # an inelastic stop
    np.testing.assert_allclose(results[-1].w, 0, atol=1e-7)
    m.joints[0].lower, m.joints[0].upper = np.array([-np.inf]), np.array([0.2])
    results = run(m, hanging(0.1), h, 20, effort=[9.81])  # twice what holds the pendulum at any angle
    np.testing.assert_allclose(ref.coordinates(m, results[-1].x, results[-1].q), 0.2, atol=1e-9)


def test_drive_saturates_at_its_limit_and_then_holds():
    # While clipped, J w1 - J w0 = h limit: after n steps J w = n h limit.
    h, limit, J = 0.01, 2.0, 0.1
    m = mechanism([body()], [joint((5,), kp=1e4, kd=200.0, target=1.0, effort_limit=limit)], gravity=np.zeros(3))
    for sign in (-1, 1):
        m.joints[0].target = np.array([1.0 * sign])
        w = run(m, rest(), h, 5, effort=[3.0 * sign])[-1].w[0, 2]
        np.testing.assert_allclose(J * w, 5 * h * limit * sign, rtol=1e-9)
    m.joints[0].effort_limit = np.array([1e6])
    last = run(m, rest(), h, 40)[-1]
    np.testing.assert_allclose(ref.coordinates(m, last.x, last.q), 1.0, atol=1e-9)
    m.joints[0].effort_limit = np.array([limit])
    m.joints[0].kp, m.joints[0].kd = np.zeros(1), np.zeros(1)
    w = ref.step(m, rest(), h, effort=[-3.0]).w[0, 2]  # direct effort is limited as well
    np.testing.assert_allclose(J * w, -h * limit, rtol=1e-9)


def test_drives_are_implicit_and_springs_are_taken_in_the_middle():
    # m (v1 - v0)/h = k (rest - (c_before + 2 c0 + c1)/4) - d v1 + kp (target - c1) + kd (u - v1), c1 = c0 + h v1 and
    # c_before = c0 - h v0
    h, mass, k, d, kp, kd, u, c0, v0 = 0.02, 2.0, 50.0, 3.0, 1e4, 100.0, 0.7, 0.1, -1.0
    given = {
        "stiffness": k,
        "rest": 0.2,
        "damping": d,
        "kp": kp,
        "kd": kd,
        "target": 0.3,
        "target_velocity": u,
    }
    m = mechanism([body(mass=mass)], [joint((0,), **given)])
    pull = k * (0.2 - c0 + h * v0 / 4)
    v1 = (mass * v0 / h + pull + kp * (0.3 - c0) + kd * u) / (mass / h + (k / 4 + kp) * h + d + kd)
    result = ref.step(m, rest(x=(c0, 0, 0), v=(v0, 0, 0)), h)
    np.testing.assert_allclose(result.v[0], [v1, 0, 0], atol=1e-12)


def test_redundant_loop():
    """A four-bar linkage of four hinges: 20 rows for 18 unknowns and one motion."""
    bars = [body(name, inertia=(0.001, 0.08, 0.08)) for name in "abc"]
    ends = [("world", "a", (0, 0, 0), (-0.5, 0, 0)), ("world", "c", (1, 0, 0), (0.5, 0, 0))]
    ends += [("a", "b", (0.5, 0, 0), (-0.5, 0, 0)), ("b", "c", (0.5, 0, 0), (-0.5, 0, 0))]
    m = mechanism(bars, [joint((4,), *end) for end in ends], gravity=(3.0, 0, -9.81))
    q = np.array([about((0, 1, 0), -np.pi / 2), IDENTITY, about((0, 1, 0), np.pi / 2)])
    x = np.array([[0, 0, 0.5], [0.5, 0, 1.0], [1.0, 0, 0.5]])
    results = run(m, (x, q, np.zeros((3, 3)), np.zeros((3, 3))), 0.01, 30)
    assert max(ref.joint_error(m, r.x, r.q) for r in results) < 1e-9
    # From rest the bars turn about their ends and the coupler moves along x. With unit masses and lengths and
    # gravity 3 along x: (2 (J + 1/4) + 1) w' = 3 (1/2 + 1 + 1/2)
    np.testing.assert_allclose(results[0].w[0, 1] / 0.01, 6 / 1.66, rtol=1e-3)


def test_floating_joint_has_no_coordinates():
    m = mechanism([body()], [joint(tuple(range(6)))])
    result = ref.step(m, rest(), 0.01)
    np.testing.assert_allclose(result.v[0], 0.01 * GRAVITY, atol=1e-13)
    assert len(result.lam) == len(ref.coordinates(m, result.x, result.q)) == 0


# Contact and friction


def block(friction, slope=0.0, half=(0.2, 0.2, 0.1)):
    """A block on an incline that falls along its first tangent, and its state."""
    normal, tangent = (
        np.array([np.sin(slope), 0, np.cos(slope)]),
        np.array([np.cos(slope), 0, -np.sin(slope)]),
    )
    corners = [(sx * half[0], sy * half[1], -half[2]) for sx in (-1, 1) for sy in (-1, 1)]
    contacts = [contact(c, friction, normal=normal, tangents=[tangent, (0, 1, 0)]) for c in corners]
    m = mechanism([body(mass=2.0, inertia=(0.03, 0.03, 0.05))], contacts=contacts)
    return m, rest(x=half[2] * normal, q=about((0, 1, 0), slope)), tangent


def test_block_on_an_incline_sticks():
    m, state, _ = block(0.5, slope=np.arctan(0.45))
    last = run(m, state, 0.01, 10)[-1]
    np.testing.assert_allclose(last.v, 0, atol=1e-10)
    np.testing.assert_allclose(last.x, state[0], atol=1e-10)


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_block_on_an_incline_slides(friction):
    # a = g (sin - friction cos) along the slope, as long as it is positive
    slope, h, n = np.arctan(0.5), 0.01, 10
    m, state, tangent = block(friction, slope)
    last = run(m, state, h, n)[-1]
    np.testing.assert_allclose(
        last.v[0], n * h * 9.81 * (np.sin(slope) - friction * np.cos(slope)) * tangent, atol=1e-9
    )
    np.testing.assert_allclose(last.contact_normal.sum(), 2.0 * 9.81 * np.cos(slope), atol=1e-8)
    np.testing.assert_allclose(last.contact_friction[:, 0], -friction * last.contact_normal, atol=1e-8)
    np.testing.assert_allclose(last.contact_friction[:, 1], 0, atol=1e-8)


def test_cube_at_rest_carries_its_weight():
    m, state, _ = block(0.5)
    last = run(m, state, 0.01, 5)[-1]
    np.testing.assert_allclose(last.contact_normal.sum(), 2.0 * 9.81, atol=1e-9)
    np.testing.assert_allclose(last.contact_friction.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(last.x, state[0], atol=1e-12)


def test_sliding_ball_starts_to_roll():
    # Angular momentum about the contact is kept: v = v0 / (1 + J / (m r^2)) = 5/7 v0 for a ball. The arm of
    # the friction is the radius, and J w is the spin, whatever the step: exact.
    r, v0 = 0.5, 0.5
    m = mechanism([body(inertia=np.full(3, 0.4 * r**2))], contacts=[contact(friction=0.3, radius=r)])
    last = run(m, rest(x=(0, 0, r), v=(0, v0, 0)), 0.01, 10)[-1]
    np.testing.assert_allclose(last.v[0], [0, 5 / 7 * v0, 0], atol=1e-9)
    np.testing.assert_allclose(last.w[0], [-last.v[0, 1] / r, 0, 0], atol=1e-9)


def test_tumbling_cube_obeys_the_contact_law():
    rng, h, cf = np.random.default_rng(3), 0.01, 0.5
    corners = 0.25 * np.array(np.meshgrid(*3 * [(-1, 1)])).reshape(3, -1).T
    m = mechanism([body(inertia=(0.04, 0.04, 0.04))], contacts=[contact(c, cf) for c in corners])
    state, touched = rest(x=(0, 0, 0.3), q=about((0.6, 0.8, 0), 0.15), v=(2, 1, -1), w=rng.normal(size=3)), 0
    for _ in range(15):
        result = run(m, state, h, 1)[0]
        gap, gamma, beta = ref.gaps(m, result.x, result.q), result.contact_normal, result.contact_friction
        assert gap.min() > -1e-10
        assert gamma.min() >= 0
        assert np.max(gap * gamma) < 1e-9
        V = np.concatenate([result.v, result.w], axis=-1)
        slip = ref.slides(m, state[:2], (result.x, result.q), V, h).reshape(-1, 2)
        assert np.all(np.abs(beta).sum(axis=1) <= cf * gamma + 1e-9)
        # maximum dissipation over the pyramid |beta|_1 <= cf gamma
        np.testing.assert_allclose(np.sum(beta * slip, axis=1), -cf * gamma * np.abs(slip).max(axis=1), atol=1e-8)
        touched += np.any(gamma > 1.0)
        state = (result.x, result.q, result.v, result.w)
    assert touched > 10


# Derivatives and force maps


@pytest.mark.parametrize("kind", FREE_AXES)
def test_joint_jacobians(kind):
    m, x, q, _ = random_pair(np.random.default_rng(4), kind)
    x, q = displaced(x, q, 0.1 * np.random.default_rng(5).normal(size=12))  # also off the constraints
    for i in (0, 1):
        exact = ref.joint_values(m, *ref.perturb(x, q))[i].imag.T / ref.EPS
        numeric = differences(lambda d, i=i: ref.joint_values(m, *displaced(x, q, d))[i], 12)
        np.testing.assert_allclose(exact, numeric, atol=1e-8)


@pytest.mark.parametrize("kind", FREE_AXES)
def test_efforts_do_the_work_of_their_coordinates(kind):
    """E V = dc/dt for all motions that the joints allow (rotation vectors are no such coordinates)."""
    rng = np.random.default_rng(6)
    m, x, q, _ = random_pair(rng, kind)
    G, C = (values.imag.T / ref.EPS for values in ref.joint_values(m, *ref.perturb(x, q)))
    V = (np.eye(12) - np.linalg.pinv(G) @ G) @ rng.normal(size=12)
    keep = np.array([True, True] + [k < 3 or not kind.startswith("spherical") for k in FREE_AXES[kind]])
    np.testing.assert_allclose((ref.effort_map(m, x, q) @ V)[keep], (C @ V)[keep], atol=1e-12)


def test_spherical_effort_is_a_torque_along_child_axes():
    m, x, q, _ = random_pair(np.random.default_rng(7), "spherical")
    E = ref.effort_map(m, x, q)[2:].reshape(3, 2, 6)
    to_parent = ref.rotation_matrix(q[0]).T @ ref.rotation_matrix(q[1])
    np.testing.assert_allclose(E[:, 1], np.hstack([np.zeros((3, 3)), m.joints[1].basis]), atol=1e-14)
    np.testing.assert_allclose(E[:, 0, 3:], -m.joints[1].basis @ to_parent.T, atol=1e-14)


def test_contact_maps():
    rng = np.random.default_rng(8)
    q = about((0.6, 0, 0.8), 1.1)[None]
    x, normal = rng.normal(size=(1, 3)), np.array([0.6, 0.0, 0.8])
    tangents = np.array([[0.8, 0, -0.6], [0, 1, 0]])
    c = contact(rng.normal(size=3), radius=0.3, normal=normal, offset=0.2, tangents=tangents)
    m = mechanism([body()], contacts=[c])
    exact = ref.gaps(m, *ref.perturb(x, q)).imag.T / ref.EPS
    np.testing.assert_allclose(exact, differences(lambda d: ref.gaps(m, *displaced(x, q, d)), 6), atol=1e-8)
    fixed = c.point - 0.3 * ref.rotation_matrix(q[0]).T @ normal  # the touching point, fixed to the body

    def along(d):
        x1, q1 = displaced(x, q, d)
        return tangents @ (x1[0] + ref.rotation_matrix(q1[0]) @ fixed)

    np.testing.assert_allclose(ref.friction_map(m, x, q)[0], differences(along, 6), atol=1e-8)


def test_move_has_the_tangent_of_the_design():
    # The right derivative of the exponential map: with turn = h w and a = |turn|, a change dw turns q+ in the body by
    #   h (I - (1 - cos a) / a^2 [turn]x + (a - sin a) / a^3 [turn]x^2) dw
    h, w, q = 0.05, np.array([3.0, -9.0, 6.0]), about((0.6, 0, 0.8), 1.1)
    V = np.concatenate([np.zeros(3), w])[None]
    _, q1 = ref.move(np.zeros((1, 3)), q[None], V, h)
    _, moved = ref.move(np.zeros((1, 3)), q[None], V + 1j * ref.EPS * np.eye(6)[3:, None], h)
    turns = 2 * ref.multiply(ref.INVERSE * q1, moved)[:, 0, 1:].imag.T / ref.EPS
    a, X = h * np.linalg.norm(w), ref.skew(h * w)
    right = np.eye(3) - (1 - np.cos(a)) / a**2 * X + (a - np.sin(a)) / a**3 * X @ X
    np.testing.assert_allclose(turns, h * right, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(q1), 1.0, atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 1e-3, 1.0, 3.1])
def test_rotation_vector(angle):
    axis = np.array([0.48, 0.6, 0.64])
    q = about(axis, angle)
    np.testing.assert_allclose(ref.rotation_vector(q), angle * axis, rtol=1e-13)
    np.testing.assert_allclose(ref.rotation_vector(-q), angle * axis, rtol=1e-13)
    turns = ref.perturb(np.zeros((1, 3)), q[None])[1][3:, 0]
    exact = ref.rotation_vector(turns).imag.T / ref.EPS
    numeric = differences(lambda d: ref.rotation_vector(displaced(np.zeros((1, 3)), q[None], d)[1][0]), 6)[:, 3:]
    np.testing.assert_allclose(exact, numeric, atol=2e-8)


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "universal_slide", "spherical"])
def test_newton_matrix(kind):
    rng = np.random.default_rng(9)
    given = {
        "stiffness": 3.0,
        "damping": 0.5,
        "kp": 20.0,
        "kd": 1.0,
        "effort_limit": 2.0,
        "lower": -0.5,
        "upper": 0.7,
    }
    m, x, q, _ = random_pair(rng, kind, **given)
    m.contacts = [contact(rng.normal(size=3), cf, radius=0.1, name=name) for cf, name in ((0.5, "b0"), (0.0, "b1"))]
    zero = np.zeros((2, 3))
    problem = ref.Problem(m, (x, q, zero, zero), 0.02, rng.normal(size=2 + len(FREE_AXES[kind])), zero, zero)
    y = rng.normal(size=len(problem.V0) + len(problem.G) + 2 * len(problem.A))
    numeric = differences(lambda d: problem.equations(y + d), len(y), step=1e-5)
    np.testing.assert_allclose(problem.jacobian(y), numeric, atol=1e-6)


def test_failure_is_reported():
    m = mechanism([body()], [joint((), parent_anchor=(0, 0, 0)), joint((), parent_anchor=(0.1, 0, 0))])
    result = ref.step(m, rest(), 0.01)  # two welds that contradict each other
    assert not result.converged
    assert result.residual > 0.01


def test_misfit_knows_a_solution_from_what_is_none():
    # A box that slides: friction is at the edge of its cone, against the motion. Its solution fits, others do not.
    m, h = scenes.box(friction=0.3), 0.01
    state = [[[0, 0, 0.1]], [[1.0, 0, 0, 0]], [[1.0, 0.4, 0]], [[0, 0, 0.5]]]
    zero = np.zeros((1, 3))
    found = ref.step(m, state, h)
    V = np.concatenate([found.v, found.w], -1)
    assert ref.misfit(m, state, h, V, np.zeros(0), zero, zero) < 1e-7
    for k, size in ((0, 1e-3), (1, -1e-3), (2, -1e-3), (2, 1e-2), (5, 1e-2)):
        other = V + size * np.eye(6)[k]
        assert ref.misfit(m, state, h, other, np.zeros(0), zero, zero) > 1e-2


def test_misfit_knows_a_drive_at_its_limit():
    # The drive asks for 50 N m and gives 1.5: the wheel speeds up by h 1.5 / J a step, no more and no less.
    hinge = joint((5,), kp=50.0, target=1.0, effort_limit=1.5)
    m, state, h, zero = mechanism([body()], [hinge], gravity=(0, 0, 0)), rest(), 0.01, np.zeros((1, 3))
    V = np.array([[0, 0, 0, 0, 0, h * 1.5 / 0.1]])
    np.testing.assert_allclose(ref.step(m, state, h).w, V[:, 3:], atol=1e-4)  # s(w) is not quite 2/h
    exact = np.concatenate([np.zeros((1, 3)), ref.step(m, state, h).w], -1)
    assert ref.misfit(m, state, h, exact, np.zeros(1), zero, zero) < 1e-7
    assert ref.misfit(m, state, h, 1.1 * exact, np.zeros(1), zero, zero) > 1e-2
