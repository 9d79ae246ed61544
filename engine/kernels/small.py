"""Small dense matrices as lists of lists of lane values: products, LU, and moving 6x6 blocks between points."""

from vigym.engine.kernels.quaternion import add, cross, sum_of


def product(A, B):
    """A B"""
    columns = transpose(B)
    return [[total(row, column) for column in columns] for row in A]


def total(a, b):
    """Sum of products of two lists."""
    return sum_of(x * y for x, y in zip(a, b, strict=True))


def transpose(A):
    """A^T"""
    return [list(column) for column in zip(*A, strict=True)]


def identity(n):
    """The n x n identity, as plain numbers that cost nothing."""
    return [[1.0 if j == k else 0.0 for j in range(n)] for k in range(n)]


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


def lu_solve_transposed(A, b):
    """A^-T b from `lu`."""
    n, x = len(A), list(b)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - A[k][i] * x[k]
        x[i] = x[i] * A[i][i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - A[k][i] * x[k]
    return x


def lu_solve_columns(A, B):
    """A^-1 B from `lu`."""
    return transpose([lu_solve(A, column) for column in transpose(B)])


def shift_rows(D, arm):
    """Force-torque rows (6 x n) with the torque taken about a point at -arm: tau += arm x f, column by column."""
    turned = [cross(arm, [D[0][c], D[1][c], D[2][c]]) for c in range(len(D[0]))]
    return D[:3] + [[D[3 + j][c] + turned[c][j] for c in range(len(turned))] for j in range(3)]


def shift_columns(D, arm):
    """Motion columns (n x 6) for the motion of a point at +arm: dx = dx_point + arm x dth."""
    return [row[:3] + add(row[3:], cross(row[:3], arm)) for row in D]
