"""Joint coordinates: read-out from poses, and poses from joint coordinates. Arrays lead with the environment, (N, ...).

Coordinates of a joint's free axes, translations first: lengths along its axes in the parent's frame; one free rotation:
its angle; two (a Hooke joint, axis 1 in the parent, axis 2 in the child): both angles; three: the rotation vector, the
shorter way round (see `chosen_way`).
Velocities are their mean rates over the step that led to the pose, as the state's own velocities are; three free
rotations report the relative angular velocity along the child's axes instead.

Everything runs over all joints at once, in six SLOTS a joint: translations along and rotations about its three axes; a
slot is a row of the constraint, or a coordinate. Poses from coordinates are a loop, see motion.py.
"""

import numpy as np

from vigym.engine import motion
from vigym.engine.model import JointTable, Model
from vigym.engine.rotation import (
    Array,
    conjugate,
    cross,
    from_rotation_vector,
    long_rotation_vector,
    multiply,
    rotate,
    to_rotation_vector,
)

Pose = tuple[Array, Array]


def with_world(x: Array, q: Array) -> Pose:
    """The poses and, as the last body, that of the world."""
    identity = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(q), 1, 4))
    return np.concatenate([x, np.zeros((len(x), 1, 3))], 1), np.concatenate([q, identity], 1)


def along(vectors: Array, axes: Array) -> Array:
    """Components of vectors (..., 3) along axes (..., k, 3); not a matrix product, whose rounding depends on N."""
    return (vectors[..., None, :] * axes).sum(-1)


def relative(table: JointTable, x: Array, q: Array) -> Pose:
    """Child's anchor minus the parent's, in the parent's frame (N, J, 3), and the rotation from the joint frame to the
    child's (N, J, 4)."""
    x, q = with_world(x, q)
    qp, qc = q[:, table.parent], q[:, table.child]
    back = conjugate(qp)
    world = x[:, table.child] + rotate(qc, table.child_anchor) - x[:, table.parent]
    return rotate(back, world) - table.parent_anchor, multiply(conjugate(table.orientation), multiply(back, qc))


def hooke_slots(table: JointTable, e: Array) -> tuple[Array, Array, Array, Array]:
    """Axes 1 and 2 of the joints with two free rotations, where the child has taken axis 2 (seen from the joint frame)
    and the joint frame axis 1 (seen from the child)."""
    a1, a2, e = table.first_turn, table.second_turn, e[:, table.hooke]
    return a1, a2, rotate(e, a2), rotate(conjugate(e), a1)


def rows(table: JointTable, x: Array, q: Array) -> Array:
    """The constraint g of the joints, zero where a joint is closed; (N, J, 6), 0 in the free slots."""
    offset, e = relative(table, x, q)
    g = np.concatenate([along(offset, table.slides), along(e[..., 1:], table.basis)], -1)
    if table.hooke.size:
        a1, _, second, _ = hooke_slots(table, e)
        g[:, table.hooke, 3:] = (second * a1).sum(-1)[..., None]
    return np.where(table.constrained, g, 0.0)


def slots(table: JointTable, x: Array, q: Array) -> Array:
    """Coordinates in all slots, angles in [-pi, pi) (N, J, 6); those of constrained slots mean nothing."""
    offset, e = relative(table, x, q)
    turns = along(to_rotation_vector(e), table.basis)
    if table.hinges.size:
        h = e[:, table.hinges]
        angle = 2.0 * np.arctan2((h[..., 1:] * table.hinge_axis).sum(-1), h[..., 0])
        turns[:, table.hinges] = ((angle + np.pi) % (2.0 * np.pi) - np.pi)[..., None]
    if table.hooke.size:
        a1, a2, second, first = hooke_slots(table, e)
        a3 = cross(a1, a2)
        one = np.arctan2((second * a3).sum(-1), (second * a2).sum(-1))
        two = np.arctan2((first * a3).sum(-1), (first * a1).sum(-1))
        turns[:, table.hooke] = np.where(table.is_first_turn, one[..., None], two[..., None])
    return np.concatenate([along(offset, table.slides), turns], -1)


def positions(model: Model, x: Array, q: Array) -> Array:
    """All joint coordinates (N, n_axes); an angle with limits is given in the turn that holds their middle."""
    table = model.joint_table
    values = chosen_way(model, slots(table, x, q)[:, table.free])
    return np.where(table.winds, values + 2 * np.pi * np.rint((table.middle - values) / (2 * np.pi)), values)


def errors(model: Model, x: Array, q: Array) -> Array:
    """max |g| of every joint (N, n_joints); 0 for floating joints."""
    out = np.zeros((len(x), len(model.mechanism.joints)))
    out[:, model.joint_table.number] = np.abs(rows(model.joint_table, x, q)).max(-1, initial=0.0)
    return out


