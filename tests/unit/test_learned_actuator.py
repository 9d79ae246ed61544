"""Learned actuators: a network that states a PD law gives its motion; batches, resets, files, errors."""

import numpy as np
import pytest

from vigym import ActuatorNetwork, InputError, LearnedActuator, Mechanism, Simulator

KP, KD = 20.0, 1.5
PD = ActuatorNetwork(  # kp (relu(e) - relu(-e)) - kd (relu(w) - relu(-w)), from scaled inputs
    [([[1.0, -1, 0, 0], [0, 0, 1, -1]], np.zeros(4)), ([[KP / 4], [-KP / 4], [-KD / 2], [KD / 2]], [0.0])],
    activation="relu",
    position_scale=2.0,
    effort_scale=2.0,
)


def arm() -> Mechanism:
    m = Mechanism()
    for parent, child in (("world", "upper"), ("upper", "lower")):
        m.add_body(child, mass=1.0, inertia=[0.02, 0.02, 0.001])
        anchors = {"parent_anchor": (0, 0, 0 if parent == "world" else -0.2), "child_anchor": (0, 0, 0.2)}
        m.add_joint(child, "revolute", parent, child, axis=(0, 1, 0), **anchors)
    return m


def test_a_network_that_is_a_pd_law_gives_its_motion():
    """Step by step the same efforts, and the motion of the engine's own drives to the order of the step."""
    by_hand, learned = (Simulator(arm(), dt=1e-3, compiled=False) for _ in range(2))
    driven = arm()
    for joint in driven.joints:
        driven.set_drive(joint.name, kp=KP, kd=KD)
    drives, motors, target = (
        Simulator(driven, dt=1e-3, compiled=False),
        LearnedActuator(PD, 1, 2),
        np.array([0.6, -0.4]),
    )
    for _ in range(100):
        by_hand.step(effort=KP * (target - by_hand.joint_positions()) - KD * by_hand.joint_velocities())
        learned.step(effort=motors(target, learned.joint_positions(), learned.joint_velocities()))
        drives.step(target=target)
    np.testing.assert_allclose(learned.joint_positions(), by_hand.joint_positions(), atol=1e-9)
    np.testing.assert_allclose(learned.joint_positions(), drives.joint_positions(), atol=0.02)
    assert np.abs(drives.joint_positions()).max() > 0.2  # it has moved


def test_history_batches_and_resets():
    """The third input is of two calls ago; a batch is its environments alone, to the bit."""
    layers = [(np.eye(6)[:, [2]] + 0.25 * np.eye(6)[:, [4]], [0.5])]
    network = ActuatorNetwork(layers, history=(0, 1, 2), effort_scale=2.0)
    rng = np.random.default_rng(0)
    targets, rates = rng.normal(size=(2, 6, 3, 4))
    motors, alone = LearnedActuator(network, 3, 4), LearnedActuator(network, 1, 4)
    for k in range(6):
        if k == 4:
            motors.reset([False, True, False])
            alone.reset()
        found = motors(targets[k], np.zeros(4), rates[k])
        np.testing.assert_array_equal(found[1], alone(targets[k, 1], np.zeros(4), rates[k, 1])[0])
        past, last = max(k - 2, 0), max(k - 1, 0)
        expected = 2.0 * (targets[past, 0] + 0.25 * rates[last, 0] + 0.5)
        np.testing.assert_allclose(found[0], expected, atol=1e-14)
    past = 2.0 * (targets[4, 1] + 0.25 * rates[4, 1] + 0.5)  # the first call after the reset stands for those before
    np.testing.assert_allclose(found[1], past, atol=1e-14)


@pytest.mark.parametrize("activation", ["relu", "elu", "tanh", "softsign"])
def test_files(tmp_path, activation):
    rng = np.random.default_rng(1)
    shapes = (4, 8), (8, 8), (8, 1)
    layers = [(rng.normal(size=shape), rng.normal(size=shape[1])) for shape in shapes]
    network = ActuatorNetwork(layers, activation=activation, history=[0, 3], velocity_scale=0.1)
    network.save(tmp_path / "a.npz")
    again = ActuatorNetwork.load(tmp_path / "a.npz")
    errors, rates = rng.normal(size=(2, 5, 2))
    np.testing.assert_array_equal(again(errors, rates), network(errors, rates))
    x = np.concatenate([errors, 0.1 * rates], -1)
    laws = {"relu": lambda x: np.maximum(x, 0), "elu": lambda x: np.where(x < 0, np.expm1(x), x), "tanh": np.tanh}
    law = laws.get(activation, lambda x: x / (1 + abs(x)))
    for k, (weights, bias) in enumerate(layers):
        x = x @ weights + bias
        x = law(x) if k < 2 else x
    np.testing.assert_allclose(network(errors, rates), x[:, 0], rtol=1e-12)


def test_errors(tmp_path):
    with pytest.raises(InputError, match=r"weights0 must be \(4, n\)"):
        ActuatorNetwork([(np.zeros((2, 1)), [0.0])], history=(0, 1))
    with pytest.raises(InputError, match="one output"):
        ActuatorNetwork([(np.zeros((2, 3)), np.zeros(3))])
    with pytest.raises(InputError, match="finite"):
        ActuatorNetwork([([[np.nan], [0.0]], [0.0])])
    with pytest.raises(InputError, match="history"):
        ActuatorNetwork([], history=(-1,))
    with pytest.raises(InputError, match="activation"):
        ActuatorNetwork([], activation="sine")
    with pytest.raises(InputError, match="not an actuator's network"):
        LearnedActuator(tmp_path / "none.npz", 1, 2)
    np.savez(tmp_path / "other.npz", weights0=np.zeros((2, 1)), bias0=np.zeros(1))
    with pytest.raises(InputError, match="told"):
        ActuatorNetwork.load(tmp_path / "other.npz")
    with pytest.raises(InputError, match="target"):
        LearnedActuator(PD, 1, 2)([0.0, np.nan], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(InputError, match="ActuatorNetwork"):
        LearnedActuator(3, 1, 2)
