"""sim.gradients(...) by controls and parameters, and of smoothed steps, against central differences of whole steps."""

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
import scenes
from numpy.typing import ArrayLike
from scenes import change

from vigym import InputError, Mechanism, Simulator
from vigym.engine.controls import CONTROLS

EPS = 1e-5


def differences(sim: Simulator, name: str, controls: dict[str, np.ndarray]) -> np.ndarray:
    """d(next state)/d(input), (12 n, *shape), from the state that `sim` is in, which it goes back to."""
    saved = sim.save()
    value = controls[name] if name in CONTROLS else sim.parameter(name)[0]
    out = np.zeros((12 * sim.model.n_bodies, *value.shape))
    for index in np.ndindex(value.shape):
        if name == "inertia" and index[1] > index[2]:
            continue
        ends = []
        for sign in (1, -1):
            sim.restore(saved)
            moved = value.copy()
            moved[index] += sign * EPS
            if name == "inertia":  # stays symmetric
                moved[index[0], index[2], index[1]] = moved[index]
            if name not in CONTROLS:
                sim.set_parameters(**{name: moved})
            sim.step(**(controls | {name: moved} if name in CONTROLS else controls))
            ends.append(sim.state)
        out[(slice(None), *index)] = change(ends[0], ends[1])[0] / (2 * EPS)
    sim.restore(saved)
    return out


def compare(sim: Simulator, names: Sequence[str], controls: dict[str, np.ndarray], tolerance: float) -> None:
    expected = {name: differences(sim, name, controls) for name in names}
    sim.step(**controls)
    found = sim.gradients(*names)
    for name in names:
        exact = found[name][0]
        if name == "inertia":  # the differences moved both entries of a pair
            exact = np.triu(exact + np.swapaxes(exact, -1, -2)) - exact * np.eye(3)
        assert np.abs(expected[name]).max() > 1e-6, name
        scale = max(1.0, np.abs(expected[name]).max())
        np.testing.assert_allclose(exact, expected[name], rtol=0, atol=tolerance * scale, err_msg=name)


def drives(kind: str, n_free: int) -> dict[str, ArrayLike]:
    return {"kp": 5.0, "kd": 0.5, "stiffness": 2.0, "rest": 0.1, "damping": 0.3, "target": 0.2, "effort_limit": 40.0}


def test_controls_and_parameters_in_the_air():
    # smooth, as in test_gradients.py
    kinds = ["revolute", "prismatic", "universal", "spherical"]
    sim = Simulator(scenes.chain(4, kinds, options=drives), tolerance=1e-10)
    rng = np.random.default_rng(0)
    axes, bodies = sim.model.n_axes, sim.model.n_bodies
    sim.set_joint_state(0.5 * rng.normal(size=axes), rng.normal(size=axes))
    controls = {
        "effort": rng.normal(size=axes),
        "force": rng.normal(size=(bodies, 3)),
        "torque": 0.1 * rng.normal(size=(bodies, 3)),
        "target": rng.normal(size=axes),
        "target_velocity": rng.normal(size=axes),
    }
    sim.step(**controls)
    compare(sim, [*controls, "mass", "inertia", "stiffness", "damping", "kp", "kd"], controls, 1e-6)


def test_limits_of_efforts():
    # a drive beyond its limit, and an effort beyond its own: the limit is what acts
    for options, target in (({"kp": 50.0}, [3.0, 3.0]), ({}, None)):
        sim = Simulator(scenes.hinge_and_slider(effort_limit=1.5, **options), tolerance=1e-10)
        controls = {"effort": np.array([-10.0, 10.0])} if target is None else {"target": np.array(target)}
        sim.step(**controls)
        compare(sim, ["effort_limit"], controls, 1e-5)
        assert np.abs(sim.gradients().effort).max() < 1e-6


def test_dry_friction_of_a_joint():
    sim = Simulator(scenes.hinge_and_slider(friction=0.2), tolerance=1e-10)
    sim.set_joint_state(np.zeros(2), np.array([3.0, -3.0]))
    controls = {"effort": np.zeros(2)}
    sim.step(**controls)
    compare(sim, ["joint_friction"], controls, 1e-5)


