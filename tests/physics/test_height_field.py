"""Bodies on a height field: flat ones are planes, ridges and valleys have closed forms, nothing goes through."""

import resource

import numpy as np
import pytest
from on_ground import SHAPES, G, motion, scaled, world

from vigym import HeightField, Mechanism, MechanismError, Plane, Simulator, Sphere, StateError


def wedge(angle, up):
    """Two slopes that meet at x = 0, in a valley or a ridge along y."""
    x = np.linspace(-2.0, 2.0, 9)
    return HeightField(np.tile((1.0 if up else -1.0) * np.abs(x) * np.tan(angle), (9, 1)), (4.0, 4.0))


def hills(seed=0, high=0.08):
    return HeightField(np.random.default_rng(seed).uniform(0.0, high, (33, 33)), (3.2, 3.2))


def turns(rng, n):
    q = rng.normal(size=(n, 1, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("size", [0.01, 1.0])
def test_flat_field_is_a_plane(kind, size):
    # a thrown, tumbling, sliding, rolling body does the same on both, wherever the grid is crossed
    for x, y in ((0.0, 0.0), (0.25, 0.25), (0.13, -0.37)):
        at = size * np.array([x, y, 0.25])
        start = {"x": at, "v": size**0.5 * np.array([1.0, 0.4, 0.0]), "w": size**-0.5 * np.array([3.0, 1.0, 1.0])}
        field = HeightField(np.zeros((17, 17)), (4.0 * size, 4.0 * size))
        body, dt = scaled(SHAPES[kind], size), 0.01 * size**0.5
        found = [motion(world(body, ground, at), 120, dt, **start) for ground in (Plane(), field)]
        assert np.abs(found[0][0][:, :3] - found[1][0][:, :3]).max() < 1e-9 * size
        assert np.abs(found[0][0][:, 3:7] - found[1][0][:, 3:7]).max() < 1e-9
        assert found[1][1].status.substeps.max() == 1


@pytest.mark.parametrize("kind", SHAPES)
def test_tilted_field_is_an_incline(kind):
    slope = np.arctan(0.3)
    x = np.linspace(-4.0, 4.0, 33)
    field = HeightField(np.tile(0.3 * x, (33, 1)), (8.0, 8.0))
    plane = Plane(orientation=(np.cos(slope / 2), 0.0, -np.sin(slope / 2), 0.0))
    start = {"x": (2.03, 0.11, 0.9), "v": (0.0, 0.5, 0.0), "w": (0.3, -0.2, 0.7)}
    if kind == "box":  # one that lands turning has no unique friction at its corners: it slides
        up = np.array([-0.3, 0.0, 1.0]) / 1.09**0.5
        start = {"x": np.array([2.0, 0.11, 0.6]) + 0.075 * up, "q": plane.orientation, "v": (0.0, 0.5, 0.0)}
    one, two = (motion(world(SHAPES[kind], ground, friction=0.2), 100, **start)[0] for ground in (plane, field))
    assert abs(one[-1, 0] - 2.03) > 0.3  # it went down
    assert np.abs(one - two)[:, :7].max() < 1e-9  # velocities of a box that just landed less, 1e-7


@pytest.mark.parametrize("angle", [np.radians(20.0), np.radians(45.0)])
def test_ball_in_a_valley_has_the_forces_of_a_groove(angle):
    # each side carries G/2 upwards and G/2 tan(angle) inwards; the ball's centre is r/cos(angle) above the bottom
    high = 0.1 / np.cos(angle)
    _, sim = motion(world(SHAPES["ball"], wedge(angle, True), (0.0, 0.13, high + 1e-3), 0.0), 60)
    found = sim.contacts()
    assert len(found) == 2
    aside = G / 2 * np.tan(angle)
    assert np.allclose(found.force[np.argsort(found.force[:, 0])], [[-aside, 0, G / 2], [aside, 0, G / 2]], atol=1e-6)
    assert np.allclose(sim.state.x[0, 0], [0.0, 0.13, high], atol=1e-9)


def test_ball_rolls_around_a_ridge():
    # its centre stays at a radius from the edge until it is above the slope, then at a radius from the slope
    angle, r, touched = np.radians(30.0), 0.1, []
    sim = Simulator(world(SHAPES["ball"], wedge(angle, False), (1e-3, 0.13, (r**2 - 1e-6) ** 0.5), 1.0), dt=0.005)
    for _ in range(180):
        sim.step()
        x, _, z = sim.state.x[0, 0]
        around = x < r * np.sin(angle)
        assert abs((x**2 + z**2) ** 0.5 - r if around else x * np.sin(angle) + z * np.cos(angle) - r) < 1e-5
        touched.append(around)
    assert touched[20]
    assert not touched[-1]
    assert sim.distance("body", "world")[0] > -1e-9
    # rolling without slip: G drop = 7/10 v^2, to the order of the step
    v, drop = np.linalg.norm(sim.state.v[0, 0]), r - sim.state.x[0, 0, 2]
    assert abs(0.7 * v**2 / (G * drop) - 1.0) < 0.05


def test_ball_rolls_around_a_peak():
    heights = np.zeros((5, 5))
    heights[2, 2] = 0.5
    r = 0.1
    field = HeightField(heights, (2.0, 2.0))
    sim = Simulator(world(SHAPES["ball"], field, (2e-3, 1e-3, 0.5 + (r**2 - 5e-6) ** 0.5), 1.0), dt=0.005)
    for _ in range(40):
        sim.step()
        assert abs(np.linalg.norm(sim.state.x[0, 0] - [0, 0, 0.5]) - r) < 1e-6
    assert len(sim.contacts()) == 1


def test_box_on_a_ridge_is_carried_where_its_edges_cross_it():
    sim = Simulator(world(SHAPES["box"], wedge(np.radians(30.0), False), (0.0, 0.1, 0.075)), dt=0.01)
    sim.step(repeat=3)
    found = sim.contacts()
    assert np.allclose(np.sort(found.position[:, 1]), [-0.05, 0.25], atol=1e-6)
    assert np.allclose(found.force, [[0, 0, G / 2]] * 2, atol=1e-3)


def test_box_lies_on_a_table_that_is_smaller():
    heights = np.zeros((9, 9))
    heights[4:6, 4:6] = 0.3  # one cell of 0.1 m below a box of 0.2 x 0.3 m
    field = HeightField(heights, (0.8, 0.8))
    sim = Simulator(world(SHAPES["box"], field, (0.06, 0.04, 0.3751)), dt=0.01)
    sim.step(repeat=80)
    assert np.allclose(sim.state.x[0, 0], [0.06, 0.04, 0.375], atol=1e-6)
    assert abs(sim.contacts().force[:, 2].sum() - G) < 1e-4


def test_what_passes_the_border_falls():
    # a box whose side is 0.1 mm beyond it
    field = HeightField(np.zeros((5, 5)), (2.0, 2.0))
    found, _ = motion(world(SHAPES["box"], field, (1.1001, 0.1, 0.2)), 40, 0.01)
    assert np.isclose(found[-1, 2], 0.2 - 0.5 * G * 0.01**2 * 40 * 41, atol=1e-9)


@pytest.mark.parametrize("kind", SHAPES)
def test_nothing_sinks_into_rough_ground(kind):
    rng, n = np.random.default_rng(1), 8
    sim = Simulator(world(SHAPES[kind], hills(), (0, 0, 1)), dt=0.01, num_envs=n)
    x, q = np.zeros((n, 1, 3)), turns(rng, n)
    x[..., :2], x[..., 2] = rng.uniform(-0.8, 0.8, (n, 1, 2)), 0.4
    sim.set_state(x=x, q=q, v=rng.normal(size=(n, 1, 3)), w=3.0 * rng.normal(size=(n, 1, 3)))
    for _ in range(120):
        sim.step()
        assert sim.status.converged.all()
        assert sim.distance("body", "world").min() > -1e-8


def test_fast_ball_does_not_pass_through():
    # 20 m/s: 20 diameters in a step
    rng, n = np.random.default_rng(2), 16
    field = HeightField(rng.uniform(0.0, 0.05, (41, 41)), (2.0, 2.0))
    sim = Simulator(world(Sphere(0.005), field, (0, 0, 0.5)), dt=0.01, num_envs=n)
    x, v = np.zeros((n, 1, 3)), rng.normal(size=(n, 1, 3))
    x[..., :2], x[..., 2] = rng.uniform(-0.3, 0.3, (n, 1, 2)), rng.uniform(0.1, 0.4, (n, 1))
    v[..., 2] = -np.abs(v[..., 2]) - 0.5
    v *= 20.0 / np.linalg.norm(v, axis=-1, keepdims=True)
    sim.set_state(x=x, v=v)
    hit = np.zeros(n, bool)
    for _ in range(6):
        sim.step()
        inside = (np.abs(sim.state.x[:, 0, :2]) < 0.99).all(-1)
        assert sim.status.converged.all()
        assert sim.distance("body", "world")[inside].min(initial=0.0) > -1e-9
        hit |= np.linalg.norm(sim.state.v - v, axis=-1)[:, 0] > 1.0
    assert hit.all()


def test_environment_of_a_batch_does_what_it_does_alone():
    rng, m = np.random.default_rng(3), world(SHAPES["box"], hills(4), (0, 0, 0.4))
    x, q = np.zeros((5, 1, 3)), turns(rng, 5)
    x[..., :2], x[..., 2] = rng.uniform(-0.8, 0.8, (5, 1, 2)), 0.4
    batch = Simulator(m, dt=0.01, num_envs=5)
    batch.set_state(x=x, q=q)
    batch.step(repeat=60)
    for k in range(5):
        alone = Simulator(m, dt=0.01)
        alone.set_state(x=x[k : k + 1], q=q[k : k + 1])
        alone.step(repeat=60)
        for name in ("x", "q", "v", "w"):
            assert np.array_equal(getattr(alone.state, name)[0], getattr(batch.state, name)[k])


def test_large_field_is_kept_once():
    y, x = np.mgrid[-1:1:1000j, -1:1:1000j]
    field = HeightField(np.sin(3 * x) * np.cos(2 * y), (100.0, 100.0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sim = Simulator(world(SHAPES["ball"], field, (0.0, 0.0, 0.5)), dt=0.01, num_envs=64)
    sim.step()
    # the numbers of the mechanism and those of the kernels, and what making them takes: 8 MB each
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 80_000
    sim.step(repeat=60)
    assert abs(sim.distance("body", "world")).max() < 1e-8


def test_start_below_the_surface():
    m = world(SHAPES["ball"], hills(), (0.3, 0.2, 0.13))
    with pytest.raises(StateError, match=r"'body'.*'ground'|'ground'.*'body'"):
        Simulator(m).step()
    sim = Simulator(m, overlap="separate")
    assert -1e-9 <= sim.distance("body", "world")[0] < 1e-6


def test_ground_is_of_the_world_and_planes_do_not_touch_it():
    m = Mechanism()
    m.add_body("body", 1.0, shapes=[Sphere(0.1)])
    with pytest.raises(MechanismError, match=r"HeightField is ground of the 'world'.*'body'"):
        m.add_collider("hill", "body", hills())
    m.add_collider("hill", "world", hills(), group=2)
    m.add_collider("plate", "body", Plane())
    with pytest.raises(MechanismError, match="'plate', a Plane, cannot touch 'hill'"):
        Simulator(m)
    m.ignore_contact("plate", "hill")
    Simulator(m, overlap="keep")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"heights": np.zeros(5)}, "heights must be"),
        ({"heights": np.zeros((1, 5))}, "at least 2 x 2"),
        ({"heights": [[0.0, np.nan], [0.0, 0.0]]}, "heights"),
        ({"size": (1.0, 0.0)}, "size must be two lengths > 0"),
        ({"size": (1.0, 1e-9)}, "too thin"),
        ({"orientation": (0, 0, 0, 0)}, "orientation"),
    ],
)
def test_bad_fields(given, words):
    with pytest.raises(MechanismError, match=words):
        HeightField(**({"heights": np.zeros((3, 3)), "size": (1.0, 1.0)} | given))
