"""The pairs of contacts and of axes, handed to what pairs.py does with any pair."""

from vigym.engine.kernels import axis, cone, contact
from vigym.engine.kernels.pairs import advanced, excess, keep, measure, note, predict
from vigym.engine.kernels.quaternion import vec
from vigym.engine.kernels.sweep import each_contact, each_limited_axis


def _contact(m, s, t, c):
    return vec(t.ca[c]), vec(t.cb[c]), vec(t.cda[c]), vec(t.cdb[c]), cone.of(m).active(s.friction[c][0])


def _axis(s, t, a):
    return vec(t.la[a]), vec(t.lb[a]), vec(t.lda[a]), vec(t.ldb[a]), vec(s.bounded[a])


@each_limited_axis
def measure_axis(m, s, t, a):
    x, y, _, _, flags = _axis(s, t, a)
    products = excess(m, measure(t, x, y, flags), flags)
    note(t, t.norm, axis.errors(t, a, products, vec(t.lr[a])))


@each_contact
def predict_contact(m, s, t, c):
    cone.of(m).predict(t, *_contact(m, s, t, c))


@each_limited_axis
def predict_axis(m, s, t, a):
    predict(t, *_axis(s, t, a))


@each_contact
def update_contact(m, s, t, c):
    numbers = _contact(m, s, t, c)
    keep(t, t.ca[c], t.cb[c], *numbers[:2], cone.of(m).advanced(t, *numbers, contact.scales(m, t)))


@each_limited_axis
def update_axis(m, s, t, a):
    numbers = _axis(s, t, a)
    keep(t, t.la[a], t.lb[a], *numbers[:2], advanced(t, *numbers, axis.scales(m, t, a)))
