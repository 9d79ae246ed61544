"""A contact between two bodies: what contact.py asks of a kind of geometry, for a feature that `collision` has found.

The first body of a pair is `contact_body`, the second `contact_other`; the world may only be the second. One of the two
owns the point that touches, the other one is its partner, lane by lane (`swap`). With d from the partner's point to the
owner's, at either pose,

    n       FACE: fixed to the partner; EDGES: across both edges; POINTS: along d; LINE: along d, across the line
            RIM: fixed to the partner
    gap     n . d - radius                            radii of both; for a rim less how far it reaches below its centre
    z       the owner's point, of two edges that where they are nearest, of a rim its lowest point

and d(gap) = n . (motion of the owner's material at z - that of the partner's), whichever feature it is. Slip is
measured over the step in the partner's frame, so that a common motion of both changes nothing: the way of the owner's
point, of a rim that of its centre, and the rotation vector of the relative turn times the owner's radius (contact.py).
Rows F and M are those of the FIRST body; those of the second are the same with the opposite sign, moved to its centre
of mass (`spread_pair`).
"""

from vigym.engine.kernels.collision import manifold
from vigym.engine.kernels.quaternion import (
    add,
    conjugate,
    cross,
    dot,
    mat,
    matvec,
    matvec_t,
    multiply,
    rotation_vector,
    scale,
    shorter,
    store,
    sub,
    vec,
)
from vigym.engine.kernels.simd import absolute, less, maximum, on, select, sqrt
from vigym.engine.kernels.small import shift_columns, shift_rows
from vigym.engine.kernels.sweep import each_near_pair

TINY = 1e-300


def choose(mask, a, b):
    """a where the mask holds, else b: lists of numbers, or of lists."""
    if isinstance(a, list):
        return [choose(mask, x, y) for x, y in zip(a, b, strict=True)]
    return select(mask, a, b)


class Sides:
    """Poses of owner and partner, and where the first body is seen from the owner."""

    def __init__(self, m, t, c, x, R):
        first, second = m.contact_body[c], m.contact_other[c]
        self.swap = on(t.swap[c][0])
        places = vec(x[first]), vec(x[second])
        turns = mat(R[first]), mat(R[second])
        self.owner, self.partner = choose(self.swap, places[1], places[0]), choose(self.swap, places[0], places[1])
        self.R, self.R_partner = choose(self.swap, turns[1], turns[0]), choose(self.swap, turns[0], turns[1])
        self.from_first = sub(self.owner, places[0])
        self.sign = select(self.swap, -1.0, 1.0)


def is_code(t, c, code):
    """The lanes in which the feature is of that code."""
    return less(code - 0.5, t.code[c][0]) & less(t.code[c][0], code + 0.5)


def unit(v):
    """v / |v|, and 0 of what has no length."""
    return scale(1.0 / maximum(sqrt(dot(v, v)), TINY), v)


def touch(m, t, c, sides):
    """gap; n; the owner's nearest point and the core, around which it turns, from its centre of mass."""
    core, mine = matvec(sides.R, vec(t.feature[c])[:3]), matvec(sides.R, vec(t.feature[c])[9:])
    base, way = (matvec(sides.R_partner, vec(t.feature[c])[k : k + 3]) for k in (3, 6))
    d = add(sub(sides.owner, sides.partner), sub(core, base))
    edges, points, line = (is_code(t, c, code) for code in (manifold.EDGES, manifold.POINTS, manifold.LINE))
    n = choose(edges, cross(way, mine), choose(points, d, sub(d, scale(dot(d, way), way))))
    n = choose(edges | points | line, unit(n), way)
    both, dw, dm = dot(way, mine), dot(d, way), dot(d, mine)
    along = select(edges, (both * dw - dm) / maximum(1.0 - both * both, 1e-20), 0.0)
    gap, reach = dot(n, d) - t.radius[c][0], add(core, scale(along, mine))
    if not m.features.rims:
        return gap, n, reach, reach
    rim = is_code(t, c, manifold.RIM)
    below, under = lowest(n, mine)
    turning = choose(rim, core, reach)
    return gap - select(rim, under, 0.0), n, choose(rim, add(core, below), reach), turning


