"""A four-bar linkage: crank, coupler and rocker, hinged to each other and to the world in one loop. Figures: ours."""

import math
from typing import Any

import numpy as np

from vigym.assets.solid import PASS_EACH_OTHER
from vigym.engine.errors import MechanismError
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder

LENGTH, DENSITY, RADIUS = 1.0, 1.0, 0.02  # m, kg/m along a bar, m
ALONG_X = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)  # turns the z axis of a cylinder to x


def build(
    *,
    ground: float = LENGTH,
    crank: float = LENGTH,
    coupler: float = LENGTH,
    rocker: float = LENGTH,
    density: float = DENSITY,
    radius: float = RADIUS,
    angle: float = 0.0,
    height: float | None = None,
    damping: float = 0.0,
    effort_limit: float = np.inf,
) -> Mechanism:
    """Bodies "crank", "coupler", "rocker"; hinges "A" (world, crank), "B", "C", "D" (world, rocker), about y.

    Crank and rocker lie along their own z and hang straight down at angle zero; the coupler lies along its own x. A and
    D are at (-+ground/2, 0, height). It starts with the crank at `angle` and C on the lower of its two possible
    places. A parallelogram (ground = coupler, crank = rocker, the default) is at rest at angle 0. The bars pass through
    each other.

    ground, crank, coupler, rocker: lengths, m. density: of the bars, kg/m. radius: m. angle: rad.
    height: m; by default 1.25 times the longer of crank and rocker. damping: N m s/rad, effort_limit: N m, per hinge.
    """
    turn, level, swing = _close(ground, crank, coupler, rocker, angle)
    m = Mechanism()
    blue, red, upright = (0.2, 0.45, 0.7, 1.0), (0.75, 0.22, 0.17, 1.0), (1.0, 0.0, 0.0, 0.0)
    for name, length, color, along in (
        ("crank", crank, red, upright),
        ("coupler", coupler, blue, ALONG_X),
        ("rocker", rocker, red, upright),
    ):
        bar = Cylinder(radius, length, orientation=along, color=color)
        m.add_body(name, density * length, shapes=[bar], **PASS_EACH_OTHER)
    z = 1.25 * max(crank, rocker) if height is None else height
    options: dict[str, Any] = {"axis": (0, 1, 0), "damping": damping, "effort_limit": effort_limit}
    for name, parent, child, parent_anchor, child_anchor, start in (
        ("A", "world", "crank", (-ground / 2, 0, z), (0, 0, crank / 2), turn),
        ("B", "crank", "coupler", (0, 0, -crank / 2), (-coupler / 2, 0, 0), level - turn),
        ("C", "coupler", "rocker", (coupler / 2, 0, 0), (0, 0, -rocker / 2), swing - level),
        ("D", "world", "rocker", (ground / 2, 0, z), (0, 0, rocker / 2), swing),
    ):
        anchors: dict[str, Any] = {"parent_anchor": parent_anchor, "child_anchor": child_anchor}
        m.add_joint(name, "revolute", parent, child, start=start, **anchors, **options)
    return m


def _close(ground: float, crank: float, coupler: float, rocker: float, angle: float) -> tuple[float, float, float]:
    """Angles of crank, coupler and rocker about y, rad: C is where circles about B and D meet, in x and z."""
    bx, bz = -crank * math.sin(angle), -crank * math.cos(angle)  # B from A
    dx, dz = ground - bx, -bz  # D from B
    distance = math.hypot(dx, dz)
    along = (coupler**2 - rocker**2 + distance**2) / (2 * distance)
    if not abs(along) <= coupler:
        raise MechanismError(f"the bars do not close: B and D are {distance:g} m apart at angle {angle:g} rad")
    across = math.sqrt(coupler**2 - along**2)
    cx, cz = (along * dx + across * dz) / distance, (along * dz - across * dx) / distance  # C from B
    return angle, math.atan2(-cz, cx), math.atan2(dx - cx, dz - cz)
