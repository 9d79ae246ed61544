"""Unknowns of the last step as its solution has them, in the stores of differentials.py; of a step with a rebound,
which is several solves (impact.py), those of one phase after the other."""

from vigym.engine.kernels import axis, impact
from vigym.engine.kernels.interior_point import start
from vigym.engine.kernels.quaternion import mat, matvec, store, vec
from vigym.engine.kernels.simd import block, less, on, select
from vigym.engine.kernels.sweep import (
    each_body,
    each_contact,
    each_ground_contact,
    each_joint,
    each_limited_axis,
    each_slot,
)

LAST = impact.SOLVES[-1].number


@block
def begin_phases(m, s, t):
    """All phases of a rebound."""
    t.number = impact.ORDINARY
    t.left = 1.0


@block
def go_on(m, s, t):
    """The next phase, if there is one."""
    t.left = select(less(t.number, LAST - 0.5), 1.0, 0.0)
    t.number = t.number + 1.0


@block
def assume(m, s, t):
    """Everything at the current pose; the unknowns of the step, or of this phase of it."""
    start(m, s, t)
    if m.features.bounce:
        t.phase = select(on(s.rebounds), t.number, impact.ORDINARY)
        impact.find_impacts(m, s, t)
        impact.start_rebound(m, s, t)
    put_body(m, s, t)
    put_joint(m, s, t)
    put_contact(m, s, t)
    put_axis(m, s, t)


def found(m, s, t, name, i, last):
    """The unknowns `name` of body, joint, contact or axis i, as `last` has them; in the first phases of a rebound, as
    these were left."""
    if not m.features.bounce:
        return last
    first, second = less(t.number, 0.5), less(t.number, LAST - 0.5)
    early = on(s.rebounds) & second
    kept = [vec(getattr(s, f"{phase.prefix}_{name}")[i]) for phase in impact.SOLVES[:2]]
    return [select(early, select(first, one, two), value) for one, two, value in zip(*kept, last, strict=True)]


@each_body
def put_body(m, s, t, i):
    last = vec(s.old_v[i]) + matvec(mat(t.R[i]), vec(s.old_w[i]))
    store(t.V[i], found(m, s, t, "V", i, last))


@each_joint
def put_joint(kind, m, s, t, i):
    store(t.wrench[i], found(m, s, t, "wrench", i, vec(s.wrench[i])))


@each_contact
def put_contact(kind, m, s, t, c):
    for name in ("ca", "cb"):
        store(getattr(t, name)[c], found(m, s, t, name, c, vec(getattr(s, name)[c])))


@each_limited_axis
def put_axis(m, s, t, a):
    for name in ("la", "lb"):
        values = found(m, s, t, name, a, vec(getattr(s, name)[a]))
        for k in axis.used(s):  # pairs that take no part are not kept
            getattr(t, name)[a][k] = select(less(0.0, values[k]), values[k], 1.0)
    store(t.dry[a], found(m, s, t, "dry", a, vec(s.dry[a])))


@block
def hand_phase(m, s, t):
    """From the store of real numbers s to the dual one."""
    t.number = s.number


@block
def hand_unknowns(m, s, t):
    """Unknowns do not move with the inputs, as residuals are asked for."""
    hand_body(m, s, t)
    hand_joint(m, s, t)
    hand_contact(m, s, t)
    hand_slot(m, s, t)
    hand_axis(m, s, t)


@each_body
def hand_body(m, s, t, i):
    store(t.V[i], vec(s.V[i]))


@each_joint
def hand_joint(kind, m, s, t, i):
    store(t.wrench[i], vec(s.wrench[i]))


@each_ground_contact
def hand_contact(kind, m, s, t, c):
    store(t.ca[c], vec(s.ca[c]))
    store(t.cb[c], vec(s.cb[c]))


@each_slot
def hand_slot(m, s, t, c):
    store(t.touch_ca[c], vec(s.touch_ca[c]))
    store(t.touch_cb[c], vec(s.touch_cb[c]))


@each_limited_axis
def hand_axis(m, s, t, a):
    for k in axis.used(s):
        t.la[a][k], t.lb[a][k] = s.la[a][k] + 0.0, s.lb[a][k] + 0.0
    t.dry[a][0] = s.dry[a][0] + 0.0
