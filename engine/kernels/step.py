"""One time step of one lane group, and of many.

A step of length dt is solved whole. A lane that does not converge, or not to a plausible solution (body.refuse_jump),
repeats it from other starts (interior_point.py), then, where bodies may touch, by rounds of convex problems
(lending.py), then with friction bounded by known forces (cone.py), then in halves, quarters, ... 256ths; if that fails
too, it is left as it was before the step, says so, and takes no part in the rest of the call. One whose joints act too
far off repeats it with other arms (arms.py). Time is counted in TICKS, 256ths of dt.
"""

from vigym.engine.kernels import arms, axis, body, contact, impact, joint, lending, motion_bounds
from vigym.engine.kernels.arms import fallback
from vigym.engine.kernels.collision.detect import detect, remember, review
from vigym.engine.kernels.collision.groups import join_energies, join_impacts
from vigym.engine.kernels.collision.poses import LOOKS
from vigym.engine.kernels.contact import TICKS
from vigym.engine.kernels.integrator import MOST_TURN
from vigym.engine.kernels.interior_point import (
    COLD,
    WARM,
    even_arms,
    learn,
    lift_pairs,
    look_back,
    measure,
    newton_step,
    residual,
    start_bodies,
    start_pairs,
    starts_left,
)
from vigym.engine.kernels.publish import publish_body, publish_contact
from vigym.engine.kernels.quaternion import dot, store, sub, vec
from vigym.engine.kernels.simd import any_lane, block, group, less, minimum, on, select
from vigym.engine.kernels.sweep import each_axis, each_body

# Rounds of a relaxed step; where bodies touch; with those in which bounds only fall; difference of forces at their end
ROUNDS, ROUNDS_BETWEEN, MOST_ROUNDS = 6.0, 30.0, 60.0
AGREED = 1e-6
HALVINGS = 8
PATIENT = 4.0  # ticks, and less: parts in which a search may take its time
MOST_ATTEMPTS = 2e4  # of a step: more than any that ends by itself has needed


def step(m, states, t, first, last, repeat, resumed):
    """Advance lane groups first..last by `repeat` steps with the same controls.

    resumed: 0 for the first steps of a call, which start its status anew; 1 for further steps of the same call, which
    add to that status and leave out the lanes that failed
    """
    for g in range(first, last):
        s = group(states, g)
        if not resumed:
            begin_call(m, s, t)
        resume_call(m, s, t)
        for _ in range(repeat):
            begin_step(m, s, t)
            while any_lane(t, "todo"):
                begin_substep(m, s, t)
                detect(m, s, t, g)
                begin_search(m, s, t)
                join_impacts(m, s, t, g)
                start_rebound(m, s, t)
                if any_lane(t, "even"):
                    look_back(m, s, t)
                for iteration in range(m.most_iterations):
                    if iteration == m.last_iterations:
                        end_search(m, s, t)
                    residual(m, s, t)
                    if any_lane(t, "even"):
                        even_arms(m, s, t)
                    measure(m, s, t)
                    if any_lane(t, "lending"):
                        lend(m, s, t)
                        if any_lane(t, "relend"):
                            measure_again(m, s, t)
                    if iteration == m.max_iterations:
                        lose_patience(m, s, t)
                    if not any_lane(t, "live"):
                        break
                    newton_step(m, s, t)
                    if any_lane(t, "lift"):
                        lift_pairs(m, s, t)
                judge_bodies(m, s, t)
                review(m, s, t, g)
                judge_pull(m, s, t)
                if any_lane(t, "weighed"):
                    weigh_work(m, s, t)
                judge_substep(m, s, t)
                join_energies(m, s, t, g)
                finish_substep(m, s, t)
                remember(m, s, t, g)
                book_attempt(m, s, t)
            finish_step(m, s, t)


def publish(m, states, t, first, last):
    """Write down what the contacts of lane groups first..last tell of the state, and of the step that led to it."""
    for g in range(first, last):
        publish_contacts(m, group(states, g), t)


