"""Joints that close kinematic loops: a border around the tree's elimination, no wider than the loop itself.

A loop joint's unknown is the change w (6) of its wrench, along the directions of its own rows. It pushes on the two
bodies it joins, and its six rows ask that their relative motion obeys the joint (constrained rows) or that the wrench
obeys the axis law (free rows, see joint.py):

    body i:   D y + C w + r = 0,       loop l:   R y + E w + g = 0      (summed over loops and bodies)

While bodies are eliminated from the leaves (ldu.py), C and R travel towards the root along both sides of the loop; one
PIECE is kept per loop and body on its way. Where the sides meet, everything inside the loop is gone and w is eliminated
too. Loops that share bodies are coupled through blocks of E: that is the fill-in, found once for each mechanism.

A planar loop of hinges, or a rigid frame, states some rows twice; E is then singular in directions that do not matter.
Constrained rows get a compliance of EPSILON of the child's own: with the whole wrench while the joints are still open
by more than NEAR, so that redundant wrenches stay small, and with its change alone from then on, which leaves the
solution exact.
"""

from vigym.engine.kernels.quaternion import add, cross, dot, mat, matvec, scale, store, sub, sum_of, vec
from vigym.engine.kernels.simd import for_range, less, select
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

EPSILON = 1e-8
NEAR = 1e-6  # m, rad


def loop_rows(kt, kr, m, t, i):
    """Six rows on the relative motion at the anchor, and which free axis each belongs to (None: constrained)."""
    unit = identity(3)
    zero = [0.0, 0.0, 0.0]
    slide = [matvec(mat(t.Rn[m.parent[i]]), row) for row in mat(m.slide[i])] if kt else unit
    rows = [(axis + zero, k - (3 - kt) if k >= 3 - kt else None) for k, axis in enumerate(slide)]
    S = [[t.S[i][kt + k, j] + 0.0 for j in range(3)] for k in range(kr if kr < 3 else 0)]
    if kr == 0:
        turns = [(axis, None) for axis in unit]
    elif kr == 1:
        side = cross(matvec(mat(t.Rn[m.child[i]]), mat(m.child_axes[i])[1]), S[0])
        turns = [(side, None), (cross(S[0], side), None), (scale(1.0 / dot(S[0], S[0]), S[0]), kt)]
    elif kr == 2:
        c = dot(S[0], S[1])
        k = 1.0 / (1.0 - c * c)
        duals = [scale(k, sub(S[0], scale(c, S[1]))), scale(k, sub(S[1], scale(c, S[0])))]
        turns = [(cross(S[1], S[0]), None), (duals[0], kt), (duals[1], kt + 1)]
    else:
        turns = [(axis, kt + k) for k, axis in enumerate(unit)]
    return rows + [(zero + axis, k) for axis, k in turns]


def open_loop(kt, kr, m, s, t, i, N, stiffness, turning, known):
    """C, R, E, g of loop joint i at its two bodies; N, `stiffness` and `known` effort are those of its free axes, the
    3 x 3 `turning` that of three free rotations; both stiffnesses are empty without a law."""
    loop_index = i - m.n_bodies
    h = t.h
    rows = loop_rows(kt, kr, m, t, i)
    delta, rN = vec(t.delta[i]), [t.rN[i][k] + 0.0 for k in range(kt + kr)]
    wrench, far = vec(t.wrench[i]), select(less(NEAR, t.misfit), 1.0, 0.0)
    c = m.child[i]
    J = vec(t.J[c])
    regularization = [EPSILON * h * h / s.mass[c][0]] * 3 + [EPSILON * h * h / (J[0] + J[3] + J[5])] * 3
    E_rel, E, g = [], [], []
    for q, (row, k) in enumerate(rows):
        if k is None:
            E_rel.append(row)
            E.append([regularization[q] * x for x in row])
            g.append(sum_of(row[j] * (far * regularization[q] * wrench[j] - delta[j]) for j in range(6)))
        else:
            if k < len(stiffness):
                E_rel.append([stiffness[k] * x for x in row])
            else:
                E_rel.append([0.0] * 3 + (turning[k - kt] if turning else [0.0] * 3))
            E.append(N[k] + [0.0] * 3 if k < kt else [0.0] * 3 + N[k])
            g.append(rN[k] - known[k])
        for j in range(6):
            t.loop_rows[loop_index][q, j] = row[j]
    basis = transpose([row for row, _ in rows])
    own, right = own_block(m, t, loop_index)
    store(own, product(E, basis))
    store(right, g)
    ends = [end_blocks(m, t, m.first_end[loop_index] + side) for side in range(2)]
    for (C_at, R_at), sign, arm0, arm in zip(ends, (-1.0, 1.0), (t.rho0, t.arm0), (t.rho, t.arm), strict=True):
        C = shift_rows(basis, vec(arm0[i]))
        R = shift_columns(E_rel, scale(-1.0, vec(arm[i])))
        accumulate(C_at, [scale(sign, row) for row in C])
        accumulate(R_at, [scale(-sign, row) for row in R])