def lowest(n, mine):
    """The lowest point of a rim, from its centre, and how far below that it is; mine: along its axis, as long as its
    radius r. below = -(r^2 n - (n . mine) mine)/under, under = sqrt(r^2 - (n . mine)^2)"""
    rr, nm = dot(mine, mine), dot(n, mine)
    under = sqrt(maximum(rr - nm * nm, TINY))
    return scale(-1.0 / under, sub(scale(rr, n), scale(nm, mine))), under


def tangents(n):
    """Two unit vectors across n and each other: the first across the world's axis that is least along n."""
    x, y, z = (absolute(v) for v in n)
    is_x, is_y = (~less(y, x)) & (~less(z, x)), ~less(z, y)
    e = [select(is_x, 1.0, 0.0), select(is_x, 0.0, select(is_y, 1.0, 0.0)), select(is_x | is_y, 0.0, 1.0)]
    t1 = unit(sub(e, scale(dot(e, n), n)))
    return [t1, cross(n, t1)]


def prepare(m, t, c):
    """Axes and arm of the force at the current pose, and the owner's material point there; returns the gap."""
    sides = Sides(m, t, c, t.x, t.R)
    gap, n, reach, turning = touch(m, t, c, sides)
    axes = [n, *tangents(n)]
    surface = sub(reach, scale(t.rim[c][0], n))
    store(t.axes[c], [scale(sides.sign, axis) for axis in axes])
    store(t.core0[c], add(surface, sides.from_first))
    store(t.place[c], matvec_t(sides.R, turning))
    return gap


def force_rows(t, c):
    """F (3 x 6) of the first body."""
    arm = vec(t.core0[c])
    return [axis + cross(arm, axis) for axis in mat(t.axes[c])]


def move(m, t, c):
    """M (3 x 6) at the next pose; returns the gap there and the slip."""
    now, then = Sides(m, t, c, t.x, t.R), Sides(m, t, c, t.xn, t.Rn)
    gap, n, reach, _ = touch(m, t, c, then)
    arm = add(reach, then.from_first)
    core0, core = matvec(now.R, vec(t.place[c])), matvec(then.R, vec(t.place[c]))
    first, second = velocities(m, t, c)
    way = scale(t.h, choose(now.swap, sub(second, first), sub(first, second)))
    way = add(way, sub(core, core0))
    apart = add(sub(now.owner, now.partner), core0)
    below, (turn, K) = scale(-1.0 * t.rim[c][0] * now.sign, mat(t.axes[c])[0]), turned(m, t, c, now)
    if m.features.rims:
        below = sub(sub(vec(t.core0[c]), now.from_first), core0)
    rows, slips = [[*scale(then.sign, n), *scale(then.sign, cross(arm, n))]], []
    for signed in mat(t.axes[c])[1:]:
        axis = scale(now.sign, signed)
        carried = matvec(then.R_partner, matvec_t(now.R_partner, axis))
        slip = dot(carried, way) + dot(sub(carried, axis), apart)
        lever = cross(below, axis)
        rolling = matvec(then.R, matvec_t(now.R, matvec_t(K, lever)))
        by_turn = add(cross(add(core, then.from_first), carried), rolling)
        rows.append([*scale(then.sign, carried), *scale(then.sign, by_turn)])
        slips.append(slip + dot(lever, turn))
    store(t.rows[c], rows)
    t.gap[c][0] = gap
    return gap, slips


def see(m, t, c):
    """Point where the bodies touch at the end of the step, and the normal, towards the first body: for read-outs."""
    then = Sides(m, t, c, t.xn, t.Rn)
    _, n, reach, _ = touch(m, t, c, then)
    surface = sub(reach, scale(t.rim[c][0], n))
    store(t.seen[c], add(then.owner, surface) + scale(then.sign, n))


