"""Bodies that touch each other: stacks, planks, capsules, grips; closed forms of statics and of impacts."""

import numpy as np
import pytest
from scenes import GRAVITY

from vigym import Box, Capsule, Mechanism, Plane, Simulator, Sphere

pytestmark = pytest.mark.usefixtures("judged")
CREEP = 1e-11  # of a size, what sticks may move by in a step
GAP = 1e-8  # m, boxes; spheres and capsules are better


def add(m: Mechanism, name: str, shape, position, mass: float = 1.0, friction: float = 0.8, turn=(1, 0, 0, 0)) -> None:
    m.add_body(name, mass=mass, shapes=[shape], position=position, orientation=turn, friction=friction)


def about(axis, angle: float) -> np.ndarray:
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis, float))])


def still(sim: Simulator, steps: int) -> float:
    """Advance; the farthest that anything has moved in a step, on average."""
    before = sim.state.x
    for _ in range(steps):
        sim.step()
        assert sim.status.converged.all()
        assert sim.contacts().gap.min() > -GAP
    return float(np.abs(sim.state.x - before).max()) / steps


@pytest.mark.parametrize(("n", "shift", "yaw"), [(5, 0.0, 0.0), (8, 1e-3, 0.0), (8, 0.0, 0.3)])
def test_a_stack_of_boxes_stands(n, shift, yaw):
    # every box carries those above it; nothing creeps, whether corners meet corners, edges or faces
    m = Mechanism()
    m.add_ground()
    for k in range(n):
        add(m, f"box{k}", Box((0.2, 0.2, 0.2)), (shift * (k % 3), 0, 0.1 + 0.2 * k), turn=about((0, 0, 1), yaw * k))
    sim = Simulator(m, dt=0.01)
    sim.step(repeat=5)
    assert still(sim, 100) < CREEP * 0.2
    found = sim.contacts()
    ground = found.collider[:, 1] == 0
    np.testing.assert_allclose(found.force[ground].sum(0), [0, 0, n * GRAVITY], atol=1e-6)


def test_a_plank_tips_where_its_centre_of_mass_leaves_the_box():
    m = Mechanism()
    m.add_collider("table", "world", Box((1.0, 1.0, 0.2), position=(0, 0, -0.1)))
    add(m, "plank", Box((0.6, 0.1, 0.02)), (0.5, 0, 0.01))
    sim = Simulator(m, dt=0.005, num_envs=2)
    sim.set_state(x=[[[0.499, 0, 0.01]], [[0.501, 0, 0.01]]])
    sim.step(repeat=300)
    stands, tips = sim.state.x[:, 0, 2]
    assert abs(stands - 0.01) < GAP
    assert tips < 0.0095  # g d/(k^2 + d^2) = 0.33 rad/s^2 turn it by 0.37 rad in 1.5 s


def test_crossed_planks_touch_where_they_cross():
    # no corner of one is over the other: edges that cross carry it
    m = Mechanism()
    m.add_ground()
    add(m, "lower", Box((1.0, 0.1, 0.1)), (0, 0, 0.05))
    add(m, "upper", Box((0.1, 1.0, 0.1)), (0.3, 0, 0.15))
    sim = Simulator(m, dt=0.01)
    sim.step(repeat=5)
    assert still(sim, 100) < CREEP
    found = sim.contacts()
    between = (found.collider > 0).all(-1)
    np.testing.assert_allclose(np.abs(found.force[between].sum(0)), [0, 0, GRAVITY], atol=1e-6)
    assert np.abs(found.position[between][:, 0] - 0.3).max() < 0.05 + 1e-9
    assert np.abs(found.position[between][:, 1]).max() < 0.05 + 1e-9


def test_a_capsule_lies_between_two_others():
    # at rest on two capsules that friction holds apart: each carries half of the weight
    m, flat = Mechanism(), about((0, 1, 0), np.pi / 2)
    m.add_ground()
    for name, y, z in (("left", -0.1, 0.1), ("right", 0.1, 0.1), ("top", 0.0, 0.1 + 0.1 * np.sqrt(3))):
        add(m, name, Capsule(0.1, 0.4), (0, y, z), turn=flat)
    sim = Simulator(m, dt=0.01)
    sim.step(repeat=5)
    assert still(sim, 100) < 10 * CREEP
    found = sim.contacts()
    # colliders are numbered as they were added, the ground first
    for side in (1, 2):
        own = (found.collider == side).any(-1) & (found.collider == 3).any(-1)
        np.testing.assert_allclose(np.abs(found.force[own, 2].sum()), GRAVITY / 2, rtol=1e-6)


