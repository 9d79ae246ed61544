"""A kind of contact that only tests have: a point or sphere of a body on a fixed ball.

    gap = |x + R point - centre| - radius - ball

`Mechanism.add_contact` does not know it: `on_ball` puts it into a mechanism, and `install` puts its row into the table.
"""

from dataclasses import dataclass, fields

import numpy as np

from vigym import Mechanism
from vigym.engine.contact import Contact, make_contact
from vigym.engine.kernels import geometry
from vigym.engine.kernels.geometry import Touch
from vigym.engine.kernels.quaternion import add, cross, dot, matvec, scale, sub, vec
from vigym.engine.kernels.simd import less, select, sqrt

FIELDS = {"point": (3,), "radius": (1,), "centre": (3,), "ball": (1,)}
fixed_axes = None


@dataclass(frozen=True, eq=False)
class OnBall(Contact):
    """A contact whose ground is a ball: `centre` (3,), world, m, and its radius `ball`, m."""

    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ball: float = 1.0
    kind = "ball"


def describe(contact):
    return {name: getattr(contact, name) for name in FIELDS}


def touch(m, s, c, x, R):
    core = matvec(R, vec(m.point[c]))
    away = sub(add(x, core), vec(m.centre[c]))
    distance = sqrt(dot(away, away))
    n = scale(1.0 / distance, away)
    # a tangent that does not vanish near where it is needed: along y, or along x close to the poles of y
    pole = less(0.81, n[1] * n[1])
    aside = [select(pole, 1.0, 0.0), select(pole, 0.0, 1.0), 0.0]
    t1 = sub(aside, scale(dot(aside, n), n))
    t1 = scale(1.0 / sqrt(dot(t1, t1)), t1)
    return Touch(distance - (m.radius[c][0] + m.ball[c][0]), [n, t1, cross(n, t1)], core, m.radius[c][0])


def install(monkeypatch) -> None:
    """Add the row of this kind to the table."""
    import sys

    monkeypatch.setitem(geometry.KINDS, "ball", sys.modules[__name__])


def on_ball(m: Mechanism, name: str, body: str, centre=(0.0, 0.0, 0.0), ball: float = 1.0, **options) -> None:
    """Put a contact with a fixed ball into a mechanism."""
    plain = make_contact(name, body, **options)
    given = {field.name: getattr(plain, field.name) for field in fields(Contact)}
    m._contacts[name] = OnBall(**given, centre=tuple(np.asarray(centre, float)), ball=ball)
