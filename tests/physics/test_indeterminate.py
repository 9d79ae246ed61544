"""Forces that the equations leave open: joints carry a body, and a contact just touches.

Any force of the contact would do, with one of the joint against it. None must be invented: what is left is a small part
of the weight, whatever the step, the history and the stiffness around it, and friction holds nothing.
"""

from itertools import product

import numpy as np
import pytest
from scenes import GRAVITY, advance

from vigym import Mechanism, Simulator

CONES = pytest.mark.parametrize("cone", ["exact", "pyramid"])
LEFT = 0.02  # of the weight


def cart(gap: float, mass: float = 1.0, side: float = 0.1) -> Mechanism:
    """On a rail along x, its sole `gap` above the floor."""
    m = Mechanism()
    m.add_body("cart", mass=mass, inertia=mass * side**2 * np.ones(3))
    m.add_joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0), parent_anchor=(0, 0, side + gap))
    m.add_contact("sole", "cart", point=(0, 0, -side), friction=0.3)
    return m


@CONES
@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("dt", [0.01, 1e-3])
def test_a_cart_on_a_rail_is_free(cone, gap, dt):
    # F t^2 / 2 m, and half a step more: the velocity of a step is that of its end
    sim = Simulator(cart(gap), dt=dt, cone=cone)
    steps = round(0.5 / dt)
    forces = advance(sim, steps, lambda: sim.contact_forces()[0, 0, 2], effort=[[5.0]])
    assert forces.max() < LEFT * 9.81
    travel = 5.0 * dt**2 * steps * (steps + 1) / 2
    np.testing.assert_allclose(sim.state.x[0, 0, 0], travel, rtol=0.3 * LEFT * 9.81 / 5.0)


@CONES
@pytest.mark.parametrize(("mass", "side"), [(1e-6, 1e-3), (1e-3, 0.1), (1e3, 1.0), (1e6, 10.0)])
def test_of_any_size(cone, mass, side):
    sim = Simulator(cart(0.0, mass, side), dt=0.005, cone=cone)
    forces = advance(sim, 100, lambda: sim.contact_forces()[0, 0, 2], effort=[[0.5 * mass]])
    assert forces.max() < LEFT * 9.81 * mass
    np.testing.assert_allclose(sim.state.v[0, 0, 0], 0.5 * 0.5, rtol=0.1)


@CONES
@pytest.mark.parametrize("mass", [1e-6, 1e-3, 0.1, 1e3])
def test_of_any_mass_that_is_set_at_run_time(cone, mass):
    sim = Simulator(cart(0.0), dt=0.005, cone=cone)
    sim.set_parameters(mass=[mass], inertia=[mass * 0.01 * np.eye(3)])
    forces = advance(sim, 100, lambda: sim.contact_forces()[0, 0, 2], effort=[[0.5 * mass]])
    assert forces.max() < LEFT * 9.81 * mass
    np.testing.assert_allclose(sim.state.v[0, 0, 0], 0.5 * 0.5, rtol=0.1)


@CONES
@pytest.mark.parametrize("gap", [0.0, 1e-7])
def test_a_door_turns(cone, gap):
    m = Mechanism()
    m.add_body("door", mass=5.0, inertia=(0.5, 0.5, 0.5))
    hinge = {"axis": (0, 0, 1), "parent_anchor": (0, 0, 1.0 + gap), "child_anchor": (-0.4, 0, 0)}
    m.add_joint("hinge", "revolute", "world", "door", **hinge)
    m.add_contact("edge", "door", point=(0.4, 0, -1.0), friction=0.3)
    sim = Simulator(m, dt=0.01, cone=cone)
    forces = advance(sim, 100, lambda: sim.contact_forces()[0, 0, 2], effort=[[1.0]])
    assert forces.max() < LEFT * 5 * 9.81
    free = 1.0 / (0.5 + 5 * 0.16) * 0.01**2 * 100 * 101 / 2
    # friction of what is left, at 0.8 m from the hinge, against 1 N m
    np.testing.assert_allclose(sim.joint_positions()[0, 0], free, rtol=0.3 * LEFT * 5 * 9.81 * 0.8)


@CONES
@pytest.mark.parametrize("kd", [1e2, 1e4, 1e6])
def test_springs_and_stiff_drives_do_not_wake_forces(cone, kd):
    """A block on a rail is pulled along by a spring whose other end moves at 0.1 m/s."""
    m = Mechanism()
    for name in ("puller", "block"):
        m.add_body(name, mass=1.0, inertia=(0.01, 0.01, 0.01))
    drive = {"kd": kd, "target_velocity": 0.1, "parent_anchor": (0, 0, 0.1)}
    m.add_joint("drive", "prismatic", "world", "puller", axis=(1, 0, 0), **drive)
    m.add_joint("spring", "prismatic", "puller", "block", axis=(1, 0, 0), stiffness=40.0, damping=1.0)
    m.add_contact("sole", "block", point=(0, 0, -0.1), friction=0.3)
    sim = Simulator(m, dt=0.01, cone=cone)
    forces = advance(sim, 500, lambda: sim.contact_forces()[0, 0, 2])
    assert forces.max() < LEFT * 9.81
    np.testing.assert_allclose(sim.state.x[0, 1, 0], 0.5, atol=0.01)


