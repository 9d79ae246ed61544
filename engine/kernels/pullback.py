"""Covectors of the state after a step, pulled back to everything that went into it: one transposed tree solve each.

`bar` is the derivative of some number by what it is the bar of. From `after_bar`, that of the next state (12 numbers a
body: x, rotation vector in the body frame, v, w), and those of joint coordinates and rates there:

    y_bar     leaf to root: the transpose of how motions spread from parents to children
    lam       root to leaf: bars of the residuals, as the motions of bodies at the current pose; `effort` on free axes
    before_bar, effort_bar, ...     lam times the derivatives of each residual by its inputs (linear.py), and what
                                    depends on the inputs directly

`pull_back` is one call for as many covectors as there are steps of the script: factors are kept between them. Or every
step of the script is another step of a rollout, from the last to the first (`anew`).
"""

from vigym.engine.kernels import axis, body, cone, contact, geometry, ground, integrator
from vigym.engine.kernels.joint import free, is_ball, is_floating, wrench_size
from vigym.engine.kernels.joint_bars import joint_bars
from vigym.engine.kernels.ldu import at_anchor, effort_axes, motion_axes, spread_row
from vigym.engine.kernels.linear import arms_before, axes_before, effort_slopes, has_laws, linearise
from vigym.engine.kernels.quaternion import add, cross, dot, mat, matvec, matvec_t, scale, store, sub, sum_of, vec
from vigym.engine.kernels.simd import any_lane, block, group, less, minimum, on, select
from vigym.engine.kernels.small import lu_solve_transposed
from vigym.engine.kernels.sweep import each_axis, each_body, each_contact, each_joint, leaf_to_root, root_to_leaf


def pull_back(m, states, t, first, last, repeat, resumed):
    """Pull the covectors of lane groups first..last back; resumed: 1 if the factors are those of the same group."""
    for g in range(first, last):
        s = group(states, g)
        if any_lane(t, "anew") and resumed:
            go_on(m, s, t)
        if not resumed or any_lane(t, "anew"):
            linearise(m, s, t)
        transposed_solve(m, s, t)
        if any_lane(t, "by_parameters"):
            parameters(m, s, t)
        if any_lane(t, "by_joints"):
            joint_bars(m, s, t)


@block
def transposed_solve(m, s, t):
    """Pull bars from the next state to the one before."""
    clear(m, s, t)
    clear_axis(m, s, t)
    start_body(m, s, t)
    start_joint(m, s, t)
    spread_back(m, s, t)
    gather_back(m, s, t)
    pull_joint(m, s, t)
    pull_contact(m, s, t)
    pull_body(m, s, t)
    pull_axis(m, s, t)


@block
def go_on(m, s, t):
    """One step earlier."""
    add_bar(m, s, t)


@each_body
def add_bar(m, s, t, i):
    """Add the bar of the state before a step to that of the state after the step before it."""
    store(t.after_bar[i], add(vec(t.after_bar[i]), vec(t.before_bar[i])))


@block
def clear(m, s, t):
    world = m.n_bodies
    for k in range(6):
        t.y_bar[world][k] = t.pose_bar[world][k] = t.origin_bar[world][k] = t.lam[world][k] = 0.0


@each_axis
def clear_axis(m, s, t, a):
    """rate1 = (angle1 - angle0)/h"""
    t.angle_bar[a][0] = -1.0 * t.rate * t.rate_after_bar[a][0]
    t.effort_bar[a][0] = t.effort_lam[a][0] = t.tau_bar[a][0] = 0.0


@each_body
def start_body(m, s, t, i):
    """Bars of y; the part of z that does not go through y."""
    bar, R = vec(t.after_bar[i]), mat(t.R[i])
    spin = scale(t.rate, body.tangent(t, i).travel(matvec(R, bar[9:])))
    ahead = scale(t.rate, bar[6:9])
    store(t.y_bar[i], add(bar[:3], ahead) + add(matvec(mat(t.Rn[i]), bar[3:6]), spin))
    store(t.pose_bar[i], scale(-1.0, ahead + spin))


