"""A joint i between the bodies child[i] and parent[i]: geometry, residual and the directions that it leaves free.

A kind is 16 law + 4 kt + kr: kt free translations and kr free rotations; `law` is 1 if springs, drives or limits act
on the free axes (axis.py). Joint frames are chosen when the mechanism is built so that the free axes come last: the
kt last rows of `slide` (parent frame), and the axis 3 (kr = 1), parent axis 1 and child axis 2 (kr = 2, a Hooke
joint), all three of the child (kr = 3, ball.py). Everything below is in the world frame, `anchor` being the child's
anchor point:

    relative motion at the next pose   (dx, dth)_child - (dx, dth)_parent = S xi + delta      (moved to the anchor)
    wrench at the current pose          N . wrench = tau                                       (about the anchor)

S spans the null space of the rows of g (paper: eq. implizit_constrained_dynb) with xi = change of the joint
coordinates; delta removes the residual g; N spans the directions in which the joint transmits only the effort tau.
The paper's G and lam are the complement: wrench = G^T lam + N^T tau.
"""

from vigym.engine.kernels import ball, loop, touching
from vigym.engine.kernels.axis import asked, law, rotor_effort, stiffest
from vigym.engine.kernels.ball import relative_rotation
from vigym.engine.kernels.body import largest, symmetric
from vigym.engine.kernels.pairs import note
from vigym.engine.kernels.quaternion import (
    add,
    atan2,
    cross,
    dot,
    mat,
    matvec,
    matvec_t,
    nearest_turn,
    scale,
    store,
    sub,
    sum_of,
    vec,
)
from vigym.engine.kernels.simd import maximum, minimum, on, select
from vigym.engine.kernels.small import identity
from vigym.engine.kernels.sweep import each_joint, each_tree_joint

GEAR = 47  # kind of a coupling of axes, which is a loop of gear.py: as a joint, it holds nothing


