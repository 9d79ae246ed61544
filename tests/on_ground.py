"""Bodies on ground of any form, and their motions: for tests of height fields and of meshes."""

import numpy as np

from vigym import Box, Capsule, Mechanism, Simulator, Sphere

G = 9.81
SHAPES = {"ball": Sphere(0.1), "box": Box((0.2, 0.3, 0.15)), "rod": Capsule(0.05, 0.3)}


def scaled(shape, k):
    if isinstance(shape, Sphere):
        return Sphere(k * shape.radius)
    if isinstance(shape, Box):
        return Box(tuple(k * np.array(shape.size)))
    return Capsule(k * shape.radius, k * shape.length)


def world(shape, ground, position=(0.0, 0.0, 1.0), friction=0.8):
    m = Mechanism()
    m.add_collider("ground", "world", ground, friction=friction)
    m.add_body("body", 1.0, shapes=[shape], position=position, friction=friction)
    return m


def motion(m, steps, dt=0.01, **state):
    sim = Simulator(m, dt=dt, tolerance=1e-12)
    sim.set_state(**{name: np.array([[value]], float) for name, value in state.items()})
    found = []
    for _ in range(steps):
        sim.step()
        found.append(np.concatenate([sim.state.x, sim.state.q, sim.state.v, sim.state.w], -1).ravel())
    return np.array(found), sim
