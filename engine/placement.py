"""Putting environments into states: what a user gives is completed, checked and written, all of it or nothing.

A state is where a step ended: a pose, and the velocities over the step that led there. One that was set from outside
comes with the length of a step, h0, that can have led to it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine import collisions, coordinates
from vigym.engine.admission import check_state, first, too_deep
from vigym.engine.errors import StateError
from vigym.engine.kernels.integrator import MOST_TURN
from vigym.engine.kernels.step import TICKS
from vigym.engine.lanes import Indices, Lanes
from vigym.engine.model import Model
from vigym.engine.rotation import Array
from vigym.engine.separation import Environment, deepest, separated
from vigym.engine.state import STATUS, State
from vigym.engine.validation import batch, indices


class Placement:
    """The states of the environments in `lanes`, a batch of `model` with the time step `dt`.

    is_checked: False as long as some environment is where it was made, which is checked when it is first used
    """

    def __init__(self, model: Model, lanes: Lanes, dt: float) -> None:
        self._model, self._lanes, self._dt = model, lanes, dt
        self._all = np.arange(lanes.num_envs)
        self.is_checked, self._overlap = False, "error"

    def start(self, overlap: str) -> None:
        """Put all environments where the mechanism says, at rest; see `check_start`."""
        self._overlap = overlap
        x, q, phi = coordinates.start(self._model)
        state, rates, h0 = State(x, q, np.zeros_like(x), np.zeros_like(x)), np.zeros_like(phi), np.array([self._dt])
        if overlap == "separate":
            self._check(self._all[:1], state, phi, overlap)
            state, phi = self._apart(self._all[:1], state, phi, rates, h0)
        self._put(self._all, state, phi, rates, h0)

    def check_start(self) -> None:
        """Check where environments were made, when that is first used."""
        if not self.is_checked:
            state = State(*(self._lanes.get(name) for name in "xqvw"))
            self._check(self._all, state, self._lanes.values("angle"), self._overlap)
            self._write(self._all, self._overlap)

    def set(self, env: Indices, given: Mapping[str, Any], overlap: str) -> None:
        """Set what is given of x, q, v and w of the environments `env`; the rest stays as it is."""
        model, new = self._model, self._completed(env, given)
        if "x" in given or "q" in given:
            phi = coordinates.wound(model, coordinates.positions(model, new.x, new.q), self._lanes.values("angle")[env])
        else:
            phi = self._lanes.values("angle")[env]  # with the turns counted so far
        self._check(env, new, phi, overlap)
        h0 = self._step_before(new.w)
        rates = coordinates.velocities(model, *new, h0)
        if overlap == "separate":
            new, phi = self._apart(env, new, phi, rates, h0)
        self._write(env, overlap, new, phi, rates, h0)

    def set_joints(
        self, env: Indices, positions: ArrayLike, velocities: ArrayLike | None, roots: Mapping[str, Any], overlap: str
    ) -> None:
        """Set the environments `env` from joint coordinates and rates, and from x, q, v and w of bodies that float."""
        if unknown := roots.keys() - set("xqvw"):
            raise TypeError(f"set_joint_state() got an unexpected keyword argument {min(unknown)!r}")
        model, n, axes = self._model, self._lanes.num_envs, (self._model.n_axes,)
        phi = batch(positions, "positions", n, axes, StateError, env)
        rates = np.zeros_like(phi) if velocities is None else batch(velocities, "velocities", n, axes, StateError, env)
        root = self._completed(env, roots)
        phi = coordinates.chosen_way(model, coordinates.close_loops(model, phi, root.x, root.q))
        rates = coordinates.close_rates(model, phi, rates, root.x, root.q)
        # no body spins faster than all joints and the fastest root together; where that could be too fast for one
        # step, a very short one tells how fast it really is
        fastest = np.abs(rates).sum(-1) + np.linalg.norm(root.w, axis=-1).max(-1, initial=0.0)
        h0 = np.full(len(env), self._dt)
        if (fastest * self._dt > MOST_TURN).any():
            h0 = self._step_before(self._state_of(phi, rates, root, 1e-3 / np.maximum(fastest, 1e-3)).w)
        new = self._state_of(phi, rates, root, h0)
        if model.loops.joints:  # joints that close loops have coordinates of their own
            phi = coordinates.wound(model, coordinates.positions(model, new.x, new.q), phi)
            rates = coordinates.velocities(model, *new, h0)
        self._check(env, new, phi, overlap, closed=not model.loops.joints)
        if overlap == "separate":
            new, phi = self._apart(env, new, phi, rates, h0)
        self._write(env, overlap, new, phi, rates, h0)

    def published(self, name: str) -> Array:
        """A field that contacts publish; of a start that nobody has used yet, without leaving a trace of the look."""
        return self._lanes.published(name) if self.is_checked else self._preview(name, self._all)

    def gaps_at(self, env: ArrayLike, x: ArrayLike, q: ArrayLike) -> Array:
        """Gaps (len(env), n_contacts) that the environments `env` would have at the poses x, q; nothing changes."""
        which, n = indices(env, "env", self._lanes.num_envs), self._model.n_bodies
        poses = {"x": batch(x, "x", len(which), (n, 3), StateError), "q": batch(q, "q", len(which), (n, 4), StateError)}
        return self._preview("gap", which, **poses)[..., 0]

    def sunk(self, env: Indices) -> Iterator[tuple[str, int, float]]:
        """Publish the environments `env`; the first hard contact deep in the ground, if any: name, environment, m."""
        self._lanes.publish(env)
        if not self._model.n_contacts:
            return
        gap = self._lanes.values("gap")[env]
        for k, c in too_deep(self._model, gap):
            yield self._model.mechanism.contacts[c].name, env[k], -gap[k, c]

    def _preview(self, name: str, env: Indices, **fields: Array) -> Array:
        """A field that contacts would publish, (len(env), n, k), if others had these values."""
        with self._lanes.readers, self._lanes.turn.taken(), self._lanes.undone(env, always=True):
            self._lanes.put(env, **fields)
            self._lanes.publish(env)
            return self._lanes.get(name)[env]

    # -------------------------------------------------------------------------------------------- parts
    def _completed(self, env: Indices, given: Mapping[str, Any]) -> State:
        """The state of the environments `env`, with what is given in its place."""
        n, bodies = self._lanes.num_envs, self._model.mechanism.bodies
        parts = {
            name: batch(given[name], name, n, (len(bodies), 4 if name == "q" else 3), StateError, env)
            if given.get(name) is not None
            else self._lanes.get(name)[env]
            for name in "xqvw"
        }
        size = np.linalg.norm(parts["q"], axis=-1, keepdims=True)
        for k, i in first(np.abs(size[..., 0] - 1.0) > 1e-3):
            raise StateError(
                f"q of body {bodies[i].name!r} of environment {env[k]} has length {size[k, i, 0]:.6g}, not 1"
            )
        return State(**parts | {"q": parts["q"] / size})

    def _state_of(self, phi: Array, rates: Array, roots: State, h: Array) -> State:
        """The state to which a step of length h (N,) at the joint velocities `rates` leads."""
        n, model = len(phi), self._model
        x0, q0 = coordinates.pose_before(*roots, h)
        earlier = coordinates.close_loops(model, coordinates.earlier(model, phi, rates, h), x0, q0)
        both = [np.concatenate(pair) for pair in ((earlier, phi), (x0, roots.x), (q0, roots.q))]
        x, q = coordinates.forward(model, *both)
        v, w = coordinates.velocity_between((x[:n], q[:n]), (x[n:], q[n:]), h)
        floats = [joint is None for joint in model.tree.joints]
        v[:, floats], w[:, floats] = roots.v[:, floats], roots.w[:, floats]  # to the bit
        return State(x[n:], q[n:], v, w)

    def _apart(self, env: Indices, state: State, phi: Array, rates: Array, h0: Array) -> tuple[State, Array]:
        """The state with what overlaps moved apart, and its joint coordinates; velocities of joints and of bodies that
        float stay. StateError where there is no way."""
        model, phi = self._model, phi.copy()
        x, q, v, w = (part.copy() for part in state)
        offset, bounds, bounded = (self._lanes.get(name)[env] for name in ("offset", "bounds", "bounded"))
        for k in np.flatnonzero(deepest(model, x, q, offset[..., 0]) > 0.0):
            if model.loops.parts:
                raise StateError("overlap='separate' does not go together with joints that close loops, or couplings")
            here, one = Environment(offset[k, :, 0], bounds[k], bounded[k]), slice(k, k + 1)
            found = separated(model, x[k], q[k], phi[k], here)
            if found is None:
                what = collisions.overlaps(model, x[one], q[one])
                names = f"colliders {what[1]!r} and {what[2]!r} overlap by {what[3]:.3g} m" if what else "contacts sink"
                raise StateError(
                    f"{names} in environment {env[k]}, and no motion that joints and limits allow was found that moves "
                    "all bodies apart: start them apart, or let some pass through others with ignore_contact"
                )
            x[k], q[k], phi[k] = found
            moved = self._state_of(phi[one], rates[one], State(x[one], q[one], v[one], w[one]), h0[one])
            x[one], q[one], v[one], w[one] = moved
        return State(x, q, v, w), phi

    def _step_before(self, w: Array) -> Array:
        """Length of the step (N,) that can have led to these spins: dt, halved as often as needed."""
        spin = np.linalg.norm(w, axis=-1).max(-1)
        halvings = np.minimum(np.ceil(np.log2(np.maximum(spin * self._dt / MOST_TURN, 1.0))), np.log2(TICKS))
        return self._dt / 2.0**halvings

    def _check(self, env: Indices, state: State, phi: Array, overlap: str, closed: bool = False) -> None:
        """Check all but contacts, before anything is written; limits only if `overlap` is not to be kept."""
        kept = overlap == "keep"
        limits = None if kept else (self._lanes.get("bounds")[env], self._lanes.get("bounded")[env])
        check_state(self._model, self._dt, state, limits, env, phi, closed=closed)

    def _write(self, env: Indices, overlap: str, *state: Any) -> None:
        """Write a `state` (see `_put`), or leave the one that is there; StateError, and nothing has changed, if a hard
        contact is deep in the ground, or if colliders are in each other and that is not to be kept."""
        with self._lanes.undone(env):
            if state:
                self._put(env, *state)
            if overlap != "keep":
                self._check_overlap(env)
            for name, number, depth in self.sunk(env):
                raise StateError(
                    f"contact {name!r} of environment {number} penetrates its plane by {depth:.3g} m: start it at or "
                    "above the plane"
                )
        self.is_checked |= len(env) == self._lanes.num_envs

    def _check_overlap(self, env: Indices) -> None:
        """StateError if hard colliders of the environments `env` are in each other."""
        if not self._model.touches:
            return
        if found := collisions.overlaps(self._model, *(self._lanes.get(name)[env] for name in "xq")):
            k, first, second, depth = found
            raise StateError(
                f"colliders {first!r} and {second!r} of environment {env[k]} overlap by {depth:.3g} m: start them "
                "apart, or let their bodies pass through each other with ignore_contact"
            )

    def _put(self, env: Indices, state: State, phi: Array, rates: Array, h0: Array) -> None:
        """Write a state, with nothing to start warm from."""
        clean = {"fresh": 1.0, "struck": 0.0, "even": 0.0, "owed": 0.0, **dict.fromkeys(STATUS, 0.0), "converged": 1.0}
        self._lanes.forget(env)
        self._lanes.put(env, **state._asdict(), angle=phi[..., None], rate=rates[..., None], h0=h0, **clean)
