"""Actions that move the Panda's hand: joint targets that bring it, pointing down, to a place beside where it is, and
efforts that carry the arm's own weight."""

from typing import Any, NamedTuple

import numpy as np

from vigym.assets import panda
from vigym.engine.compiled import compiled, inlined
from vigym.engine.vectors import conjugate, cross, multiply, rotate
from vigym.envs.compiled_task import physics_of
from vigym.envs.task import Array

N = 7  # hinges
REACH = 0.05  # m, of the hand in a control step, for an action of 1
OPENING = 0.1  # m, of each finger, for an action of 1
LOWEST = 0.01  # m, of the place between the pads above the table
LEAN = 0.1  # share by which the arm returns to its first posture in a control step, where the hand leaves it free
REGULAR = 4e-4  # m^2 and rad^2, added to the squared lengths of the ways that joints give the hand
GRAVITY = 9.81

# Where panda-gym's arm starts: the hand over the middle of the table, pointing down, its fingers closed along y
NEUTRAL = np.array([0.0, 0.41, 0.0, -1.85, 0.0, 2.26, np.pi / 4, 0.0, 0.0])


class Arm(NamedTuple):
    """The arm, for the loop: centres of mass in link frames (7, 3), masses of its nine bodies, the place
    between the pads in the frame of the last body, the orientation that body is to keep, the first posture and the
    limits of the hinges; room for the hinges' axes and places (2, 7, 3), the Jacobian (6, 7) and equations (6, 7)."""

    centres: Any
    masses: Any
    grasp: Any
    down: Any
    neutral: Any
    lower: Any
    upper: Any
    hinges: Any
    jacobian: Any
    equations: Any


def arm_of(masses: Array, down: Array) -> Arm:
    """The arm with the masses (9,) of its bodies, whose last body is to have the orientation `down`."""
    centres = np.array([link.com for link in (*panda.LINKS[:6], panda.LAST)])
    fixed = panda.GRASP.copy(), down.copy(), NEUTRAL.copy(), np.array(panda.LOWER), np.array(panda.UPPER)
    return Arm(centres, masses.copy(), *fixed, np.zeros((2, N, 3)), np.zeros((6, N)), np.zeros((6, 7)))


@inlined
def place(physics, arm):
    """Position of the place between the pads, world, m."""
    x, turned = physics.x[N - 1], rotate(physics.q[N - 1], arm.grasp)
    return x[0] + turned[0], x[1] + turned[1], x[2] + turned[2]


@inlined
def velocity(physics, arm):
    """Velocity of the place between the pads, world, m/s."""
    v, turned = physics.v[N - 1], rotate(physics.q[N - 1], cross(physics.w[N - 1], arm.grasp))
    return v[0] + turned[0], v[1] + turned[1], v[2] + turned[2]


@inlined
def find_hinges(arm, physics):
    """Axes of the hinges in the world (unit), and points of them."""
    for k in range(N):
        x, q, c = physics.x[k], physics.q[k], arm.centres[k]
        axis, way = rotate(q, (0.0, 0.0, 1.0)), rotate(q, c)
        for i in range(3):
            arm.hinges[0, k, i], arm.hinges[1, k, i] = axis[i], x[i] - way[i]


@inlined
def carry(arm, physics, efforts):
    """Efforts of the hinges that carry the weight: a . sum m g (c - p) x e3, over all bodies beyond an axis."""
    mass, sx, sy = 0.0, 0.0, 0.0
    for b in range(N, N + 2):
        mass, sx, sy = mass + arm.masses[b], sx + arm.masses[b] * physics.x[b, 0], sy + arm.masses[b] * physics.x[b, 1]
    for k in range(N - 1, -1, -1):
        mass, sx, sy = mass + arm.masses[k], sx + arm.masses[k] * physics.x[k, 0], sy + arm.masses[k] * physics.x[k, 1]
        axis, point = arm.hinges[0, k], arm.hinges[1, k]
        efforts[k] = GRAVITY * (axis[0] * (sy - mass * point[1]) - axis[1] * (sx - mass * point[0]))


@inlined
def find_jacobian(arm, at):
    """Way and turn of the hand at `at` for a rad of each hinge."""
    for k in range(N):
        axis, point = arm.hinges[0, k], arm.hinges[1, k]
        way = cross(axis, (at[0] - point[0], at[1] - point[1], at[2] - point[2]))
        for i in range(3):
            arm.jacobian[i, k], arm.jacobian[3 + i, k] = way[i], axis[i]


@inlined
def solve(equations):
    """Solve S y = b in place: S (6, 6) symmetric, positive definite, b the last column, which becomes y."""
    for k in range(6):
        for i in range(k + 1, 6):
            factor = equations[i, k] / equations[k, k]
            for j in range(k, 7):
                equations[i, j] -= factor * equations[k, j]
    for k in range(5, -1, -1):
        for j in range(k + 1, 6):
            equations[k, 6] -= equations[k, j] * equations[j, 6]
        equations[k, 6] /= equations[k, k]


@inlined
def turn_to(q, target):
    """Rotation vector in the world that turns q to the target, for small ones."""
    e = multiply(target, conjugate(q))
    size = 2.0 if e[0] >= 0.0 else -2.0
    return size * e[1], size * e[2], size * e[3]


@inlined
def reach(arm, physics, action, targets):
    """Targets of the hinges that move the hand by `action` and point it down: with its Jacobian J, the wanted motion e
    and the way d back to the first posture, d + J^T (J J^T + REGULAR)^-1 (e - J d)."""
    at, J, equations = place(physics, arm), arm.jacobian, arm.equations
    find_jacobian(arm, at)
    lift, turn = max(REACH * action[2], LOWEST - at[2]), turn_to(physics.q[N - 1], arm.down)
    wanted = REACH * action[0], REACH * action[1], lift, turn[0], turn[1], turn[2]
    for i in range(6):
        equations[i, 6] = wanted[i]
        for k in range(N):
            equations[i, 6] -= J[i, k] * LEAN * (arm.neutral[k] - physics.joints[k])
        for j in range(6):
            equations[i, j] = REGULAR if i == j else 0.0
            for k in range(N):
                equations[i, j] += J[i, k] * J[j, k]
    solve(equations)
    for k in range(N):
        step = LEAN * (arm.neutral[k] - physics.joints[k])
        for i in range(6):
            step += J[i, k] * equations[i, 6]
        targets[k] = min(max(physics.joints[k] + step, arm.lower[k]), arm.upper[k])


@compiled
def command(every, arm, actions, grips, targets, efforts):
    """Targets and efforts (num_envs, n_axes) for actions (num_envs, 3 or 4). grips: the last action moves the fingers;
    they stay closed otherwise."""
    for n in range(len(actions)):
        physics = physics_of(every, n)
        find_hinges(arm, physics)
        carry(arm, physics, efforts[n])
        reach(arm, physics, actions[n], targets[n])
        targets[n, N] = physics.joints[N] + OPENING * actions[n, 3] if grips else 0.0
