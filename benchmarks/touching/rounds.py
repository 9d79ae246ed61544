"""Round things: balls in grooves, on rollers and on a billiard table, a snake that lies in coils."""

from typing import Any

import numpy as np

from vigym.benchmarks.touching.parts import about, add, room
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Capsule, Plane, Sphere


def groove(left: float, right: float, friction: float = 0.0, radius: float = 0.1) -> Mechanism:
    """A ball in a groove of two boxes of the world, whose faces rise at these angles to both sides of x = 0."""
    m = Mechanism()
    normals = []
    for name, angle, side in (("left", left, -1.0), ("right", right, 1.0)):
        n = np.array([-side * np.sin(angle), 0, np.cos(angle)])
        up = np.array([side * np.cos(angle), 0, np.sin(angle)])
        place = 0.5 * up - 0.05 * n
        wall = Box((1.0, 1.0, 0.1), position=tuple(place), orientation=tuple(about((0, 1, 0), -side * angle)))
        m.add_collider(name, "world", wall, friction=friction)
        normals.append(n)
    # radius from both faces: n . x = radius
    x, z = np.linalg.solve(np.array(normals)[:, [0, 2]], [radius, radius])
    add(m, "ball", Sphere(radius), (x, 0, z), friction=friction)
    return m


def ball_in_box(gravity: tuple[float, float, float], radius: float = 0.1, friction: float = 0.0) -> Mechanism:
    """A ball in a closed box of walls, which it touches all."""
    m = Mechanism(gravity=gravity)
    room(m, (2 * radius, 2 * radius, 2 * radius), friction=friction, lid=True)
    add(m, "ball", Sphere(radius), (0, 0, radius), friction=friction)
    return m


def turntable(rate: float, radius: float = 0.05) -> Mechanism:
    """A ball on a plane that turns about z at `rate`, rad/s, driven hard."""
    m = Mechanism()
    m.add_body("table", mass=100.0, inertia=(10.0, 10.0, 10.0))
    m.add_collider("table", "table", Plane())
    m.add_joint("axle", "revolute", "world", "table", axis=(0, 0, 1), kd=1e6, target_velocity=rate)
    add(m, "ball", Sphere(radius), (0.3, 0, radius))
    return m


def rollers(rate: float, radius: float = 0.1, ball: float = 0.07) -> Mechanism:
    """A ball on two capsules that turn about their axes, along y, at `rate`, rad/s."""
    m, gap = Mechanism(), 1.2 * radius
    for name, side in (("left", -1.0), ("right", 1.0)):
        shape = Capsule(radius, 1.0, orientation=tuple(about((1, 0, 0), np.pi / 2)))
        m.add_body(name, mass=5.0, shapes=[shape], position=(side * gap, 0, 0), collide=True)
        m.add_joint(
            name,
            "revolute",
            "world",
            name,
            axis=(0, 1, 0),
            parent_anchor=(side * gap, 0, 0),
            kd=1e4,
            target_velocity=rate,
        )
    add(m, "ball", Sphere(ball), (0, 0, np.sqrt((radius + ball) ** 2 - gap**2)), mass=0.5)
    return m


def drum(rate: float, planes: int = 48, radius: float = 0.3, ball: float = 0.05) -> Mechanism:
    """A ball in a hollow prism of planes that a body carries, which turns about the y axis at `rate`, rad/s; a cylinder
    of this radius fits into it. The ball lies on the lowest plane."""
    m = Mechanism()
    m.add_body("drum", mass=50.0, inertia=(5.0, 5.0, 5.0))
    for k in range(planes):
        angle = 2 * np.pi * k / planes
        down = radius * np.array([np.sin(angle), 0, -np.cos(angle)])
        wall = Plane(position=tuple(down), orientation=tuple(about((0, 1, 0), -angle)))
        m.add_collider(f"wall{k}", "drum", wall)
    m.add_joint("axle", "revolute", "world", "drum", axis=(0, 1, 0), kd=1e5, target_velocity=rate)
    add(m, "ball", Sphere(ball), (0, 0, ball - radius), mass=0.2)
    return m


def billiard(rows: int = 5, friction: float = 0.2, radius: float = 0.0286) -> Mechanism:
    """A cue ball and a triangle of balls that touch, in free space."""
    m = Mechanism(gravity=(0, 0, 0))
    add(m, "cue", Sphere(radius), (-0.5, 0.2 * radius, 0), mass=0.17, friction=friction)
    for row in range(rows):
        for k in range(row + 1):
            place = (np.sqrt(3) * radius * row, radius * (2 * k - row), 0)
            add(m, f"ball{row}{k}", Sphere(radius), place, mass=0.17, friction=friction)
    return m


def coiled_snake(links: int = 100, radius: float = 0.02, length: float = 0.06) -> Mechanism:
    """Capsules on ball joints, in a helix of several turns above the ground."""
    m, turn, pitch = Mechanism(), 16, 2.5 * radius
    m.add_ground()
    step = 2 * np.pi / turn
    ring = length / (2 * np.sin(step / 2))
    rise = pitch / turn
    points = np.array(
        [[ring * np.cos(step * k), ring * np.sin(step * k), 2 * radius + rise * k] for k in range(links + 1)]
    )
    whole = float(np.linalg.norm(points[1] - points[0]))
    for k in range(links):
        way = (points[k + 1] - points[k]) / whole
        axis = np.cross([0, 0, 1], way)
        tilt = about(axis / np.linalg.norm(axis), float(np.arccos(way[2])))
        shape = Capsule(radius, whole)
        m.add_body(
            f"link{k}",
            mass=0.1,
            shapes=[shape],
            position=(points[k] + points[k + 1]) / 2,
            orientation=tilt,
            collide=True,
        )
        if k:
            ends: dict[str, Any] = {"parent_anchor": (0, 0, whole / 2), "child_anchor": (0, 0, -whole / 2)}
            m.add_joint(f"joint{k}", "spherical", f"link{k - 1}", f"link{k}", damping=1e-3, **ends)
    return m
