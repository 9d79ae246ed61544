"""One time step of one lane group, and of many.

A step of length dt is solved whole. A lane that does not converge, or not to a motion to be believed (judge_body),
repeats it with relaxed contacts (cone.py), then in halves, quarters, ... sixteenths; if that fails too, it is left as
it was before the step, says so, and takes no part in the rest of the call. Time is counted in sixteenths of dt.
"""

from vigym.engine.kernels import axis, contact, integrator, joint
from vigym.engine.kernels.interior_point import learn, lift_pairs, newton_step, residual, start
from vigym.engine.kernels.quaternion import dot, vec
from vigym.engine.kernels.simd import any_lane, block, group, less, on, select
from vigym.engine.kernels.sweep import each_axis, each_body

TICKS = 16.0
FAST = 1.45  # rad a step; two bodies that spin against each other stay below half a turn, and joints count their turns


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
                for _ in range(m.limit[0]):
                    residual(m, s, t)
                    if not any_lane(t, "live"):
                        break
                    newton_step(m, s, t)
                    if any_lane(t, "lift"):
                        lift_pairs(m, s, t)
                finish_substep(m, s, t)
            finish_step(m, s, t)


@block
def begin_call(m, s, t):
    for k in range(5):
        s.status[0][k] = 1.0 if k == 0 else 0.0


@block
def resume_call(m, s, t):
    """Whatever is counted over a call, as far as it got."""
    t.relax[0][0] = 0.0
    t.lost[0][0] = select(on(s.status[0][0]), 0.0, 1.0)
    for k, field in enumerate((t.iterations, t.residual, t.substeps, t.relaxed)):
        field[0][0] = s.status[0][1 + k]


@block
def begin_step(m, s, t):
    """Remember where the step starts."""
    begin(m, s, t)
    remember_body(m, s, t)
    remember_axis(m, s, t)
    if m.features.bounce:
        contact.remember_contact(m, s, t)


@block
def begin_substep(m, s, t):
    """Step length, quantities of the current pose, first guess."""
    choose(m, s, t)
    start(m, s, t)


@block
def finish_substep(m, s, t):
    """Commit the lanes that converged, and book what happened."""
    integrator.judge_body(m, s, t)
    joint.finish_joint(m, s, t)
    integrator.finish_body(m, s, t)
    contact.finish_contact(m, s, t)
    axis.finish_axis(m, s, t)
    learn(m, s, t)
    settle(m, s, t)


@block
def finish_step(m, s, t):
    """Report, and undo the step in lanes that could not make it."""
    report(m, s, t)
    revert_body(m, s, t)
    revert_axis(m, s, t)
    if m.features.bounce:
        contact.revert_contact(m, s, t)


@block
def begin(m, s, t):
    """Start of a step: the world's pose, all ticks still to do in real lanes, full stride, warm start."""
    world = m.size[0]
    for k in range(3):
        t.x[world][k] = t.xn[world][k] = 0.0
        for j in range(3):
            t.R[world][k, j] = t.Rn[world][k, j] = 1.0 if j == k else 0.0
    for k in range(4):
        t.q[world][k] = t.qn[world][k] = 1.0 if k == 0 else 0.0
    for k in range(6):
        t.y[world][k] = 0.0
        for j in range(6):
            t.D[world][k, j] = 0.0
    t.todo[0][0] = select(on(t.lost[0][0]), 0.0, TICKS * s.real[0][0])
    t.stride[0][0] = TICKS
    t.cold[0][0] = s.fresh[0][0]
    s.floor[0][0] = select(on(s.fresh[0][0]), m.option[0][2], s.floor[0][0])
    s.old_led[0][0] = s.led[0][0]


@each_body
def remember_body(m, s, t, i):
    """What to go back to; and a shorter stride for bodies that already spin too fast for dt."""
    for k in range(3):
        s.old[i][k] = s.x[i][k]
        s.old[i][7 + k] = s.v[i][k]
        s.old[i][10 + k] = s.w[i][k]
    for k in range(4):
        s.old[i][3 + k] = s.q[i][k]
    w = vec(s.w[i])
    for divisor in (1.0, 2.0, 4.0, 8.0):
        most = FAST * divisor / m.option[0][0]
        stride = t.stride[0][0]
        t.stride[0][0] = select(
            less(most * most, dot(w, w)) & less(TICKS / divisor - 0.5, stride), stride * 0.5, stride
        )


@each_axis
def remember_axis(m, s, t, a):
    s.old_angle[a][0] = s.angle[a][0]
    s.old_angle[a][1] = s.rate[a][0]


@block
def choose(m, s, t):
    """Step length and masks of the next attempt."""
    t.h[0][0] = t.stride[0][0] * (m.option[0][0] * (1.0 / TICKS))
    t.live[0][0] = select(less(0.5, t.todo[0][0]), 1.0, 0.0)
    t.good[0][0] = 0.0


@block
def settle(m, s, t):
    """Book the attempt: time passed, or relaxed contacts, or a shorter stride, or given up."""
    todo, stride = t.todo[0][0], t.stride[0][0]
    trying, good = less(0.5, todo), on(t.good[0][0])
    failed = cut = trying & (~good)
    if m.features.contacts:
        relaxed = on(t.relax[0][0])
        cut = failed & relaxed
        t.relaxed[0][0] = select(good & relaxed, t.relaxed[0][0] + 1.0, t.relaxed[0][0])
        t.relax[0][0] = select(failed & (~relaxed), 1.0, 0.0)
    lost = cut & less(stride, 1.5)
    t.todo[0][0] = select(good, todo - stride, select(lost, 0.0, todo))
    t.stride[0][0] = select(cut, stride * 0.5, stride)
    t.cold[0][0] = select(failed, 1.0, 0.0)
    t.lost[0][0] = select(lost, 1.0, t.lost[0][0])
    t.substeps[0][0] = select(good, t.substeps[0][0] + 1.0, t.substeps[0][0])
    s.led[0][0] = select(good, t.h[0][0], s.led[0][0])
    s.fresh[0][0] = select(good, 0.0, select(lost, 1.0, s.fresh[0][0]))


@block
def report(m, s, t):
    """Status of the step."""
    lost = on(t.lost[0][0])
    s.status[0][0] = select(lost, 0.0, 1.0)
    s.status[0][1] = t.iterations[0][0]
    s.status[0][2] = t.residual[0][0]
    s.status[0][3] = select(lost, 0.0, t.substeps[0][0])
    s.status[0][4] = t.relaxed[0][0]
    s.led[0][0] = select(lost, s.old_led[0][0], s.led[0][0])


@each_body
def revert_body(m, s, t, i):
    lost = on(t.lost[0][0])
    for k in range(3):
        s.x[i][k] = select(lost, s.old[i][k], s.x[i][k])
        s.v[i][k] = select(lost, s.old[i][7 + k], s.v[i][k])
        s.w[i][k] = select(lost, s.old[i][10 + k], s.w[i][k])
    for k in range(4):
        s.q[i][k] = select(lost, s.old[i][3 + k], s.q[i][k])


@each_axis
def revert_axis(m, s, t, a):
    lost = on(t.lost[0][0])
    s.angle[a][0] = select(lost, s.old_angle[a][0], s.angle[a][0])
    s.rate[a][0] = select(lost, s.old_angle[a][1], s.rate[a][0])
