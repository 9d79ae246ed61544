"""What the interior point does with complementary pairs, whatever they stand for: contacts and axis limits alike.

Each function takes the numbers of one contact or axis as lists; `flags` are 1 for pairs that take part, 0 for those at
rest. Sums and extremes over all pairs of an environment gather in one-block fields of the scratch store.
"""

from vigym.engine.kernels import cone
from vigym.engine.kernels.quaternion import sum_of, vec
from vigym.engine.kernels.simd import absolute, maximum, on, select
from vigym.engine.kernels.sweep import each_contact, each_limited_axis


def measure(t, a, b, rows, flags):
    """Complementarity and its count, and the largest residual of the rows."""
    products = [flags[k] * a[k] * b[k] for k in range(len(a))]
    t.total[0][0] = t.total[0][0] + sum_of(products)
    t.count[0][0] = t.count[0][0] + sum_of(flags)
    note(t, t.norm, rows)
    return products


def note(t, norm, values):
    """Take the largest |value| into a norm; the sum of all values, in `poison`, shows a NaN that a maximum would hide."""
    largest, poison = norm[0][0], t.poison[0][0]
    for value in values:
        largest = maximum(absolute(value), largest)
        poison = poison + value
    norm[0][0], t.poison[0][0] = largest, poison


def reach(t, a, b, da, db):
    """ratio = max(-d/x): the step 1/ratio is the longest that keeps every x > 0 (fraction to the boundary)."""
    ratio = t.ratio[0][0]
    for x, d in zip(a + b, da + db, strict=True):
        ratio = maximum(-1.0 * d / x, ratio)
    t.ratio[0][0] = ratio


def predict(t, a, b, da, db, flags):
    """Complementarity after the affine step."""
    alpha = t.alpha[0][0]
    after = [flags[k] * (a[k] + alpha * da[k]) * (b[k] + alpha * db[k]) for k in range(len(a))]
    t.total[0][0] = t.total[0][0] + sum_of(after)


def advance(t, block_a, block_b, a, b, da, db):
    """a += alpha da, b += alpha db in the lanes that still iterate."""
    live, alpha = on(t.live[0][0]), t.alpha[0][0]
    for target, x, d in ((block_a, a, da), (block_b, b, db)):
        for k in range(len(x)):
            target[k] = select(live, x[k] + alpha * d[k], x[k])


def _contact(s, t, c):
    return vec(t.ca[c]), vec(t.cb[c]), vec(t.cda[c]), vec(t.cdb[c]), cone.active(s.friction[c][0])


def _axis(s, t, a):
    return vec(t.la[a]), vec(t.lb[a]), vec(t.lda[a]), vec(t.ldb[a]), vec(s.bounded[a])


@each_contact
def measure_contact(m, s, t, c):
    a, b, _, _, flags = _contact(s, t, c)
    rows = vec(t.cr[c])
    note(t, t.norm, measure(t, a, b, rows, flags))
    note(t, t.geometry, rows[:1])


@each_limited_axis
def measure_axis(m, s, t, a):
    x, y, _, _, flags = _axis(s, t, a)
    products = measure(t, x, y, vec(t.lr[a]), flags)
    # the efforts that a stiff drive would like to apply are no measure: relative to the larger of the two
    note(t, t.norm, [p / maximum(maximum(x[k], y[k]), 1.0) for k, p in enumerate(products)])


@each_contact
def reach_contact(m, s, t, c):
    reach(t, *_contact(s, t, c)[:4])


@each_limited_axis
def reach_axis(m, s, t, a):
    reach(t, *_axis(s, t, a)[:4])


@each_contact
def predict_contact(m, s, t, c):
    predict(t, *_contact(s, t, c))


@each_limited_axis
def predict_axis(m, s, t, a):
    predict(t, *_axis(s, t, a))


@each_contact
def update_contact(m, s, t, c):
    advance(t, t.ca[c], t.cb[c], *_contact(s, t, c)[:4])


@each_limited_axis
def update_axis(m, s, t, a):
    advance(t, t.la[a], t.lb[a], *_axis(s, t, a)[:4])
