"""Closed kinematic loops: closed forms, rigid frames, and a cost that grows with the number of loops."""

import numpy as np
import pytest
import scenes

from vigym import Mechanism, Simulator
from vigym.benchmarks.scenes import build
from vigym.benchmarks.scenes.loops import lift
from vigym.engine.model import Model
from vigym.engine.rotation import from_rotation_vector

HINGE = {"kind": "revolute", "axis": (0, 1, 0)}
MASS, LENGTH = 1.0, 1.0
INERTIA = (0.01, MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 12)
LEFT, RIGHT = (-LENGTH / 2, 0, 0), (LENGTH / 2, 0, 0)


def four_bars(count: int) -> Mechanism:
    """`count` parallelograms side by side on the ground at z = 0, each of two legs and a bar on top."""
    m = Mechanism()
    for k in range(count):
        for name in ("left", "top", "right"):
            m.add_body(f"{name} {k}", mass=MASS, inertia=INERTIA)
        for name, start in (("left", 0.0), ("right", LENGTH)):
            foot = (3 * LENGTH * k + start, 0, 0)
            m.add_joint(
                f"{name} foot {k}", parent="world", child=f"{name} {k}", parent_anchor=foot, child_anchor=LEFT, **HINGE
            )
            corner = LEFT if name == "left" else RIGHT
            m.add_joint(
                f"{name} knee {k}",
                parent=f"{name} {k}",
                child=f"top {k}",
                parent_anchor=RIGHT,
                child_anchor=corner,
                **HINGE,
            )
    return m


