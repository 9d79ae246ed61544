"""Predictor-corrector interior point on the whole step (paper: eq. ip_system; DESIGN: interior point).

    residual   at V, wrench, pairs; converged when all of it, with mu = 0, is small
    factorise  contacts and axis laws condensed, then the tree, leaf to root
    affine     direction towards a b = 0, and how far it gets: sigma = (mu_affine / mu)^3
    corrector  targets sigma mu - da db; the same factors
    step       as far as 0.995 of the way to the first pair that would vanish

A lane that has converged is masked: its numbers stay as they are while its neighbours go on.
"""

from vigym.engine.kernels import axis, contact, integrator, joint, ldu, pairs
from vigym.engine.kernels.quaternion import store, vec
from vigym.engine.kernels.simd import absolute, any_lane, block, by_kind, kernel, less, maximum, on, select

BOUNDARY = 0.995


@kernel
def solve(m, s, t):
    """Newton iterations until every lane has converged or given up."""
    start(m, s, t)
    for _ in range(m.limit[0]):
        residual(m, s, t)
        check(m, s, t)
        if not any_lane(t, "live"):
            break
        factorize(m, s, t)
        back(m, s, t)
        correct(m, s, t)
        full_step(m, s, t)
        step_length_contacts(m, s, t)
        step_length_axes(m, s, t)
        shorten(m, s, t)
        update(m, s, t)


@kernel
def start(m, s, t):
    """Quantities of the current pose and the first guess."""
    for i in range(m.size[0]):
        integrator.prepare_body(m, s, t, i)
        joint.start_joint(m, s, t, i)
    for i in range(m.size[0]):
        joint.prepare_joint(m.kind[i], m, s, t, i)
    start_contacts(m, s, t)
    start_axes(m, s, t)


@kernel(feature="contacts")
def start_contacts(m, s, t):
    for c in range(m.size[1]):
        contact.prepare_contact(m, s, t, c)


@kernel(feature="limits")
def start_axes(m, s, t):
    for a in range(m.size[2]):
        axis.start_axis(m, s, t, a)


@kernel
def residual(m, s, t):
    """All residuals at the current guess, and their norms."""
    clear_norm(m, s, t)
    for i in range(m.size[0]):
        integrator.move_body(m, s, t, i)
    for i in range(m.size[0]):
        joint.move_joint(m.kind[i], m, s, t, i)
    move_contacts(m, s, t)
    measure_axes(m, s, t)
    for i in range(m.size[0]):
        measure_body(m, s, t, i)
        measure_joint(m.kind[i], m, s, t, i)


@kernel(feature="contacts")
def move_contacts(m, s, t):
    for c in range(m.size[1]):
        contact.move_contact(m, s, t, c)
        pairs.measure_contact(m, s, t, c)


@kernel(feature="limits")
def measure_axes(m, s, t):
    for a in range(m.size[2]):
        pairs.measure_axis(m, s, t, a)


@kernel
def factorize(m, s, t):
    """Condense contacts and axes, then eliminate leaf to root."""
    condense_contacts(m, s, t)
    condense_axes(m, s, t)
    for k in range(m.size[0] - 1, -1, -1):
        i = m.order[k]
        ldu.eliminate(m.kind[i], m, s, t, i)


@kernel(feature="contacts")
def condense_contacts(m, s, t):
    for c in range(m.size[1]):
        contact.condense_contact(m, s, t, c)


@kernel(feature="limits")
def condense_axes(m, s, t):
    for a in range(m.size[2]):
        axis.condense_axis(m, s, t, a)


@kernel
def back(m, s, t):
    """Motion of every body, root to leaf."""
    for k in range(m.size[0]):
        i = m.order[k]
        ldu.substitute(m.kind[i], m, s, t, i)


@kernel(feature="pairs")
def correct(m, s, t):
    """Affine step, then the corrector."""
    clear_sums(m, s, t)
    affine_contacts(m, s, t)
    affine_axes(m, s, t)
    affine_length(m, s, t)
    predict_contacts(m, s, t)
    predict_axes(m, s, t)
    choose_center(m, s, t)
    for i in range(m.size[0]):
        clear_residual(m, s, t, i)
    correct_contacts(m, s, t)
    correct_axes(m, s, t)
    for k in range(m.size[0] - 1, -1, -1):
        i = m.order[k]
        ldu.eliminate_again(m.kind[i], m, s, t, i)
    back(m, s, t)


@kernel(feature="contacts")
def affine_contacts(m, s, t):
    for c in range(m.size[1]):
        contact.affine_contact(m, s, t, c)
        pairs.reach_contact(m, s, t, c)


