"""The paper's chain: cylinders with ball joints between them, each with a contact point at its end; and one that swings
freely."""

from vigym.assets import snake
from vigym.benchmarks.scenes.scene import Scene, at_rest
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder

SPEED = (0.0, 0.5, 0.0)  # m/s, sideways: along its length, PyBullet takes twice the time
GENTLE, PAPER = 0.005, 0.3  # m: heights to fall from; long chains in reduced coordinates diverge from the second


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
        m.add_body(f"link {k}", mass=snake.MASS, shapes=[link])
        anchor = right if k else (0, 0, 0)
        m.add_joint(f"joint {k}", "spherical", parent, f"link {k}", parent_anchor=anchor, child_anchor=left)
        parent = f"link {k}"
    return Scene("free-chain", m, at_rest(m), dt, round(seconds / dt), links, conserves=True)
