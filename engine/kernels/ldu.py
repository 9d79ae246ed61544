"""Block elimination along the tree, leaf to root, without fill-in: O(bodies + contacts).

Newton's matrix couples a body only with its joint, and the joint only with the parent. Body i
and its joint are eliminated together. With everything moved to the joint's anchor, where the child's motion is the
parent's plus S xi + delta (joint.py), and with the child's equations D y + r = dwrench:

    H xi   = -rN - N (r + D (y_parent + delta)),     H = N D S + stiffness of the axis law      (k x k, k free axes)
    dwrench = Dhat y_parent + rhat,                  Dhat = D - D S H^-1 N D,   rhat = r + D delta + D S xi0

and Dhat, rhat, moved to the parent's centre of mass, add to the parent's D and r. This is the same block LDU as
eliminating the child and then the joint's multipliers, with the pivot of the pair solved in closed form: the only
factorisation is that of the small H. D is not symmetric: forces act at the current pose, motion is at the next.
A floating body keeps H = D (6x6).
"""

from vigym.engine.kernels import ball, gear, loop, touching
from vigym.engine.kernels.axis import NOTHING, change_of_effort, of_pairs
from vigym.engine.kernels.joint import advance_wrench, free, is_ball, is_floating, wrench_size
from vigym.engine.kernels.quaternion import add, cross, mat, matvec, matvec_t, scale, store, sub, sum_of, vec
from vigym.engine.kernels.simd import block
from vigym.engine.kernels.small import (
    identity,
    lu,
    lu_solve,
    lu_solve_columns,
    product,
    shift_columns,
    shift_rows,
    transpose,
)
from vigym.engine.kernels.sweep import each_coupling, each_loop_joint, each_piece, leaf_to_root, root_to_leaf


def spread(kt, kr, S, xi):
    """S xi as (dx, dth): S holds one direction per free axis, the unit directions where three rotations are free."""
    dx = [sum_of(S[k][j] * xi[k] for k in range(kt)) if kt else 0.0 for j in range(3)]
    if kr == 3:
        return dx + xi[kt:]
    return dx + [sum_of(S[kt + k][j] * xi[kt + k] for k in range(kr)) if kr else 0.0 for j in range(3)]


def gather(kt, N, wrench):
    """N wrench: one number per free axis."""
    halves = [wrench[:3] if k < kt else wrench[3:] for k in range(len(N))]
    return [sum_of(N[k][j] * halves[k][j] for j in range(3)) for k in range(len(N))]


def effort_axes(kind, t, i):
    """N of this joint (k x 3); plain unit vectors where they are known to be."""
    kt, kr, has_law = free(kind)
    N = [[t.N[i][k, j] + 0.0 for j in range(3)] for k in range(kt + kr)]
    if kr == 3 and not has_law:
        N[kt:] = [[1.0 if j == k else 0.0 for j in range(3)] for k in range(3)]
    return N


def motion_axes(kind, t, i):
    """S of this joint; none stored where three rotations are free."""
    kt, kr, _ = free(kind)
    return [[t.S[i][k, j] + 0.0 for j in range(3)] for k in range(kt + (kr if kr < 3 else 0))]


def correction(kind, t, i):
    """delta of this joint; there is no rotation to remove where three are free."""
    _, kr, _ = free(kind)
    return [t.delta[i][j] + 0.0 if j < 3 or kr < 3 else 0.0 for j in range(6)]


def coordinate_stiffness(kind, m, s, t, i):
    """-d(tau)/d(phi) of the axis law, one number a free axis; but for three free rotations, see `ball_stiffness`."""
    kt, kr, _ = free(kind)
    a = m.first_axis[i]
    return [-1.0 * change_of_effort(s, t, a + j, NOTHING, NOTHING, 1.0) for j in range(kt + (kr if kr < 3 else 0))]


def axis_stiffness(kind, m, s, t, i):
    """-d(tau)/d(xi) of the axis law, k x k."""
    kt, kr, _ = free(kind)
    k, kappa = kt + kr, coordinate_stiffness(kind, m, s, t, i)
    C = [[kappa[j] if p == j and j < len(kappa) else 0.0 for p in range(k)] for j in range(k)]
    if kr == 3:
        for j, row in enumerate(ball.ball_stiffness(m, s, t, i, m.first_axis[i] + kt)):
            C[kt + j][kt:] = row
    return C


