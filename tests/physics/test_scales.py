"""The same at every scale: units do not matter, and neither do mass, length and step.

A change of units multiplies lengths, masses and times by powers of two. All that the engine computes must then change
by powers of two as well, to the last bit: a single number with a unit in the solver would show. The one that there is,
1 m above which gaps are closed as for a body of 1 m, does not matter to bodies that are smaller.
"""

from itertools import product

import numpy as np
import pytest
from scenes import advance, check

from vigym import Mechanism, Simulator

GRAVITY = 9.8125  # of few bits, as everything here


def thrown(length: float, mass: float, time: float, cone: str, links: int) -> tuple[np.ndarray, list[int]]:
    """Positions in units of length, and iterations, of a cube with a chain of links that is thrown onto the floor."""
    side, m = 0.25 * length, Mechanism(gravity=(0, 0, -GRAVITY * length / time**2))
    m.add_body("cube", mass=mass, inertia=mass * side**2 / 8 * np.ones(3))
    for k, corner in enumerate(product((-0.5, 0.5), repeat=3)):
        m.add_contact(f"corner {k}", "cube", point=side * np.array(corner), friction=0.5, restitution=0.25)
    torque = mass * side**2 / time**2
    for k in range(links):
        m.add_body(f"link {k}", mass=mass / 4, inertia=mass * side**2 / 64 * np.ones(3))
        m.add_joint(
            f"hinge {k}",
            ["revolute", "spherical"][k % 2],
            f"link {k - 1}" if k else "cube",
            f"link {k}",
            axis=(0, 1, 0),
            parent_anchor=(side / 2, 0, 0),
            child_anchor=(-side / 2, 0, 0),
            stiffness=torque,
            damping=torque * time / 64,
            friction=torque / 64,
            kp=torque,
            effort_limit=torque / 4,
            **({"lower": -1.0, "upper": 1.0} if k % 2 == 0 else {}),
        )
        m.add_contact(f"end {k}", f"link {k}", point=(side / 2, 0, 0), radius=side / 16, friction=0.75)
    sim = Simulator(m, dt=0.0078125 * time, cone=cone)
    speed = length / time
    start = {"x": [0, 0, 1.5 * side], "v": [0.5 * speed, 0.25 * speed, -0.25 * speed], "w": [1.0 / time, 0, 0]}
    sim.set_joint_state(
        np.zeros((1, sim.model.n_axes)), **{name: [value] * len(m.bodies) for name, value in start.items()}
    )
    found = advance(sim, 80, lambda: [*(sim.state.x[0] / length).ravel(), sim.status.iterations[0]])
    return found[:, :-1], list(found[:, -1])


@pytest.mark.parametrize("links", [0, 2])
@pytest.mark.parametrize("cone", ["exact", "pyramid"])
def test_units_do_not_matter(cone, links):
    positions, iterations = thrown(1.0, 1.0, 1.0, cone, links)
    for powers in ((-20, 0, 0), (0, 40, 0), (0, -40, 0), (0, 0, -8), (-10, 13, 5), (-17, -21, -9)):
        others, work = thrown(*(2.0**power for power in powers), cone, links)
        np.testing.assert_array_equal(others, positions)
        assert work == iterations


LENGTHS, MASSES, STEPS = (1e-6, 1e-3, 1.0, 1e3), (1e-9, 1.0, 1e6), (1e-5, 1e-3, 0.01, 0.05)


@pytest.mark.parametrize("cone", ["exact", "pyramid"])
def test_what_sticks_stays(cone):
    """A cube on a slope of 0.3 rad with friction 0.5 creeps by 1e-11 of its size a step, and 4 units in the last place
    of its position, at most; and sinks in by 1e-9 of its size (of 1 m if it is larger)."""
    for side, mass, dt in product(LENGTHS, MASSES, STEPS):
        m = Mechanism(gravity=9.81 * np.array([np.sin(0.3), 0, -np.cos(0.3)]))
        m.add_body("cube", mass=mass, inertia=mass * side**2 / 6 * np.ones(3))
        for k, corner in enumerate(product((-0.5, 0.5), repeat=3)):
            m.add_contact(f"corner {k}", "cube", point=side * np.array(corner), friction=0.5)
        sim = Simulator(m, dt=dt, cone=cone)
        sim.set_state(x=[[0, 0, side / 2]])
        seen = advance(sim, 25, lambda sim=sim: [*sim.state.x[0, 0], sim.contact_gaps().min(), sim.status.relaxed[0]])
        steps = np.abs(np.diff(seen[5:, :3], axis=0)).max()
        assert steps <= 1e-11 * side + 4 * np.spacing(np.abs(seen[:, :3]).max()), (side, mass, dt)
        assert seen[:, 3].min() >= -1e-9 * min(side, 1.0)
        assert not seen[:, 4].any()


