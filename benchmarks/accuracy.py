"""Errors of simulated motions at five time steps, against closed forms and accurate solutions of the same equations.

    python -m vigym.benchmarks.accuracy            # the tables of docs/accuracy.md
    python -m vigym.benchmarks.accuracy --quick    # three steps instead of five

The motions are those of motions.py.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import hypot, log2, pi
from typing import NamedTuple

import numpy as np

from vigym.benchmarks import motions
from vigym.benchmarks.tables import markdown
from vigym.engine.simulator import Simulator

STEPS = (0.02, 0.01, 0.005, 0.0025, 0.00125)  # s
QUICK = STEPS[:3]
EXACT = 1e-7  # relative error below which there is no order to tell: solver tolerance and rounding


class Problem(NamedTuple):
    """A row: what is compared, its error at a time step, and the order the method has there; 0 is exact."""

    name: str
    error: Callable[[float], float]
    order: int


PROBLEMS = (
    Problem("free fall for 1 s, velocity set as of now", motions.free_fall, 1),
    Problem("free fall for 1 s, velocity set half a step early", motions.free_fall_started_early, 0),
    Problem("tumbling body: angular velocity after 10 s", motions.tumbling, 2),
    Problem("pendulum: angle after 10 swings of 1 rad", motions.hinge_pendulum, 2),
    Problem("double pendulum: swing of the energy", motions.double_pendulum_energy, 2),
    Problem("wheel: speed after 1 s of constant torque", motions.driven_wheel, 0),
    Problem("top: precession in 2 s, 50 rad/s spin", motions.top_precession, 2),
    Problem("spring of 1 Hz: position after 10 periods", motions.spring_phase, 2),
    Problem("spring of 1 Hz: energy after 10 periods", motions.spring_energy, 0),
    Problem("spring of 1 Hz with damper: position after 1 period", motions.damped_spring, 1),
    Problem("spring of 1 Hz with dry friction: position after 1 period", motions.dry_spring, 1),
    Problem("PD drive of 10 rad/s: step response", motions.drive_response, 1),
    Problem("soft contact, 10 rad/s: height of rebound", motions.soft_bounce, 1),
    Problem("hard contact, e = 0.8: height of rebound", motions.hard_bounce, 1),
    Problem("hard contact, e = 0.8: position 0.2 s later", motions.hard_bounce_later, 1),
    Problem("sliding block: way to rest, velocity set as of now", motions.sliding_block_now, 1),
    Problem("sliding block: way to rest, velocity set half a step early", motions.sliding_block, 2),
    Problem("sphere rolling down a slope: way in 1 s", motions.rolling_sphere, 0),
    Problem("rod falling over a stuck tip: angle", motions.falling_rod, 2),
)


class Loss(NamedTuple):
    """A row: what is kept of a motion that loses nothing in the exact solution."""

    name: str
    kept: Callable[[float], float]


def elastic_rebound(h: float) -> float:
    """Mean height of the rebound of a hard ball with e = 1 from 0.5 m, over that of the fall."""
    return float(motions.rebound(h, restitution=1.0).mean())


def soft_rebound(stiffness: float) -> Callable[[float], float]:
    """Mean height of the rebound of 1 kg from 0.5 m, over that of the fall."""
    return lambda h: float(motions.rebound(h, compliance=1 / stiffness).mean())


def drive_swing(frequency: float) -> Callable[[float], float]:
    """Amplitude of 1 kg on a drive without kd after one period, over that at its start."""
    w = 2 * pi * frequency

    def kept(h: float) -> float:
        sim = Simulator(motions.slider(kp=w**2), h)
        sim.set_joint_state([1.0])
        motions.advance(sim, 1 / frequency)
        return hypot(sim.joint_positions()[0, 0], sim.joint_velocities()[0, 0] / w)

    return kept


LOSSES = (
    Loss("hard contact, e = 1: rebound", elastic_rebound),
    Loss("soft contact of 100 N/m (10 rad/s): rebound", soft_rebound(1e2)),
    Loss("soft contact of 1e3 N/m (32 rad/s): rebound", soft_rebound(1e3)),
    Loss("soft contact of 1e4 N/m (100 rad/s): rebound", soft_rebound(1e4)),
    Loss("drive of 2 Hz (13 rad/s): amplitude after 1 period", drive_swing(2.0)),
    Loss("drive of 10 Hz (63 rad/s): amplitude after 1 period", drive_swing(10.0)),
)


SIZES = {1e-4: "0.1 mm, 1 microgram", 1e-2: "1 cm, 1 g", 1.0: "1 m, 1 t", 10.0: "10 m, 1 kt"}  # of the falling rod
TOLERANCES = (1e-2, 1e-4, 1e-6)


def tolerance_errors(size: float) -> list[float]:
    """Change of the rod's angle at 10 ms by each tolerance, against one of 1e-10."""
    best = motions.rod_angle(0.01, size, 1e-10)
    return [abs(motions.rod_angle(0.01, size, tolerance) / best - 1) for tolerance in TOLERANCES]


