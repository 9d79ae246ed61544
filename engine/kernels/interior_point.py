"""Predictor-corrector interior point on the whole step (paper: eq. ip_system).

    residual   at V, wrench, pairs; converged when all of it, with mu = 0, is small
    factorise  contacts and axis laws condensed, then the tree, leaf to root
    affine     direction towards a b = 0, and how far it gets: sigma = (mu_affine / mu)^3
    corrector  targets sigma mu - da db; the same factors
    step       almost as far as to the first pair that would vanish

Pairs are of very different sizes in a mechanism of large and small bodies. Each product has its own usual size (`share`
is 1 over that), and mu is the mean of products in these units: all of them fall together, from masses of grams to tons.
Residuals are relative, too (body.py). A product stops at a tenth of what it has to be (pairs.stop); what counts towards
mu's reduction is what is left above that.

A lane that has converged is masked: its numbers stay as they are while its neighbours go on.

How near to the boundary a step may start is learned (`learn`): pairs of a robot that stands are almost where they were,
and a warm start close to them needs one iteration or two; those of one whose motors are told something else at every
step are not, and start on a central path that is as wide as this takes.

Whether a search finds an end depends on where it starts. One that finds none starts again: COLD, from the usual sizes
of all pairs, then FAR from the boundary, at the highest floor. What a step leads to must not depend on what was before
it, and without this it did: of a robot's steps in hard motion, one in a thousand has a warm start that leads nowhere,
and one solution.
"""

from vigym.engine.kernels import arms, axis, between, body, contact, gear, joint, ldu, pairs, touching
from vigym.engine.kernels.quaternion import scale, vec
from vigym.engine.kernels.simd import absolute, block, less, maximum, minimum, on, select, sqrt
from vigym.engine.kernels.sweep import each_body

MARGIN, NEAR, NEAREST = 1e-3, 1e-2, 1e-6  # of the way to the boundary that a step leaves, see final_length
STUCK = 0.2  # a step shorter than this is no progress
LIFT = 100.0  # products are raised to so many mu when stuck, and CAUTION times more each further time
CAUTION = 3.0
PROGRESS = 0.1  # of mu where a lane was stuck before: below that, it is as if it had never been
HIGHEST = 1e6  # in units of the usual sizes of a pair
# Once a lane has been stuck, mu is not reduced faster than by SLOWLY caution (SLOWEST at most), then, after each step
# longer than FULL, by BOLDER caution times that
SLOWLY, SLOWEST, FULL, BOLDER = 0.03, 0.3, 0.9, 0.01
# The floor of the warm start: RAISED after a step solved with an alpha below STUMBLE, else LOWERED, within these. Where
# it is below LOW_FLOOR, a first alpha below HESITATE is enough; a high floor makes short steps itself
STUMBLE, RAISED, LOWERED, LOWEST_FLOOR, HIGHEST_FLOOR = 0.5, 2.0, 0.7, 0.002, 3.0
HESITATE, LOW_FLOOR = 0.9, 0.03
STEADY = 0.1  # of the change in velocities, squared, may be new in motion that goes on as it did
UNTOUCHED = 1e-5  # times the tolerance is what a first guess must meet to be the solution
# Where a search starts, and where it starts again if it finds no end
WARM, COLD, FAR = 0.0, 1.0, 2.0


@block
def start(m, s, t):
    """Quantities of the current pose and the first guess."""
    start_bodies(m, s, t)
    start_pairs(m, s, t)


@block
def start_bodies(m, s, t):
    """Prepare all that does not depend on which bodies are near."""
    start_search(m, s, t)
    body.prepare_body(m, s, t)
    joint.start_joint(m, s, t)
    joint.prepare_joint(m, s, t)


@block
def start_pairs(m, s, t):
    """The first guess of pairs, contacts between bodies among them."""
    contact.prepare_contact(m, s, t)
    axis.start_axis(m, s, t)


@block
def look_back(m, s, t):
    """Poses before the current one, for arms that are even."""
    arms.look_back(m, s, t)


@block
def residual(m, s, t):
    """All residuals at the current guess."""
    clear_norm(m, s, t)
    body.move_body(m, s, t)
    joint.move_joint(m, s, t)
    if m.features.gears:
        gear.move_gear(m, s, t)
    contact.move_contact(m, s, t)


