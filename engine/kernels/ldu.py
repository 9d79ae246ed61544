"""Block elimination along the tree, leaf to root, without fill-in: O(bodies + contacts).

Newton's matrix couples a body only with its joint, and the joint only with the parent (DESIGN: linear time). Body i
and its joint are eliminated together. With everything moved to the joint's anchor, where the child's motion is the
parent's plus S xi + delta (joint.py), and with the child's equations D y + r = dwrench:

    H xi   = -rN - N (r + D (y_parent + delta)),     H = N D S + stiffness of the axis law      (k x k, k free axes)
    dwrench = Dhat y_parent + rhat,                  Dhat = D - D S H^-1 N D,   rhat = r + D delta + D S xi0

and Dhat, rhat, moved to the parent's centre of mass, add to the parent's D and r. This is the same block LDU as
eliminating the child and then the joint's multipliers, with the pivot of the pair solved in closed form: the only
factorisation is that of the small H. D is not symmetric: forces act at the current pose, motion is at the next.
A floating body keeps H = D (6x6).
"""

from vigym.engine.kernels.axis import direction, targets
from vigym.engine.kernels.joint import free, is_floating
from vigym.engine.kernels.quaternion import add, cross, mat, matvec, scale, store, sub, sum_of, vec
from vigym.engine.kernels.sweep import leaf_to_root, root_to_leaf

NO_PAIRS = [0.0] * 4


def lu(A):
    """LU without pivoting, in place, reciprocal pivots on the diagonal."""
    n = len(A)
    for k in range(n):
        A[k][k] = 1.0 / A[k][k]
        for i in range(k + 1, n):
            A[i][k] = A[i][k] * A[k][k]
            for j in range(k + 1, n):
                A[i][j] = A[i][j] - A[i][k] * A[k][j]
    return A


def lu_solve(A, b):
    """A^-1 b from `lu`."""
    n, x = len(A), list(b)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - A[i][k] * x[k]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - A[i][k] * x[k]
        x[i] = x[i] * A[i][i]
    return x


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


def axis_stiffness(kind, m, s, t, i):
    """d(-tau)/d(xi) of the axis law, k x k."""
    kt, kr, _ = free(kind)
    k, a = kt + kr, m.first_axis[i]
    kappa = [-1.0 * direction(s, t, a + j, NO_PAIRS, NO_PAIRS, 1.0)[2] for j in range(k)]
    C = [[kappa[j] if p == j else 0.0 for p in range(k)] for j in range(k)]
    if kr == 3:  # coordinates are a rotation vector: d(phi) = K dth
        for j in range(3):
            C[kt + j][kt:] = [kappa[kt + j] * t.K[i][j, p] for p in range(3)]
    return C


def known_effort(kind, m, s, t, i, targets):
    """The part of the change of tau that does not depend on xi; `targets` gives (k, r) of an axis."""
    kt, kr, _ = free(kind)
    a = m.first_axis[i]
    return [direction(s, t, a + j, *targets(a + j), 0.0)[2] for j in range(kt + kr)]


@leaf_to_root
def eliminate(kind, m, s, t, i):
    """Factorise body i with its joint and carry D and the affine right-hand side to the parent."""
    if is_floating(kind):
        store(t.D[i], lu(mat(t.D[i])))
        store(t.rhat[i], vec(t.r[i]))
        return
    kt, kr, has_law = free(kind)
    k = kt + kr
    p = m.parent[i]
    D, rho0, rho = mat(t.D[i]), vec(t.rho0[i]), vec(t.rho[i])
    # to the anchor: columns with the arm at the next pose, rows with the arm at the current pose
    D = [row[:3] + add(row[3:], cross(row[:3], rho)) for row in D]
    D = shift_rows(D, scale(-1.0, rho0))
    S, N = motion_axes(kind, t, i), effort_axes(kind, t, i)
    delta = vec(t.delta[i])
    r = at_anchor(vec(t.r[i]), rho0)
    r = [r[j] + sum_of(D[j][q] * delta[q] for q in range(6)) for j in range(6)]
    rN = [t.rN[i][j] + 0.0 for j in range(k)]
    if k == 0:
        store(t.rhat[i], r)
        give_parent(t, i, p, D, r)
        return
    U = [spread_row(kt, kr, S, row) for row in D]  # D S, 6 x k
    ND = [[sum_of(N[q][j] * D[j + (0 if q < kt else 3)][c] for j in range(3)) for c in range(6)] for q in range(k)]
    H = [[sum_of(N[q][j] * U[j + (0 if q < kt else 3)][c] for j in range(3)) for c in range(k)] for q in range(k)]
    if has_law:
        C = axis_stiffness(kind, m, s, t, i)
        H = [add(H[q], C[q]) for q in range(k)]

        if s.features.limits:
            rN = sub(rN, known_effort(kind, m, s, t, i, lambda a: (targets(s, t, a), vec(t.lr[a]))))
    H = lu(H)
    columns = [lu_solve(H, [ND[q][c] for q in range(k)]) for c in range(6)]
    ball = kr == 3 and kt == 0 and not has_law
    if ball:  # the anchor transmits a force only: H^-1 N D_th is exactly the identity
        columns[3:] = [[1.0 if q == c else 0.0 for q in range(3)] for c in range(3)]
    Dhat = [[D[j][c] - sum_of(U[j][q] * columns[c][q] for q in range(k)) for c in range(6)] for j in range(6)]
    if ball:
        Dhat = [[Dhat[j][c] if j < 3 and c < 3 else 0.0 for c in range(6)] for j in range(6)]
    xi = lu_solve(H, [-1.0 * (rN[q] + b) for q, b in enumerate(gather(kt, N, r))])
    rhat = [r[j] + sum_of(U[j][q] * xi[q] for q in range(k)) for j in range(6)]
    for q in range(k):
        t.xi[i][q] = xi[q]
        for c in range(6):
            t.G[i][q, c] = columns[c][q]
            t.U[i][c, q] = U[c][q]
        for c in range(k):
            t.H[i][q, c] = H[q][c]
    store(t.rhat[i], rhat)
    give_parent(t, i, p, Dhat, rhat)