def test_a_pinched_capsule_does_not_creep():
    # two plates press with 20 N each; friction could carry 32 times the weight
    m = Mechanism()
    for name, side in (("left", -1.0), ("right", 1.0)):
        m.add_body(name, mass=1.0, shapes=[Box((0.02, 0.1, 0.1))])
        drive = {"kp": 1e4, "kd": 100.0, "effort_limit": 20.0, "target": 0.02}
        m.add_joint(name, "prismatic", "world", name, axis=(-side, 0, 0), parent_anchor=(0.06 * side, 0, 0), **drive)
    add(m, "rod", Capsule(0.05, 0.05), (0, 0, 0), mass=0.1)
    sim = Simulator(m, dt=0.01)
    sim.step(repeat=20)
    start = sim.state.x[0, 2]
    for _ in range(300):
        sim.step()
        assert sim.status.converged.all()
    assert np.abs(sim.state.x[0, 2] - start).max() / 300 < CREEP * 0.05


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_balls_keep_momentum(friction):
    # an oblique impact in zero gravity: momentum and angular momentum are kept, approach along the line of centres ends
    m = Mechanism(gravity=(0, 0, 0))
    add(m, "a", Sphere(0.1), (0, 0, 0), mass=1.0, friction=friction)
    add(m, "b", Sphere(0.05), (0.3, 0.05, 0), mass=0.3, friction=friction)
    sim = Simulator(m, dt=0.01)
    sim.set_state(v=[[1.0, 0, 0], [0, 0, 0]], w=[[0, 0, 3.0], [0, 0, 0]])
    before = sim.momentum()
    sim.step(repeat=60)
    np.testing.assert_allclose(sim.momentum(), before, atol=1e-7)
    x, v = sim.state.x[0], sim.state.v[0]
    assert sim.state.v[0, 1, 0] > 0.1  # it was struck
    assert (x[1] - x[0]) @ (v[1] - v[0]) > -1e-9


def test_a_fast_ball_does_not_pass_a_thin_wall():
    # 5 mm, 20 m/s: 0.2 m a step
    m = Mechanism(gravity=(0, 0, 0))
    m.add_collider("wall", "world", Box((0.005, 1.0, 1.0)))
    add(m, "ball", Sphere(0.0025), (0.103, 0, 0.01), mass=1e-3)
    sim = Simulator(m, dt=0.01)
    sim.set_state(v=[[-20.0, 0, 0]])
    for _ in range(5):
        sim.step()
        assert sim.status.converged.all()
        assert sim.distance("ball", "world") > -1e-9


@pytest.mark.parametrize(("friction", "slides"), [(0.45, True), (0.55, False)])
def test_a_box_slides_on_a_slope_of_boxes(friction, slides):
    # slope of tan 0.5; friction of two is the root of the product, here of equal ones
    angle = np.arctan(0.5)
    turn = about((0, 1, 0), angle)
    up = np.array([np.sin(angle), 0, np.cos(angle)])
    m = Mechanism()
    m.add_collider("slope", "world", Box((4.0, 1.0, 0.2), position=-0.1 * up, orientation=turn), friction=friction)
    add(m, "box", Box((0.2, 0.2, 0.2)), 0.1 * up, friction=friction, turn=turn)
    sim, h = Simulator(m, dt=0.005), 0.005
    sim.step(repeat=100)
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    way = (sim.state.x[0, 0] - 0.1 * up) @ down
    expected = GRAVITY * (np.sin(angle) - friction * np.cos(angle)) if slides else 0.0
    # steps of v1 = v0 + a h: a h^2 n (n + 1)/2
    assert way == pytest.approx(0.5 * expected * h * h * 100 * 101, abs=1e-9)


def test_a_plane_of_a_body_carries_others():
    m = Mechanism()
    m.add_body("tray", mass=5.0, inertia=[1.0, 1.0, 1.0], position=(0, 0, 1))
    m.add_collider("tray", "tray", Plane())
    m.add_joint("lift", "prismatic", "world", "tray", axis=(0, 0, 1), parent_anchor=(0, 0, 1), kp=1e4, kd=1e3)
    add(m, "ball", Sphere(0.1), (0.2, 0, 1.1))
    sim = Simulator(m, dt=0.01)
    sim.step(repeat=200)
    assert sim.status.converged.all()
    # the drive is a spring: 6 g / kp below where it was
    assert sim.state.x[0, 0, 2] == pytest.approx(1 - 6 * GRAVITY / 1e4, abs=1e-6)
    assert sim.distance("tray", "ball") == pytest.approx(0, abs=1e-9)