@block
def even_arms(m, s, t):
    """Residuals in lanes whose arms are even."""
    arms.even_joint(m, s, t)


@block
def measure(m, s, t):
    """Norms of the residuals, and what they say."""
    measure_body(m, s, t)
    axis.measure_axis(m, s, t)
    check(m, s, t)


@block
def newton_step(m, s, t):
    """One step of the predictor-corrector, or of plain Newton where nothing is complementary."""
    factorize(m, s, t)
    substitute(m, s, t)
    if m.features.pairs:
        correct(m, s, t)
    update(m, s, t)


@block
def factorize(m, s, t):
    """Condense contacts and axes, then eliminate leaf to root."""
    if m.features.touches:
        between.clear_pair(m, s, t)
        touching.clear_block(m, s, t)
    contact.condense_contact(m, s, t)
    if m.features.touches:
        between.spread_pair(m, s, t)
    axis.condense_axis(m, s, t)
    if m.features.bordered:
        ldu.clear_pieces(m, s, t)
        ldu.clear_couplings(m, s, t)
    if m.features.loops:
        ldu.open_loops(m, s, t)
    ldu.eliminate(m, s, t)
    if m.features.loops:
        ldu.close_world_loops(m, s, t)


@block
def substitute(m, s, t):
    """Motion of all bodies, root to leaf."""
    if m.features.loops:
        ldu.solve_world_loops(m, s, t)
    ldu.substitute(m, s, t)
    if m.features.loops:
        ldu.move_loops(m, s, t)


@block
def correct(m, s, t):
    """Centre by how far the affine direction gets; the corrector then uses the same factors."""
    clear_sums(m, s, t)
    contact.affine_contact(m, s, t)
    axis.affine_axis(m, s, t)
    choose_center(m, s, t)
    contact.correct_contact(m, s, t)
    axis.correct_axis(m, s, t)
    if m.features.loops:
        ldu.open_loops_again(m, s, t)
    ldu.eliminate_again(m, s, t)
    if m.features.loops:
        ldu.close_world_loops_again(m, s, t)
    substitute(m, s, t)


@block
def update(m, s, t):
    """Take the step, as long as all pairs stay positive and no body spins too fast."""
    clear_sums(m, s, t)
    contact.direct_contact(m, s, t)
    axis.direct_axis(m, s, t)
    final_length(m, s, t)
    choose_lift(m, s, t)
    body.limit_spin(m, s, t)
    joint.update_joint(m, s, t)
    if m.features.loops:
        ldu.update_loops(m, s, t)
    body.update_body(m, s, t)
    contact.update_contact(m, s, t)
    axis.update_axis(m, s, t)
    t.untouched = t.counted = 0.0


@block
def learn(m, s, t):
    """The floor of the next warm start, from how this one went; anew where it did not converge."""
    floor, stumbled = s.floor, on(t.stumbled)
    tried, good = less(0.5, t.todo), on(t.good)
    if m.features.bounce:
        tried = tried & (~on(t.again))
    new = select(stumbled, minimum(RAISED * floor, HIGHEST_FLOOR), maximum(LOWERED * floor, LOWEST_FLOOR))
    s.floor = select(good, new, select(tried, m.first_floor, floor))
    s.steady = select(good, select(less(t.surprise, STEADY * t.change), 1.0, 0.0), s.steady)


def starts_left(t):
    """The lanes that have not started from everywhere yet; relaxed ones always start cold."""
    return less(t.cold, FAR - 0.5) & (~on(t.relax))


@block
def lift_pairs(m, s, t):
    """Away from the boundary, in the lanes that are stuck there."""
    contact.lift_contact(m, s, t)
    axis.lift_axis(m, s, t)


@block
def start_search(m, s, t):
    """No lane has been stuck yet."""
    t.rate = 1.0 / t.h
    t.caution = t.stuck_at = 1.0
    t.pace = 0.0
    t.stumbled = 0.0
    t.untouched, t.counted = 1.0, 0.0
    t.floor = select(less(COLD + 0.5, t.cold), HIGHEST_FLOOR, s.floor)
    t.change = t.surprise = 0.0
    first = less(contact.TICKS - 0.5, t.todo) & less(t.cold, 0.5) & less(t.relax, 0.5)
    # impacts take the first guess for the last velocity (impact.py)
    t.onwards = 0.0 if m.features.bounce else select(first, s.steady * t.stride * (1.0 / contact.TICKS), 0.0)


