"""sim.gradients(coordinates="joint") against central differences of steps from joint states."""

import numpy as np
import pytest
from scenes import chain

from vigym import InputError, Simulator
from vigym.assets import four_bar
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, to_rotation_vector

EPS = 1e-6
LAWS = {"kp": 5.0, "kd": 0.5, "target": 0.4, "stiffness": 20.0, "rest": 0.3, "damping": 0.2}


def differences(sim: Simulator, positions: np.ndarray, rates: np.ndarray, effort: np.ndarray) -> np.ndarray:
    """Columns by x, rotation of the base and joint positions, then v, w of the base and joint velocities; the last
    step is one without a change."""
    start, axes = dict(zip("xqvw", (value.copy() for value in sim.state), strict=True)), sim.model.n_axes
    start["v"][:, 0], start["w"][:, 0] = [0.3, 0.2, 0.1], [1.0, 0.5, -0.7]

    def after(change: np.ndarray) -> list[np.ndarray]:
        pose, speed = np.split(change, 2)
        root = {name: value.copy() for name, value in start.items()}
        root["x"][:, 0] += pose[:3]
        root["q"][:, 0] = multiply(root["q"][:, 0], from_rotation_vector(pose[3:6]))
        root["v"][:, 0] += speed[:3]
        root["w"][:, 0] += speed[3:6]
        sim.set_joint_state(positions + pose[6:], rates + speed[6:], **root)
        sim.step(effort)
        x, q, v, w = (value[:, 0] for value in sim.state)
        return [x, q, sim.joint_positions().copy(), v, w, sim.joint_velocities().copy()]

    columns = []
    for unit in np.eye(2 * (6 + axes)):
        ends = after(EPS * unit), after(-EPS * unit)
        changes = [one - other for one, other in zip(*ends, strict=True)]
        changes[1] = to_rotation_vector(multiply(conjugate(ends[1][1]), ends[0][1]))
        columns.append(np.concatenate(changes, -1) / (2 * EPS))
    after(np.zeros(2 * (6 + axes)))
    return np.stack(columns, -1)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "universal", "cylindrical", "planar"])
def test_chain_on_a_free_base(kind):
    mechanism = chain(2, kind, free=True, options=lambda kind, n_free: LAWS)
    sim = Simulator(mechanism, num_envs=2, tolerance=1e-11, compiled=kind == "revolute")
    rng = np.random.default_rng(0)
    shape = 2, sim.model.n_axes
    effort = rng.normal(size=shape)
    expected = differences(sim, 0.4 * rng.normal(size=shape), rng.normal(size=shape), effort)
    found = sim.gradients("target", coordinates="joint")
    assert found.status.tolist() == ["ok", "ok"]
    np.testing.assert_allclose(found.state, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    # by efforts: as the maximal ones, of which joint rates are functions; each moves its own axis
    assert found.effort.shape == found["target"].shape == (2, len(expected[0]), shape[1])
    own = np.diagonal(found.effort[:, -shape[1] :], axis1=1, axis2=2)
    assert (own > 0).all()
    np.testing.assert_allclose(found["target"], LAWS["kp"] * found.effort, rtol=1e-12)
    again = sim.gradients("target", coordinates="joint", out=found)
    np.testing.assert_array_equal(again.state, found.state)


def test_coordinates_that_are_not_covered():
    sim = Simulator(four_bar.build(), compiled=False)
    sim.step()
    with pytest.raises(InputError, match="do not cover loops"):
        sim.gradients(coordinates="joint")
    with pytest.raises(InputError, match="coordinates must be one of"):
        sim.gradients(coordinates="polar")
