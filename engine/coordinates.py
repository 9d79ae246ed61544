"""Joint coordinates: read-out from poses, and poses from joint coordinates. Arrays lead with the environment, (N, ...).

Coordinates of a joint's free axes, translations first: lengths along its axes in the parent's frame; one free rotation:
its angle; two (a Hooke joint, axis 1 in the parent, axis 2 in the child): both angles; three: the rotation vector.
Velocities are their rates; three free rotations report the relative angular velocity along the child's axes instead.
"""

import numpy as np

from vigym.engine.joint import Joint
from vigym.engine.model import Model
from vigym.engine.rotation import Array, conjugate, cross, from_rotation_vector, multiply, rotate, to_rotation_vector


class Frames:
    """Poses and velocities of all bodies, and of the world as body "world"."""

    def __init__(self, model: Model, x: Array, q: Array, v: Array | None = None, w: Array | None = None) -> None:
        names = [body.name for body in model.mechanism.bodies]
        still = np.zeros((len(x), 3))
        identity = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(x), 4))
        self.x = {name: x[:, i] for i, name in enumerate(names)} | {"world": still}
        self.q = {name: q[:, i] for i, name in enumerate(names)} | {"world": identity}
        if v is not None and w is not None:
            self.v = {name: v[:, i] for i, name in enumerate(names)} | {"world": still}
            self.omega = {name: rotate(q[:, i], w[:, i]) for i, name in enumerate(names)} | {"world": still}


def along(vectors: Array, axes: Array) -> Array:
    """Components of vectors (N, k) along axes (n, k); not a matrix product, whose rounding depends on N."""
    return (vectors[:, None, :] * axes).sum(-1)


def offset(joint: Joint, at: Frames) -> Array:
    """Child's anchor minus the parent's, in the parent's frame (N, 3)."""
    p, c = joint.parent, joint.child
    world = at.x[c] + rotate(at.q[c], joint.child_anchor) - at.x[p] - rotate(at.q[p], joint.parent_anchor)
    return rotate(conjugate(at.q[p]), world)


def relative(joint: Joint, at: Frames) -> Array:
    """Rotation from the joint frame to the child's frame, a quaternion (N, 4)."""
    return multiply(conjugate(joint.orientation), multiply(conjugate(at.q[joint.parent]), at.q[joint.child]))


def slide_axes(joint: Joint) -> Array:
    """Translation axes in the parent's frame, rows."""
    return np.array([rotate(joint.orientation, axis) for axis in joint.basis])


def joint_coordinates(joint: Joint, at: Frames) -> Array:
    """Coordinates of the free axes, angles in (-pi, pi] (N, n_free)."""
    lengths = along(offset(joint, at), slide_axes(joint)[~joint.constrained[:3]])
    axes, e = joint.basis[~joint.constrained[3:]], relative(joint, at)
    if len(axes) == 1:
        angles = 2.0 * np.arctan2(along(e[:, 1:], axes)[:, 0], e[:, 0])[:, None]
        angles = (angles + np.pi) % (2.0 * np.pi) - np.pi
    elif len(axes) == 2:
        a1, a2 = axes
        a3 = cross(a1, a2)
        second = rotate(e, a2)  # the child's axis seen from the joint frame
        first = rotate(conjugate(e), a1)  # the joint frame's axis seen from the child
        (s1, c1), (s2, c2) = along(second, np.array([a3, a2])).T, along(first, np.array([a3, a1])).T
        angles = np.stack([np.arctan2(s1, c1), np.arctan2(s2, c2)], -1)
    else:
        angles = along(to_rotation_vector(e), axes)
    return np.concatenate([lengths, angles], -1)


def joint_rows(joint: Joint, at: Frames) -> Array:
    """The constraint g of a joint, DESIGN's rows; zero where the joint is closed (N, 6 - n_free)."""
    rows = along(offset(joint, at), slide_axes(joint)[joint.constrained[:3]])
    e, free = relative(joint, at), joint.basis[~joint.constrained[3:]]
    if len(free) == 2:
        turned = along(rotate(e, free[1]), free[:1])
    else:
        turned = along(e[:, 1:], joint.basis[joint.constrained[3:]])
    return np.concatenate([rows, turned], -1)


def axis_joints(model: Model) -> list[tuple[int, Joint]]:
    """Joints that constrain something, with their first axis."""
    joints = zip(model.first_axis, model.mechanism.joints, strict=False)
    return [(int(first), joint) for first, joint in joints if joint.kind != "floating"]


def positions(model: Model, x: Array, q: Array) -> Array:
    """All joint coordinates (N, n_axes); an angle with limits is given in the turn that holds their middle."""
    at = Frames(model, x, q)
    out = np.zeros((len(x), model.n_axes))
    for first, joint in axis_joints(model):
        values = joint_coordinates(joint, at)
        turning = np.array([motion == "rotation" for motion, _ in joint.free_axes], bool)
        if turning.sum() < 3:
            # half a turn beyond a single limit that excludes zero
            low = np.where(np.isfinite(joint.lower), joint.lower, np.minimum(joint.upper - 2 * np.pi, -np.pi))
            high = np.where(np.isfinite(joint.upper), joint.upper, np.maximum(joint.lower + 2 * np.pi, np.pi))
            both = np.isfinite(joint.lower) & np.isfinite(joint.upper)
            middle = np.where(both | (low > 0) | (high < 0), 0.5 * (low + high), 0.0)
            values = np.where(turning, values + 2 * np.pi * np.rint((middle - values) / (2 * np.pi)), values)
        out[:, first : first + joint.n_free] = values
    return out


