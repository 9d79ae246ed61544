"""The shape of the friction cone: a pyramid (pyramid.py, the paper's) or Coulomb's own circle (circle.py).

Each file holds the numbers (a, b) of one contact, the rows that define b, the Newton direction in closed form, and what
the interior point does with them; contact.py is the same for both.

Friction makes the equations non-monotone: there may be several solutions, and the path that the interior point follows
may turn back before it reaches one. With `dilation` = cf instead of 0, the row of the gap is

    s_gamma = phi(z+) - dilation psi      the gap of a sliding contact is cf times what it slides in the step

which is the convex problem of Anitescu (2006): monotone, solvable, the same where nothing slides. Such a RELAXED step
is the second choice where the exact one finds no end (step.py).

A contact that is not hard has `give` gamma added to that row (contact.py); `give` is None where all are.
"""

from vigym.engine.kernels import circle, pyramid

CONES = {"pyramid": pyramid, "exact": circle}
NORMAL = 0  # where a and b have the normal force and the gap
RADIUS = 1  # the row of what friction may have


def of(m):
    """The cone of a mechanism's contacts."""
    return CONES[m.features.cone]
