"""Covectors pulled back through rollouts: against those of single steps, and against differences of whole rollouts."""

import numpy as np
import pytest
from scenes import box, change

from vigym import InputError, Mechanism, Simulator, Sphere
from vigym.assets import unitree_a1
from vigym.engine import gradients
from vigym.engine.rotation import from_rotation_vector, multiply

ENVS, STEPS = 6, 10


def one_by_one(sim: Simulator, bars: np.ndarray, controls: dict[str, np.ndarray], names: tuple[str, ...]):
    """The same by single steps and their covectors, from where `sim` is."""
    saves = []
    for k in range(len(bars)):
        sim.step(**{name: value[k] for name, value in controls.items()})
        saves.append(sim.save())
    back, found = np.zeros_like(bars[0]), []
    for bar, save in zip(bars[::-1], saves[::-1], strict=True):
        sim.restore(save)
        found.append(sim.vjp(bar + back, *names))
        back = found[-1]["state"]
    return back, {name: np.array([step[name] for step in found[::-1]]) for name in ("effort", *names)}


@pytest.fixture(scope="module")
def robot() -> Simulator:
    sim = Simulator(unitree_a1.build(), dt=0.005, num_envs=ENVS, tolerance=1e-10)
    sim.rollout(target=told(sim, 20))
    return sim


def told(sim: Simulator, steps: int) -> np.ndarray:
    rng = np.random.default_rng(steps)
    return unitree_a1.STANDING + 0.3 * rng.uniform(-1, 1, (steps, sim.num_envs, 12))


def test_rollouts_are_their_steps_to_the_bit(robot):
    saved, target, rng = robot.save(), told(robot, STEPS), np.random.default_rng(0)
    effort = rng.normal(size=target.shape)
    bars, names = rng.normal(size=(STEPS, ENVS, 156)), ("target", "mass", "friction")
    plain = robot.rollout(effort, target=target)
    robot.restore(saved)
    kept = robot.rollout(effort, target=target, gradients=True)
    for name, value in plain.items():
        np.testing.assert_array_equal(kept[name], value)
    found = robot.rollout_vjp(bars, *names)
    robot.restore(saved)
    state, expected = one_by_one(robot, bars, {"effort": effort, "target": target}, names)
    np.testing.assert_array_equal(found["state"], state)
    for name in ("effort", "target"):
        np.testing.assert_array_equal(found[name], expected[name])
    for name in ("mass", "friction"):
        np.testing.assert_array_equal(found[name], expected[name].sum(0))
    assert np.abs(found["friction"]).max() > 0
    again = robot.rollout_vjp(bars, *names, out=found)  # of the same rollout, whatever came after it
    assert again is found
    np.testing.assert_array_equal(again["state"], state)


def test_repeats_add_up(robot):
    saved, target, rng = robot.save(), told(robot, 4), np.random.default_rng(1)
    bars = rng.normal(size=(4, ENVS, 156))
    read = robot.rollout(target=target, repeat=3, gradients=True)
    found = robot.rollout_vjp(bars, "target", "kp")
    robot.restore(saved)
    every = robot.rollout(target=np.repeat(target, 3, axis=0), gradients=True)
    np.testing.assert_array_equal(read["x"], every["x"][2::3])
    wide = np.zeros((12, ENVS, 156))
    wide[2::3] = bars
    expected = robot.rollout_vjp(wide, "target", "kp")
    np.testing.assert_array_equal(found["state"], expected["state"])
    np.testing.assert_array_equal(found["kp"], expected["kp"])
    np.testing.assert_allclose(found["target"], expected["target"].reshape(4, 3, ENVS, 12).sum(1), rtol=1e-13)
    robot.restore(saved)
    robot.step(target=target[0], repeat=3)
    with pytest.raises(InputError, match="several steps"):
        robot.vjp(bars[0])