@pytest.mark.parametrize("mass", [1e-9, 1.0, 2e4, 1e6, 1e9])
@pytest.mark.parametrize("dt", [1e-5, 1e-3, 0.01])
def test_free_flight(mass, dt):
    """It falls, whatever it weighs: v = g t to the last digits."""
    m = Mechanism()
    m.add_body("body", mass=mass, inertia=mass * np.ones(3))
    sim = Simulator(m, dt=dt)
    sim.set_state(v=[[30.0, 9.0, 3.0]], w=[[0.1, 0.2, 0.3]])
    advance(sim, 100)
    np.testing.assert_allclose(sim.state.v[0, 0], [30.0, 9.0, 3.0 - 9.81 * 100 * dt], rtol=1e-9)


@pytest.mark.parametrize("mass", [1500.0, 2e4])
@pytest.mark.parametrize("far", [0.0, 1e7])
def test_a_car_rolls(mass, far):
    """Four wheels without resistance keep 30 m/s, far from the origin, too, where positions have 2 nm."""
    radius, m = 0.3, Mechanism()
    m.add_body("car", mass=mass, inertia=mass * np.array([0.3, 2.0, 2.0]))
    for k, (x, y) in enumerate(product((-1.3, 1.3), (-0.8, 0.8))):
        m.add_body(f"wheel {k}", mass=mass / 75, inertia=mass / 75 * radius**2 * np.array([0.25, 0.5, 0.25]))
        m.add_joint(f"axle {k}", "revolute", "car", f"wheel {k}", axis=(0, 1, 0), parent_anchor=(x, y, -0.3))
        m.add_contact(f"tyre {k}", f"wheel {k}", radius=radius, friction=0.8)
    for dt in (1e-4, 5e-4, 2e-3, 0.01):
        sim = Simulator(m, dt=dt)
        sim.set_joint_state([0.0] * 4, [30.0 / radius] * 4, v=[[30.0, 0, 0]] * 5, x=[[far, 0, 0.6]] * 5)
        for _ in range(100):
            sim.step()
            check(sim)
            assert not sim.status.relaxed.any()
        np.testing.assert_allclose(sim.state.v[0, 0, 0], 30.0, rtol=1e-8)


def test_weak_forces_act():
    """On a slider that carries 1 kg: what accumulates over many steps must not be lost in the tolerance of one."""
    m = Mechanism()
    m.add_body("slider", mass=1.0, inertia=np.ones(3) / 6)
    m.add_joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0))
    force = np.geomspace(1e-11, 1.0, 12)
    sim = Simulator(m, dt=0.01, num_envs=12)
    for _ in range(500):
        sim.step(force[:, None])
    np.testing.assert_allclose(sim.joint_velocities()[:, 0], 5.0 * force, rtol=1e-3)


@pytest.mark.parametrize("radius", [1e-2, 1e-3, 1e-4])
def test_thin_shafts_slow_down(radius):
    """In a bearing along its axis, with a damper of 1 s: the torque is 1e-5 to 1e-9 of weight times length."""
    mass = 7800 * np.pi * radius**2
    spin, across = mass * radius**2 / 2, mass * (radius**2 / 4 + 1 / 12)
    m = Mechanism()
    m.add_body("shaft", mass=mass, inertia=(across, across, spin))
    m.add_joint("bearing", "revolute", "world", "shaft", axis=(0, 0, 1), damping=spin)
    sim = Simulator(m, dt=0.01)
    sim.set_joint_state([0.0], [2.0])
    sim.step(repeat=100)
    np.testing.assert_allclose(sim.joint_velocities()[0, 0], 2.0 * 1.01**-100, rtol=1e-6)  # implicit


def test_heavy_and_light_bodies_in_one_mechanism():
    """Masses from a gram to a ton in one chain that falls flat on the floor: no step fails, and what lies there carries
    the weight."""
    rng = np.random.default_rng(5)
    for masses in ((1e-3, 1.0, 1e3), (1e3, 1.0, 1e-3), (1e3, 1e-3, 1e3)):
        m = Mechanism()
        for k, mass in enumerate(masses):
            m.add_body(f"link {k}", mass=mass, inertia=mass * np.array([0.01, 0.01, 0.002]))
            if k:
                ends = {"parent_anchor": (0.15, 0, 0), "child_anchor": (-0.15, 0, 0)}
                m.add_joint(f"hinge {k}", "revolute", f"link {k - 1}", f"link {k}", axis=(0, 1, 0), **ends)
            for foot, (x, y) in enumerate(product((-0.15, 0.15), (-0.05, 0.05))):
                m.add_contact(f"foot {k} {foot}", f"link {k}", (x, y, 0), radius=0.03, friction=0.6)
        sim = Simulator(m, dt=0.005, num_envs=8)
        sim.set_joint_state(np.zeros((8, 2)), 0.1 * rng.normal(size=(8, 2)), x=[[0, 0, 0.05]] * 3)
        advance(sim, 300)
        np.testing.assert_allclose(sim.contact_forces()[..., 2].sum(1), 9.81 * sum(masses), rtol=1e-5)
