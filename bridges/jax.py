"""`vigym.jax`: steps and rollouts as functions of JAX arrays, differentiable, also inside `jax.jit`.

    state = vigym.jax.step(sim, state, target=target)
    states = vigym.jax.rollout(sim, state, target=targets)

The engine runs on the host, in a callback. It is a function of its arguments alone, so the state must be given, and the
backward pass makes the steps once more. JAX computes in single precision unless `jax_enable_x64` is set; joints of
states in single precision are open by more than the engine takes for closed, so set it. See docs/gradients.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ModuleNotFoundError as cause:
    raise ModuleNotFoundError("vigym.jax needs JAX: pip install 'vigym[jax]'") from cause

from vigym.bridges.function import Arrays, Rollout, inputs_of, rollout_of
from vigym.engine.errors import InputError
from vigym.engine.simulator import Simulator


def step(
    sim: Simulator,
    state: Mapping[str, Any],
    *,
    repeat: int = 1,
    parameters: Mapping[str, Any] | None = None,
    read: Sequence[str] = (),
    overlap: str = "error",
    **controls: Any,
) -> dict[str, Any]:
    """The state after one step, or after `repeat` steps with the same controls: "x", "q", "v", "w", (num_envs,
    n_bodies, 3 or 4), and what else is to be read: "joint_positions", "joint_velocities".

    state: x, q, v, w before the step, set as `sim.set_state(overlap=...)` does
    controls: effort, force, torque, target, target_velocity as in `sim.step`
    parameters: as `sim.set_parameters` takes them; those of `sim` count for all others
    """
    found = rollout(sim, state, steps=1, repeat=repeat, parameters=parameters, read=read, overlap=overlap, **controls)
    return {name: value[0] for name, value in found.items()}


def rollout(
    sim: Simulator,
    state: Mapping[str, Any],
    *,
    steps: int | None = None,
    repeat: int = 1,
    parameters: Mapping[str, Any] | None = None,
    read: Sequence[str] = (),
    overlap: str = "error",
    **controls: Any,
) -> dict[str, Any]:
    """The same for many steps in one call, with the steps in front of all results, and of controls if they have them:
    (steps, num_envs, ...); see `step` and `sim.rollout`."""
    if state is None:
        raise InputError("state must be given: a function of JAX has no memory of its own")
    given = {name: jnp.asarray(value, float) for name, value in inputs_of(state, parameters, controls).items()}
    call = rollout_of(sim, {name: value.shape for name, value in given.items()}, steps, repeat, read, overlap)
    return _function(call)({name: jnp.broadcast_to(value, call.shapes[name]) for name, value in given.items()})


def _function(call: Rollout) -> Any:
    """The rollout as a function of a dictionary of arrays, with its derivative."""
    dtype = jnp.zeros(0, float).dtype
    after = {name: jax.ShapeDtypeStruct(call.output_shape(name), dtype) for name in call.read}

    def doubled(arrays: Mapping[str, Any]) -> Arrays:
        return {name: np.asarray(value, float) for name, value in arrays.items()}

    def singled(arrays: Arrays) -> Arrays:
        return {name: np.ascontiguousarray(value, dtype) for name, value in arrays.items()}

    def run(inputs: Mapping[str, Any]) -> Arrays:
        return singled(call.run(doubled(inputs)))

    def run_back(inputs: Mapping[str, Any], bars: Mapping[str, Any]) -> Arrays:
        arrays = doubled(inputs)
        call.run(arrays, gradients=True)
        tape = call.sim._tape
        assert tape is not None
        return singled(call.pull(tape, arrays["q"], doubled(bars), list(arrays)))

    @jax.custom_vjp
    def function(inputs: dict[str, Any]) -> dict[str, Any]:
        return jax.pure_callback(run, after, inputs, vmap_method="sequential")

    def forward(inputs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        return function(inputs), inputs

    def backward(inputs: dict[str, Any], bars: dict[str, Any]) -> tuple[dict[str, Any]]:
        before = {name: jax.ShapeDtypeStruct(value.shape, dtype) for name, value in inputs.items()}
        return (jax.pure_callback(run_back, before, inputs, bars, vmap_method="sequential"),)

    function.defvjp(forward, backward)
    return function
