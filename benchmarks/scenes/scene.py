"""A scene: one mechanism, where it starts, what drives it, for how long."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.mechanism import Mechanism
from vigym.engine.simulator import Simulator
from vigym.engine.state import State

Array = NDArray[np.float64]
NUDGE = 0.05  # m/s or rad/s: how differently the environments of a batch start
CLEARANCE = 10.0  # m: high enough for joints to be moved without touching the ground


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene that every engine simulates.

    name; size: what it grows with (contacts, links, cells, bodies), 0 if it does not.
    dt: time step, s; steps: how many are measured.
    start: x, q, v, w of all bodies, (n_bodies, 3 or 4), in vigym's convention (`vigym.engine.state.State`).
    targets: of the PD drives: times (k,) -> (k, n_axes), s -> rad or m; None: those of the joints, throughout.
    torques: on bodies, in their frames: times (k,) -> (k, n_bodies, 3), s -> N m; None: none.
    conserves: nothing dissipates, so that the error of the energy says something.
    planar: all hinges are parallel, so that a loop can be closed at a single point.
    rests: in its second half nothing should move, so that what still does says something.
    """

    name: str
    mechanism: Mechanism
    start: State
    dt: float
    steps: int
    size: int = 0
    targets: Callable[[Array], Array] | None = None
    conserves: bool = False
    planar: bool = False
    torques: Callable[[Array], Array] | None = None
    rests: bool = False

    def controls(self, steps: int, dt: float, shift: float = 0.0) -> Array:
        """Targets of the drives in steps 0, 1, ... (steps, n_axes); `shift` seconds ahead.

        A step ends at (k + 1) dt, and that is the time that its targets are for.
        """
        if self.targets is None:
            return np.tile(resting_targets(self.mechanism), (steps, 1))
        return self.targets(np.asarray((1 + np.arange(steps)) * dt + shift, float))

    def twists(self, steps: int, dt: float) -> Array | None:
        """Torques in steps 0, 1, ... (steps, n_bodies, 3), at the middle of each."""
        return None if self.torques is None else self.torques(np.asarray((0.5 + np.arange(steps)) * dt, float))

    def starts(self, num_envs: int, seed: int = 1) -> State:
        """Start of every environment, (num_envs, n_bodies, 3 or 4); the first one is `start` itself.

        The others move a little differently, so that the environments of a batch do not all solve the same problem:
        the whole mechanism with a horizontal velocity up to NUDGE, or, if it is tied to the world, every joint.
        """
        rng = np.random.default_rng(seed)
        x, q, v, w = (np.repeat(part[None], num_envs, axis=0) for part in self.start)
        if num_envs == 1:
            return State(x, q, v, w)
        if any(joint.parent == "world" and joint.kind != "floating" for joint in self.mechanism.joints):
            sim = Simulator(self.mechanism, self.dt, num_envs, compiled=False)
            sim.set_state(x=x, q=q, v=v, w=w)
            phi, rates = sim.joint_positions(), sim.joint_velocities()
            rates[1:] += rng.uniform(-NUDGE, NUDGE, rates[1:].shape)
            sim.set_joint_state(phi, rates)
            state = State(*(part.copy() for part in sim.state))
            for part, first in zip(state, self.start, strict=True):
                part[0] = first  # exactly
            return state
        v[1:, :, :2] += rng.uniform(-NUDGE, NUDGE, (num_envs - 1, 1, 2))
        return State(x, q, v, w)


def resting_targets(mechanism: Mechanism) -> Array:
    """Targets of all free axes as the joints have them (n_axes,)."""
    return np.concatenate([np.zeros(0), *(joint.target for joint in mechanism.joints if joint.kind != "floating")])


def at_rest(mechanism: Mechanism, positions: ArrayLike | None = None, height: float | None = None) -> State:
    """x, q, v, w (n_bodies, 3 or 4) at these joint coordinates (n_axes,), or at zero, without motion.

    height: if given, all is lifted or lowered until the lowest contact is so high above its plane, m; along z.
    """
    sim = Simulator(mechanism, compiled=False)
    x, q, v, w = (part[0] for part in sim.state)
    sim.set_state(x=x if height is None else x + np.array([0.0, 0.0, CLEARANCE]))
    if positions is not None:
        sim.set_joint_state(positions)
    x, q, v, w = (part[0].copy() for part in sim.state)
    if height is not None:
        x[:, 2] += height - sim.contact_gaps().min()
    return State(x, q, v, w)
