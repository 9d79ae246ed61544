"""Vectors, 3x3 matrices and quaternions as lists of lane values; plain functions, no decorator, no loops left over.

They work on floats, on NumPy lane arrays (real or complex) and on the symbols of the lane compiler. Quaternions are
scalar first and turn body vectors into world vectors.
"""

import numpy as np

from vigym.engine.kernels.simd import absolute, less, maximum, rint, select, shared, sqrt

TWO_PI = 2.0 * np.pi
# pi/2 in two parts, the first of them short enough for its multiples to be exact
HALF_PI_HIGH, HALF_PI_LOW = 1.5707963109016418, 1.5893254773528196e-08
SINE = (
    1.58962301576546568060e-10,
    -2.50507477628578072866e-8,
    2.75573136213857245213e-6,
    -1.98412698295895385996e-4,
    8.33333333332211858878e-3,
    -1.66666666666666307295e-1,
)
COSINE = (
    -1.13585365213876817300e-11,
    2.08757008419747316778e-9,
    -2.75573141792967388112e-7,
    2.48015872888517045348e-5,
    -1.38888888888730564116e-3,
    4.16666666666665929218e-2,
)


def vec(block):
    """The numbers of a block with one axis; `+ 0.0` takes a copy under NumPy and is free when compiled."""
    return [block[i] + 0.0 for i in range(block.shape[0])]


def mat(block):
    """The rows of a block with two axes."""
    return [[block[i, j] + 0.0 for j in range(block.shape[1])] for i in range(block.shape[0])]


def store(block, values):
    """Write a list (of lists) into a block."""
    for i, value in enumerate(values):
        if isinstance(value, list):
            for j, entry in enumerate(value):
                block[i, j] = entry
        else:
            block[i] = value


@shared
def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    """a x b"""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def add(a, b):
    """a + b, element by element"""
    return [x + y for x, y in zip(a, b, strict=True)]


def sub(a, b):
    """a - b, element by element"""
    return [x - y for x, y in zip(a, b, strict=True)]


def scale(k, a):
    """k a"""
    return [k * x for x in a]


def matvec(A, v):
    """A v"""
    return [sum_of(row[k] * v[k] for k in range(len(v))) for row in A]


def matvec_t(A, v):
    """A^T v"""
    return [sum_of(A[k][j] * v[k] for k in range(len(A))) for j in range(len(A[0]))]


def sum_of(terms):
    """Sum without the integer 0 that Python's `sum` starts from."""
    terms = list(terms)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


@shared
def multiply(p, q):
    """Quaternion product p q"""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@shared
def conjugate(q):
    """q^-1 of a unit quaternion"""
    return q[0], -q[1], -q[2], -q[3]


def matrix(q):
    """Rotation matrix R(q), body to world; orthogonal to rounding even where |q| is not quite 1"""
    w, x, y, z = q
    c = 2.0 / (w * w + x * x + y * y + z * z)
    x2, y2, z2 = c * x, c * y, c * z
    wx, wy, wz = w * x2, w * y2, w * z2
    xx, xy, xz, yy, yz, zz = x * x2, x * y2, x * z2, y * y2, y * z2, z * z2
    return [
        [1.0 - (yy + zz), xy - wz, xz + wy],
        [xy + wz, 1.0 - (xx + zz), yz - wx],
        [xz - wy, yz + wx, 1.0 - (xx + yy)],
    ]


