"""Crossing of a ray and a solid: all but meshes convex, each in its own frame, with its middle at the origin.

    kind       size
    SPHERE     radius
    CAPSULE    radius, half length (of the straight part, along z)
    CYLINDER   radius, half length (along z)
    BOX        three half edges
    CONE       radius, half height: base at z = -half, tip at z = +half
    HULL       (none): all points with n . p <= d, for rows n, d of an array of facets
    MESH       shortest way, leaves, triangles of a leaf: triangles in a tree of boxes, see hierarchy.py

A solid's `form` is its size (three numbers), the array of all facets (F, 4), and its first and last + 1 in it.
`kind(form, o, d)` is the smallest t > 0 at which o + t d enters the solid, or FAR; a ray that starts inside does not
enter (but it meets the triangles of a mesh from either side). The convex ones have no branches, so that a loop of them
over a row of pixels becomes SIMD code.
"""

import math

import numpy as np

from vigym.engine.vectors import cross, dot
from vigym.view.pictures.compiled import called, inlined

SPHERE, CAPSULE, CYLINDER, BOX, CONE, HULL, MESH = range(7)
FAR = 1e60
_TINY = 1e-30  # stands for a direction component of zero: 1/_TINY is still far from overflow


@inlined
def larger(a, b):
    return a if a > b else b


@inlined
def smaller(a, b):
    return a if a < b else b


@inlined
def inverse(v):
    return 1.0 / (v if v != 0.0 else _TINY)


@inlined
def sphere(form, o, d):
    """|o + t d|^2 = r^2"""
    a, b, c = dot(d, d), dot(o, d), dot(o, o) - form[0] * form[0]
    D = b * b - a * c
    t = (-b - math.sqrt(larger(D, 0.0))) / a
    return t if (D > 0.0) & (t > 0.0) else FAR


@inlined
def capsule(form, o, d):
    """Enters the infinite cylinder between the ends, else through the ball at the end nearer to that point."""
    r, half = form[0], form[1]
    a, b, c = d[0] * d[0] + d[1] * d[1] + _TINY, o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1] - r * r
    D = b * b - a * c
    side = (-b - math.sqrt(larger(D, 0.0))) / a
    z = o[2] + side * d[2]
    beyond = (z > half) | (z < -half)
    oz = o[2] - (half if z > half else -half)
    A, B, C = a + d[2] * d[2], b + oz * d[2], c + oz * oz
    E = B * B - A * C
    end = (-B - math.sqrt(larger(E, 0.0))) / A
    t = end if beyond else side
    hit = (D > 0.0) & (t > 0.0) & ((E > 0.0) | (not beyond))
    return t if hit else FAR


@inlined
def cylinder(form, o, d):
    """The later of entering the infinite cylinder and the slab |z| <= half, if that is before leaving either."""
    r, half = form[0], form[1]
    a, b, c = d[0] * d[0] + d[1] * d[1] + _TINY, o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1] - r * r
    D = b * b - a * c
    root, k = math.sqrt(larger(D, 0.0)), 1.0 / a
    w = inverse(d[2])
    middle, reach = -o[2] * w, half * abs(w)
    near = larger((-b - root) * k, middle - reach)
    far = smaller((-b + root) * k, middle + reach)
    return near if (D > 0.0) & (near < far) & (near > 0.0) else FAR


@inlined
def box(form, o, d):
    """The last of entering three slabs, if that is before leaving any."""
    wx, wy, wz = inverse(d[0]), inverse(d[1]), inverse(d[2])
    mx, my, mz = -o[0] * wx, -o[1] * wy, -o[2] * wz
    rx, ry, rz = form[0] * abs(wx), form[1] * abs(wy), form[2] * abs(wz)
    near = larger(larger(mx - rx, my - ry), mz - rz)
    far = smaller(smaller(mx + rx, my + ry), mz + rz)
    return near if (near < far) & (near > 0.0) else FAR


