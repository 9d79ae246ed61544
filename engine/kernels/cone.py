"""The shape of the friction cone: a pyramid (pyramid.py, the paper's) or Coulomb's own circle (circle.py).

Each file holds the numbers (a, b) of one contact, the rows that define b, the Newton direction in closed form, and what
the interior point does with them; contact.py is the same for both.

Friction makes the equations non-monotone: there may be several solutions, and the path that the interior point follows
may turn back before it reaches one. If `grip` takes the place of cf gamma,

    s_psi = grip      friction is bounded by a number, no longer by the force that is sought       (Tresca's law)

the equations are monotone and have a solution. That is the last choice where others find no end (step.py; between
bodies, lending.py comes before it): grip is cf gamma of the step before, then of the solution that this gives, and so
on until the two agree. Where they do, the solution is an exact one. Where they do not after a few rounds, grip only
falls from then on, to the least cf gamma so far, until no contact has more friction than cf gamma of the same solution.
The step is a RELAXED one, and says so: friction is within Coulomb's law, but may be less than what slides should have.
"""

from vigym.engine.kernels import circle, pyramid

CONES = {"pyramid": pyramid, "exact": circle}
NORMAL = 0  # where a and b have the normal force and the gap
RADIUS = 1  # the row of what friction may have
SLIDING = 1  # where a has how far the contact slides


def of(m):
    """The cone of a mechanism's contacts."""
    return CONES[m.features.cone]
