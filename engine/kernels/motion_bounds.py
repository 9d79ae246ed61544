"""Bounds of how far bodies may move, and have moved since their distances were last computed, for all lanes at once.

Distances of solids are kept (collision/watch.py): they cannot have become less by more than both bodies have moved
since. What a body moves is seen from the body that its part begins with (`watch_root`), so that a robot that walks
keeps the distances of its own links; and from the world, for what else it may meet.
"""

from vigym.engine.kernels.quaternion import add, conjugate, dot, mat, matvec_t, multiply, store, sub, vec
from vigym.engine.kernels.simd import block, less, maximum, minimum, on, select, sqrt
from vigym.engine.kernels.sweep import each_near_body

ASSUMED = 1.5  # times as far as its velocity takes it, a body is assumed to move in a step,
SLACK = 0.02  # and by so much of its size
FURTHER = 1.7  # times as far as both may move, and farther apart, solids have no features: more than 1 + 1/ASSUMED


def norm(v):
    """|v|"""
    return sqrt(dot(v, v))


def way(m, t, i):
    """Largest distance that the velocity of body i takes any point of its solids in the step, m."""
    V = vec(t.V[i])
    return t.h * (norm(V[:3]) + m.reach[i][0] * norm(V[3:]))


def shift(reach, x, q, x0, q0):
    """Bound of how far any point within `reach` of a body has moved from the pose x0, q0, m.

    A turn moves it by 2 reach sin(angle/2) <= 2 reach |q - q0|."""
    apart = minimum(norm(sub(q, q0)), norm(add(q, q0)))
    return norm(sub(x, x0)) + 2.0 * reach * apart


@block
def look_ahead(m, s, t):
    """Distance that each body is assumed to move in the step; and the lanes whose kept distances may miss bodies that
    meet (`stale`)."""
    if m.features.touches:
        world = m.n_bodies
        t.stale = 0.0
        t.assumed[world][0] = t.shifted[world][0] = t.shifted[world][1] = 0.0
        look_ahead_of(m, s, t)


@each_near_body
def look_ahead_of(m, s, t, i):
    reach, fall = m.reach[i][0], m.free_fall * t.h * t.h
    assumed = maximum(ASSUMED * way(m, t, i) + fall + SLACK * m.reach[i][1], t.farther[i][0])
    t.assumed[i][0] = assumed
    root, x, q = m.watch_root[i], vec(t.x[i]), list(vec(t.q[i]))
    place = matvec_t(mat(t.R[root]), sub(x, vec(t.x[root])))
    turn = list(multiply(conjugate(vec(t.q[root])), q))
    store(t.seen_x[i], place)
    store(t.seen_q[i], turn)
    within = shift(reach, place, turn, vec(s.near_x[i]), list(vec(s.near_q[i])))
    across = shift(reach, x, q, vec(s.far_x[i]), list(vec(s.far_q[i])))
    store(t.shifted[i], [within, across])
    for k, moved in enumerate((within, across)):
        stale = less(0.5, m.watched[i][k]) & (~less(FURTHER * assumed + moved, s.margin[i][0]))
        t.stale = select(stale, 1.0, t.stale)


@block
def look_behind(m, s, t):
    """The lanes in which a body went farther than was assumed (`gone`), and how far; of those that were solved."""
    if m.features.touches:
        t.gone = 0.0
        look_behind_of(m, s, t)


@each_near_body
def look_behind_of(m, s, t, i):
    far, assumed = way(m, t, i), t.assumed[i][0] + 0.0
    gone = on(t.good) & less(assumed, far) & less(0.0, m.reach[i][1])
    t.gone = select(gone, 1.0, t.gone)
    t.assumed[i][0] = select(gone, far, assumed)
    t.farther[i][0] = select(gone, 2.0 * far, t.farther[i][0])