def pose_before(x: Array, q: Array, v: Array, w: Array, h: Array) -> Pose:
    """The poses from which v and w led here, in a step of length h (N,)."""
    x0, q0 = np.empty(x.shape), np.empty(q.shape)
    motion.before(x, q, v, w, h, x0, q0)
    return x0, q0


def velocity_between(before: Pose, after: Pose, h: Array) -> Pose:
    """The velocities v and w that lead from one pose to the other in a step of length h (N,)."""
    v, w = np.empty(before[0].shape), np.empty(before[0].shape)
    motion.between(*before, *after, h, v, w)
    return v, w


def velocities(model: Model, x: Array, q: Array, v: Array, w: Array, h: Array) -> Array:
    """All joint velocities (N, n_axes) over the step of length h (N,) that led to the state."""
    table = model.joint_table
    before = pose_before(x, q, v, w, h)
    change = slots(table, x, q) - slots(table, *before)
    change[..., 3:] -= 2 * np.pi * np.rint(change[..., 3:] / (2 * np.pi))
    if table.balls.size:
        e0, e1 = (relative(table, *pose)[1][:, table.balls] for pose in (before, (x, q)))
        turn = to_rotation_vector(multiply(conjugate(e0), e1))
        change[:, table.balls, 3:] = along(turn, table.basis[table.balls])
    return change[:, table.free] / h[:, None]


def forward(model: Model, coordinates: Array, x: Array, q: Array) -> Pose:
    """Poses of all bodies from joint coordinates (N, n_axes); bodies that float keep theirs.

    The coordinates of joints that close loops are not used.
    """
    x, q = x.copy(), q.copy()
    table = model.tree_table
    frames = table.basis, table.slides, table.orientation, table.parent_anchor, table.child_anchor
    motion.forward(table.parent, table.child, table.axis, table.turns, *frames, coordinates, x, q)
    return x, q


def start(model: Model) -> tuple[Array, Array, Array]:
    """Poses x, q and joint coordinates (1, ...) at which environments start."""
    bodies = model.mechanism.bodies
    x, q = np.array([[body.position for body in bodies]]), np.array([[body.orientation for body in bodies]])
    phi = chosen_way(model, close_loops(model, model.per_axis("start")[None], x, q))
    return *forward(model, phi, x, q), phi


def earlier(model: Model, coordinates: Array, rates: Array, h: Array) -> Array:
    """Joint coordinates (N, n_axes) a step of length h (N,) at these rates before."""
    table = model.joint_table
    before = coordinates - h[:, None] * rates
    for axes in table.ball_axes:
        basis, turn, back = table.basis[axes.joint], coordinates[:, axes.rows], -h[:, None] * rates[:, axes.rows]
        e = multiply(*(from_rotation_vector(along(phi, basis.T)) for phi in (turn, back)))
        before[:, axes.rows] = along(to_rotation_vector(e), basis)
    return before


def chosen_way(model: Model, coordinates: Array) -> Array:
    """The same joint coordinates (N, n_axes) with rotation vectors the shorter way round; the longer one where the
    shorter is beyond the limits and the longer less so."""
    out = coordinates.copy()
    if not model.joint_table.ball_axes:
        return out
    limits = model.per_axis("lower"), model.per_axis("upper")
    for axes in model.joint_table.ball_axes:
        phi, (lower, upper) = coordinates[:, axes.rows], (limit[axes.rows] for limit in limits)
        size = np.linalg.norm(phi, axis=-1, keepdims=True)
        short = np.where(size <= np.pi, phi, to_rotation_vector(from_rotation_vector(phi)))
        size = np.maximum(np.linalg.norm(short, axis=-1, keepdims=True), 1.0)
        ways = short, (1.0 - 2 * np.pi / size) * short
        beyond = [np.maximum(lower - way, way - upper).max(-1, initial=0.0, keepdims=True) for way in ways]
        out[:, axes.rows] = np.where((size > np.pi / 2) & (beyond[1] + 1e-9 < beyond[0]), ways[1], ways[0])
    return out


def stretches(model: Model, coordinates: Array, rates: Array, h: Array, rest: Array) -> Array:
    """Return how far springs are stretched (N, n_axes) in the middle of the step of length h (N,) that led here.

    Of three free rotations: the mean of the rotation vectors from rest at both ends of the step, which is what the
    kernels take (kernels/ball.py)."""
    half = 0.5 * h[:, None] * rates
    stretch = coordinates - half - rest
    for axes in model.joint_table.ball_axes:
        e, turn, origin = (from_rotation_vector(value[:, axes.rows]) for value in (coordinates, 2.0 * half, rest))
        ends = [multiply(conjugate(origin), end) for end in (e, multiply(e, conjugate(turn)))]
        first = np.where(ends[0][:, :1] < 0, -1.0, 1.0) * ends[0]
        second = np.where((ends[1] * first).sum(-1, keepdims=True) < 0, -1.0, 1.0) * ends[1]
        stretch[:, axes.rows] = 0.5 * (to_rotation_vector(first) + long_rotation_vector(second))
    return stretch