def observed_order(errors: Sequence[float]) -> float | None:
    """Exponent of h between the last two errors, whose steps differ by a factor of 2; None if the result is exact."""
    return None if errors[-1] < EXACT else log2(errors[-2] / errors[-1])


def step_for(error: float, steps: Sequence[float], errors: Sequence[float], order: int) -> float:
    """Time step that keeps a problem within `error`: between two measured ones, or beyond them by its order."""
    if errors[0] <= error:
        return steps[0] * (error / errors[0]) ** (1 / order)
    if errors[-1] >= error:
        return steps[-1] * (error / errors[-1]) ** (1 / order)
    return float(np.exp(np.interp(np.log(error), np.log(errors[::-1]), np.log(steps[::-1]))))


def milliseconds(h: float, longest: float) -> str:
    """A time step for a table, rounded down to two digits; longer ones than were measured are not told."""
    if h >= longest:
        return f"{1e3 * longest:g} ms or more"
    unit = 10.0 ** (np.floor(np.log10(1e3 * h)) - 1)
    return f"{np.floor(1e3 * h / unit + 1e-6) * unit:.2g} ms"


def tables(steps: Sequence[float]) -> dict[str, str]:
    """Markdown tables by name: errors, steps that keep them within 1 % and 0.1 %, losses, sizes of bodies."""
    header = [f"{1e3 * h:g} ms" for h in steps]
    errors, limits = [], []
    for problem in PROBLEMS:
        measured = [problem.error(h) for h in steps]
        order = observed_order(measured)
        cells = ["0" if error < EXACT else f"{error:.1e}" for error in measured]
        errors.append([problem.name, *cells, "exact" if order is None else f"{order:.1f}"])
        if problem.order:
            told = (step_for(error, steps, measured, problem.order) for error in (0.01, 0.001))
            limits.append([problem.name, *(milliseconds(h, steps[0]) for h in told)])
    losses = [[name, *(f"{kept(h):.2f}" for h in steps)] for name, kept in LOSSES]
    sizes = [[name, *(f"{error:.0e}" for error in tolerance_errors(size))] for size, name in SIZES.items()]
    return {
        "errors": markdown(["relative error", *header, "order"], errors),
        "steps": markdown(["longest step to stay", "within 1 %", "within 0.1 %"], limits),
        "losses": markdown(["kept, of 1", *header], losses),
        "sizes": markdown(["falling rod", *(f"tolerance {tolerance:g}" for tolerance in TOLERANCES)], sizes),
    }


@dataclass
class Accuracy:
    """Print the errors of simulated motions by time step as Markdown tables; needs SciPy.

    quick: time steps of 20, 10 and 5 ms only
    """

    quick: bool = False

    def run(self) -> int:
        """Print all tables; return the exit status."""
        if find_spec("scipy") is None:
            print('scipy is not installed; pip install "vigym[compare]" brings it', file=sys.stderr)
            return 2
        print("\n".join(tables(QUICK if self.quick else STEPS).values()), end="")
        return 0


if __name__ == "__main__":
    import tyro

    sys.exit(tyro.cli(Accuracy).run())
