"""Bodies that touch, at other scales: what is fast and thin passes no wall; sizes, masses and steps are free."""

import numpy as np
import pytest
from apart import follow

from vigym import Box, Capsule, Mechanism, Simulator, Sphere
from vigym.benchmarks.touching.parts import about, add, random_turn

FAST = {
    "ball": (Sphere(0.0025), (1, 0, 0, 0), (0, 0, 0)),
    "box": (Box((0.005, 0.005, 0.005)), about((0.6, 0.0, 0.8), 0.7), (20.0, -10.0, 5.0)),
    "capsule": (Capsule(0.002, 0.04), about((0, 1, 0), 1.2), (0, 0, 0)),
    "capsule on end": (Capsule(0.002, 0.04), about((0, 1, 0), np.pi / 2), (0, 0, 0)),
    "spinning plank": (Box((0.2, 0.02, 0.005)), about((1, 0, 0), 0.3), (0, 0, 60.0)),
}


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("start", [0.11, 0.16, 0.2037])
def test_what_is_fast_and_small_does_not_pass_a_thin_wall(name, start):
    # 20 m/s, 0.2 m a step, a wall of 5 mm: wherever in the step it is reached
    shape, turn, spin = FAST[name]
    m = Mechanism(gravity=(0, 0, 0))
    m.add_collider("wall", "world", Box((0.005, 1.0, 1.0)))
    add(m, "thing", shape, (start, 0.01, 0.02), turn, mass=1e-3, friction=0.3)
    sim = Simulator(m, dt=0.01)
    sim.set_state(v=[[-20.0, 1.0, -2.0]], w=[spin])
    x = follow(sim, 6, lambda: sim.state.x[0, 0, 0], whole=False)
    assert (x > 0).all()


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_a_small_heap_at_any_scale(length, mass):
    # lengths by L, masses by M, time by sqrt(L): positions by L, forces by M
    m = Mechanism()
    m.add_ground()
    add(m, "lower", Box((0.3 * length, 0.2 * length, 0.1 * length)), (0, 0, 0.05 * length), mass=mass)
    add(m, "ball", Sphere(0.05 * length), (0.1 * length, 0, 0.151 * length), mass=0.3 * mass)
    turn = about((0, 1, 0), np.pi / 2)
    add(m, "rod", Capsule(0.03 * length, 0.1 * length), (-0.08 * length, 0.0, 0.14 * length), turn, mass=0.2 * mass)
    sim = Simulator(m, dt=0.01 * np.sqrt(length))
    follow(sim, 60)
    found = sim.contacts()
    ground = (found.collider == 0).any(-1)
    np.testing.assert_allclose(found.force[ground].sum(0)[2], 1.5 * mass * 9.81, rtol=1e-5)


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 0.005, 0.02])
def test_a_small_stack_at_any_step(dt):
    m = Mechanism()
    m.add_ground()
    for k in range(4):
        add(m, f"box{k}", Box((0.2, 0.2, 0.2)), (0.01 * k, 0, 0.1 + 0.2 * k + 1e-4 * k), about((0, 0, 1), 0.2 * k))
    sim = Simulator(m, dt=dt)
    follow(sim, 100)
    assert sim.state.x[0, :, 2] == pytest.approx(0.1 + 0.2 * np.arange(4), abs=4e-4)


@pytest.mark.parametrize("masses", [(1e-2, 1e2), (1e-4, 1e3)])
def test_a_heavy_ball_falls_on_a_light_box(masses):
    # the box, askew, has to carry what its own weight tells nothing of
    m, rng, L = Mechanism(), np.random.default_rng(1), 0.1
    m.add_ground(friction=0.6)
    rng.permutation(2)
    shapes = Box((0.5 * L, 0.4 * L, 0.3 * L)), Sphere(0.2 * L)
    for k, (shape, mass) in enumerate(zip(shapes, masses, strict=True)):
        place = L * np.array([rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), 0.7 + 0.9 * k])
        add(m, f"b{k}", shape, place, random_turn(rng), mass=mass, friction=0.6)
    sim = Simulator(m, dt=0.01 * np.sqrt(L / 0.5))
    follow(sim, 60, whole=False)
