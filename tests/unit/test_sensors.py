"""Sensors: closed forms, batches, noise, delay, resets, errors."""

import numpy as np
import pytest

from vigym import (
    Box,
    ContactSensor,
    ForceTorque,
    HeightField,
    HeightScan,
    Imu,
    InputError,
    Mechanism,
    Simulator,
    Sphere,
)
from vigym.engine.rotation import from_rotation_vector, multiply, rotate

G = 9.81


def pendulum(**options) -> Mechanism:
    """A rod of 1 kg whose centre is 0.5 m from a hinge about y."""
    m = Mechanism()
    m.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.01))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), child_anchor=(0, 0, 0.5), **options)
    return m


def test_imu_on_a_wheel():
    """At a constant rate W about a vertical axis, a point r away feels W^2 r inwards and g upwards, and W; to the
    second order of the step. The sensor is turned by 0.3 rad about x."""
    rate, r, h = 3.0, 0.4, 1e-3
    m = Mechanism()
    m.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
    m.add_joint("axle", "revolute", "world", "wheel", axis=(0, 0, 1))
    sim = Simulator(m, dt=h, num_envs=2, compiled=False)
    sim.set_joint_state(np.zeros((2, 1)), [[rate], [0.0]])
    tilt = from_rotation_vector(np.array([0.3, 0.0, 0.0]))
    imu = Imu(sim, "wheel", (r, 0, 0), tilt)
    np.testing.assert_allclose(rotate(tilt, imu()[:, :3]), [[0, 0, G], [0, 0, G]], atol=1e-12)  # nothing known before
    for _ in range(3):
        sim.step()
        reading = imu()
    chord = 2.0 * r * (1.0 - np.cos(rate * h)) / h**2  # second difference of a circle: W^2 r + O(h^2)
    np.testing.assert_allclose(rotate(tilt, reading[:, :3]), [[-chord, 0, G], [0, 0, G]], atol=1e-8)
    np.testing.assert_allclose(rotate(tilt, reading[:, 3:]), [[0, 0, rate], [0, 0, 0]], atol=1e-8)
    np.testing.assert_array_equal(imu(), reading)  # twice between two steps
    before = sim.state
    sim.step(repeat=4)
    np.testing.assert_allclose(imu()[1], reading[1], atol=1e-8)
    sim.set_state(*before, mask=[True, False])
    np.testing.assert_allclose(rotate(tilt, imu()[:, :3])[0], [0, 0, G], atol=1e-12)  # begins anew by itself


def test_free_fall_weighs_nothing_and_impacts_are_felt():
    """A ball falls: 0. It lands: the mean of the impact, m dv/dt. It lies: g."""
    m = Mechanism()
    m.add_body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.2))
    m.add_contact("foot", "ball", radius=0.1)
    sim = Simulator(m, dt=0.01, compiled=False)
    imu, foot = Imu(sim, "ball"), ContactSensor(sim, contacts=["foot"])
    whole = ContactSensor(sim, "ball", threshold=1.0)
    imu()
    sim.step()
    np.testing.assert_allclose(imu()[0, :3], 0.0, atol=1e-9)
    assert not foot.touches().any()
    total = np.zeros(3)
    for _ in range(40):
        velocity = sim.state.v[0, 0].copy()
        sim.step()
        felt, force = imu()[0, :3], foot()[0, 0]
        np.testing.assert_allclose(felt, (sim.state.v[0, 0] - velocity) / 0.01 + [0, 0, G], atol=1e-7)
        np.testing.assert_allclose(felt, force / 2.0, atol=1e-6)  # nothing else pushes it
        np.testing.assert_array_equal(whole()[0, 0], force)
        assert whole.touches()[0, 0] == (force[2] > 1.0)
        total += felt / 40
    np.testing.assert_allclose(force, [0, 0, 2 * G], atol=1e-6)
    assert foot.touches().all()
    np.testing.assert_allclose(total[2], (0.0 - (-G * 0.01)) / 0.4 + G, rtol=1e-6)  # all velocity that was lost


def test_force_torque_of_a_pendulum():
    """The hinge holds m (a - g) at the centre, and the moment of it about the sensor, in the child's frame."""
    sim = Simulator(pendulum(), dt=1e-3, num_envs=2, compiled=False)
    sim.set_joint_state([[0.7], [0.0]], [[1.0], [0.0]])
    load, below, imu = ForceTorque(sim, "hinge"), ForceTorque(sim, "hinge", (0, 0, -0.1)), Imu(sim, "rod")
    assert not load().any()
    imu()
    for _ in range(5):
        sim.step()
        held, lower, felt = load(), below(), imu()
    np.testing.assert_allclose(held[:, :3], 1.0 * felt[:, :3], atol=1e-7)
    np.testing.assert_allclose(held[1], [0, 0, G, 0, 0, 0], atol=1e-7)
    np.testing.assert_allclose(held[:, 4], 0.0, atol=1e-8)  # a hinge transmits no moment about its axis
    np.testing.assert_allclose(lower[:, 3:] - held[:, 3:], np.cross([0, 0, 0.6], held[:, :3]), atol=1e-9)
    turned = ForceTorque(sim, "hinge", orientation=(0, 0, 0, 1))
    np.testing.assert_allclose(turned(), held * [-1, -1, 1, -1, -1, 1], atol=1e-12)