def velocities(model: Model, x: Array, q: Array, v: Array, w: Array) -> Array:
    """All joint velocities (N, n_axes)."""
    axes = model.axes
    still = np.zeros((len(x), 1, 3))
    identity = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(x), 1, 4))
    x, v = np.concatenate([x, still], 1), np.concatenate([v, still], 1)
    q = np.concatenate([q, identity], 1)
    omega = rotate(q, np.concatenate([w, still], 1))
    p, c = axes.parent, axes.child
    direction = rotate(q[:, axes.carrier], axes.direction)
    turn = omega[:, c] - omega[:, p]
    rho = rotate(q[:, c], axes.anchor)
    arm = x[:, c] + rho - x[:, p]
    slip = v[:, c] + cross(omega[:, c], rho) - v[:, p] - cross(omega[:, p], arm)
    return (direction * np.where(axes.slides[:, None], slip, turn)).sum(-1)


def errors(model: Model, x: Array, q: Array) -> Array:
    """max |g| of every joint (N, n_joints); 0 for floating joints."""
    at = Frames(model, x, q)
    out = np.zeros((len(x), len(model.mechanism.joints)))
    for j, joint in enumerate(model.mechanism.joints):
        if joint.kind != "floating" and joint.n_free < 6:
            out[:, j] = np.abs(joint_rows(joint, at)).max(-1)
    return out


def forward(
    model: Model, coordinates: Array, rates: Array, x: Array, q: Array, v: Array, w: Array
) -> tuple[Array, Array, Array, Array]:
    """Poses and velocities of all bodies from joint coordinates and rates (N, n_axes); bodies that float keep theirs.

    The coordinates of joints that close loops are not used.
    """
    x, q, v, w = x.copy(), q.copy(), v.copy(), w.copy()
    names = [joint.name for joint in model.mechanism.joints]
    at = Frames(model, x, q, v, w)  # views of the arrays that are filled in below, except omega
    for i in model.tree.order:
        joint = model.tree.joints[i]
        if joint is None:
            continue
        p = joint.parent
        first = model.first_axis[names.index(joint.name)]
        values, speeds = coordinates[:, first : first + joint.n_free], rates[:, first : first + joint.n_free]
        kt = int((~joint.constrained[:3]).sum())
        axes = joint.basis[~joint.constrained[3:]]
        turn = values[:, kt:]
        if len(axes) == 2:
            e = multiply(from_rotation_vector(turn[:, :1] * axes[0]), from_rotation_vector(turn[:, 1:] * axes[1]))
        else:
            e = from_rotation_vector(along(turn, axes.T))
        q[:, i] = multiply(multiply(at.q[p], joint.orientation), e)
        q[:, i] /= np.linalg.norm(q[:, i], axis=-1, keepdims=True)
        slides = slide_axes(joint)[~joint.constrained[:3]]
        anchor = rotate(at.q[p], joint.parent_anchor + along(values[:, :kt], slides.T))
        rho = rotate(q[:, i], joint.child_anchor)
        x[:, i] = at.x[p] + anchor - rho
        if len(axes) == 2:
            first_axis = rotate(at.q[p], rotate(joint.orientation, axes[0]))
            omega = speeds[:, kt : kt + 1] * first_axis + rotate(q[:, i], speeds[:, kt + 1 :] * axes[1])
        else:
            omega = rotate(q[:, i], along(speeds[:, kt:], axes.T))
        at.omega[joint.child] = omega = omega + at.omega[p]
        slip = rotate(at.q[p], along(speeds[:, :kt], slides.T))
        v[:, i] = at.v[p] + cross(at.omega[p], anchor) + slip - cross(omega, rho)
        w[:, i] = rotate(conjugate(q[:, i]), omega)
    return x, q, v, w


def close_loops(
    model: Model, coordinates: Array, rates: Array, roots: tuple[Array, Array, Array, Array]
) -> tuple[Array, Array]:
    """The nearest joint coordinates and rates (N, n_axes) at which the joints that close loops are closed.

    Gauss-Newton on the coordinates of the tree's joints, smallest change first; where a loop cannot be closed the
    result is the best compromise, and `errors` tells.
    """
    loops = [model.mechanism.joints[j] for j in model.loops.joints]
    if not loops or not model.n_axes:
        return coordinates, rates

    def rows(phi: Array, env: int) -> Array:
        at = [np.broadcast_to(value[env], (len(phi), *value.shape[1:])) for value in roots]
        x, q, _, _ = forward(model, phi, np.zeros_like(phi), *at)
        frames = Frames(model, x, q)
        return np.concatenate([joint_rows(joint, frames) for joint in loops], -1)

    coordinates, rates = coordinates.copy(), rates.copy()
    step = 1e-6 * np.concatenate([np.eye(model.n_axes), -np.eye(model.n_axes)])
    for env in range(len(coordinates)):
        for _ in range(50):
            g = rows(coordinates[env : env + 1], env)[0]
            nudged = rows(coordinates[env] + step, env)
            jacobian = (nudged[: model.n_axes] - nudged[model.n_axes :]).T / 2e-6
            # rows stated twice (planar loops) have singular values at rounding level
            inverse = np.linalg.pinv(jacobian, rcond=1e-7)
            if np.abs(g).max() < 1e-13:
                break
            change = -inverse @ g
            coordinates[env] += change * min(1.0, 0.5 / max(np.abs(change).max(), 1e-300))
        rates[env] -= inverse @ (jacobian @ rates[env])
    return coordinates, rates
