"""Arches of stones without mortar stand if, and only if, a line of thrust fits into the ring (Heyman).

Stones push on each other through n + 1 joints. With N the force across a joint at the angle a, and r how far from the
middle of the ring it acts, its moment about that middle is r N; it must act between the two faces of the ring. Forces
and moment at the first joint are three unknowns, weights give those at all others, and whether there is a solution is
a linear programme. Friction does not slide here, as joints are nearly at right angles to the thrust.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from vigym import Simulator
from vigym.assets import arch


def fits(thickness: float, stones: int) -> bool:
    """True if there is a line of thrust in a semicircular ring of radius 1."""
    inner, outer = 1.0 - thickness / 2, 1.0 + thickness / 2
    rows, bounds, weight, moment = [], [], 0.0, 0.0  # of what is beyond a joint
    for k, angle in enumerate(np.linspace(0.0, np.pi, stones + 1)):
        if k:  # a wedge with straight edges: its area, and the x of its centre
            before, half = angle - np.pi / stones, np.pi / stones / 2
            area = np.sin(2 * half) * (outer**2 - inner**2) / 2
            middle = 2 / 3 * np.cos(half) * (outer**3 - inner**3) / (outer**2 - inner**2)
            weight -= area
            moment -= area * middle * np.cos(before + half)
        along = np.array([-np.sin(angle), np.cos(angle), 0.0])  # N = along . (Fx, Fz, M) + along_z weight
        for sign, r in ((1.0, inner), (-1.0, outer)):  # inner N <= M <= outer N
            rows.append(sign * (r * along - [0.0, 0.0, 1.0]))
            bounds.append(sign * (moment - r * along[1] * weight))
    return linprog(np.zeros(3), A_ub=np.array(rows), b_ub=bounds, bounds=[(None, None)] * 3).status == 0


def thinnest(stones: int) -> float:
    """Return the least thickness of a ring that stands, in radii."""
    low, high = 0.01, 0.5
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle, stones) else (middle, high)
    return high


def test_the_limit_of_many_stones():
    """0.1075 of the radius, for joints everywhere (Milankovitch 1907)."""
    assert thinnest(400) == pytest.approx(0.1075, abs=1e-4)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e2])
@pytest.mark.parametrize("stones", [5, 11])
def test_an_arch_stands_if_a_line_of_thrust_fits(stones, scale):
    """2 % thicker than the limit it stands, without creeping; 2 % thinner it falls: time goes with the root of size."""
    limit, dt = thinnest(stones), 0.01 * np.sqrt(scale)
    for part, stands in ((1.02, True), (0.98, False)):
        sizes = {"radius": scale, "thickness": part * limit * scale, "depth": 0.3 * scale}
        sim = Simulator(arch.build(stones=stones, friction=0.9, **sizes), dt=dt)
        start, solved = sim.state.x, True
        for _ in range(150):
            sim.step()
            solved &= bool(sim.status.converged[0])
        moved = np.linalg.norm(sim.state.x - start, axis=-1).max() / scale
        assert solved
        assert (moved < 1e-9) if stands else (moved > 0.2), (part, moved)


def test_without_its_keystone_it_falls():
    """It stands until its keystone is pulled out; 1.5 s later, no other stone is left in the air."""
    from vigym.envs.demo.scenes import pull_keystone, stone_arch

    sim, lowest = stone_arch(), np.inf
    highest = sim.state.x[0, :, 2].max()
    for k in range(250):
        sim.step(**pull_keystone(sim, 0.01 * k))
        lowest = min(lowest, sim.contacts().gap.min())
        if k == 99:  # it is pulled from the next step on
            assert sim.state.x[0, :, 2].max() == pytest.approx(highest, abs=1e-9)
    assert lowest > -1e-8
    others = np.delete(sim.state.x[0, :, 2], arch.STONES // 2)
    assert others.max() < 0.5 * highest
