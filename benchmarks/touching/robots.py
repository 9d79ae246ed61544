"""Robots that touch each other."""

from collections.abc import Sequence

import numpy as np

from vigym.assets import unitree_a1
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Capsule, Shape, Sphere


def fight(apart: float = 0.75) -> Mechanism:
    """Two A1 that face each other on the ground, trunks `apart` m from each other; their links may touch each other,
    their own ones, and the ground. Names of their parts begin with "red " and "blue "."""
    m, robot = Mechanism(), unitree_a1.build(self_collision=True)
    m.merge(robot, "red ", position=(-apart / 2, 0, 0))
    m.merge(robot, "blue ", position=(apart / 2, 0, 0), orientation=(0, 0, 0, 1))
    m.add_ground()
    return m


def humanoid(self_collision: bool = True, gain: float = 300.0) -> Mechanism:
    """A person of 27 bodies and 26 hinges with drives, 60 kg: waist 3, each leg 6, each arm 5, head 1; feet stand on
    four contact points each. Hinges of one joint are 3 cm apart, with small bodies between them."""
    m = Mechanism()
    foot, shank, thigh = 0.07, 0.4, 0.4
    hip = foot + shank + thigh

    def body(name: str, mass: float, shapes: Sequence[Shape], at: Sequence[float]) -> None:
        size = 0.1 if not shapes else None
        inertia = None if size is None else np.full(3, 0.4 * mass * size**2)
        solid = self_collision and len(shapes) > 0
        m.add_body(name, mass=mass, inertia=inertia, shapes=shapes, position=at, friction=0.8, collide=solid)
        places[name] = np.array(at, float)

    def hinge(parent: str, child: str, axis: Sequence[float], at: Sequence[float]) -> None:
        ends = {"parent_anchor": at - places[parent], "child_anchor": at - places[child]}
        m.add_joint(child, "revolute", parent, child, axis=axis, kp=gain, kd=gain / 20, effort_limit=300.0, **ends)

    places: dict[str, np.ndarray] = {}
    x, y, z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
    body("pelvis", 9.0, [Box((0.14, 0.24, 0.12))], (0, 0, hip + 0.05))
    waist = hip + 0.13
    body("waist 1", 0.5, [], (0, 0, waist))
    body("waist 2", 0.5, [], (0, 0, waist + 0.03))
    body("torso", 17.0, [Box((0.16, 0.28, 0.36))], (0, 0, waist + 0.25))
    for parent, child, axis, height in (
        ("pelvis", "waist 1", z, waist),
        ("waist 1", "waist 2", x, waist + 0.015),
        ("waist 2", "torso", y, waist + 0.03),
    ):
        hinge(parent, child, axis, (0, 0, height))
    body("head", 4.0, [Sphere(0.1)], (0, 0, waist + 0.58))
    hinge("torso", "head", z, (0, 0, waist + 0.44))
    for side, way in (("left", 1.0), ("right", -1.0)):
        leg, arm, shoulder = 0.1 * way, 0.21 * way, waist + 0.37
        body(f"{side} hip 1", 0.5, [], (0, leg, hip))
        body(f"{side} hip 2", 0.5, [], (0, leg, hip - 0.02))
        body(f"{side} thigh", 5.0, [Capsule(0.06, 0.24)], (0, leg, hip - thigh / 2))
        body(f"{side} shank", 3.0, [Capsule(0.05, 0.26)], (0, leg, foot + shank / 2))
        body(f"{side} ankle", 0.3, [], (0, leg, foot))
        body(f"{side} foot", 1.0, [Box((0.22, 0.1, 0.04))], (0.04, leg, 0.03))
        for parent, child, axis, height in (
            ("pelvis", f"{side} hip 1", z, hip),
            (f"{side} hip 1", f"{side} hip 2", x, hip - 0.01),
            (f"{side} hip 2", f"{side} thigh", y, hip - 0.02),
            (f"{side} thigh", f"{side} shank", y, foot + shank),
            (f"{side} shank", f"{side} ankle", y, foot),
            (f"{side} ankle", f"{side} foot", x, foot),
        ):
            hinge(parent, child, axis, (0, leg, height))
        for k, (dx, dy) in enumerate(((0.11, 0.05), (0.11, -0.05), (-0.11, 0.05), (-0.11, -0.05))):
            m.add_contact(f"{side} sole {k}", f"{side} foot", (dx, dy, -0.03), friction=0.8)
        body(f"{side} shoulder 1", 0.3, [], (0, arm, shoulder))
        body(f"{side} shoulder 2", 0.3, [], (0, arm, shoulder - 0.02))
        body(f"{side} upper arm", 2.0, [Capsule(0.04, 0.16)], (0, arm, shoulder - 0.16))
        body(f"{side} forearm", 1.2, [Capsule(0.035, 0.16)], (0, arm, shoulder - 0.42))
        body(f"{side} hand", 0.4, [Sphere(0.045)], (0, arm, shoulder - 0.6))
        for parent, child, axis, height in (
            ("torso", f"{side} shoulder 1", y, shoulder),
            (f"{side} shoulder 1", f"{side} shoulder 2", x, shoulder - 0.01),
            (f"{side} shoulder 2", f"{side} upper arm", z, shoulder - 0.03),
            (f"{side} upper arm", f"{side} forearm", y, shoulder - 0.29),
            (f"{side} forearm", f"{side} hand", z, shoulder - 0.55),
        ):
            hinge(parent, child, axis, (0, arm, height))
    return m
