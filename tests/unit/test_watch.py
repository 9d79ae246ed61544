"""Lists of couples that may meet: nothing that is left out could have touched, and no list has a part in a result."""

import numpy as np
import pytest

from vigym import Box, Capsule, Mechanism, Simulator, Sphere
from vigym.benchmarks.touching.piles import dropped
from vigym.engine.kernels.collision import detect, watch
from vigym.engine.kernels.interior_point import start_bodies
from vigym.engine.kernels.motion_bounds import look_ahead
from vigym.engine.kernels.step import begin_step
from vigym.engine.kernels.store import Group
from vigym.engine.rotation import from_rotation_vector


def crowd() -> Mechanism:
    """Solids of all kinds: free ones, and two that a hinge connects, above a plane."""
    m = Mechanism()
    m.add_ground()
    m.add_collider("block", "world", Box((0.3, 0.3, 0.2), position=(0.4, 0, 0.1)))
    shapes = [Sphere(0.1), Capsule(0.06, 0.2), Box((0.2, 0.15, 0.1)), Box((0.1, 0.1, 0.3)), Capsule(0.05, 0.3)]
    for k, shape in enumerate(shapes):
        m.add_body(f"body{k}", mass=1.0, shapes=[shape], position=(0, 0, 0.3 + 0.4 * k))
    for k, z in enumerate((0.2, -0.2)):
        solids = [Capsule(0.04, 0.1, position=(0, 0, z)), Capsule(0.04, 0.1, position=(0, 0, -z)), Sphere(0.05)]
        m.add_body(f"arm{k}", mass=1.0, shapes=solids, position=(1, 0, 1))
        m.add_joint(f"arm{k}", "spherical", "body0" if k == 0 else "arm0", f"arm{k}", parent_anchor=(0, 0, 0.1 * k))
    return m


def begun(sim: Simulator, x: np.ndarray, q: np.ndarray, v: np.ndarray, w: np.ndarray) -> tuple[Group, Group, Group]:
    """The stores of a step that starts at this state, in all lanes."""
    m, s, t = sim._lanes.constants[0], sim._lanes.store[0], sim._lanes.scratch[0][0]
    for field, values in ((s.x, x), (s.q, q), (s.v, v), (s.w, w)):
        field[...] = values[..., None]
    s.real = 1.0
    begin_step(m, s, t)
    t.h, t.live = sim.dt, 1.0
    start_bodies(m, s, t)
    look_ahead(m, s, t)
    return m, s, t


def test_what_is_left_out_has_no_features():
    # lists made at one pose, looked at from others, as long as they say that they hold: couples that are not in them,
    # or too far, have no features within what bodies are assumed to move, and do not overlap on their way
    sim, rng, dense = Simulator(crowd(), dt=0.01, compiled=False), np.random.default_rng(0), 0.6
    n, couples = sim.model.n_bodies, len(sim.model.couples)
    left_out = kept = old = 0
    for _ in range(25):
        x, turns = rng.uniform(-dense, dense, (n, 3)), rng.normal(size=(n, 3))
        speed = 10.0 ** rng.uniform(-2, 1.5)
        v, w = speed * rng.normal(size=(n, 3)), 3.0 * speed * rng.normal(size=(n, 3))
        m, s, t = begun(sim, x, from_rotation_vector(turns), v, w)
        watch.make_list(m, s, t, 0, 0)
        for more in (0.0, 0.01, 0.04):
            moved = x + more * rng.normal(size=3) + 0.3 * more * rng.normal(size=(n, 3))
            turned = from_rotation_vector(turns + more * rng.normal(size=(n, 3)))
            m, s, t = begun(sim, moved, turned, v, w)
            if t.stale[0] > 0.5:
                continue
            old += more > 0.0
            watch.start_list(m, s, t, 0, 0)
            t.live = np.array([1.0, 0.0, 0.0, 0.0])
            for couple in range(couples):
                if watch.take(m, s, t, couple, 0):
                    kept += 1
                    continue
                left_out += 1
                if detect.is_near(m, t, couple, 0):
                    assert detect.find(m, t, couple, 0) == 0
                first, second = m.couple_first[couple], m.couple_second[couple]
                assert detect.onset(m, t, first, second, 0, 0) < 0.0
    assert min(left_out, kept, old) > 30


def test_lists_have_no_part_in_a_result():
    # one simulator makes its lists anew in every step, another one when it must: both to the bit
    lasting, anew = (Simulator(dropped(4, 4), dt=0.01, num_envs=3) for _ in range(2))
    for step in range(120):
        anew._lanes.store.grown[0]["margin"][...] = 0.0
        if step == 60:  # bodies that are put elsewhere
            for sim in (lasting, anew):
                sim.set_state(x=sim.state.x + np.array([0, 0, 0.5]), v=np.zeros((8, 3)), mask=[False, True, False])
        lasting.step()
        anew.step()
        for one, other in zip(lasting.state, anew.state, strict=True):
            np.testing.assert_array_equal(one, other)
    assert lasting.status.converged.all()


@pytest.mark.parametrize("solid", [Sphere(0.05), Box((0.1, 0.1, 0.1))])
def test_a_fast_body_meets_what_no_list_had(solid):
    # at 40 m/s, it is near the wall in one step out of many
    m = Mechanism(gravity=(0, 0, 0))
    m.add_collider("wall", "world", Box((0.05, 2.0, 2.0)))
    m.add_body("ball", mass=1.0, shapes=[solid], position=(-4.02, 0, 0))
    sim = Simulator(m, dt=0.01)
    sim.set_state(v=[[40.0, 0, 0]])
    for _ in range(30):
        sim.step()
        assert sim.distance("ball", "world").min() > -1e-8
    assert sim.state.x[0, 0, 0] < 0.0
