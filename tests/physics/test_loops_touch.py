"""Closed loops whose bodies touch others: forces from equilibrium, and joints that stay closed."""

import numpy as np
import pytest

import vigym

pytestmark = pytest.mark.usefixtures("judged")
LENGTH, WIDTH, SIDE = 0.2, 0.1, 0.04


def tongs(**simulator) -> vigym.Simulator:
    """A cube on a shelf between two jaws, each guided by a parallelogram of two cranks: a loop for each."""
    m = vigym.Mechanism()
    m.add_collider("shelf", "world", vigym.Box(size=(0.03, 0.2, 0.02), position=(0, 0, -SIDE / 2 - 0.01)), friction=0.5)
    m.add_body("cube", mass=0.1, shapes=[vigym.Box(size=(SIDE,) * 3)], collide=True, friction=0.5)
    for side in (-1, 1):
        x = side * (SIDE / 2 + 0.01 + 1e-7)
        name = f"jaw{side}"
        jaw = vigym.Box(size=(0.02, WIDTH, SIDE))
        m.add_body(name, mass=0.2, shapes=[jaw], position=(x, 0, 0), collide=True, friction=0.5)
        for end in (-1, 1):
            crank, y = f"crank{side}{end}", end * WIDTH / 3
            bar = vigym.Capsule(radius=0.005, length=LENGTH)
            m.add_body(crank, mass=0.05, shapes=[bar], position=(x, y, LENGTH / 2), collide=False)
            down, up = (0, 0, -LENGTH / 2), (0, 0, LENGTH / 2)
            top = {"parent_anchor": (x, y, LENGTH), "child_anchor": up}
            m.add_joint(f"top {crank}", "revolute", "world", crank, axis=(0, 1, 0), **top)
            bottom = {"parent_anchor": (0, y, 0), "child_anchor": down}
            m.add_joint(f"bottom {crank}", "revolute", name, crank, axis=(0, 1, 0), **bottom)
    return vigym.Simulator(m, dt=0.002, **simulator)


def test_jaws_on_parallelograms_hold_a_cube():
    """Torques T on both cranks of a jaw press it with F = 2 T / LENGTH; what rests on the shelf is not pushed aside,
    and the two jaws carry the same force."""
    sim = tongs()
    assert sim.model.features.loops
    names = sim.model.axis_names
    effort = np.zeros((1, len(names)))
    torque = 0.05
    for k, name in enumerate(names):
        if name.startswith("top"):
            effort[0, k] = torque if "crank1" in name else -torque
    for _ in range(200):
        sim.step(effort=effort)
        assert sim.status.converged.all()
    x = sim.state.x[0].copy()
    sim.step(effort=effort, repeat=1000)
    assert sim.status.converged.all()
    assert np.abs(sim.state.x[0] - x).max() < 1e-9
    assert sim.joint_error().max() < 1e-9
    touching = sim.contacts()
    colliders = [c.name for c in sim.model.mechanism.colliders]
    by = {name: touching.force[[name in (colliders[a], colliders[b]) for a, b in touching.collider]].sum(0)
          for name in ("jaw-1", "jaw1")}  # fmt: skip
    for force in by.values():
        # cranks hang at 1e-7/LENGTH, by which 0.25 kg pull the jaw back
        assert abs(force[0]) == pytest.approx(2 * torque / LENGTH - 0.25 * 9.81 * 1e-7 / LENGTH, rel=1e-6)


def test_a_falling_frame_lies_on_the_ground():
    """Three bars in a triangle of hinges, a loop that floats, fall on their corners: they end flat, closed, and carry
    their weight. A fourth body lies inside and does not pass the bars."""
    m = vigym.Mechanism()
    m.add_ground(friction=0.6)
    corners = 0.5 * np.array([[np.cos(a), np.sin(a), 0] for a in 2 * np.pi * np.arange(3) / 3]) + [0, 0, 0.3]
    for k in range(3):
        start, end = corners[k], corners[(k + 1) % 3]
        along = (end - start) / np.linalg.norm(end - start)
        turn = np.append(1 + along[2], np.cross([0, 0, 1], along))
        length = np.linalg.norm(end - start) - 0.1
        m.add_body(f"bar{k}", mass=1.0, shapes=[vigym.Capsule(radius=0.03, length=length)], position=(start + end) / 2,
                   orientation=turn / np.linalg.norm(turn), collide=True, friction=0.6)  # fmt: skip
    half = np.linalg.norm(corners[1] - corners[0]) / 2
    for k in range(3):
        ends = {"parent_anchor": (0, 0, half), "child_anchor": (0, 0, -half)}
        m.add_joint(f"hinge{k}", "spherical", f"bar{k}", f"bar{(k + 1) % 3}", **ends)
    m.add_body("ball", mass=0.3, shapes=[vigym.Sphere(0.05)], position=(0, 0, 0.2), collide=True, friction=0.6)
    sim = vigym.Simulator(m, dt=0.005)
    sim.set_state(v=[[0, 0, 0]] * 3 + [[1.0, 0.2, 0]])
    for _ in range(800):
        sim.step()
        assert sim.status.converged.all()
        assert sim.joint_error().max() < 1e-9
        assert sim.distance("ball", "bar0")[0] > -1e-9
    assert np.abs(sim.state.x[0, :3, 2] - 0.03).max() < 1e-8
    assert np.linalg.norm(sim.state.x[0, 3, :2]) < 0.25  # still inside
    assert sim.contacts().force[sim.contacts().collider[:, 1] == 0].sum(0)[2] == pytest.approx(3.3 * 9.81, rel=1e-6)


def test_batch_is_bit_equal_to_single():
    batch, efforts = tongs(num_envs=5), np.zeros((5, 8))
    efforts[:] = np.linspace(-0.05, 0.05, 5)[:, None]
    batch.step(effort=efforts, repeat=60)
    for k in range(5):
        alone = tongs()
        alone.step(effort=efforts[k : k + 1], repeat=60)
        for one, all_of_them in zip(alone.state, batch.state, strict=True):
            assert np.array_equal(one[0], all_of_them[k])
