"""One row of pixels, one solid or plane: loops that LLVM turns into SIMD code.

It does so only for loops of few arrays (it has to make sure, at run time, that none overlaps one that is written).

Pixel i is seen along d = start + across[i] right. `depth`, `ground` are the t of what is nearest and of the ground,
`seen`, `below` their numbers (see `Buffers.key`; solids without face). Frames are those of the solid or the world.
"""

from vigym.engine.vectors import ahead, dot
from vigym.view.pictures import shade
from vigym.view.pictures.compiled import called, inlined
from vigym.view.pictures.solids import (
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    HULL,
    SPHERE,
    box,
    capsule,
    cone,
    cylinder,
    hull,
    larger,
    mesh,
    smaller,
    sphere,
)

SOFT = 3.0  # reach of `occlude`, in s


@inlined
def sky(look, start, right, across, red, green, blue):
    for i in range(across.shape[0]):
        red[i], green[i], blue[i] = shade.sky(look, ahead(start, across[i], right))


@inlined
def plane(height, n, start, right, across, number, ground, below):
    """Mark where the plane, `height` under the eye, is the nearest so far."""
    fall, step = dot(n, start), dot(n, right)
    for i in range(across.shape[0]):
        rate = fall + across[i] * step
        t = -height / (rate if rate < 0.0 else -1e-30)
        near = (rate < 0.0) & (t < ground[i])
        ground[i] = t if near else ground[i]
        below[i] = number if near else below[i]


@inlined
def pattern(look, view, t1, t2, n, start, across, depth, tone, far):
    """Tiles of a plane, and the share that the distance takes; numbers without meaning where it is not seen."""
    for i in range(across.shape[0]):
        tone[i], far[i] = shade.pattern(look, view, t1, t2, n, depth[i], ahead(start, across[i], view.right))


@inlined
def ground(dark, bright, sky, sun, horizon, number, tone, far, seen, caster, free, color):
    """One colour of a plane, where it is seen."""
    for i in range(color.shape[0]):
        lit = 1.0 if caster[i] < 0 else 0.0
        value = shade.grounded(dark, bright, sky, sun, horizon, tone[i], far[i], lit, free[i])
        color[i] = value if seen[i] == number else color[i]


@called
def _enter(solid, form, o, light, turn, start, right, across, number, origin, limit, found):
    for i in range(across.shape[0]):
        d, t0 = ahead(start, across[i], right), origin[i]
        t = solid(form, ahead(o, t0, d), (turn * d[0] + light[0], turn * d[1] + light[1], turn * d[2] + light[2]))
        near = t < limit[i]
        limit[i] = t if near else limit[i]
        found[i] = number if near else found[i]


@inlined
def enter(kind, form, o, light, turn, start, right, across, number, origin, limit, found):
    """Mask of rays that meet a solid before `limit`: they start at o + origin[i] d in the direction turn d + light.

    Rays from the eye have origin 0, turn 1, light 0; those from the ground to the sun, turn 0.
    """
    if kind == SPHERE:
        _enter(sphere, form, o, light, turn, start, right, across, number, origin, limit, found)
    elif kind == CAPSULE:
        _enter(capsule, form, o, light, turn, start, right, across, number, origin, limit, found)
    elif kind == CYLINDER:
        _enter(cylinder, form, o, light, turn, start, right, across, number, origin, limit, found)
    elif kind == BOX:
        _enter(box, form, o, light, turn, start, right, across, number, origin, limit, found)
    elif kind == CONE:
        _enter(cone, form, o, light, turn, start, right, across, number, origin, limit, found)
    elif kind == HULL:
        _enter(hull, form, o, light, turn, start, right, across, number, origin, limit, found)
    else:
        _enter(mesh, form, o, light, turn, start, right, across, number, origin, limit, found)


@inlined
def occlude(core, radius, o, start, right, across, plane, ground, below, free):
    """Soft shade where the ground is close to a solid, down to half of the light of the sky.

    With w = s^2 / (s^2 + distance^2) it takes (w - 1/10)^2 / 2, nothing from a distance of 3 s on (`SOFT`).
    """
    ss = radius * radius
    for i in range(across.shape[0]):
        d, t = ahead(start, across[i], right), ground[i]
        x = larger(abs(o[0] + t * d[0]) - core[0], 0.0)
        y = larger(abs(o[1] + t * d[1]) - core[1], 0.0)
        z = larger(abs(o[2] + t * d[2]) - core[2], 0.0)
        w = larger(ss / (ss + x * x + y * y + z * z) - 0.1, 0.0)
        free[i] = free[i] * (1.0 - 0.5 * w * w) if below[i] == plane else free[i]


@inlined
def put(color, values, c, image):
    """One colour c of a row (3 width,) of a picture; `values` (width,) in between, so that the roots are SIMD code."""
    for i in range(color.shape[0]):
        values[i] = shade.byte(color[i])
    for i in range(color.shape[0]):
        image[3 * i + c] = values[i]


@inlined
def edges(above, here, below, flags):
    """flags[i] = 1 where pixel i differs from one of its four neighbours; rows of keys, one above the other."""
    last = here.shape[0] - 1
    flags[0] = (here[0] != above[0]) | (here[0] != below[0]) | (here[0] != here[smaller(1, last)])
    flags[last] = (here[last] != above[last]) | (here[last] != below[last]) | (here[last] != here[larger(last - 1, 0)])
    left, middle, right, inner = here[: last - 1], here[1:last], here[2:], flags[1:last]
    up, down = above[1:last], below[1:last]
    for i in range(middle.shape[0]):
        k = middle[i]
        inner[i] = (left[i] != k) | (right[i] != k) | (up[i] != k) | (down[i] != k)
