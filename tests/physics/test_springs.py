"""Springs without a damper: the midpoint rule, which keeps the energy of linear springs at any stiffness.

    m (x+ - 2 x + x-)/h^2 = -(k/4) (x+ + 2 x + x-)         x of the last, this and the next pose, from rest

has the solutions x = A cos(n a + b) with tan(a/2) = h w/2, w = sqrt(k/m), that is cos(a) = (1 - c)/(1 + c),
c = (h w)^2/4; and m v^2/2 + k (middle)^2/2 is the same in every step."""

import numpy as np
import pytest
from scenes import GRAVITY, advance, hinge_and_slider, orders

from vigym import Mechanism, Simulator

MASS, INERTIA = 2.0, 0.3
BOTH = np.array([INERTIA, MASS])  # of the wheel and the slider of hinge_and_slider


def slider(stiffness: float, mass: float = 1.0, gravity: float = 0.0, **options: float) -> Mechanism:
    m = Mechanism(gravity=(0, 0, -gravity))
    m.add_body("slider", mass=mass, inertia=(0.1, 0.1, 0.1))
    m.add_joint("slide", "prismatic", "world", "slider", stiffness=stiffness, **options)
    return m


def ball(stiffness: object, inertia: tuple[float, ...] = (0.01, 0.01, 0.01), **options: object) -> Mechanism:
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("body", mass=1.0, inertia=inertia)
    m.add_joint("ball", "spherical", "world", "body", stiffness=stiffness, **options)
    return m


@pytest.mark.parametrize("wh", [0.01, 0.0628, 0.5, 2.0, 10.0, 100.0])
def test_a_slider_keeps_its_energy(wh):
    # 10 s. The equations are linear; each step is solved to rounding, and leaves 1e-16 (h w)^2 of the energy.
    h, steps = 0.01, 1000
    sim = Simulator(slider((wh / h) ** 2, rest=0.3), dt=h)
    sim.set_joint_state([[0.31]], [[0.02]])
    start = sim.energy()
    seen = advance(sim, steps, sim.energy)
    np.testing.assert_allclose(seen / start, 1.0, rtol=0, atol=1e-12 * max(1.0, wh**2))


@pytest.mark.parametrize("wh", [0.01, 0.0628, 0.5, 3.0])
@pytest.mark.parametrize("kind", ["hinge", "ball"])
def test_a_hinge_and_a_ball_keep_their_energy(kind, wh):
    # 10 s. In a step at the speed w A a body turns by h w A, whose square the energy may swing by (2 sin(h v/2) is not
    # h v), but not drift: the same in the first and in the last second. Solved to 1e-12 N m, as 1e-8 N m in each of a
    # thousand steps would be 6e-5 of the energy of the softest.
    h, steps, A, J = 0.01, 1000, 0.05, 0.01
    options = {"stiffness": J * (wh / h) ** 2, "rest": 0.3}
    m = ball(**options) if kind == "ball" else hinge_and_slider(inertia=J, mass=J, **options)
    sim = Simulator(m, dt=h, tolerance=1e-12)
    sim.set_joint_state([[0.3, 0.3, 0.3 + A]] if kind == "ball" else [[0.3 + A, 0.3]])
    start = sim.energy()
    seen = advance(sim, steps, sim.energy)[:, 0] / start
    swing = (wh * A) ** 2 + 1e-9
    np.testing.assert_allclose(seen, 1.0, rtol=0, atol=swing)
    assert abs(seen[:100].mean() - seen[-100:].mean()) < 0.2 * swing


@pytest.mark.parametrize("wh", [20.0, 100.0])
def test_the_stiffest_springs_of_rotations_keep_their_energy(wh):
    # v h = w h A is a tenth of a turn a step or so: energy swings with its square and stays. Backward Euler (x+ alone)
    # would have nothing left after two steps.
    h, A, J = 0.01, 1e-3, 0.01
    for m, start in ((ball(J * (wh / h) ** 2), [[0, 0, A]]), (ball(J * (wh / h) ** 2), [[A, -A, A]])):
        sim = Simulator(m, dt=h)
        sim.set_joint_state(start)
        first = sim.energy()
        seen = advance(sim, 1000, sim.energy) / first
        np.testing.assert_allclose(seen, 1.0, rtol=0, atol=3 * (wh * A) ** 2)


