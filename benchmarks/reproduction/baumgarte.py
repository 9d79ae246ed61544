"""A hanging chain in maximal coordinates as it was done before: constraints on accelerations, Baumgarte's springs.

    M a = f + G' lam,   G a = -dG/dt V - 2 alpha g' - alpha^2 g

g are the openings of the ball joints in the world, V = (v, om) all velocities in the world, and alpha (1/s) how fast an
opening is to decay; 0 is no stabilisation. Then a semi-implicit step: V+ = V + h a, poses from V+. Many chains that
differ in alpha only run side by side, (n, ...).
"""

import numpy as np
from numpy.typing import NDArray

from vigym.benchmarks.scenes import Scene
from vigym.engine.rotation import Array, cross, from_rotation_vector, multiply, rotate, rotation_matrix

INVERSE = np.array([1.0, -1.0, -1.0, -1.0])  # q^-1 = INVERSE * q


def skew(u: Array) -> Array:
    """[u]x (..., 3, 3) with [u]x a = u x a."""
    out = np.zeros((*u.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -u[..., 2], u[..., 1], -u[..., 0]
    return out - np.swapaxes(out, -1, -2)


class Baumgarte:
    """The scene's chain, once for each of `alphas` (n,), 1/s; h: time step, s."""

    def __init__(self, scene: Scene, h: float, alphas: list[float]) -> None:
        m, self.h, self.alpha = scene.mechanism, h, np.array(alphas)[:, None]
        if [joint.kind for joint in m.joints] != ["spherical"] * len(m.bodies) or m.contacts:
            raise ValueError("only chains of ball joints without contacts")
        names = [body.name for body in m.bodies]
        if [joint.child for joint in m.joints] != names or [j.parent for j in m.joints] != ["world", *names[:-1]]:
            raise ValueError("link k must hang on link k - 1, and the first one on the world")
        self.mass = np.array([body.mass for body in m.bodies])
        self.J = np.array([body.inertia for body in m.bodies])
        self.J_inverse = np.linalg.inv(self.J)
        self.gravity, n = np.asarray(m.gravity), len(alphas)
        self.near = np.array([joint.child_anchor for joint in m.joints])  # in the link itself
        self.far = np.array([joint.parent_anchor for joint in m.joints])  # in the link before it; the world's first
        self.x, self.q = (np.repeat(part[None], n, axis=0) for part in scene.start[:2])
        self.v, self.om = np.zeros_like(self.x), np.zeros_like(self.x)

    def arms(self) -> tuple[Array, Array]:
        """Vectors from the middle of link k to joint k, and from that of link k - 1 (k >= 1), in the world."""
        return rotate(self.q, self.near), rotate(self.q[:, :-1], self.far[1:])

    def openings(self) -> Array:
        """g of all joints (n, links, 3), m: anchor of the link minus anchor of the one before."""
        near, far = self.arms()
        g = self.x + near
        g[:, 1:] -= self.x[:, :-1] + far
        g[:, 0] -= self.far[0]
        return g

    def step(self) -> None:
        """One time step of all chains."""
        n, b = self.x.shape[:2]
        near, far = self.arms()
        R = rotation_matrix(self.q)
        eye, blocks = np.eye(3), np.zeros((n, b, 3, b, 6))
        for k in range(b):
            blocks[:, k, :, k, :3], blocks[:, k, :, k, 3:] = eye, -skew(near[:, k])
            if k:
                blocks[:, k, :, k - 1, :3], blocks[:, k, :, k - 1, 3:] = -eye, skew(far[:, k - 1])
        G = blocks.reshape(n, 3 * b, 6 * b)
        blocks = np.zeros((n, b, 6, b, 6))
        for k in range(b):
            blocks[:, k, :3, k, :3] = eye / self.mass[k]
            blocks[:, k, 3:, k, 3:] = R[:, k] @ self.J_inverse[k] @ np.swapaxes(R[:, k], -1, -2)
        inverse = blocks.reshape(n, 6 * b, 6 * b)  # of M
        force = np.zeros((n, b, 6))
        force[..., :3] = self.mass[:, None] * self.gravity
        w = rotate(self.q * INVERSE, self.om)
        force[..., 3:] = rotate(self.q, -cross(w, np.einsum("bij,nbj->nbi", self.J, w)))
        force = force.reshape(n, 6 * b, 1)
        swing = cross(self.om, cross(self.om, near))  # dG/dt V
        swing[:, 1:] -= cross(self.om[:, :-1], cross(self.om[:, :-1], far))
        V = np.concatenate([self.v, self.om], -1).reshape(n, 6 * b, 1)
        alpha, open_by = self.alpha[:, None], self.openings().reshape(n, -1, 1)
        right = -swing.reshape(n, -1, 1) - 2 * alpha * (G @ V) - alpha**2 * open_by
        spread = inverse @ np.swapaxes(G, 1, 2)
        lam = np.linalg.solve(G @ spread, right - G @ (inverse @ force))
        a = (inverse @ force + spread @ lam).reshape(n, b, 6)
        self.v, self.om = self.v + self.h * a[..., :3], self.om + self.h * a[..., 3:]
        self.x = self.x + self.h * self.v
        self.q = multiply(from_rotation_vector(self.h * self.om), self.q)
        self.q /= np.linalg.norm(self.q, axis=-1, keepdims=True)

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Go on with these chains only, (n,) of bool."""
        self.alpha = self.alpha[which]
        self.x, self.q, self.v, self.om = (part[which] for part in (self.x, self.q, self.v, self.om))

    def separation(self) -> Array:
        """Largest opening (n,), m."""
        return np.linalg.norm(self.openings(), axis=-1).max(-1)

    def energy(self) -> Array:
        """Kinetic and potential (n,), J."""
        w = rotate(self.q * INVERSE, self.om)
        turning = 0.5 * np.einsum("nbi,bij,nbj->n", w, self.J, w)
        moving = 0.5 * (self.mass[:, None] * self.v**2).sum((1, 2))
        return turning + moving - (self.mass * (self.x @ self.gravity)).sum(-1)
