"""Rims of cylinders: what of them is over a flat part of another solid, or crosses lines; see rounds.py."""

from vigym.engine.kernels.collision.cylinder import on_plane, rim
from vigym.engine.kernels.collision.distance import PARALLEL
from vigym.engine.kernels.collision.manifold import (
    CODE,
    COLUMNS,
    EDGES,
    KEY,
    LEAST,
    OWNER,
    OWNER_RADIUS,
    OWNER_WAY,
    PARTNER_RADIUS,
    RIM,
    SHALLOW,
    note,
)
from vigym.engine.kernels.collision.polytope import (
    is_over,
)
from vigym.engine.kernels.collision.round_distance import (
    place_of,
)
from vigym.engine.kernels.collision.space import (
    CYLINDER,
    along,
    cross,
    dot,
    length,
    sign,
    sub,
    times,
)
from vigym.engine.kernels.simd import shared

# where keys begin: of points over one plane and the other, of corners, of edges that cross a rim, and so on
OTHER_PLANE, CORNERS, CROSSINGS, BESIDES, SINGLE = 262144.0, 524288.0, 1048576.0, 2097152.0, 4194304.0


@shared
def is_point_over(kind, g, x, which, p, beyond):
    """True if a point is over a flat part: face `which` of a box or hull; the ends of a cylinder."""
    if kind == CYLINDER:
        return place_of(x, p)[1] <= x[2][0] + beyond
    return is_over(g, x, which, p, beyond)


@shared
def over_part(found, count, c, later_c, kind, g, x, which, base, m, swap, reach, key, close):
    """A cylinder above a flat part of another solid, with normal m through `base`: what of it is over that.

    swap: 1 if the cylinder is the second of the pair"""
    last = count + on_plane(found[count:], c, later_c, (base, (m, m, m), c[2], 0.0), swap, reach)
    for k in range(count, last):
        p = (found[k, OWNER], found[k, OWNER + 1], found[k, OWNER + 2])
        if found[k, CODE] == RIM:
            mine = (found[k, OWNER_WAY], found[k, OWNER_WAY + 1], found[k, OWNER_WAY + 2])
            rr, nm = dot(mine, mine), dot(m, mine)
            p = along(p, -1.0 / max((rr - nm * nm), 1e-300) ** 0.5, sub(times(rr, m), times(nm, mine)))
        if is_point_over(kind, g, x, which, p, close):
            for column in range(COLUMNS):
                found[count, column] = found[k, column]
            found[count, KEY] += key
            count += 1
    return count


@shared
def put_edges(found, n, key, swap, p, u, owner_radius, q, w, partner_radius, facing_to, reach):
    """Two lines that cross, p + s u of the owner and q + r w of its partner, with radii; facing_to: from the partner to
    the owner."""
    away = cross(w, u)
    size = length(away)
    if size < PARALLEL:
        return n
    facing = sign(dot(away, facing_to))
    if facing * dot(away, sub(p, q)) / size - owner_radius - partner_radius >= reach:
        return n
    last = note(found, n, (EDGES, swap, key), p, q, w, times(facing, u))
    if last > n:
        found[n, OWNER_RADIUS], found[n, PARTNER_RADIUS] = owner_radius, partner_radius
    return last


@shared
def line_over_rim(found, n, c, end, cap, q, w, half, radius, key, swap, reach):
    """Point where a line q + r w with a radius, below the end of a cylinder with outward normal `cap`, crosses its rim.

    swap: 1 if the cylinder is the second of the pair"""
    centre, r = rim(c, end), c[2][0]
    d = along(sub(q, centre), -dot(sub(q, centre), cap), cap)
    flat = along(w, -dot(w, cap), cap)
    ww, dw, dd = dot(flat, flat), dot(d, flat), dot(d, d) - r * r
    inside = dw * dw - ww * dd
    if ww < LEAST or inside <= 0.0:
        return n
    for k in range(2):
        t = (-dw + (inside**0.5 if k else -(inside**0.5))) / ww
        if abs(t) < half:
            out = along(d, t, flat)  # from the centre to where it crosses
            p, tangent = along(centre, 1.0, out), times(1.0 / r, cross(c[1][2], out))
            if abs(dot(flat, out)) > SHALLOW * r * ww**0.5:
                n = put_edges(found, n, key + k, swap, p, tangent, 0.0, q, w, radius, times(-1.0, cap), reach)
    return n