def test_height_scan():
    """Around a walker that is turned: a slope under it, the ground plane of a contact beyond, nothing under that."""
    m = Mechanism()
    m.add_body("trunk", mass=1.0, shapes=[Box((0.4, 0.2, 0.1))])
    m.add_body("other", mass=1.0, shapes=[Sphere(5.0)], collide=False)
    m.add_contact("foot", "trunk", offset=-0.5)
    m.add_collider("slope", "world", HeightField([[0.0, 0.4], [0.0, 0.4]], (4.0, 4.0)))
    sim = Simulator(m, num_envs=2, compiled=False)
    yaw = from_rotation_vector(np.array([[0, 0, np.pi / 2], [0, 0, 0]]))
    roll = from_rotation_vector(np.array([0.3, 0.0, 0.0]))
    q = np.stack([multiply(yaw, np.tile(roll, (2, 1))), np.tile([1.0, 0, 0, 0], (2, 1))], 1)
    x = np.array([[[0.5, 0, 1.0], [0, 0, 30.0]]] * 2)
    sim.set_state(x=x, q=q, v=np.zeros((2, 2, 3)), w=np.zeros((2, 2, 3)))
    points = np.array([[0.0, 0.0], [1.0, 0.5], [5.0, 0.0]])
    scan = HeightScan(sim, "trunk", points)
    ahead = np.array([[0.5, 0.0, 0.5], [0.5, 1.5, 5.5]])  # x of the points: of the turned one, 0.5 - y
    expected = np.where(ahead <= 2.0, 0.2 + 0.1 * ahead, -0.5) - 1.0
    expected[0, 2] = -0.5 - 1.0  # 5 m to the left
    np.testing.assert_allclose(scan(), expected, atol=1e-9)
    assert HeightScan(sim, "trunk", points, max_depth=0.5)()[0, 2] == -0.5


def test_noise_bias_and_delay():
    """Readings are late by the delay; errors have the given spread; an environment of a batch is the single one with
    its seed; begun anew alone."""
    options = {"noise": 0.1, "bias": [0, 0, 1.0, 0, 0, 0], "delay": 0.02}

    def run(num_envs: int, seed: int, reset: int | None = None) -> np.ndarray:
        sim = Simulator(pendulum(), dt=0.01, num_envs=num_envs, compiled=False)
        sim.set_joint_state(np.full((num_envs, 1), 0.5))
        imu = Imu(sim, "rod", seed=seed, **options)
        found = []
        for k in range(12):
            if k == reset:
                imu.reset([True, *[False] * (num_envs - 1)])
            found.append(imu())
            sim.step()
        return np.array(found)

    batch, alone = run(2, 7), run(1, 8)
    np.testing.assert_array_equal(batch[:, 1], alone[:, 0])
    assert (batch[:, 0] != batch[:, 1]).all()
    np.testing.assert_array_equal(run(2, 7, reset=5)[:, 1], batch[:, 1])
    sim = Simulator(pendulum(), dt=0.01, compiled=False)
    sim.set_joint_state([[0.5]])
    exact, late, readings = Imu(sim, "rod"), Imu(sim, "rod", delay=0.02), []
    for k in range(5):
        readings.append(exact())
        np.testing.assert_array_equal(late(), readings[max(k - 2, 0)])
        sim.step()
    still = Simulator(pendulum(), dt=0.01, num_envs=400, compiled=False)
    error = Imu(still, "rod", noise=[0, 0, 0, 0, 0, 0.2], bias=[0, 0, 0.5, 0, 0, 0])() - [0, 0, G, 0, 0, 0]
    assert error.std(0) == pytest.approx([0, 0, 0.5, 0, 0, 0.2], rel=0.15)  # 400 draws: 4 standard errors


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda sim: Imu(sim, "rd"), "did you mean 'rod'"),
        (lambda sim: Imu(sim, "rod", (0, 0)), "point must be"),
        (lambda sim: Imu(sim, "rod", orientation=(0, 0, 0, 0)), "orientation must not be zero"),
        (lambda sim: Imu(sim, "rod", noise=-1.0), "noise must be >= 0"),
        (lambda sim: Imu(sim, "rod", noise=[1.0, 2.0]), "noise must be"),
        (lambda sim: Imu(sim, "rod", delay=0.015), "delay must be a whole number"),
        (lambda sim: Imu(sim, "rod", interval=0.0), "interval must be"),
        (lambda sim: Imu(sim, "rod", seed=-1), "seed must be"),
        (lambda sim: ForceTorque(sim, "hing"), "joint: 'hing' is unknown"),
        (lambda sim: ContactSensor(sim), "takes bodies, or contacts"),
        (lambda sim: ContactSensor(sim, ["rod", "x"]), "bodies: 'x' is unknown"),
        (lambda sim: ContactSensor(sim, contacts="foot"), "known: none"),
        (lambda sim: HeightScan(sim, "rod", [0.0, 1.0]), "points must be"),
    ],
)
def test_errors(make, what):
    with pytest.raises(InputError, match=what):
        make(Simulator(pendulum(), compiled=False))
