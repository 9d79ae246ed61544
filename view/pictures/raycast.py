"""The ray caster: row by row what is nearest, its shadow and its colour."""

import numpy as np

from vigym.engine.vectors import ahead, dot
from vigym.view.pictures import rows, shade
from vigym.view.pictures.arrays import (
    COLOR,
    CORE,
    EYE,
    FORWARD,
    KIND,
    LIGHT,
    NONE,
    NORMAL,
    OFFSET,
    PLANE,
    RIGHT,
    SKY,
    T1,
    T2,
    UP,
    WHOLE,
)
from vigym.view.pictures.compiled import entry, inlined
from vigym.view.pictures.rays import direction, form, key, shadow_on, surface, vector
from vigym.view.pictures.solids import FAR, larger


@inlined
def meet(solids, local, rect, k, y, up, light, turn, across, origin, limit, found):
    """`rows.enter` for every solid whose rectangle k holds a part of row y."""
    for j in range(solids.table.shape[0]):
        a, b = rect[j, k, 0], rect[j, k, 1]
        if rect[j, k, 2] <= y < rect[j, k, 3] and a < b:
            eye, right = vector(local, j, EYE), vector(local, j, RIGHT)
            start = ahead(vector(local, j, FORWARD), up, vector(local, j, UP))
            way = vector(local, j, LIGHT)
            rows.enter(
                solids.numbers[j, KIND], form(solids, j), eye, (light * way[0], light * way[1], light * way[2]), turn,
                start, right, across[a:b], j, origin[a:b], limit[a:b], found[a:b],
            )  # fmt: skip


@inlined
def trace_ground(view, planes, up, across, ground, below):
    """Depth and number of the ground in a row of pixels."""
    for i in range(across.shape[0]):
        ground[i], below[i] = FAR, SKY
    start = ahead(view.forward, up, view.up)
    for k in range(planes.shape[0]):
        n = vector(planes, k, NORMAL)
        under = dot(n, view.eye) - planes[k, OFFSET]
        if under > 0.0:
            rows.plane(under, n, start, view.right, across, PLANE - k, ground, below)


@inlined
def soften(solids, plan, k, plane, y, up, across, ground, below, free):
    """Soft shade on a plane in row y, from solids whose rectangle k holds a part of it."""
    local, rect = plan.local, plan.rectangles
    for j in range(solids.table.shape[0]):
        a, b = rect[j, k, 0], rect[j, k, 1]
        if rect[j, k, 2] <= y < rect[j, k, 3] and a < b:
            eye, right = vector(local, j, EYE), vector(local, j, RIGHT)
            start = ahead(vector(local, j, FORWARD), up, vector(local, j, UP))
            core, s = vector(solids.table, j, CORE), plan.softness[j]
            rows.occlude(core, s, eye, start, right, across[a:b], plane, ground[a:b], below[a:b], free[a:b])


@inlined
def color_ground(view, planes, look, k, up, across, depth, seen, caster, free, tone, far, colors):
    """Colour of plane k in a row."""
    t1, t2, n = vector(planes, k, T1), vector(planes, k, T2), vector(planes, k, NORMAL)
    rows.pattern(look, view, t1, t2, n, ahead(view.forward, up, view.up), across, depth, tone, far)
    facing, sky = larger(dot(n, view.light), 0.0), shade.ambient(look, n)
    for c in range(3):
        rows.ground(
            look.dark[c], look.bright[c], sky[c], look.sun[c] * facing, look.horizon[c],
            PLANE - k, tone, far, seen, caster, free, colors[c],
        )  # fmt: skip


@inlined
def color_solids(view, solids, look, plan, y, depth, seen, caster, keys, colors):
    """Shadows, colours and keys of the solids in row y."""
    for x in range(seen.shape[0]):
        j = seen[x]
        if j < 0:
            continue
        d, t = direction(view, x + 0.5, y + 0.5), depth[x]
        n, face = surface(solids, plan.local, j, t, d)
        p = ahead(view.eye, t, d)
        dark = shadow_on(view.light, solids, plan.local, plan.casters, plan.first[j], plan.first[j + 1], j, n, p)
        caster[x], keys[x] = dark, key(j, face, dark)
        lit = 1.0 if dark == NONE else 0.0
        r, g, b = shade.solid(look, view, vector(solids.table, j, COLOR), n, d, lit)
        colors[0, x], colors[1, x], colors[2, x] = r, g, b


@entry
def draw(image, depths, view, solids, planes, look, plan, work):
    """Fill image (height, width, 3) with bytes or, if it is empty, only depths (height, width).

    depths: m along the camera's axis; infinity for the sky.
    """
    height, width = work.key.shape
    across, zero, ground, depth, limit = work.rows[0], work.rows[1], work.rows[2], work.rows[3], work.rows[4]
    tone, colors = work.rows[5], work.rows[6:]
    seen, below = work.numbers[0], work.numbers[1]
    flat = image.reshape(image.shape[0], image.shape[1] * 3)
    rect, P = plan.rectangles, planes.shape[0]
    for i in range(width):
        across[i], zero[i] = (i + 0.5 - view.column) * view.pixel, 0.0
    for y in range(height):
        up = (view.row - y - 0.5) * view.pixel
        trace_ground(view, planes, up, across, ground, below)
        for i in range(width):
            depth[i], seen[i] = ground[i], below[i]
        meet(solids, plan.local, rect, WHOLE, y, up, 0.0, 1.0, across, zero, depth, seen)
        if image.shape[0] == 0:
            for x in range(width):
                depths[y, x] = depth[x] if depth[x] < FAR else np.inf
            continue
        keys, caster, free = work.key[y], work.shadow[y], work.free[y]
        rows.sky(look, ahead(view.forward, up, view.up), view.right, across, colors[0], colors[1], colors[2])
        for i in range(width):
            caster[i], free[i] = NONE, 1.0
        for k in range(P):
            for i in range(width):
                limit[i] = FAR if seen[i] == PLANE - k else 0.0
            meet(solids, plan.local, rect, 1 + k, y, up, 1.0, 0.0, across, depth, limit, caster)
            soften(solids, plan, 1 + P + k, PLANE - k, y, up, across, ground, below, free)
            color_ground(view, planes, look, k, up, across, depth, seen, caster, free, tone, limit, colors)
        for i in range(width):
            keys[i] = key(seen[i], WHOLE, caster[i])
        color_solids(view, solids, look, plan, y, depth, seen, caster, keys, colors)
        for c in range(3):
            rows.put(colors[c], work.bytes, c, flat[y])
