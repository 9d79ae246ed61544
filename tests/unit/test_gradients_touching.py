"""sim.gradients() through contacts between bodies, against central differences of whole steps."""

import numpy as np
import pytest
from scenes import change

from vigym import Box, Capsule, Mechanism, Plane, Simulator, Sphere
from vigym.engine.rotation import from_rotation_vector, multiply

EPS = 1e-6


def differences(sim: Simulator) -> np.ndarray:
    """Derivatives of the next state by the state, by stepping from both sides of it."""
    saved, start = sim.save(), sim.state

    def after(part: int, body: int, axis: int, amount: float):
        sim.restore(saved)
        x, q, v, w = (value.copy() for value in start)
        if part == 1:
            q[:, body] = multiply(q[:, body], from_rotation_vector(amount * np.eye(3)[axis]))
        else:
            (x, q, v, w)[part][:, body, axis] += amount
        for name, value in zip("xqvw", (x, q, v, w), strict=True):  # beside set_state: contacts are a little deep
            sim._lanes.set(name, value)
        sim.step()
        assert sim.status.converged.all()
        assert sim.status.substeps.max() == 1
        return sim.state

    columns = [
        change(after(part, body, axis, EPS), after(part, body, axis, -EPS)) / (2 * EPS)
        for body in range(sim.model.n_bodies)
        for part in range(4)
        for axis in range(3)
    ]
    sim.restore(saved)
    return np.stack(columns, -1)


def differences_of_joints(sim: Simulator) -> np.ndarray:
    """Derivatives of the next state by the efforts (12 n_bodies, n_efforts)."""
    saved, columns = sim.save(), []
    for axis in range(sim.model.n_axes):
        both = []
        for amount in (1e-4, -1e-4):
            sim.restore(saved)
            sim.step(amount * np.eye(sim.model.n_axes)[axis][None])
            both.append(sim.state)
        columns.append(change(*both)[0] / 2e-4)
    sim.restore(saved)
    return np.stack(columns, -1)


def compare(sim: Simulator, tolerance: float) -> None:
    expected = differences(sim)
    sim.step()
    found = sim.gradients().state
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


SHAPES = {
    "spheres": (Sphere(0.1), Sphere(0.08)),
    "sphere and box": (Sphere(0.1), Box((0.2, 0.16, 0.12))),
    "capsules": (Capsule(0.06, 0.2), Capsule(0.05, 0.1)),
    "capsule and box": (Capsule(0.06, 0.2), Box((0.2, 0.16, 0.12))),
    "boxes": (Box((0.2, 0.16, 0.12)), Box((0.1, 0.14, 0.2))),
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("cone", ["exact", "pyramid"])
def test_two_bodies_in_an_impact(kind, friction, cone):
    """Bodies that meet in the step, slide and turn against each other; smoothed, so that differences on both sides of
    the step see the same contacts."""
    m, rng = Mechanism(), np.random.default_rng(3)
    for k, shape in enumerate(SHAPES[kind]):
        turn = rng.normal(size=4)
        place = (0.02 * k, 0.03 * k, 0.5 * k)
        m.add_body(f"b{k}", mass=1.0 + k, shapes=[shape], position=place, orientation=turn / np.linalg.norm(turn),
                   friction=friction)  # fmt: skip
    sim = Simulator(m, dt=0.01, tolerance=1e-11, cone=cone, smoothing=1e-5)
    room = sim.distance("b0", "b1")[0]
    x = sim.state.x[0].copy()
    x[1, 2] -= room - 0.004
    sim.set_state(x=x, v=[[0.1, 0, 1.0], [0, 0.2, -1.0]], w=0.5 * rng.normal(size=(2, 3)), overlap="keep")
    compare(sim, 2e-6)


def test_a_stack_at_rest():
    """Sticking contacts on the ground and between boxes, in two environments of which one slides. Each box is smaller
    than the one below, whose face carries the plane then, however little the upper one is tilted."""
    m = Mechanism()
    m.add_collider("floor", "world", Plane(), friction=0.5)
    for k in range(3):
        side = 0.3 - 0.05 * k
        m.add_body(
            f"b{k}", mass=1.0, shapes=[Box((side, side, 0.1))], position=(0.013 * k, 0, 0.05 + 0.1 * k), friction=0.5
        )
    sim = Simulator(m, dt=0.01, num_envs=2, tolerance=1e-11, smoothing=1e-6)
    v = np.zeros((2, 3, 3))
    v[1, 2, 0] = 1.0
    sim.set_state(v=v)
    sim.step(repeat=3)
    compare(sim, 1e-5)


def test_a_chain_that_touches_itself():
    """Joints, with damping, and links that touch where no joint connects them."""
    m = Mechanism()
    m.add_ground(friction=0.4)
    for k in range(4):
        m.add_body(f"b{k}", mass=0.5, shapes=[Capsule(0.04, 0.2)], position=(0, 0, 1.0 - 0.3 * k), friction=0.4)
        if k:
            ends = {"parent_anchor": (0, 0, -0.15), "child_anchor": (0, 0, 0.15)}
            m.add_joint(f"j{k}", "revolute", f"b{k - 1}", f"b{k}", axis=(0, 1, 0), damping=0.01, **ends)
    sim = Simulator(m, dt=0.01, tolerance=1e-11, smoothing=1e-5)
    sim.set_joint_state([[1.4, 1.4, 1.4]], [[1.5, 1.5, 1.5]])
    while sim.distance("b0", "b3")[0] > 0.004:
        sim.step()
        assert sim.status.converged.all()
    found = differences_of_joints(sim)
    sim.step()
    assert sim.distance("b0", "b3")[0] < 0.002
    assert len(sim.contacts()) > 0
    whole = sim.gradients()
    np.testing.assert_allclose(whole.effort[0], found, rtol=0, atol=1e-5 * np.abs(found).max())
