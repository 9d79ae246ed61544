"""Points at which the forces of joints act when a step is long.

A joint's force acts at its anchor, where that is at the beginning of a step. This is what makes the scheme variational,
and as in every scheme of this kind it only goes well as long as a step is short beside two things:

- Pull. A body that joints pull at from both sides, such as a link of a chain that carries a load, swings across the
  pull. The step must be less than two over the frequency, or the chain shakes itself to pieces.
- Work. Joints do none. In a step they do a little, of third order in the step, to and fro. When a whip cracks, its last
  links turn so fast that it is no longer little, nor to and fro, and the energy of the whip grows.

A step that would violate one of them is solved again with arms that are `even`: the force acts at a mean of the
anchor's places at three poses, the last one, this one and the next,

    now + even/2 (forth - back),   forth and back: the ways of the anchor to the next pose, and from the last one.

With even = 1/2, these are 1/4, 1/2 and 1/4 of the places, which is stable at any pull. All work that joints have done
is kept (`owed`, J). Once that is more than a small part of the energy, `even` is chosen such that this step undoes it,
by the secant method; so it never is much. The ground takes and gives energy in ways of its own: where it pushes,
nothing is owed.

The arm of a body is taken to its own anchor, from where its centre of mass is now. At the solution both anchors are
one, so that forces are opposite and act at the same point: momentum and angular momentum are exact as ever. Time can be
reversed, too, but there is no variational principle behind even arms, so they are kept for where they are needed.
"""

from vigym.engine.kernels import contact, integrator
from vigym.engine.kernels.body import kinetic, symmetric, velocity
from vigym.engine.kernels.joint import free, is_floating
from vigym.engine.kernels.quaternion import add, cross, dot, mat, matrix, matvec, scale, store, sub, vec
from vigym.engine.kernels.simd import absolute, block, less, maximum, minimum, on, select
from vigym.engine.kernels.small import identity
from vigym.engine.kernels.sweep import each_body, each_contact, each_joint

EVEN = 0.5
LEAST_EVEN, MOST_EVEN = 0.01, 1.5
MOST_TAUT = 2.5  # square of frequency times step
MOST_WORK, LITTLE_WORK = 0.03, 0.001  # of the energy, that leads to even arms, and that is left by them
ROUNDS = 8.0  # to find arms that undo work


@each_body
def look_back(m, s, t, i):
    """The pose from which the body came."""
    back = scale(-1.0, vec(s.v[i])), scale(-1.0, matvec(mat(t.R[i]), vec(s.w[i])))
    x, q = integrator.advance(s.h0, (vec(t.x[i]), vec(t.q[i])), back)
    store(t.x_before[i], x)
    store(t.R_before[i], matrix(q))


@each_joint
def even_joint(kind, m, s, t, i):
    """Even out both arms in the lanes that ask for it; those of a sliding joint remain as they are."""
    kt, _, _ = free(kind)
    if is_floating(kind) or kt:
        return
    force = vec(t.wrench[i])[:3]
    even_arm(s, t, m.child[i], vec(m.child_anchor[i]), scale(-1.0, force), t.rho0[i])
    even_arm(s, t, m.parent[i], vec(m.parent_anchor[i]), force, t.arm0[i])


def even_arm(s, t, b, anchor, force, arm):
    """Even out one arm: in the residual of body b, which `force` is part of, and in the derivative of that."""
    even, old = less(0.0, t.even), vec(arm)
    now, reach = matvec(mat(t.R[b]), anchor), matvec(mat(t.Rn[b]), anchor)
    place, half = add(vec(t.x[b]), now), 0.5 * t.even
    forth = sub(add(vec(t.xn[b]), reach), place)
    back = sub(place, add(vec(t.x_before[b]), matvec(mat(t.R_before[b]), anchor)))
    mean = add(now, scale(half, sub(forth, scale(t.h / s.h0, back))))
    mean = [select(even, a, b) for a, b in zip(mean, old, strict=True)]
    store(arm, mean)
    store(t.r[b], add(vec(t.r[b]), [0.0] * 3 + cross(sub(mean, old), force)))
    pull = scale(half, force)
    along, across = dot(pull, reach), [cross(pull, unit) for unit in identity(3)]
    for j in range(3):
        for k in range(3):
            t.D[b][3 + j, k] = t.D[b][3 + j, k] - across[k][j]
            t.D[b][3 + j, 3 + k] = t.D[b][3 + j, 3 + k] + (reach[j] * pull[k] - (along if j == k else 0.0))


