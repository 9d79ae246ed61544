"""Coulomb's friction cone of one contact, a second-order cone: its numbers, their rows and their Newton direction.

    a = gamma, psi, beta1, beta2        normal force; sliding; friction along t1, t2
    b = s_gamma, s_psi, eta1, eta2      with the rows (residual r = row - b)
        s_gamma = phi(z+)               gap at the next pose
        s_psi   = cf gamma + grip       radius of the cone
        eta     = h B V                 sliding, m a step

One pair gamma s_gamma = mu as everywhere, and one of second-order cones, U = (s_psi, beta) and W = (psi, eta), both
inside |vector| <= scalar, whose Jordan product is

    U o W = (s_psi psi + beta . eta,  s_psi eta + psi beta) = (mu, 0, 0)

At mu = 0: friction is less than cf gamma and nothing slides, or it is cf gamma, against the sliding, and psi = |eta|.
A contact without friction has no interior: U and W rest where they are and take no part (`rough` = 0). `grip` is 0, or
what takes the place of cf gamma in a relaxed step, and `give` how a contact gives way, see cone.py and contact.py.
"""

from vigym.engine.kernels import pairs
from vigym.engine.kernels.simd import maximum, minimum, on, select, sqrt

PAIRS = 4
CLOSENESS = 4.0  # see pyramid.py; a cube that sticks on a slope near to its limit creeps by 3e-11 of its size with 1
TINY = 1e-300


def active(rough):
    """1 for the pairs that take part: the normal one and the cones'; their vectors are no pairs of their own."""
    return [1.0, rough, rough, rough]


def scales(force, length):
    """Usual sizes of (a, b)."""
    return [(force, length), (length, force), (force, length), (force, length)]


def cones(a, b):
    """U and W."""
    return [b[1], a[2], a[3]], [a[1], b[2], b[3]]


def jordan(u, w):
    """U o W"""
    return [u[0] * w[0] + u[1] * w[1] + u[2] * w[2], u[0] * w[1] + w[0] * u[1], u[0] * w[2] + w[0] * u[2]]


def products(a, b):
    """gamma s_gamma, and U o W."""
    return [a[0] * b[0], *jordan(*cones(a, b))]


def force(rough, a):
    """Contact force along (n, t1, t2)."""
    return [a[0], rough * a[2], rough * a[3]]


def rows(rough, cf, grip, give, a, b, phi, slip):
    """Residuals of the four rows at the gap phi and the sliding `slip` (along t1, t2; m a step)."""
    flags = active(rough)
    values = [phi + give * a[0], cf * a[0] + grip, slip[0], slip[1]]
    return [flags[k] * (values[k] - b[k]) for k in range(PAIRS)]


def sliding(a, b):
    """Distance that the contact slides, m a step."""
    return sqrt(b[2] * b[2] + b[3] * b[3])


def determinant(u):
    """scalar^2 - vector^2"""
    return u[0] * u[0] - u[1] * u[1] - u[2] * u[2]


def inverses(rough, cf, give, lend, a, b):
    """Inverses that directions and step lengths share: 1/(gamma s_gamma), 1/psi, the inverse of the pivot of psi (0
    without friction, as is 1/psi), and of gamma, 1/(s_gamma + give gamma); more if sliding is lent to the gap."""
    u, w = cones(a, b)
    pivot = u[0] * w[0] - u[1] * w[1] - u[2] * w[2]
    inverse, normal = rough / pivot, b[0] + give * a[0]
    if lend is not None:
        normal = normal + lend * cf * a[0] * determinant(w) * inverse
    return [1.0 / (a[0] * b[0]), rough / w[0], inverse, 1.0 / normal]


def direction(rough, cf, give, lend, a, b, inverse, k, r, dphi, dslip):
    """Newton direction (da, db) for complementarity targets k, row residuals r and changes of phi and slip:

        gamma d(s_gamma) + s_gamma d(gamma) = k0,   U o dW + W o dU = (k1, k2, k3),   db = d(row) + r

    solved in closed form: gamma, then psi and beta. `inverse` are the `inverses`."""
    u, w = cones(a, b)
    deta = [dslip[0] + r[2], dslip[1] + r[3]]
    pull = [w[0] * u[1] - u[0] * w[1], w[0] * u[2] - u[0] * w[2]]
    known = w[0] * k[1] - w[1] * k[2] - w[2] * k[3] - (pull[0] * deta[0] + pull[1] * deta[1])
    normal = k[0] - a[0] * r[0] - a[0] * dphi
    if lend is not None:  # s_gamma has lend psi less
        normal = normal + lend * a[0] * (known - r[1] * determinant(w)) * inverse[2]
    gamma = normal * inverse[3]
    radius = cf * gamma + r[1]
    # (s_psi psi - beta . eta) dpsi = known - determinant(W) d(s_psi)
    dpsi = (known - radius * determinant(w)) * inverse[2]
    beta = [(k[2 + j] - u[1 + j] * dpsi - u[0] * deta[j] - w[1 + j] * radius) * inverse[1] for j in range(2)]
    da = [gamma, dpsi, *beta]
    gap = dphi + give * gamma + r[0] if lend is None else dphi + give * gamma + r[0] - lend * dpsi
    return da, [gap, *(rough * x for x in (radius, *deta))]