@block
def begin_call(m, s, t):
    """Start the status of a call anew."""
    s.converged = 1.0
    s.iterations = s.residual = s.substeps = s.relaxed = 0.0


@block
def resume_call(m, s, t):
    """Lanes that failed earlier in the call take no further part."""
    t.relax = 0.0
    if m.features.bounce:
        impact.begin_impacts(m, s, t)
    t.lost = select(on(s.converged), 0.0, 1.0)


@block
def begin_step(m, s, t):
    """Remember where the step starts."""
    begin(m, s, t)
    remember_body(m, s, t)
    remember_axis(m, s, t)
    if m.features.bounce:
        impact.remember_impact(m, s, t)


@block
def begin_substep(m, s, t):
    """Step length and quantities of the current pose."""
    choose(m, s, t)
    start_bodies(m, s, t)
    motion_bounds.look_ahead(m, s, t)


@block
def begin_search(m, s, t):
    """The rest of the first guess."""
    start_pairs(m, s, t)
    if m.features.bounce:
        impact.find_impacts(m, s, t)


@block
def start_rebound(m, s, t):
    """Start a rebound in a step that is ready to be solved."""
    if m.features.bounce:
        impact.start_rebound(m, s, t)


@block
def lend(m, s, t):
    """Go on with another round of lent sliding where one has ended, but not at Coulomb's law."""
    if m.features.lends:
        lending.lend(m, s, t)


@block
def measure_again(m, s, t):
    """All residuals, once more."""
    if m.features.lends:
        residual(m, s, t)
        even_arms(m, s, t)
        measure(m, s, t)


@block
def lose_patience(m, s, t):
    """Stop the lanes that can still try much shorter parts."""
    t.live = select(less(t.stride, PATIENT + 0.5) | on(t.lending), t.live, 0.0)


@block
def end_search(m, s, t):
    """Stop all lanes but those that lend, whose rounds are one search."""
    t.live = select(on(t.lending), t.live, 0.0)


@block
def judge_bodies(m, s, t):
    """Refuse solutions that are not the one that is meant."""
    body.refuse_jump(m, s, t)
    motion_bounds.look_behind(m, s, t)


@block
def judge_pull(m, s, t):
    """Find the joints that pull too hard, and the lanes that must know the work of their joints."""
    arms.pull_joint(m, s, t)
    arms.pull_body(m, s, t)
    arms.push_contact(m, s, t)
    arms.choose_weighed(m, s, t)


@block
def weigh_work(m, s, t):
    """Work of joints, and the energy that it is compared with."""
    arms.move_by_mean(m, s, t)
    arms.work_joint(m, s, t)


@block
def judge_substep(m, s, t):
    """Refuse solutions whose arms, or bounds of friction, are not those that were found; energies of an impact."""
    arms.judge_arms(m, s, t)
    if m.features.contacts:
        start_judging(m, s, t)
        contact.judge_contact(m, s, t)
        judge(m, s, t)
    if m.features.bounce:
        impact.sum_energies(m, s, t)


@block
def finish_substep(m, s, t):
    """Commit the lanes that converged, but for those in the midst of a rebound."""
    if m.features.bounce:
        impact.review_rebound(m, s, t)
    joint.finish_joint(m, s, t)
    body.finish_body(m, s, t)
    contact.finish_contact(m, s, t)
    axis.finish_axis(m, s, t)
    learn(m, s, t)


@block
def finish_step(m, s, t):
    """Report, and undo the step in lanes that could not make it."""
    report(m, s, t)
    revert_body(m, s, t)
    revert_axis(m, s, t)
    if m.features.bounce:
        impact.revert_impact(m, s, t)


@block
def publish_contacts(m, s, t):
    """Gap, slip, velocity, force and touching point of every contact."""
    publish_body(m, s, t)
    publish_contact(m, s, t)