def test_parameters_of_a_contact():
    # a sphere that slides on the floor: friction slows it by cf g h and turns it; its plane carries it
    normal = np.array([[0.0, 0.0, 1.0]])
    sim = Simulator(scenes.on_planes(normal, 0.3, np.zeros((1, 3)), radius=0.1, gravity=9.81), tolerance=1e-11)
    sim.set_state(v=[[2.0, 0.3, 0.0]])
    controls = {"force": np.array([[0.0, 0.0, -1.0]])}
    sim.step(**controls)
    compare(sim, ["friction", "mass", "force"], controls, 1e-5)
    sim.step(**controls)
    gradients = sim.gradients("offset", "friction")
    assert gradients["offset"][0, 2, 0] == pytest.approx(1.0, abs=1e-6)  # it lies on the plane
    slowed = gradients["friction"][0, 6:8, 0] / sim.dt
    assert np.linalg.norm(slowed) == pytest.approx(9.81 + 1.0, rel=0.5)  # along the tangents of the pyramid


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
def test_parameters_of_a_soft_contact(cone):
    # a soft sphere that slides, sunk in a little
    m = Mechanism()
    m.add_body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_contact("skin", "ball", radius=0.1, friction=0.3, compliance=0.01, damping=5.0)
    sim = Simulator(m, cone=cone)
    sim.set_state(x=[[0, 0, 0.09]], v=[[2.0, 0.3, -0.1]])
    controls = {"force": np.array([[0.0, 0.0, -1.0]])}
    compare(sim, ["friction", "compliance", "contact_damping", "offset", "mass", "force"], controls, 1e-5)


def kept(sim: Simulator, names: dict[str, str], tolerance: float) -> None:
    """Derivatives of a step by what is kept beside the state; names: of inputs, with their fields."""
    saved, expected = sim.save(), {}
    for name, field in names.items():
        sim.restore(saved)
        value, columns = sim._get(field), []
        for k in range(value.size):
            ends = []
            for sign in (1, -1):
                sim.restore(saved)
                moved = value.copy()
                moved.reshape(-1)[k] += sign * EPS * 1e-2
                sim._lanes.set(field, moved)
                sim.step()
                ends.append(sim.state)
            columns.append(change(ends[0], ends[1])[0] / (2e-2 * EPS))
        expected[name] = np.stack(columns, -1)
    sim.restore(saved)
    sim.step()
    found, bar = sim.gradients(*names), np.ones((1, 12 * sim.model.n_bodies))
    pulled = sim.vjp(bar, *names)
    for name, value in expected.items():
        size = max(1.0, np.abs(value).max())
        assert np.abs(value).max() > 1e-3, name
        shown = found[name].reshape(value.shape)
        np.testing.assert_allclose(shown, value, rtol=0, atol=tolerance * size, err_msg=name)
        np.testing.assert_allclose(np.ravel(pulled[name]), shown.sum(0), rtol=0, atol=1e-9 * size, err_msg=name)


def test_what_is_kept_beside_the_state():
    # a step after one of another length; springs count turns, and know how fast coordinates changed
    other, sim = (
        Simulator(scenes.chain(2, ["revolute", "universal"], options=drives), dt, tolerance=1e-12, compiled=False)
        for dt in (0.007, 0.01)
    )
    for one in (other, sim):
        one.set_joint_state(0.3 * np.ones(3), np.array([2.0, -1.0, 3.0]))
        one.step()
    for name in ("x", "q", "v", "w", "h0", "angle", "rate"):
        sim._lanes.set(name, other._get(name))
    kept(sim, {"last_dt": "h0", "last_positions": "angle", "last_velocities": "rate"}, 1e-6)
    with pytest.raises(InputError, match="'last_dt' are those of a single step"):
        sim.gradients("last_dt", coordinates="joint")
    sim.rollout(steps=2, gradients=True)
    with pytest.raises(InputError, match="'last_dt' are those of a single step"):
        sim.rollout_vjp(np.ones((1, 24)), "last_dt")