def known_effort(kind, m, s, t, i, targets):
    """The part of the change of tau that does not depend on xi; `targets` gives (k, r) of an axis."""
    kt, kr, _ = free(kind)
    a = m.first_axis[i]
    plain = [change_of_effort(s, t, a + j, *targets(a + j), 0.0) for j in range(kt + (kr if kr < 3 else 0))]
    return plain + (ball.known_efforts(s, t, i, a + kt, targets) if kr == 3 else [])


@leaf_to_root
def eliminate(kind, m, s, t, i):
    """Factorise body i with its joint and carry D and the affine right-hand side to the parent; r is left at zero, for
    what the corrector adds."""
    if gear.is_gear(kind):
        return  # not in the tree
    if m.features.loops:
        border(m).close_loops(m, t, i)
    if m.features.touches:
        touching.take_own(t, i)
    right = vec(t.r[i])
    store(t.r[i], [0.0] * 6)
    touches = m.features.touches
    if is_floating(kind):
        H = lu(mat(t.D[i]))
        store(t.D[i], H)
        store(t.rhat[i], right)
        if touches:
            known = scale(-1.0, lu_solve(H, right))
            touching.eliminate_links(m, t, i, (H, list, list, None, None, known, 6, None))
        if m.features.bordered:
            xi = scale(-1.0, lu_solve(H, right))
            loop.carry_loops(m, t, i, (H, list, list, None, None, xi), joined=False)
        return
    kt, kr, has_law = free(kind)
    k = kt + kr
    D, rho0 = mat(t.D[i]), vec(t.rho0[i])
    # to the anchor: columns with the arm at the next pose, rows with the arm at the current pose
    D = shift_rows(shift_columns(D, vec(t.rho[i])), scale(-1.0, rho0))
    S, N = motion_axes(kind, t, i), effort_axes(kind, t, i)
    r = add(at_anchor(right, rho0), matvec(D, correction(kind, t, i)))
    U = [spread_row(kt, kr, S, row) for row in D]  # D S, 6 x k
    ND = transpose([gather(kt, N, column) for column in transpose(D)]) if k else []  # N D, k x 6
    H = transpose([gather(kt, N, column) for column in transpose(U)]) if k else []
    rN = [t.rN[i][j] + 0.0 for j in range(k)]
    if has_law:
        H = [add(a, b) for a, b in zip(H, axis_stiffness(kind, m, s, t, i), strict=True)]
        if s.features.limits:
            rN = sub(rN, known_effort(kind, m, s, t, i, lambda a: (of_pairs(s, t.lt[a]), vec(t.lr[a]))))
    H = lu(H)
    G = lu_solve_columns(H, ND) if k else []
    size = wrench_size(kind)
    if is_ball(kind):  # the anchor transmits a force only: H^-1 N D is the identity in its last columns
        G = [row[:3] + unit for row, unit in zip(G, identity(3), strict=True)]
    Dhat = [sub(old, new) for old, new in zip(D, product(U, G), strict=True)] if k else D
    Dhat = [[Dhat[j][c] if max(j, c) < size else 0.0 for c in range(6)] for j in range(6)]
    xi = lu_solve(H, [-1.0 * (a + b) for a, b in zip(rN, gather(kt, N, r), strict=True)])
    rhat = add(r, matvec(U, xi)) if k else r
    for q in range(k):
        t.xi[i][q] = xi[q]
        for c in range(size):
            t.G[i][q, c] = G[q][c]
        for c in range(6):
            t.U[i][c, q] = U[c][q]
        for c in range(k):
            t.H[i][q, c] = H[q][c]
    store(t.rhat[i], rhat)
    give_parent(t, i, m.parent[i], Dhat, rhat, size)
    if touches:
        known = add(correction(kind, t, i), spread(kt, kr, S, xi)) if k else correction(kind, t, i)
        arms = rho0, vec(t.rho[i]), vec(t.arm0[i]), vec(t.arm[i])

        def gathered(out):
            return transpose([gather(kt, N, column) for column in transpose(out)])

        links = (H, gathered, lambda row: spread_row(kt, kr, S, row), U, G, known, k, arms)
        touching.eliminate_links(m, t, i, links)
    if m.features.bordered:
        parts = (H, lambda column: gather(kt, N, column), lambda row: spread_row(kt, kr, S, row), U, G, xi)
        loop.carry_loops(m, t, i, parts, joined=True)


