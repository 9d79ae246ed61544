"""Colours: sky, ground and solids. Linear, see arrays.py; directions d need not have length 1."""

import math

import numpy as np

from vigym.engine.vectors import dot
from vigym.view.pictures.compiled import inlined
from vigym.view.pictures.solids import larger, smaller

_ROUND = 1.5 * 2.0**52  # a number this large has no room for fractions: adding it rounds


@inlined
def mix(a, b, s):
    return a[0] + (b[0] - a[0]) * s, a[1] + (b[1] - a[1]) * s, a[2] + (b[2] - a[2]) * s


@inlined
def sky(look, d):
    """Fade from the horizon to the zenith, fast at first."""
    s = larger(d[2], 0.0) / math.sqrt(dot(d, d))
    return mix(look.horizon, look.zenith, s * (1.9 - 0.9 * s))


@inlined
def ramp(x):
    """Integral of the square wave that is 1 on [0, 1), -1 on [1, 2), and so on: twice the way to the nearest even x."""
    half = 0.5 * x
    return 2.0 * abs(half - ((half + _ROUND) - _ROUND))


@inlined
def checker(u, v, wu, wv):
    """Mean, -1 to 1, of a checkerboard with unit tiles over the rectangle of edges wu, wv around (u, v)."""
    hu, hv = 0.5 * wu, 0.5 * wv
    return (ramp(u + hu) - ramp(u - hu)) * (ramp(v + hv) - ramp(v - hv)) / (wu * wv)


@inlined
def pattern(look, view, t1, t2, n, t, d):
    """Tone of the tiles at eye + t d, 0 dark to 1 bright, and how much of it the distance takes.

    The tiles are averaged over the pixel: with t = h / (n . d), the point's coordinate along t1 changes by
    t (r . t1 - (n . r) (d . t1) / (n . d)) when d changes by r.
    """
    w = 1.0 / dot(n, d)
    scale = 1.0 / look.tile
    d1, d2, s = dot(d, t1), dot(d, t2), t * view.pixel * scale
    kx, ky = dot(n, view.right) * w, dot(n, view.up) * w
    wu = s * (abs(dot(view.right, t1) - kx * d1) + abs(dot(view.up, t1) - ky * d1)) + 1e-9
    wv = s * (abs(dot(view.right, t2) - kx * d2) + abs(dot(view.up, t2) - ky * d2)) + 1e-9
    tone = checker((dot(view.eye, t1) + t * d1) * scale, (dot(view.eye, t2) + t * d2) * scale, wu, wv)
    u = t * t * dot(d, d) / (look.fade * look.fade)
    return 0.5 + 0.5 * tone, u / (1.0 + u)


@inlined
def grounded(dark, bright, sky, sun, horizon, tone, far, lit, free):
    """One colour of a ground; lit: 1 in the sun, 0 in a shadow; free: share of the sky seen from there."""
    near = (dark + (bright - dark) * tone) * (sky * free + sun * lit)
    return near + (horizon - near) * far


@inlined
def ambient(look, n):
    """Light on a surface with normal n from all round."""
    return mix(look.bounce, look.sky, 0.5 + 0.5 * n[2])


@inlined
def solid(look, view, base, n, d, lit):
    """A surface of colour `base` with normal n: light from the sky and from below, the sun, and its reflection."""
    facing = dot(n, view.light)
    lit = lit if facing > 0.0 else 0.0
    amount = ambient(look, n)
    w = 1.0 / math.sqrt(dot(d, d))
    hx, hy, hz = view.light[0] - d[0] * w, view.light[1] - d[1] * w, view.light[2] - d[2] * w
    h = larger(n[0] * hx + n[1] * hy + n[2] * hz, 0.0) / math.sqrt(hx * hx + hy * hy + hz * hz)
    h = h * h
    h = h * h
    h = h * h
    h = h * h
    h = h * h
    glint = look.shine * h * lit
    grazing = 1.0 - smaller(abs(dot(n, d)) * w, 1.0)
    rim = grazing * grazing
    rim = 0.10 * rim * rim * (0.5 + 0.5 * n[2])
    facing = facing * lit
    r = base[0] * (amount[0] + look.sun[0] * facing) + glint + rim * look.horizon[0]
    g = base[1] * (amount[1] + look.sun[1] * facing) + glint + rim * look.horizon[1]
    b = base[2] * (amount[2] + look.sun[2] * facing) + glint + rim * look.horizon[2]
    return r, g, b


@inlined
def byte(value):
    """The number 0 to 255 that shows a linear value."""
    return np.int32(255.0 * math.sqrt(smaller(larger(value, 0.0), 1.0)) + 0.5)
