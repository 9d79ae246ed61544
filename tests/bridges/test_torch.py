"""`vigym.torch`: gradcheck, and the same results as the simulator's own."""

import numpy as np
import pytest
from scenes import box, pendulum

from vigym import InputError, Mechanism, Simulator
from vigym.assets import unitree_a1

torch = pytest.importorskip("torch")
bridge = pytest.importorskip("vigym.torch")


def tensor(value, grad: bool = True):
    return torch.tensor(np.asarray(value, float), requires_grad=grad)


def arm() -> Mechanism:
    return pendulum(kp=5.0, kd=0.2)


def sliding(rng: np.random.Generator) -> tuple[Simulator, dict]:
    """Boxes that fall, turn, and slide on the ground."""
    sim = Simulator(box(friction=0.3), dt=0.01, num_envs=2, tolerance=1e-12)
    state = {"x": [[[0, 0, 0.5]], [[0, 0, 0.1001]]], "q": [[[0.8, 0.6, 0, 0]], [[1.0, 0, 0, 0]]]}
    state |= {"v": rng.normal(size=(2, 1, 3)), "w": rng.normal(size=(2, 1, 3))}
    state["v"][1], state["w"][1] = [[2.0, 0.5, -0.1]], 0.0
    return sim, {name: tensor(value) for name, value in state.items()}


def test_gradcheck_of_a_step():
    rng = np.random.default_rng(0)
    sim, state = sliding(rng)
    force, friction = tensor(rng.normal(size=(2, 1, 3))), tensor(np.full((2, 8), 0.3))

    def function(x, q, v, w, force, friction):
        start = {"x": x, "q": q / q.norm(dim=-1, keepdim=True), "v": v, "w": w}
        after = bridge.step(sim, start, force=force, parameters={"friction": friction})
        return tuple(after.values())

    assert torch.autograd.gradcheck(function, (*state.values(), force, friction), eps=1e-6, atol=1e-6, rtol=1e-5)
    assert (np.linalg.norm(sim.contact_forces(), axis=-1).sum(1) > 1).tolist() == [False, True]


def test_gradcheck_of_a_rollout_with_joint_coordinates():
    rng = np.random.default_rng(1)
    sim = Simulator(arm(), dt=0.02, num_envs=2, tolerance=1e-12)
    names = ["joint_positions", "joint_velocities"]

    def function(effort, target):
        sim.set_joint_state(np.array([[0.5], [-0.3]]))
        found = bridge.rollout(sim, effort=effort, target=target, repeat=2, read=names)
        return tuple(found[name] for name in ("x", "q", *names))

    inputs = tensor(rng.normal(size=(4, 2, 1))), tensor(rng.normal(size=(2, 1)))  # efforts of every step, one target
    assert torch.autograd.gradcheck(function, inputs, eps=1e-6, atol=1e-6, rtol=1e-5)


def test_steps_go_on_as_those_of_the_simulator():
    sims = [Simulator(unitree_a1.build(), dt=0.005, num_envs=2, tolerance=1e-10) for _ in range(2)]
    targets = unitree_a1.STANDING + 0.2 * np.random.default_rng(2).uniform(-1, 1, (6, 2, 12))
    target, state = tensor(targets), None
    for k in range(6):
        state = bridge.step(sims[0], state, target=target[k])
    found = sims[1].rollout(target=targets, gradients=True)
    np.testing.assert_array_equal(state["x"].detach(), found["x"][-1])
    (state["x"][..., 2].sum() + state["v"].square().sum()).backward()
    bar = {"x": np.zeros((2, 13, 3)), "v": 2.0 * found["v"][-1]}
    bar["x"][..., 2] = 1.0
    expected = sims[1].rollout_vjp(bar, "target")["target"]
    # feet that stick are springs 1e8 times as stiff as what they hold: so much is made of rounding in quaternions
    np.testing.assert_allclose(target.grad, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_single_precision_and_no_gradients():
    sim = Simulator(arm(), num_envs=2)
    before = bridge.step(sim, effort=torch.zeros(2, 1))
    assert before["x"].dtype == torch.float32
    assert not before["x"].requires_grad
    after = bridge.step(sim, before, effort=torch.ones(2, 1, requires_grad=True))
    assert after["x"].requires_grad
    assert sim._tape is not None


def test_bad_input():
    sim = Simulator(arm(), num_envs=2)
    with pytest.raises(InputError, match="effort must have shape"):
        bridge.step(sim, effort=torch.zeros(3))
    with pytest.raises(InputError, match="no control 'efort'"):
        bridge.step(sim, efort=torch.zeros(1))
    with pytest.raises(InputError, match="state has no 'q'"):
        bridge.step(sim, {"x": torch.zeros(2, 1, 3)})
    with pytest.raises(InputError, match="sim must be"):
        bridge.step(None, effort=torch.zeros(1))
