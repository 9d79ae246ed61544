"""Elimination where bodies touch: what ldu.py does beside the tree, with the links of collision/links.py.

Body i has, beside its own D, blocks B of row i and columns j of the bodies that it is linked with, and of rows j and
its own column. At its joint's anchor, where its motion is y_i = y_p + S xi + delta, p the parent there (ldu.py),

    H xi    = ... - N out y_j                 xi  = xi0 - G y_p - Z y_j,      Z = H^-1 N out
    dwrench = ... + (out - U Z) y_j           what the parent gets: blocks of row p, column j
    row j     in y_i = in (1 - S G) y_p + in (delta + S xi0) - (in S) Z y_k

summed over links j, k; the parent is one of them wherever there are any. Bodies that float have no parent, S and N
are 1 and H is D. So it is with the wrench w of a joint that closes a loop (loop.py), which is a node of its own: its y
is w, its D is E, and the blocks of the two bodies that it joins are C and R.
"""

from vigym.engine.kernels import loop
from vigym.engine.kernels.quaternion import add, mat, matvec, scale, store, sub, sum_of, vec
from vigym.engine.kernels.simd import for_range
from vigym.engine.kernels.small import lu, lu_solve, lu_solve_columns, product, shift_columns, shift_rows
from vigym.engine.kernels.sweep import each_block


@each_block
def clear_block(m, s, t, k):
    store(t.B[k], [[0.0] * 6] * 6)


def take_own(t, i):
    """Add to D of node i what fill has added."""
    first = t.own_block[i]
    for_range(first, first + t.has_own[i], lambda block: accumulate(t.D[i], mat(t.B[block])))


def every_link(t, i, body):
    """Run body(link) over the links of body i."""
    first = t.first_link[i]
    for_range(first, first + t.link_count[i], body)


def accumulate(block, A, sign=1.0):
    """block += sign A"""
    store(block, [[x + sign * y for x, y in zip(*rows, strict=True)] for rows in zip(mat(block), A, strict=True)])


def head(matrix, rows, columns):
    """The first rows and columns of a block."""
    return [[matrix[i, j] + 0.0 for j in range(columns)] for i in range(rows)]


def put(block, values):
    """Write values into the first rows and columns of a block."""
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            block[i, j] = value


def eliminate_links(m, t, i, parts):
    """Carry the blocks of body i to what it is linked with, and what is known of it to their r.

    parts: H; N and S as functions of a matrix's rows and columns; U = D S, G, what is known (delta + S xi0) of
    the motion, at the anchor; the number of free axes; the anchor seen from the body now and then, and from the
    parent (None for a body that floats)
    """
    H, gather, spread, U, G, known, k, arms = parts

    def prepare(link):
        out, back = mat(t.B[t.link_out[link]]), mat(t.B[t.link_in[link]])
        if arms is not None:
            rho0, rho, _, _ = arms
            out, back = shift_rows(out, scale(-1.0, rho0)), shift_columns(back, rho)
        j = t.link_body[link]
        store(t.r[j], add(vec(t.r[j]), matvec(back, known)))
        if k:
            put(t.Z[link], lu_solve_columns(H, gather(out)))
            put(t.BS[link], [spread(row) for row in back])
        if arms is None:
            return
        Z, BS = (head(t.Z[link], k, 6), head(t.BS[link], 6, k)) if k else (None, None)
        left = [sub(a, b) for a, b in zip(out, product(U, Z), strict=True)] if k else out
        right = [sub(a, b) for a, b in zip(back, product(BS, G), strict=True)] if k else back
        accumulate(t.B[t.up_out[link]], shift_rows(left, arms[2]))
        store(t.B[t.link_out[link]], left)  # what the joint feels of the motion of j
        accumulate(t.B[t.up_in[link]], shift_columns(right, scale(-1.0, arms[3])))

    every_link(t, i, prepare)
    if not k:
        return

    def rows(a):
        def columns(b):
            place = t.first_fill[i] + (a - t.first_link[i]) * t.link_count[i] + (b - t.first_link[i])
            accumulate(t.B[t.fill[place]], product(head(t.BS[a], 6, k), head(t.Z[b], k, 6)), -1.0)

        every_link(t, i, columns)

    every_link(t, i, rows)


def known_links(t, i, k):
    """Sum of Z y_j: the part that the motion of linked bodies takes from xi."""
    for q in range(k):
        t.now[0][q] = 0.0

    def body(link):
        y = vec(t.y[t.link_body[link]])
        for q in range(k):
            t.now[0][q] = t.now[0][q] + sum_of(t.Z[link][q, c] * y[c] for c in range(6))

    every_link(t, i, body)
    return [t.now[0][q] + 0.0 for q in range(k)]


def pushed(t, i):
    """Change of the wrench of body i's joint by the motion of linked bodies."""
    for q in range(6):
        t.now[0][q] = 0.0

    def body(link):
        y = vec(t.y[t.link_body[link]])
        store(t.now[0], add(vec(t.now[0]), matvec(mat(t.B[t.link_out[link]]), y)))

    every_link(t, i, body)
    return vec(t.now[0])


def carry_links(t, i, k, xi):
    """Add (in S) xi, from a further right-hand side, to the r of linked bodies."""
    if not k:
        return

    def body(link):
        j = t.link_body[link]
        store(t.r[j], add(vec(t.r[j]), [sum_of(t.BS[link][p, q] * xi[q] for q in range(k)) for p in range(6)]))

    every_link(t, i, body)


# ------------------------------------------------------------------------------------------------ loops as nodes
def node_of(m, which):
    """Number of the node of a loop."""
    return m.n_bodies + 1 + which


def each_closing(m, i, body, backwards=False):
    """Run body(node, which) over the loops whose sides meet in body i, in the order of elimination or backwards."""
    first, last = loop.closing(m, i)
    bounds = (last - 1, first - 1) if backwards else (first, last)

    def one(piece):
        which = m.piece_loop[piece]
        body(node_of(m, which), which)

    for_range(*bounds, one, -1 if backwards else 1)


def close_loops(m, t, i):
    """Eliminate the loops whose sides meet in body i (or in the world), before the body itself."""

    def close(node, which):
        take_own(t, node)
        H, right = lu(mat(t.D[node])), vec(t.r[node])
        store(t.D[node], H)
        store(t.g[which], right)
        known = scale(-1.0, lu_solve(H, right))
        eliminate_links(m, t, node, (H, list, list, None, None, known, 6, None))

    each_closing(m, i, close)


def close_loops_again(m, t, i):
    """The same for a further right-hand side, which then adds to g."""

    def close(node, which):
        r = vec(t.r[node])
        carry_links(t, node, 6, scale(-1.0, lu_solve(mat(t.D[node]), r)))
        store(t.g[which], add(vec(t.g[which]), r))

    each_closing(m, i, close)


def solve_loops(m, t, i):
    """Wrench changes of the loops that close in body i, once its motion is known."""

    def solve(node, which):
        w = sub(scale(-1.0, lu_solve(mat(t.D[node]), vec(t.g[which]))), known_links(t, node, 6))
        store(t.y[node], w)
        store(t.w_loop[which], w)

    each_closing(m, i, solve, backwards=True)
