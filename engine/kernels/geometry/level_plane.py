"""A point or sphere of a body against a level plane z = offset, whose axes are plain numbers to the compiler."""

from vigym.engine.kernels.geometry import plane

AXES = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))  # n, t1, t2
FIELDS = {"point": (3,), "radius": (1,)}


def describe(contact):
    """Core point and radius in the body's frame."""
    return {"point": contact.point, "radius": contact.radius}


def fixed_axes(m, c):
    """n, t1, t2 as plain numbers, so that products with them cost nothing."""
    return [list(axis) for axis in AXES]


def touch(m, s, c, x, R):
    """The sphere's lowest point."""
    return plane.above(fixed_axes(m, c), m, s, c, x, R)
