"""`vigym.jax`: derivatives inside jit, against differences; skipped where JAX is not installed."""

import numpy as np
import pytest
from scenes import pendulum

from vigym import InputError, Simulator

jax = pytest.importorskip("jax")
check_grads = pytest.importorskip("jax.test_util").check_grads
bridge = pytest.importorskip("vigym.jax")
jax.config.update("jax_enable_x64", True)


@pytest.fixture(scope="module")
def sim() -> Simulator:
    return Simulator(pendulum(kp=5.0, kd=0.2), dt=0.02, num_envs=2, tolerance=1e-12)


def test_rollouts_inside_jit(sim):
    sim.set_joint_state(np.array([[0.5], [-0.3]]))
    state = sim.state._asdict()
    rng = np.random.default_rng(0)
    effort, target, gain = rng.normal(size=(5, 2, 1)), rng.normal(size=(2, 1)), np.full((2, 1), 5.0)
    weights = rng.normal(size=(5, 2, 1, 3)), rng.normal(size=(5, 2, 1, 4)), rng.normal(size=(5, 2, 1))

    def loss(effort, target, gain):
        options = {"parameters": {"kp": gain}, "read": ["joint_velocities"], "repeat": 2}
        after = bridge.rollout(sim, state, effort=effort, target=target, **options)
        numbers = after["x"], after["q"], after["joint_velocities"]
        return sum((weight * number).sum() for weight, number in zip(weights, numbers, strict=True))

    inputs = effort, target, gain
    found = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*inputs)
    check_grads(jax.jit(loss), inputs, order=1, modes=["rev"], eps=1e-5, atol=1e-6, rtol=1e-6)
    assert [value.shape for value in found] == [value.shape for value in inputs]


def test_states_are_inputs(sim):
    """A rod that hangs still: one step later, d(w)/d(w before) about the hinge is 1 for small h, less what the drive's
    damping (0.2 of 1/3 kg m^2, implicit) and its spring take."""
    sim.set_joint_state(np.zeros((2, 1)))
    start = {name: np.array(value) for name, value in sim.state._asdict().items()}

    def speed(rate):
        w = rate * np.array([[[0.0, 1.0, 0.0]]] * 2)
        v = rate * np.array([[[-0.5, 0.0, 0.0]]] * 2)
        after = bridge.step(sim, start | {"v": v, "w": w}, target=np.zeros(1), parameters={"kp": [5.0], "kd": [0.2]})
        return after["w"][0, 0, 1]

    eps = 1e-5
    expected = (speed(eps) - speed(-eps)) / (2 * eps)
    assert 0.9 < expected < 1.0
    np.testing.assert_allclose(jax.grad(speed)(0.0), expected, rtol=1e-6)
    with pytest.raises(InputError, match="state must be given"):
        bridge.step(sim, None)
