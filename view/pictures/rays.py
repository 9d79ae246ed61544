"""One ray at a time: what the colour of a single point needs."""

from vigym.engine.vectors import ahead, dot, matvec, matvec_t
from vigym.view.pictures.arrays import EYE, FIRST, KIND, LAST, LIGHT, NONE, POSITION, REACH, ROTATION, SIZE
from vigym.view.pictures.compiled import inlined
from vigym.view.pictures.solids import FAR, MESH, enter, mesh_normal, normal


@inlined
def vector(table, j, column):
    """Three numbers of row j."""
    return table[j, column], table[j, column + 1], table[j, column + 2]


@inlined
def rotation(table, j):
    """Rotation matrix of solid j."""
    return vector(table, j, ROTATION), vector(table, j, ROTATION + 3), vector(table, j, ROTATION + 6)


@inlined
def into(table, j, v):
    """v in the frame of solid j: R^T v"""
    return matvec_t(rotation(table, j), v)


@inlined
def out_of(table, j, v):
    """R v"""
    return matvec(rotation(table, j), v)


@inlined
def form(solids, j):
    """See solids.py."""
    a, b, c = vector(solids.table, j, SIZE)
    return a, b, c, solids.facets, solids.numbers[j, FIRST], solids.numbers[j, LAST]


@inlined
def key(number, face, caster):
    """One number for what is seen, for its face (if it is a solid), and for whether it is in a shadow."""
    return 128 * number + 2 * (face % 64) + (1 if caster >= 0 else 0)


@inlined
def number(key):
    return key // 128


@inlined
def direction(view, x, y):
    """Along which the point (x, y) of the picture is seen, x and y in pixels from its upper left corner."""
    across = ahead(view.forward, (x - view.column) * view.pixel, view.right)
    return ahead(across, (view.row - y) * view.pixel, view.up)


@inlined
def surface(solids, local, j, t, d):
    """Normal (3 numbers, world) and face of solid j at eye + t d."""
    eye, inner = vector(local, j, EYE), into(solids.table, j, d)
    if solids.numbers[j, KIND] == MESH:
        x, y, z, face = mesh_normal(form(solids, j), eye, inner, t)
    else:
        x, y, z, face = normal(solids.numbers[j, KIND], form(solids, j), ahead(eye, t, inner))
    return out_of(solids.table, j, (x, y, z)), face


@inlined
def hidden(light, solids, local, j, p):
    """Return whether solid j stands between the point p and the sun."""
    table = solids.table
    r = ahead(p, -1.0, vector(table, j, POSITION))
    along, reach = dot(r, light), table[j, REACH]
    if along > reach or dot(r, r) - along * along > reach * reach:
        return False
    o = into(table, j, r)
    return enter(solids.numbers[j, KIND], form(solids, j), o, vector(local, j, LIGHT)) < FAR


@inlined
def shadow_on(light, solids, local, casters, start, stop, j, n, p):
    """NONE, or the first of casters[start:stop] that throws its shadow on p, a point with normal n of solid j."""
    if dot(n, light) > 0.0:
        for i in range(start, stop):
            if casters[i] != j and hidden(light, solids, local, casters[i], p):
                return casters[i]
    return NONE
