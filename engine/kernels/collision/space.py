"""Vectors as tuples of three numbers, and solids placed in the world; plain functions that compiled loops call, too.

A placed solid is (centre, axes, half, radius): axes are its three unit vectors in the world frame.
"""

from vigym.engine.kernels.simd import shared

SPHERE, CAPSULE, BOX, PLANE, CYLINDER, HULL, FIELD, MESH = range(8)


@shared
def is_ground(kind):
    """True if a kind of solid is ground made of triangles (terrain.py)."""
    return kind >= FIELD


@shared
def is_endless(kind):
    """True if a kind of solid has no size."""
    return kind == PLANE or kind >= FIELD


@shared
def is_round(kind):
    """True if a kind of solid is a sphere or a capsule."""
    return kind in (SPHERE, CAPSULE)


@shared
def has_rims(first, second):
    """True if one of two kinds of solids is a cylinder, and neither is endless (rounds.py)."""
    return (first == CYLINDER or second == CYLINDER) and not is_endless(first) and not is_endless(second)


@shared
def has_tables(first, second):
    """True if two kinds of solids touch by the tables of one that has many faces (polytope.py)."""
    return (first == HULL or second == HULL) and not is_ground(second)


@shared
def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@shared
def cross(a, b):
    """a x b"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@shared
def add(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@shared
def sub(a, b):
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@shared
def times(k, a):
    """k a"""
    return (k * a[0], k * a[1], k * a[2])


@shared
def along(p, k, a):
    """p + k a"""
    return (p[0] + k * a[0], p[1] + k * a[1], p[2] + k * a[2])


@shared
def length(a):
    """|a|"""
    return dot(a, a) ** 0.5


@shared
def clamp(x, most):
    """x within [-most, most]"""
    return min(max(x, -most), most)


@shared
def turn(R, v):
    """R v, rows of R being tuples."""
    return (dot(R[0], v), dot(R[1], v), dot(R[2], v))


@shared
def turn_back(R, v):
    """R^T v"""
    return (
        R[0][0] * v[0] + R[1][0] * v[1] + R[2][0] * v[2],
        R[0][1] * v[0] + R[1][1] * v[1] + R[2][1] * v[2],
        R[0][2] * v[0] + R[1][2] * v[1] + R[2][2] * v[2],
    )


@shared
def local(axes, v):
    """The components of v along the axes."""
    return (dot(axes[0], v), dot(axes[1], v), dot(axes[2], v))


@shared
def world(axes, v):
    """The vector with the components v along the axes."""
    return along(along(times(v[0], axes[0]), v[1], axes[1]), v[2], axes[2])


@shared
def sign(x):
    """1 or -1; 1 of zero."""
    return 1.0 if x >= 0.0 else -1.0


@shared
def corner(solid, number):
    """Corner 0..7 of a core: bits of its number are the signs along x, y, z."""
    centre, axes, half, _ = solid
    sx = half[0] if number & 1 else -half[0]
    sy = half[1] if number & 2 else -half[1]
    sz = half[2] if number & 4 else -half[2]
    return add(centre, world(axes, (sx, sy, sz)))


@shared
def edge(solid, number):
    """Middle of edge 0..11 of a core; it runs along axis number // 4."""
    centre, axes, half, _ = solid
    k = number // 4
    u = half[(k + 1) % 3] if number & 1 else -half[(k + 1) % 3]
    v = half[(k + 2) % 3] if number & 2 else -half[(k + 2) % 3]
    return along(along(centre, u, axes[(k + 1) % 3]), v, axes[(k + 2) % 3])


@shared
def extent(axes, half, n):
    """Extent of a core from its centre along the unit vector n."""
    return half[0] * abs(dot(axes[0], n)) + half[1] * abs(dot(axes[1], n)) + half[2] * abs(dot(axes[2], n))


@shared
def slope(solid, n):
    """n less its part along a cylinder's axis, and the length of that."""
    a = solid[1][2]
    across = along(n, -dot(n, a), a)
    return across, length(across)


@shared
def round_extent(solid, n):
    """Extent of a cylinder from its centre along the unit vector n."""
    _, steep = slope(solid, n)
    return solid[2][2] * abs(dot(n, solid[1][2])) + solid[2][0] * steep
