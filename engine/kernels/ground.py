"""A contact of a body with the ground: what contact.py asks of a kind of geometry (geometry/)."""

from vigym.engine.kernels import body, geometry, integrator
from vigym.engine.kernels.quaternion import add, cross, dot, mat, scale, store, sub, vec


def axes(kind, m, t, c):
    """n, t1, t2 at the current pose, along which the force acts."""
    fixed = geometry.of(kind).fixed_axes
    return mat(t.axes[c]) if fixed is None else fixed(m, c)


def normal(kind, m, t, c):
    """n at the next pose, along which the gap opens."""
    fixed = geometry.of(kind).fixed_axes
    return vec(t.normal[c]) if fixed is None else fixed(m, c)[0]


def rolling_arm(kind, m, t, c):
    """Vector from the core point to the one that touches, at the current pose: -radius n."""
    return scale(-1.0 * m.radius[c][0], axes(kind, m, t, c)[0])


def force_rows(kind, m, t, c):
    """F (3 x 6), as `prepare` left it."""
    arm = add(vec(t.core0[c]), rolling_arm(kind, m, t, c))
    return [axis + cross(arm, axis) for axis in axes(kind, m, t, c)]


def motion_rows(kind, m, t, c):
    """M (3 x 6), as `move` left it."""
    n, slip = normal(kind, m, t, c), axes(kind, m, t, c)[1:]
    return [n + cross(vec(t.core[c]), n), *(axis + row for axis, row in zip(slip, mat(t.slip_rows[c]), strict=True))]


def prepare(kind, m, s, t, c):
    """Core point and axes at the current pose; returns the gap."""
    i = m.contact_body[c]
    here = geometry.of(kind).touch(m, s, c, vec(t.x[i]), mat(t.R[i]))
    store(t.core0[c], here.core)
    if geometry.of(kind).fixed_axes is None:
        store(t.axes[c], here.axes)
    return here.gap


def move(kind, m, s, t, c):
    """Gap and slip of a contact with the ground at the next pose; leaves what `motion_rows` needs."""
    i = m.contact_body[c]
    there = geometry.of(kind).touch(m, s, c, vec(t.xn[i]), mat(t.Rn[i]))
    v, om = body.velocity(t, i)
    way = add(scale(t.h, v), sub(there.core, vec(t.core0[c])))
    along = axes(kind, m, t, c)[1:]
    levers = [cross(rolling_arm(kind, m, t, c), axis) for axis in along]
    slip = [dot(axis, way) + integrator.travel(t.h, lever, om) for axis, lever in zip(along, levers, strict=True)]
    tangent = body.tangent(t, i)
    rolling = [tangent.travel(lever) for lever in levers]
    store(t.slip_rows[c], [add(cross(there.core, axis), row) for axis, row in zip(along, rolling, strict=True)])
    store(t.core[c], there.core)
    if geometry.of(kind).fixed_axes is None:
        store(t.normal[c], there.axes[0])
    return there.gap, slip
