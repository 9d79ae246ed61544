"""Bars of joint coordinates and rates before a step, from those of the state (see pullback.py).

A state in joint coordinates is where a step at the joint rates ends: poses follow from the coordinates, and velocities
from these poses and those before, at the coordinates less h0 times the rates. Bars of both poses are gathered from the
leaves to the root; along each free axis they are the bars of its coordinate.
"""

from vigym.engine.kernels import integrator
from vigym.engine.kernels.joint import free, is_floating
from vigym.engine.kernels.ldu import at_anchor, effort_axes
from vigym.engine.kernels.linear import arms_before, axes_before
from vigym.engine.kernels.quaternion import add, cross, dot, mat, matvec, matvec_t, scale, store, vec
from vigym.engine.kernels.simd import block
from vigym.engine.kernels.sweep import each_body, each_tree_joint, leaf_to_root


@block
def joint_bars(m, s, t):
    """Bars of joint coordinates, of their rates, and of the states of bodies without a joint."""
    split(m, s, t)
    gather_bars(m, s, t)
    clear_origin(m, s, t)


@each_tree_joint
def split(kind, m, s, t, i):
    """Bars of the pose before the step (y_bar), and of the one from which the body came (origin_bar)."""
    if is_floating(kind):
        store(t.y_bar[i], [0.0] * 6)
        store(t.origin_bar[i], [0.0] * 6)
        return
    bar, h0, R = vec(t.before_bar[i]), s.h0, mat(t.R[i])
    lever = integrator.tangent(h0, matvec(R, vec(s.w[i]))).travel(matvec(mat(t.R_before[i]), bar[9:]))
    came = scale(1.0 / h0, bar[6:9] + lever)
    store(t.y_bar[i], add(bar[:3] + matvec(R, bar[3:6]), came))
    store(t.origin_bar[i], scale(-1.0, came))


@leaf_to_root
def gather_bars(kind, m, s, t, i):
    """Bars of the joint's coordinates, and what is left for the parent."""
    now, then = vec(t.y_bar[i]), vec(t.origin_bar[i])
    if is_floating(kind):
        both = add(now, then)
        speed = scale(-1.0 * s.h0, then[:3]) + matvec_t(mat(t.returns[i]), then[3:])
        turn = matvec_t(mat(t.R[i]), both[3:])
        store(t.root_bar[i], add(vec(t.before_bar[i]), both[:3] + turn + speed))
        return
    kt, kr, _ = free(kind)
    p, a = m.parent[i], m.first_axis[i]
    places = (
        (t.y_bar, effort_axes(kind, t, i), vec(t.rho0[i]), vec(t.arm0[i])),
        (t.origin_bar, axes_before(kind, m, t, i), *arms_before(m, t, i)),
    )
    found = []
    for field, axes, rho, arm in places:
        bar = at_anchor(vec(field[i]), rho)
        count = kt + (kr if kr < 3 else 0)
        found.append([dot(axes[k], bar[:3] if k < kt else bar[3:]) for k in range(count)])
        store(field[p], add(vec(field[p]), bar[:3] + add(bar[3:], cross(arm, bar[:3]))))
    for k, (by_now, by_then) in enumerate(zip(*found, strict=True)):
        t.position_bar[a + k][0], t.velocity_bar[a + k][0] = by_now + by_then, -1.0 * s.h0 * by_then


@each_body
def clear_origin(m, s, t, i):
    """Leave nothing for the next covector."""
    store(t.origin_bar[i], [0.0] * 6)
