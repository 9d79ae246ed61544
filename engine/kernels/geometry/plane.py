"""A point or sphere of a body against a plane n . p = offset that is fixed in the world.

gap = n . (x + R point) - offset - radius                                      (paper: eq. contact_comp)
"""

from vigym.engine.kernels.geometry.touch import Touch
from vigym.engine.kernels.quaternion import add, dot, mat, matvec, vec

FIELDS = {"point": (3,), "radius": (1,), "plane_axes": (3, 3)}


def describe(contact):
    """Core point and radius in the body's frame; rows n, t1, t2 in the world's."""
    axes = [contact.normal, *contact.tangents]
    return {"point": contact.point, "radius": contact.radius, "plane_axes": axes}


def fixed_axes(m, c):
    """n, t1, t2 of the plane."""
    return mat(m.plane_axes[c])


def touch(m, s, c, x, R):
    """The sphere's nearest point to the plane."""
    return above(fixed_axes(m, c), m, s, c, x, R)


def above(axes, m, s, c, x, R):
    """A sphere above the plane of these axes, at the contact's offset."""
    core = matvec(R, vec(m.point[c]))
    gap = dot(axes[0], add(x, core)) - (s.offset[c][0] + m.radius[c][0])
    return Touch(gap, axes, core, m.radius[c][0])