def test_threads_and_batches_change_no_bit(robot):
    target, bars, results = told(robot, STEPS), np.random.default_rng(2).normal(size=(STEPS, ENVS, 156)), []
    for envs, threads in ((ENVS, 1), (ENVS, 2), (5, 1)):
        sim = Simulator(unitree_a1.build(), dt=0.005, num_envs=envs, num_threads=threads, tolerance=1e-10)
        sim.rollout(target=target[:, :envs], gradients=True)
        results.append(sim.rollout_vjp(bars[:, :envs], "target")["target"][:, :5])
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def arm() -> Mechanism:
    """A driven arm of two links."""
    m = Mechanism()
    for k, name in enumerate(("upper", "lower")):
        m.add_body(name, mass=1.0 - 0.3 * k, inertia=(0.02, 0.03, 0.01))
        parent, anchor = ("world", (0, 0, 0.0)) if k == 0 else ("upper", (0, 0, -0.2))
        options = {"axis": (0, 1, 0.3 * k), "child_anchor": (0, 0, 0.2), "kp": 8.0, "kd": 0.3, "damping": 0.1}
        m.add_joint(f"joint {k}", "revolute", parent, name, parent_anchor=anchor, **options)
    return m


def test_differences_of_whole_rollouts():
    """By targets, gains and the state, of joint coordinates, velocities and orientations along the way. Differences
    over 2e-5 of solutions to 1e-13 are good to 1e-8 or so."""
    sim, rng, eps = Simulator(arm(), num_envs=3, tolerance=1e-13), np.random.default_rng(3), 1e-5
    start, rates = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    target = rng.normal(size=(15, 3, 2))
    shapes = {"x": (2, 3), "q": (2, 4), "v": (2, 3), "w": (2, 3), "joint_positions": (2,), "joint_velocities": (2,)}
    bars = {name: rng.normal(size=(15, 3, *shape)) for name, shape in shapes.items()}
    ways = {"target": rng.normal(size=target.shape), "kp": rng.normal(size=(3, 2)), "state": rng.normal(size=(3, 2))}

    def number(target: np.ndarray, kp: np.ndarray, positions: np.ndarray) -> np.ndarray:
        sim.set_parameters(kp=8.0 + kp)
        sim.set_joint_state(positions, rates)
        read = sim.rollout(target=target, read=list(bars), gradients=True)
        return sum((bars[name] * read[name]).sum((0, *range(2, read[name].ndim))) for name in bars)

    zero = np.zeros((3, 2))
    ends = [number(target + e * ways["target"], e * ways["kp"], start + e * ways["state"]) for e in (eps, -eps)]
    sides = []
    for e in (eps, -eps):
        sim.set_joint_state(start + e * ways["state"], rates)
        sides.append(sim.state)
    number(target, zero, start)
    found = sim.rollout_vjp(bars, "target", "kp")
    by_state = np.einsum("er,er->e", found["state"], change(*sides) / (2 * eps))
    by_rest = (found["target"] * ways["target"]).sum((0, 2)) + (found["kp"] * ways["kp"]).sum(1)
    np.testing.assert_allclose(by_state + by_rest, (ends[0] - ends[1]) / (2 * eps), rtol=1e-7)
    sim.set_joint_state(start, rates)
    sim.rollout(target=target, gradients=True)
    last = sim.rollout_vjp({"x": bars["x"][-1]})["state"]
    whole = np.zeros_like(bars["x"])
    whole[-1] = bars["x"][-1]
    np.testing.assert_array_equal(last, sim.rollout_vjp({"x": whole})["state"])


def test_gravity():
    """Gradients of a rollout and of a step agree with differences over 2e-4 m/s^2, which are good to 1e-8."""
    ends, rng, eps = [], np.random.default_rng(6), 1e-4
    way, bar = rng.normal(size=3), rng.normal(size=(2, 24))
    for amount in (eps, -eps, 0.0):
        m = arm()
        m.gravity = m.gravity + amount * way
        sim = Simulator(m, num_envs=2, tolerance=1e-13)
        sim.set_joint_state([[0.4, 0.3], [-0.2, 1.0]])
        sim.rollout(steps=5, gradients=True)
        ends.append(sim.state)
    expected = np.einsum("er,er->e", bar, change(ends[0], ends[1]) / (2 * eps))
    found = sim.rollout_vjp(bar, "gravity")
    assert found.keys() == {"state", "effort", "gravity"}
    np.testing.assert_allclose(found["gravity"] @ way, expected, rtol=1e-6)
    sim.step()
    whole, pulled = sim.gradients("gravity"), sim.vjp(bar, "force", "gravity")
    np.testing.assert_allclose(np.einsum("er,erk->ek", bar, whole["gravity"]), pulled["gravity"], rtol=1e-12)
    weighed = np.einsum("b,ebk->ek", [1.0, 0.7], pulled["force"])
    np.testing.assert_allclose(weighed, pulled["gravity"], rtol=1e-12)


