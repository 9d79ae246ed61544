"""Bodies that touch each other: a stack of boxes, a rod that two plates hold, balls that fall into a box."""

from vigym.benchmarks.scenes.scene import Scene, at_rest
from vigym.benchmarks.touching import grips, piles

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
