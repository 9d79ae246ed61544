"""Prices of speed: gaps, overlap and joint separation from poses, for all engines by the same formulas."""

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.engine.collisions import distances
from vigym.engine.mechanism import Mechanism
from vigym.engine.model import Model
from vigym.engine.rotation import rotate


class Measures:
    """Measures of one mechanism; poses are x (n_bodies, 3) and q (n_bodies, 4)."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.index = {body.name: i for i, body in enumerate(mechanism.bodies)}
        contacts = mechanism.contacts
        self.bodies = np.array([self.index[c.body] for c in contacts], int)
        self.points = np.array([c.point for c in contacts]).reshape(-1, 3)
        self.normals = np.array([c.normal for c in contacts]).reshape(-1, 3)
        self.levels = np.array([c.offset + c.radius for c in contacts])
        joints = [joint for joint in mechanism.joints if joint.kind != "floating"]
        world = len(self.index)  # one more body, which stays where it is
        self.parents = np.array([self.index.get(joint.parent, world) for joint in joints], int)
        self.children = np.array([self.index[joint.child] for joint in joints], int)
        self.ap = np.array([joint.parent_anchor for joint in joints]).reshape(-1, 3)
        self.ac = np.array([joint.child_anchor for joint in joints]).reshape(-1, 3)
        held = [joint.basis * joint.constrained[:3, None] for joint in joints]  # rows of free translations are zero
        self.held = np.array(held).reshape(-1, 3, 3)
        self.turn = np.array([joint.orientation for joint in joints]).reshape(-1, 4)
        self.couples = np.array(mechanism.couples, np.int64).reshape(-1, 2)
        self.model = Model(mechanism) if len(self.couples) else None

    def gaps(self, x: Array, q: Array) -> Array:
        """phi = n . (x + R p) - offset - radius of all contacts, m; poses may lead with more axes."""
        points = x[..., self.bodies, :] + rotate(q[..., self.bodies, :], self.points)
        return (points * self.normals).sum(-1) - self.levels

    def distances(self, x: Array, q: Array) -> Array:
        """Distances of all colliders that may touch, m; negative where they overlap."""
        return np.zeros(0) if self.model is None else distances(self.model, x[None], q[None], self.couples)[0]

    def separation(self, x: Array, q: Array) -> float:
        """Largest distance of two anchors that a joint should keep together, along the axes that it holds, m."""
        if not len(self.parents):
            return 0.0
        x, q = np.vstack([x, np.zeros(3)]), np.vstack([q, [1.0, 0.0, 0.0, 0.0]])
        p, c = self.parents, self.children
        apart = x[c] + rotate(q[c], self.ac) - x[p] - rotate(q[p], self.ap)
        inverse = q[p] * [1.0, -1.0, -1.0, -1.0], self.turn * [1.0, -1.0, -1.0, -1.0]
        local = rotate(inverse[1], rotate(inverse[0], apart))  # in the joint's frame
        return float(np.linalg.norm(np.einsum("jab,jb->ja", self.held, local), axis=-1).max())