@block
def begin(m, s, t):
    """Start of a step: the world's pose, all ticks still to do in real lanes, full stride, warm start."""
    world = m.n_bodies
    body.place_world(m, t)
    if m.features.touches:
        t.look = 0.0
        for k in range(3):
            t.speed[world][k] = s.pushed[world][k] = 0.0
    if m.features.touches and m.features.bounce:
        for k in range(9):
            t.before[world][k] = 0.0
    for k in range(6):
        t.y[world][k] = 0.0
        for j in range(6):
            t.D[world][k, j] = 0.0
    t.todo = select(on(t.lost), 0.0, TICKS * s.real)
    t.stride, t.even, t.round, t.attempts = TICKS, 0.0, 0.0, 0.0
    t.lending, t.relend, t.stretch = 0.0, 0.0, 1.0
    t.cold = s.fresh
    s.floor = select(on(s.fresh), m.first_floor, s.floor)
    s.old_h0 = s.h0


def first_stride(excess):
    """Ticks of the first attempt: all, or half as many for each factor of 4 in the excess of a squared rate times step
    over what a whole step can do."""
    stride = TICKS
    for _ in range(HALVINGS):
        stride = select(less(1.0, excess), 0.5 * stride, stride)
        excess = 0.25 * excess
    return stride


@each_body
def remember_body(m, s, t, i):
    """Remember what to go back to and what the last step changed; shorten the stride of what spins too fast for dt."""
    gained = sub(vec(s.v[i]) + vec(s.w[i]), vec(s.old_v[i]) + vec(s.old_w[i]))
    store(t.gained[i], [select(on(s.fresh), 0.0, change) for change in gained])
    for old, now in ((s.old_x, s.x), (s.old_q, s.q), (s.old_v, s.v), (s.old_w, s.w)):
        for k, value in enumerate(vec(now[i])):
            old[i][k] = value
    if m.features.touches:
        t.farther[i][0] = 0.0
        store(s.pushed[i], [0.0] * 3)
    w, most = vec(s.w[i]), MOST_TURN / m.dt
    t.stride = minimum(t.stride, first_stride(dot(w, w) / (most * most)))


@each_axis
def remember_axis(m, s, t, a):
    s.old_angle[a][0] = s.angle[a][0]
    s.old_rate[a][0] = s.rate[a][0]


@block
def choose(m, s, t):
    """Step length and masks of the next attempt."""
    t.h = t.stride * (m.dt * (1.0 / TICKS))
    t.pull[m.n_bodies][0] = t.taut = t.pushed = t.work = t.energy_scale = 0.0
    for k in range(6):
        t.moved[m.n_bodies][k] = 0.0
    t.live = select(less(0.5, t.todo), 1.0, 0.0)
    t.good = 0.0


@block
def start_judging(m, s, t):
    t.another = t.apart = t.above = 0.0
    t.falling = select(less((ROUNDS_BETWEEN if m.features.touches else ROUNDS) - 0.5, t.relax), 1.0, 0.0)


@block
def judge(m, s, t):
    """A relaxed step is solved again as long as the forces that bound friction are not those that were found. If they
    never are, the bounds only fall from then on, until they are not above those forces: friction then is within
    Coulomb's law, if less than it may be. A step whose bounds are still above them after all rounds is cut."""
    apart = select(on(t.falling), t.above, t.apart)
    unsettled = on(t.good) & on(t.relax) & (~less(apart, AGREED))
    another = unsettled & less(t.relax, MOST_ROUNDS - 0.5)
    t.another = select(another, 1.0, 0.0)
    t.good = select(another | (unsettled & less(1.5, t.stride)), 0.0, t.good)