@each_joint
def start_joint(kind, m, s, t, i):
    """Bars of the joint coordinates after the step move both bodies."""
    kt, kr, _ = free(kind)
    if is_floating(kind) or kr == 3:
        return
    c, p, a = m.child[i], m.parent[i], m.first_axis[i]
    push, turn = [0.0] * 3, [0.0] * 3
    for k, row in enumerate(motion_axes(kind, t, i)):
        bar = t.angle_after_bar[a + k][0] + t.rate * t.rate_after_bar[a + k][0]
        push, turn = (add(push, scale(bar, row)), turn) if k < kt else (push, add(turn, scale(bar, row)))
    if kt + kr:
        move_apart(t.y_bar, c, p, push, turn, vec(t.rho[i]), vec(t.arm[i]))


def move_apart(field, c, p, push, turn, rho, arm):
    """Add the bar of a motion of the child's anchor relative to the parent: along it, and about it."""
    store(field[c], add(vec(field[c]), push + add(turn, cross(rho, push))))
    store(field[p], sub(vec(field[p]), push + add(turn, cross(arm, push))))


@leaf_to_root
def spread_back(kind, m, s, t, i):
    """Transpose of ldu.substitute: bars of y to those of the parent's, and of xi."""
    if is_floating(kind):
        return
    kt, kr, _ = free(kind)
    k, size, p = kt + kr, wrench_size(kind), m.parent[i]
    bar = at_anchor(vec(t.y_bar[i]), vec(t.rho[i]))
    if k:
        xi = spread_row(kt, kr, motion_axes(kind, t, i), bar)
        for q in range(k):
            t.xi_bar[i][q] = xi[q]
        taken = [sum_of(t.G[i][q, j] * xi[q] for q in range(k)) for j in range(size)]
        bar = sub(bar[:3], taken) + [0.0] * 3 if is_ball(kind) else sub(bar, taken)
    store(t.y_bar[p], add(vec(t.y_bar[p]), bar[:3] + add(bar[3:], cross(vec(t.arm[i]), bar[:3]))))


@root_to_leaf
def gather_back(kind, m, s, t, i):
    """Transpose of the elimination: bars of the residuals, from those of the parent's."""
    if is_floating(kind):
        store(t.lam[i], scale(-1.0, lu_solve_transposed(mat(t.D[i]), vec(t.y_bar[i]))))
        return
    kt, kr, _ = free(kind)
    k, above = kt + kr, vec(t.lam[m.parent[i]])
    lam = add(above[:3], cross(above[3:], vec(t.arm0[i]))) + above[3:]
    if k:
        xi = [t.xi_bar[i][q] + sum_of(t.U[i][j, q] * lam[j] for j in range(6)) for q in range(k)]
        H = [[t.H[i][q, j] + 0.0 for j in range(k)] for q in range(k)]
        effort = scale(-1.0, lu_solve_transposed(H, xi))
        for q, axis_ in enumerate(effort_axes(kind, t, i)):
            t.effort_lam[m.first_axis[i] + q][0] = effort[q]
            along = scale(effort[q], axis_)
            lam = add(lam, along + [0.0] * 3 if q < kt else [0.0] * 3 + along)
    store(t.lam[i], sub(lam[:3], cross(lam[3:], vec(t.rho0[i]))) + lam[3:])


