"""Cylinders on planes: they stand, lie, roll and tip as rigid ones do."""

import numpy as np
import pytest
from apart import follow

from vigym import Box, Capsule, Cylinder, Mechanism, Plane, Simulator, Sphere
from vigym.benchmarks.touching.parts import GRAVITY, about, add
from vigym.engine.rotation import multiply, rotation_matrix

RADIUS, LENGTH = 0.1, 0.4
LYING = tuple(about((1, 0, 0), np.pi / 2))  # its axis is along -y


def drum(slope: float = 0.0, turn=(1.0, 0.0, 0.0, 0.0), height: float = LENGTH / 2, friction: float = 2.0) -> Mechanism:
    """A cylinder above a plane that falls along x; turn and height as seen from the plane."""
    m, tilt = Mechanism(), np.array(about((0, 1, 0), slope))
    m.add_collider("slope", "world", Plane(orientation=tuple(tilt)), friction=friction)
    place = height * np.array([np.sin(slope), 0, np.cos(slope)])
    add(m, "drum", Cylinder(RADIUS, LENGTH), place, multiply(tilt, np.array(turn)), mass=1.0, friction=friction)
    return m


def test_a_wheel_rolls_down_a_slope():
    # solid cylinder, I = m r^2/2: a = 2/3 g sin; the force is constant, so that the step has no error but the tolerance
    slope, h, steps = 0.3, 0.01, 100
    sim = Simulator(drum(slope, LYING, RADIUS), dt=h)
    follow(sim, steps)
    speed = 2 / 3 * GRAVITY * np.sin(slope) * steps * h
    np.testing.assert_allclose(sim.state.v[0, 0], speed * np.array([np.cos(slope), 0, -np.sin(slope)]), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(sim.state.w[0, 0]), speed / RADIUS, atol=1e-7)
    assert len(sim.contacts()) == 2  # both rims


