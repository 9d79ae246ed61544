"""What one looks at from outside: energy, momentum, gaps. Arrays lead with the environment, (N, ...)."""

import numpy as np

from vigym.engine import motion
from vigym.engine.model import Model
from vigym.engine.rotation import Array, conjugate, cross, rotate


def energy(
    model: Model, x: Array, v: Array, w: Array, mass: Array, inertia: Array, coordinates: Array, gains: Array
) -> Array:
    """Kinetic energy, potential energy of gravity (zero at the origin) and of joint springs, J (N,)."""
    kinetic = 0.5 * (mass * (v * v).sum(-1)).sum(-1) + 0.5 * np.einsum("nbi,nbij,nbj->n", w, inertia, w)
    height = -np.einsum("nb,nbi,i->n", mass, x, model.mechanism.gravity)
    stiffness, rest = gains[..., 0], gains[..., 1]
    springs = 0.5 * (stiffness * (coordinates - rest) ** 2).sum(-1)
    return kinetic + height + springs


def contact_energy(gap: Array, compliance: Array) -> Array:
    """Of the springs in contacts that gave way, J (N,)."""
    return 0.5 * np.divide(np.minimum(gap, 0.0) ** 2, compliance, out=np.zeros_like(gap), where=compliance > 0).sum(-1)


def momentum(x: Array, q: Array, v: Array, w: Array, mass: Array, inertia: Array, led: Array) -> Array:
    """Linear momentum, and angular momentum about the world's origin, (N, 6) in N s and N m s.

    The angular part is the one that the integrator conserves (DESIGN: dynamics), for a step of length led (N,).
    """
    linear = mass[..., None] * v
    Jw = np.einsum("nbij,nbj->nbi", inertia, w)
    s = np.sqrt(4.0 / led[:, None, None] ** 2 - (w * w).sum(-1, keepdims=True))
    spin = rotate(q, 0.5 * led[:, None, None] * (s * Jw - cross(w, Jw)))
    angular = cross(x, linear) + spin
    return np.concatenate([linear.sum(1), angular.sum(1)], -1)


def gaps(model: Model, x: Array, q: Array, offset: Array) -> Array:
    """Distance of every contact from its plane, which lies at `offset`, m (N, n_contacts)."""
    out = np.empty((len(x), model.n_contacts))
    motion.gaps(*model.contact_table, offset, x, q, out)
    return out


def contact_velocities(model: Model, q0: Array, v: Array, w: Array) -> Array:
    """v + om x (R0 p - radius n) of every contact, m/s, world (N, n_contacts, 3), with the arm before the step."""
    table = model.contact_table
    q0 = q0[:, table.body]
    arm = table.point - rotate(conjugate(q0), table.radius[:, None] * table.normal)
    return v[:, table.body] + rotate(q0, cross(w[:, table.body], arm))