@each_joint
def pull_joint(kind, m, s, t, i):
    """Arms and axes turn with both bodies; coordinates and rates before the step enter the laws."""
    if is_floating(kind):
        return
    kt, kr, has_law = free(kind)
    c, p, a = m.child[i], m.parent[i], m.first_axis[i]
    rho, arm, wrench = vec(t.rho0[i]), vec(t.arm0[i]), vec(t.wrench[i])
    child, parent = vec(t.pose_bar[c]), vec(t.pose_bar[p])
    above, below = vec(t.lam[p])[3:], vec(t.lam[c])[3:]
    lever = cross(wrench[:3], above)
    child = add(child, lever + cross(rho, cross(wrench[:3], sub(above, below))))
    parent = sub(parent, lever + [0.0] * 3)
    N = effort_axes(kind, t, i)
    for k in range(kt + kr):
        lam, half = t.effort_lam[a + k][0] + 0.0, wrench[:3] if k < kt else wrench[3:]
        if kr == 3 and k >= kt:
            t.effort_bar[a + k][0] = 0.0
            continue
        turn = [0.0] * 3 + scale(lam, cross(N[k], half))
        if turns_with_parent(kt, kr, k):
            parent = add(parent, turn)
        else:
            child = add(child, turn)
        t.effort_bar[a + k][0] = -1.0 * lam
    if kr == 3:  # efforts about the child's axes
        frame, lam = mat(m.child_axes[i]), [t.effort_lam[a + kt + k][0] + 0.0 for k in range(3)]
        R = mat(t.R[c])
        torque = matvec(R, matvec_t(frame, [s.effort[a + kt + k][0] for k in range(3)]))
        child = sub(child, [0.0] * 3 + cross(torque, lam))
        for k, bar in enumerate(matvec(frame, matvec_t(R, lam))):
            t.effort_bar[a + kt + k][0] = -1.0 * bar
    store(t.pose_bar[c], child)
    store(t.pose_bar[p], parent)
    push, turn, push_before, turn_before = ([0.0] * 3 for _ in range(4))
    before = axes_before(kind, m, t, i)
    for k in range(0 if kr == 3 and not kt else kt + (kr if kr < 3 else 0)):
        by_angle, by_rate = law_bars(s, t, a + k) if has_law else (t.angle_bar[a + k][0] + 0.0, 0.0)
        bar = by_angle + by_rate / s.h0
        push, turn = (add(push, scale(bar, N[k])), turn) if k < kt else (push, add(turn, scale(bar, N[k])))
        if has_law:
            back = scale(-1.0 * by_rate / s.h0, before[k])
            push_before, turn_before = (
                (add(push_before, back), turn_before) if k < kt else (push_before, add(turn_before, back))
            )
    if kr < 3 or kt:
        move_apart(t.pose_bar, c, p, push, turn, rho, arm)
    if has_laws(kind):
        rho_before, arm_before = arms_before(m, t, i)
        move_apart(t.origin_bar, c, p, push_before, turn_before, rho_before, arm_before)


def turns_with_parent(kt, kr, k):
    """True if the free axis k is one of the parent's."""
    return k < kt or (kr == 2 and k == kt)


def law_bars(s, t, a):
    """Bars of coordinate and rate before the step, and of what the motor is asked for, from that of the effort."""
    bar = t.effort_bar[a][0] + 0.0
    by_angle, by_rate = effort_slopes(s, t, a)
    t.tau_bar[a][0] = bar
    t.effort_bar[a][0] = bar * t.axis_answer[a][0]
    return t.angle_bar[a][0] + bar * by_angle, bar * by_rate


def force_bar(kind, m, t, c):
    """Bar of the force along (n, t1, t2)."""
    lam = vec(t.lam[m.contact_body[c]])
    return [-1.0 * (dot(row[:3], lam[:3]) + dot(row[3:], lam[3:])) for row in contact.force_rows(kind, m, t, c)]


def slip_rows(kind, m, t, c):
    """Rows of the two slips by z: (dx, dth) of the current pose."""
    i, core = m.contact_body[c], vec(t.core0[c])
    _, om = body.velocity(t, i)
    tangent, arm = body.tangent(t, i), ground.rolling_arm(kind, m, t, c)
    rows = []
    for along in ground.axes(kind, m, t, c)[1:]:
        lever = cross(arm, along)
        rolled = sub(scale(t.h, cross(om, lever)), tangent.travel(lever))
        rows.append(scale(-1.0, along) + sub(rolled, cross(core, along)))
    return rows


def gap_row(kind, m, s, t, c):
    """Row by z of what the gap is compared with: 0, but for a soft contact that was pressed in."""
    n, core = ground.axes(kind, m, t, c)[0], vec(t.core0[c])
    give = s.contact_damping[c][0] * t.rate * t.give[c][0]
    slope = select(less(t.sunk[c][0], 0.0), -1.0 * give, 0.0)
    return scale(slope, n + cross(core, n))


@each_contact
def pull_contact(kind, m, s, t, c):
    """The arm of the force turns with the body; slip counts from the current pose."""
    i, core = m.contact_body[c], vec(t.core0[c])
    lam, pose = vec(t.lam[i]), vec(t.pose_bar[i])
    force = matvec_t(ground.axes(kind, m, t, c), contact.whole_force(m, s, t, c))
    pose = sub(pose, [0.0] * 3 + cross(core, cross(force, lam[3:])))
    answer = matvec_t(mat(t.answer[c]), force_bar(kind, m, t, c))
    for bar, row in zip(answer[1:], slip_rows(kind, m, t, c), strict=True):
        pose = add(pose, scale(bar, row))
    if m.features.soft:
        pose = add(pose, scale(answer[0], gap_row(kind, m, s, t, c)))
    store(t.pose_bar[i], pose)
    store(t.answer_bar[c], answer)