def lean(m: Mechanism, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Poses of all four-bars with their legs turned by `angle` about y from the x axis."""
    x, q = [], []
    leg = LENGTH * np.array([np.cos(angle), 0, -np.sin(angle)])
    turn = from_rotation_vector(np.array([0, angle, 0]))
    for k in range(len(m.bodies) // 3):
        foot = np.array([3 * LENGTH * k, 0, 0])
        across = np.array([LENGTH, 0, 0])
        x += [foot + leg / 2, foot + leg + across / 2, foot + across + leg / 2]
        q += [turn, np.array([1.0, 0, 0, 0]), turn]
    return np.array(x), np.array(q)


def test_hanging_parallelogram_swings_like_its_pendulum():
    # One degree of freedom. Legs turn about their ends, the top moves on a circle without turning:
    # (2 (J + m l^2/4) + m l^2) a'' = -(2 m l/2 + m l) g sin a   ->   w^2 = 2 m l g / (2 J + 3/2 m l^2)
    m, h = four_bars(1), 0.002
    x, q = lean(m, np.pi / 2 + 0.02)  # hanging straight down is a leg along -z
    sim = Simulator(m, dt=h)
    sim.set_state(x=x, q=q)
    rate = np.sqrt(2 * MASS * LENGTH * scenes.GRAVITY / (2 * INERTIA[1] + 1.5 * MASS * LENGTH**2))
    sway = []
    for _ in range(round(3 * 2 * np.pi / rate / h)):
        scenes.advance(sim, 1)
        sway.append(sim.state.x[0, 1, 0] - LENGTH / 2)
    sway = np.array(sway)
    k = np.flatnonzero((sway[1:] > 0) & (sway[:-1] <= 0))  # crossings, interpolated
    times = h * (k + 1 - sway[k + 1] / (sway[k + 1] - sway[k]))
    # amplitude a0 = 0.02 adds a0^2/16, the integrator (w h)^2/24: both below 3e-5
    assert np.diff(times) == pytest.approx(2 * np.pi / rate, rel=2e-4)
    assert sim.joint_error().max() < 1e-10


def test_many_four_bars_move_like_one():
    m = four_bars(5)
    x, q = lean(m, 1.0)
    sim = Simulator(m, dt=0.005)
    sim.set_state(x=x, q=q)
    scenes.advance(sim, 200)
    tops = sim.state.x[0, 1::3] - 3 * LENGTH * np.arange(5)[:, None] * [1, 0, 0]
    np.testing.assert_allclose(tops, np.broadcast_to(tops[0], tops.shape), atol=1e-9)
    assert np.abs(tops[0] - x[1]).max() > 0.05  # it did move


def test_scissor_lift_stays_together_and_keeps_its_energy():
    m, start = lift(4, driven=False), build("loops", cells=4).start
    sim = Simulator(m, dt=0.002)
    sim.set_state(x=start.x, q=start.q)
    before = sim.energy()[0]
    energies = []
    for _ in range(50):
        scenes.advance(sim, 10)
        energies.append(sim.energy()[0])
    assert sim.joint_error().max() < 1e-9
    # first order: the error is about h times the power at which weight and motion exchange energy (8 bars, few m/s)
    assert np.abs(np.array(energies) - before).max() < 0.002 * 8 * MASS * scenes.GRAVITY * 10
    assert np.abs(sim.state.x[0] - start.x).max() > 0.3


def test_fill_in_of_a_scissor_lift_grows_linearly():
    sizes = [Model(lift(cells)).sizes for cells in (10, 20, 40)]
    for name in ("n_pieces", "n_couplings", "coupling_entries"):
        a, b, c = (getattr(size, name) for size in sizes)
        assert c - b == 2 * (b - a) > 0


def test_rigid_frame_carries_its_load():
    """A triangle of bars on two supports is statically indeterminate out of its plane, and must not move."""
    m = Mechanism()
    for name in ("left", "right"):
        m.add_body(name, mass=MASS, inertia=INERTIA)
    m.add_joint("a", parent="world", child="left", child_anchor=LEFT, **HINGE)
    m.add_joint("b", parent="world", child="right", parent_anchor=(LENGTH, 0, 0), child_anchor=LEFT, **HINGE)
    m.add_joint("top", parent="left", child="right", parent_anchor=RIGHT, child_anchor=RIGHT, **HINGE)
    sim = Simulator(m, dt=0.01)
    angle = np.pi / 3
    legs = [LENGTH / 2 * np.array([c, 0, np.sin(angle)]) for c in (np.cos(angle), -np.cos(angle))]
    q = [from_rotation_vector(np.array([0, -a, 0])) for a in (angle, np.pi - angle)]
    x = np.array([legs[0], np.array([LENGTH, 0, 0]) + legs[1]])
    sim.set_state(x=x, q=np.array(q))
    scenes.advance(sim, 200)
    np.testing.assert_allclose(sim.state.x[0], x, atol=1e-9)


@pytest.mark.parametrize("bend", [0.3, 0.8])
def test_universal_joint_between_shafts_in_bearings(bend):
    # Hooke: the yoke of "in", a1 = (0, -sin in, cos in), stays perpendicular to that of "out", which is the y axis
    # turned about x by `out` and then about y by `bend`: a2 = (sin bend sin out, cos out, cos bend sin out).
    # a1 . a2 = 0 gives tan(in) = cos(bend) tan(out).
    m = Mechanism(gravity=(0, 0, 0))
    tilt = np.array([np.cos(bend), 0, -np.sin(bend)])
    m.add_body("in", mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_body("out", mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_joint("bearing in", "revolute", "world", "in", axis=(1, 0, 0), child_anchor=(0.2, 0, 0))
    turn = from_rotation_vector(np.array([0, bend, 0]))
    # the frame of "out" has its shaft along x
    m.add_joint(
        "yoke",
        "universal",
        "in",
        "out",
        axis=(0, 0, 1),
        axis2=(0, 1, 0),
        orientation=(1, 0, 0, 0),
        parent_anchor=(0.2, 0, 0),
        child_anchor=(-0.2, 0, 0),
    )
    m.add_joint("bearing out", "revolute", "world", "out", axis=(1, 0, 0), orientation=turn, child_anchor=(-0.2, 0, 0))
    sim = Simulator(m, dt=0.001)
    sim.set_state(x=[[-0.2, 0, 0], 0.2 * tilt], q=[[1, 0, 0, 0], turn], w=[[2.0, 0, 0], [2.0 / np.cos(bend), 0, 0]])
    angles = []
    for _ in range(300):
        scenes.advance(sim, 10)
        angles.append(sim.joint_positions()[0, [0, 3]])
    first, second = np.array(angles).T
    assert first[-1] > 4.0  # more than half a turn
    cross = np.sin(first) * np.cos(second) - np.cos(bend) * np.sin(second) * np.cos(first)
    np.testing.assert_allclose(cross, 0.0, atol=1e-9)
