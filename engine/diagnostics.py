"""Energy and momentum. Arrays lead with the environment, (N, ...)."""

import numpy as np

from vigym.engine.kernels import integrator
from vigym.engine.model import Model
from vigym.engine.rotation import Array, cross, rotate


def energy(
    model: Model,
    x: Array,
    v: Array,
    w: Array,
    mass: Array,
    inertia: Array,
    stiffness: Array,
    stretch: Array,
    armature: Array,
    rates: Array,
) -> Array:
    """Kinetic energy, of rotors too, potential energy of gravity (zero at the origin) and of joint springs, J (N,).

    Velocities are means over a step, so x and the stretch of the springs should be those in its middle.
    """
    kinetic = 0.5 * (mass * (v * v).sum(-1)).sum(-1) + 0.5 * np.einsum("nbi,nbij,nbj->n", w, inertia, w)
    kinetic = kinetic + 0.5 * (armature * rates**2).sum(-1)
    height = -np.einsum("nb,nbi,i->n", mass, x, model.mechanism.gravity)
    springs = 0.5 * (stiffness * stretch**2).sum(-1)
    return kinetic + height + springs


def contact_energy(gap: Array, compliance: Array) -> Array:
    """Energy of the springs in contacts that gave way, J (N,)."""
    return 0.5 * np.divide(np.minimum(gap, 0.0) ** 2, compliance, out=np.zeros_like(gap), where=compliance > 0).sum(-1)


def momentum(x: Array, q: Array, v: Array, w: Array, mass: Array, inertia: Array, h0: Array) -> Array:
    """Linear momentum, and angular momentum about the world's origin, (N, 6) in N s and N m s.

    The angular part is the one that the integrator conserves: that with which the last step, of length h0 (N,), ended.
    """
    linear = mass[..., None] * v
    J = [[inertia[..., j, k] for k in range(3)] for j in range(3)]
    ended = integrator.momentum(h0[:, None], J, [w[..., k] for k in range(3)])
    spin = rotate(q, h0[:, None, None] * np.stack(ended, -1))
    angular = cross(x, linear) + spin
    return np.concatenate([linear.sum(1), angular.sum(1)], -1)