@CONES
@pytest.mark.parametrize("dt", [0.01, 0.005, 0.001])
@pytest.mark.parametrize("clearance", [1e-8, 1e-7, 1e-6, 1e-5, 1e-4])
def test_a_block_falls_through_its_slot(cone, dt, clearance):
    """Two walls, each so far from the block: g t^2 / 2, and half a step more."""
    m = Mechanism()
    m.add_body("block", mass=1.0, inertia=np.ones(3) / 600)
    for k, (x, y, z) in enumerate(product((-1, 1), repeat=3)):
        wall = {"normal": (-x, 0, 0), "offset": -0.05 - clearance}
        m.add_contact(f"corner {k}", "block", point=(0.05 * x, 0.05 * y, 0.05 * z), friction=0.5, **wall)
    sim = Simulator(m, dt=dt, cone=cone)
    sim.set_state(x=[[0, 0, 1.0]])
    steps = round(0.3 / dt)
    relaxed = advance(sim, steps, lambda: sim.status.relaxed)
    assert not relaxed.any()
    # what the solver leaves of a product, 1e-12 of force and size, presses by that over the clearance on each wall
    fallen = 9.81 * dt**2 * steps * (steps + 1) / 2
    np.testing.assert_allclose(1.0 - sim.state.x[0, 0, 2], fallen, rtol=1e-6 + 1e-13 / clearance)


@CONES
@pytest.mark.parametrize("dt", [0.01, 0.0033, 0.001])
@pytest.mark.parametrize(("mass", "size"), [(1.0, 0.1), (2e-7, 0.01), (1e3, 1.0)])
def test_what_is_jammed_between_two_walls_swings_there(cone, dt, mass, size):
    """Friction holds it between two steep walls at two points, as hard as it likes: it turns about the line through
    both, no step is lost or relaxed, and the walls press as hard as the first blow at most."""
    dt, slope, m = dt * np.sqrt(size / 0.1), 1.305, Mechanism()
    m.add_body("body", mass=mass, inertia=mass * size**2 * np.array([0.05, 0.04, 0.03]))
    points = size * np.array([[-0.36, -0.45, 0.01], [0.15, -0.16, 0.33]])
    normals = np.array([[-np.sin(slope), 0, np.cos(slope)], [np.sin(slope), 0, np.cos(slope)]])
    turn = np.array([-0.25, 0.257, 0.248, -0.9])
    turn /= np.linalg.norm(turn)
    for name, point, friction, normal in zip("pq", points, (3.0, 1.0), normals, strict=True):
        m.add_contact(name, "body", point=point, friction=friction, normal=normal)
    sim = Simulator(m, dt=dt, cone=cone)
    gaps = sim.gaps_at([0], [[[0.0, 0, 0]]], [[turn]])[0]
    x = -np.linalg.lstsq(normals, gaps - 1e-9 * size, rcond=None)[0]
    speed = np.sqrt(size / 0.1)
    sim.set_state(x=[x], q=[turn], v=speed * np.array([[-0.008, -0.36, 0.12]]), w=[np.array([8.9, 5.1, 5.3]) / speed])
    seen = advance(sim, 300, lambda: [*sim.contact_forces()[0, :, 2], sim.status.relaxed[0]])
    assert not seen[:, -1].any()
    assert np.abs(seen[:, :2]).max() < 10 * mass * (GRAVITY + speed / dt)


def test_four_legs_share_their_load_alike():
    """Whatever came before: dropped, tilted or pushed."""
    m = Mechanism()
    m.add_body("table", mass=10.0, inertia=(0.9, 0.9, 1.7))
    for k, (x, y) in enumerate(product((-0.5, 0.5), repeat=2)):
        m.add_contact(f"leg {k}", "table", point=(x, y, -0.05), friction=0.5)
    sim = Simulator(m, dt=0.005, num_envs=4)
    tilt = np.array([[1.0, 0, 0, 0], [0.999, 0.04, 0, 0], [0.999, 0, 0.04, 0], [1.0, 0, 0, 0]])
    v = np.zeros((4, 1, 3))
    v[3, 0, 0] = 0.5
    sim.set_state(x=[[0, 0, 0.15]], q=(tilt / np.linalg.norm(tilt, axis=1, keepdims=True))[:, None], v=v)
    advance(sim, 600)
    np.testing.assert_allclose(sim.contact_forces()[..., 2], 10 * 9.81 / 4, rtol=1e-3)
