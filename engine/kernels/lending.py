"""Sliding that is lent to gaps: rounds of convex problems that lead to Coulomb's law (cone.py tells when).

Coulomb's law is not the law of one convex problem: what slides moves along its plane, not along the normal of its cone.
The path of the interior point may turn back on the way, most often where more contacts carry a body than determine
their forces. With the gap row

    s_gamma = phi + cf (lent - psi)

instead of s_gamma = phi, the law is that of a convex problem (friction is associated, and `lent` shifts the gap), whose
path leads to an end. Where it ends with psi = lent, the gap is its own: the solution is one of Coulomb's law, exactly.
The first round lends nothing, each further one `stretch` times the difference more: rounds approach their end in a
geometric series, and the last two tell how far it is (Aitken's rule, of vectors). Where the difference grows along the
way, its end is not behind but farther on.

All rounds of a lane are one search, each from where the last one ended, at products of FLOOR^2. It ends where every
contact meets what a step without lending has to meet: its gap row is within the accuracy of gaps, or its true gap is
not negative and the product with its force no more than products are allowed to be.
"""

from vigym.engine.kernels import cone
from vigym.engine.kernels.contact import GAP, per_length, present, product_unit
from vigym.engine.kernels.interior_point import lift_pairs
from vigym.engine.kernels.quaternion import vec
from vigym.engine.kernels.simd import absolute, block, less, maximum, minimum, on, select
from vigym.engine.kernels.sweep import each_contact

FLOOR = 0.03  # of the pairs with which a further round starts, see interior_point.py
LEAST_STRETCH, FARTHER, MOST_STRETCH = 0.1, 2.0, 20.0
COUNTS = 0.1  # of the accuracy: contacts that are off by more tell how far the end is


@block
def lend(m, s, t):
    """Start another round in the lanes whose last one has ended with contacts that do not slide by what was lent."""
    t.strayed = t.turned_back = t.turned = 0.0
    judge_lent(m, s, t)
    judge_round(m, s, t)
    lend_more(m, s, t)
    lift_pairs(m, s, t)


def astray(m, s, t, c):
    """Distance that the contact slides beyond what was lent, m a step."""
    return cone.of(m).sliding(vec(t.ca[c]), vec(t.cb[c])) - t.lent[c][0]


@each_contact
def judge_lent(kind, m, s, t, c):
    """Note how far the contact is from Coulomb's law, in units of what the accuracy allows; and sum over all contacts
    how their sliding has changed since the last round."""
    a, b, cf = vec(t.ca[c]), vec(t.cb[c]), s.friction[c][0]
    shift = cf * (a[cone.SLIDING] - t.lent[c][0])
    gap, weight = b[cone.NORMAL] + shift, GAP * per_length(m, t, c)
    product = a[cone.NORMAL] * absolute(gap) * (per_length(m, t, c) * m.strictness / product_unit(m, t, c, a, b))
    off = minimum(weight * absolute(shift), product * (m.accuracy / m.tolerance))
    off = present(kind, t, c, maximum(off, -1.0 * weight * gap))
    t.strayed = maximum(off, t.strayed)
    counts = select(less(COUNTS * m.accuracy, off), weight * cf, 0.0)
    last, change = counts * t.astray[c][0], counts * (astray(m, s, t, c) - t.astray[c][0])
    t.turned_back = t.turned_back - last * change
    t.turned = t.turned + change * change


@block
def judge_round(m, s, t):
    """Choose the lanes that go on, and by how much more they lend; their search starts anew."""
    more = on(t.good) & on(t.lending) & (~less(t.strayed, m.accuracy))
    farther = t.stretch * t.turned_back / maximum(t.turned, 1e-300)
    farther = select(less(farther, 0.0), FARTHER * maximum(t.stretch, 1.0), farther)
    farther = minimum(maximum(farther, LEAST_STRETCH), MOST_STRETCH)
    known = less(1.5, t.lending) & less(0.0, t.turned)
    t.stretch = select(more, select(known, farther, 1.0), t.stretch)
    t.lending = select(more, t.lending + 1.0, t.lending)
    t.relend, t.lift = select(more, 1.0, 0.0), select(more, FLOOR, 0.0)
    t.good, t.live = select(more, 0.0, t.good), select(more, 1.0, t.live)
    t.caution, t.stuck_at = select(more, 1.0, t.caution), select(more, 1.0, t.stuck_at)
    t.pace = select(more, 0.0, t.pace)


@each_contact
def lend_more(kind, m, s, t, c):
    """Lend `stretch` times the difference more, in the lanes that go on."""
    more, difference = on(t.relend), astray(m, s, t, c)
    next_one = present(kind, t, c, maximum(t.lent[c][0] + t.stretch * difference, 0.0))
    t.astray[c][0] = select(more, difference, t.astray[c][0])
    t.lent[c][0] = select(more, next_one, t.lent[c][0])