@block
def clear_norm(m, s, t):
    t.norm = t.misfit = t.poison = t.total = t.count = t.stopped = 0.0
    for k in range(6):
        t.r[m.n_bodies][k] = 0.0  # what joints to the world push against


@each_body
def measure_body(m, s, t, i):
    """Largest residual force and torque, in units of the body's."""
    r = vec(t.r[i])
    pairs.note(t, "norm", scale(1.0 / t.unit[i][0], r[:3]) + scale(1.0 / t.unit[i][1], r[3:]))


@block
def check(m, s, t):
    """Find which lanes have converged (good), and which still iterate (live); a lane whose numbers blew up does
    neither.

    What Newton leaves is much less than the tolerance, and differs from step to step. A first guess that is as good as
    that would leave out the same forces at every step, however long a weak one acts: it is taken for what it is
    only if it is much better."""
    live, norm = on(t.live), maximum(t.misfit, t.norm)
    finite = less(norm + absolute(t.poison), 1e100)
    tolerance = select(on(t.untouched), UNTOUCHED * m.tolerance, m.tolerance)
    done = live & finite & less(t.norm, tolerance) & less(t.misfit, m.accuracy)
    t.good = select(done, 1.0, t.good)
    s.residual = select(live, norm, s.residual)
    live = live & (~done) & finite
    t.live = select(live, 1.0, 0.0)
    counts = live
    if m.features.lends:  # what is measured again, because a neighbour lends more (lending.py), counts once
        counts = live & (~on(t.counted))
        t.counted = select(live, 1.0, t.counted)
    s.iterations = select(counts, s.iterations + 1.0, s.iterations)
    t.mu = t.total / maximum(t.count, 1.0)


@block
def clear_sums(m, s, t):
    t.ratio = 0.0
    t.total = 0.0


@block
def choose_center(m, s, t):
    """center = sigma over, sigma = (over_affine / over)^3; not too eager after a lane has been stuck (`pace`).

    over is the mean of what is left of the products above where they stop: pairs that have stopped must not hold up
    others, which may have to become smaller. over_affine is where the affine direction gets, as far as it keeps all
    pairs positive. It takes no sweep of its own:

        sum (a + alpha da)(b + alpha db) = sum a b + alpha sum k + alpha^2 sum da db,   k = a db + b da = stop - a b
    """
    mu, alpha, share = t.mu, 1.0 / maximum(t.ratio, 1.0), 1.0 / maximum(t.count, 1.0)
    over = maximum(mu - share * t.stopped, 0.0)
    affine = minimum(maximum(over - alpha * over + alpha * alpha * share * t.total, 0.0), over)
    sigma = affine / maximum(over, 1e-300)
    least = select(less(1e-4, mu), t.pace * over, 0.0)
    t.center = maximum(sigma * sigma * sigma * over, least)


@block
def final_length(m, s, t):
    """The longest step that keeps all pairs positive, less a margin that shrinks with mu: a fixed one would let no
    iteration reduce mu by more than that."""
    fraction = 1.0 - minimum(MARGIN, maximum(NEAREST, NEAR * t.mu))
    t.alpha = fraction / maximum(t.ratio, fraction)


@block
def choose_lift(m, s, t):
    """Stuck on the boundary, long before the residuals are small: raise all products to LIFT mu and go on from there,
    higher and more slowly each time; but not if mu has become much smaller since the last time."""
    live = on(t.live)
    stuck = less(t.alpha, STUCK) & live
    short = less(t.alpha, select(on(t.untouched) & less(t.floor, LOW_FLOOR), HESITATE, STUMBLE))
    t.stumbled = select(live & short, 1.0, t.stumbled)
    caution = select(less(t.mu, PROGRESS * t.stuck_at), 1.0, t.caution)
    lift = sqrt(LIFT * caution * t.mu)
    t.lift = select(stuck, minimum(lift, HIGHEST), 0.0)
    t.caution = select(stuck, CAUTION * caution, t.caution)
    t.stuck_at = select(stuck, t.mu, t.stuck_at)
    bolder = select(less(FULL, t.alpha), minimum(BOLDER * t.caution, 1.0), 1.0)
    t.pace = select(stuck, minimum(SLOWLY * t.caution, SLOWEST), bolder * t.pace)
