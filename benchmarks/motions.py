"""Motions with known solutions, simulated at a time step h; functions return relative errors unless they say otherwise.

Velocities of a state are means over the step that led to it, so most motions start from `v - a h/2`, the velocity half
a step before the start, with the acceleration a there. Velocities at the end are compared with those half a step before
it.
"""

import warnings
from collections.abc import Callable, Sequence
from math import cos, exp, pi, sin, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.assets import double_pendulum, pendulum
from vigym.engine.errors import MechanismWarning
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate, to_rotation_vector
from vigym.engine.shapes import Box, Sphere
from vigym.engine.simulator import Simulator

Array = NDArray[np.float64]
G = 9.81  # m/s^2
PHASES = 16  # starts of an impact problem, spread so that the ground is met at different moments of a step


def ode(rates: Callable[[float, Array], Any], start: Sequence[float] | Array, time: float) -> Array:
    """Solve y' = rates(t, y) to 12 digits; return y(time)."""
    from scipy.integrate import solve_ivp

    return solve_ivp(rates, (0.0, time), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def advance(sim: Simulator, seconds: float, **controls: Any) -> Simulator:
    """Step `sim` by a time that is a multiple of its dt."""
    sim.step(repeat=round(seconds / sim.dt), **controls)
    if not sim.status.converged.all():
        raise RuntimeError(f"a step of {sim.dt} s did not converge")
    return sim


# ---------------------------------------------------------------------------------------------- bodies in the air


def free_fall(h: float, early: float = 0.0) -> float:
    """Height lost by a body in 1 s, from rest: g t^2 / 2."""
    m = Mechanism()
    m.add_body("ball", 1.0, shapes=[Sphere(0.1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)  # it is meant to fall
        sim = Simulator(m, h)
    sim.set_state(v=[[0.0, 0.0, early * G * h]])
    fallen = -advance(sim, 1.0).state.x[0, 0, 2]
    return abs(fallen / (G / 2) - 1)


def free_fall_started_early(h: float) -> float:
    """The same, from v - a h/2, the velocity half a step before the start."""
    return free_fall(h, early=0.5)


def tumbling(h: float) -> float:
    """Angular velocity of a free body after 10 s, against Euler's equations."""
    inertia, start = np.array([1.0, 2.0, 2.5]), np.array([0.5, 2.0, 0.5])

    def rates(_: float, w: Array) -> Array:
        return np.cross(inertia * w, w) / inertia

    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("body", 1.0, inertia)
    sim = Simulator(m, h)
    sim.set_state(w=[start - h / 2 * rates(0.0, start)])
    w = advance(sim, 10.0).state.w[0, 0]
    return float(np.linalg.norm(w - ode(rates, start, 10.0 - h / 2)) / np.linalg.norm(start))


# ---------------------------------------------------------------------------------------------- joints


def hinge_pendulum(h: float) -> float:
    """Angle of a rod of 1 m after 17 s (9.7 swings of 1 rad), where it passes the lowest point."""
    inertia = 1 / 3 + 0.02**2 / 4  # about the hinge, of a cylinder with the radius of the asset

    def rates(_: float, y: Array) -> list[float]:
        return [y[1], -G / 2 / inertia * sin(y[0])]

    sim = Simulator(pendulum.build(height=0.0), h)
    sim.set_joint_state([1.0], [-h / 2 * rates(0.0, np.array([1.0, 0.0]))[1]])
    return abs(float(advance(sim, 17.0).joint_positions()[0, 0]) - ode(rates, [1.0, 0.0], 17.0)[0])


def double_pendulum_energy(h: float) -> float:
    """Swing of the energy of a double pendulum in 10 s, over the energy that it was lifted by."""
    sim = Simulator(double_pendulum.build(height=0.0), h)
    lowest = sim.energy()[0]
    sim.set_joint_state([0.8, -0.5])
    lifted = sim.energy()[0] - lowest
    energies = []
    for _ in range(round(10.0 / h)):
        sim.step()
        energies.append(sim.energy()[0])
    return float(np.ptp(energies) / lifted)


def driven_wheel(h: float) -> float:
    """Speed of a wheel after a torque of 10 N m for 1 s: J w = torque t."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("wheel", 1.0, (0.6, 0.6, 1.0))
    m.add_joint("axle", "revolute", "world", "wheel")
    sim = advance(Simulator(m, h), 1.0, effort=[[10.0]])
    return abs(float(sim.joint_velocities()[0, 0]) / 10.0 - 1)


def top_precession(h: float) -> float:
    """Angle by which the axis of a fast top goes round in 2 s, in steady precession: m g l t / (J spin).

    The top has equal moments about its tip, so that this holds exactly. It starts from its poses at -h and 0.
    """
    mass, arm, moment, spin, lean = 0.5, 0.02, 8e-4, 50.0, 0.5
    precession = mass * G * arm / (moment * spin)
    m = Mechanism()
    m.add_body("top", mass, (moment - mass * arm**2, moment - mass * arm**2, moment))
    m.add_joint("tip", "spherical", "world", "top", child_anchor=(0, 0, -arm))

    def pose(t: float) -> Array:
        turns = ((0, 0, precession * t), (0, lean, 0), (0, 0, spin * t))
        around, tilt, own = (from_rotation_vector(np.array(turn, float)) for turn in turns)
        return multiply(multiply(around, tilt), own)

    before, now = pose(-h), pose(0.0)
    x0, x1 = (rotate(q, np.array([0.0, 0.0, arm])) for q in (before, now))
    w = to_rotation_vector(multiply(conjugate(before), now)) / h
    sim = Simulator(m, h)
    sim.set_state(x=[x1], q=[now], v=[(x1 - x0) / h], w=[w])
    x = advance(sim, 2.0).state.x[0, 0]
    behind = np.exp(-1j * precession * 2.0) * (x[0] + 1j * x[1])
    return abs(float(np.angle(behind))) / (precession * 2.0)


# ---------------------------------------------------------------------------------------------- springs and drives


def slider(**laws: float) -> Mechanism:
    """1 kg on a line, with these laws on its joint."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("mass", 1.0, shapes=[Sphere(0.1)])
    m.add_joint("line", "prismatic", "world", "mass", **laws)
    return m


def released_spring(h: float, damping: float = 0.0) -> Simulator:
    """A spring of 1 Hz, let go 1 m from its rest half a step before the first one."""
    w = 2 * pi
    sim = Simulator(slider(stiffness=w**2, damping=damping), h)
    sim.set_joint_state([1.0], [h / 2 * w**2])
    return sim


def spring_phase(h: float) -> float:
    """Position of an undamped spring after 10.24 periods: cos(w t)."""
    position = advance(released_spring(h), 10.24).joint_positions()[0, 0]
    return abs(float(position) - cos(2 * pi * 10.24))


def spring_energy(h: float) -> float:
    """Energy of an undamped spring after 10 periods."""
    sim = released_spring(h)
    start = sim.energy()[0]
    return abs(float(advance(sim, 10.0).energy()[0] / start - 1))


def damped_spring(h: float) -> float:
    """Position of a spring with a tenth of critical damping after 1.24 periods."""
    w, decay = 2 * pi, 0.1 * 2 * pi
    ringing = sqrt(w**2 - decay**2)
    t = 1.24
    exact = exp(-decay * t) * (cos(ringing * t) + decay / ringing * sin(ringing * t))
    position = advance(released_spring(h, damping=2 * decay), t).joint_positions()[0, 0]
    return abs(float(position) - exact)


def dry_spring(h: float) -> float:
    """Position of a spring with a dry friction of 1 N in its third half swing.

    Half swings are about rest + s and rest - s in turn, s = friction / stiffness, and each is shorter than the one
    before by 2 s.
    """
    w, t = 2 * pi, 1.24
    s = 1.0 / w**2
    sim = Simulator(slider(stiffness=w**2, friction=1.0), h)
    sim.set_joint_state([1.0], [h / 2 * (w**2 - 1.0)])
    position = advance(sim, t).joint_positions()[0, 0]
    return abs(float(position) - s - (1 - 5 * s) * cos(w * (t - 1)))


def drive_response(h: float) -> float:
    """Largest error within 1 s of a PD drive (10 rad/s, 0.7 of critical damping) whose target jumps by 1 m."""
    w, decay = 10.0, 7.0
    ringing = sqrt(w**2 - decay**2)
    sim = Simulator(slider(kp=w**2, kd=2 * decay, target=1.0), h)
    steps = round(1.0 / h)
    position = sim.rollout(steps=steps, read=["joint_positions"])["joint_positions"][:, 0, 0]
    t = h * np.arange(1, steps + 1)
    exact = 1 - np.exp(-decay * t) * (np.cos(ringing * t) + decay / ringing * np.sin(ringing * t))
    return float(np.abs(position - exact).max())


# ---------------------------------------------------------------------------------------------- contact

HEIGHT, RESTITUTION = 0.5, 0.8


def dropped(h: float, seconds: float, **contact: float) -> tuple[Array, Array, Array]:
    """Drop balls of 1 kg from 0.5 m and a little more; return heights (PHASES,), then z and v, (steps, PHASES).

    What a ball falls in one step when it meets the ground is divided among the heights.
    """
    m = Mechanism()
    m.add_body("ball", 1.0, shapes=[Sphere(0.1)])
    m.add_contact("skin", "ball", radius=0.1, friction=0.0, **contact)
    heights = HEIGHT + h * sqrt(2 * G * HEIGHT) * np.arange(PHASES) / PHASES
    x, v = np.zeros((2, PHASES, 1, 3))
    x[:, 0, 2], v[:, 0, 2] = 0.1 + heights, G * h / 2
    sim = Simulator(m, h, num_envs=PHASES)
    sim.set_state(x=x, v=v)
    seen = sim.rollout(steps=round(seconds / h), read=["x", "v"])
    return heights, seen["x"][:, :, 0, 2] - 0.1, seen["v"][:, :, 0, 2]


def rebound(h: float, **contact: float) -> Array:
    """Height of each ball's rebound over that of its fall, from its energy in the first step off the ground."""
    heights, z, v = dropped(h, 1.0, **contact)
    flies = (v > 0) & (z > 0)
    flies[0] = False  # the first step ends above its start
    first = flies.argmax(0), np.arange(PHASES)
    z, v = z[first], v[first]
    return np.where(flies.any(0), (z - h * v / 2 + v**2 / (2 * G)) / heights, 0.0)


def root_mean_square(errors: Array) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def hard_bounce(h: float) -> float:
    """Height of the rebound of a hard ball, e^2 of that of the fall."""
    return root_mean_square(rebound(h, restitution=RESTITUTION) / RESTITUTION**2 - 1)


def hard_bounce_later(h: float) -> float:
    """Height of the same ball 0.5 s after it was dropped, over that of its fall."""
    heights, z, _ = dropped(h, 0.5, restitution=RESTITUTION)
    falling = np.sqrt(2 * heights / G)
    t = 0.5 - falling
    return root_mean_square((z[-1] - RESTITUTION * G * falling * t + G * t**2 / 2) / heights)


def soft_bounce(h: float) -> float:
    """Height of the rebound of a ball on an undamped spring of 100 N/m, that of its fall."""
    return root_mean_square(rebound(h, compliance=1e-2) - 1)


def sliding_block(h: float, early: float = 0.5) -> float:
    """Stopping distance of blocks that start at about 2 m/s: v^2 / (2 cf g)."""
    cf, half = 0.5, np.array([0.15, 0.1, 0.02])
    m = Mechanism()
    m.add_body("block", 1.0, shapes=[Box(tuple(2 * half))])
    for k, signs in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        m.add_contact(f"corner {k}", "block", half * (*signs, -1), friction=cf)
    speeds = 2.0 + cf * G * h * np.arange(PHASES) / PHASES  # they stop at different moments of a step
    x, v = np.zeros((2, PHASES, 1, 3))
    x[:, 0, 2], v[:, 0, 0] = half[2], speeds + early * cf * G * h
    sim = Simulator(m, h, num_envs=PHASES)
    sim.set_state(x=x, v=v)
    distance = advance(sim, 0.6).state.x[:, 0, 0]
    return root_mean_square(distance / (speeds**2 / (2 * cf * G)) - 1)


def sliding_block_now(h: float) -> float:
    """The same, from the velocity at the start."""
    return sliding_block(h, early=0.0)


def rolling_sphere(h: float) -> float:
    """Way of a sphere that rolls down a slope of 0.3 rad for 1 s: (5/7) g sin(0.3) t^2 / 2."""
    slope, radius = 0.3, 0.1
    m = Mechanism(gravity=(G * sin(slope), 0, -G * cos(slope)))
    m.add_body("sphere", 1.0, shapes=[Sphere(radius)])
    m.add_contact("skin", "sphere", radius=radius, friction=0.5)
    a = 5 / 7 * G * sin(slope)
    sim = Simulator(m, h)
    sim.set_state(x=[[0, 0, radius]], v=[[-a * h / 2, 0, 0]], w=[[0, -a * h / 2 / radius, 0]])
    return abs(float(advance(sim, 1.0).state.x[0, 0, 0]) / (a / 2) - 1)


TILT = 0.3  # rad, of the rod at its start


def rod_angle(h: float, size: float = 1.0, tolerance: float = 1e-8) -> float:
    """Angle of a rod of 1 m that falls over about its tip, which sticks, after 0.5 s.

    A rod of another size has the same density, and both h and the time go with the root of the size.
    """
    mass, unit = 1e3 * size**3, sqrt(size)
    m = Mechanism()
    m.add_body("rod", mass, mass * size**2 * np.array([1 / 12, 1 / 12, 1e-4]))
    m.add_contact("tip", "rod", (0, 0, -size / 2), friction=10.0)
    rate = -h / 2 * 1.5 * G * sin(TILT) / unit
    centre = size / 2 * np.array([sin(TILT), 0.0, cos(TILT)])
    sim = Simulator(m, h * unit, tolerance=tolerance)
    sim.set_state(
        x=[centre],
        q=[from_rotation_vector(np.array([0.0, TILT, 0.0]))],
        v=[np.cross([0.0, rate, 0.0], centre)],
        w=[[0.0, rate, 0.0]],
    )
    q = advance(sim, 0.5 * unit).state.q[0, 0]
    return 2 * float(np.arctan2(q[2], q[0]))


def falling_rod(h: float) -> float:
    """Angle of the rod, against a'' = (3/2) (g / length) sin(a)."""
    exact = ode(lambda _, y: [y[1], 1.5 * G * sin(y[0])], [TILT, 0.0], 0.5)[0]
    return abs(rod_angle(h) / float(exact) - 1)