def test_steps_that_were_cut_are_the_product_of_their_parts():
    sim, eps = Simulator(box(), num_envs=3, tolerance=1e-12), 1e-6
    x, w = np.array([[0, 0, 2.0]]), np.array([[[0, 0, 1.0]], [[300.0, 20.0, 10.0]], [[90.0, 150.0, 0]]])
    rng = np.random.default_rng(4)
    turn, spin, bar = rng.normal(size=(3, 1, 3)), rng.normal(size=(3, 1, 3)), rng.normal(size=(3, 12))

    def after(e: float):
        q = multiply(np.array([1.0, 0, 0, 0]), from_rotation_vector(e * turn))
        sim.set_state(x=x, q=q, v=np.zeros((3, 1, 3)), w=w + e * spin)
        sim.rollout(torque=[[0.1, 0.2, 0.3]], steps=1, gradients=True)
        return sim.state

    expected = np.einsum("er,er->e", bar, change(after(eps), after(-eps)) / (2 * eps))
    after(0.0)
    assert (sim.status.substeps > 1).tolist() == [False, True, True]
    step = np.concatenate([np.zeros((3, 3)), turn[:, 0], np.zeros((3, 3)), spin[:, 0]], -1)
    for found in (sim.vjp(bar, "torque"), sim.rollout_vjp(bar, "torque")):
        assert found.status.tolist() == ["ok"] * 3
        np.testing.assert_allclose(np.einsum("er,er->e", found["state"], step), expected, rtol=1e-6)
    whole, moved = sim.gradients("torque"), sim.jvp(state=step)
    np.testing.assert_allclose(np.einsum("er,er->e", moved, bar), expected, rtol=1e-6)
    np.testing.assert_allclose(
        np.einsum("er,er->e", bar, np.einsum("erc,ec->er", whole.state, step)), expected, rtol=1e-6
    )
    product = np.einsum("er,erbk->ebk", bar, whole["torque"])
    np.testing.assert_allclose(product, found["torque"][0], rtol=0, atol=1e-12 * np.abs(product).max())