def test_a_wheel_rolls_on_the_level():
    sim = Simulator(drum(turn=LYING, height=RADIUS), dt=0.01)
    sim.set_state(v=[[3.0, 0, 0]], w=[[0, 0, -3.0 / RADIUS]])  # 0.3 rad in a step
    follow(sim, 200)
    np.testing.assert_allclose(sim.state.v[0, 0], [3.0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(sim.state.x[0, 0], [6.0, 0, RADIUS], atol=1e-8)


def test_a_slippery_wheel_slides():
    # friction 0.05 < tan(slope)/3: it slips, a = g (sin - 0.05 cos), and turns with 2 * 0.05 g cos / r
    slope, h, steps = 0.4, 0.01, 50
    sim = Simulator(drum(slope, LYING, RADIUS, friction=0.05), dt=h)
    follow(sim, steps)
    time = steps * h
    speed, spin = GRAVITY * (np.sin(slope) - 0.05 * np.cos(slope)) * time, 0.1 * GRAVITY * np.cos(slope) / RADIUS * time
    np.testing.assert_allclose(np.linalg.norm(sim.state.v[0, 0]), speed, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(sim.state.w[0, 0]), spin, rtol=1e-6)


@pytest.mark.parametrize("beyond", [-0.004, 0.004])
@pytest.mark.parametrize("around", [0.0, np.pi / 8])  # on a point that is fixed to the rim, or between two
def test_a_cylinder_tips_where_its_centre_is_beyond_its_rim(beyond, around):
    # tan(slope) = r / (l/2)
    sim = Simulator(drum(np.arctan(2 * RADIUS / LENGTH) + beyond, about((0, 0, 1), around)), dt=0.01)
    before = sim.state.q[0, 0].copy()
    follow(sim, 50)
    moved = np.abs(sim.state.q[0, 0] - before).max()
    assert moved > 1e-3 if beyond > 0 else moved < 1e-9


def test_a_tilted_cylinder_comes_to_stand():
    tilt = 0.05
    height = LENGTH / 2 * np.cos(tilt) + RADIUS * np.sin(tilt) + 0.005
    sim = Simulator(drum(turn=about((0.6, 0.8, 0), tilt), height=height), dt=0.01)
    follow(sim, 150)
    np.testing.assert_allclose(rotation_matrix(sim.state.q[0, 0])[:, 2], [0, 0, 1], atol=1e-8)
    np.testing.assert_allclose(sim.state.x[0, 0, 2], LENGTH / 2, atol=1e-8)
    np.testing.assert_allclose(sim.contacts().force.sum(0), [0, 0, GRAVITY], atol=1e-7)


def test_thrown_cylinders_are_solved():
    # number 24 lands flat while it turns, which failed with fewer points on the rim
    rng, n = np.random.default_rng(7), 64
    m = Mechanism()
    m.add_ground()
    m.add_body("drum", mass=1.0, shapes=[Cylinder(0.08, 0.12)], position=(0, 0, 0.3))
    sim = Simulator(m, dt=0.01, num_envs=n)
    q = rng.normal(size=(n, 1, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    sim.set_state(q=q, v=rng.normal(size=(n, 1, 3)), w=8 * rng.normal(size=(n, 1, 3)))
    for _ in range(80):
        sim.step()
        assert sim.status.converged.all()
        assert sim.distance("drum", "world").min() > -1e-9


def test_batches_are_single_ones():
    turns = [about((1, 0.2 * k, 0) / np.linalg.norm((1, 0.2 * k, 0)), 0.3 * k) for k in range(5)]
    together = Simulator(drum(height=0.3), dt=0.01, num_envs=5)
    together.set_state(q=np.array(turns)[:, None])
    alone = [Simulator(drum(height=0.3), dt=0.01) for _ in turns]
    for sim, turn in zip(alone, turns, strict=True):
        sim.set_state(q=[turn])
    for _ in range(60):
        together.step()
        for k, sim in enumerate(alone):
            sim.step()
            for name in "xqvw":
                np.testing.assert_array_equal(getattr(together.state, name)[k], getattr(sim.state, name)[0])


# ------------------------------------------------------------------------------------------------ on other shapes
def on_table(position, turn=(1.0, 0.0, 0.0, 0.0), edge: float = 5.0) -> Mechanism:
    """A cylinder, as long as wide, over a box that ends at x = edge and z = 0."""
    m = Mechanism()
    m.add_collider("table", "world", Box((10, 10, 0.5), position=(edge - 5, 0, -0.25)), friction=2.0)
    add(m, "drum", Cylinder(RADIUS, 2 * RADIUS), position, turn, mass=1.0, friction=2.0)
    return m


def solved(sim: Simulator, steps: int) -> None:
    """Step, without failed, relaxed or cut steps."""
    for _ in range(steps):
        sim.step()
        assert sim.status.converged.all()
        assert (sim.status.relaxed + sim.status.substeps == 1).all()


# few steps in plain Python, in which they begin to go wrong; more of them, compiled, take longer to compile
SHORT_AND_LONG = pytest.mark.parametrize(
    ("steps", "compiled"), [(6, False), pytest.param(100, True, marks=pytest.mark.slow)], ids=["short", "long"]
)


@SHORT_AND_LONG
def test_a_wheel_rolls_on_a_table_as_on_a_plane(steps, compiled):
    sim = Simulator(on_table((0, 0, RADIUS), LYING), dt=0.01, compiled=compiled)
    sim.set_state(v=[[3.0, 0, 0]], w=[[0, 0, -3.0 / RADIUS]])  # 0.3 rad in a step
    solved(sim, steps)
    np.testing.assert_allclose(sim.state.v[0, 0], [3.0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(sim.state.x[0, 0], [0.03 * steps, 0, RADIUS], atol=1e-8)


@SHORT_AND_LONG
def test_cylinders_stacked(steps, compiled):
    # two that stand on each other, aside by a third of the radius, and a ball on them; two logs across each other
    m = Mechanism()
    m.add_ground()
    for k in range(2):
        add(m, f"can {k}", Cylinder(RADIUS, RADIUS), (0.03 * k, 0, RADIUS * (k + 0.5)))
    add(m, "ball", Sphere(0.05), (0.03, 0, 2 * RADIUS + 0.05))
    along_x = about((0, 1, 0), np.pi / 2)
    add(m, "log 0", Cylinder(RADIUS, LENGTH), (1, 0, RADIUS), LYING)
    add(m, "log 1", Cylinder(RADIUS, LENGTH), (1, 0, 3 * RADIUS), along_x)
    sim = Simulator(m, dt=0.01, compiled=compiled)
    before = sim.state.x.copy()
    solved(sim, min(steps, 3) if not compiled else steps)
    np.testing.assert_allclose(sim.state.x, before, atol=1e-7)
    found = sim.contacts()
    np.testing.assert_allclose(found.force[found.collider[:, 1] == 0].sum(0), [0, 0, 5 * GRAVITY], atol=1e-4)


@pytest.mark.parametrize("turn", [(1.0, 0.0, 0.0, 0.0), LYING])  # on its end; on its side, along the edge
@pytest.mark.parametrize("beyond", [-0.002, 0.002])
def test_a_cylinder_at_the_edge_of_a_table(turn, beyond):
    # it falls if its centre is beyond the edge: at once, by about g sin beyond / r
    sim = Simulator(on_table((beyond, 0, RADIUS), turn, edge=0.0), dt=0.02, compiled=False)
    solved(sim, 4)
    turned = np.linalg.norm(sim.state.w[0, 0])
    assert turned > 1e-3 if beyond > 0 else turned < 1e-7


@pytest.mark.slow
def test_cylinders_meet_other_shapes():
    rng, n = np.random.default_rng(3), 8
    m = Mechanism()
    m.add_collider("table", "world", Box((1.0, 1.0, 0.2), position=(0, 0, -0.1)))
    for k, shape in enumerate([Cylinder(0.1, 0.15), Sphere(0.08), Capsule(0.05, 0.2), Box((0.2, 0.15, 0.1))]):
        add(m, f"thing {k}", shape, (0.05 * k, 0, 0.2 + 0.3 * k))
    add(m, "other", Cylinder(0.08, 0.25), (0, 0.05, 1.4))
    sim = Simulator(m, dt=0.01, num_envs=n)
    q = rng.normal(size=(n, 5, 4))
    sim.set_state(q=q / np.linalg.norm(q, axis=-1, keepdims=True), w=2 * rng.normal(size=(n, 5, 3)))
    cut = 0
    for _ in range(120):
        sim.step()
        assert sim.status.converged.all()
        cut += int((sim.status.substeps > 1).sum())
    assert cut < 0.02 * 120 * n
    names = [body.name for body in m.bodies]
    for i, first in enumerate(names):
        for second in [*names[:i], "world"]:
            assert sim.distance(first, second).min() > -1e-8