@inlined
def cone(form, o, d):
    """The first of: both roots of x^2 + y^2 = k^2 (half - z)^2 where |z| <= half, and the base."""
    r, half = form[0], form[1]
    k = 0.5 * r / half
    kk, g = k * k, half - o[2]
    a = d[0] * d[0] + d[1] * d[1] - kk * d[2] * d[2]
    b = o[0] * d[0] + o[1] * d[1] + kk * g * d[2]
    c = o[0] * o[0] + o[1] * o[1] - kk * g * g
    D = b * b - a * c
    root, w = math.sqrt(larger(D, 0.0)), inverse(a)
    t1, t2, t3 = (-b - root) * w, (-b + root) * w, (-half - o[2]) * inverse(d[2])
    x, y = o[0] + t3 * d[0], o[1] + t3 * d[1]
    t = t3 if (t3 > 0.0) & (d[2] > 0.0) & (x * x + y * y < r * r) else FAR
    t = t1 if (D > 0.0) & (t1 > 0.0) & (t1 < t) & (abs(o[2] + t1 * d[2]) < half) else t
    return t2 if (D > 0.0) & (t2 > 0.0) & (t2 < t) & (abs(o[2] + t2 * d[2]) < half) else t


@inlined
def hull(form, o, d):
    """The last of entering the half spaces, if that is before leaving any."""
    facets, near, far = form[3], -FAR, FAR
    for i in range(form[4], form[5]):
        rate = facets[i, 0] * d[0] + facets[i, 1] * d[1] + facets[i, 2] * d[2]
        room = facets[i, 3] - (facets[i, 0] * o[0] + facets[i, 1] * o[1] + facets[i, 2] * o[2])
        t = room * inverse(rate)
        near = t if (rate < 0.0) & (t > near) else near
        far = t if (rate >= 0.0) & (t < far) else far
    return near if (near < far) & (near > 0.0) else FAR


@called
def first_triangle(form, o, d, limit):
    """The smallest t below `limit` at which o + t d meets a triangle, else `limit`; the triangle's first row, else -1;
    and the weights of its second and third corner there.

    Moeller and Trumbore: o + t d = v0 + u e1 + v e2. Boxes are looked at in the order of the tree, without a stack: who
    is done with a node goes to its sibling, or to that of the first node above it that is a left child.
    """
    table, first, leaves, per = form[3], form[4], np.int64(form[1]), np.int64(form[2])
    triangles = first + 2 * (2 * leaves - 1)
    wx, wy, wz = inverse(d[0]), inverse(d[1]), inverse(d[2])
    best, found, best_u, best_v = limit, np.int64(-1), 0.0, 0.0
    node = np.int64(1)
    while node > 0:
        r = first + 2 * (node - 1)
        ax, bx = (table[r, 0] - o[0]) * wx, (table[r + 1, 0] - o[0]) * wx
        ay, by = (table[r, 1] - o[1]) * wy, (table[r + 1, 1] - o[1]) * wy
        az, bz = (table[r, 2] - o[2]) * wz, (table[r + 1, 2] - o[2]) * wz
        near = larger(larger(smaller(ax, bx), smaller(ay, by)), smaller(az, bz))
        far = smaller(smaller(larger(ax, bx), larger(ay, by)), larger(az, bz))
        if near <= far and far > 0.0 and near < best:
            if node < leaves:
                node = 2 * node
                continue
            for k in range(per):
                j = triangles + 6 * (per * (node - leaves) + k)
                e1 = table[j + 1, 0], table[j + 1, 1], table[j + 1, 2]
                e2 = table[j + 2, 0], table[j + 2, 1], table[j + 2, 2]
                p = cross(d, e2)
                w = inverse(dot(e1, p))
                s = o[0] - table[j, 0], o[1] - table[j, 1], o[2] - table[j, 2]
                u = dot(s, p) * w
                c = cross(s, e1)
                v, t = dot(d, c) * w, dot(e2, c) * w
                if (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > form[0]) & (t < best) & (dot(e1, e1) > 0.0):
                    best, found, best_u, best_v = t, j, u, v
        while node & 1:
            node >>= 1
        node += 1 if node > 0 else 0
    return best, found, best_u, best_v


@inlined
def mesh(form, o, d):
    """The first triangle."""
    return first_triangle(form, o, d, FAR)[0]