def spread_row(kt, kr, S, row):
    """One row of D S."""
    out = [sum_of(row[j] * S[k][j] for j in range(3)) for k in range(kt)]
    if kr == 3:
        return out + row[3:]
    return out + [sum_of(row[3 + j] * S[kt + k][j] for j in range(3)) for k in range(kr)]


def shift_rows(D, arm):
    """Torque rows taken about a point `arm` away: tau += arm x f, column by column."""
    turned = [cross(arm, [D[0][c], D[1][c], D[2][c]]) for c in range(len(D[0]))]
    return D[:3] + [[D[3 + j][c] + turned[c][j] for c in range(len(turned))] for j in range(3)]


def at_anchor(r, rho0):
    """A residual (6) taken about the anchor."""
    return r[:3] + sub(r[3:], cross(rho0, r[:3]))


def give_parent(t, i, p, Dhat, rhat):
    """Keep Dhat, and add it and rhat, moved to the parent's centre of mass, to the parent."""
    arm0, arm = vec(t.arm0[i]), vec(t.arm[i])
    store(t.D[i], Dhat)
    moved = [row[:3] + sub(row[3:], cross(row[:3], arm)) for row in Dhat]
    moved = shift_rows(moved, arm0)
    store(t.D[p], [add(a, b) for a, b in zip(mat(t.D[p]), moved, strict=True)])
    give_parent_rhs(t, i, p, rhat)


def give_parent_rhs(t, i, p, rhat):
    """Add rhat, moved to the parent's centre of mass, to the parent."""
    arm0 = vec(t.arm0[i])
    store(t.r[p], add(vec(t.r[p]), rhat[:3] + add(rhat[3:], cross(arm0, rhat[:3]))))


@leaf_to_root
def eliminate_again(kind, m, s, t, i):
    """Carry a further right-hand side (in r; the corrector's) to the parent, adding to what `eliminate` left."""
    if is_floating(kind):
        store(t.rhat[i], add(vec(t.rhat[i]), vec(t.r[i])))
        return
    kt, kr, has_law = free(kind)
    k = kt + kr
    r = at_anchor(vec(t.r[i]), vec(t.rho0[i]))
    if k:
        N = effort_axes(kind, t, i)
        b = gather(kt, N, r)
        if has_law and s.features.limits:
            b = sub(b, known_effort(kind, m, s, t, i, lambda a: (vec(t.lk[a]), NO_PAIRS)))
        H = [[t.H[i][q, c] + 0.0 for c in range(k)] for q in range(k)]
        xi = lu_solve(H, [-1.0 * x for x in b])
        for q in range(k):
            t.xi[i][q] = t.xi[i][q] + xi[q]
        r = [r[j] + sum_of(t.U[i][j, q] * xi[q] for q in range(k)) for j in range(6)]
    store(t.rhat[i], add(vec(t.rhat[i]), r))
    give_parent_rhs(t, i, m.parent[i], r)


@root_to_leaf
def substitute(kind, m, s, t, i):
    """Motion of body i from that of its parent, root to leaf."""
    if is_floating(kind):
        store(t.y[i], scale(-1.0, lu_solve(mat(t.D[i]), vec(t.rhat[i]))))
        return
    kt, kr, has_law = free(kind)
    k = kt + kr
    yp = vec(t.y[m.parent[i]])
    y = add(yp[:3], cross(yp[3:], vec(t.arm[i]))) + yp[3:]
    if k:
        xi = [t.xi[i][q] - sum_of(t.G[i][q, c] * y[c] for c in range(6)) for q in range(k)]
        y = add(y, spread(kt, kr, motion_axes(kind, t, i), xi))
        if has_law:
            dphi = xi[:kt] + (matvec(mat(t.K[i]), xi[kt:]) if kr == 3 else xi[kt:])
            for q in range(k):
                t.dphi[m.first_axis[i] + q][0] = dphi[q]
    y = add(y, vec(t.delta[i]))
    store(t.y[i], sub(y[:3], cross(y[3:], vec(t.rho[i]))) + y[3:])
