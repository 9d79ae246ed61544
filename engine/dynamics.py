"""Jacobians, mass matrix and forces of a mechanism in joint coordinates; arrays lead with the environment, (N, ...).

GENERALISED VELOCITIES u (N, n_velocities): of every body that no joint ties to a parent, in the order added, velocity
of its centre of mass in the world and angular velocity in its own frame, as in the state (3 + 3); then the velocities
of the free joint axes, in the order of efforts. Forces are in the same order: their work is that of u. MuJoCo's `qvel`
is the same but for its order.

Joints that close loops are cut: their columns are zero, and what they transmit is in no force here.
"""

from dataclasses import dataclass

import numpy as np

from vigym.engine import articulated
from vigym.engine.joint_table import Indices, JointTable
from vigym.engine.model import Model
from vigym.engine.rotation import Array, rotate

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")


@dataclass(frozen=True, eq=False)
class Columns:
    """Incidence of generalised velocities and bodies: which one moves which.

    roots: bodies without a parent. first, count, turns (n,): first column of each body, how many there are, and how
    many of them, the last ones, are rotations. anchor (n, 3): child's anchor of the body's joint.
    """

    number: int
    roots: Indices
    first: Indices
    count: Indices
    turns: Indices
    anchor: Array


def columns_of(model: Model) -> Columns:
    """The columns of a mechanism."""
    n, table = model.n_bodies, model.tree_table
    roots = np.array([i for i, joint in enumerate(model.tree.joints) if joint is None], np.int64)
    first, count, turns = (np.zeros(n, np.int64) for _ in range(3))
    anchor = np.zeros((n, 3))
    first[roots], count[roots], turns[roots] = 6 * np.arange(len(roots)), 6, 3
    child = table.child
    count[child], turns[child], anchor[child] = (~table.constrained).sum(-1), table.turns, table.child_anchor
    first[child] = 6 * len(roots) + model.first_axis[table.number]
    return Columns(6 * len(roots) + model.n_axes, roots, first, count, turns, anchor)


def velocity_names(model: Model) -> list[str]:
    """Names of the generalised velocities."""
    roots = [body.name for body, joint in zip(model.mechanism.bodies, model.tree.joints, strict=True) if joint is None]
    return [f"{name}.{part}" for name in roots for part in TWIST] + model.axis_names


def directions(table: JointTable, roots: Indices, number: int, x: Array, q: Array) -> tuple[Array, Array]:
    """A and L (N, number, 3) of the columns of these joints, see articulated.py."""
    A, L = np.zeros((len(x), number, 3)), np.zeros((len(x), number, 3))
    frames = table.basis, table.slides, table.child_anchor
    articulated.columns(roots, table.parent, table.child, table.axis, table.turns, *frames, x, q, A, L)
    return A, L


class Dynamics:
    """All of it for one mechanism."""

    def __init__(self, model: Model) -> None:
        self._model, self.columns = model, columns_of(model)
        self._order = np.ascontiguousarray(model.tree.order, np.int64)
        self._parent = np.ascontiguousarray(model.tree.parent, np.int64)

    def velocities(self, v: Array, w: Array, rates: Array) -> Array:
        """Generalised velocities from those of bodies (N, n, 3) and joints (N, n_axes)."""
        roots = self.columns.roots
        twists = np.concatenate([v[:, roots], w[:, roots]], -1).reshape(len(v), -1)
        return np.concatenate([twists, rates], -1)

    def jacobian(self, x: Array, q: Array, body: int, point: Array) -> Array:
        """Velocity, world, of a point (3,) of a body, given in its frame, and the body's angular velocity, world, by
        generalised velocities (N, 6, n_velocities)."""
        out = np.zeros((len(x), 6, self.columns.number))
        where = x[:, body] + rotate(q[:, body], point)
        columns = self._parent, self.columns.first, self.columns.count
        articulated.jacobian(*columns, *self._directions(x, q), x, body, where, out)
        return out

    def mass_matrix(self, x: Array, q: Array, mass: Array, inertia: Array, armature: Array) -> Array:
        """M (N, n_velocities, n_velocities), with the rotors (N, n_axes) of the tree's joints on its diagonal."""
        number = self.columns.number
        out = np.zeros((len(x), number, number))
        columns = self._order, self._parent, self.columns.first, self.columns.count
        n = x.shape[1]
        room = np.empty(n), np.empty((1, n, 3)), np.empty((n, 3, 3))
        articulated.mass_matrix(*columns, *self._directions(x, q), mass, inertia, x, q, *room, out)
        axes = self._model.tree_table.axis
        axes = axes[axes >= 0]
        turned = number - self._model.n_axes + axes
        out[:, turned, turned] += armature[:, axes]
        return out

    def bias(self, x: Array, q: Array, mass: Array, inertia: Array, u: Array) -> Array:
        """Forces (N, n_velocities) of gravity and velocities u, on the left side of M du/dt + bias = forces."""
        own = self.columns
        out = np.zeros((len(x), own.number))
        columns = self._order, self._parent, own.first, own.count, own.turns, own.anchor
        gravity = np.array(self._model.mechanism.gravity)
        room = tuple(np.empty((5, 1, x.shape[1] + 1, 3)))
        parts = *columns, *self._directions(x, q), mass, inertia, x, q, u
        articulated.inverse_dynamics(*parts, gravity, room, out)
        return out

    def efforts(self, x: Array, q: Array, wrench: Array) -> Array:
        """Efforts along all free axes (N, n_axes) of wrenches (N, n_joints, 6) about the anchors, world, at the poses
        at which they act."""
        model, found = self._model, np.zeros((len(x), self._model.n_axes))
        no_roots = np.zeros(0, np.int64)
        loops = model.n_bodies + np.array(model.loops.places, int)
        for table, numbers in ((model.tree_table, model.tree_table.child), (model.loop_table, loops)):
            A, L = directions(table, no_roots, model.n_axes, x, q)
            for j, number in enumerate(numbers):
                for slot in np.flatnonzero(table.axis[j] >= 0):
                    g = table.axis[j, slot]
                    axis, half = (L, slice(0, 3)) if slot < 3 else (A, slice(3, 6))
                    found[:, g] = (axis[:, g] * wrench[:, number, half]).sum(-1)
        return found

    def _directions(self, x: Array, q: Array) -> tuple[Array, Array]:
        return directions(self._model.tree_table, self.columns.roots, self.columns.number, x, q)