def ring() -> Mechanism:
    """Four bars that close a loop."""
    m, corners = Mechanism(), [(0, 0, 0), (1, 0, 0), (1, 0, -1), (0, 0, -1)]
    for k in range(3):
        middle = np.mean(corners[k : k + 2], axis=0) if k else np.mean([corners[0], corners[3]], axis=0)
        m.add_body(f"{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=middle)
    joints = [("world", "0", 0), ("0", "2", 3), ("2", "1", 2), ("world", "1", 1)]
    for k, (parent, child, corner) in enumerate(joints):
        anchors = {
            f"{side}_anchor": np.array(corners[corner], float)
            - (m.bodies[int(name)].position if name != "world" else 0)
            for side, name in (("parent", parent), ("child", child))
        }
        m.add_joint(f"joint {k}", "revolute", parent, child, axis=(0, 1, 0), **anchors)
    return m


def roller() -> Mechanism:
    m = Mechanism()
    m.add_ground(friction=0.5)
    m.add_body("ball", mass=1.0, shapes=[Sphere(radius=0.1)], friction=0.5)
    return m


@pytest.mark.parametrize("make", [ring, roller])
def test_mechanisms_of_which_whole_states_are_kept(make):
    """A loop, and bodies that touch."""
    sim, rng = Simulator(make(), num_envs=2, tolerance=1e-10, overlap="separate"), np.random.default_rng(5)
    n = sim.model.n_bodies
    if make is ring:
        sim.step(rng.normal(size=(2, sim.model.n_axes)))
    else:
        sim.set_state(x=[[[0, 0, 0.15]], [[0, 0, 0.3]]], v=[[[1.0, 0, -2.0]]] * 2)
    saved, bars, force = sim.save(), rng.normal(size=(5, 2, 12 * n)), rng.normal(size=(5, 2, n, 3))
    sim.rollout(force=force, gradients=True)
    found = sim.rollout_vjp(bars, "force", "mass")
    sim.restore(saved)
    state, expected = one_by_one(sim, bars, {"force": force}, ("force", "mass"))
    assert found.status.tolist() == ["ok"] * 2
    np.testing.assert_allclose(found["state"], state, rtol=0, atol=1e-12 * np.abs(state).max())
    np.testing.assert_allclose(found["force"], expected["force"], rtol=0, atol=1e-12 * np.abs(expected["force"]).max())
    np.testing.assert_allclose(
        found["mass"], expected["mass"].sum(0), rtol=0, atol=1e-12 * np.abs(expected["mass"]).max()
    )


def test_bad_input(robot):
    with pytest.raises(InputError, match="pass gradients=True"):
        Simulator(box()).rollout_vjp(np.ones((1, 12)))
    robot.rollout(steps=2, gradients=True)
    with pytest.raises(InputError, match="joint_positions"):
        robot.rollout_vjp({"joint_position": np.ones((2, ENVS, 12))})
    with pytest.raises(InputError, match="cotangent 'x'"):
        robot.rollout_vjp({"x": np.ones((3, ENVS, 13, 3))})
    with pytest.raises(InputError, match="repeat"):
        robot.rollout(steps=2, repeat=0)
    with pytest.raises(InputError, match="gradients"):
        robot.rollout(steps=2, gradients=3)


@pytest.mark.parametrize("cone", ["exact", "pyramid"])
def test_rebounds_in_a_rollout(cone):
    """A rebound depends on the impulse of the step before it, which is no part of the state."""
    m = Mechanism()
    m.add_body("egg", mass=2.0, inertia=(0.01, 0.012, 0.009))
    m.add_contact("skin", "egg", (0.02, 0.01, -0.03), radius=0.1, friction=0.3, restitution=0.6)
    sim = Simulator(m, dt=0.005, tolerance=1e-8, num_envs=3, cone=cone)
    start = {"x": [[0, 0, 0.2]], "q": [[1, 0, 0, 0]], "v": [[1.0, 0.3, -1.0]], "w": [[1.0, 2.0, 3.0]]}
    push = np.zeros((40, 3, 1, 3))
    push[:, :, 0, 0] = [0.0, 0.5, 1.0]

    def end(given, **parameters):
        sim.set_parameters(**{"friction": [0.3], "restitution": [0.6], **parameters})
        sim.set_state(**start)
        return sim.rollout(force=given, read=["x", "v"], gradients=True)

    states = end(push)
    bar = np.zeros_like(states["x"])
    bar[-1, :, 0, :2] = 1.0
    pulled = sim.rollout_vjp({"x": bar}, "force", "friction", "restitution")
    assert (pulled.status == "ok").all()
    rng, eps = np.random.default_rng(0), 1e-5
    way = rng.normal(size=push.shape)
    for name, ends in {
        "force": [end(push + sign * eps * way)["x"] for sign in (1, -1)],
        "friction": [end(push, friction=[0.3 + sign * eps])["x"] for sign in (1, -1)],
        "restitution": [end(push, restitution=[0.6 + sign * eps])["x"] for sign in (1, -1)],
    }.items():
        expected = (bar * (ends[0] - ends[1])).sum((0, 2, 3)) / (2 * eps)
        found = (pulled[name] * way).sum((0, 2, 3)) if name == "force" else pulled[name][:, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7, err_msg=name)


def test_compiled_as_on_numpy():
    """A loop: directions that are followed in lanes, against complex steps; jvp of them."""
    sim, rng = Simulator(ring(), num_envs=6, tolerance=1e-10), np.random.default_rng(6)
    sim.step(rng.normal(size=(6, sim.model.n_axes)))
    sim.step(rng.normal(size=(6, sim.model.n_axes)))
    found, names = sim.gradients("mass", "force", "last_dt"), ["state", "effort", "mass", "force", "last_dt"]
    exact = gradients.gradients(sim, names, np.arange(6))
    for name in names:
        close = 1e-9 * np.abs(exact[name]).max(initial=1e-3)
        np.testing.assert_allclose(
            found[name].reshape(exact[name].shape), exact[name], rtol=0, atol=close, err_msg=name
        )
    way = rng.normal(size=(6, 36))
    product = np.einsum("erc,ec->er", found.state, way)
    np.testing.assert_allclose(sim.jvp(state=way), product, rtol=0, atol=1e-9 * np.abs(product).max())