def spread_row(kt, kr, S, row):
    """One row of D S."""
    out = [sum_of(row[j] * S[k][j] for j in range(3)) for k in range(kt)]
    if kr == 3:
        return out + row[3:]
    return out + [sum_of(row[3 + j] * S[kt + k][j] for j in range(3)) for k in range(kr)]


def at_anchor(r, rho0):
    """A residual (6) taken about the anchor."""
    return r[:3] + sub(r[3:], cross(rho0, r[:3]))


def give_parent(t, i, p, Dhat, rhat, size):
    """Keep Dhat, zero beyond `size`, and add it and rhat, moved to the parent's centre of mass, to the parent."""
    arm0, arm = vec(t.arm0[i]), vec(t.arm[i])
    store(t.D[i], [row[:size] for row in Dhat[:size]])
    moved = shift_rows(shift_columns(Dhat, scale(-1.0, arm)), arm0)
    store(t.D[p], [add(a, b) for a, b in zip(mat(t.D[p]), moved, strict=True)])
    give_parent_rhs(t, i, p, rhat)


def give_parent_rhs(t, i, p, rhat):
    """Add rhat, moved to the parent's centre of mass, to the parent."""
    arm0 = vec(t.arm0[i])
    store(t.r[p], add(vec(t.r[p]), rhat[:3] + add(rhat[3:], cross(arm0, rhat[:3]))))


@leaf_to_root
def eliminate_again(kind, m, s, t, i):
    """Carry a further right-hand side (in r; the corrector's) to the parent, adding to what `eliminate` left."""
    if gear.is_gear(kind):
        return  # not in the tree
    if m.features.loops:
        border(m).close_loops_again(m, t, i)
    r = vec(t.r[i])
    if is_floating(kind):
        store(t.rhat[i], add(vec(t.rhat[i]), r))
        if m.features.touches:
            touching.carry_links(t, i, 6, scale(-1.0, lu_solve(mat(t.D[i]), r)))
        if m.features.bordered:
            loop.carry_loops_again(m, t, i, scale(-1.0, lu_solve(mat(t.D[i]), r)))
        return
    kt, kr, has_law = free(kind)
    k = kt + kr
    r = at_anchor(r, vec(t.rho0[i]))
    if k:
        b = gather(kt, effort_axes(kind, t, i), r)
        if has_law and s.features.limits:
            b = sub(b, known_effort(kind, m, s, t, i, lambda a: (vec(t.lk[a]), NOTHING)))
        H = [[t.H[i][q, c] + 0.0 for c in range(k)] for q in range(k)]
        xi = lu_solve(H, scale(-1.0, b))
        for q in range(k):
            t.xi[i][q] = t.xi[i][q] + xi[q]
        r = [r[j] + sum_of(t.U[i][j, q] * xi[q] for q in range(k)) for j in range(6)]
        if m.features.touches:
            touching.carry_links(t, i, k, xi)
        if m.features.bordered:
            loop.carry_loops_again(m, t, i, xi)
    store(t.rhat[i], add(vec(t.rhat[i]), r))
    give_parent_rhs(t, i, m.parent[i], r)


@root_to_leaf
def substitute(kind, m, s, t, i):
    """Motion of body i from that of its parent, root to leaf."""
    if gear.is_gear(kind):
        return  # not in the tree
    bordered = m.features.bordered
    if is_floating(kind):
        y = scale(-1.0, lu_solve(mat(t.D[i]), vec(t.rhat[i])))
        if m.features.touches:
            y = sub(y, touching.known_links(t, i, 6))
        store(t.y[i], sub(y, loop.known_loops(m, t, i, 6, t.Y)) if bordered else y)
    else:
        kt, kr, has_law = free(kind)
        k = kt + kr
        yp = vec(t.y[m.parent[i]])
        y = add(yp[:3], cross(yp[3:], vec(t.arm[i]))) + yp[3:]
        if k:
            xi = [t.xi[i][q] - sum_of(t.G[i][q, c] * y[c] for c in range(wrench_size(kind))) for q in range(k)]
            if m.features.touches:
                xi = sub(xi, touching.known_links(t, i, k))
            if bordered:
                xi = sub(xi, loop.known_loops(m, t, i, k, t.Y))
            # a ball's last columns of G, which are not stored, take away what the parent turns
            y = y[:3] + xi if is_ball(kind) else add(y, spread(kt, kr, motion_axes(kind, t, i), xi))
            if has_law:
                store_changes(kt, kr, m, t, i, xi)
        y = add(y, correction(kind, t, i))
        store(t.y[i], sub(y[:3], cross(y[3:], vec(t.rho[i]))) + y[3:])
    if m.features.loops:
        border(m).solve_loops(m, t, i)


