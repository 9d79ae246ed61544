"""The paper's chain: cylinders with ball joints between them, each with a contact point at its end; and one that swings
freely."""

import numpy as np

from vigym.assets import snake
from vigym.benchmarks.scenes.scene import Scene, at_rest
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder
from vigym.engine.simulator import Simulator
from vigym.engine.state import State

SPEED = (0.0, 0.5, 0.0)  # m/s, sideways: along its length, PyBullet takes twice the time
GENTLE, PAPER = 0.005, 0.3  # m: heights to fall from


def chain(links: int = 10, drop: float = GENTLE, dt: float = 0.01) -> Scene:
    """n links (1 kg, 1 m, radius 0.05 m), n + 1 contacts, friction 0.2, falling from `drop` m and sliding."""
    m = snake.build(links=links)
    start = at_rest(m, height=drop)
    start.v[:] = SPEED
    return Scene("chain", m, start, dt, steps=100, size=links)


def free_chain(links: int = 10, dt: float = 0.01, seconds: float = 10.0) -> Scene:
    """The same links, hanging on the world by a ball joint, released horizontally: no contact, no dissipation."""
    m = Mechanism()
    left, right = (-snake.LENGTH / 2, 0, 0), (snake.LENGTH / 2, 0, 0)
    link = Cylinder(snake.RADIUS, snake.LENGTH, orientation=snake.ALONG_X)
    parent = "world"
    for k in range(links):
        m.add_body(f"link {k}", mass=snake.MASS, shapes=[link], collide=False)
        anchor = right if k else (0, 0, 0)
        m.add_joint(f"joint {k}", "spherical", parent, f"link {k}", parent_anchor=anchor, child_anchor=left)
        parent = f"link {k}"
    return Scene("free-chain", m, at_rest(m), dt, round(seconds / dt), links, conserves=True)


def flying_chain(links: int = 10, dt: float = 0.01, seconds: float = 10.0) -> Scene:
    """The same links, tied to nothing and without gravity: bent, drifting and tumbling; momentum is conserved too.

    Joint angles up to 0.5 rad, rates up to 0.3 rad/s; the first link drifts at 0.3 m/s and turns at 0.5 rad/s.
    """
    m = Mechanism(gravity=(0, 0, 0))
    left, right = (-snake.LENGTH / 2, 0, 0), (snake.LENGTH / 2, 0, 0)
    link = Cylinder(snake.RADIUS, snake.LENGTH, orientation=snake.ALONG_X)
    for k in range(links):
        m.add_body(f"link {k}", mass=snake.MASS, shapes=[link], collide=False)
        if k:
            ends = {"parent_anchor": right, "child_anchor": left}
            m.add_joint(f"joint {k}", "spherical", f"link {k - 1}", f"link {k}", **ends)
    rng = np.random.default_rng(4)
    n = 3 * (links - 1)
    sim = Simulator(m, dt=dt, compiled=False)
    v, w = np.zeros((links, 3)), np.zeros((links, 3))
    v[0], w[0] = (0.3, 0.0, 0.0), (0.3, -0.2, 0.35)
    sim.set_joint_state(rng.uniform(-0.5, 0.5, n), rng.uniform(-0.3, 0.3, n), v=v, w=w)
    start = State(*(part[0] for part in sim.state))
    return Scene("flying-chain", m, start, dt, round(seconds / dt), links, conserves=True)