@inlined
def mesh_normal(form, o, d, t):
    """Unit normal (3 numbers) against d of the triangle that is met at t, and a number for its direction."""
    _, j, u, v = first_triangle(form, o, d, t * (1.0 + 1e-6))
    if j < 0:
        x, y, z = -d[0], -d[1], -d[2]
    else:
        table, w = form[3], 1.0 - u - v
        x = w * table[j + 3, 0] + u * table[j + 4, 0] + v * table[j + 5, 0]
        y = w * table[j + 3, 1] + u * table[j + 4, 1] + v * table[j + 5, 1]
        z = w * table[j + 3, 2] + u * table[j + 4, 2] + v * table[j + 5, 2]
    size = math.sqrt(x * x + y * y + z * z)
    size = size if x * d[0] + y * d[1] + z * d[2] < 0.0 else -size
    size = inverse(size)
    x, y, z = x * size, y * size, z * size
    face = 16 * np.int64(1.99 * (x + 1.0)) + 4 * np.int64(1.99 * (y + 1.0)) + np.int64(1.99 * (z + 1.0))
    return x, y, z, face


@called
def enter(kind, form, o, d):
    """The function of that kind."""
    if kind == SPHERE:
        return sphere(form, o, d)
    if kind == CAPSULE:
        return capsule(form, o, d)
    if kind == CYLINDER:
        return cylinder(form, o, d)
    if kind == BOX:
        return box(form, o, d)
    if kind == CONE:
        return cone(form, o, d)
    if kind == HULL:
        return hull(form, o, d)
    return mesh(form, o, d)


@inlined
def normal(kind, form, p):
    """Outward unit normal (3 numbers) of the face on which p lies, and the number of that face."""
    if kind == SPHERE:
        return p[0] / form[0], p[1] / form[0], p[2] / form[0], 0
    if kind == CAPSULE:
        z = p[2] - larger(-form[1], smaller(p[2], form[1]))
        return p[0] / form[0], p[1] / form[0], z / form[0], 0
    if kind == CYLINDER:
        rho = math.sqrt(p[0] * p[0] + p[1] * p[1])
        if abs(p[2]) - form[1] > rho - form[0]:
            return 0.0, 0.0, (1.0 if p[2] > 0.0 else -1.0), (1 if p[2] > 0.0 else 2)
        return p[0] / form[0], p[1] / form[0], 0.0, 0
    if kind == BOX:
        x, y, z = abs(p[0]) - form[0], abs(p[1]) - form[1], abs(p[2]) - form[2]
        if x > y and x > z:
            return (1.0 if p[0] > 0.0 else -1.0), 0.0, 0.0, (0 if p[0] > 0.0 else 1)
        if y > z:
            return 0.0, (1.0 if p[1] > 0.0 else -1.0), 0.0, (2 if p[1] > 0.0 else 3)
        return 0.0, 0.0, (1.0 if p[2] > 0.0 else -1.0), (4 if p[2] > 0.0 else 5)
    if kind == CONE:
        rho, k = math.sqrt(p[0] * p[0] + p[1] * p[1]), 0.5 * form[0] / form[1]
        c = 1.0 / math.sqrt(1.0 + k * k)  # cosine of the half angle at the tip
        if -form[1] - p[2] > (rho - k * (form[1] - p[2])) * c:
            return 0.0, 0.0, -1.0, 1
        w = c * inverse(rho)
        return p[0] * w, p[1] * w, k * c, 0
    facets, best, face = form[3], -FAR, form[4]
    for i in range(form[4], form[5]):
        out = facets[i, 0] * p[0] + facets[i, 1] * p[1] + facets[i, 2] * p[2] - facets[i, 3]
        if out > best:
            best, face = out, i
    return facets[face, 0], facets[face, 1], facets[face, 2], face - form[4]


def bounds(kind, size, vertices=None):
    """Half edges (3,) of a box around the solid's core, the radius by which the solid is rounded beyond it, and the
    radius of a ball around the middle that holds the solid."""
    a, b, c = size
    if kind == SPHERE:
        core, rounding = (0.0, 0.0, 0.0), a
    elif kind == CAPSULE:
        core, rounding = (0.0, 0.0, b), a
    elif kind in (HULL, MESH):
        core, rounding = np.abs(vertices).max(axis=0), 0.0
        return core, rounding, float(np.linalg.norm(vertices, axis=1).max())
    else:
        core, rounding = ((a, b, c) if kind == BOX else (a, a, b)), 0.0
    reach = math.hypot(a, b) if kind in (CYLINDER, CONE) else float(np.linalg.norm(core)) + rounding
    return np.array(core), rounding, reach
