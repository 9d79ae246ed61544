"""The pairs of contacts and of axes, handed to what pairs.py does with any pair."""

from vigym.engine.kernels import axis, cone, contact
from vigym.engine.kernels.pairs import advance, excess, keep, lifted, measure, note
from vigym.engine.kernels.quaternion import vec
from vigym.engine.kernels.sweep import each_contact, each_limited_axis


@each_limited_axis
def measure_axis(m, s, t, a):
    flags = axis.of_pairs(s, s.bounded[a])
    products = excess(m, measure(t, vec(t.la[a]), vec(t.lb[a]), flags), flags)
    note(t, t.norm, axis.errors(s, t, a, products, vec(t.lr[a])))


@each_contact
def update_contact(m, s, t, c):
    which = range(cone.of(m).PAIRS)
    advance(t, which, t.ca[c], t.cda[c])
    advance(t, which, t.cb[c], t.cdb[c])


@each_limited_axis
def update_axis(m, s, t, a):
    advance(t, axis.used(s), t.la[a], t.lda[a])
    advance(t, axis.used(s), t.lb[a], t.ldb[a])


@each_contact
def lift_contact(m, s, t, c):
    shape, flags = cone.of(m), cone.of(m).active(s.friction[c][0])
    new = shape.lifted(vec(t.ca[c]), vec(t.cb[c]), flags, contact.scales(m, t), t.lift[0][0])
    keep(t, range(shape.PAIRS), (t.ca[c], t.cb[c]), new)


@each_limited_axis
def lift_axis(m, s, t, a):
    new = lifted(vec(t.la[a]), vec(t.lb[a]), vec(s.bounded[a]), axis.scales(m, t, a), t.lift[0][0])
    keep(t, axis.used(s), (t.la[a], t.lb[a]), new)
