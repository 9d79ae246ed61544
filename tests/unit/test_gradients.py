"""sim.gradients() against central differences of whole steps."""

import numpy as np
import pytest
import scenes
from scenes import change

from vigym import InputError, Mechanism, Simulator
from vigym.assets import unitree_a1
from vigym.engine import coordinates, gradients
from vigym.engine.rotation import from_rotation_vector, multiply
from vigym.engine.state import State

EPS = 1e-5


def differences(sim: Simulator, effort: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same derivatives by stepping from states on both sides."""
    saved, start = sim.save(), sim.state

    def after(part: int, body: int, axis: int, amount: float) -> State:
        sim.restore(saved)
        x, q, v, w = (value.copy() for value in start)
        if part == 1:
            q[:, body] = multiply(q[:, body], from_rotation_vector(amount * np.eye(3)[axis]))
        else:
            (x, q, v, w)[part][:, body, axis] += amount
        for name, value in zip("xqvw", (x, q, v, w), strict=True):  # beside set_state: joints may be open by EPS
            sim._lanes.set(name, value)
        # what springs, dampers and drives remember of the step before is a function of that state
        turned = sim.joint_positions() - coordinates.positions(sim.model, *start[:2])  # full turns
        sim._lanes.set("angle", (coordinates.positions(sim.model, x, q) + turned)[..., None])
        sim._lanes.set("rate", coordinates.velocities(sim.model, x, q, v, w, sim._get("h0"))[..., None])
        sim.step(effort)
        return sim.state

    def after_effort(axis: int, amount: float) -> State:
        sim.restore(saved)
        sim.step(effort + amount * np.eye(sim.model.n_axes)[axis])
        return sim.state

    n = sim.model.n_bodies
    columns = [
        change(after(part, body, axis, EPS), after(part, body, axis, -EPS)) / (2 * EPS)
        for body in range(n)
        for part in range(4)
        for axis in range(3)
    ]
    efforts = [change(after_effort(a, EPS), after_effort(a, -EPS)) / (2 * EPS) for a in range(sim.model.n_axes)]
    sim.restore(saved)
    empty = np.zeros((sim.num_envs, 12 * n, 0))
    return np.stack(columns, -1), np.stack(efforts, -1) if efforts else empty


def compare(sim: Simulator, effort: np.ndarray, tolerance: float) -> None:
    state, efforts = differences(sim, effort)
    sim.step(effort)
    gradients = sim.gradients()
    scale = np.abs(state).max()
    np.testing.assert_allclose(gradients.state, state, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(
        gradients.effort, efforts, rtol=0, atol=tolerance * max(1.0, np.abs(efforts).max(initial=0))
    )


def test_joints_that_pull_too_hard_for_the_step():
    """With even arms (arms.py): three links of 1 kg above a load of 300 kg."""
    m = Mechanism()
    for k, kind in enumerate(["spherical", "revolute", "universal", "spherical"]):
        mass = 300.0 if k == 3 else 1.0
        m.add_body(f"link {k}", mass=mass, inertia=mass * 1e-3 * np.ones(3))
        parent, anchor = (f"link {k - 1}", (0, 0, -0.05)) if k else ("world", (0, 0, 0))
        m.add_joint(f"joint {k}", kind, parent, f"link {k}", parent_anchor=anchor, child_anchor=(0, 0, 0.05))
    sim = Simulator(m, num_envs=2, tolerance=1e-10)
    rng = np.random.default_rng(0)
    sim.set_joint_state(0.05 * rng.normal(size=(2, 9)), 0.2 * rng.normal(size=(2, 9)))
    sim.step(repeat=3)
    compare(sim, 0.1 * rng.normal(size=(2, 9)), 1e-5)
    assert (sim._get("even") == 0.5).all()


def test_chain_of_different_joints_in_the_air():
    # smooth: central differences are good to EPS^2 times third derivatives, which carry 1/h^2 = 1e4
    sim = Simulator(
        scenes.chain(4, ["revolute", "spherical", "prismatic", "universal"], free=True), num_envs=2, tolerance=1e-10
    )
    rng = np.random.default_rng(0)
    shape = (2, sim.model.n_axes)
    sim.set_joint_state(0.5 * rng.normal(size=shape), rng.normal(size=shape))
    sim.step(rng.normal(size=shape))
    compare(sim, rng.normal(size=shape), 1e-6)


def laws(kind: str, n_free: int) -> dict[str, float]:
    return {"kp": 5.0, "kd": 0.5, "target": 0.4, "stiffness": 20.0, "rest": 0.3, "damping": 0.2}


@pytest.mark.parametrize("far", [False, True], ids=["near", "half a turn"])
def test_chain_with_springs_dampers_and_drives(far):
    # springs depend on the velocity that led here (axis.py), three free rotations on both poses (ball.py)
    kinds = ["revolute", "spherical", "prismatic", "ball-slide", "universal"]
    sim = Simulator(scenes.chain(5, kinds, free=True, options=laws), num_envs=2, tolerance=1e-10)
    rng = np.random.default_rng(0)
    shape = (2, sim.model.n_axes)
    start = 0.5 * rng.normal(size=shape)
    if far:  # the vectors of both balls close to half a turn; one of them passes it
        for axes in sim.model.joint_table.ball_axes:
            start[:, axes.rows] *= 3.135 / np.linalg.norm(start[:, axes.rows], axis=-1, keepdims=True)
    sim.set_joint_state(start, 2.0 * rng.normal(size=shape))
    sim.step(rng.normal(size=shape))
    compare(sim, rng.normal(size=shape), 1e-6)


@pytest.mark.parametrize("cone", ["exact", "pyramid"])
@pytest.mark.parametrize("speed", [0.0, 1.0], ids=["at rest", "sliding"])
def test_box_on_the_floor(speed, cone):
    # away from a change of contact the step is smooth; pairs stop at products of 1e-10, which blurs the edges
    sim = Simulator(scenes.box(friction=0.5), tolerance=1e-10, cone=cone)
    sim.set_state(v=[[speed, 0.3 * speed, 0.0]])
    for _ in range(5):
        sim.step()
    saved = sim.save()
    sim.step()
    gradients, moved = sim.gradients().state[0], sim.state.v[0, 0, :2]
    sim.restore(saved)
    # d(next)/d(v): stuck, the box forgets its velocity. Sliding, v1 = v0 - cf g h v1 / |v1|: it keeps what is along the
    # direction of sliding, and of what is across the part 1 / (1 + cf g h / |v1|); a pyramid's friction does not turn.
    expected = np.zeros((2, 2)) if speed == 0 else np.eye(2)
    if speed and cone == "exact":
        u = moved / np.linalg.norm(moved)
        expected = np.outer(u, u) + (np.eye(2) - np.outer(u, u)) / (1 + 0.5 * 9.81 * sim.dt / np.linalg.norm(moved))
    np.testing.assert_allclose(gradients[6:8, 6:8], expected, atol=1e-3)
    # the floor takes whatever moves into it
    np.testing.assert_allclose(gradients[8, 6:9], 0.0, atol=1e-3)


def test_falling_box_and_no_gradients_without_a_step():
    sim = Simulator(scenes.box(), tolerance=1e-10)
    with pytest.raises(InputError, match="no gradients"):
        sim.gradients()
    sim.set_state(x=[[0, 0, 2.0]], v=[[1.0, 2.0, 0.0]], w=[[3.0, 1.0, -2.0]])
    sim.step()
    compare(sim, np.zeros((1, 0)), 1e-6)


def test_driven_robot_on_its_feet():
    sim = Simulator(unitree_a1.build(), dt=0.005, tolerance=1e-10)
    sim.set_joint_state(unitree_a1.STANDING)
    for k in range(60):
        sim.step(target=unitree_a1.STANDING + 0.05 * np.sin(0.1 * k))
    # pushing along an axis moves its own joint, and the effect of an effort is positive
    sim.step(target=unitree_a1.STANDING)
    effort = sim.gradients().effort[0]
    assert effort.shape == (12 * 13, 12)
    assert np.isfinite(effort).all()
    before = sim.save()
    for axis in range(12):
        moved = []
        for sign in (1, -1):
            sim.restore(before)
            sim.step(sign * 1e-4 * np.eye(12)[axis], target=unitree_a1.STANDING)
            moved.append(sim.state.v[0].ravel())
        # feet may stick or slide within the difference: compare in size only
        sim.restore(before)
        sim.step(target=unitree_a1.STANDING)
        exact = sim.gradients().effort[0].reshape(13, 12, 12)[:, 6:9, axis].ravel()
        difference = (moved[0] - moved[1]) / 2e-4
        np.testing.assert_allclose(exact, difference, atol=0.05 * np.abs(difference).max() + 1e-4)


def test_many_environments_are_taken_in_parts(monkeypatch):
    sim = Simulator(scenes.chain(2, "revolute"), num_envs=7)
    rng = np.random.default_rng(4)
    sim.set_joint_state(rng.normal(size=(7, 2)), rng.normal(size=(7, 2)))
    sim.step(effort=rng.normal(size=(7, 2)))
    envs = np.arange(7)
    whole = gradients.gradients(sim, ["state", "effort"], envs)
    monkeypatch.setattr(gradients, "MOST_LANES", 60)  # two environments at a time, the last one alone
    parts = gradients.gradients(sim, ["state", "effort"], envs)
    for name in ("state", "effort"):
        np.testing.assert_allclose(parts[name], whole[name], rtol=1e-12, atol=1e-12)
        assert np.abs(parts[name]).max() > 0


def test_an_effort_beyond_its_limit_has_no_effect():
    sim = Simulator(scenes.chain(2, "revolute", options=lambda kind, n: {"effort_limit": 1.0}))
    sim.step(effort=[[3.0, 0.5]])
    effort = sim.gradients().effort[0]
    assert not effort[:, 0].any()
    assert effort[:, 1].any()


def test_gradients_are_a_mapping():
    box = Mechanism()
    box.add_body("box", mass=1.0, inertia=np.eye(3))
    sim = Simulator(box, dt=0.01)
    sim.step()
    found = sim.gradients("mass")
    assert list(found) == found.keys() == ["state", "effort", "mass"]
    assert dict(found)["mass"] is found["mass"]
    with pytest.raises(InputError, match="'friction' were not asked for"):
        found["friction"]
