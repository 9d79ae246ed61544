"""The lane compiler by itself: small blocks, compiled = the same functions on NumPy; packed code of the real step.

Bit for bit where nothing is fused, else to 1e-15. The optimiser may ignore the sign of zero (0.0 == -0.0 here), fuse
multiply-adds, and divide by a constant through its reciprocal.
"""

import functools
import platform
import re
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vigym import Simulator
from vigym.assets import unitree_a1
from vigym.assets.unitree_a1 import STANDING
from vigym.engine.kernels.jit import unkept
from vigym.engine.kernels.simd import (
    absolute,
    any_lane,
    block,
    each,
    for_range,
    group,
    less,
    maximum,
    minimum,
    on,
    rint,
    select,
    sqrt,
)
from vigym.engine.kernels.step import step
from vigym.engine.kernels.store import Store

N = 5  # entities in these stores
LANES = 4
ROUND = 1e-15


class Features(NamedTuple):
    """Features that `each` asks for."""

    kinds: tuple[int, ...] = (2, 3, 7)
    extra: bool = True
    touches: bool = False


def make_stores(features=None, lanes=LANES, groups=1, seed=0, size=N):
    """A model (shared, one lane), a state and a scratch store with random numbers in them."""
    features = features or Features()
    model = {"c": (2, 3)}
    integers = {"n": (), "start": (), "order": (N,), "kind": (N,), "link": (N,)}
    m = Store("m", 1, 1, features, model, integers)
    s = Store("s", lanes, groups, features, {"x": (N, 4), "A": (N, 2, 3)})
    t = Store("t", lanes, 1, features, {"y": (N, 8), "B": (N, 2, 3), "count": (), "flag": ()})
    rng = np.random.default_rng(seed)
    for store, names in ((m, "c"), (s, "xA"), (t, "yB")):
        for name in names:
            getattr(store, name)[...] = rng.normal(size=getattr(store, name).shape)
    m.n[0], m.start[0] = size, 2
    m.order[0] = 3, 0, 4, 1, 2
    m.kind[0] = 7, 2, 3, 2, 7
    m.link[0] = 1, 2, 3, 4, 0
    return m, s, t


@functools.cache
def kernel(function):
    """A block by itself, compiled once in this process."""

    def run(m, s, t):
        function(m, s, t)

    return unkept(run)


def run_both(function, fill=None, **options):
    """Two sets of equal stores, one run through compiled code, one through NumPy."""
    fast, plain = make_stores(**options), make_stores(**options)
    for stores in (fast, plain):
        if fill is not None:
            fill(*(store[0] for store in stores))
    kernel(function)(*fast)
    with np.errstate(all="ignore"):
        function(*(store[0] for store in plain))
    return fast, plain


def assert_same(fast, plain, rtol=0.0):
    """Equal numbers everywhere; NaN equals NaN, 0.0 equals -0.0."""
    for a, b in zip(fast, plain, strict=True):
        for name in a.fields:
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=rtol, err_msg=name)


# -------------------- arithmetic


@block
def arithmetic(m, s, t):
    a, b, c, d = (s.x[0][k] for k in range(4))
    t.y[0][0] = a + b
    t.y[0][1] = a - b
    t.y[0][2] = a * b
    t.y[0][3] = a / b
    t.y[0][4] = -c
    t.y[0][5] = sqrt(absolute(c))
    t.y[0][6] = 2.5 - d
    t.y[0][7] = 1.0 / d
    t.y[1][0] = (a + b) / (c - d)


@block
def choices(m, s, t):
    a, b, c, d = (s.x[0][k] for k in range(4))
    t.y[0][0] = select(less(a, b), c, d)
    t.y[0][1] = maximum(a, b)
    t.y[0][2] = minimum(a, b)
    t.y[0][3] = absolute(a)
    t.y[0][4] = rint(a)
    t.y[0][5] = select(less(a, b) & less(b, c), 1.0, 2.0)
    t.y[0][6] = select(less(a, b) | (~less(c, d)), a, -1.0)
    t.y[0][7] = select(less(0.5, a), select(less(a, 1.0), 3.0, b), select(on(c), 4.0, 5.0))
    t.y[1][0] = maximum(a, 0.0)
    t.y[1][1] = minimum(0.0, a)
    t.y[1][2] = select(less(a, b) & True, 1.0, 0.0)
    t.y[1][3] = select(less(a, b) | False, 1.0, 0.0)


