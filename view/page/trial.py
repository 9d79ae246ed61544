"""A mechanism that is tried out: posed by its joint coordinates, held by drives, simulated."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vigym.engine import coordinates
from vigym.engine.errors import VigymError
from vigym.engine.mechanism import Mechanism
from vigym.engine.separation import deepest
from vigym.engine.simulator import Simulator
from vigym.engine.validation import Array

DT = 0.005  # s
STIFF = 40.0  # rad/s: frequency of a joint that a drive holds, if nothing but the drive acts on it
SHARE = 2.5  # 1/rad: a robot that stands sags by a few hundredths of a radian under its weight
WIDEST = (np.pi, 1.0)  # rad, m: range of a slider without limits
LIFTS = 4  # times that a robot is lifted before it is left in the ground


class Trial:
    """One mechanism, posed (`pose`) and simulated (`step`).

    Joints without a drive get one, which `hold` switches. Posing runs on NumPy, so that a file opens at once; kernels
    are compiled when the first step is made.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.sim = Simulator(mechanism, dt=DT, compiled=False, overlap="keep")
        gains, own = self._gains()
        self.mechanism, self._own = mechanism.copy(), own
        first = 0
        for joint in mechanism.joints:
            axes = slice(first, first := first + joint.n_free)
            if joint.n_free and not own[axes].all():
                values = {name: np.where(own[axes], getattr(joint, name), gain[axes]) for name, gain in gains.items()}
                self.mechanism.replace_joint(joint.name, **values)
        self.sim = self._posing = Simulator(self.mechanism, dt=DT, compiled=False, overlap="keep")
        self._gain = {name: self.sim.parameter(name).copy() for name in gains if own.size}
        self._running: Simulator | None = None
        self._held = True
        self.pose(self.positions())
        self._start = self.state()

    def _gains(self) -> tuple[dict[str, Array], NDArray[np.bool_]]:
        """Gains that hold each axis, 0 for followers and for joints that close loops; and which axes have a drive."""
        sim, mechanism = self.sim, self.sim.model.mechanism
        n = sim.model.n_axes
        # an axis that leads others moves their inertia too; a follower by itself moves nothing
        moved = coordinates.follow_rates(sim.model, np.tile(self.positions(), (n, 1)), np.eye(n))
        inertia = np.einsum("ia,ab,ib->i", moved, sim.mass_matrix()[0, -n:, -n:], moved) if n else np.zeros(0)
        weight = np.linalg.norm(mechanism.gravity) * sum(body.mass for body in mechanism.bodies)
        stands = any(joint is None for joint in sim.model.tree.joints)  # what is held may carry the whole robot
        size = float(np.ptp(sim.state.x[0], axis=0).max())
        kp = np.maximum(STIFF**2 * inertia, SHARE * weight * size * stands) * (inertia > 0.0)
        kd = np.maximum(2.0 * STIFF * inertia, 0.03 * kp)
        own = [np.broadcast_to((joint.kp > 0) | (joint.kd > 0), joint.n_free) for joint in mechanism.joints]
        return {"kp": kp, "kd": kd}, np.concatenate([np.zeros(0, bool), *own])

    def ranges(self) -> list[tuple[float, float]]:
        """Lower and upper end of each axis, for sliders."""
        found = []
        for joint in self.mechanism.joints:
            turns = ~np.asarray(joint.constrained)[3:]  # free rotations come after free translations
            widest = [WIDEST[1]] * (joint.n_free - int(turns.sum())) + [WIDEST[0]] * int(turns.sum())
            for low, high, wide in zip(joint.lower, joint.upper, widest, strict=True):
                found.append((max(float(low), -2 * wide), min(float(high), 2 * wide)))
        return found

    def positions(self) -> Array:
        """Joint coordinates (n_axes,)."""
        return self.sim.joint_positions()[0]

    def followed(self, positions: Array) -> Array:
        """Joint coordinates (n_axes,) with those of followers as their leaders tell."""
        return coordinates.follow(self.sim.model, positions[None])[0]

    @property
    def followers(self) -> set[int]:
        """Axes that couplings put in their places."""
        return {coupling.follower for coupling in self.sim.model.couplings}

    def state(self) -> dict[str, Array]:
        """Poses of all bodies, at rest."""
        return {"x": self.sim.state.x.copy(), "q": self.sim.state.q.copy()}

    def pose(self, positions: Array, roots: Mapping[str, Array] | None = None) -> str:
        """Put joints where they should be, at rest; lift the robot out of the ground. Return what is wrong, or "".

        roots: x, q of bodies that float; None leaves them where they are
        """
        given = self.state() if roots is None else roots
        self._continue(self._posing)
        x, q = (np.array(given[name], float).reshape(1, len(self.mechanism.bodies), -1) for name in "xq")
        try:
            self.sim.set_joint_state(positions, x=self._lifted(positions, x, q), q=q, overlap="keep")
        except VigymError as error:
            return str(error)
        return ""

    def _continue(self, sim: Simulator) -> None:
        """Go on with another simulator, from the same poses, at rest."""
        if self.sim is not sim:
            rest = np.zeros_like(sim.state.v)
            sim.set_state(**self.state(), v=rest, w=rest, overlap="keep")
            self.sim = sim

    def _lifted(self, positions: Array, x: Array, q: Array) -> Array:
        """Roots that float, raised until nothing is in the ground; as they were if that does not help."""
        model, floats = self.sim.model, [joint is None for joint in self.sim.model.tree.joints]
        if not any(floats) or not (model.n_contacts or model.touches):
            return x
        offset = self.sim._lanes.get("offset")[..., 0]
        up, before = x.copy(), np.inf
        phi = coordinates.close_loops(model, np.asarray(positions, float)[None], x, q)
        for _ in range(LIFTS):
            depth = float(deepest(model, *coordinates.forward(model, phi, up, q), offset)[0])
            if depth <= 0.0:
                return up
            if depth >= before:
                break
            before = depth
            up[:, floats, 2] += depth + 1e-6
        return x

    def reset(self) -> None:
        """Go back to the pose of the start, at rest."""
        self.sim, rest = self._posing, np.zeros_like(self._start["x"])
        self.sim.set_state(**self._start, v=rest, w=rest, overlap="keep")

    @property
    def is_moving(self) -> bool:
        """True if it is simulated, and not posed."""
        return self.sim is not self._posing

    @property
    def is_compiled(self) -> bool:
        """True if a step was made before."""
        return self._running is not None

    def stop(self) -> None:
        """End the simulation: the pose stays, at rest."""
        self._continue(self._posing)

    def step(self, targets: Array, *, hold: bool = True) -> None:
        """Make one step; targets (n_axes,) of the drives, those that were added only if `hold`."""
        if self._running is None:
            self._running = Simulator(self.mechanism, dt=DT, overlap="keep")
        self._continue(self._running)
        if not self._gain:
            self.sim.step()
            return
        if hold != self._held:
            self._held = hold
            self.sim.set_parameters(**{name: np.where(self._own | hold, v, 0.0) for name, v in self._gain.items()})
        self.sim.step(target=targets)