def free(kind):
    """Free translations, free rotations, and whether a law acts on them."""
    return (kind // 4) % 4, kind % 4, kind >= 16


def is_floating(kind):
    """No constraint at all."""
    return kind % 16 == 15


def is_ball(kind):
    """Free rotations without a law: a joint that transmits a force and no torque."""
    return free(kind) == (0, 3, False)


def wrench_size(kind):
    """Number of rows and columns of Dhat (ldu.py) that are not zero."""
    return 3 if is_ball(kind) else 6


@each_joint
def prepare_joint(kind, m, s, t, i):
    """Prepare at the current pose: arms from both bodies to the anchor, and the axes N of the effort."""
    if is_floating(kind):
        return
    kt, kr, has_law = free(kind)
    c, p = m.child[i], m.parent[i]
    R, Rp = mat(t.R[c]), mat(t.R[p])
    rho = matvec(R, vec(m.child_anchor[i]))
    store(t.rho0[i], rho)
    store(t.arm0[i], sub(add(vec(t.x[c]), rho), vec(t.x[p])))
    slide, child, parent = mat(m.slide[i]), mat(m.child_axes[i]), mat(m.parent_axes[i])
    axes = [matvec(Rp, slide[3 - kt + k]) for k in range(kt)]
    if kr == 1:
        axes += [matvec(R, child[2])]
    elif kr == 2:
        axes += [matvec(Rp, parent[0]), matvec(R, child[1])]
    elif kr == 3:
        axes += [matvec(R, axis) for axis in child] if has_law else identity(3)
    for k, axis in enumerate(axes):
        if k < kt or kr < 3 or has_law:  # others are known, see ldu.effort_axes
            for j in range(3):
                t.N[i][k, j] = axis[j]
        if m.features.gears:
            store(t.axis0[m.first_axis[i] + k], axis)
        if has_law:
            mass, h = s.mass[c][0], t.h
            swing = cross(rho, axis)
            inertia = dot(axis, matvec(symmetric(vec(t.J[c])), axis)) + mass * dot(swing, swing)
            own = mass if k < kt else inertia
            if m.features.armature:
                own = own + s.armature[m.first_axis[i] + k][0]
                t.rate0[m.first_axis[i] + k][0] = s.rate[m.first_axis[i] + k][0]
            t.apparent[m.first_axis[i] + k][0] = own / (h * h)
            if m.features.balls and (k < kt or kr < 3):
                t.asked[m.first_axis[i] + k][0] = asked(s, t, m.first_axis[i] + k)
    if kr == 3 and has_law:
        ball.prepare_ball(m, s, t, i, m.first_axis[i] + kt)


def translation(kt, m, t, i):
    """Arms at the next pose, delta (3), free directions and their coordinates."""
    c, p = m.child[i], m.parent[i]
    Rp = mat(t.Rn[p])
    rho = matvec(mat(t.Rn[c]), vec(m.child_anchor[i]))
    arm = sub(add(vec(t.xn[c]), rho), vec(t.xn[p]))
    d = sub(arm, matvec(Rp, vec(m.parent_anchor[i])))
    store(t.rho[i], rho)
    store(t.arm[i], arm)
    if kt == 0:
        return scale(-1.0, d), [], []
    axes = [matvec(Rp, row) for row in mat(m.slide[i])]
    along = [dot(axis, d) for axis in axes]
    delta = [0.0, 0.0, 0.0]
    for k in range(3 - kt):
        delta = sub(delta, scale(along[k], axes[k]))
    return delta, axes[3 - kt :], along[3 - kt :]


def rotation(kr, has_law, m, t, i):
    """delta (3), free directions and their coordinates (angles not yet unwound; of three free rotations neither)."""
    R, child, parent = mat(t.Rn[m.child[i]]), mat(m.child_axes[i]), mat(m.parent_axes[i])

    def world(u):  # from the child's joint frame
        return matvec(R, matvec_t(child, u))

    if kr == 0:
        e = relative_rotation(m, t.qn, i)
        return world([-2.0 * e[k] / e[0] for k in (1, 2, 3)]), [], []
    if kr == 1:
        # rows of Im(e)_1 = Im(e)_2 = 0, twice: a and b. Their null vector a x b is the axis at the solution; the
        # shortest vector with a . delta = -2 ex and b . delta = -2 ey is along ex a + ey b, as |e| = 1
        e0, ex, ey, ez = relative_rotation(m, t.qn, i)
        a, b = [e0, -ez, ey], [ez, e0, -ex]
        axis = cross(a, b)
        delta = scale(-2.0 / axis[2], add(scale(ex, a), scale(ey, b)))
        angle = [2.0 * atan2(ez, e0)] if has_law else [0.0]
        return world(delta), [world(axis)], angle
    if kr == 2:
        # Hooke: axis 1 of the parent stays perpendicular to axis 2 of the child
        Rp = mat(t.Rn[m.parent[i]])
        p1, c2 = matvec(Rp, parent[0]), matvec(R, child[1])
        row = cross(c2, p1)
        delta = scale(-1.0 * dot(p1, c2) / dot(row, row), row)
        angles = [0.0, 0.0]
        if has_law:
            angles = [
                atan2(dot(c2, matvec(Rp, parent[2])), dot(c2, matvec(Rp, parent[1]))),
                atan2(dot(p1, matvec(R, child[2])), dot(p1, matvec(R, child[0]))),
            ]
        return delta, [p1, c2], angles
    return [0.0, 0.0, 0.0], [], []


def joint_per_length(m, t, i):
    """1/length by which the joint's openings are judged: that of its smaller body, 1/m."""
    return maximum(t.per_length[m.child[i]][0], t.per_length[m.parent[i]][0])


def joint_unit(m, t, i, turns):
    """Force, N, or torque, N m, by which errors of the joint's efforts are judged: that of its lighter body."""
    which = 1 if turns else 0
    return minimum(t.unit[m.child[i]][which], t.unit[m.parent[i]][which])


@each_joint
def move_joint(kind, m, s, t, i):
    """Compute at the next pose: S, delta, residual of the free axes and their norms; the wrench enters the residuals of
    both bodies."""
    if is_floating(kind):
        return
    kt, kr, has_law = free(kind)
    c, p = m.child[i], m.parent[i]
    dx, slides, lengths = translation(kt, m, t, i)
    a = m.first_axis[i]
    dth, turns, angles = rotation(kr, has_law, m, t, i)
    store(t.delta[i], dx + dth)
    note(t, "misfit", scale(joint_per_length(m, t, i), dx) + dth)  # the error as the motion that removes it
    for k, axis in enumerate(slides + turns):
        for j in range(3):
            t.S[i][k, j] = axis[j]
        if m.features.gears:
            store(t.axis1[a + k], scale(1.0 / dot(axis, axis), axis))
    wrench = vec(t.wrench[i])
    N = mat(t.N[i])
    efforts = [s.effort[a + k][0] for k in range(kt + kr)]
    if has_law:
        for k, coordinate in enumerate(lengths + angles):
            if k >= kt:
                coordinate = nearest_turn(coordinate, s.angle[a + k][0])
            t.coordinate[a + k][0] = coordinate
            efforts[k] = law(s, t, a + k, coordinate, efforts[k])
    if kr == 3 and has_law:
        efforts[kt:] = ball.ball_law(m, s, t, i, a + kt, efforts[kt:])
    elif kr == 3:  # efforts are about the child's axes, N are the world's
        R, child = mat(t.R[c]), mat(m.child_axes[i])
        efforts[kt:] = matvec(R, matvec_t(child, efforts[kt:]))
    far = largest(vec(t.xn[c])) + largest(vec(t.arm[i]))  # with the rounding of which slides are known
    for k in range(kt + kr):
        half = wrench[:3] if k < kt else wrench[3:]
        error = (dot(N[k], half) if k < kt or kr < 3 or has_law else half[k - kt]) - efforts[k]
        t.rN[i][k] = error
        unit = joint_unit(m, t, i, turns=k >= kt)
        if has_law:
            unit = unit + m.force_rounding * stiffest(s, t, a + k) * (far if k < kt else 1.0)
        note(t, "norm", [error / unit])
        if m.features.limits:
            per_length = joint_per_length(m, t, i) if k < kt else 1.0
            store(t.axis_unit[a + k], [unit, 1.0 / per_length, per_length])
    force, torque = wrench[:3], wrench[3:]
    rho, arm = vec(t.rho0[i]), vec(t.arm0[i])
    store(t.r[c], sub(vec(t.r[c]), force + add(torque, cross(rho, force))))
    store(t.r[p], add(vec(t.r[p]), force + add(torque, cross(arm, force))))


@each_tree_joint
def update_joint(kind, m, s, t, i):
    """wrench += alpha (Dhat y_parent + rhat), see ldu.py and loop.py."""
    if is_floating(kind):
        return
    yp = vec(t.y[m.parent[i]])
    ya = add(yp[:3], cross(yp[3:], vec(t.arm[i]))) + yp[3:]
    change, size = vec(t.rhat[i]), wrench_size(kind)
    for j in range(size):
        change[j] = change[j] + sum_of(t.D[i][j, c] * ya[c] for c in range(size))
    if m.features.touches:
        change = add(change, touching.pushed(t, i))
    advance_wrench(t, i, add(change, loop.known_loops(m, t, i, 6, t.C)) if m.features.bordered else change)


def advance_wrench(t, i, change):
    """wrench += alpha change, in the lanes that still iterate."""
    live, alpha, wrench = on(t.live), t.alpha, vec(t.wrench[i])
    for j in range(6):
        t.wrench[i][j] = select(live, wrench[j] + alpha * change[j], wrench[j])


def next_coordinates(kind, m, s, t, i):
    """Joint coordinates at the next pose, unwound, and by how much the step changes them."""
    kt, kr, has_law = free(kind)
    a = m.first_axis[i]
    if has_law:  # as `move_joint` left them
        new = [t.coordinate[a + k][0] + 0.0 for k in range(kt + (kr if kr < 3 else 0))]
    else:
        _, _, lengths = translation(kt, m, t, i)
        _, _, angles = rotation(kr, True, m, t, i)
        new = lengths + [nearest_turn(angle, s.angle[a + kt + k][0]) for k, angle in enumerate(angles)]
    changes = [value - s.angle[a + k][0] for k, value in enumerate(new)]
    if kr == 3:  # their velocity is the relative angular velocity along the child's axes
        turned, turn = ball.coordinates(m, s, t, i, a + kt)
        new, changes = new + turned, changes + turn
    return new, changes


@each_joint
def finish_joint(kind, m, s, t, i):
    """Commit the wrench and the unwound joint coordinates at the next pose in the lanes that converged."""
    good = on(t.good)
    for j in range(6):
        s.wrench[i][j] = select(good, t.wrench[i][j], s.wrench[i][j])
    if is_floating(kind):
        return
    a, has_law = m.first_axis[i], free(kind)[2]
    new, changes = next_coordinates(kind, m, s, t, i)
    for k, (value, change) in enumerate(zip(new, changes, strict=True)):
        if has_law and m.features.armature:
            rotor = rotor_effort(s, t, a + k, change / t.h)
            s.rotor[a + k][0] = select(good, rotor, s.rotor[a + k][0])
        s.angle[a + k][0] = select(good, value, s.angle[a + k][0])
        s.rate[a + k][0] = select(good, change / t.h, s.rate[a + k][0])


@each_joint
def start_joint(kind, m, s, t, i):
    """First guess of the wrench: the last one, or nothing in lanes that start cold."""
    cold = on(t.cold)
    for j in range(6):
        t.wrench[i][j] = select(cold, 0.0, s.wrench[i][j])