@block
def fused(m, s, t):
    a, b, c, d = (s.x[0][k] for k in range(4))
    t.y[0][0] = a * b + c
    t.y[0][1] = a * b - c * d
    t.y[0][2] = c - a * b
    t.y[0][3] = a / 3.0
    t.y[0][4] = (a * a + b * b) / (c * c + d * d + 1.0)


special = st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.0, -1.5, 2.5, 5e-324, 2.2e-308, 1.7e308])
numbers = hnp.arrays(float, (4, LANES), elements=st.one_of(special, st.floats(width=64)))
tame = hnp.arrays(float, (4, LANES), elements=st.floats(-1e3, 1e3))


@pytest.mark.parametrize("function", [arithmetic, choices])
@settings(max_examples=100)
@given(values=numbers)
def test_bit_for_bit(function, values):
    def fill(m, s, t):
        s.x[0] = values

    assert_same(*run_both(function, fill))


@settings(max_examples=50)
@given(values=tame)
def test_fused_arithmetic_is_equal_to_rounding(values):
    def fill(m, s, t):
        s.x[0] = values

    (_, _, fast), (_, _, plain) = run_both(fused, fill)
    size = np.abs(values).max() ** 2 + 1.0  # what the terms that may cancel are rounded to
    np.testing.assert_allclose(fast.y[0, 0, :5], plain.y[0, 0, :5], rtol=0, atol=ROUND * size)


def test_a_comparison_with_nan_is_false_and_the_second_one_wins():
    def fill(m, s, t):
        s.x[0] = np.array([[np.nan, 1.0, np.nan, 2.0], [1.0, np.nan, np.nan, 3.0], [7.0] * 4, [8.0] * 4])

    (_, _, t), _ = run_both(choices, fill)
    np.testing.assert_array_equal(t.y[0, 0, 0], [8.0, 8.0, 8.0, 7.0])
    np.testing.assert_array_equal(t.y[0, 0, 1], [1.0, np.nan, np.nan, 3.0])
    np.testing.assert_array_equal(t.y[0, 0, 2], [1.0, np.nan, np.nan, 2.0])


@block
def foldable(m, s, t):
    a, b = s.x[0][0], s.x[0][1]
    rows = [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]  # a sparse block
    for k, row in enumerate(rows):
        t.y[0][k] = row[0] * a + row[1] * b + row[2] * (a - b)
    t.y[0][2] = a + 0.0
    t.y[0][3] = 0.0 - a
    t.y[0][4] = a * 0.0 + 3.0
    t.y[0][5] = 0.0 / b
    t.y[0][6] = a - 0.0
    t.y[0][7] = 0.0


@block
def written_out(m, s, t):
    a, b = s.x[0][0], s.x[0][1]
    t.y[0][0] = a - (a - b)
    t.y[0][1] = b
    t.y[0][2] = a
    t.y[0][3] = -a
    t.y[0][4] = 3.0
    t.y[0][5] = 0.0
    t.y[0][6] = a
    t.y[0][7] = 0.0


def instructions(function):
    """Numbers of arithmetic instructions of the IR that the block itself generates, before any optimisation."""
    stores = make_stores()
    dispatcher = kernel(function)
    dispatcher(*stores)
    (ir,) = dispatcher.inspect_llvm().values()
    return {name: len(re.findall(rf"= {name}\b", ir)) for name in ("fadd", "fsub", "fmul", "fdiv", "fneg")}


def test_zeros_and_ones_cost_nothing():
    assert instructions(foldable) == instructions(written_out)
    assert instructions(foldable)["fmul"] == instructions(foldable)["fdiv"] == 0
    assert_same(*run_both(foldable))


