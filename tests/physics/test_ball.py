"""A kind of contact that the engine does not have (tests/toys/ball.py): one file and one row, and closed forms hold."""

import numpy as np
import pytest
from scenes import advance
from toys import ball

from vigym import Mechanism, Simulator
from vigym.engine.kernels import contact, geometry, layout
from vigym.engine.kernels.interior_point import residual, start
from vigym.engine.kernels.step import begin_step

GRAVITY, BALL = 9.81, 1.0
STEP = 1e-30


@pytest.fixture(autouse=True)
def kind(monkeypatch, tmp_path):
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path))  # compiled code of this kind is not for others
    ball.install(monkeypatch)


def marble(radius: float, friction: float) -> Mechanism:
    """A homogeneous sphere on a ball of radius BALL around the origin, and beside a floor that it does not reach."""
    m = Mechanism(gravity=(0, 0, -GRAVITY))
    m.add_body("marble", mass=0.7, inertia=0.4 * 0.7 * radius**2 * np.eye(3))
    ball.on_ball(m, "ball", "marble", ball=BALL, radius=radius, friction=friction)
    m.add_contact("floor", "marble", radius=radius, friction=friction, offset=-2 * BALL)
    return m


def leaves_at(radius: float, friction: float, dt: float, cone: str, compiled: bool = True) -> float:
    """Cosine of the angle from the top at which the marble leaves the ball, from a start just beside the top."""
    sim = Simulator(marble(radius, friction), dt=dt, cone=cone, compiled=compiled)
    reach, angle = BALL + radius, 0.2
    # released from rest at a small angle, whose potential energy is taken into account below
    sim.set_state(x=[[reach * np.sin(angle), 0, reach * np.cos(angle)]])
    for _ in range(int(3.0 / dt)):
        advance(sim, 1)
        if sim.contact_gaps()[0, 0] > 1e-7:
            return float(sim.state.x[0, 0, 2] / reach)
    raise AssertionError("it never left")


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
@pytest.mark.parametrize(
    ("friction", "factor"),
    [
        (0.0, 2 / 3),  # slides: g cos a = v^2 / r with v^2 = 2 g r (cos a0 - cos a)
        (50.0, 10 / 17),  # rolls: v^2 = (10/7) g r (cos a0 - cos a)
    ],
)
def test_a_marble_leaves_a_ball(friction, factor, cone):
    exact = factor * np.cos(0.2)
    errors = [abs(leaves_at(0.1, friction, dt, cone) - exact) for dt in (0.004, 0.001)]
    assert errors[1] < 0.01  # first order: a step is 0.004 in the cosine
    assert errors[1] < errors[0]


def test_it_rolls_without_slipping_and_never_sinks():
    sim = Simulator(marble(0.1, 50.0), dt=0.005, cone="exact")
    sim.set_state(x=[[1.1 * np.sin(0.2), 0, 1.1 * np.cos(0.2)]])
    for _ in range(80):
        advance(sim, 1)
        assert sim.contact_slips()[0, 0] < 1e-6
        np.testing.assert_allclose(sim.contact_gaps()[0, 0], 0.0, atol=1e-9)
        point = sim.contact_points()[0, 0]
        np.testing.assert_allclose(np.linalg.norm(point), BALL, atol=1e-9)


def test_compiled_and_uncompiled_agree():
    both = [Simulator(marble(0.1, 0.4), dt=0.005, compiled=compiled) for compiled in (True, False)]
    for sim in both:
        sim.set_state(x=[[1.1 * np.sin(0.4), 0, 1.1 * np.cos(0.4)]], w=[[1.0, 2.0, 3.0]])
        advance(sim, 40)
    for one, other in zip(both[0].state, both[1].state, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_rows_are_derivatives_of_the_gap():
    """M's first row against complex steps of the next pose, on an axis that turns with it."""
    sim = Simulator(marble(0.1, 0.4), dt=0.01, compiled=False)
    sim.set_state(x=[[0.3, -0.7, 1.0]], v=[[1.0, 2.0, -3.0]], w=[[4.0, -2.0, 1.0]])
    model, m = sim.model, sim._lanes.constants[0]
    s = layout.state_store(model.features, model.sizes, 6, 1, complex)[0]
    t = layout.scratch_store(model.features, model.sizes, 6, complex)[0]
    for name in sim._lanes.store.fields:
        setattr(s, name, sim._get(name)[0][..., None])
    begin_step(m, s, t)
    t.h, t.live = sim.dt, 1.0
    start(m, s, t)
    residual(m, s, t)
    kind = geometry.number("ball")
    row = np.array([entry[0] for entry in contact.motion_rows(kind, m, t, 0)[0]])
    x, R = t.xn[0].copy(), t.Rn[0].copy()
    for k in range(3):
        x[k, k] += 1j * STEP
        turn = np.zeros((3, 3))
        turn[(k + 2) % 3, (k + 1) % 3], turn[(k + 1) % 3, (k + 2) % 3] = 1.0, -1.0  # [e_k]x
        R[:, :, 3 + k] = R[:, :, 3 + k] + 1j * STEP * turn @ R[:, :, 3 + k]
    gap = geometry.of(kind).touch(m, s, 0, list(x), [list(r) for r in R]).gap
    np.testing.assert_allclose(gap.imag / STEP, row.real, atol=1e-12)
