"""Piles of boxes: stacks, leaning piles, houses of cards, and what is dropped into a box."""

import numpy as np

from vigym.benchmarks.touching.parts import GRAVITY, about, add, random_turn, room
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Sphere


def stack(
    n: int = 20, side: float = 0.2, shuffle: int | None = None, shift: float = 0.0, yaw: float = 0.0
) -> Mechanism:
    """n cubes on the ground, one on top of the other; box k is named by its place.

    shuffle: seed of the order in which they are added. shift: m, by which every third one is beside the others.
    yaw: rad, by which each is turned against the one below.
    """
    m = Mechanism()
    m.add_ground()
    for k in range(n) if shuffle is None else np.random.default_rng(shuffle).permutation(n).tolist():
        place = (shift * (k % 3), 0, side * (k + 0.5))
        add(m, f"box{k}", Box((side, side, side)), place, about((0, 0, 1), yaw * k))
    return m


def sloping_stack(n: int, slope: float, friction: list[float], side: float = 0.2) -> Mechanism:
    """n flat boxes on a plane that gravity acts upon at an angle, so that down the slope is along x.

    friction: coefficients between ground and lowest box, lowest box and the next, ...
    """
    m = Mechanism(gravity=(GRAVITY * np.sin(slope), 0, -GRAVITY * np.cos(slope)))
    own = [1.0]  # of two colliders, the root of the product is what counts
    for cf in friction:
        own.append(cf**2 / own[-1])
    m.add_ground(friction=own[0])
    for k in range(n):
        add(m, f"box{k}", Box((side, side, side / 4)), (0, 0, side / 4 * (k + 0.5)), friction=own[k + 1])
    return m


def leaning_pile(n: int, part: float = 1.0, length: float = 0.4) -> Mechanism:
    """n bricks on the edge of a table, at x = 0, each reaching out over the one below as far as it can before the pile
    tips, length/2, length/4, length/6, ... from the top; part: of that."""
    m = Mechanism()
    m.add_collider("table", "world", Box((2.0, 1.0, 0.2), position=(-1.0, 0, -0.1)))
    edge, height = 0.0, 0.1
    for k in range(n):
        edge += part * length / (2 * (n - k))  # of the right end of brick k
        add(m, f"brick{k}", Box((length, 0.2, height)), (edge - length / 2, 0, height * (k + 0.5)))
    return m


def house_of_cards(levels: int = 3, friction: float = 0.6) -> Mechanism:
    """Cards that lean on each other in pairs, edge against edge, a roof on them, and the next level above; one pair
    less in each."""
    length, width, thick, mass, angle = 0.09, 0.06, 0.002, 0.005, np.radians(18)
    m = Mechanism()
    m.add_ground(friction=friction)
    foot = 2 * length * np.sin(angle)  # between the lower edges of a pair
    top = length * np.cos(angle) + thick * np.sin(angle)
    spacing, base = 1.15 * foot, 0.0
    for level in range(levels):
        start, more = level * spacing / 2, levels - level - 1
        for k in range(more + 1):
            left = start + k * spacing
            for name, edge, side in (("a", left, 1), ("b", left + foot, -1)):
                u, n = np.array([side * np.sin(angle), np.cos(angle)]), np.array([side * np.cos(angle), -np.sin(angle)])
                x, z = np.array([edge, base]) + length / 2 * u - thick / 2 * n
                card, turn = Box((thick, width, length)), about((0, 1, 0), side * angle)
                add(m, f"{name}{level}{k}", card, (x, 0, z), turn, mass=mass, friction=friction)
        base += top
        if more:
            roof = Box((more * spacing + 0.02, width, thick))
            place = (start + more * spacing / 2 + foot / 2, 0, base + thick / 2)
            add(m, f"roof{level}", roof, place, mass=mass * more, friction=friction)
        base += thick
    return m


def dropped(balls: int = 20, boxes: int = 20, seed: int = 0) -> Mechanism:
    """Balls and boxes of several sizes above each other, turned at random, to fall into a box that is open above."""
    m, rng = Mechanism(), np.random.default_rng(seed)
    room(m, (0.8, 0.8, 0.6))
    kinds = rng.permutation([True] * balls + [False] * boxes)
    for k, ball in enumerate(kinds):
        shape = Sphere(rng.uniform(0.05, 0.1)) if ball else Box(tuple(rng.uniform(0.08, 0.2, 3)))
        place = (*rng.uniform(-0.2, 0.2, 2), 0.3 + 0.3 * k)
        mass = 500.0 * (4.2 * shape.radius**3 if isinstance(shape, Sphere) else np.prod(shape.size))
        add(m, f"{'ball' if ball else 'box'}{k}", shape, place, random_turn(rng), mass=float(mass))
    return m


def heap(balls: int = 20, seed: int = 3) -> Mechanism:
    """Balls (0.5 kg, radius 0.05 m) above a box that is open above, 0.4 m wide; nine a layer, a little off a grid."""
    m, rng, spacing = Mechanism(), np.random.default_rng(seed), 0.11
    room(m, (0.4, 0.4, 0.5), thickness=0.05, friction=0.5)
    for k in range(balls):
        layer, place = divmod(k, 9)
        start = spacing * np.array([place % 3 - 1, place // 3 - 1, layer + 1.0])
        start[:2] += rng.uniform(-4e-3, 4e-3, 2)
        add(m, f"ball{k}", Sphere(0.05), start, mass=0.5, friction=0.5)
    return m


def cubes(n: int = 27, side: float = 0.1, seed: int = 5) -> Mechanism:
    """Cubes (1 kg) above the ground, nine a layer on a grid with gaps, each a little off it and turned."""
    m, rng, spacing = Mechanism(), np.random.default_rng(seed), 1.6 * side
    m.add_ground(friction=0.6)
    for k in range(n):
        layer, place = divmod(k, 9)
        start = spacing * np.array([place % 3 - 1, place // 3 - 1, layer + 1.0])
        start[:2] += rng.uniform(-0.2, 0.2, 2) * side
        axis = rng.normal(size=3)
        turn = about(axis / np.linalg.norm(axis), rng.uniform(-0.4, 0.4))
        add(m, f"cube{k}", Box((side, side, side)), start, turn, friction=0.6)
    return m


def needles(n: int = 10, seed: int = 0) -> Mechanism:
    """Thin rods (boxes of 300 x 2 x 2 mm, 10 g) above the ground, 0.1 m above each other and turned at random."""
    m, rng = Mechanism(), np.random.default_rng(seed)
    m.add_ground(friction=0.5)
    for k in range(n):
        turn, place = random_turn(rng), (*rng.uniform(-0.03, 0.03, 2), 0.2 + 0.1 * k)
        add(m, f"needle{k}", Box((0.3, 0.002, 0.002)), place, turn, mass=0.01, friction=0.5)
    return m