def test_impulse_of_which_a_rebound_is_due():
    m = Mechanism()
    m.add_body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_contact("skin", "ball", radius=0.1, friction=0.3, restitution=0.6)
    sim = Simulator(m, tolerance=1e-12, compiled=False)
    sim.set_state(x=[[0, 0, 0.105]], v=[[3.0, 0.2, -2.0]])
    sim.step()
    assert sim._get("struck")[0, 0, 0] > 0.1
    kept(sim, {"due_impulse": "struck"}, 1e-6)


def test_what_was_not_asked_for():
    sim = Simulator(scenes.box())
    sim.step()
    with pytest.raises(InputError, match=r"sim.gradients\('mass'\)"):
        sim.gradients()["mass"]
    with pytest.raises(InputError, match="'colour' is unknown"):
        sim.gradients("colour")


# -------------------- smoothing


@pytest.mark.parametrize("smoothing", [1e-2, 1e-4, 1e-6])
def test_a_smoothed_box_floats_on_its_forces(smoothing):
    # at rest: four corners share the weight, and the gap times the force of each is the smoothing
    sim = Simulator(scenes.box(), smoothing=smoothing)
    for _ in range(400):
        sim.step()
        assert sim.status.converged.all()
    forces, gaps = sim.contact_forces()[0, :4, 2], sim.contact_gaps()[0, :4]
    np.testing.assert_allclose(forces * gaps, smoothing, rtol=1e-4)
    np.testing.assert_allclose(forces.sum() + sim.contact_forces()[0, 4:, 2].sum(), 9.81, rtol=1e-3)
    hard = Simulator(scenes.box())
    for _ in range(400):
        hard.step()
    # weight / 4 at each corner: the box is as far above the floor as smoothing / (weight / 4)
    assert sim.state.x[0, 0, 2] - hard.state.x[0, 0, 2] == pytest.approx(smoothing / (9.81 / 4), rel=0.05)


def test_smoothed_gradients_know_of_a_contact_that_is_near():
    # 1 mm above the floor and too slow to reach it in this step: a hard contact does not matter, a smoothed one does
    def after(smoothing: float, height: float) -> Simulator:
        sim = Simulator(scenes.box(), smoothing=smoothing, tolerance=1e-11)
        sim.set_state(x=[[0, 0, 0.1 + height]], v=[[0.5, 0, 0.1]])
        sim.step()
        return sim

    assert after(0.0, 1e-3).gradients().state[0, 8, 2] == pytest.approx(0.0, abs=1e-5)
    sim = after(1e-3, 1e-3)
    exact = sim.gradients("friction")
    up, down = (after(1e-3, 1e-3 + sign * 1e-7).state.v[0, 0, 2] for sign in (1, -1))
    assert exact.state[0, 8, 2] == pytest.approx((up - down) / 2e-7, rel=1e-5)
    assert exact.state[0, 8, 2] < -1.0  # the nearer, the harder it pushes
    assert exact["friction"][0, 6].min() < -1e-3  # and friction acts on what slides there


def test_smoothing_is_kept_and_checked():
    sim = Simulator(scenes.box(), smoothing=1e-3)
    sim.step()
    copy = pickle.loads(pickle.dumps(sim))
    assert copy.smoothing == 1e-3
    copy.step(), sim.step()
    np.testing.assert_array_equal(copy.state.x, sim.state.x)
    with pytest.raises(InputError, match="smoothing must be a finite number >= 0"):
        Simulator(scenes.box(), smoothing=-1.0)
    with pytest.raises(AttributeError, match="smoothing is fixed"):
        sim.smoothing = 0.0


def test_smoothed_limits_of_a_joint():
    # a pendulum that leans on its limit: the effort of the limit times the distance is the smoothing
    sim = Simulator(scenes.pendulum(upper=-0.5, lower=-1.0, damping=5.0), smoothing=1e-3)
    for _ in range(600):
        sim.step()
        assert sim.status.converged.all()
    room = -0.5 - sim.joint_positions()[0, 0]
    weight = 9.81 * 0.5 * np.sin(-sim.joint_positions()[0, 0])
    assert room * weight == pytest.approx(1e-3, rel=1e-3)