def store_changes(kt, kr, m, t, i, xi):
    """Store the changes that the axis laws need, by the motion xi along the free axes."""
    a = m.first_axis[i]
    for q in range(kt + (kr if kr < 3 else 0)):
        t.dphi[a + q][0] = xi[q]
        if m.features.balls:
            t.dmotion[a + q][0] = xi[q]
            t.fall[a + q][0] = t.drive_slope[a + q][0] * xi[q]
    if kr == 3:
        ball.store_ball_changes(m, t, i, a + kt, xi[kt:])


# ------------------------------------------------------------------------------------------------ loops
def border(m):
    """The file that eliminates loops: links where bodies may touch, else a border."""
    return touching if m.features.touches else loop


@each_loop_joint
def open_loops(kind, m, s, t, i):
    """The border of the loops, before the elimination."""
    if gear.is_gear(kind):
        gear.open_gear(m, s, t, i)
        return
    kt, kr, has_law = free(kind)
    stiffness, known = [], [0.0] * (kt + kr)
    turning = ball.ball_stiffness(m, s, t, i, m.first_axis[i] + kt) if kr == 3 and has_law else []
    if has_law:
        stiffness = coordinate_stiffness(kind, m, s, t, i)
        if s.features.limits:
            known = known_effort(kind, m, s, t, i, lambda a: (of_pairs(s, t.lt[a]), vec(t.lr[a])))
    loop.open_loop(kt, kr, m, s, t, i, effort_axes(kind, t, i), stiffness, turning, known)


@each_loop_joint
def open_loops_again(kind, m, s, t, i):
    """The corrector's right-hand side of the loops: efforts on their free axes."""
    kt, kr, has_law = free(kind)
    which, g2 = i - m.n_bodies, [0.0] * 6
    if has_law and s.features.limits and not gear.is_gear(kind):
        known = known_effort(kind, m, s, t, i, lambda a: (vec(t.lk[a]), NOTHING))
        for q, (_, k) in enumerate(loop.loop_rows(kt, kr, m, t, i)):
            g2[q] = 0.0 if k is None else -1.0 * known[k]
    store(t.r[touching.node_of(m, which)] if m.features.touches else t.g2[which], g2)


@block
def close_world_loops(m, s, t):
    """Loops whose sides only meet in the world."""
    border(m).close_loops(m, t, m.n_bodies)


@block
def close_world_loops_again(m, s, t):
    border(m).close_loops_again(m, t, m.n_bodies)


@block
def solve_world_loops(m, s, t):
    border(m).solve_loops(m, t, m.n_bodies)


@each_loop_joint
def move_loops(kind, m, s, t, i):
    """Changes of the coordinates of loop joints, from the motion of their bodies."""
    kt, kr, has_law = free(kind)
    if not has_law or gear.is_gear(kind):
        return
    motions = []
    for body, arm in ((m.child[i], t.rho), (m.parent[i], t.arm)):
        y = vec(t.y[body])
        motions.append(add(y[:3], cross(y[3:], vec(arm[i]))) + y[3:])
    relative = sub(*motions)
    xi = [None] * (kt + kr)
    for q, (_, k) in enumerate(loop.loop_rows(kt, kr, m, t, i)):
        if k is not None:
            xi[k] = sum_of(t.loop_rows[i - m.n_bodies][q, j] * relative[j] for j in range(6))
    store_changes(kt, kr, m, t, i, xi)


@each_loop_joint
def update_loops(kind, m, s, t, i):
    """wrench += alpha w, w being along the rows of the loop."""
    which = i - m.n_bodies
    w = vec(t.w_loop[which])
    advance_wrench(t, i, w if gear.is_gear(kind) else matvec_t(mat(t.loop_rows[which]), w))


@each_piece
def clear_pieces(m, s, t, k):
    store(t.C[k], [[0.0] * 6] * 6)
    store(t.R_loop[k], [[0.0] * 6] * 6)


@each_coupling
def clear_couplings(m, s, t, k):
    store(t.E[k], [[0.0] * 6] * 6)
