"""Randomization from episode to episode: friction, masses, motors, gains, latency, pushes. Nothing does by default.

Everything is drawn anew at the start of an episode and applied to the nominal model: nothing adds up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import InputError
from vigym.engine.simulator import Simulator
from vigym.engine.validation import show
from vigym.envs.arguments import Bounds
from vigym.envs.saved import checked_arrays, refused

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Range = tuple[float, float]

# Arrays of a `Variation` that change from step to step
MEMORY = ("past", "delay", "forces", "countdown", "interval")


@dataclass(frozen=True)
class Randomization:
    """Ranges (low, high) from which an episode's values are drawn, uniformly; None leaves the nominal ones.

    friction: factor on the friction of all contacts and colliders
    mass: factor on mass and inertia, of each body by itself
    strength: factor on effort limits, of each axis by itself
    gains: factor on kp and kd, of each axis by itself
    latency: control steps by which actions arrive late, whole numbers
    push: force on the first body, N, in a random horizontal direction
    push_interval: time between pushes, s, each lasting one control step
    """

    friction: Range | None = None
    mass: Range | None = None
    strength: Range | None = None
    gains: Range | None = None
    latency: Range | None = None
    push: Range | None = None
    push_interval: Range = (1.0, 3.0)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            low, high = Bounds()(value, f"randomization: {field.name}")
            least = 0.0 if field.name in ("friction", "latency", "push") else 1e-6
            if low < least:
                raise InputError(f"randomization: {field.name} must be at least {least:g}, got {value}")
            if field.name == "latency" and (low % 1 or high % 1):
                raise InputError(f"randomization: latency must be whole numbers of control steps, got {value}")


class Variation:
    """The values of each environment's episode, and their effect."""

    def __init__(
        self, sim: Simulator, randomization: Randomization | Mapping[str, Any] | None, n_actions: int, dt: float
    ) -> None:
        if isinstance(randomization, Mapping):
            known = [field.name for field in fields(Randomization)]
            if unknown := sorted(set(randomization) - set(known)):
                raise InputError(f"randomization: {unknown[0]!r} is unknown; known: {', '.join(known)}")
            randomization = Randomization(**randomization)
        if not isinstance(randomization, Randomization | None):
            raise InputError(f"randomization must be a dict or a Randomization, got {show(randomization)}")
        self.ranges = randomization or Randomization()
        self.sim, self.dt = sim, dt
        self.frictions = ("friction", "collider_friction")[: 1 + sim.model.touches]  # parameters of the simulator
        names = ("mass", "inertia", *self.frictions, "effort_limit", "kp", "kd")
        self.nominal = {name: sim.parameter(name)[0] for name in names}
        self._check_effect()
        slots = 1 + (int(self.ranges.latency[1]) if self.ranges.latency else 0)
        n = sim.num_envs
        self.past = np.zeros((n, slots, n_actions))  # actions, the latest first
        self.delay = np.zeros(n, np.int64)
        self.forces = np.zeros((n, 2))  # of the next push
        self.countdown = np.full(n, np.inf)  # control steps until then
        self.interval = np.full(n, np.inf)
        self.hand: Array | None = None  # a force from outside, (n, n_bodies, 3) N: the user's push on the live page

    def _check_effect(self) -> None:
        """Raise an InputError for keys that have nothing to act on."""
        of = self.nominal
        touches = sum(of[name].size for name in self.frictions)
        there = {"friction": ("contacts", touches), "gains": ("drives", (of["kp"] + of["kd"]).any())}
        there["strength"] = "effort limits", np.isfinite(of["effort_limit"]).any()
        for name, (parts, some) in there.items():
            if getattr(self.ranges, name) is not None and not some:
                raise InputError(f"randomization: {name} has no effect on a robot without {parts}; leave it out")

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """One episode's values."""
        r, model = self.ranges, self.sim.model
        drawn: dict[str, Any] = {}
        if r.friction:
            drawn["friction factor"] = rng.uniform(*r.friction)
        if r.mass:
            drawn["mass factor"] = rng.uniform(*r.mass, model.n_bodies)
        if r.strength:
            drawn["strength factor"] = rng.uniform(*r.strength, model.n_axes)
        if r.gains:
            drawn["gain factor"] = rng.uniform(*r.gains, model.n_axes)
        if r.latency:
            drawn["latency"] = rng.integers(int(r.latency[0]), int(r.latency[1]), endpoint=True)
        if r.push:
            angle, size = rng.uniform(0, 2 * np.pi), rng.uniform(*r.push)
            drawn["push"] = size * np.cos(angle), size * np.sin(angle)
            drawn["push interval"] = rng.uniform(*r.push_interval)
        return drawn

    def start(self, env: Indices, draws: Mapping[str, Array]) -> None:
        """Take over the drawn values (len(env), ...)."""
        self.past[env] = 0.0
        values: dict[str, Any] = {}
        if "friction factor" in draws:
            factor = draws["friction factor"][:, None]
            values |= {name: self.nominal[name] * factor for name in self.frictions if self.nominal[name].size}
        if "mass factor" in draws:
            factor = draws["mass factor"]
            values["mass"] = self.nominal["mass"] * factor
            values["inertia"] = self.nominal["inertia"] * factor[..., None, None]
        if "strength factor" in draws:
            limit = self.nominal["effort_limit"]
            values["effort_limit"] = np.where(np.isfinite(limit), limit * draws["strength factor"], limit)
        if "gain factor" in draws:
            values |= {name: self.nominal[name] * draws["gain factor"] for name in ("kp", "kd")}
        if values:
            mask = np.zeros(self.sim.num_envs, bool)
            mask[env] = True
            full = {name: self.sim.parameter(name) for name in values}
            for name, value in values.items():
                full[name][env] = value
            self.sim.set_parameters(mask, **full)
        if "latency" in draws:
            self.delay[env] = draws["latency"]
        if "push" in draws:
            self.forces[env] = draws["push"]
            self.interval[env] = self.countdown[env] = np.ceil(draws["push interval"] / self.dt)

    def delayed(self, action: Array) -> Array:
        """The actions that arrive now."""
        if self.past.shape[1] == 1:
            return action
        self.past[:, 1:] = self.past[:, :-1]
        self.past[:, 0] = action
        return self.past[np.arange(len(action)), self.delay]

    def push(self) -> dict[str, Array]:
        """Forces on the bodies in this control step."""
        if self.ranges.push is None:
            return {} if self.hand is None else {"force": self.hand}
        self.countdown -= 1
        now = self.countdown <= 0
        self.countdown[now] = self.interval[now]
        force = np.zeros((self.sim.num_envs, self.sim.model.n_bodies, 3))
        force[:, 0, :2] = np.where(now[:, None], self.forces, 0.0)
        return {"force": force if self.hand is None else force + self.hand}

    def snapshot(self) -> dict[str, np.ndarray]:
        """Return the parts that change from step to step."""
        return {name: getattr(self, name).copy() for name in MEMORY}

    def checked(self, snapshot: Any) -> dict[str, np.ndarray]:
        """Copies of what `snapshot` returned; InputError if it is something else."""
        own = {name: getattr(self, name) for name in MEMORY}
        found = checked_arrays(snapshot, own, "variation", infinite=("countdown", "interval"))
        slots = self.past.shape[1]
        if ((found["delay"] < 0) | (found["delay"] >= slots)).any():
            raise refused(f"variation['delay'] must be 0 to {slots - 1}, got {show(found['delay'])}")
        return found
