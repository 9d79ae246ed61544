"""Smooth edges: the pixels beside which something else is seen, or a shadow ends, are drawn again, point by point."""

from vigym.engine.vectors import ahead, dot
from vigym.view.pictures import rows, shade
from vigym.view.pictures.arrays import COLOR, EYE, KIND, NONE, NORMAL, OFFSET, PLANE, SKY, T1, T2, WHOLE
from vigym.view.pictures.compiled import entry, inlined
from vigym.view.pictures.rays import direction, form, into, key, number, shadow_on, surface, vector
from vigym.view.pictures.solids import FAR, enter, larger, smaller


@inlined
def place(found, n, j):
    """The place of j among the n numbers found so far, or else n, where it is put now."""
    for i in range(n):
        if found[i] == j:
            return i
    found[n] = j
    return n


@inlined
def nearest(view, solids, planes, local, candidates, n, d):
    """Return what is seen along d, of all planes and n solids: its t and its number."""
    t, seen = FAR, SKY
    for k in range(planes.shape[0]):
        up = vector(planes, k, NORMAL)
        under, rate = dot(up, view.eye) - planes[k, OFFSET], dot(up, d)
        if under > 0.0 and rate < 0.0 and -under / rate < t:
            t, seen = -under / rate, PLANE - k
    for i in range(n):
        j = candidates[i]
        s = enter(solids.numbers[j, KIND], form(solids, j), vector(local, j, EYE), into(solids.table, j, d))
        if s < t:
            t, seen = s, j
    return t, seen


@inlined
def color_of(view, solids, planes, look, seen, t, d, n, lit, free):
    """Colour of what is seen at eye + t d, where its normal is n."""
    if seen == SKY:
        return shade.sky(look, d)
    if seen >= 0:
        return shade.solid(look, view, vector(solids.table, seen, COLOR), n, d, lit)
    t1, t2 = vector(planes, PLANE - seen, T1), vector(planes, PLANE - seen, T2)
    tone, far = shade.pattern(look, view, t1, t2, n, t, d)
    sky, lit = shade.ambient(look, n), lit * larger(dot(n, view.light), 0.0)
    return (
        shade.grounded(look.dark[0], look.bright[0], sky[0], look.sun[0], look.horizon[0], tone, far, lit, free),
        shade.grounded(look.dark[1], look.bright[1], sky[1], look.sun[1], look.horizon[1], tone, far, lit, free),
        shade.grounded(look.dark[2], look.bright[2], sky[2], look.sun[2], look.horizon[2], tone, far, lit, free),
    )


@entry
def smooth(image, view, solids, planes, look, local, offsets, work):
    """Every pixel at an edge as the mean over several points in it; offsets (n, 2) from its upper left corner.

    In these points only the solids are looked for that are seen in the pixel or one of the eight around it, and only
    the shadows that are seen there. Points that see the same face, both in the sun or both not, have one colour.
    """
    keys, flags, colors = work.key, work.numbers[0], work.colors
    candidates, casters, known = work.near[0], work.near[1], work.near[2]
    height, width = keys.shape
    w = 1.0 / offsets.shape[0]
    for y in range(height):
        rows.edges(keys[larger(y - 1, 0)], keys[y], keys[smaller(y + 1, height - 1)], flags)
        for x in range(width):
            if flags[x] == 0:
                continue
            n = m = WHOLE
            for v in range(larger(y - 1, 0), smaller(y + 2, height)):
                for u in range(larger(x - 1, 0), smaller(x + 2, width)):
                    if keys[v, u] >= 0:
                        n = larger(n, place(candidates, n, number(keys[v, u])) + 1)
                    if work.shadow[v, u] >= 0:
                        m = larger(m, place(casters, m, work.shadow[v, u]) + 1)
            r = g = b = 0.0
            count = WHOLE
            for i in range(offsets.shape[0]):
                d = direction(view, x + offsets[i, 0], y + offsets[i, 1])
                t, seen = nearest(view, solids, planes, local, candidates, n, d)
                face, up = WHOLE, (0.0, 0.0, 1.0)
                if seen >= 0:
                    up, face = surface(solids, local, seen, t, d)
                elif seen != SKY:
                    up = vector(planes, PLANE - seen, NORMAL)
                caster = NONE
                if seen != SKY and m > 0:
                    p = ahead(view.eye, t, d)
                    caster = shadow_on(view.light, solids, local, casters, WHOLE, m, seen, up, p)
                slot = place(known, count, key(seen, face, caster))
                if slot == count:
                    count += 1
                    lit = 1.0 if caster == NONE else 0.0
                    c = color_of(view, solids, planes, look, seen, t, d, up, lit, work.free[y, x])
                    colors[slot, 0], colors[slot, 1], colors[slot, 2] = c
                r += colors[slot, 0]
                g += colors[slot, 1]
                b += colors[slot, 2]
            image[y, x, 0], image[y, x, 1], image[y, x, 2] = shade.byte(w * r), shade.byte(w * g), shade.byte(w * b)