def own_block(m, t, which):
    """Place where E and g of a loop are kept."""
    if m.features.touches:
        from vigym.engine.kernels import touching

        node = touching.node_of(m, which)
        return t.D[node], t.r[node]
    return t.E[m.own_coupling[which]], t.g[which]


def end_blocks(m, t, end):
    """C and R of a loop at one of its ends: the child of a joint, then the parent; see gear.py for couplings."""
    if m.features.touches:
        edge = t.n_near + end
        return t.B[t.near_out[edge]], t.B[t.near_in[edge]]
    piece = m.end_piece[end]
    return t.C[piece], t.R_loop[piece]


def coupling(m, i, a, b):
    """Block of E between the loops of pieces a and b of body i (row, column)."""
    q = m.first_piece[i + 1] - m.first_piece[i]
    return m.coupling[m.first_coupling[i] + (a - m.first_piece[i]) * q + (b - m.first_piece[i])]


def subtract(block, A, B):
    """block -= A B"""
    store(block, [sub(old, new) for old, new in zip(mat(block), product(A, B), strict=True)])


def accumulate(block, A):
    """block += A"""
    store(block, [add(old, new) for old, new in zip(mat(block), A, strict=True)])


def closing(m, i):
    """First piece of body i whose loop closes there, and the first whose loop goes on."""
    first = m.first_piece[i]
    return first, first + (m.first_closing[i + 1] - m.first_closing[i])


def passing(m, i, body):
    """Run body(piece) over the loops that pass body i and go on."""
    for_range(closing(m, i)[1], m.first_piece[i + 1], body)


def close_loops(m, t, i):
    """Eliminate the loops whose sides meet in body i (or in the world), before the body itself."""

    def close(piece):
        own = m.own_coupling[m.piece_loop[piece]]
        E = lu(mat(t.E[own]))
        store(t.E[own], E)
        g = lu_solve(E, vec(t.g[m.piece_loop[piece]]))
        R, C = lu_solve_columns(E, mat(t.R_loop[piece])), mat(t.C[piece])
        store(t.R_loop[piece], R)
        subtract(t.D[i], C, R)
        store(t.r[i], sub(vec(t.r[i]), matvec(C, g)))

        def column(other):
            block = t.E[coupling(m, i, piece, other)]
            store(block, lu_solve_columns(mat(t.E[own]), mat(block)))
            subtract(t.C[other], mat(t.C[piece]), mat(block))

        def row(other):
            E_row = mat(t.E[coupling(m, i, other, piece)])
            subtract(t.R_loop[other], E_row, mat(t.R_loop[piece]))
            store(t.g[m.piece_loop[other]], sub(vec(t.g[m.piece_loop[other]]), matvec(E_row, g)))

            def fill(third):
                row, column = coupling(m, i, other, piece), coupling(m, i, piece, third)
                subtract(t.E[coupling(m, i, other, third)], mat(t.E[row]), mat(t.E[column]))

            for_range(piece + 1, m.first_piece[i + 1], fill)

        for_range(piece + 1, m.first_piece[i + 1], column)
        for_range(piece + 1, m.first_piece[i + 1], row)

    for_range(*closing(m, i), close)


def close_loops_again(m, t, i):
    """The same for a further right-hand side, g2, which then adds to g."""

    def close(piece):
        which = m.piece_loop[piece]
        g2 = vec(t.g2[which])
        g = lu_solve(mat(t.E[m.own_coupling[which]]), g2)
        store(t.r[i], sub(vec(t.r[i]), matvec(mat(t.C[piece]), g)))
        store(t.g[which], add(vec(t.g[which]), g2))

        def row(other):
            E_row = mat(t.E[coupling(m, i, other, piece)])
            store(t.g2[m.piece_loop[other]], sub(vec(t.g2[m.piece_loop[other]]), matvec(E_row, g)))

        for_range(piece + 1, m.first_piece[i + 1], row)

    for_range(*closing(m, i), close)


