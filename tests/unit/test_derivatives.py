"""Compiled derivatives of a step (kernels/linear.py) against the complex steps of engine/gradients.py, and against
differences of whole steps."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from mechanisms import DT, Scene, scenes
from scenes import box, chain

from vigym import InputError, Mechanism, Simulator
from vigym.assets import unitree_a1
from vigym.engine import gradients, parameters
from vigym.engine.linearised import Linearised

FEW = settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate])
CONTROLS = ("effort", "force", "torque", "target", "target_velocity")
PARAMETERS = (
    *("mass", "inertia", "friction", "compliance", "contact_damping", "offset"),
    *("kp", "kd", "stiffness", "damping", "effort_limit", "joint_friction", "armature"),
)


def agree(sim: Simulator, tolerance: float) -> None:
    """Jacobians by everything, covectors and changes, with those of the slow way."""
    names = [*CONTROLS[1:], *PARAMETERS]
    expected = gradients.gradients(sim, ["state", "effort", *names], np.arange(sim.num_envs))
    found, rng = sim.gradients(*names), np.random.default_rng(0)
    assert Linearised.covers(sim.model)
    rows, n = 12 * sim.model.n_bodies, sim.num_envs
    nine = parameters.NINE
    half = np.where(np.eye(3).ravel() > 0, 1.0, 0.5)
    expected["inertia"] = expected["inertia"].reshape(n, rows, sim.model.n_bodies, 6)[..., nine] * half
    bar = rng.normal(size=(n, rows))
    pulled = sim.vjp(bar, *names)
    for name, value in expected.items():
        shown = found[name].reshape(n, rows, -1)
        size = np.abs(value).max(initial=1e-2)  # of what gravity does in a step, 0.1 m/s, a tenth
        np.testing.assert_allclose(shown, value.reshape(n, rows, -1), rtol=0, atol=tolerance * size, err_msg=name)
        product = np.einsum("er,erc->ec", bar, shown)
        close = 1e-9 * np.abs(product).max(initial=1e-3)
        np.testing.assert_allclose(pulled[name].reshape(n, -1), product, rtol=0, atol=close, err_msg=name)
    for name in ("state", *CONTROLS):
        change = rng.normal(size=pulled[name].shape)
        if name.startswith("target") and not sim.model.driven_axes.any():
            continue
        moved = sim.jvp(**{name: change})
        product = np.einsum("erc,ec->er", found[name].reshape(n, rows, -1), change.reshape(n, -1))
        np.testing.assert_allclose(moved, product, rtol=0, atol=1e-9 * np.abs(product).max(initial=1e-3), err_msg=name)


def check_scene(scene: Scene, cone: str) -> None:
    """One step from a random state. Contacts are smooth, so that rounding does not blur the slow way (see below)."""
    sim = Simulator(scene.mechanism, dt=DT, cone=cone, smoothing=1e-4, tolerance=1e-10, compiled=False, overlap="keep")
    if not Linearised.covers(sim.model):
        return
    x, q, v, w = scene.state
    sim.set_state(x=x, q=q, v=v, w=w, overlap="keep")
    sim.step(scene.effort, scene.force, scene.torque)
    if sim.status.converged.all() and (sim.status.substeps == 1).all() and not sim._get("even").any():
        # by how much contacts sag (contact.py) depends on mass and place; only the slow way counts this
        agree(sim, 1e-3 if sim.model.features.sags else 1e-7)


@pytest.mark.parametrize("cone", ["exact", "pyramid"])
def test_random_mechanisms(cone):
    parts = {"contacts": True, "laws": True, "dry": True, "consistent": True}
    FEW(given(scenes(**parts))(lambda scene: check_scene(scene, cone)))()


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "universal", "cylindrical", "planar"])
def test_laws_on_every_kind_of_axis(kind):
    options = {"stiffness": 20.0, "rest": 0.3, "damping": 0.2, "friction": 0.1, "lower": -0.5, "upper": 0.6}
    options |= {"kp": 30.0, "kd": 0.5, "target": 0.4, "effort_limit": 3.0}
    mechanism = chain(3, kind, free=True, options=lambda kind, n_free: options)
    sim = Simulator(mechanism, num_envs=3, smoothing=1e-5, tolerance=1e-10, compiled=False)
    rng = np.random.default_rng(1)
    shape = 3, sim.model.n_axes
    sim.set_joint_state(0.4 * rng.uniform(-1, 1, shape), rng.normal(size=shape))
    sim.step(rng.normal(size=shape))
    sim.step(5.0 * rng.normal(size=shape), target=rng.normal(size=shape))
    agree(sim, 1e-8)


def test_soft_contacts():
    m = Mechanism()
    m.add_body("ball", mass=2.0, inertia=[0.1, 0.2, 0.15])
    for k, x in enumerate((-0.3, 0.4)):
        m.add_contact(f"{k}", "ball", (x, 0.1 * k, 0.0), radius=0.1, friction=0.4, compliance=1e-4, damping=50.0 + k)
    sim = Simulator(m, num_envs=2, smoothing=1e-6, tolerance=1e-10, compiled=False)
    sim.set_state(x=[[[0, 0, 0.1]], [[0, 0, 0.0999]]], v=[[[0.5, 0.2, -0.1]], [[0, 1.0, 0]]], w=[[[0.1, 1.0, 0.3]]] * 2)
    sim.step()
    sim.step()
    assert sim.contact_gaps().min() < 0
    agree(sim, 1e-7)


@pytest.fixture(scope="module", params=["exact", "pyramid"])
def driven(request) -> tuple[Simulator, bytes]:
    """A robot told something else at every step: feet stick, slide, make and break contact."""
    sim = Simulator(unitree_a1.build(), dt=0.005, num_envs=6, cone=request.param, tolerance=1e-10)
    targets = sim.joint_positions() + 0.3 * np.random.default_rng(0).uniform(-1, 1, (40, 6, 12))
    sim.rollout(target=targets)
    return sim, sim.save()


@pytest.fixture
def robot(driven) -> Simulator:
    """The robot as it was left by its drives, one step later, whichever tests came before."""
    sim, saved = driven
    sim.restore(saved)
    sim.step()
    return sim


def test_driven_robot_against_differences(robot):
    sim, rng, eps, worst = robot, np.random.default_rng(1), 1e-6, []
    loaded = []
    for _ in range(8):
        target = sim.joint_positions() + 0.3 * rng.uniform(-1, 1, (6, 12))
        changes = {"effort": rng.normal(size=(6, 12)), "target": rng.normal(size=(6, 12))}
        saved, ends = sim.save(), []
        for sign in (1, -1):
            sim.restore(saved)
            sim.step(sign * eps * changes["effort"], target=target + sign * eps * changes["target"])
            ends.append(np.concatenate([sim.state.x, sim.state.v, sim.state.w], -1))
        sim.restore(saved)
        sim.step(target=target)
        expected = (ends[0] - ends[1]) / (2 * eps)
        moved = sim.jvp(**changes).reshape(6, 13, 12)
        error = np.abs(np.delete(moved, [3, 4, 5], -1) - expected).max((1, 2)) / np.abs(expected).max((1, 2))
        worst += error[sim.status.substeps == 1].tolist()
        loaded += (np.linalg.norm(sim.contact_forces(), axis=-1) > 1).sum(1).tolist()
    # rounding of differences over 2e-6 is 1e-8; where a foot changes between stick, slide and flight within them, more
    assert np.median(worst) < 1e-7
    assert np.quantile(worst, 0.9) < 1e-6
    assert 0 < np.mean(loaded) < 4


def test_covectors_and_changes_are_those_of_the_jacobian(robot):
    sim, rng = robot, np.random.default_rng(2)
    sim.step(target=sim.joint_positions() + 0.3 * rng.uniform(-1, 1, (6, 12)))
    whole, bar, change = sim.gradients("target"), rng.normal(size=(6, 156)), rng.normal(size=(6, 156))
    pulled = sim.vjp(bar, "target")
    for name in ("state", "effort", "target"):
        product = np.einsum("er,erc->ec", bar, whole[name])
        np.testing.assert_allclose(pulled[name], product, rtol=0, atol=1e-7 * np.abs(product).max())
    product = np.einsum("erc,ec->er", whole.state, change)
    np.testing.assert_allclose(sim.jvp(state=change), product, rtol=0, atol=1e-7 * np.abs(product).max())
    assert (whole.status == "ok").all() == (sim.status.relaxed == 0).all()


def test_memory_that_is_given_is_written_over(robot):
    sim, bar = robot, np.ones((6, 156))
    first, pulled, moved = sim.gradients(), sim.vjp(bar), sim.jvp(state=bar)
    expected = first.state.copy(), pulled["state"].copy(), moved.copy()
    for array in (first.state, pulled["state"], moved):
        array[...] = np.nan
    again = sim.gradients(out=first), sim.vjp(bar, out=pulled), sim.jvp(state=bar, out=moved)
    assert np.shares_memory(again[0].state, first.state)
    assert again[1] is pulled
    assert again[2] is moved
    for found, value in zip((again[0].state, pulled["state"], moved), expected, strict=True):
        np.testing.assert_array_equal(found, value)
    with pytest.raises(InputError, match="same inputs"):
        sim.gradients("mass", out=first)
    with pytest.raises(InputError, match="out"):
        sim.vjp(bar, "target", out=pulled)
    with pytest.raises(InputError, match="out"):
        sim.jvp(state=bar, out=moved[:2])


def test_memory_that_somebody_sees_is_left_alone(robot):
    first = robot.gradients()
    kept, state = first.state.copy(), first.state
    del first
    robot.step()
    second = robot.gradients()
    assert not np.shares_memory(state, second.state)
    np.testing.assert_array_equal(state, kept)


def test_batches_and_threads_change_no_bit():
    results = []
    for envs, threads in ((9, 1), (9, 2), (5, 2)):
        sim = Simulator(unitree_a1.build(), dt=0.005, num_envs=envs, num_threads=threads)
        rng = np.random.default_rng(0)
        for _ in range(12):
            target = sim.joint_positions() + 0.3 * rng.uniform(-1, 1, (9, 12))[:envs]
            sim.step(target=target)
        results.append((sim.gradients().state[:5], sim.vjp(np.ones((envs, 156)))["state"][:5]))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("cone", ["exact", "pyramid"])
def test_tighter_tolerances_give_better_gradients_of_an_impact(cone):
    """A box falls flat on the floor, sliding: v1 of its centre is that of Coulomb's impact, v0 - cf (-vz0) v/|v|, with
    the derivative cf v/|v| by vz0 (along an axis of the pyramid; gravity acts besides)."""
    for tolerance in (1e-8, 1e-10, 1e-12):
        sim = Simulator(box(friction=0.3), tolerance=tolerance, cone=cone)
        sim.set_state(x=[[0, 0, sim.state.x[0, 0, 2] + 0.01]], v=[[3.0, 0, -2.0]])
        sim.step()
        assert abs(sim.state.v[0, 0, 2]) < 1.5  # it has struck the floor
        by_speed = sim.gradients().state[0, 6:9, 6:9]
        np.testing.assert_allclose(by_speed, [[1, 0, 0.3], by_speed[1], [0, 0, 0]], rtol=0, atol=2e-7)


def test_steps_without_gradients_say_so(robot):
    sim = Simulator(box(), num_envs=3)
    with pytest.raises(InputError, match="no gradients: its last step did not happen"):
        sim.vjp(np.ones((3, 12)))
    sim.set_state(x=np.array([[0, 0, 2.0]]), w=[[[0, 0, 1.0]], [[500.0, 0, 0]], [[0, 0, 0]]])
    sim.step()
    assert sim.gradients().status.tolist() == ["ok"] * 3
    sim.set_state(x=np.array([[0, 0, 2.0]]), mask=[False, True, False])
    pulled = sim.vjp(np.ones((3, 12)))
    assert pulled.status.tolist() == ["ok", "none", "ok"]
    assert not pulled["state"][1].any()
    assert pulled["state"][[0, 2]].all(0).any()
    sim.step(repeat=2)
    with pytest.raises(InputError, match="several steps"):
        sim.gradients()
    with pytest.raises(InputError, match="cotangent"):
        sim.vjp(np.ones((3, 13)))
    with pytest.raises(InputError, match="at least one change"):
        sim.jvp()
    with pytest.raises(InputError, match="'frictoin' is unknown"):
        sim.vjp(np.ones((3, 12)), "frictoin")


def test_contact_points_and_radii():
    """By changes of the mechanism itself: two spheres on a tumbling body that slides, one of them on a slope."""

    def after(change: np.ndarray) -> Simulator:
        m = Mechanism()
        m.add_body("b", mass=2.0, inertia=[0.1, 0.2, 0.15])
        for k, normal in enumerate(np.array([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8]])):
            point = np.array([0.3 * (2 * k - 1), 0.1 * k, -0.1])
            law = {"friction": 0.4, "compliance": 1e-4 * k, "damping": 40.0 * k}
            law["offset"] = normal @ point - 0.1 - 0.001 + 0.002 * k  # a little above, and the soft one in its plane
            m.add_contact(f"{k}", "b", point + change[k, :3], radius=0.1 + change[k, 3], normal=normal, **law)
        sim = Simulator(m, tolerance=1e-12, compiled=False)
        sim.set_state(x=[[0, 0, 0]], v=[[0.5, 0.2, -0.3]], w=[[0.5, -0.4, 0.7]])
        sim.step()
        return sim

    sim = after(np.zeros((2, 4)))
    assert np.linalg.norm(sim.contact_forces()[0], axis=-1).min() > 1.0
    found = sim.gradients("contact_point", "contact_radius")
    slow = gradients.gradients(sim, ["contact_point", "contact_radius"], np.arange(1))
    for k in range(2):
        for j in range(4):
            change = np.zeros((2, 4))
            change[k, j] = 1e-6
            ends = [np.concatenate([s.x, s.v, s.w], -1)[0, 0] for s in (after(change).state, after(-change).state)]
            expected = (ends[0] - ends[1]) / 2e-6
            column = found["contact_point"][0, :, k, j] if j < 3 else found["contact_radius"][0, :, k]
            exact = slow["contact_point"][0, :, 3 * k + j] if j < 3 else slow["contact_radius"][0, :, k]
            np.testing.assert_allclose(column, exact, rtol=0, atol=1e-6 * np.abs(exact).max())
            np.testing.assert_allclose(np.delete(column, [3, 4, 5]), expected, rtol=0, atol=3e-6 * np.abs(exact).max())
