"""First point of a ray p + s d, s >= 0, in a solid: the least such s; FAR if it misses, 0 if it begins inside.

`d` is a unit vector; both are in the solid's own frame. A ray stays in a convex solid from where it
has entered all that bounds it to where it first leaves one of these.
"""

from vigym.engine.kernels.collision import mesh, nearest
from vigym.engine.kernels.collision.height_field import columns, corners, is_below, lines, place
from vigym.engine.kernels.collision.nearest import FAR
from vigym.engine.kernels.collision.space import BOX, CAPSULE, CYLINDER, MESH, PLANE, SPHERE, cross, dot, sub
from vigym.engine.kernels.simd import shared

PARALLEL = 1e-300  # |d| along an axis below which a ray never crosses the planes across it


@shared
def stay(enter, leave):
    """The first point of a stay that may have begun behind the ray's start."""
    if enter > leave or leave < 0.0:
        return FAR
    return max(enter, 0.0)


@shared
def between(x, d, half):
    """Stay of one coordinate within [-half, half]."""
    if abs(d) < PARALLEL:
        return (-FAR, FAR) if abs(x) <= half else (FAR, -FAR)
    one, two = (-half - x) / d, (half - x) / d
    return min(one, two), max(one, two)


@shared
def roots(a, b, c):
    """Stay where a s^2 + 2 b s + c <= 0, a >= 0."""
    if a < PARALLEL:
        return (-FAR, FAR) if c <= 0.0 else (FAR, -FAR)
    inside = b * b - a * c
    if inside < 0.0:
        return FAR, -FAR
    reach = inside**0.5
    far = -b - reach if b > 0.0 else reach - b  # the root that loses no digits
    other = c / far if far != 0.0 else 0.0
    return min(far / a, other), max(far / a, other)


@shared
def ball(p, d, height, radius):
    """A ball around (0, 0, height)."""
    q = (p[0], p[1], p[2] - height)
    enter, leave = roots(dot(d, d), dot(q, d), dot(q, q) - radius * radius)
    return stay(enter, leave)


@shared
def tube(p, d, radius, half):
    """A cylinder along z."""
    c = p[0] * p[0] + p[1] * p[1] - radius * radius
    enter, leave = roots(d[0] * d[0] + d[1] * d[1], p[0] * d[0] + p[1] * d[1], c)
    low, high = between(p[2], d[2], half)
    return stay(max(enter, low), min(leave, high))


@shared
def capsule(p, d, radius, half):
    """A tube and the balls at its ends."""
    return min(tube(p, d, radius, half), ball(p, d, half, radius), ball(p, d, -half, radius))


@shared
def box(p, d, half):
    """A cuboid with these half edges."""
    x, y, z = between(p[0], d[0], half[0]), between(p[1], d[1], half[1]), between(p[2], d[2], half[2])
    return stay(max(x[0], y[0], z[0]), min(x[1], y[1], z[1]))


@shared
def half_space(p, d):
    """All below z = 0."""
    if p[2] <= 0.0:
        return 0.0
    return -p[2] / d[2] if d[2] < -PARALLEL else FAR


@shared
def triangle(p, d, a, b, c):
    """A triangle, from either side; its border belongs to it."""
    one, two = sub(b, a), sub(c, a)
    across = cross(d, two)
    volume = dot(one, across)
    if abs(volume) < PARALLEL:
        return FAR
    q = sub(p, a)
    u, turned = dot(q, across) / volume, cross(q, one)
    v, s = dot(d, turned) / volume, dot(two, turned) / volume
    edge = 1e-12  # so that no ray passes between two triangles
    return s if u >= -edge and v >= -edge and u + v <= 1.0 + edge and s >= 0.0 else FAR


@shared
def field(ground, p, d):
    """A height field, cell by cell along the ray's way over the grid; 0 from below its surface."""
    if is_below(ground, p):
        return 0.0
    numbers, start = ground[1], ground[3]
    rise = 0.5 * (numbers[start + 5] - numbers[start + 4])
    x, y = between(p[0], d[0], numbers[start]), between(p[1], d[1], numbers[start + 1])
    z = between(p[2] - numbers[start + 4] - rise, d[2], rise)
    enter, leave = max(x[0], y[0], z[0], 0.0), min(x[1], y[1], z[1])
    slack = 1e-9 * (numbers[start] + numbers[start + 1])  # flat fields are no thinner than their rounding
    if enter > leave + slack:
        return FAR
    across, along = columns(ground), lines(ground)
    c = place(p[0] + enter * d[0], numbers[start], numbers[start + 2], across)
    r = place(p[1] + enter * d[1], numbers[start + 1], numbers[start + 3], along)
    for _ in range(across + along + 2):
        cell, best = 2 * (r * across + c), FAR
        for half in range(2):
            one, two, three = corners(ground, cell + half)
            best = min(best, triangle(p, d, one, two, three))
        if best < FAR:
            return best
        edge_x = (c + (1 if d[0] > 0.0 else 0)) * numbers[start + 2] - numbers[start]
        edge_y = (r + (1 if d[1] > 0.0 else 0)) * numbers[start + 3] - numbers[start + 1]
        to_x = (edge_x - p[0]) / d[0] if abs(d[0]) > PARALLEL else FAR
        to_y = (edge_y - p[1]) / d[1] if abs(d[1]) > PARALLEL else FAR
        if min(to_x, to_y) > leave + slack:
            return FAR
        if to_x < to_y:
            c += 1 if d[0] > 0.0 else -1
        else:
            r += 1 if d[1] > 0.0 else -1
        if not (0 <= c < across and 0 <= r < along):
            return FAR
    return FAR


@shared
def triangles(ground, p, d):
    """A mesh; 0 from behind its surface."""
    if nearest.is_below(ground, p, -1, 1.0):
        return 0.0
    best, leaves, node = FAR, ground[2][ground[4] + 3], 1
    while node > 0:
        low, high = mesh.box(ground, node)
        enter, leave = 0.0, best
        for k in range(3):
            half = 0.5 * (high[k] - low[k])
            stay_in = between(p[k] - low[k] - half, d[k], half * mesh.SLACK)
            enter, leave = max(enter, stay_in[0]), min(leave, stay_in[1])
        if enter > leave or mesh.is_empty(ground, node):
            node = mesh.after(node)
        elif node >= leaves:
            a, b, c = mesh.corners(ground, node - leaves)
            best = min(best, triangle(p, d, a, b, c))
            node = mesh.after(node)
        else:
            node = 2 * node
    return best


@shared
def ground(surface, p, d):
    """Ground of triangles."""
    return triangles(surface, p, d) if surface[0] == MESH else field(surface, p, d)


@shared
def solid(kind, p, d, size):
    """A sphere, capsule, box, plane or cylinder; size: half lengths of the core, and the radius around it."""
    if kind == SPHERE:
        return ball(p, d, 0.0, size[3])
    if kind == CAPSULE:
        return capsule(p, d, size[3], size[2])
    if kind == BOX:
        return box(p, d, (size[0], size[1], size[2]))
    if kind == CYLINDER:
        return tube(p, d, size[0], size[2])
    if kind == PLANE:
        return half_space(p, d)
    return FAR
