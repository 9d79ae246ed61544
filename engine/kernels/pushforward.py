"""Changes of what goes into a step, pushed forward to the state after it: one tree solve each (see linear.py).

`dot` is the change of something, along one direction: of the state before the step (`before_dot`, 12 numbers a body: x,
rotation vector in the body frame, v, w) and of its controls. They change the residuals; K y = -r then gives y, and that
the state after the step (`after_dot`).
"""

from vigym.engine.kernels import body, contact, ground, ldu
from vigym.engine.kernels.joint import free, is_floating
from vigym.engine.kernels.ldu import at_anchor, effort_axes, gather, give_parent_rhs
from vigym.engine.kernels.linear import arms_before, axes_before, effort_slopes, linearise
from vigym.engine.kernels.pullback import gap_row, slip_rows, turns_with_parent
from vigym.engine.kernels.quaternion import add, cross, dot, mat, matvec, matvec_t, scale, store, sub, sum_of, vec
from vigym.engine.kernels.simd import block, group, on, select
from vigym.engine.kernels.small import lu_solve
from vigym.engine.kernels.sweep import each_body, each_contact, each_joint, leaf_to_root


def push_forward(m, states, t, first, last, repeat, resumed):
    """Push the changes of lane groups first..last forward; resumed: 1 if the factors are those of the same group."""
    for g in range(first, last):
        s = group(states, g)
        if not resumed:
            linearise(m, s, t)
        solve(m, s, t)


@block
def solve(m, s, t):
    """Push tangents from the state before the step to the one after it."""
    clear(m, s, t)
    change_body(m, s, t)
    change_joint(m, s, t)
    change_contact(m, s, t)
    carry(m, s, t)
    ldu.substitute(m, s, t)
    move_body(m, s, t)


@block
def clear(m, s, t):
    world = m.n_bodies
    for k in range(6):
        t.lam[world][k] = t.y_bar[world][k] = t.r[world][k] = 0.0


@each_body
def change_body(m, s, t, i):
    """Change of the body's own residual; of its poses, now (`lam`) and from where it came (`y_bar`)."""
    change, R = vec(t.before_dot[i]), mat(t.R[i])
    z = change[:3] + matvec(R, change[3:6])
    v, w = change[6:9], change[9:]
    push = scale(-1.0 * s.mass[i][0] * t.rate, add(scale(t.rate, z[:3]), v))
    turn = sub(cross(z[3:], vec(t.spun[i])), matvec(mat(t.turning[i]), z[3:]))
    turn = sub(turn, add(matvec(mat(t.spin_slope[i]), w), matvec(R, vec(t.torque_dot[i]))))
    store(t.r[i], sub(push, vec(t.force_dot[i])) + turn)
    store(t.lam[i], z)
    store(t.y_bar[i], sub(z[:3], scale(s.h0, v)) + add(z[3:], matvec(mat(t.returns[i]), w)))


def along(rows, kt, child, parent, rho, arm):
    """Changes of joint coordinates by motions (6) of both bodies; `rows` are the free axes."""
    push = sub(add(child[:3], cross(child[3:], rho)), add(parent[:3], cross(parent[3:], arm)))
    turn = sub(child[3:], parent[3:])
    return [dot(row, push if k < kt else turn) for k, row in enumerate(rows)]


