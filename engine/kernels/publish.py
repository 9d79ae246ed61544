"""Read-outs of contacts with the ground: what they tell of the state, and of the step that led to it."""

from vigym.engine.kernels import body, geometry, integrator
from vigym.engine.kernels.quaternion import add, cross, dot, mat, matrix, matvec, scale, store, sub, vec
from vigym.engine.kernels.simd import on, select, sqrt
from vigym.engine.kernels.sweep import each_ground_contact, each_touching_body


@each_touching_body
def publish_body(m, s, t, i):
    """Poses at both ends of the step that led here, and the velocity between them."""
    x, q, v, R = vec(s.x[i]), vec(s.q[i]), vec(s.v[i]), matrix(vec(s.q[i]))
    om = matvec(R, vec(s.w[i]))
    x0, q0 = integrator.advance(s.h0, (x, q), (scale(-1.0, v), scale(-1.0, om)))
    store(t.x[i], x0)
    store(t.R[i], matrix(q0))
    store(t.xn[i], x)
    store(t.Rn[i], R)
    store(t.V[i], v + om)


@each_ground_contact
def publish_contact(kind, m, s, t, c):
    """Gap and touching point at the state's pose; mean velocity of the touching point over the step that led there and
    its speed along the surface, as slip is measured; mean force of the last whole step."""
    i, shape = m.contact_body[c], geometry.of(kind)
    x, (v, om) = vec(t.xn[i]), body.velocity(t, i)
    before = shape.touch(m, s, c, vec(t.x[i]), mat(t.R[i]))
    here = shape.touch(m, s, c, x, mat(t.Rn[i]))
    way = scale(1.0 / s.h0, sub(here.core, before.core))
    velocity = add(add(v, way), cross(om, sub(before.arm, before.core)))
    _, t1, t2 = before.axes
    along, across = dot(t1, velocity), dot(t2, velocity)
    s.gap[c][0] = here.gap
    s.slip[c][0] = sqrt(along * along + across * across)
    store(s.contact_point[c], add(x, here.arm))
    store(s.contact_velocity[c], velocity)
    for k, value in enumerate(vec(s.impulse[c])):
        s.contact_force[c][k] = select(on(s.substeps), value / m.dt, 0.0)
