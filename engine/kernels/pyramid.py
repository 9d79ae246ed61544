"""The friction pyramid of one contact: its pairs, their linear rows and their Newton direction (paper: eq. fric_comp).

Six complementary pairs (a, b), a b = mu, each a force times a length. Sliding is counted in metres a step, h V, so that
all pairs have the same unit:

    a = gamma, psi, beta1..beta4        normal force; sliding; friction along +t1 -t1 +t2 -t2
    b = s_gamma, s_psi, eta1..eta4      with the rows (residual r = row - b)
        s_gamma = phi(z+)               gap at the next pose
        s_psi   = cf gamma - sum(beta)  what is left of the pyramid
        eta_i   = (+-) h B V + psi      sliding that direction i does not oppose

A contact without friction (cf = 0) has no interior: its five friction pairs rest where they are and take no part.
`dilation` is 0, or cf in a relaxed step, and `give` that of a soft contact, see cone.py.
"""

from vigym.engine.kernels import pairs
from vigym.engine.kernels.simd import less, select

PAIRS = 6


def active(cf):
    """1 for the pairs that take part, 0 for those at rest."""
    rough = select(less(0.0, cf), 1.0, 0.0)
    return [1.0, rough, rough, rough, rough, rough]


def scales(force, length):
    """Usual sizes of (a, b) for each pair."""
    return [(force, length), (length, force)] + [(force, length)] * 4


def force(cf, a):
    """Contact force along (n, t1, t2)."""
    rough = active(cf)[1]
    return [a[0], rough * (a[2] - a[3]), rough * (a[4] - a[5])]


def rows(cf, dilation, give, a, b, phi, slip):
    """Residuals of the six linear rows at the gap phi and the sliding `slip` (along t1, t2; m a step)."""
    on = active(cf)
    if give is not None:
        phi = phi + give * a[0]
    values = [phi - dilation * a[1], cf * a[0] - (a[2] + a[3] + a[4] + a[5])]
    values += [slip[0] + a[1], a[1] - slip[0], slip[1] + a[1], a[1] - slip[1]]
    return [on[k] * (values[k] - b[k]) for k in range(PAIRS)]


def slopes(give, a, inverse):
    """1/b (0 for pairs at rest) and q = a/b, or with `give` what takes their place in the normal pair."""
    ib = [inverse[j] * a[j] for j in range(PAIRS)]
    if give is not None:
        ib[0] = ib[0] / (1.0 + give * a[0] * ib[0])  # 1/(s_gamma + give gamma)
    return ib, [a[j] * ib[j] for j in range(PAIRS)]


def inverses(cf, dilation, give, a, b):
    """What directions and step lengths share: 1/(a b), 0 for pairs at rest, and the inverse of the pivot of psi."""
    on = active(cf)
    inverse = [on[j] / (a[j] * b[j]) for j in range(PAIRS)]
    _, q = slopes(give, a, inverse)
    return [*inverse, 1.0 / (1.0 + q[1] * (q[2] + q[3] + q[4] + q[5] + cf * q[0] * dilation))]


def direction(cf, dilation, give, a, b, inverse, k, r, dphi, dslip):
    """Newton direction (da, db) for complementarity targets k, row residuals r and changes of phi and slip:

        a db + b da = k,   db = d(row) + r

    solved in closed form: psi, then gamma and the betas. `inverse` are the `inverses`."""
    on = active(cf)
    ib, q = slopes(give, a, inverse)
    c = [(k[j] - a[j] * r[j]) * ib[j] for j in range(PAIRS)]
    slip = [None, None, dslip[0], -1.0 * dslip[0], dslip[1], -1.0 * dslip[1]]
    da = [c[0] - q[0] * dphi] + [None] * 5  # at dpsi = 0
    beta = [c[j] - q[j] * slip[j] for j in range(2, PAIRS)]  # at dpsi = 0
    total = beta[0] + beta[1] + beta[2] + beta[3]
    # psi d(s_psi) + s_psi d(psi) = k, divided by s_psi
    da[1] = (c[1] - q[1] * (cf * da[0] - total)) * inverse[PAIRS]
    da[0] = da[0] + q[0] * dilation * da[1]
    for j in range(2, PAIRS):
        da[j] = beta[j - 2] - q[j] * da[1]
    if give is not None:
        dphi = dphi + give * da[0]
    db = [dphi - dilation * da[1] + r[0], cf * da[0] - (da[2] + da[3] + da[4] + da[5]) + r[1]]
    db += [slip[j] + da[1] + r[j] for j in range(2, PAIRS)]
    return da, [on[j] * db[j] for j in range(PAIRS)]


def open_sizes(sizes, normal):
    """First guess of a cold start: usual sizes, but the normal pair as it is given."""
    return [normal[0], *(size[0] for size in sizes[1:])], [normal[1], *(size[1] for size in sizes[1:])]


def warm(a, b, sizes, floor):
    """The last step's pairs lifted back to the central path."""
    lifted = [pairs.warm(a[j], b[j], *sizes[j], floor) for j in range(PAIRS)]
    return [x for x, _ in lifted], [y for _, y in lifted]


def corrected(t, a, b, bends, usual, least):
    """What the corrector adds to the targets; `bends` are the products da db."""
    return [pairs.corrected(t, a[j], b[j], bends[j], usual, least) for j in range(PAIRS)]


products, measure, excess, targets = pairs.products, pairs.measure, pairs.excess, pairs.targets
reach, sum_up, lifted = pairs.reach, pairs.sum_up, pairs.lifted
