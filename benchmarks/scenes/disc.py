"""The paper's single body: a cylinder that slides on its base, with more and more contact points on the rim."""

from vigym.assets import disc as asset
from vigym.benchmarks.scenes.scene import Scene, at_rest

SPEED = 1.0  # m/s; it comes to rest after SPEED^2 / (2 friction g) = 0.255 m, half a second


def disc(contacts: int = 10, drop: float = 0.0, dt: float = 0.01) -> Scene:
    """The cylinder (1 kg, radius 0.5 m, height 0.1 m) with `contacts` points, friction 0.2, sliding at 1 m/s.

    drop: height of the base above the ground at the start, m.
    """
    m = asset.build(contacts=contacts)
    start = at_rest(m, height=drop)
    start.v[:, 0] = SPEED
    return Scene("disc", m, start, dt, steps=100, size=contacts)