def test_a_heap_comes_to_rest():
    # boxes and balls fall on each other; nothing fails, nothing overlaps
    m, rng = Mechanism(), np.random.default_rng(0)
    m.add_ground()
    for k in range(8):
        q, place = rng.normal(size=4), (*rng.uniform(-0.05, 0.05, 2), 0.3 + 0.3 * k)
        shape = Box((0.2, 0.15, 0.1)) if k % 2 else Sphere(0.08)
        add(m, f"part{k}", shape, place, turn=q / np.linalg.norm(q))
    sim = Simulator(m, dt=0.01)
    for k in range(300):
        sim.step()
        assert sim.status.converged.all()
        if k % 25 == 0:
            names = [body.name for body in m.bodies]
            apart = [sim.distance(a, b)[0] for i, a in enumerate(names) for b in (*names[:i], "world")]
            assert min(apart) > -GAP


@pytest.mark.parametrize("speed", [2.0, 20.0])
def test_what_flies_past_an_edge_is_not_held_up(speed):
    # a ball passes the upper edge of a wall at 45 degrees, 7 mm away: nothing pushes it
    m = Mechanism(gravity=(0, 0, 0))
    m.add_collider("wall", "world", Box((0.1, 1.0, 1.0)))
    add(m, "ball", Sphere(0.02), (0.3, 0, 0.3), mass=0.1)
    sim = Simulator(m, dt=0.01)
    v = speed * np.array([-1.0, 0.0, 1.0])
    start = np.array([0.05, 0.0, 0.5]) + (0.02 + 0.007) * np.array([1, 0, 1]) / np.sqrt(2) - v * 0.061 * 2 / speed
    sim.set_state(x=[start], v=[v])
    steps = round(0.2 / (speed * 0.01))
    sim.step(repeat=steps)
    np.testing.assert_allclose(sim.state.x[0, 0], start + 0.01 * steps * v, atol=1e-9)
    assert sim.status.converged.all()


def test_edges_that_alone_part_two_boxes_keep_them_apart():
    # 0.15 mm apart along the normal of two edges that cross, and 0.12 mm beside the nearest face
    m = Mechanism(gravity=(0, 0, 0))
    add(m, "lower", Box((0.2, 0.1, 0.05)), (0.203094, 0.185381, 0.025), turn=(-0.282561, 0, 0, 0.959249))
    q = np.array([-0.023059, 0.683961, -0.623855, 0.377453])
    add(m, "upper", Box((0.2, 0.1, 0.05)), (0.039503, 0.071864, 0.09173), turn=q / np.linalg.norm(q))
    sim = Simulator(m, dt=0.01)
    assert sim.distance("lower", "upper") == pytest.approx(1.5e-4, rel=0.01)
    sim.set_state(v=[[0, 0, 0], [0.02601, -0.008843, -0.112415]], w=[[0, 0, 0], [-0.539284, 0, 0]])
    momentum = sim.momentum()
    sim.step()
    assert sim.status.converged.all()
    assert sim.status.substeps == 1
    assert sim.distance("lower", "upper") < 1e-9  # it came to touch: 1.1 mm of way
    np.testing.assert_allclose(sim.momentum(), momentum, atol=1e-10)


@pytest.mark.parametrize("angle", [0.1, 0.3, 0.45, 0.6])
def test_a_ball_that_a_step_leads_over_an_edge_onto_the_face(angle):
    # it touches an edge, its centre beside the face and r (1 - cos angle) lower than above it, and flies over the face:
    # far enough from the edge, and yet in the box, were it not lifted onto the face in that step. That is at most 10 %
    # of its way of 3 r sin angle, for an angle of 0.6
    m, r, h = Mechanism(gravity=(0, 0, 0)), 0.1, 0.01
    m.add_collider("block", "world", Box((1.0, 1.0, 1.0), position=(-0.5, 0, -0.5)), friction=0.0)
    add(m, "ball", Sphere(r), (r * np.sin(angle), 0, r * np.cos(angle)), friction=0.0)
    sim, speed = Simulator(m, dt=h), 3 * r * np.sin(angle) / h
    sim.set_state(v=[[-speed, 0, 0]])
    sim.step()
    assert sim.status.converged.all()
    assert sim.status.substeps == 1
    assert sim.distance("ball", "world") == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(sim.state.v[0, 0], [-speed, 0, r * (1 - np.cos(angle)) / h], atol=1e-6)