@block
def book_attempt(m, s, t):
    """Book the attempt: time passed, or another start, or relaxed contacts, or a shorter stride, or given up."""
    todo, stride = t.todo, t.stride
    trying, good = less(0.5, todo), on(t.good)
    failed = trying & (~good)
    if m.features.bounce:  # lanes that go on with the same attempt, see impact.py
        failed = failed & (~on(t.again))
    uneven, relax = on(t.uneven), 0.0
    cold = select(failed, select(uneven, t.cold, COLD), WARM)
    even = fallback(m)
    # arms that were chosen to undo work may lead nowhere: they are not tried again
    cut = failed & (~uneven) & ((~less(t.even, even)) | less(0.5, t.round))
    if m.features.contacts:
        another, relaxed, agrees = on(t.another), on(t.relax), less(t.apart, AGREED)
        elsewhere = failed & (~uneven) & starts_left(t)
        elsewhere = elsewhere & (~on(t.lending)) if m.features.lends else elsewhere
        cut = failed & relaxed & (~another)
        if m.features.touches:
            closer = failed & on(t.pierced) & less(t.look, LOOKS - 0.5)
            missed, pierced = failed & on(t.missed) | closer, failed & on(t.pierced) & (~closer)
            elsewhere, cut = elsewhere & (~missed) & (~pierced), (cut & (~missed)) | pierced
            t.look = select(good | cut, 0.0, select(closer, t.look + 1.0, t.look))
        s.relaxed = select(good & relaxed & (~agrees), s.relaxed + 1.0, s.relaxed)
        relax = select(failed & (~cut) & (~uneven) & (~elsewhere), t.relax + 1.0, 0.0)
        cold, even = select(elsewhere, t.cold + 1.0, cold), select(elsewhere, t.even, even)
        if m.features.lends:
            lends = less(0.5, relax) & less(relax, 1.5) & less(t.lending, 0.5)
            lends = (lends & (~missed)) | (missed & on(t.lending))
            relax, t.lending, t.stretch = select(lends, 0.0, relax), select(lends, 1.0, 0.0), 1.0
        if m.features.touches:
            cold, relax = select(missed, t.cold, cold), select(missed, t.relax, relax)
            even = select(missed, t.even, even)
    even = select(failed & (~cut), select(uneven, t.next, even), 0.0)
    if m.features.bounce:
        again = on(t.again)
        relax, even = select(again, 0.0, relax), select(again, t.even, even)
        cold = select(again, minimum(t.cold, COLD), cold)
    t.attempts = t.attempts + select(failed, 1.0, 0.0)
    lost = (cut & less(stride, 1.5)) | (failed & less(MOST_ATTEMPTS, t.attempts))
    t.todo = select(good, todo - stride, select(lost, 0.0, todo))
    t.stride = select(cut, stride * 0.5, stride)
    t.relax, t.cold = relax, cold
    s.even = select(good, t.even, s.even)
    s.owed = select(good, t.owed, s.owed)
    t.even, t.round = even, select(uneven, t.round + 1.0, 0.0)
    t.lost = select(lost, 1.0, t.lost)
    s.substeps = select(good, s.substeps + 1.0, s.substeps)
    s.h0 = select(good, t.h, s.h0)
    s.fresh = select(good, 0.0, select(lost, 1.0, s.fresh))


@block
def report(m, s, t):
    """Status of lanes that could not make the step."""
    lost = on(t.lost)
    s.converged = select(lost, 0.0, 1.0)
    s.substeps = select(lost, 0.0, s.substeps)
    s.h0 = select(lost, s.old_h0, s.h0)


@each_body
def revert_body(m, s, t, i):
    lost = on(t.lost)
    for old, now in ((s.old_x, s.x), (s.old_q, s.q), (s.old_v, s.v), (s.old_w, s.w)):
        for k, value in enumerate(vec(old[i])):
            now[i][k] = select(lost, value, now[i][k])


@each_axis
def revert_axis(m, s, t, a):
    lost = on(t.lost)
    s.angle[a][0] = select(lost, s.old_angle[a][0], s.angle[a][0])
    s.rate[a][0] = select(lost, s.old_rate[a][0], s.rate[a][0])