@block
def broadcast(m, s, t):
    shared, own = m.c[0], s.x[0][0]
    t.y[0][0] = shared[0]
    t.y[0][1] = shared[0] + own
    t.y[0][2] = own - shared[1]
    t.y[0][3] = select(less(own, shared[2]), shared[0], own)
    t.y[0][4] = select(less(own, 0.0), shared[0], shared[1])
    t.y[0][5] = sqrt(absolute(shared[0] - shared[1]))
    t.y[0][6] = maximum(shared[0], own)
    t.y[0][7] = minimum(own, shared[0])


def test_a_shared_value_goes_to_all_lanes():
    (m, s, fast), plain = run_both(broadcast)
    assert_same((m, s, fast), plain)
    np.testing.assert_array_equal(fast.y[0, 0, 0], np.full(LANES, m.c[0, 0, 0]))


@block
def shared_mask(m, s, t):
    t.y[0][0] = select(less(m.c[0][0], 0.0), s.x[0][0], s.x[0][1])
    t.y[0][1] = select(less(m.c[0][1], 0.0), s.x[0][0], 5.0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_shared_mask_chooses_for_all_lanes(sign):
    def fill(m, s, t):
        m.c[0] = sign

    fast, plain = run_both(shared_mask, fill)
    assert_same(fast, plain)
    np.testing.assert_array_equal(fast[2].y[0, 0, 0], fast[1].x[0, 0, 0 if sign < 0 else 1])


# -------------------- lanes


@block
def mixture(m, s, t):
    """Something of everything, entity by entity."""
    for i in range(N):
        a, b, c, d = (s.x[i][k] for k in range(4))
        size = sqrt(a * a + b * b + 1.0)
        t.y[i][0] = select(less(c, d), a / size, b * size - c)
        t.y[i][1] = maximum(a, minimum(b, c)) + rint(d)


@settings(max_examples=50)
@given(
    values=hnp.arrays(float, (N, 4, LANES), elements=st.floats(-1e3, 1e3)),
    lane=st.integers(0, LANES - 1),
    value=st.sampled_from([np.nan, np.inf, -np.inf, 1e308]),
)
def test_a_lane_never_sees_its_neighbours(values, lane, value):
    def fill(m, s, t):
        s.x[...] = values

    def poison(m, s, t):
        fill(m, s, t)
        s.x[..., lane] = value

    (_, _, poisoned), _ = run_both(mixture, poison)
    (_, _, healthy), _ = run_both(mixture, fill)
    others = np.arange(LANES) != lane
    assert np.isfinite(healthy.y).all()
    np.testing.assert_array_equal(poisoned.y[..., others], healthy.y[..., others])
    if np.isnan(value):
        assert np.isnan(poisoned.y[0, :, 0, lane]).all()


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_results_do_not_depend_on_the_number_of_lanes(lanes):
    values = np.random.default_rng(5).normal(size=(N, 4, 8))

    def fill(m, s, t):
        s.x[...] = values[..., :lanes]

    (_, _, t), _ = run_both(mixture, fill, lanes=lanes)
    (_, _, wide), _ = run_both(mixture, lambda m, s, t: s.x.__setitem__(..., values), lanes=8)
    np.testing.assert_array_equal(t.y[0, :, :2], wide.y[0, :, :2, :lanes])


# -------------------- entities


@each("n")
def own_sum(m, s, t, i):
    t.y[i][0] = s.x[i][0] + s.x[i][1]


def chain_along(order):
    """Leaves in t.y[i][0] what entity i found in t.count, which then grows: the order itself."""

    @each("n", order=order)
    def visit(m, s, t, i):
        t.y[i][0] = t.count + s.x[i][0]
        t.count = t.count + 1.0

    return visit


@pytest.mark.parametrize("size", [0, 1, N])
def test_each_visits_every_entity_once(size):
    (m, s, t), plain = run_both(own_sum, size=size)
    assert_same((m, s, t), plain)
    np.testing.assert_array_equal(t.y[0, :size, 0], (s.x[0, :, 0] + s.x[0, :, 1])[:size])
    assert not np.any(t.y[0, size:, 0] == s.x[0, size:, 0] + s.x[0, size:, 1])  # and no other


@pytest.mark.parametrize("order", [0, 1, -1])
def test_each_in_its_order(order):
    visit = chain_along(order)
    (m, s, t), plain = run_both(visit, lambda m, s, t: s.x.fill(0.0))
    assert_same((m, s, t), plain)
    along = np.arange(N) if order == 0 else m.order[0][::order]
    expected = np.empty(N)
    expected[along] = np.arange(N)
    np.testing.assert_array_equal(t.y[0, :, 0], expected[:, None] * np.ones(LANES))
    assert not run_both(chain_along(order), size=0)[0][2].count.any()


@each("n", first="start")
def later_ones(m, s, t, i):
    t.y[i][0] = 100.0


def test_each_can_start_later():
    (_, _, t), plain = run_both(later_ones)
    np.testing.assert_array_equal(t.y[0, :, 0, 0] == 100.0, np.arange(N) >= 2)
    np.testing.assert_array_equal(t.y, plain[2].y)


@each("n", kind="kind")
def by_kind(kind, m, s, t, i):
    """A loop of `kind` rounds, gone when this is compiled."""
    total = s.x[i][0]
    for _ in range(kind):
        total = total + s.x[i][1]
    t.y[i][0] = total
    t.y[i][1] = float(kind)


def test_each_kind_has_its_own_code():
    fast, plain = run_both(by_kind)
    assert_same(fast, plain)
    np.testing.assert_array_equal(fast[2].y[0, :, 1, 0], fast[0].kind[0])
    (_, _, t), _ = run_both(by_kind, features=Features(kinds=(2, 3)))  # no code for kind 7: nothing happens to those
    np.testing.assert_array_equal(t.y[0, :, 1, 0] == fast[0].kind[0], fast[0].kind[0] != 7)


@each("n", feature="extra")
def if_extra(m, s, t, i):
    t.y[i][0] = 42.0


def test_a_feature_that_is_off_leaves_no_code():
    (_, _, t), _ = run_both(if_extra)
    assert (t.y[0, :, 0] == 42.0).all()
    (_, _, t), _ = run_both(if_extra, features=Features(extra=False))
    assert not (t.y[0, :, 0] == 42.0).any()


@each("n")
def through_links(m, s, t, i):
    other = m.link[m.link[i]]
    t.y[i][0] = s.x[other][0]
    t.B[i][1, 2] = s.A[other][0, 1] - s.A[m.link[i]][1, 0]
    t.y[i][1] = s.x[m.order[i]][2]


@each("n", first="start")
def neighbours(m, s, t, i):
    t.y[i][0] = s.x[i - 1][0] + s.x[i - m.start][1]
    t.y[i][1] = s.x[(i - 2) * 1 + 1][3]


@pytest.mark.parametrize("function", [through_links, neighbours])
def test_index_arithmetic(function):
    assert_same(*run_both(function))


@block
def running_sums(m, s, t):
    """Loops whose bounds are read when the kernel runs, one of them inside the other, and one downwards."""

    def outer(i):
        t.y[i][0] = 0.0

        def inner(k):
            t.y[i][0] = t.y[i][0] * 2.0 + s.x[k][0]

        for_range(m.start, i, inner)
        t.count = t.count + 1.0

    for_range(m.start, m.n, outer)
    t.y[0][1] = 0.0

    def down(k):
        t.y[0][1] = t.y[0][1] * 2.0 + s.x[k][1]

    for_range(m.n - 1, m.start - 1, down, -1)


@pytest.mark.parametrize("size", [2, 3, N])  # 2: nothing to do
def test_loops_with_runtime_bounds(size):
    fast, plain = run_both(running_sums, size=size)
    assert_same(fast, plain, rtol=ROUND)
    assert (fast[2].count == size - 2).all()


# -------------------- calls


@block
def inner_block(m, s, t):
    t.y[0][0] = t.y[0][0] + s.x[0][0]


@block
def calls_others(m, s, t):
    inner_block(m, s, t)
    own_sum(m, s, t)
    inner_block(m, s, t)


def test_blocks_call_blocks():
    fast, plain = run_both(calls_others)
    assert_same(fast, plain)
    np.testing.assert_array_equal(fast[2].y[0, 0, 0], fast[1].x[0, 0, 0] + fast[1].x[0, 0, 1] + fast[1].x[0, 0, 0])


@block
def shrink(m, s, t):
    """One round of a lane by lane loop: lanes whose number is above 1 are halved, the others are left alone."""
    x = s.x[0][0]
    live = less(1.0, x)
    s.x[0][0] = select(live, 0.5 * x, x)
    s.x[0][1] = select(live, s.x[0][1] + 1.0, s.x[0][1])
    t.flag = select(less(1.0, s.x[0][0]), 1.0, 0.0)


@block
def raise_flag(m, s, t):
    t.flag = 1.0


def halve_all(m, states, t, first, last):
    """A loop over lane groups, each of which goes on as long as one of its lanes needs it."""
    for g in range(first, last):
        s = group(states, g)
        raise_flag(m, s, t)
        while any_lane(t, "flag"):
            shrink(m, s, t)
            t_is_shared(m, s, t)


@block
def t_is_shared(m, s, t):
    t.count = t.count + 1.0


def test_groups_and_any_lane():
    values = np.array([[0.5, 3.0, 1e3, 0.1], [1.0, 1.0, 1.0, 1.0], [9.0, np.nan, 0.0, 1e6]])
    fast, plain = make_stores(groups=3), make_stores(groups=3)
    for _, s, t in (fast, plain):
        s.x[:, 0, 0], s.x[:, 0, 1], t.count[...] = values, 0.0, 0.0
    unkept(halve_all)(*fast, 1, 3)
    halve_all(plain[0][0], plain[1], plain[2][0], 1, 3)
    assert_same(fast, plain)
    _, s, t = fast
    np.testing.assert_array_equal(s.x[0, 0, 0], values[0])  # not asked for
    np.testing.assert_array_equal(s.x[1:, 0, 1], [[0, 0, 0, 0], [4, 0, 0, 20]])
    np.testing.assert_array_equal(s.x[2, 0, 0, 1:3], values[2, 1:3])
    assert (t.count == 1 + 20).all()


@pytest.mark.parametrize("flags", [(0.0,) * 4, (0.0, 0.0, 0.0, 1.0), (-1.0, 0.0, 0.0, 0.0), (np.nan, 0, 0, 0)])
def test_any_lane(flags):
    def run(m, s, t):
        return any_lane(t, "flag")

    m, s, t = make_stores()
    t.flag[0] = flags
    assert unkept(run)(m, s, t) == run(m[0], s[0], t[0]) == any(flag != 0 for flag in flags)


# -------------------- mistakes


@block
def past_the_end(m, s, t):
    t.y[0][0] = s.x[0][4]


@block
def before_the_start(m, s, t):
    t.y[0][-1] = 0.0


@block
def one_index_short(m, s, t):
    t.y[0][0] = s.A[0][1]


@block
def past_the_end_of_a_row(m, s, t):
    s.A[0][0, 3] = 1.0  # within the block, but element (1, 0)


@pytest.mark.parametrize(
    ("function", "name"),
    [(past_the_end, "x"), (before_the_start, "y"), (one_index_short, "A"), (past_the_end_of_a_row, "A")],
)
def test_a_constant_index_out_of_range_is_found_when_compiling(function, name):
    with pytest.raises(Exception, match=f"into a block of {name}") as caught:
        kernel(function)(*make_stores())
    assert isinstance(caught.value, IndexError) or isinstance(caught.value.__cause__, IndexError)


# -------------------- uncompiled, with complex numbers


@block
def smooth(m, s, t):
    x, y = s.x[0][0], s.x[0][1]
    r = sqrt(x * x + y * y)
    t.y[0][0] = select(less(x, y), x / r, maximum(x, y) * r - absolute(x) * m.c[0][0])


def test_a_complex_step_gives_the_derivative():
    """d/dx by Im f(x + i 1e-30) / 1e-30: exact to rounding, on whichever branch the real part takes."""
    values = np.random.default_rng(3).normal(size=(2, LANES))
    values[:, 0], values[:, 1] = (1.0, 2.0), (-3.0, -4.0)  # one lane on each branch at least
    m, _, _ = make_stores()
    fields = {"x": (N, 4)}, {"y": (N, 8)}
    s, t = (Store(label, LANES, 1, Features(), field, dtype=complex) for label, field in zip("st", fields, strict=True))
    s.x[0, 0, :2] = values
    s.x[0, 0, 0] += 1e-30j
    smooth(m[0], s[0], t[0])
    x, y = values
    r = np.hypot(x, y)
    first = y * y / r**3
    second = r + x * x / r - np.sign(x) * m.c[0, 0, 0]
    np.testing.assert_allclose(t.y[0, 0, 0].imag / 1e-30, np.where(x < y, first, second), rtol=4 * ROUND)
    assert (x < y).any()
    assert (x > y).any()


# -------------------- the real step


def floating_point_instructions(assembly):
    """(packed, scalar, x87): how many instructions of x86-64 assembly do floating-point arithmetic, by kind.

    Counted: add, sub, mul, div, sqrt, min, max, rounding and fused multiply-adds (in all forms), not loads, stores,
    moves, shuffles, comparisons and bit operations. The suffix of the mnemonic says which kind it is: `vmulpd` (packed
    double) works on all lanes of a register at once, `vmulsd` (scalar double) on one number. x87 is everything on the
    floating-point stack of old (fadd, fmulp, ...).
    """
    operation = r"(?:add|sub|mul|div|sqrt|min|max|round|rndscale|fn?m(?:add|sub|addsub|subadd)(?:132|213|231))"
    mnemonics = [line.split()[0] for line in assembly.splitlines() if line[:1].isspace() and line.split()]
    packed = sum(bool(re.fullmatch(rf"v?{operation}pd", name)) for name in mnemonics)
    scalar = sum(bool(re.fullmatch(rf"v?{operation}sd", name)) for name in mnemonics)
    x87 = sum(bool(re.fullmatch(r"f(?:i?(?:add|subr?|mul|divr?)p?[sl]?|sqrt|abs|chs)", name)) for name in mnemonics)
    return packed, scalar, x87


def test_counting_instructions():
    assembly = """
    f:
        vmovupd (%rdi), %ymm0
        vaddpd  %ymm0, %ymm1, %ymm0
        vfmadd213pd (%rsi), %ymm1, %ymm0
        vmulsd  %xmm0, %xmm1, %xmm0
        vcmpltpd %ymm0, %ymm1, %ymm2
        vblendvpd %ymm2, %ymm0, %ymm1, %ymm0
        fmulp %st, %st(1)
        mulsd %xmm1, %xmm0
        addq $1, %rax
    """
    assert floating_point_instructions(assembly) == (2, 2, 1)


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="counts x86-64 instructions")
def test_the_step_is_packed(record_property):
    """At least 95 % of the floating-point arithmetic in a fresh compile of the step works on all lanes at once.

    See `floating_point_instructions` for what is counted: instructions in the code, not how often each is executed.
    The few scalar ones are on constants of the model, which all environments share.
    """
    sim = Simulator(unitree_a1.build())  # contacts, limits, drives
    sim.set_joint_state(STANDING)
    fresh = unkept(step)
    stores = sim._lanes.constants, sim._lanes.store, sim._lanes.scratch[0]
    fresh(*stores, 0, 1, 1, 0)
    assert sim.status.converged.all()
    (overload,) = fresh.overloads.values()
    packed, scalar, x87 = floating_point_instructions(overload.library.get_asm_str())
    share = packed / (packed + scalar)
    record_property("packed share", share)
    print(f"{packed} packed and {scalar} scalar floating-point instructions: {share:.2%} packed")
    assert packed > 1000
    assert share >= 0.95
    assert x87 == 0