def angle_to(x, y):
    """Angle of the point (x, y), both of them 0 or more, to machine precision: one reduction step, to a tangent that is
    y/x, (y - x)/(y + x) or -x/y, and a rational function (Cephes). The point (0, 0) has none."""
    large, middle = less(2.414213562373095 * x, y), less(0.66 * x, y)
    reduced = select(large, -1.0 * x, select(middle, y - x, y)) / select(large, y, select(middle, y + x, x))
    start = select(large, np.pi / 2, select(middle, np.pi / 4, 0.0))
    z = reduced * reduced
    p = (
        (
            ((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z - 7.500855792314704667340e1) * z
            - 1.228866684490136173410e2
        )
        * z
        - 6.485021904942025371773e1
    ) * z
    q = (
        (((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z + 4.328810604912902668951e2) * z
        + 4.853903996359136964868e2
    ) * z + 1.945506571482613964425e2
    return start + (reduced + reduced * (p / q))


def atan2(y, x):
    """Angle of the point (x, y) in (-pi, pi]; (0, 0) gives 0."""
    acute = angle_to(maximum(1e-300, absolute(x)), absolute(y))
    angle = select(less(x, 0.0), np.pi - acute, acute)
    return select(less(y, 0.0), -angle, angle)


def nearest_turn(angle, guess):
    """angle + 2 pi k, with the k that brings it closest to `guess`"""
    return angle + TWO_PI * rint((guess - angle) * (1.0 / TWO_PI))


def shorter(e):
    """The one of e and -e that stands for at most half a turn."""
    flip = select(less(e[0], 0.0), -1.0, 1.0)
    return [flip * x for x in e]


def aligned(e, other):
    """The one of e and -e that is nearer to the quaternion `other`."""
    flip = select(less(sum_of(x * y for x, y in zip(e, other, strict=True)), 0.0), -1.0, 1.0)
    return [flip * x for x in e]


def rotation_vector(e):
    """Rotation vector phi of the unit quaternion e, and K with d(phi) = K d(theta), theta in the frame e maps from:
    K = I + [phi]x/2 + k [phi]x^2, k = (1 - (a/2) cot(a/2)) / a^2, a = |phi|.

    e and -e are the same rotation the two ways round: phi goes on smoothly with e beyond half a turn, to a < 2 pi."""
    c, u = e[0], e[1:]
    uu = dot(u, u)
    small = less(uu, 1e-8)
    size = sqrt(select(small, 1e-8, uu))
    acute = angle_to(maximum(1e-300, absolute(c)), size)
    half = select(less(c, 0.0), np.pi - acute, acute)
    # series in uu = sin^2(a/2) where the closed forms lose digits
    factor = select(small, 2.0 + uu * (1.0 / 3.0), 2.0 * half / size)
    k = select(small, 1.0 / 12.0 + uu * (1.0 / 180.0), (1.0 - half * c / size) / (4.0 * half * half))
    phi = scale(factor, u)
    pp = dot(phi, phi)
    jacobian = [[k * phi[i] * phi[j] for j in range(3)] for i in range(3)]
    for i in range(3):
        jacobian[i][i] = jacobian[i][i] + (1.0 - k * pp)
    half_phi = scale(0.5, phi)
    for i, j, value in ((0, 1, -half_phi[2]), (0, 2, half_phi[1]), (1, 2, -half_phi[0])):
        jacobian[i][j] = jacobian[i][j] + value
        jacobian[j][i] = jacobian[j][i] - value
    return phi, jacobian


def polynomial(coefficients, z):
    """Sum of coefficients times powers of z, the highest first."""
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * z + coefficient
    return value


def turned_by(phi):
    """Quaternion of a rotation by a = |phi| about phi, of either sign: [cos(a/2), sin(a/2)/a phi].

    sin and cos of a quarter of the angle, less half turns, are polynomials (Cephes), from which the half follows."""
    aa = dot(phi, phi)
    small = less(aa, 1e-8)
    a = sqrt(select(small, 1.0, aa))
    turns = rint(a * (1.0 / TWO_PI))
    x = (0.25 * a - turns * HALF_PI_HIGH) - turns * HALF_PI_LOW  # in [-pi/4, pi/4]
    z = x * x
    sine = x + x * z * polynomial(SINE, z)
    cosine = 1.0 - 0.5 * z + z * z * polynomial(COSINE, z)
    # the sign (-1)^turns of both is left out
    c = select(small, 1.0 - aa * (1.0 / 8.0), 1.0 - 2.0 * sine * sine)
    factor = select(small, 0.5 - aa * (1.0 / 48.0), 2.0 * sine * cosine / a)
    return [c, *scale(factor, phi)]