def push_bodies(m, s, c, impulse):
    """Add an impulse to what its bodies have got from others in this step."""
    first, second = m.contact_body[c], m.contact_other[c]
    store(s.pushed[first], add(vec(s.pushed[first]), impulse))
    store(s.pushed[second], sub(vec(s.pushed[second]), impulse))


def velocities(m, t, c):
    """v of both bodies; the world has none."""
    return [vec(t.speed[i]) for i in (m.contact_body[c], m.contact_other[c])]


def turned(m, t, c, now):
    """Rotation vector of the owner's turn relative to its partner, and its derivative by the owner's turn, along the
    axes of the owner's turned frame."""
    first, second = m.contact_body[c], m.contact_other[c]
    turns = [multiply(vec(t.qn[i]), conjugate(vec(t.q[i]))) for i in (first, second)]
    owner, partner = choose(now.swap, list(turns[1]), list(turns[0])), choose(now.swap, list(turns[0]), list(turns[1]))
    return rotation_vector(shorter(list(multiply(conjugate(partner), owner))))


def relative(m, t, c, field, x):
    """Motion of the first body less that of the second, at the first one's centre of mass: of `field`, the first six
    numbers of each body, their centres being at x."""
    first, second = m.contact_body[c], m.contact_other[c]
    y, other = vec(field[first])[:6], vec(field[second])[:6]
    X = sub(vec(x[first]), vec(x[second]))
    return sub(y, add(other[:3], cross(other[3:], X)) + other[3:])


def relative_motion(m, t, c):
    """Relative motion y, at the next pose."""
    return relative(m, t, c, t.y, t.xn)


def difference(m, t, c, field):
    """Numbers of the first body less those of the second."""
    return sub(vec(field[m.contact_body[c]]), vec(field[m.contact_other[c]]))


def push(m, t, c, wrench):
    """Take the wrench on the first body from its residual, and its opposite from that of the second."""
    first, second = m.contact_body[c], m.contact_other[c]
    X0 = sub(vec(t.x[first]), vec(t.x[second]))
    store(t.r[first], sub(vec(t.r[first]), wrench))
    back = wrench[:3] + add(wrench[3:], cross(X0, wrench[:3]))
    store(t.r[second], add(vec(t.r[second]), back))


@each_near_pair
def spread_pair(m, s, t, p):
    """Stiffness of all contacts of a pair, by relative motion at the first body, to the blocks of both bodies."""
    first, second = t.near_first[p], t.near_second[p]
    K = mat(t.pair_D[p])
    X0, X1 = sub(vec(t.x[first]), vec(t.x[second])), sub(vec(t.xn[first]), vec(t.xn[second]))
    store(t.D[first], [add(a, b) for a, b in zip(mat(t.D[first]), K, strict=True)])
    columns = shift_columns(K, scale(-1.0, X1))
    both = shift_rows(columns, X0)
    store(t.D[second], [add(a, b) for a, b in zip(mat(t.D[second]), both, strict=True)])
    for at, block in ((t.near_out[p], columns), (t.near_in[p], shift_rows(K, X0))):
        store(t.B[at], [sub(a, b) for a, b in zip(mat(t.B[at]), block, strict=True)])


def least(m, t, c, field, k=0):
    """The smaller number of the two bodies."""
    first, second = m.contact_body[c], m.contact_other[c]
    a, b = field[first][k], field[second][k]
    return select(less(a, b), a, b)


def most(m, t, c, field, k=0):
    """The larger number of the two bodies."""
    first, second = m.contact_body[c], m.contact_other[c]
    return maximum(field[first][k] + 0.0, field[second][k])


@each_near_pair
def clear_pair(m, s, t, p):
    store(t.pair_D[p], [[0.0] * 6] * 6)
