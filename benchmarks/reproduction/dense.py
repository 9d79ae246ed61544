"""The paper's equations for a small mechanism, dense and in NumPy: one block of unknowns for each node of its graph.

Nodes, in this order: "body i" V = (v1, w1); "joint j" lam; and for every contact k

    friction    beta (4,)           B V + psi - eta = 0
    cone        s_psi, psi          cf gamma - sum beta - s_psi = 0,   s_psi psi = mu
    directions  s_eta, eta (4, 4)   beta - s_eta = 0,                  s_eta eta = mu
    gap         s_gamma, gamma      phi(z+) - s_gamma = 0,             s_gamma gamma = mu

solved as the paper does: every step starts with mu = 1 and all pairs at 1. It is here to show the structure of the
Newton matrix, and what single errors of the published code do: `Errors` puts them in, one by one. The engine is not
involved, and has none of this. Two things are the paper's here and others in the engine: a step turns a body by
q+ = q (h/2) [sqrt(4/h^2 - w.w), w] (the engine: by the rotation vector h w), and slip is B V, at the pose before the
step (the engine: over the whole step). Both differences vanish with the step.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array, conjugate, cross, multiply, rotate
from vigym.engine.state import State

TINY = 1e-30  # complex step: derivatives are exact to rounding
INVERSE = np.array([1.0, -1.0, -1.0, -1.0])
NODES = ("friction", "cone", "directions", "gap")
SIZES = {"friction": 4, "cone": 2, "directions": 8, "gap": 2}


@dataclass(frozen=True)
class Errors:
    """Errors of the published code, all off.

    gyroscopic: minus instead of plus before w0 x J w0. half_torque: friction turns a body half as much as it should.
    step_length: the step is cut where a pair grows, and not where it falls. world_axes: friction along the world's x
    and y, whatever the normal.
    """

    gyroscopic: bool = False
    half_torque: bool = False
    step_length: bool = False
    world_axes: bool = False


@dataclass
class Solved:
    """State after a step, whether it converged (residual below the tolerance, all pairs positive), iterations."""

    state: State
    converged: bool
    iterations: int


class Dense:
    """One mechanism of bodies, joints (all axes of which are held or free) and contacts; h: time step, s."""

    def __init__(self, mechanism: Mechanism, h: float, errors: Errors | None = None) -> None:
        self.m, self.h, self.errors = mechanism, h, errors or Errors()
        bodies, contacts = mechanism.bodies, mechanism.contacts
        index = {body.name: i for i, body in enumerate(bodies)}
        self.mass = np.array([[body.mass] for body in bodies])
        self.J = np.array([body.inertia for body in bodies])
        self.joints = [
            (index.get(joint.parent), index[joint.child], joint)
            for joint in mechanism.joints
            if joint.kind != "floating"
        ]
        self.touching = np.array([index[contact.body] for contact in contacts], int)
        self.p = np.array([contact.point for contact in contacts]).reshape(-1, 3)
        self.n = np.array([contact.normal for contact in contacts]).reshape(-1, 3)
        self.level = np.array([contact.offset + contact.radius for contact in contacts])
        self.radius = np.array([[contact.radius] for contact in contacts]).reshape(-1, 1)
        self.cf = np.array([contact.friction for contact in contacts])
        tangents = np.array([contact.tangents for contact in contacts]).reshape(-1, 2, 3)
        if self.errors.world_axes:
            tangents = np.broadcast_to(np.eye(3)[:2], tangents.shape)
        self.t = np.stack([tangents[:, 0], -tangents[:, 0], tangents[:, 1], -tangents[:, 1]], 1)  # (c, 4, 3)
        rows = [int(joint.constrained.sum()) for _, _, joint in self.joints]
        self.nodes = [("body", i, 6) for i in range(len(bodies))] + [("joint", j, k) for j, k in enumerate(rows)]
        self.nodes += [(node, k, SIZES[node]) for k in range(len(contacts)) for node in NODES]
        self.first = np.cumsum([0, *(size for _, _, size in self.nodes)])

    # ------------------------------------------------------------------------------------------ equations
    def gaps(self, x: Array, q: Array) -> Array:
        """phi of all contacts, m (..., c)."""
        points = x[..., self.touching, :] + rotate(q[..., self.touching, :], self.p)
        return (points * self.n).sum(-1) - self.level

    def rows(self, x: Array, q: Array) -> Array:
        """g of all joints (..., rows)."""
        found = [np.zeros((*x.shape[:-2], 0))]
        for parent, child, joint in self.joints:
            qp = np.array([1.0, 0.0, 0.0, 0.0]) if parent is None else q[..., parent, :]
            xp = np.zeros(3) if parent is None else x[..., parent, :]
            apart = x[..., child, :] + rotate(q[..., child, :], joint.child_anchor) - xp
            apart = rotate(INVERSE * joint.orientation, rotate(INVERSE * qp, apart) - joint.parent_anchor)
            turn = multiply(INVERSE * joint.orientation, multiply(INVERSE * qp, q[..., child, :]))[..., 1:]
            both = np.concatenate([apart @ joint.basis.T, turn @ joint.basis.T], -1)
            found.append(both[..., joint.constrained.astype(bool)])
        return np.concatenate(found, -1)

    def moved(self, x: Array, q: Array, V: Array) -> tuple[Array, Array]:
        """Next poses, by the paper's map."""
        v, w = V[..., :3], V[..., 3:]
        s = np.sqrt(4 / self.h**2 - (w * w).sum(-1, keepdims=True))
        return x + self.h * v, multiply(q, self.h / 2 * np.concatenate([s, w], -1))

    def spin(self, w: Array, sign: float) -> Array:
        """(s(w) J w + sign w x J w) / 2, N m."""
        Jw = np.einsum("bij,...bj->...bi", self.J, w)
        return (np.sqrt(4 / self.h**2 - (w * w).sum(-1, keepdims=True)) * Jw + sign * cross(w, Jw)) / 2

    def maps(self, state: State) -> None:
        """Return what depends on the current pose only: known impulses, and G, N, B as (rows, 6 bodies)."""
        x, q, v0, w0 = state
        nb = len(x)
        pushed = self.mass * (self.m.gravity + v0 / self.h)
        wrong = self.errors.gyroscopic
        self.known = np.concatenate([pushed, self.spin(w0, 1.0 if wrong else -1.0)], -1)
        steps = 1j * TINY * np.eye(6 * nb).reshape(-1, nb, 6)
        turns = np.concatenate([np.zeros((6 * nb, nb, 1)), steps[..., 3:] / 2], -1)
        self.G = self.rows(x + steps[..., :3], q + multiply(q, turns)).imag.T / TINY
        c, R = len(self.p), q[self.touching]
        self.N, self.B = np.zeros((c, nb, 6)), np.zeros((c, 4, nb, 6))
        arm = self.p - rotate(conjugate(R), self.radius * self.n)
        for k, b in enumerate(self.touching):
            back = conjugate(R[k])
            self.N[k, b] = np.concatenate([self.n[k], cross(self.p[k], rotate(back, self.n[k]))])
            self.B[k, :, b] = np.concatenate([self.t[k], cross(arm[k], rotate(back, self.t[k]))], -1)
        self.force = self.B.copy()
        if self.errors.half_torque:
            self.force[..., 3:] /= 2

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """V (..., bodies, 6), lam, and the unknowns of contacts (..., c, 16)."""
        nb, nj = len(self.mass), len(self.G)
        V = y[..., : 6 * nb].reshape(*y.shape[:-1], nb, 6)
        return V, y[..., 6 * nb : 6 * nb + nj], y[..., 6 * nb + nj :].reshape(*y.shape[:-1], -1, 16)

    def residual(self, state: State, y: Array, mu: float) -> Array:
        """All equations, in the order of the nodes."""
        V, lam, z = self.split(y)
        beta, s_psi, psi, s_eta, eta, s_gamma, gamma = np.split(z, [4, 5, 6, 10, 14, 15], -1)
        x, q = self.moved(state.x, state.q, V)
        d = np.concatenate([self.mass * V[..., :3] / self.h, self.spin(V[..., 3:], 1.0)], -1) - self.known
        d = d - (lam @ self.G).reshape(V.shape) - np.einsum("...k,kbi->...bi", gamma[..., 0], self.N)
        d = d - np.einsum("...kt,ktbi->...bi", beta, self.force)
        parts = [
            np.einsum("ktbi,...bi->...kt", self.B, V) + psi - eta,
            self.cf[:, None] * gamma - beta.sum(-1, keepdims=True) - s_psi,
            s_psi * psi - mu,
            beta - s_eta,
            s_eta * eta - mu,
            self.gaps(x, q)[..., None] - s_gamma,
            s_gamma * gamma - mu,
        ]
        flat = y.shape[:-1]
        contact = np.concatenate(parts, -1).reshape(*flat, -1)
        return np.concatenate([d.reshape(*flat, -1), self.rows(x, q), contact], -1)

    def jacobian(self, state: State, y: Array) -> Array:
        """d residual / dy, by complex steps."""
        return self.residual(state, y + 1j * TINY * np.eye(len(y)), 0.0).imag.T / TINY

    # ------------------------------------------------------------------------------------------ solving
    def start(self, state: State) -> Array:
        """V of the last step, no joint forces, all pairs at 1, friction at 0, as the published code resets them."""
        contact = np.tile([0.0] * 4 + [1.0] * 12, len(self.p))
        return np.concatenate([np.concatenate([state.v, state.w], -1).ravel(), np.zeros(len(self.G)), contact])

    def positive(self) -> NDArray[np.bool_]:
        """Mask of the unknowns that are slacks or multipliers."""
        free = np.zeros(6 * len(self.mass) + len(self.G), bool)
        return np.concatenate([free, np.tile([False] * 4 + [True] * 12, len(self.p))])

    def longest(self, y: Array, d: Array) -> float:
        """Step length that keeps all pairs positive; with the published error, one that does not."""
        pairs = self.positive()
        direction = 1.0 if self.errors.step_length else -1.0
        limited = pairs & (direction * d * y > 0)
        return float(min(1.0, np.min(0.95 * np.abs(y[limited] / d[limited]), initial=np.inf)))

    def step(self, state: State, tolerance: float = 1e-6, most: int = 100) -> Solved:
        """One time step: Newton's method on a barrier that falls by ten whenever the residual is below it."""
        self.maps(state)
        y, mu = self.start(state), 1.0
        pairs, converged, count = self.positive(), False, 0
        while count < most and not converged:
            r = self.residual(state, y, mu)
            d: Array = np.linalg.solve(self.jacobian(state, y), -r).astype(float)
            before, length = np.linalg.norm(r), self.longest(y, d)
            for _ in range(10):
                trial = y + length * d
                spins = np.linalg.norm(self.split(trial)[0][:, 3:], axis=-1).max() * self.h
                if spins < 1.9 and np.linalg.norm(self.residual(state, trial, mu)) < before:
                    break
                length /= 2
            y, count = y + length * d, count + 1
            # the published code asks for a small residual, not for pairs that are positive
            inside = self.errors.step_length or bool((y[pairs] > 0).all())
            converged = bool(np.abs(self.residual(state, y, 0.0)).max() < tolerance) and inside
            while mu > 1e-12 and np.linalg.norm(self.residual(state, y, mu)) < mu:
                mu *= 0.1
        V = self.split(y)[0]
        x, q = self.moved(state.x, state.q, V)
        return Solved(State(x, q, V[:, :3].copy(), V[:, 3:].copy()), converged, count)

    def run(self, state: State, steps: int, tolerance: float = 1e-6) -> list[Solved]:
        """Make that many steps; a step that did not converge is taken as it is, as the published code does."""
        found = []
        for _ in range(steps):
            solved = self.step(state, tolerance)
            found.append(solved)
            state = solved.state
            if not all(np.isfinite(part).all() for part in state):
                break
        return found