@each_body
def pull_body(m, s, t, i):
    """The body's own residual; what came together for its pose; zero in lanes without a whole step."""
    lam, pose, R = vec(t.lam[i]), vec(t.pose_bar[i]), mat(t.R[i])
    push = scale(s.mass[i][0] * t.rate, lam[:3])
    turn = sub(cross(vec(t.spun[i]), lam[3:]), matvec_t(mat(t.turning[i]), lam[3:]))
    spin = scale(-1.0, matvec_t(mat(t.spin_slope[i]), lam[3:]))
    pose, speed = add(pose, scale(-1.0 * t.rate, push) + turn), scale(-1.0, push)
    if any(kind >= 16 for kind in m.features.joint_kinds):
        origin = vec(t.origin_bar[i])
        pose, speed = add(pose, origin), sub(speed, scale(s.h0, origin[:3]))
        spin = add(spin, matvec_t(mat(t.returns[i]), origin[3:]))
        store(t.origin_bar[i], [0.0] * 6)
    sound = on(t.sound)
    bar = pose[:3] + matvec_t(R, pose[3:]) + speed + spin
    store(t.before_bar[i], [select(sound, value, 0.0) for value in bar])


@each_axis
def pull_axis(m, s, t, a):
    """Bars of effort and targets, from that of what the motor is asked for."""
    asked = select(on(t.sound), t.effort_bar[a][0], 0.0)
    t.effort_bar[a][0] = asked
    t.target_bar[a][0], t.target_velocity_bar[a][0] = s.kp[a][0] * asked, s.kd[a][0] * asked


@block
def parameters(m, s, t):
    """Bars of further controls and of parameters."""
    parameters_body(m, s, t)
    parameters_axis(m, s, t)
    parameters_contact(m, s, t)


@each_body
def parameters_body(m, s, t, i):
    lam, R, sound = vec(t.lam[i]), mat(t.R[i]), on(t.sound)
    v, om = body.velocity(t, i)
    rise = sub(scale(t.rate, sub(v, vec(s.v[i]))), vec(m.gravity[0]))
    w = vec(s.w[i])
    after = matvec_t(R, body.tangent(t, i).rates([0.0] * 3 + lam[3:])[3:]), matvec_t(R, om)
    travel = integrator.tangent(s.h0, matvec(R, w)).travel(lam[3:])
    before = matvec_t(R, scale(1.0 / t.h, travel)), w
    inertia = []
    for j, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        parts = [a[j] * b[k] + (a[k] * b[j] if j != k else 0.0) for a, b in (after, before)]
        inertia.append(parts[0] - parts[1])
    t.mass_bar[i][0] = select(sound, dot(lam[:3], rise), 0.0)
    for field, values in (
        (t.inertia_bar, inertia),
        (t.force_bar, scale(-1.0, lam[:3])),
        (t.torque_bar, scale(-1.0, matvec_t(R, lam[3:]))),
    ):
        store(field[i], [select(sound, value, 0.0) for value in values])


