"""`vigym.torch`: steps and rollouts as functions of tensors that PyTorch differentiates.

    state = vigym.torch.step(sim, state, target=target)                 # one step, from one state to the next
    states = vigym.torch.rollout(sim, state, target=targets)            # many, in one compiled call

State, controls and parameters may require gradients. Tensors live on the CPU; numbers are computed in double precision,
and results have the type of what was given. See docs/gradients.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

try:
    import torch
    from torch.autograd.function import once_differentiable
except ModuleNotFoundError as cause:
    raise ModuleNotFoundError("vigym.torch needs PyTorch: pip install 'vigym[torch]'") from cause

from vigym.bridges.function import STATE, Rollout, inputs_of, rollout_of
from vigym.engine.errors import InputError
from vigym.engine.simulator import Simulator
from vigym.engine.state import State

# Of every simulator, the tensors of the last state that `step` has returned, and that state as the simulator has it
_last: WeakKeyDictionary[Simulator, tuple[list[Any], State]] = WeakKeyDictionary()


def step(
    sim: Simulator,
    state: Mapping[str, torch.Tensor] | None = None,
    *,
    repeat: int = 1,
    parameters: Mapping[str, torch.Tensor] | None = None,
    read: Sequence[str] = (),
    overlap: str = "error",
    **controls: torch.Tensor | None,
) -> dict[str, torch.Tensor]:
    """The state after one step, or after `repeat` steps with the same controls: "x", "q", "v", "w", (num_envs,
    n_bodies, 3 or 4), and what else is to be read: "joint_positions", "joint_velocities".

    state: the state before the step; None is where `sim` is. What the last step returned goes on as `sim.step` does;
    any other state is set as `sim.set_state(overlap=...)` does
    controls: effort, force, torque, target, target_velocity as in `sim.step`
    parameters: as `sim.set_parameters` takes them; they stay
    """
    found = _rollout(sim, state, 1, repeat, parameters, read, overlap, controls)
    after = {name: value[0] for name, value in found.items()}
    _last[sim] = [ref(after[name]) for name in STATE], sim.state
    return after


def rollout(
    sim: Simulator,
    state: Mapping[str, torch.Tensor] | None = None,
    *,
    steps: int | None = None,
    repeat: int = 1,
    parameters: Mapping[str, torch.Tensor] | None = None,
    read: Sequence[str] = (),
    overlap: str = "error",
    **controls: torch.Tensor | None,
) -> dict[str, torch.Tensor]:
    """The same for many steps in one call, with the steps in front of all results, and of controls if they have them:
    (steps, num_envs, ...); see `step` and `sim.rollout`."""
    return _rollout(sim, state, steps, repeat, parameters, read, overlap, controls)


def _rollout(
    sim: Simulator,
    state: Mapping[str, torch.Tensor] | None,
    steps: int | None,
    repeat: int,
    parameters: Mapping[str, torch.Tensor] | None,
    read: Sequence[str],
    overlap: str,
    controls: Mapping[str, torch.Tensor | None],
) -> dict[str, torch.Tensor]:
    tensors = {name: _checked(name, value) for name, value in inputs_of(state, parameters, controls).items()}
    goes_on = _goes_on(sim, tensors)
    call = rollout_of(sim, {k: tuple(v.shape) for k, v in tensors.items()}, steps, repeat, read, overlap)
    dtype = torch.float64
    if tensors and all(tensor.dtype == torch.float32 for tensor in tensors.values()):
        dtype = torch.float32
    wide = [tensor.to(torch.float64).expand(call.shapes[name]) for name, tensor in tensors.items()]
    results = _Function.apply(call, tuple(tensors), goes_on, *wide)
    return {name: value.to(dtype) for name, value in zip(call.read, results, strict=True)}


def _checked(name: str, value: Any) -> torch.Tensor:
    """A tensor of real numbers on the CPU."""
    tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value, dtype=torch.float64)
    if tensor.device.type != "cpu" or tensor.is_complex():
        raise InputError(f"{name} must be a tensor of real numbers on the CPU, got {tensor.dtype} on {tensor.device}")
    return tensor if tensor.is_floating_point() else tensor.to(torch.float64)


def _goes_on(sim: Simulator, tensors: Mapping[str, torch.Tensor]) -> bool:
    """Return whether the state is the one that the last step of `sim` has returned."""
    if not isinstance(sim, Simulator) or sim not in _last:
        return False
    last, state = _last[sim]
    returned = all(there() is tensors.get(name) for there, name in zip(last, STATE, strict=True))
    return returned and all(map(np.array_equal, state, sim.state))


class _Function(torch.autograd.Function):
    """A rollout; backward pulls covectors through the tape that it left."""

    @staticmethod
    def forward(
        ctx: Any, call: Rollout, names: Sequence[str], goes_on: bool, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Make the steps."""
        inputs = {name: tensor.detach().numpy() for name, tensor in zip(names, tensors, strict=True)}
        ctx.call, ctx.names = call, names
        ctx.q = inputs.get("q")
        needed = any(ctx.needs_input_grad[3:])
        given = {name: value for name, value in inputs.items() if not (goes_on and name in STATE)}
        found = call.run(given, gradients=needed)
        ctx.tape = call.sim._tape if needed else None
        return tuple(torch.from_numpy(found[name]) for name in call.read)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *bars: torch.Tensor | None) -> tuple[Any, ...]:
        """Covectors of all inputs from those of all results."""
        cotangents = {
            name: bar.detach().numpy() for name, bar in zip(ctx.call.read, bars, strict=True) if bar is not None
        }
        needed = [name for name, needs in zip(ctx.names, ctx.needs_input_grad[3:], strict=True) if needs]
        found = ctx.call.pull(ctx.tape, ctx.q, cotangents, needed)
        by_name = {name: torch.from_numpy(value) for name, value in found.items()}
        return None, None, None, *(by_name.get(name) for name in ctx.names)
