"""Bodies that touch each other: a stack of boxes, a rod that two plates hold, balls and cubes that fall, a chain that
coils, a hand that lifts a cube; and robots whose links could touch each other."""

import numpy as np

from vigym.assets import unitree_a1
from vigym.benchmarks.scenes.a1 import trot
from vigym.benchmarks.scenes.scene import Array, Scene, at_rest
from vigym.benchmarks.touching import grips, piles, robots, rounds
from vigym.engine.height_field import HeightField
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Sphere

MARGIN = 30.0  # of the pinch: friction could carry so many times the weight of the rod


def stack(bodies: int = 10, dt: float = 0.01, seconds: float = 1.0) -> Scene:
    """Boxes (1 kg, 0.2 m) on each other and on the ground, each turned by 0.1 rad against the one below."""
    m = piles.stack(bodies, yaw=0.1)
    return Scene("stack", m, at_rest(m), dt, round(seconds / dt), bodies, rests=True)


def pinch(dt: float = 0.01, seconds: float = 2.0) -> Scene:
    """A rod (0.1 kg) that lies between two plates (1 kg), which slide towards each other and press."""
    m = grips.pinch(MARGIN, lying=True)
    return Scene("pinch", m, at_rest(m), dt, round(seconds / dt), rests=True)


def heap(bodies: int = 20, dt: float = 0.01, seconds: float = 2.0) -> Scene:
    """Balls that fall into a box. Where there are more than nine, some roll on for long: nothing brakes a ball that
    rolls."""
    m = piles.heap(bodies)
    return Scene("heap", m, at_rest(m), dt, round(seconds / dt), bodies)


def cubes(bodies: int = 27, dt: float = 0.01, seconds: float = 2.0) -> Scene:
    """Cubes that fall onto the ground and each other."""
    m = piles.cubes(bodies)
    return Scene("cubes", m, at_rest(m), dt, round(seconds / dt), bodies)


def coil(links: int = 100, dt: float = 0.01, seconds: float = 1.0) -> Scene:
    """A chain of capsules on ball joints, of which any two may touch, that falls in coils and slides."""
    m = rounds.coiled_snake(links)
    start = at_rest(m)
    x = np.array([body.position for body in m.bodies])
    start.x[:], start.q[:] = x, np.array([body.orientation for body in m.bodies])
    start.v[:] = (0.3, 0.0, 0.0)
    return Scene("coil", m, start, dt, round(seconds / dt), links)


def lift(t: Array) -> Array:
    """Targets (k, 3) of hand and fingers at times t (k,): shut within 0.2 s, then up and down by 0.1 m."""
    shut = np.clip(t / 0.2, 0.0, 1.0) * 0.03
    up = 0.05 * (1.0 - np.cos(2 * np.pi * np.clip(t - 0.3, 0.0, None)))
    return np.stack([up, shut, shut], -1)


def gripper(dt: float = 0.005, seconds: float = 1.0) -> Scene:
    """The hand of a Panda takes a cube from the ground and lifts it."""
    m = grips.panda_hand()
    return Scene("gripper", m, at_rest(m), dt, round(seconds / dt), targets=lift)


def ready(on: str = "nothing", dt: float = 0.005, seconds: float = 0.5) -> Scene:
    """The A1 trots, and could touch more than it does. on: "nothing" more than in the scene a1; "itself", trunk and
    legs each other; or its feet are balls on a "plane", or on a flat "field" of heights."""
    m = unitree_a1.build(friction=0.2, self_collision=on == "itself")
    start = at_rest(m, trot(np.zeros(1))[0], 0.0)
    if on in ("plane", "field"):
        m = on_ground(m, flat=on == "plane")
    return Scene(f"a1-{on}", m, start, dt, round(seconds / dt), targets=trot)


def on_ground(robot: Mechanism, flat: bool) -> Mechanism:
    """The A1, but its contact points are balls that touch a plane, or a flat field of heights."""
    m = Mechanism()
    for body in robot.bodies:
        place, turn = body.position, body.orientation
        m.add_body(body.name, body.mass, body.inertia, visuals=body.shapes, position=place, orientation=turn)
    for joint in robot.joints:
        same = ("parent_anchor", "child_anchor", "lower", "upper", "effort_limit", "kp", "kd", "target", "start")
        options = {name: getattr(joint, name) for name in same}
        axis = unitree_a1.AXES[joint.name.split()[-1]]
        m.add_joint(joint.name, joint.kind, joint.parent, joint.child, axis=axis, **options)
    for foot in robot.contacts:
        ball = Sphere(foot.radius, position=tuple(foot.point))
        m.add_collider(foot.name, foot.body, ball, friction=foot.friction)
    if flat:
        m.add_ground(friction=1.0)
    else:
        m.add_collider("field", "world", HeightField(np.zeros((65, 65)), size=(8, 8)), friction=1.0)
    return m


def sway(t: Array) -> Array:
    """Targets (k, 26) of the humanoid at times t (k,), rad: knees bend and arms swing."""
    names = [joint.name for joint in robots.humanoid(False).joints]
    bend, swing = 0.25 * (1.0 - np.cos(2 * np.pi * t)), 0.4 * np.sin(2 * np.pi * t)
    targets = np.zeros((len(t), len(names)))
    for k, name in enumerate(names):
        part = name.split(" ", 1)[-1]
        amount = {"thigh": -bend, "shank": 2.0 * bend, "ankle": -bend, "forearm": -0.5 - bend}
        targets[:, k] = amount.get(part, 0.0)
        if part == "shoulder 1":
            targets[:, k] = swing if name.startswith("left") else -swing
    return targets


def humanoid(dt: float = 0.005, seconds: float = 0.5, self_collision: bool = True) -> Scene:
    """A humanoid of 27 bodies on two feet of four points bends its knees and swings its arms."""
    m = robots.humanoid(self_collision)
    return Scene("humanoid", m, at_rest(m, height=0.0), dt, round(seconds / dt), targets=sway)