def close_loops(model: Model, coordinates: Array, x: Array, q: Array) -> Array:
    """The nearest joint coordinates (N, n_axes) at which the joints that close loops are closed; followers of couplings
    are where their leaders tell.

    Gauss-Newton on the coordinates of the tree's joints, smallest change first; where a loop cannot be closed the
    result is the best compromise, and `errors` tells.
    """
    coordinates = follow(model, coordinates)
    if not model.loops.joints or not model.n_axes:
        return coordinates
    coordinates = coordinates.copy()
    for env in range(len(coordinates)):
        for _ in range(50):
            g, jacobian = loop_rows(model, coordinates[env], x[env], q[env])
            if np.abs(g).max() < 1e-13:
                break
            # rows stated twice (planar loops) have singular values at rounding level
            change = -np.linalg.pinv(jacobian, rcond=1e-7) @ g
            coordinates[env] += change * min(1.0, 0.5 / max(np.abs(change).max(), 1e-300))
    return coordinates


def close_rates(model: Model, coordinates: Array, rates: Array, x: Array, q: Array) -> Array:
    """The nearest rates (N, n_axes) that keep loops closed; those of followers are their leaders'."""
    rates = follow_rates(model, coordinates, rates)
    if not model.loops.joints or not model.n_axes:
        return rates
    rates = rates.copy()
    for env in range(len(rates)):
        _, jacobian = loop_rows(model, coordinates[env], x[env], q[env])
        rates[env] -= np.linalg.pinv(jacobian, rcond=1e-7) @ (jacobian @ rates[env])
    return rates


def follow(model: Model, coordinates: Array) -> Array:
    """Joint coordinates (N, n_axes) with followers of couplings where their leaders tell."""
    out = coordinates.copy()
    for coupling in model.couplings:
        out[:, coupling.follower], _ = coupling.law.followed(out[:, coupling.leaders])
    return out


def follow_rates(model: Model, coordinates: Array, rates: Array) -> Array:
    """Rates (N, n_axes) with those of followers as their leaders tell."""
    out = rates.copy()
    for coupling in model.couplings:
        _, slope = coupling.law.followed(coordinates[:, coupling.leaders])
        out[:, coupling.follower] = (slope * out[:, coupling.leaders]).sum(-1)
    return out


def coupling_rows(model: Model, coordinates: Array) -> tuple[Array, Array]:
    """Distance of followers of couplings from their places (N, n_couplings), in the order of `model.couplings`,
    and the derivatives by the coordinates (N, n_couplings, n_axes)."""
    g = np.zeros((len(coordinates), len(model.couplings)))
    jacobian = np.zeros((*g.shape, model.n_axes))
    for k, coupling in enumerate(model.couplings):
        place, slope = coupling.law.followed(coordinates[:, coupling.leaders])
        g[:, k] = coordinates[:, coupling.follower] - place
        jacobian[:, k, coupling.leaders] = -slope
        jacobian[:, k, coupling.follower] = 1.0
    return g, jacobian


def wound(model: Model, coordinates: Array, before: Array) -> Array:
    """Joint coordinates (N, n_axes) with those of leaders in the turn that is nearest to `before`, and of followers in
    that nearest to where their leaders tell."""
    out, turn = coordinates.copy(), 2 * np.pi
    for coupling in model.couplings:
        for a in coupling.leaders[model.joint_table.winds[coupling.leaders]]:
            out[:, a] += turn * np.rint((before[:, a] - out[:, a]) / turn)
    for coupling in model.couplings:
        if model.joint_table.winds[coupling.follower]:
            place, _ = coupling.law.followed(out[:, coupling.leaders])
            out[:, coupling.follower] += turn * np.rint((place - out[:, coupling.follower]) / turn)
    return out


def loop_rows(model: Model, coordinates: Array, x: Array, q: Array) -> Pose:
    """g of joints that close loops, and of couplings, and its derivatives by the coordinates, in one environment."""
    n = model.n_axes
    step = 1e-6 * np.concatenate([np.zeros((1, n)), np.eye(n), -np.eye(n)])
    roots = [np.broadcast_to(value, (len(step), *value.shape)) for value in (x, q)]
    g = rows(model.loop_table, *forward(model, coordinates + step, *roots))[:, model.loop_table.constrained]
    own, jacobian = coupling_rows(model, coordinates[None])
    return np.concatenate([g[0], own[0]]), np.concatenate([(g[1 : n + 1] - g[n + 1 :]).T / 2e-6, jacobian[0]])