@kernel(feature="limits")
def affine_axes(m, s, t):
    for a in range(m.size[2]):
        axis.affine_axis(m, s, t, a)
        pairs.reach_axis(m, s, t, a)


@kernel(feature="contacts")
def predict_contacts(m, s, t):
    for c in range(m.size[1]):
        pairs.predict_contact(m, s, t, c)


@kernel(feature="limits")
def predict_axes(m, s, t):
    for a in range(m.size[2]):
        pairs.predict_axis(m, s, t, a)


@kernel(feature="contacts")
def correct_contacts(m, s, t):
    for c in range(m.size[1]):
        contact.correct_contact(m, s, t, c)


@kernel(feature="limits")
def correct_axes(m, s, t):
    for a in range(m.size[2]):
        axis.correct_axis(m, s, t, a)


@kernel(feature="contacts")
def step_length_contacts(m, s, t):
    for c in range(m.size[1]):
        contact.direct_contact(m, s, t, c)
        pairs.reach_contact(m, s, t, c)


@kernel(feature="limits")
def step_length_axes(m, s, t):
    for a in range(m.size[2]):
        axis.direct_axis(m, s, t, a)
        pairs.reach_axis(m, s, t, a)


@kernel
def shorten(m, s, t):
    """The step length alpha."""
    final_length(m, s, t)
    for i in range(m.size[0]):
        integrator.limit_spin(m, s, t, i)


@kernel
def update(m, s, t):
    for i in range(m.size[0]):
        joint.update_joint(m.kind[i], m, s, t, i)
    for i in range(m.size[0]):
        integrator.update_body(m, s, t, i)
    update_contacts(m, s, t)
    update_axes(m, s, t)


@kernel(feature="contacts")
def update_contacts(m, s, t):
    for c in range(m.size[1]):
        pairs.update_contact(m, s, t, c)


@kernel(feature="limits")
def update_axes(m, s, t):
    for a in range(m.size[2]):
        pairs.update_axis(m, s, t, a)


@block
def clear_norm(m, s, t):
    for field in (t.norm, t.geometry, t.total, t.count):
        field[0][0] = 0.0
    for k in range(6):
        t.r[m.size[0]][k] = 0.0  # what joints to the world push against


@block
def measure_body(m, s, t, i):
    """Largest residual force and torque."""
    norm = t.norm[0][0]
    for value in vec(t.r[i]):
        norm = maximum(absolute(value), norm)
    t.norm[0][0] = norm


@by_kind
def measure_joint(kind, m, s, t, i):
    """Largest error of the joint (as the motion that removes it) and of the efforts on its free axes."""
    if joint.is_floating(kind):
        return
    kt, kr, _ = joint.free(kind)
    geometry, norm = t.geometry[0][0], t.norm[0][0]
    for value in vec(t.delta[i]):
        geometry = maximum(absolute(value), geometry)
    for k in range(kt + kr):
        norm = maximum(absolute(t.rN[i][k]), norm)
    t.geometry[0][0] = geometry
    t.norm[0][0] = norm


@block
def check(m, s, t):
    """Which lanes have converged (good), and which still iterate (live); a lane whose numbers blew up does neither."""
    live, norm = on(t.live[0][0]), maximum(t.geometry[0][0], t.norm[0][0])
    done = live & less(t.norm[0][0], m.option[0][1]) & less(t.geometry[0][0], m.option[0][3])
    finite = less(t.norm[0][0] + t.geometry[0][0], 1e100)
    t.good[0][0] = select(done, 1.0, t.good[0][0])
    t.residual[0][0] = select(live, norm, t.residual[0][0])
    live = live & (~done) & finite
    t.live[0][0] = select(live, 1.0, 0.0)
    t.iterations[0][0] = select(live, t.iterations[0][0] + 1.0, t.iterations[0][0])
    t.mu[0][0] = t.total[0][0] / maximum(t.count[0][0], 1.0)


@block
def clear_sums(m, s, t):
    t.ratio[0][0] = 0.0
    t.total[0][0] = 0.0


@block
def full_step(m, s, t):
    t.ratio[0][0] = 0.0


@block
def affine_length(m, s, t):
    t.alpha[0][0] = 1.0 / maximum(t.ratio[0][0], 1.0)


@block
def choose_center(m, s, t):
    """center = sigma mu, sigma = (mu_affine / mu)^3."""
    mu = t.mu[0][0]
    sigma = t.total[0][0] / maximum(t.count[0][0], 1.0) / maximum(mu, 1e-300)
    t.center[0][0] = sigma * sigma * sigma * mu


@block
def clear_residual(m, s, t, i):
    store(t.r[i], [0.0] * 6)


@block
def final_length(m, s, t):
    t.alpha[0][0] = BOUNDARY / maximum(t.ratio[0][0], BOUNDARY)