def test_a_ball_turns_about_all_axes_at_once_and_keeps_its_energy():
    # Large angles from rest, unequal moments and stiffnesses. A symplectic method: the energy swings by O(h^2), and
    # does not drift.
    swings = []
    for h in (0.02, 0.01, 0.005):
        sim = Simulator(ball([0.4, 0.2, 0.3], (0.01, 0.012, 0.014), rest=[0.3, -0.2, 0.5]), dt=h)
        sim.set_joint_state([[1.0, 0.4, -0.3]], [[1.0, -2.0, 0.5]])
        seen = advance(sim, round(10 / h), sim.energy)[:, 0]
        early, late = seen[: len(seen) // 5], seen[-len(seen) // 5 :]
        swings.append(np.ptp(seen) / seen.mean())
        assert abs(early.mean() - late.mean()) < 0.2 * np.ptp(seen)
    np.testing.assert_allclose(orders(swings), 2.0, atol=0.4)
    assert swings[-1] < 2e-3


@pytest.mark.parametrize("wh", [0.1, 1.0, 5.0])
def test_the_discrete_solution(wh):
    # x = A cos(n a + b) with cos(a) = (1 - c)/(1 + c), c = (h w)^2/4; from rest x(-1) = x(0).
    h, A = 0.01, 0.02
    sim = Simulator(slider((wh / h) ** 2), dt=h)
    sim.set_joint_state([[A]])
    c = wh**2 / 4
    a = np.arccos((1 - c) / (1 + c))
    n = np.arange(1, 101)
    expected = A * np.cos(n * a + a / 2) / np.cos(a / 2)
    # each of a hundred steps is solved to 1e-8 N, which moves it by 1e-8 h^2/m
    np.testing.assert_allclose(advance(sim, 100, sim.joint_positions)[:, 0, 0], expected, atol=1e-10 * (1 + c))


def test_the_frequency_is_second_order():
    # a/h = 2 atan(h w/2)/h = w (1 - (h w)^2/12 + ...), read from where the wheel and the slider are after 2 s:
    # x = A cos(a n + b)/cos(b) with b = a/2. Both errors, of the phase and of b, are O(h^2).
    w = np.array([5.0, 5.0])
    errors = []
    for h in (0.02, 0.01, 0.005, 0.0025):
        sim = Simulator(hinge_and_slider(mass=INERTIA, stiffness=INERTIA * 25.0), dt=h)
        sim.set_joint_state([[0.02, 0.02]])
        n = round(2 / h)
        advance(sim, n)
        # from rest in the middle of the step before: the time is h/2 later
        errors.append(np.abs(sim.joint_positions()[0] - 0.02 * np.cos(w * (n + 0.5) * h)))
    np.testing.assert_allclose(orders(errors), 2.0, atol=0.1)


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_static_equilibrium_is_exact(mass):
    # k (x - rest) = -m g: a state there, at rest, stays there, to the 1e-8 N to which steps are solved.
    w, h = 30.0, 0.01
    sim = Simulator(slider(mass * w**2, mass=mass, gravity=GRAVITY, rest=0.1), dt=h)
    start = 0.1 - GRAVITY / w**2
    sim.set_joint_state([[start]])
    seen = advance(sim, 200, sim.joint_positions)
    np.testing.assert_allclose(seen, start, rtol=0, atol=1e-12 + 200 * 1e-8 * h**2 / mass)


@pytest.mark.parametrize("kind", ["slide", "ball"])
def test_a_damped_spring(kind):
    # x'' + 2 z w x' + w^2 x = 0 from rest: x = A exp(-z w t) (cos(u t) + z w/u sin(u t)), u = w sqrt(1 - z^2). The
    # damper acts at the end of the step: first order.
    w, z, A, T = 6.0, 0.2, 0.1, 1.0
    k, d = w**2, 2 * z * w
    errors = []
    u = w * np.sqrt(1 - z**2)
    for h in (0.01, 0.005, 0.0025, 0.00125):
        t = T + h / 2  # from rest in the middle of the step before
        exact = A * np.exp(-z * w * t) * (np.cos(u * t) + z * w / u * np.sin(u * t))
        if kind == "slide":
            sim = Simulator(slider(k, damping=d), dt=h)
            sim.set_joint_state([[A]])
        else:
            sim = Simulator(ball(0.01 * k, damping=0.01 * d), dt=h)
            sim.set_joint_state([[0, A, 0]])
        advance(sim, round(T / h))
        errors.append(abs(sim.joint_positions()[0, 0 if kind == "slide" else 1] - exact))
    np.testing.assert_allclose(orders(errors), 1.0, atol=0.15)
    assert errors[-1] < 0.01 * A


@pytest.mark.parametrize("kind", ["prismatic", "spherical"])
def test_parts_of_a_step_keep_the_energy(kind):
    # Beside a wheel that spins fast enough to have all steps cut in two: the interval that led to a pose is half a
    # step, and the spring keeps its energy; to (h v)^2 of a ball, which turns by 0.02 rad in half a step.
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("wheel", mass=1.0, inertia=(0.2, 0.2, 0.3))
    m.add_body("other", mass=2.0, inertia=(2.0, 2.0, 2.0))
    m.add_joint("hinge", "revolute", "world", "wheel")
    m.add_joint("spring", kind, "world", "other", stiffness=2e4)
    sim = Simulator(m, dt=0.01)
    n = 1 if kind == "prismatic" else 3
    sim.set_joint_state([[0.0, *[0.02] * n]], [[200.0, *[0.3] * n]])
    seen = []
    for _ in range(500):
        sim.step()
        assert sim.status.converged[0]
        assert sim.status.substeps[0] == 2
        seen.append(sim.energy()[0] - 0.5 * 0.3 * sim.state.w[0, 0, 2] ** 2)
    np.testing.assert_allclose(seen, seen[0], rtol=1e-6 if n == 1 else 1e-3)  # beside the 6 kJ of the wheel
    start = n * (0.5 * 2e4 * 0.02**2 + 0.5 * 2.0 * 0.3**2)
    assert seen[0] == pytest.approx(start, rel=0.3)  # half steps, from a state that half a step led to


@pytest.mark.parametrize("h", [0.02, 0.005])
@pytest.mark.parametrize(
    "law",
    [
        {"kp": 1e4, "kd": 1e2, "target": [1.0, -1.5, 1.2]},
        {"kp": 1e4, "target": [1.0, -1.5, 1.2]},
        {"stiffness": 1e4, "damping": 1e2, "rest": [1.0, -1.5, 1.2]},
        {"stiffness": 1e3, "damping": 1.0, "rest": [1.0, -1.5, 1.2]},
    ],
    ids=str,
)
def test_stiff_laws_come_to_rest_without_weight(law, h):
    """From up to half a turn away, at up to 30 of their radians a step, no step is lost, and all come to rest: their
    rounding, 1e-12 N m, is far more than the forces that are left in the end."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("body", mass=1.0, inertia=(0.003, 0.004, 0.005))
    m.add_joint("ball", "spherical", "world", "body", **law)
    rng = np.random.default_rng(2)
    way = rng.normal(size=(16, 3))
    way *= np.linspace(0, 3.1, 16)[:, None] / np.linalg.norm(way, axis=-1, keepdims=True)
    sim = Simulator(m, dt=h, num_envs=16)
    sim.set_joint_state(way, 5 * rng.normal(size=(16, 3)))
    advance(sim, 400)
    goal = np.array([1.0, -1.5, 1.2])
    np.testing.assert_allclose(sim.joint_positions(), goal + 0 * way, atol=1e-6)