@each_joint
def change_joint(kind, m, s, t, i):
    """Arms and axes turn with both bodies; efforts change."""
    if is_floating(kind):
        return
    kt, kr, has_law = free(kind)
    c, p, a = m.child[i], m.parent[i], m.first_axis[i]
    rho, arm, wrench = vec(t.rho0[i]), vec(t.arm0[i]), vec(t.wrench[i])
    child, parent = vec(t.lam[c]), vec(t.lam[p])
    swing = cross(child[3:], rho)
    lever = sub(add(child[:3], swing), parent[:3])
    store(t.r[c], sub(vec(t.r[c]), [0.0] * 3 + cross(swing, wrench[:3])))
    store(t.r[p], add(vec(t.r[p]), [0.0] * 3 + cross(lever, wrench[:3])))
    N = effort_axes(kind, t, i)
    efforts = [t.effort_dot[a + k][0] + 0.0 for k in range(kt + kr)]
    if has_law:
        turned = along(N, kt, child, parent, rho, arm)
        came = along(axes_before(kind, m, t, i), kt, vec(t.y_bar[c]), vec(t.y_bar[p]), *arms_before(m, t, i))
        for k, (now, then) in enumerate(zip(turned, came, strict=True)):
            by_angle, by_rate = effort_slopes(s, t, a + k)
            asked = efforts[k] + s.kp[a + k][0] * t.target_dot[a + k][0]
            asked = asked + s.kd[a + k][0] * t.target_velocity_dot[a + k][0]
            efforts[k] = t.axis_answer[a + k][0] * asked + by_angle * now + by_rate * (now - then) / s.h0
    if kr == 3:
        frame, R = mat(m.child_axes[i]), mat(t.R[c])
        torque = matvec(R, matvec_t(frame, [s.effort[a + kt + k][0] for k in range(3)]))
        efforts[kt:] = add(matvec(R, matvec_t(frame, efforts[kt:])), cross(child[3:], torque))
    for k in range(kt + kr):
        turn = (parent if turns_with_parent(kt, kr, k) else child)[3:]
        half = wrench[:3] if k < kt else wrench[3:]
        moved = 0.0 if kr == 3 and k >= kt else dot(cross(turn, N[k]), half)
        t.rN[i][k] = moved - efforts[k]


@each_contact
def change_contact(kind, m, s, t, c):
    """The arm of the force turns with the body; slip counts from the current pose."""
    i, core = m.contact_body[c], vec(t.core0[c])
    z, r = vec(t.lam[i]), vec(t.r[i])
    force = matvec_t(ground.axes(kind, m, t, c), contact.whole_force(m, s, t, c))
    rows = slip_rows(kind, m, t, c)
    changes = [sum_of(x * y for x, y in zip(row, z, strict=True)) for row in rows]
    gap = 0.0
    if m.features.soft:
        gap = sum_of(x * y for x, y in zip(gap_row(kind, m, s, t, c), z, strict=True))
    answer = matvec(mat(t.answer[c]), [gap, *changes])
    r = sub(r, [0.0] * 3 + cross(cross(z[3:], core), force))
    store(t.r[i], sub(r, contact.wrench(contact.force_rows(kind, m, t, c), answer)))


@leaf_to_root
def carry(kind, m, s, t, i):
    """Carry the right-hand side to the parent, by the factors of ldu.eliminate."""
    r = vec(t.r[i])
    if is_floating(kind):
        store(t.rhat[i], r)
        return
    kt, kr, _ = free(kind)
    k = kt + kr
    r = at_anchor(r, vec(t.rho0[i]))
    if k:
        H = [[t.H[i][q, j] + 0.0 for j in range(k)] for q in range(k)]
        b = add([t.rN[i][q] + 0.0 for q in range(k)], gather(kt, effort_axes(kind, t, i), r))
        xi = scale(-1.0, lu_solve(H, b))
        for q in range(k):
            t.xi[i][q] = xi[q]
        r = [r[j] + sum_of(t.U[i][j, q] * xi[q] for q in range(k)) for j in range(6)]
    give_parent_rhs(t, i, m.parent[i], r)


@each_body
def move_body(m, s, t, i):
    """The state after the step."""
    y, z, R, sound = vec(t.y[i]), vec(t.lam[i]), mat(t.R[i]), on(t.sound)
    rates = body.tangent(t, i).rates(sub(y, z))
    change = y[:3] + matvec_t(mat(t.Rn[i]), y[3:]) + rates[:3] + matvec_t(R, rates[3:])
    store(t.after_dot[i], [select(sound, value, 0.0) for value in change])
