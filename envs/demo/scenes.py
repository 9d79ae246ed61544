"""Scenes of bodies without a controller: a row of `SCENES` for each."""

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from vigym.assets import arch
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Capsule, Cylinder, Sphere
from vigym.engine.simulator import Simulator
from vigym.envs.demo.strip import Strip


def box() -> Simulator:
    """A tumbling box, thrown across the floor."""
    size = np.array([0.4, 0.3, 0.2])
    mechanism = Mechanism()
    mechanism.add_body("box", mass=1.0, shapes=[Box(tuple(size))])
    for k, corner in enumerate(product((-0.5, 0.5), repeat=3)):
        mechanism.add_contact(f"corner {k}", "box", corner * size, friction=0.5)
    sim = Simulator(mechanism, dt=0.01)
    sim.set_state(x=[[0, 0, 1.0]], q=[[0.9, 0.3, 0.1, -0.2]] / np.sqrt(0.95), v=[[2.0, 0.5, 1.0]], w=[[4.0, -7.0, 2.0]])
    return sim


def chain() -> Simulator:
    """Twenty links with ball joints, dropped on the floor while sliding."""
    n = 20
    mechanism = Mechanism()
    for k in range(n):
        mechanism.add_body(f"link {k}", mass=1.0, shapes=[Cylinder(0.05, 1.0)], collide=False)
        if k:
            anchors = {"parent_anchor": (0, 0, 0.5), "child_anchor": (0, 0, -0.5)}
            mechanism.add_joint(f"joint {k}", "spherical", f"link {k - 1}", f"link {k}", **anchors)
        else:
            mechanism.add_contact("start", "link 0", (0, 0, -0.5), friction=0.2)
        mechanism.add_contact(f"end {k}", f"link {k}", (0, 0, 0.5), friction=0.2)
    sim = Simulator(mechanism, dt=0.01)
    x = np.stack([np.arange(n), np.zeros(n), np.full(n, 0.3)], -1)
    v = np.tile([1.0, 0.3, 0.0], (n, 1))
    sim.set_state(x=x, q=np.tile([1, 0, 1, 0] / np.sqrt(2), (n, 1)), v=v)
    return sim


def fourbar() -> Simulator:
    """A closed loop of hinges that swings under its weight."""
    mechanism = Mechanism()
    hinge: dict = {"kind": "revolute", "axis": (0, 1, 0)}
    for name in ("left", "top", "right"):
        mechanism.add_body(name, mass=1.0, shapes=[Box((1.0, 0.05, 0.05))], collide=False)
    left, right = (-0.5, 0, 0), (0.5, 0, 0)
    mechanism.add_joint("A", parent="world", child="left", parent_anchor=(0, 0, 2), child_anchor=left, **hinge)
    mechanism.add_joint("B", parent="left", child="top", parent_anchor=right, child_anchor=left, **hinge)
    mechanism.add_joint("C", parent="top", child="right", parent_anchor=right, child_anchor=right, **hinge)
    mechanism.add_joint("D", parent="world", child="right", parent_anchor=(1, 0, 2), child_anchor=left, **hinge)
    sim = Simulator(mechanism, dt=0.005)
    sim.set_joint_state(np.array([-0.6, 0.6, -0.6, -0.6]))
    return sim


def heap() -> Simulator:
    """Balls, boxes and capsules that fall into a crate."""
    mechanism = Mechanism()
    mechanism.add_ground()
    mechanism.add_collider("bottom", "world", Box((1.0, 1.0, 0.05), position=(0.0, 0.0, 0.025)))
    for k, (x, y) in enumerate(((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))):
        size = (0.05, 1.1, 0.3) if x else (1.0, 0.05, 0.3)
        mechanism.add_collider(f"wall {k}", "world", Box(size, position=(0.525 * x, 0.525 * y, 0.15)))
    for k, (z, x, y) in enumerate(product((0.3, 0.66), (-0.3, 0.0, 0.3), (-0.3, 0.0, 0.3))):
        shape = (Sphere(0.1), Box((0.2, 0.15, 0.12)), Capsule(0.06, 0.2))[k % 3]
        mechanism.add_body(f"body {k}", 1.0, shapes=[shape], position=(x + 0.002 * k, y, z), collide=True)
    return Simulator(mechanism, dt=0.01)


def stone_arch() -> Simulator:
    """An arch of eleven stones that stands until its keystone is pulled out."""
    return Simulator(arch.build(), dt=0.01)


def pull_keystone(sim: Simulator, time: float) -> dict[str, Any]:
    """Pull the keystone up with four times its weight, after 1 s, until it is clear of its neighbours."""
    force, keystone = np.zeros((1, len(sim.body_names), 3)), arch.STONES // 2
    if time >= 1.0 and sim.state.x[0, keystone, 2] < arch.RADIUS + 1.5 * arch.THICKNESS:
        force[0, keystone, 2] = 4.0 * 9.81 * sim.model.mechanism.bodies[keystone].mass
    return {"force": force}


class Scene(NamedTuple):
    """A simulator at its start, seconds to simulate, forces by simulator and time, and the film strip."""

    build: Callable[[], Simulator]
    seconds: float = 3.0
    act: Callable[[Simulator, float], dict[str, Any]] = lambda sim, time: {}
    strip: Strip | None = None


ARCH_CAMERA = {"distance": 3.9, "azimuth": 70.0, "elevation": -8.0, "lookat": (0.0, 0.0, 0.7)}
SCENES = {
    "arch": Scene(stone_arch, 3.0, pull_keystone, Strip(6, (1.0, 2.0), None, ARCH_CAMERA, forces=False)),
    "box": Scene(box),
    "chain": Scene(chain),
    "fourbar": Scene(fourbar),
    "heap": Scene(heap),
}
