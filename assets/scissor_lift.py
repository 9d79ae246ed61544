"""A scissor lift: crossed bars that carry a platform, opened and closed by a drive at one foot. All figures: ours."""

from typing import Any

import numpy as np

from vigym.assets.solid import PASS_EACH_OTHER
from vigym.engine.errors import MechanismError
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box

MASS, LENGTH, PLATFORM_MASS = 1.0, 1.0, 5.0  # of a bar: kg, m; kg
THICKNESS = 0.04  # m, of bars and platform
ANGLES = (0.15, 1.4)  # rad, of the bars above the ground, at the ends of the foot's slide
GRAVITY = 9.81  # m/s^2

_HINGE: dict[str, Any] = {"kind": "revolute", "axis": (0, 1, 0)}
# Slides along x of the parent and turns about y.
_ROLLER: dict[str, Any] = {"kind": "custom", "axis": (0, 0, 1), "constrained": (0, 1, 1, 1, 0, 1)}


def build(
    *,
    cells: int = 3,
    mass: float = MASS,
    length: float = LENGTH,
    platform_mass: float = PLATFORM_MASS,
    angle: float = 0.6,
    drive: bool = True,
    kp: float = 2e4,
    kd: float = 2e3,
    effort_limit: float = np.inf,
) -> Mechanism:
    """Bodies "a0", "b0", "a1", ... and "platform"; all in the x-z plane, closed loops, one degree of freedom.

    Bar a of a cell rises to the right (+x), bar b to the left; each bar lies along its own x. a0 stands on a hinge at
    the origin, "foot"; b0 on a foot that slides along the x axis, "slide" (axes "slide.tx", which the drive holds, and
    "slide.ry"): the closer the feet, the higher the platform, which has a hinge on the left and rolls on the right.
    Bars and platform pass through each other.

    cells: pairs of bars, 1 or more. mass, length: of a bar, kg, m. platform_mass: kg.
    angle: of the bars above the ground at the start, rad, between ANGLES.
    drive: PD drive of the slide with kp, kd (N/m, N s/m) whose target holds the weight up at `angle`; False leaves
    it to the simulator's `effort`. effort_limit: N.
    """
    if cells < 1:
        raise MechanismError(f"cells must be 1 or more, got {cells}")
    if not ANGLES[0] <= angle <= ANGLES[1]:
        raise MechanismError(f"angle must be between {ANGLES[0]} and {ANGLES[1]} rad, got {angle:g}")
    a, b = -angle, angle - np.pi  # of the bars, about y
    left, right = (-length / 2, 0, 0), (length / 2, 0, 0)
    bar = mass / 12 * np.array([2 * THICKNESS**2, length**2 + THICKNESS**2, length**2 + THICKNESS**2])
    size = (length, THICKNESS / 2, THICKNESS)

    m = Mechanism()
    for k in range(cells):
        for name, y, color in (("a", -1, (0.9, 0.6, 0.1, 1.0)), ("b", 1, (0.75, 0.5, 0.08, 1.0))):
            solid = Box(size, position=(0, y * THICKNESS / 4, 0), color=color)
            m.add_body(f"{name}{k}", mass, bar, [solid], **PASS_EACH_OTHER)
        if k == 0:
            m.add_joint("foot", parent="world", child="a0", child_anchor=left, start=a, **_HINGE)
        else:
            ends: dict[str, Any] = {"parent_anchor": right, "child_anchor": left}
            m.add_joint(f"left {k}", parent=f"b{k - 1}", child=f"a{k}", start=a - b, **ends, **_HINGE)
            m.add_joint(f"right {k}", parent=f"a{k - 1}", child=f"b{k}", start=b - a, **ends, **_HINGE)
        m.add_joint(f"cross {k}", parent=f"a{k}", child=f"b{k}", start=b - a, **_HINGE)

    width = length * np.cos(angle)
    # Virtual work: the foot's force F does work F dx, x = length cos(angle), and lifts n cells, whose middles are at
    # (k + 1/2) length sin(angle), and the platform, n length sin(angle).
    force = -GRAVITY * (mass * cells**2 + platform_mass * cells) / np.tan(angle)
    gain = kp if drive else 0.0
    m.add_joint(
        "slide",
        parent="world",
        child="b0",
        child_anchor=left,
        lower=(length * np.cos(ANGLES[1]), -np.inf),
        upper=(length * np.cos(ANGLES[0]), np.inf),
        effort_limit=(effort_limit, np.inf),
        kp=(gain, 0.0),
        kd=(kd if drive else 0.0, 0.0),
        target=(width + force / gain if gain > 0.0 else 0.0, 0.0),
        start=(width, b),
        **_ROLLER,
    )

    plate = Box((1.1 * length, 4 * THICKNESS, THICKNESS), color=(0.35, 0.37, 0.4, 1.0))
    m.add_body("platform", platform_mass, shapes=[plate], **PASS_EACH_OTHER)
    corner = (-length / 2, 0, -THICKNESS / 2)
    top_a, top_b = f"a{cells - 1}", f"b{cells - 1}"
    m.add_joint(
        "platform hinge", parent=top_b, child="platform", parent_anchor=right, child_anchor=corner, start=-b, **_HINGE
    )
    m.add_joint(
        "platform roller",
        parent="platform",
        child=top_a,
        parent_anchor=corner,
        child_anchor=right,
        start=(width, a),
        **_ROLLER,
    )
    return m
