"""An engine's motion in a case at one time step, and figures from poses and velocities: by the same formulas
for all engines."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.benchmarks.compare.cases import Case, Mode
from vigym.benchmarks.measures import Measures
from vigym.benchmarks.scenes import Scene
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.rotation import conjugate, cross, rotate

LOOK = 0.001  # s between looks, where steps are not longer
EVERY = 0.01  # s between the points of time at which motions are compared
TOUCH = 0.001  # m: lower contacts count as touching
LEFT = 0.005  # m: a contact that rises less between two touches chatters, and has not left the ground
ABSURD = 100.0  # m: beyond this a simulation has diverged


@dataclass(frozen=True, eq=False)
class Recording:
    """times (T,), s; x, q, v, omega (T, n_bodies, 3 or 4), omega in the world; cost: s of CPU a simulated second."""

    mode: Mode
    dt: float
    times: Array
    x: Array
    q: Array
    v: Array
    omega: Array
    cost: float
    failures: int

    @property
    def diverged(self) -> bool:
        """True if it ended early."""
        return not np.isfinite(self.x).all()

    def common(self) -> Array:
        """x at the points of time that all recordings share (K, n_bodies, 3)."""
        step = max(1, round(EVERY / (self.times[1] - self.times[0])))
        return self.x[::step]


def record(mode: Mode, scene: Scene, dt: float, seconds: float, timed: bool = True) -> Recording:
    """Run it; once for the clock, once to look."""
    engine = mode.runner(scene, dt, seconds)
    cost = min(engine.time().cpu for _ in range(2)) / seconds if timed else np.nan
    every = max(1, round(LOOK / dt))
    count = engine.steps // every + 1
    x, v, omega = np.full((3, count, len(scene.start.x), 3), np.nan)
    q = np.full((*x.shape[:2], 4), np.nan)
    engine.reset()
    failures = 0
    for k in range(engine.steps + 1):
        if k:
            engine.step(k - 1)
            failures += engine.failures()
        if k % every == 0:
            poses = engine.poses()
            assert poses is not None
            i = k // every
            x[i], q[i] = poses
            v[i], omega[i] = engine.velocities()
            if not np.abs(x[i]).max() < ABSURD:
                x[i:] = np.nan
                break
    return Recording(mode, dt, np.arange(count, dtype=float) * every * dt, x, q, v, omega, cost, failures)


class Derived(NamedTuple):
    """Over time (T, ...): gaps (T, c) m; slip (T, c) m, run up since the start in stances of a contact; stances: how
    many there were; separation (T,) m; energy (T,) J; linear, angular (T, 3): momentum, and that about the centre of
    mass, N s and N m s; pole (T,): angular momentum about the vertical through the origin."""

    gaps: Array
    slip: Array
    stances: int
    separation: Array
    energy: Array
    linear: Array
    angular: Array
    pole: Array


def in_stance(gaps: Array) -> NDArray[np.bool_]:
    """Return whether contacts are in a stance, by their gaps, m (both (T, c)).

    It lasts from a touch to the last one before the contact rises to LEFT: lower hops are part of it, or else a contact
    that chatters would slip in many short stances, and not at all in between. Lifting off is not.
    """
    touching = gaps < TOUCH
    stance = np.zeros_like(touching)
    down = last = np.zeros(gaps.shape[1], bool)
    for t in range(len(gaps)):
        stance[t] = down = touching[t] | (down & (gaps[t] < LEFT))
    for t in reversed(range(len(gaps))):
        stance[t] = last = stance[t] & (touching[t] | last)
    return stance


def derive(case: Case, scene: Scene, r: Recording) -> Derived:
    """All that tables and pictures show."""
    m, measures = scene.mechanism, Measures(scene.mechanism)
    mass = np.array([body.mass for body in m.bodies])
    inertia = np.array([body.inertia for body in m.bodies])
    gaps = measures.gaps(r.x, r.q)
    stance = in_stance(gaps)
    b, normal = measures.bodies, measures.normals
    radius = np.array([contact.radius for contact in m.contacts]).reshape(-1, 1)
    arm = rotate(r.q[:, b], measures.points) - radius * normal
    sliding = r.v[:, b] + cross(r.omega[:, b], arm)
    sliding = sliding - (sliding * normal).sum(-1, keepdims=True) * normal
    step = r.times[1] - r.times[0]
    slip = np.cumsum(np.linalg.norm(sliding, axis=-1) * stance * step, axis=0)
    stances = int((stance[1:] & ~stance[:-1]).sum() + stance[:1].sum())
    w = rotate(conjugate(r.q), r.omega)
    Jw = np.einsum("bij,tbj->tbi", inertia, w)
    energy = 0.5 * (mass * (r.v**2).sum(-1)).sum(-1) + 0.5 * (w * Jw).sum((-1, -2))
    energy -= (mass * (r.x @ m.gravity)).sum(-1)
    linear = (mass[:, None] * r.v).sum(1)
    centre = (mass[:, None] * r.x).sum(1) / mass.sum()
    spin = rotate(r.q, Jw)
    angular = (cross(r.x - centre[:, None], mass[:, None] * r.v) + spin).sum(1)
    pole = (cross(r.x, mass[:, None] * r.v) + spin).sum(1)[:, 2]
    separation = np.array([measures.separation(x, q) for x, q in zip(r.x, r.q, strict=True)])
    return Derived(gaps, slip, stances, separation, energy, linear, angular, pole)


@dataclass(frozen=True)
class Figures:
    """The figures of one recording, as tables show them; None where they make no sense, or it ended too early.

    deepest: m. slip: m a stance. separation: m. gained: J of energy that came from nowhere. momentum: largest change
    where nothing acts, relative to its size. limit: m, largest distance from the engine's own fine steps. exact: m,
    from the formula at the end. cost: s a simulated second.
    """

    label: str
    dt: float
    deepest: float | None
    slip: float | None
    separation: float | None
    gained: float | None
    momentum: float | None
    limit: float | None
    exact: float | None
    cost: float
    failures: int
    diverged: bool


def finite(value: float | None) -> float | None:
    """None for what a recording that ended early does not tell."""
    return float(value) if value is not None and np.isfinite(value) else None


def figures(case: Case, scene: Scene, r: Recording, d: Derived, fine: Recording | None) -> Figures:
    """Return what the tables say about a recording."""
    has_joints = any(joint.kind != "floating" for joint in scene.mechanism.joints)
    contacts = len(scene.mechanism.contacts) > 0
    limit = None
    if fine is not None and not (r.diverged or fine.diverged):
        a, b = r.common(), fine.common()
        most = min(len(a), len(b))
        limit = float(np.linalg.norm(a[:most] - b[:most], axis=-1).max())
    end = round(case.seconds / (r.times[1] - r.times[0]))
    exact = None
    if case.exact is not None and end < len(r.x):
        exact = finite(float(np.linalg.norm(r.x[end, case.index(scene)] - case.exact())))
    return Figures(
        r.mode.label,
        r.dt,
        deepest=max(0.0, float(-np.nanmin(d.gaps))) if contacts else None,
        slip=finite(d.slip[-1].sum() / d.stances) if contacts and d.stances else None,
        separation=float(np.nanmax(d.separation)) if has_joints else None,
        gained=finite(np.maximum(np.diff(d.energy), 0.0).sum()) if case.passive else None,
        momentum=finite(drift(scene, d)),
        limit=limit,
        exact=exact,
        cost=r.cost,
        failures=r.failures,
        diverged=r.diverged,
    )


def drift(scene: Scene, d: Derived) -> float | None:
    """Largest change of a momentum that nothing acts on, relative to its size.

    In flight (from the start to the first touch, without torques): momentum along the ground, and the angular one
    about the centre of mass. On a joint to the world: the angular one about the vertical through it.
    """
    if any(joint.parent == "world" for joint in scene.mechanism.joints):
        return float(np.abs(d.pole - d.pole[0]).max() / abs(d.pole[0])) if d.pole[0] else None
    down = np.flatnonzero(d.gaps.min(-1, initial=np.inf) < TOUCH)
    first = int(down[0]) if len(down) else len(d.gaps)
    if first < 2 or scene.torques is not None:
        return None
    changes = []
    for values in (d.linear[:first, :2], d.angular[:first]):
        size = np.linalg.norm(values[0])
        if size > 1e-9:
            changes.append(np.linalg.norm(values - values[0], axis=-1).max() / size)
    return float(max(changes)) if changes else None
