"""The friction pyramid of one contact: its pairs, their linear rows and their Newton direction (paper: eq. fric_comp).

Six complementary pairs (a, b), a b = mu, each a force times a length. Sliding is counted in metres a step, h V, so that
all pairs have the same unit:

    a = gamma, psi, beta1..beta4        normal force; sliding; friction along +t1 -t1 +t2 -t2
    b = s_gamma, s_psi, eta1..eta4      with the rows (residual r = row - b)
        s_gamma = phi(z+)               gap at the next pose
        s_psi   = cf gamma + grip - sum(beta)   what is left of the pyramid
        eta_i   = (+-) h B V + psi      sliding that direction i does not oppose

A contact without friction has no interior: its five friction pairs rest where they are and take no part (`rough` = 0).
`grip` is 0, or what takes the place of cf gamma in a relaxed step, and `give` how a contact gives way, see cone.py and
contact.py.
"""

from vigym.engine.kernels import pairs
from vigym.engine.kernels.simd import maximum

PAIRS = 6
CLOSENESS = 30.0  # how many times as closely products are solved: here, several of them let what sticks creep


def active(rough):
    """1 for the pairs that take part, 0 for those at rest."""
    return [1.0, rough, rough, rough, rough, rough]


def scales(force, length):
    """Usual sizes of (a, b) for each pair."""
    return [(force, length), (length, force)] + [(force, length)] * 4


def force(rough, a):
    """Contact force along (n, t1, t2)."""
    return [a[0], rough * (a[2] - a[3]), rough * (a[4] - a[5])]


def rows(rough, cf, grip, give, a, b, phi, slip):
    """Residuals of the six linear rows at the gap phi and the sliding `slip` (along t1, t2; m a step)."""
    on = active(rough)
    values = [phi + give * a[0], cf * a[0] + grip - (a[2] + a[3] + a[4] + a[5])]
    values += [slip[0] + a[1], a[1] - slip[0], slip[1] + a[1], a[1] - slip[1]]
    return [on[k] * (values[k] - b[k]) for k in range(PAIRS)]


def sliding(a, b):
    """Distance that the contact slides, m a step."""
    return a[1]


def slopes(a, inverse, normal):
    """1/b (0 for pairs at rest) and q = a/b; in the normal pair `normal`, 1/(s_gamma + give gamma), is in its place."""
    ib = [normal, *(inverse[j] * a[j] for j in range(1, PAIRS))]
    return ib, [a[j] * ib[j] for j in range(PAIRS)]


def inverses(rough, cf, give, lend, a, b):
    """Inverses that directions and step lengths share: 1/(a b), 0 for pairs at rest, the inverse of the pivot of psi,
    and 1/(s_gamma + give gamma)."""
    on = active(rough)
    inverse, normal = [on[j] / (a[j] * b[j]) for j in range(PAIRS)], 1.0 / (b[0] + give * a[0])
    _, q = slopes(a, inverse, normal)
    others = q[2] + q[3] + q[4] + q[5]
    if lend is not None:
        others = others + lend * cf * q[0]
    return [*inverse, 1.0 / (1.0 + q[1] * others), normal]


def direction(rough, cf, give, lend, a, b, inverse, k, r, dphi, dslip):
    """Newton direction (da, db) for complementarity targets k, row residuals r and changes of phi and slip:

        a db + b da = k,   db = d(row) + r

    solved in closed form: gamma, then psi and the betas. `inverse` are the `inverses`."""
    on = active(rough)
    ib, q = slopes(a, inverse, inverse[PAIRS + 1])
    c = [(k[j] - a[j] * r[j]) * ib[j] for j in range(PAIRS)]
    slip = [None, None, dslip[0], -1.0 * dslip[0], dslip[1], -1.0 * dslip[1]]
    da = [c[0] - q[0] * dphi] + [None] * 5
    beta = [c[j] - q[j] * slip[j] for j in range(2, PAIRS)]  # at dpsi = 0
    total = beta[0] + beta[1] + beta[2] + beta[3]
    # psi d(s_psi) + s_psi d(psi) = k, divided by s_psi
    da[1] = (c[1] - q[1] * (cf * da[0] - total)) * inverse[PAIRS]
    if lend is not None:  # s_gamma has lend psi less
        da[0] = da[0] + lend * q[0] * da[1]
    for j in range(2, PAIRS):
        da[j] = beta[j - 2] - q[j] * da[1]
    db = [dphi + give * da[0] + r[0], cf * da[0] - (da[2] + da[3] + da[4] + da[5]) + r[1]]
    db += [slip[j] + da[1] + r[j] for j in range(2, PAIRS)]
    if lend is not None:
        db[0] = db[0] - lend * da[1]
    return da, [on[j] * db[j] for j in range(PAIRS)]


def blunted(a, b, stiffest):
    """Pairs of a solution whose slopes are at most `stiffest`, N/m: what is pressed or sticks does so no more than
    that, however close to the boundary the interior point ended. What slides needs no such bound: its sticking pairs
    have one, and of a contact that is far away, friction is so light that any bound would be seen."""
    slopes = [1.0 / stiffest, 0.0, *[1.0 / stiffest] * 4]
    return a, [maximum(b[j], slopes[j] * a[j]) for j in range(PAIRS)]


def open_sizes(sizes, normal):
    """First guess of a cold start: usual sizes, but the normal pair as it is given."""
    return [normal[0], *(size[0] for size in sizes[1:])], [normal[1], *(size[1] for size in sizes[1:])]


def warm(a, b, sizes, floor):
    """The last step's pairs lifted back to the central path."""
    others = (pairs.warm(a[j], b[j], *sizes[j], floor) for j in range(1, PAIRS))
    return pairs.sides([pairs.warm_gap(a[0], b[0], *sizes[0], floor), *others])


def lifted(a, b, flags, sizes, lift):
    """Pairs away from the boundary, those that take part."""
    others = (pairs.warm(a[j], b[j], *sizes[j], flags[j] * lift) for j in range(1, PAIRS))
    return pairs.sides([pairs.warm_gap(a[0], b[0], *sizes[0], lift), *others])


def measure(t, a, b, flags, stop, share):
    """Products; their sum and count over all pairs."""
    return pairs.measure(t, a, b, flags, [stop] * PAIRS, share)


def advance(t, rough, a, b, da, db, target):
    """Pairs one step along their direction."""
    pairs.advance(t, range(PAIRS), a, da)
    pairs.advance(t, range(PAIRS), b, db)


def targets(a, b, stop):
    """Complementarity targets of the affine direction."""
    return pairs.targets(a, b, [stop] * PAIRS)


def bends(t, da, db, share):
    """Products da db of the affine direction, which the corrector needs."""
    found = products(da, db)
    sum_up(t, found, share)
    return found


def corrected(t, a, b, bends, usual):
    """Targets that the corrector adds; `bends` are the products da db."""
    return [pairs.corrected(t, a[j], b[j], bends[j], usual) for j in range(PAIRS)]


products, excess = pairs.products, pairs.excess
reach, sum_up = pairs.reach, pairs.sum_up
