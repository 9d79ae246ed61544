"""Mechanisms that only tests have, and the way they are stepped: `advance` looks at every single step.

Robots and scenes that benchmarks have as well are in `vigym.assets` and `vigym.benchmarks.scenes`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from vigym import Box, Mechanism, Simulator, Sphere
from vigym.engine.rotation import conjugate, multiply, to_rotation_vector
from vigym.engine.state import State

GRAVITY = 9.81
GAP = 1e-9  # m: no contact may be deeper than this after any step
OPEN = 1e-9  # m or rad: no joint may be further open than this
# One joint of every kind, and two that only `constrained` can make.
KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "planar", "universal", "spherical", "slab", "ball-slide")
CUSTOM = {"slab": (1, 0, 0, 1, 1, 1), "ball-slide": (1, 1, 0, 0, 0, 0)}


# -------------------- stepping


def check(sim: Simulator) -> None:
    """The last step converged, nothing is NaN, nothing penetrates."""
    status = sim.status
    assert status.converged.all(), (
        f"environments {np.flatnonzero(~status.converged)} failed, residual {status.residual}"
    )
    assert np.isfinite(sum(values.sum() for values in sim.state))
    if sim.model.n_contacts:
        assert sim.contact_gaps().min() >= -GAP


def advance(
    sim: Simulator, steps: int, read: Callable[[], Any] | None = None, every: int = 1, **controls: Any
) -> np.ndarray:
    """Step `steps` times; after every step: converged, finite, no gap below -GAP; at the end: no joint open.

    controls go to `sim.step`; one that is a function is called with the number of the step.
    read: called after every step, or every so many; what it returned, (steps // every, ...).
    """
    seen = []
    for k in range(steps):
        sim.step(**{name: value(k) if callable(value) else value for name, value in controls.items()})
        check(sim)
        if read is not None and (k + 1) % every == 0:
            seen.append(np.array(read()))
    assert sim.joint_error().max() < OPEN
    return np.array(seen)


def orders(errors: ArrayLike) -> np.ndarray:
    """Order of convergence from errors at h, h/2, h/4, ...: log2 of successive ratios, along the first axis."""
    errors = np.asarray(errors)
    return np.log2(errors[:-1] / errors[1:])


def change(after: State, before: State) -> np.ndarray:
    """Difference of two states, as gradients count it (num_envs, 12 n): x, rotation in the body frame, v, w."""
    turn = to_rotation_vector(multiply(conjugate(before.q), after.q))
    parts = np.concatenate([after.x - before.x, turn, after.v - before.v, after.w - before.w], -1)
    return parts.reshape(len(parts), -1)


# -------------------- geometry


def quaternion(rotation: Rotation) -> np.ndarray:
    """Scalar first."""
    return np.roll(rotation.as_quat(), 1, axis=-1)


def matrix(q: np.ndarray) -> np.ndarray:
    """R(q) of quaternions (..., 4), scalar first."""
    rotations = Rotation.from_quat(np.roll(q.reshape(-1, 4), -1, axis=-1))
    return rotations.as_matrix().reshape(*q.shape[:-1], 3, 3)


def random_normals(count: int, seed: int) -> np.ndarray:
    """Directions all over the sphere (count, 3): floors, walls and ceilings."""
    normals = np.random.default_rng(seed).normal(size=(count, 3))
    return normals / np.linalg.norm(normals, axis=-1, keepdims=True)


def angular_momentum(sim: Simulator, inertia: np.ndarray) -> np.ndarray:
    """Spin of the first body about its centre of mass, in the world (num_envs, 3); independent of `sim.momentum()`.

    R(q) (J w - turn x J w / 2 + k turn x (turn x J w)) for steps that were not cut: what the integrator conserves in
    free flight; turn = h w is the rotation vector of the step, k = (1 - x cot(x)) / (4 x^2) with x = |turn| / 2.
    """
    w = sim.state.w[:, 0]
    turn, Jw = sim.dt * w, w @ inertia
    x = np.maximum(np.linalg.norm(turn, axis=-1, keepdims=True) / 2, 1e-6)
    k = (1 - x / np.tan(x)) / (4 * x**2)
    across = np.cross(turn, Jw)
    return np.einsum("nij,nj->ni", matrix(sim.state.q[:, 0]), Jw - across / 2 + k * np.cross(turn, across))


# -------------------- joints


def rod_inertia(mass: float, length: float, radius: float = 0.02) -> tuple[float, float]:
    """Moments of a cylinder across and along."""
    return mass * (radius**2 / 4 + length**2 / 12), mass * radius**2 / 2


def pendulum(mass: float = 1.0, length: float = 1.0, gravity: float = GRAVITY, **options: Any) -> Mechanism:
    """A rod that hangs from the origin and turns about y; coordinate: its angle from hanging straight down."""
    across, along = rod_inertia(mass, length)
    m = Mechanism(gravity=(0, 0, -gravity))
    m.add_body("rod", mass=mass, inertia=(across, across, along))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), child_anchor=(0, 0, length / 2), **options)
    return m


def chain(
    n: int,
    kind: str | Sequence[str],
    free: bool = False,
    gravity: float = GRAVITY,
    length: float = 0.3,
    options: Callable[[str, int], dict[str, Any]] | None = None,
) -> Mechanism:
    """n links one after the other along x, horizontal at zero coordinates, by joints of one kind or of n kinds.

    The first link hangs on the world, or with `free` on a first body that flies. Hinge axes point in turn along y
    and z, slides are skew. options(kind, n_free): of that joint.
    """
    m = Mechanism(gravity=(0, 0, -gravity))
    inertia = np.diag([0.002, 0.004, 0.005]) + 0.0005 * (1 - np.eye(3))
    last, anchor = "world", (0.0, 0.0, 0.0)
    if free:
        m.add_body("base", mass=1.5, inertia=inertia)
        last, anchor = "base", (length / 2, 0, 0)
    free_axes = {"fixed": 0, "revolute": 1, "prismatic": 1, "cylindrical": 2, "planar": 3, "universal": 2}
    free_axes |= {"spherical": 3, "slab": 2, "ball-slide": 4}
    kinds = [kind] * n if isinstance(kind, str) else kind
    for k, kind in enumerate(kinds):
        m.add_body(f"link {k}", mass=1.0, inertia=inertia)
        axes: dict[str, Any] = {"axis": (0, 1, 0) if k % 2 == 0 else (0, 0, 1)}
        if kind not in ("revolute", "universal"):
            axes = {"axis": (0.5, 1.0, -0.3)}
        if kind in CUSTOM:
            axes["constrained"] = CUSTOM[kind]
        m.add_joint(
            f"joint {k}",
            "custom" if kind in CUSTOM else kind,
            last,
            f"link {k}",
            parent_anchor=anchor,
            child_anchor=(-length / 2, 0, 0),
            **axes,
            **(options(kind, free_axes[kind]) if options else {}),
        )
        last, anchor = f"link {k}", (length / 2, 0, 0)
    return m


def hinge_and_slider(gravity: float = 0.0, mass: float = 2.0, inertia: float = 0.3, **options: Any) -> Mechanism:
    """Two bodies on the world, with the same options: a wheel about z (of moment `inertia`) and a slider along z."""
    m = Mechanism(gravity=(0, 0, -gravity))
    m.add_body("wheel", mass=1.0, inertia=(0.2, 0.2, inertia))
    m.add_body("slider", mass=mass, inertia=(0.1, 0.1, 0.1))
    m.add_joint("hinge", "revolute", "world", "wheel", axis=(0, 0, 1), **options)
    m.add_joint("slide", "prismatic", "world", "slider", axis=(0, 0, 1), **options)
    return m


# -------------------- contacts


def corners(size: Sequence[float]) -> np.ndarray:
    """(8, 3), those with the lowest z first."""
    x, y, z = np.asarray(size) / 2
    return np.array([(i * x, j * y, k * z) for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)])


def box(size: Sequence[float] = (0.4, 0.3, 0.2), mass: float = 1.0, friction: float = 0.5) -> Mechanism:
    """A box with a contact in each of its corners, above the ground z = 0."""
    m = Mechanism()
    m.add_body("box", mass=mass, shapes=[Box(tuple(size))], position=(0, 0, size[2] / 2))
    for k, point in enumerate(corners(size)):
        m.add_contact(f"corner {k}", "box", point, friction=friction)
    return m


def on_planes(
    normals: np.ndarray,
    friction: ArrayLike,
    points: np.ndarray,
    radius: float = 0.0,
    mass: float = 1.0,
    gravity: float = 0.0,
) -> Mechanism:
    """One body for every plane through the origin, at rest on it: contacts (the same for all) at `points`.

    normals: (n, 3). friction: (n,) or one for all. A body's axes are t1, t2 and n of its contacts; its own x, y, z.
    """
    m = Mechanism(gravity=(0, 0, -gravity))
    shape = Sphere(radius) if radius > 0 else Box((0.2, 0.2, 0.1))
    height = radius - points[:, 2].min()
    for k, (normal, cf) in enumerate(zip(normals, np.broadcast_to(friction, len(normals)), strict=True)):
        # the frame that a contact would choose; the tests look at it, see test_tangents_are_orthonormal
        probe = Mechanism()
        probe.add_body("probe", mass=1.0, inertia=(1, 1, 1))
        frame = np.array([*probe.add_contact("probe", "probe", normal=normal).tangents, normal])
        orientation = quaternion(Rotation.from_matrix(frame.T))
        place = {"position": height * normal, "orientation": orientation}
        m.add_body(f"body {k}", mass=mass, shapes=[shape], collide=False, **place)
        for j, point in enumerate(points):
            m.add_contact(f"contact {k} {j}", f"body {k}", point, radius=radius, friction=cf, normal=normal)
    return m


def frames(m: Mechanism) -> np.ndarray:
    """Rows t1, t2, n of every contact, (n_contacts, 3, 3)."""
    return np.array([[*contact.tangents, contact.normal] for contact in m.contacts])