def blunted(a, b, stiffest):
    """Numbers of a solution whose slopes are at most `stiffest`, N/m: what is pressed, and what sticks, holds no more
    than that, however close to the boundary the interior point ended."""
    slack, psi = maximum(b[0], a[0] / stiffest), maximum(a[1], b[1] / stiffest)
    return [a[0], psi, *a[2:]], [slack, *b[1:]]


# ------------------------------------------------------------------------------------------------ interior point
def open_sizes(sizes, normal):
    """First guess of a cold start: usual sizes, nothing slides and no friction, but the normal pair as it is given."""
    return [normal[0], sizes[1][0], 0.0, 0.0], [normal[1], sizes[1][1], 0.0, 0.0]


def length(vector):
    return sqrt(vector[1] * vector[1] + vector[2] * vector[2])


def warm(a, b, sizes, floor):
    """The last step's numbers lifted back to products of floor^2 in units of their scales.

    U o W has the eigenvalues (u0 + |u|)(w0 - |w|) and (u0 - |u|)(w0 + |w|) where the vectors oppose each other: the
    larger factor stays, the smaller one gives way."""
    gamma, s_gamma = pairs.warm_gap(a[0], b[0], *sizes[0], floor)
    u, w = cones(a, b)
    slide, radius = sizes[1]
    size_u, size_w = length(u), length(w)
    large_u = maximum((u[0] + size_u) / radius, maximum(floor, TINY))
    large_w = maximum((w[0] + size_w) / slide, maximum(floor, TINY))
    u0 = maximum(u[0], size_u + radius * floor * floor / large_w)
    w0 = maximum(w[0], size_w + slide * floor * floor / large_u)
    return [gamma, w0, a[2], a[3]], [s_gamma, u0, b[2], b[3]]


def measure(t, a, b, flags, stop, share):
    """Products; the sum of those that are to become mu, and their count, over all pairs."""
    values = [flags[k] * product for k, product in enumerate(products(a, b))]
    sum_up(t, values, share)
    pairs.count_up(t, flags[:2], [stop, stop], share)
    return values


def excess(m, values, flags):
    """Excess of products over their targets."""
    return [*pairs.excess(m, values[:2], flags[:2]), *values[2:]]


def targets(a, b, stop):
    """Complementarity targets of the affine direction, the vector part of U o W being 0."""
    values = products(a, b)
    return [(stop if k < 2 else 0.0) - values[k] for k in range(PAIRS)]


def bends(t, da, db, share):
    """Products of the affine direction that the corrector needs: d(gamma) d(s_gamma), and dU o dW."""
    found = products(da, db)
    sum_up(t, found, share)
    return found


def corrected(t, a, b, bends, usual):
    """Targets that the corrector adds: sigma mu - dU o dW, in proportion."""
    normal = pairs.corrected(t, a[0], b[0], bends[0], usual)
    center = t.center * usual
    most = maximum(center, jordan(*cones(a, b))[0])
    second = [minimum(maximum(x, -1.0 * most), most) for x in bends[1:]]
    return [normal, center - second[0], -1.0 * second[1], -1.0 * second[2]]


def reach(t, a, b, da, db, inverse):
    """ratio = 1/(longest step that stays inside): of the normal pair, and of U; W follows, see `advance`.

    The step alpha leaves the cone where |U + alpha dU|^2 (scalar^2 - vector^2) vanishes: with ratio = 1/alpha, at the
    larger root of c ratio^2 + 2 b ratio + a = 0."""
    pairs.reach(t, a[:1], b[:1], da[:1], db[:1], inverse[:1])
    (u, _), (du, _) = cones(a, b), cones(da, db)
    c, other = determinant(u), determinant(du)
    half = u[0] * du[0] - u[1] * du[1] - u[2] * du[2]
    root = sqrt(maximum(half * half - other * c, 0.0))
    t.ratio = maximum((root - half) / maximum(c, TINY), t.ratio)


def advance(t, rough, a, b, da, db, target):
    """Numbers one step along their direction, psi with W inside its cone and a product of at least `target` with U.

    Where the sliding turns, a straight line leaves the cone of W early. No row has psi: it may be what it should be
    beside the new eta, and need not shorten the step of all."""
    pairs.advance(t, range(PAIRS), a, da)
    pairs.advance(t, range(PAIRS), b, db)
    u, w = cones(a, b)
    least = length(w) + target / (u[0] + length(u))
    a[1] = select(on(t.live) & on(rough), maximum(w[0], least), a[1])


def sum_up(t, values, share):
    """Add those products that are to become mu to the sum over all pairs."""
    pairs.sum_up(t, values[:2], share)


def lifted(a, b, flags, sizes, lift):
    """Numbers away from the boundary; without friction, all but the normal pair stays as it is."""
    rough = on(flags[1])
    sides = zip(warm(a, b, sizes, lift), (a, b), strict=True)
    return [[side[0], *(select(rough, side[k], old[k]) for k in range(1, PAIRS))] for side, old in sides]
