"""The pairs of contacts and of axes, handed to what pairs.py does with any pair."""

from vigym.engine.kernels import axis, cone, contact
from vigym.engine.kernels.pairs import advance, excess, keep, lifted, measure, note
from vigym.engine.kernels.quaternion import vec
from vigym.engine.kernels.sweep import each_contact, each_limited_axis


@each_limited_axis
def measure_axis(m, s, t, a):
    flags = vec(s.bounded[a])
    products = excess(m, measure(t, vec(t.la[a]), vec(t.lb[a]), flags), flags)
    note(t, t.norm, axis.errors(t, a, products, vec(t.lr[a])))


@each_contact
def update_contact(m, s, t, c):
    advance(t, t.ca[c], t.cda[c])
    advance(t, t.cb[c], t.cdb[c])


@each_limited_axis
def update_axis(m, s, t, a):
    advance(t, t.la[a], t.lda[a])
    advance(t, t.lb[a], t.ldb[a])


@each_contact
def lift_contact(m, s, t, c):
    flags = cone.of(m).active(s.friction[c][0])
    numbers = vec(t.ca[c]), vec(t.cb[c]), flags, contact.scales(m, t), t.lift[0][0]
    keep(t, t.ca[c], t.cb[c], cone.of(m).lifted(*numbers))


@each_limited_axis
def lift_axis(m, s, t, a):
    numbers = vec(t.la[a]), vec(t.lb[a]), vec(s.bounded[a]), axis.scales(m, t, a), t.lift[0][0]
    keep(t, t.la[a], t.lb[a], lifted(*numbers))
