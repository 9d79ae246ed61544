"""Bodies that touch each other: a stack of boxes, a rod that two plates hold, balls that fall into a box."""

import numpy as np

from vigym.benchmarks.scenes.scene import Scene, at_rest
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import from_rotation_vector
from vigym.engine.shapes import Box, Capsule, Sphere

EDGE = 0.2  # m, of the boxes of the stack
PRESS = 20.0  # N, of each plate: friction 0.8 could carry 32 times the weight of the rod
ROD, PLATE = 0.05, (0.02, 0.1, 0.1)  # m, radius and edges
RADIUS, SPACING = 0.05, 0.11  # m, of balls, and between them at the start
WALL, HEIGHT = 0.05, 0.5  # m, of the walls


def stack(bodies: int = 10, dt: float = 0.01, seconds: float = 1.0) -> Scene:
    """Boxes (1 kg, 0.2 m) on each other and on the ground, each turned by 0.1 rad against the one below."""
    m = Mechanism()
    m.add_ground()
    for k in range(bodies):
        turn = from_rotation_vector(np.array([0.0, 0.0, 0.1 * k]))
        at = (0.0, 0.0, (k + 0.5) * EDGE)
        m.add_body(f"box {k}", 1.0, shapes=[Box((EDGE, EDGE, EDGE))], position=at, orientation=turn, collide=True)
    return Scene("stack", m, at_rest(m), dt, round(seconds / dt), bodies, rests=True)


def pinch(dt: float = 0.01, seconds: float = 2.0) -> Scene:
    """A rod (0.1 kg) across two plates (1 kg), which slide towards each other and press with 20 N."""
    m = Mechanism()
    for name, side in (("left", -1.0), ("right", 1.0)):
        m.add_body(name, 1.0, shapes=[Box(PLATE)], collide=True)
        drive = {"kp": 1e4, "kd": 100.0, "effort_limit": PRESS, "target": 0.02}
        anchor = ((ROD + 0.5 * PLATE[0]) * side, 0.0, 0.0)
        m.add_joint(name, "prismatic", "world", name, axis=(-side, 0.0, 0.0), parent_anchor=anchor, **drive)
    flat = from_rotation_vector(np.array([0.5 * np.pi, 0.0, 0.0]))
    m.add_body("rod", 0.1, shapes=[Capsule(ROD, ROD)], orientation=flat, collide=True)
    return Scene("pinch", m, at_rest(m), dt, round(seconds / dt), rests=True)


def heap(bodies: int = 20, dt: float = 0.01, seconds: float = 2.0) -> Scene:
    """Balls (0.5 kg, 0.05 m), nine a layer, that fall into a box of static boxes, 0.4 m wide.

    Where there are more than nine, some roll on for long: nothing brakes a ball that rolls."""
    m = Mechanism()
    inside = 0.2
    floor = (2 * (inside + WALL), 2 * (inside + WALL), WALL)
    m.add_collider("floor", "world", Box(floor, position=(0, 0, -0.5 * WALL)), friction=0.5)
    for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        size = (WALL, floor[1], HEIGHT) if x else (floor[0], WALL, HEIGHT)
        at = (x * (inside + 0.5 * WALL), y * (inside + 0.5 * WALL), 0.5 * HEIGHT)
        m.add_collider(f"wall {k}", "world", Box(size, position=at), friction=0.5)
    rng = np.random.default_rng(3)
    for k in range(bodies):
        layer, place = divmod(k, 9)
        start = SPACING * np.array([place % 3 - 1, place // 3 - 1, layer + 1.0])
        start[:2] += rng.uniform(-4e-3, 4e-3, 2)
        m.add_body(f"ball {k}", 0.5, shapes=[Sphere(RADIUS)], position=start, collide=True, friction=0.5)
    return Scene("heap", m, at_rest(m), dt, round(seconds / dt), bodies)