@each_body
def move_by_mean(m, s, t, i):
    """Motion of the body by forces: with the mean of the velocities before and after, m and rad. And the energy to
    which work is compared: kinetic, and that of its own size of height."""
    mass, J = s.mass[i][0], symmetric(vec(t.J[i]))
    v0, om0 = vec(s.v[i]), matvec(mat(t.R[i]), vec(s.w[i]))
    v, om = velocity(t, i)
    height = m.free_fall * t.size[i][0]
    store(t.moved[i], scale(0.5 * t.h, add(v0 + om0, v + om)))
    t.energy_scale = t.energy_scale + kinetic(mass, J, v, om) + mass * height


@each_joint
def pull_joint(kind, m, s, t, i):
    """Stiffness by which the force turns both bodies back, N m/rad: force along the arm that it pulls at."""
    if is_floating(kind):
        return
    c, p, force = m.child[i], m.parent[i], vec(t.wrench[i])[:3]
    t.pull[c][0] = t.pull[c][0] + dot(force, vec(t.rho[i]))
    t.pull[p][0] = t.pull[p][0] - dot(force, vec(t.arm[i]))


@each_joint
def work_joint(kind, m, s, t, i):
    """Add the work of the force; sliding joints may do some."""
    if is_floating(kind) or free(kind)[0]:
        return
    moved, base, force = vec(t.moved[m.child[i]]), vec(t.moved[m.parent[i]]), vec(t.wrench[i])[:3]
    child, parent = cross(moved[3:], vec(t.rho0[i])), cross(base[3:], vec(t.arm0[i]))
    t.work = t.work + dot(force, sub(add(moved[:3], child), add(base[:3], parent)))


@each_body
def pull_body(m, s, t, i):
    """Note where joints pull too hard for the length of the step; `pull` is left at zero for the next one."""
    size, stiffness = t.size[i][0], t.pull[i][0] * (t.h * t.h)
    t.taut = select(less((0.5 * MOST_TAUT) * (s.mass[i][0] * size * size), stiffness), 1.0, t.taut)
    t.pull[i][0] = 0.0


@each_contact
def push_contact(kind, m, s, t, c):
    """Note where the ground pushes."""
    t.pushed = select(contact.pressed(m, s, t, c, vec(t.ca[c]), vec(t.cb[c])), 1.0, t.pushed)


@block
def choose_weighed(m, s, t):
    """The lanes that owe work: not where the ground pushes. Impacts (impact.py) ask how far all bodies moved."""
    weighed = on(t.good) & (~on(t.pushed)) & less(0.0, fallback(m))
    t.weighed = 1.0 if m.features.bounce else select(weighed, 1.0, 0.0)


def fallback(m):
    """Evenness of arms that are not plain: none where loops close. Bodies of a frame pull at each other by
    forces that nothing determines, and with even arms the motion would depend on these."""
    return 0.0 if m.features.loops else EVEN


@block
def judge_arms(m, s, t):
    """Refuse what must be solved again with other arms (`uneven`), and choose these."""
    judged = on(t.good) & less(0.0, fallback(m))
    if m.features.contacts:
        judged = judged & (~on(t.relax))
    if m.features.bounce:
        judged = judged & less(t.phase, 0.5)
    owed = select(on(t.pushed), 0.0, s.owed + t.work)
    allowed = select(less(0.5, t.round), LITTLE_WORK, MOST_WORK)
    wrong = judged & less(allowed * t.energy_scale, absolute(owed))
    even, taut = t.even, judged & on(t.taut)
    change, way = owed - t.owed, even - t.even_before
    flat = less(absolute(change), 1e-6 * absolute(owed))
    zero = even - owed * way / select(flat, 1.0, change)
    secant = minimum(maximum(zero, select(taut, EVEN, LEAST_EVEN)), MOST_EVEN)
    t.next = select(less(0.0, even), secant, EVEN)
    uneven = (wrong | (taut & less(even, 0.9 * EVEN))) & less(t.round, ROUNDS - 0.5)
    uneven = uneven & less(1e-3, absolute(t.next - even))
    t.even_before, t.owed = even, owed
    t.uneven = select(uneven, 1.0, 0.0)
    # what no arms undo is cut in two, once: each further change of the step's length would do work of its own
    much = less(MOST_WORK * t.energy_scale, absolute(owed) - absolute(s.owed))
    t.good = select(uneven | (judged & much & less(contact.TICKS - 0.5, t.stride)), 0.0, t.good)