def carry_loops(m, t, i, parts, joined):
    """Take the pieces of body i to its parent.

    `parts` = (H, N, S, U, G, xi) of ldu.py, N and S as functions of a column and of a row; `joined` is False for a
    floating body, which has no parent to take anything to. With Y = H^-1 N C, all at the anchor:

        C_parent += C - U Y,   R_parent += R - R S G,   E -= R S Y,   g += R (delta + S xi)
    """
    H, N, S, U, G, xi = parts
    k = len(xi)

    def column(piece):
        C = mat(t.C[piece])
        if joined:
            C = shift_rows(C, scale(-1.0, vec(t.rho0[i])))
        if k:
            Y = lu_solve_columns(H, transpose([N(column) for column in transpose(C)]))
            for q in range(k):
                for c in range(6):
                    t.Y[piece][q, c] = Y[q][c]
        if joined:
            if k:
                C = [sub(old, new) for old, new in zip(C, product(U, Y), strict=True)]
            store(t.C[piece], C)
            accumulate(t.C[m.piece_up[piece]], shift_rows(C, vec(t.arm0[i])))

    def row(piece):
        R, which = mat(t.R_loop[piece]), m.piece_loop[piece]
        g = vec(t.g[which])
        if joined:
            R = shift_columns(R, vec(t.rho[i]))
            g = add(g, matvec(R, vec(t.delta[i])))
        if k:
            RS = [S(row) for row in R]
            g = add(g, matvec(RS, xi))
            for j in range(6):
                for q in range(k):
                    t.RS[piece][j, q] = RS[j][q]
        store(t.g[which], g)

        def couple(other):
            RS = [[t.RS[piece][j, q] + 0.0 for q in range(k)] for j in range(6)]
            Y = [[t.Y[other][q, c] + 0.0 for c in range(6)] for q in range(k)]
            subtract(t.E[coupling(m, i, piece, other)], RS, Y)

        if joined:
            if k:
                R = [sub(old, new) for old, new in zip(R, product(RS, G), strict=True)]
            accumulate(t.R_loop[m.piece_up[piece]], shift_columns(R, scale(-1.0, vec(t.arm[i]))))
        if k:
            passing(m, i, couple)

    passing(m, i, column)
    passing(m, i, row)


def carry_loops_again(m, t, i, xi):
    """g2 += R S xi for the corrector's xi."""

    def row(piece):
        which = m.piece_loop[piece]
        RS = [[t.RS[piece][j, q] + 0.0 for q in range(len(xi))] for j in range(6)]
        store(t.g2[which], add(vec(t.g2[which]), matvec(RS, xi)))

    if xi:
        passing(m, i, row)


def known_loops(m, t, i, k, field):
    """Sum of field w over the loops that pass body i, their wrench changes w being known: k numbers."""
    for q in range(k):
        t.now[0][q] = 0.0

    def one(piece):
        change = matvec(
            [[field[piece][q, c] + 0.0 for c in range(6)] for q in range(k)], vec(t.w_loop[m.piece_loop[piece]])
        )
        for q in range(k):
            t.now[0][q] = t.now[0][q] + change[q]

    passing(m, i, one)
    return [t.now[0][q] + 0.0 for q in range(k)]


def solve_loops(m, t, i):
    """Wrench changes of the loops that close in body i, once its motion is known: w = -E^-1 g - R y - E' w'."""

    def one(piece):
        which = m.piece_loop[piece]
        g = lu_solve(mat(t.E[m.own_coupling[which]]), vec(t.g[which]))
        store(t.w_loop[which], sub(scale(-1.0, g), matvec(mat(t.R_loop[piece]), vec(t.y[i]))))

        def other(later):
            E = mat(t.E[coupling(m, i, piece, later)])
            store(t.w_loop[which], sub(vec(t.w_loop[which]), matvec(E, vec(t.w_loop[m.piece_loop[later]]))))

        for_range(piece + 1, m.first_piece[i + 1], other)

    first, last = closing(m, i)
    for_range(last - 1, first - 1, one, -1)
