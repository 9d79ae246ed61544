"""Robotiq 2F-85: a gripper of two fingers, each a closed loop of four bars, driven together by one motor.

Masses, centres of mass, inertias, joint frames, limits, springs, armature, damping, pads and the drive are those of the
model in MuJoCo Menagerie, which is after Robotiq's public description. A pad and its follower are one body, and the
silicone on it (1.3 g) is left out. The drive
there acts on both drivers by half; here on the right one, which the left one follows, which is the same. Figures are
those of the right finger; the left one is it, turned by half a turn about z.
"""

from typing import Any

import numpy as np

from vigym.assets.links import Links, link_of, moved, principal, together
from vigym.assets.solid import PASS_EACH_OTHER, TOUCH_EACH_OTHER
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Capsule, Cylinder, Shape

CLOSED = 0.8  # rad, of the drivers; 0 is open
KP, KD, EFFORT_LIMIT = 100.0, 10.0, 5.0  # N m/rad, N m s/rad and N m, of the drive of both fingers together
PINCH = (0.0, 0.0, 0.145)  # m, in the base: between the pads

BASE = principal(
    0.777441, (0.0, -2.70394e-5, 0.0354675), (1.0, -0.00152849, 0.0, 0.0), (2.60285e-4, 2.25381e-4, 1.52708e-4)
)
DRIVER = principal(
    0.00899563, (0.0, 0.0177547, 0.00107314), (0.681301, 0.732003, 0.0, 0.0), (1.72352e-6, 1.60906e-6, 3.22006e-7)
)
COUPLER = principal(
    0.0140974,
    (0.0, 0.00301209, 0.0232175),
    (0.705636, -0.0455904, 0.0455904, 0.705636),
    (4.16206e-6, 3.52216e-6, 8.88131e-7),
)
SPRING = principal(
    0.0221642,
    (-8.65005e-9, 0.0181624, 0.0212658),
    (0.663403, -0.244737, 0.244737, 0.663403),
    (8.96853e-6, 6.71733e-6, 2.63931e-6),
)
FOLLOWER = principal(
    0.0125222, (0.0, -0.011046, 0.0124786), (1.0, 0.1664, 0.0, 0.0), (2.67415e-6, 2.4559e-6, 6.02031e-7)
)
PAD_AT = (0.0, -0.0189, 0.01352)  # m, in the follower
PAD = link_of(0.0035, (0.0, -0.0025, 0.0185), 3.64583e-7, 0.0, 0.0, 4.73958e-7, 0.0, 1.23958e-7)
FINGER = together(FOLLOWER, moved(PAD, PAD_AT, (1.0, 0.0, 0.0, 0.0)))
# Where each hangs: drivers and spring links on the base, couplers on drivers, followers on spring links, m
DRIVER_AT, SPRING_AT = np.array([0.0, 0.0306011, 0.054904]), np.array([0.0, 0.0132, 0.0609])
COUPLER_AT, FOLLOWER_AT = np.array([0.0, 0.0315, -0.0041]), np.array([0.0, 0.055, 0.0375])
FOLLOWER_PIVOT = (0.0, -0.018, 0.0065)  # m, in the follower, whose origin is where the coupler meets it
MEETS = SPRING_AT + FOLLOWER_AT - DRIVER_AT - COUPLER_AT  # m, in the coupler

BLACK, GREY, SILICONE = (0.15, 0.15, 0.15, 1.0), (0.46, 0.46, 0.46, 1.0), (0.2, 0.2, 0.2, 1.0)


Color = tuple[float, float, float, float]


def _bar(end: tuple[float, float], color: Color) -> list[Shape]:
    """A thin rod from the origin of a link to (0, y, z), which is only drawn."""
    y, z = end
    turn = np.arctan2(-y, z)  # about x, from z
    place, axis = (0.0, y / 2, z / 2), (np.cos(turn / 2), np.sin(turn / 2), 0.0, 0.0)
    return [Capsule(0.005, float(np.hypot(y, z)), position=place, orientation=axis, color=color)]