@each_axis
def parameters_axis(m, s, t, a):
    """Set bars to zero where no law acts."""
    tau, phi, last, sound = t.tau_bar[a][0], t.coordinate[a][0], s.angle[a][0], on(t.sound)
    asked = tau * t.axis_answer[a][0]
    h0, rate = axis.interval_before(s, t), t.rate * (phi - last)
    stretch = 0.5 * ((h0 / t.h) * (last - 0.5 * h0 * s.rate[a][0] - s.rest[a][0]) + 0.5 * (last + phi) - s.rest[a][0])
    limit = dry = 0.0
    if s.features.limits:
        mobility, bounded = t.mobility[a][0], axis.of_pairs(s, s.bounded[a])
        rows = [0.0, 0.0, mobility * bounded[axis.CUT], mobility * bounded[axis.UNCUT], 0.0, 0.0, 0.0]
        limit = tau * axis.change_of_effort(s, t, a, axis.NOTHING, rows, 0.0)
        rows = [0.0] * 4 + [bounded[axis.SLIP], bounded[axis.BACK], 0.0]
        dry = tau * axis.change_of_effort(s, t, a, axis.NOTHING, rows, 0.0)
    speed = curve = rotor = 0.0
    if s.features.speeds:
        speed = tau * t.h * (t.speed_answer[a][1] - t.speed_answer[a][0])
    if s.features.curves:
        share = tau * (t.axis_answer[a][0] - 1.0) * rate / s.no_load_speed[a][0]
        limit, curve = limit + share, -1.0 * share * axis.drag(s, a)
    if s.features.armature:
        rotor = tau * t.rate * (t.rate0[a][0] - rate)
    for field, value in (
        (t.kp_bar, asked * (s.target[a][0] - phi)),
        (t.kd_bar, asked * (s.target_velocity[a][0] - rate)),
        (t.stiffness_bar, -1.0 * tau * stretch),
        (t.damping_bar, -1.0 * tau * rate),
        (t.effort_limit_bar, limit),
        (t.dry_friction_bar, dry),
        (t.velocity_limit_bar, speed),
        (t.no_load_speed_bar, curve),
        (t.armature_bar, rotor),
    ):
        field[a][0] = select(sound, value, 0.0)


@each_contact
def parameters_contact(kind, m, s, t, c):
    bar, (gap, *_), sound = force_bar(kind, m, t, c), vec(t.answer_bar[c]), on(t.sound)
    gamma = t.ca[c][cone.NORMAL] + 0.0
    rows = [gamma * contact.roughness(s, c) if k == cone.RADIUS else 0.0 for k in range(6)]
    change, _, _ = contact.response(m, s, t, c, contact.NOTHING, rows, 0.0, [0.0, 0.0])
    compliance = damping = press = 0.0
    if m.features.soft:
        K, d, give = s.compliance[c][0], s.contact_damping[c][0], t.give[c][0]
        share = 1.0 / (1.0 + K * d * t.rate)
        i = m.contact_body[c]
        deep = minimum(contact.gap(m, c, geometry.of(kind).touch(m, s, c, vec(t.x[i]), mat(t.R[i])).gap), 0.0)
        # give = K share, sunk = d/h give deep
        compliance = gap * (share * share * (gamma - d * t.rate * deep))
        damping = gap * (t.rate * share * share * (-1.0 * K * K * gamma - K * deep))
        press = gap * select(less(t.sunk[c][0], 0.0), d * t.rate * give, 0.0)
    for field, value in (
        (t.friction_bar, sum_of(x * y for x, y in zip(bar, change, strict=True))),
        (t.compliance_bar, compliance),
        (t.contact_damping_bar, damping),
        (t.offset_bar, press - gap),
    ):
        field[c][0] = select(sound, value, 0.0)
    if geometry.of(kind).fixed_axes is not None:
        point, radius = shape_bars(kind, m, s, t, c, press)
        store(t.point_bar[c], [select(sound, value, 0.0) for value in point])
        t.radius_bar[c][0] = select(sound, radius, 0.0)


def shape_bars(kind, m, s, t, c, press):
    """Bars of the core point, in its body's frame, and of the radius around it: both carry the force, open the gap and
    slide; press: bar of the gap before the step, with the opposite sign."""
    i = m.contact_body[c]
    n, *along = ground.axes(kind, m, t, c)
    gap, *slips = vec(t.answer_bar[c])
    force = matvec_t([n, *along], contact.whole_force(m, s, t, c))
    carried = scale(-1.0, cross(force, vec(t.lam[i])[3:]))
    slid = matvec_t(along, slips)
    after = add(scale(gap, n), slid)
    before = sub(carried, add(scale(press, n), slid))
    point = add(matvec_t(mat(t.R[i]), before), matvec_t(mat(t.Rn[i]), after))
    _, om = body.velocity(t, i)
    rolled = [integrator.travel(t.h, scale(-1.0, cross(n, axis)), om) for axis in along]
    turned = sum_of(bar * way for bar, way in zip(slips, rolled, strict=True))
    return point, press - gap - dot(n, carried) + turned
