"""A heavy top that spins on its tip and goes round: no contact, no dissipation, all of it gyroscopic."""

import numpy as np

from vigym.benchmarks.scenes.scene import Scene, at_rest
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, from_rotation_vector, rotate

MASS, ARM = 0.5, 0.08  # kg, m from the tip to the centre of mass
ACROSS, ALONG = 6e-4, 8e-4  # kg m^2, about the centre of mass
SPIN = 120.0  # rad/s, about its axis, relative to what goes round
LEAN = 0.5  # rad


def top(dt: float = 0.002, seconds: float = 2.0, spin: float = SPIN) -> Scene:
    """A top (0.5 kg, flat) on a ball joint, leaning by 0.5 rad, spinning at 120 rad/s, in steady precession."""
    m = Mechanism()
    m.add_body("top", MASS, (ACROSS, ACROSS, ALONG))
    m.add_joint("tip", "spherical", "world", "top", child_anchor=(0, 0, -ARM))
    turn = np.array([0.0, LEAN, 0.0])
    start = at_rest(m, turn)
    q = from_rotation_vector(turn)
    around = np.array([0.0, 0.0, precession(spin)])
    omega = rotate(q, np.array([0.0, 0.0, spin])) + around  # world; spin is relative to what goes round
    start.w[0] = rotate(conjugate(q), omega)
    start.v[0] = np.cross(omega, start.x[0])
    return Scene("top", m, start, dt, round(seconds / dt), conserves=True)


def precession(spin: float) -> float:
    """Return how fast its axis goes round, rad/s: the slow root W of

    (J - I) cos(LEAN) W^2 + J spin W - m g l = 0,   J along the axis, I across it about the tip
    """
    a = (ALONG - ACROSS - MASS * ARM**2) * np.cos(LEAN)
    b, c = ALONG * spin, -MASS * 9.81 * ARM
    return float(2 * -c / (b + np.sqrt(b * b - 4 * a * c)))