PADS: list[Shape] = [
    Box((0.022, 0.008, 0.0375), position=(PAD_AT[0], PAD_AT[1] - 0.0026, PAD_AT[2] + 0.01875), color=SILICONE)
]
LOOKS: dict[str, list[Shape]] = {
    "base": [
        Cylinder(0.037, 0.08, position=(0.0, 0.0, 0.02), color=BLACK),
        Box((0.05, 0.07, 0.03), position=(0.0, 0.0, 0.055), color=GREY),
    ],
    "driver": _bar((0.0315, -0.0041), GREY),
    "coupler": _bar((float(MEETS[1]), float(MEETS[2])), BLACK),
    "spring": _bar((0.055 - 0.018, 0.0375 + 0.0065), BLACK),
    "follower": [Capsule(0.005, 0.03, position=(0.0, -0.012, 0.015), color=BLACK)],
}


def build(
    *,
    friction: float = 0.7,
    drive: bool = True,
    kp: float = KP,
    kd: float = KD,
    self_collision: bool = False,
) -> Mechanism:
    """The gripper, open, on a mount in the world's origin, with its fingers up: 9 bodies, 8 hinges, 2 loops.

    Bodies "base", "right driver", "right coupler", "right spring", "right follower" and those of the left finger;
    hinges of the same names, "mount" between world and base, balls "right tip" and "left tip" that close the loops, and
    the coupling "together". The drive of "right driver" moves both fingers: a target of 0 opens them, `CLOSED` shuts
    them. `m.replace_joint("mount", parent=...)` puts it on an arm that it was merged into.

    friction: of the pads.
    drive: a PD drive; False leaves the right driver to the simulator's `effort`. kp, kd: its gains.
    self_collision: let pads touch each other; otherwise they pass through each other, but not through what they grip.
    """
    hand = Links(friction=friction, **(TOUCH_EACH_OTHER if self_collision else PASS_EACH_OTHER))
    m = hand.mechanism
    hand.base("base", BASE, (0.0, 0.0, 0.0), [], LOOKS["base"])
    m.add_joint("mount", "fixed", "world", "base", child_anchor=-BASE.com)
    for side, turn in (("right", (1.0, 0.0, 0.0, 0.0)), ("left", (0.0, 0.0, 0.0, 1.0))):
        sign = np.array([1.0, 1.0 if side == "right" else -1.0, 1.0])
        driver, coupler, spring, follower = (f"{side} {part}" for part in ("driver", "coupler", "spring", "follower"))
        driven = drive and side == "right"
        x: dict[str, Any] = {"axis": (1.0, 0.0, 0.0)}
        hand.joint(
            driver,
            "base",
            driver,
            DRIVER,
            visuals=LOOKS["driver"],
            at=sign * DRIVER_AT,
            turn=turn,
            lower=0.0,
            upper=CLOSED,
            armature=0.005,
            damping=0.1,
            kp=kp if driven else 0.0,
            kd=kd if driven else 0.0,
            effort_limit=EFFORT_LIMIT if side == "right" else np.inf,
            **x,
        )
        looks = LOOKS["coupler"]
        hand.joint(
            coupler, driver, coupler, COUPLER, (), looks, at=COUPLER_AT, lower=-1.57, upper=0, armature=1e-3, **x
        )
        hand.joint(
            spring,
            "base",
            spring,
            SPRING,
            visuals=LOOKS["spring"],
            at=sign * SPRING_AT,
            turn=turn,
            lower=-0.29670597283,
            upper=0.8,
            armature=1e-3,
            stiffness=0.05,
            rest=2.62,
            damping=0.00125,
            **x,
        )
        hand.joint(
            follower,
            spring,
            follower,
            FINGER,
            PADS,
            LOOKS["follower"],
            at=FOLLOWER_AT,
            pivot=FOLLOWER_PIVOT,
            lower=-0.872664,
            upper=0.872664,
            armature=1e-3,
            **x,
        )
        ends: dict[str, Any] = {"parent_anchor": MEETS - COUPLER.com, "child_anchor": -FINGER.com}
        m.add_joint(f"{side} tip", "spherical", coupler, follower, **ends)
    m.add_coupling("together", "left driver", "right driver")
    return m
