"""Treatment of complementary pairs in the interior point, whatever they stand for: contacts and axis limits alike.

Each function takes the numbers of one contact or axis as lists; `flags` are 1 for pairs that take part, 0 for those at
rest. Sums and extremes over all pairs of an environment gather in one-block fields of the scratch store.
"""

from vigym.engine.kernels.quaternion import sum_of
from vigym.engine.kernels.simd import absolute, less, maximum, minimum, on, select

LIGHT = 0.01  # force of a contact that is guessed to carry nothing, in units of its usual one
# Derivatives take what is pressed or sticks for a spring that is at most so many times as stiff as the inertia behind
# it: products of 1e-12 would make it so stiff that all else drowns in rounding
STIFFEST = 1e8
LEAST = 0.1  # products are sent to this part of what they have to be


def warm(a, b, scale_a, scale_b, floor):
    """The last step's pair lifted back to a b >= floor^2 in units of its scales: the larger number stays, the smaller
    one gives way. All pairs then start on about the same central path, and know which of the two is large."""
    flip = less(scale_b * a, scale_a * b)
    large = maximum(select(flip, b, a), floor * select(flip, scale_b, scale_a))
    least = floor * floor * (scale_a * scale_b) / maximum(large, 1e-300)
    small = maximum(select(flip, a, b), least)
    return select(flip, small, large), select(flip, large, small)


def warm_gap(a, b, scale_a, scale_b, floor):
    """Start as `warm` does, for a normal force and a gap: where neither is large, the gap opens and the force stays
    light. It may be one that is not needed, and would stay where it is put."""
    is_open = less(scale_b * a, scale_a * b)
    force, gap = maximum(a, LIGHT * scale_a), maximum(b, floor * scale_b)
    other = floor * floor * (scale_a * scale_b) / maximum(select(is_open, gap, force), 1e-300)
    return select(is_open, other, force), select(is_open, gap, maximum(b, minimum(floor * scale_b, other)))


def open_pair(room, scale_a, scale_b):
    """A pair of usual size, but what room there is stays open, and carries less the wider it is."""
    b = maximum(room, scale_b)
    return scale_a * scale_b / b, b


def products(a, b):
    """a b, pair by pair."""
    return [x * y for x, y in zip(a, b, strict=True)]


def corrected(t, a, b, bend, usual):
    """Part that the corrector adds to the target of one pair, sigma mu - da db, with da db (`bend`) kept in proportion.
    `usual` is the unit of mu in this pair's product."""
    center = t.center * usual
    most = maximum(center, a * b)
    return center - minimum(maximum(bend, -1.0 * most), most)


def measure(t, a, b, flags, stops, share):
    """Products a b; their sum in units of 1/share, and count, over all pairs give mu."""
    values = [flags[k] * product for k, product in enumerate(products(a, b))]
    sum_up(t, values, share)
    count_up(t, flags, stops, share)
    return values


def count_up(t, flags, stops, share):
    """Count the pairs that are to reach mu, and add up where they are to stop."""
    t.count = t.count + sum_of(flags)
    t.stopped = t.stopped + share * sum_of(products(flags, stops))


def smoothing(m):
    """The product that pairs are to have: 0, or the smoothing."""
    return m.smoothing if m.features.smooth else 0.0


def stop(m, unit):
    """Value at which a product that is judged by `unit` stops: a little above what it is to be. With a smaller one, a
    slack would drown in the rounding of its own row."""
    return smoothing(m) + LEAST * m.tolerance * unit


def excess(m, values, flags):
    """Excess of products over their targets."""
    return [value - flags[k] * smoothing(m) for k, value in enumerate(values)]


def targets(a, b, stops):
    """Complementarity targets of the affine direction: where products stop."""
    return [stops[k] - product for k, product in enumerate(products(a, b))]


def note(t, norm, values):
    """Take the largest |value| into the field `norm`; their sum, in `poison`, shows a NaN that a maximum would hide.

    Both are worked out among the values first: a long chain through the fields would be what a sweep waits for."""
    most = absolute(values[0])
    for value in values[1:]:
        most = maximum(absolute(value), most)
    setattr(t, norm, maximum(most, getattr(t, norm)))
    t.poison = t.poison + sum_of(values)


def reach(t, a, b, da, db, inverse):
    """ratio = max(-d/x): the step 1/ratio is the longest that keeps every x > 0 (fraction to the boundary).

    `inverse` is 1/(a b), so that nothing is divided: da/a = da b inverse."""
    ratio = t.ratio
    for k in range(len(a)):
        i = inverse[k]
        ratio = maximum(maximum(-1.0 * da[k] * (b[k] * i), -1.0 * db[k] * (a[k] * i)), ratio)
    t.ratio = ratio


def sum_up(t, values, share):
    """Add products, a b or da db, in units of 1/share to the sum over all pairs."""
    t.total = t.total + share * sum_of(values)


def advance(t, which, block, change):
    """block += alpha change, of the pairs `which`, in the lanes that still iterate."""
    live, alpha = on(t.live), t.alpha
    for k in which:
        block[k] = select(live, block[k] + alpha * change[k], block[k])


def lifted(a, b, flags, scales, lift):
    """Pairs away from the boundary: products of lift^2 at least, in units of their scales."""
    return sides(warm(a[k], b[k], *size, flags[k] * lift) for k, size in enumerate(scales))


def sides(pairs):
    """All first numbers, and all second ones."""
    first, second = zip(*pairs, strict=True)
    return list(first), list(second)


def keep(t, which, blocks, new):
    """The lifted pairs `which` in the lanes that are stuck."""
    stuck = less(0.0, t.lift)
    for block, values in zip(blocks, new, strict=True):
        for k in which:
            block[k] = select(stuck, values[k], block[k])
