"""Contact forces on the parts of a robot, as MuJoCo's cfrc_ext: torque, about the centre of mass of all, and force.

The engine tells the force on every body. A body is taken to be touched at its lowest point, which is where a capsule
meets the ground unless it lies flat; parts that MuJoCo has and this engine joined to one body share it accordingly.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vigym.engine.compiled import inlined
from vigym.engine.errors import InputError
from vigym.engine.joint import WORLD
from vigym.engine.rotation import rotate
from vigym.engine.shapes import Capsule, Sphere
from vigym.engine.simulator import Simulator
from vigym.engine.vectors import rotation_matrix


class Pushes(NamedTuple):
    """Impulses of the last step on every body (groups, lanes, n_bodies + 1, 3), and points where bodies may be touched:
    ends of capsules and centres of balls, with radius, body and MuJoCo's part of each; masses of the bodies."""

    impulses: Any
    points: Any
    radii: Any
    bodies: Any
    parts: Any
    masses: Any


def pushes_of(sim: Simulator, parts: Sequence[int]) -> Pushes:
    """The table for a robot; parts: number of MuJoCo's part for each of its colliders, in their order."""
    rows = []
    own = [collider for collider in sim.model.mechanism.colliders if collider.body != WORLD]
    for collider, part in zip(own, parts, strict=True):
        shape, place = collider.shape, np.array(collider.shape.position)
        if not isinstance(shape, Capsule | Sphere):
            raise InputError(f"collider {collider.name!r} must be a Capsule or a Sphere")
        half = 0.5 * shape.length if isinstance(shape, Capsule) else 0.0
        axis = rotate(np.array(shape.orientation), np.array([0.0, 0.0, half]))
        for end in (place + axis, place - axis) if half else (place,):
            rows.append((end, shape.radius, sim.model.bodies[collider.body], part))
    points, radii, bodies, numbers = (np.array(column) for column in zip(*rows, strict=True))
    masses = np.array([body.mass for body in sim.model.mechanism.bodies])
    return Pushes(sim.live("pushed"), points, radii, bodies, numbers, masses)


@inlined
def sense_pushes(forces, physics, pushes, n, at_start, dt):
    """Torques and forces on the parts, (n_parts, 6), N m and N; dt: step of the simulator."""
    forces[:, :] = 0.0
    if at_start:
        return
    lanes = pushes.impulses.shape[1]
    impulses, masses, x = pushes.impulses[n // lanes, n % lanes], pushes.masses, physics.x
    cx, cy, cz, total = 0.0, 0.0, 0.0, 0.0
    for b in range(len(masses)):
        cx, cy, cz = cx + masses[b] * x[b, 0], cy + masses[b] * x[b, 1], cz + masses[b] * x[b, 2]
        total += masses[b]
    cx, cy, cz = cx / total, cy / total, cz / total
    for b in range(len(masses)):
        fx, fy, fz = impulses[b, 0] / dt, impulses[b, 1] / dt, impulses[b, 2] / dt
        if fx == 0.0 and fy == 0.0 and fz == 0.0:
            continue
        rows = rotation_matrix(physics.q[b])
        lowest, part, px, py = np.inf, 0, 0.0, 0.0
        for k in range(len(pushes.bodies)):
            if pushes.bodies[k] == b:
                p = pushes.points[k]
                z = x[b, 2] + rows[2][0] * p[0] + rows[2][1] * p[1] + rows[2][2] * p[2] - pushes.radii[k]
                if z < lowest:
                    lowest, part = z, pushes.parts[k]
                    px = x[b, 0] + rows[0][0] * p[0] + rows[0][1] * p[1] + rows[0][2] * p[2]
                    py = x[b, 1] + rows[1][0] * p[0] + rows[1][1] * p[1] + rows[1][2] * p[2]
        rx, ry, rz = px - cx, py - cy, lowest - cz
        forces[part, 0] += ry * fz - rz * fy
        forces[part, 1] += rz * fx - rx * fz
        forces[part, 2] += rx * fy - ry * fx
        forces[part, 3] += fx
        forces[part, 4] += fy
        forces[part, 5] += fz
