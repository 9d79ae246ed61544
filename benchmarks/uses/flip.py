"""The hopper's flip by gradient shooting: a jump, one turn in the air, upright over the place where it began.

Gauss-Newton on what is off at the end; four environments with the same plan have the derivatives of one number each.
Beside it the cross-entropy method, with the same controls, bounds and cost.
"""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vigym.assets import hopper
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.simulator import Simulator

DT, REPEAT, CONTROLS = 0.01, 2, 45  # s; time steps with the same control; controls: 0.9 s
PUSH = 6  # controls of the first guess in which the leg pushes
ENDS = 4  # what is off at the end: turn, rad; rate of turning, rad/s; way along x, m; foot above the ground, m
WEIGHTS = np.array([1.0, 0.1, 1.0, 3.0])
GENERATION, ELITE = 64, 8


class Way(NamedTuple):
    """A plan (CONTROLS, 2), its seconds, and the cost after so many seconds, (n, 2)."""

    plan: Array
    seconds: float
    history: Array


def first_plan() -> Array:
    """A jump straight up, then a little torque one way and the other: 150 degrees."""
    plan = np.zeros((CONTROLS, 2))
    plan[:PUSH, 0] = 1.0
    plan[PUSH:, 1] = np.where(np.arange(CONTROLS - PUSH) < (CONTROLS - PUSH) / 2, 0.1, -0.1)
    return plan


class Shooting:
    """So many plans at once, each from standing."""

    def __init__(self, num_envs: int) -> None:
        self.sim = Simulator(hopper.build(), DT, num_envs)
        self.standing = self.sim.save()

    def run(self, plans: Array, gradients: bool = False) -> tuple[Array, dict[str, Array]]:
        """Misses at the end of plans (n, CONTROLS, 2), weighted, (n, ENDS), and all states."""
        n = len(plans)
        self.sim.restore(self.standing)
        effort = hopper.FORCE_LIMIT * np.tanh(plans[..., :1]).swapaxes(0, 1)
        torque = np.zeros((CONTROLS, n, 2, 3))
        torque[:, :, 0, 1] = hopper.TORQUE_LIMIT * np.tanh(plans[..., 1]).T
        states = self.sim.rollout(effort, torque=torque, repeat=REPEAT, gradients=gradients)
        turn = DT * REPEAT * states["w"][:, :, 0, 1].sum(0)
        foot = states["x"][-1, :, 1, 2] - hopper.POLE_LENGTH / 2
        ends = [turn - 2 * np.pi, states["w"][-1, :, 0, 1], states["x"][-1, :, 0, 0], foot]
        return WEIGHTS * np.stack(ends, -1), states

    def linearised(self, plan: Array) -> tuple[Array, Array]:
        """Misses at the end of one plan (ENDS,), and its derivatives (ENDS, 2 CONTROLS); needs ENDS plans."""
        off, states = self.run(np.repeat(plan[None], ENDS, 0), gradients=True)
        x, w = np.zeros_like(states["x"]), np.zeros_like(states["w"])
        w[:, 0, 0, 1], w[-1, 1, 0, 1] = DT * REPEAT, 1.0
        x[-1, 2, 0, 0] = x[-1, 3, 1, 2] = 1.0
        pulled = self.sim.rollout_vjp({"x": x, "w": w}, "torque")
        by = np.stack(
            [hopper.FORCE_LIMIT * pulled["effort"][..., 0], hopper.TORQUE_LIMIT * pulled["torque"][..., 0, 1]]
        )
        by = by.transpose(2, 1, 0) / np.cosh(plan) ** 2
        return off[0], (WEIGHTS[:, None, None] * by).reshape(ENDS, -1)


def by_gradients(most: int = 100, close: float = 1e-6) -> Way:
    """Gauss-Newton, with steps as short as the ends allow."""
    one, many = Shooting(1), Shooting(ENDS)
    one.run(first_plan()[None])
    many.linearised(first_plan())  # compiled
    began, plan, damping, history = time.perf_counter(), first_plan(), 1e-2, []
    off, by = many.linearised(plan)
    for _ in range(most):
        history.append((time.perf_counter() - began, off @ off))
        if off @ off < close:
            break
        step = by.T @ np.linalg.solve(by @ by.T + damping * np.eye(ENDS), off)
        tried = plan - step.reshape(plan.shape)
        miss = one.run(tried[None])[0][0]
        if miss @ miss < off @ off:
            plan, damping = tried, 0.3 * damping
            off, by = many.linearised(plan)
        else:
            damping *= 5.0
    return Way(plan, time.perf_counter() - began, np.array(history))


def by_sampling(seconds: float, seed: int = 0) -> Way:
    """The cross-entropy method from the same first plan."""
    many, rng = Shooting(GENERATION), np.random.default_rng(seed)
    mean, spread, history = first_plan(), np.full((CONTROLS, 2), 0.5), []
    many.run(np.repeat(mean[None], GENERATION, 0))
    began, best = time.perf_counter(), (np.inf, mean)
    while time.perf_counter() - began < seconds:
        plans = mean + spread * rng.normal(size=(GENERATION, CONTROLS, 2))
        off, _ = many.run(plans)
        cost = (off * off).sum(-1)
        order = np.argsort(cost)[:ELITE]
        mean, spread = plans[order].mean(0), plans[order].std(0) + 0.01
        best = min(best, (float(cost[order[0]]), plans[order[0]]), key=lambda pair: pair[0])
        history.append((time.perf_counter() - began, best[0]))
    return Way(best[1], seconds, np.array(history))


def draw(path: Path, seconds: float = 20.0) -> Path:
    """Costs over time, and the flip."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    ours, theirs = by_gradients(), by_sampling(seconds)
    _, states = Shooting(1).run(ours.plan[None])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for way, name in ((ours, "Gauss-Newton"), (theirs, "cross-entropy method")):
        left.loglog(np.maximum(way.history[:, 0], 1e-3), way.history[:, 1], label=name)
    left.set(xlabel="time, s", ylabel="cost", title="from the same jump")
    left.legend(fontsize="small")
    left.grid(alpha=0.3)
    x, q = states["x"][:, 0], states["q"][:, 0, 1]
    up = 2.0 * np.stack([q[:, 1] * q[:, 3] + q[:, 0] * q[:, 2], 0.5 - q[:, 1] ** 2 - q[:, 2] ** 2], -1)  # its z axis
    for k in range(0, CONTROLS, 3):
        color, shift = plt.get_cmap("viridis")(k / CONTROLS), 0.06 * k
        ends = x[k, 1, [0, 2]] + 0.5 * hopper.POLE_LENGTH * np.array([[-1.0], [1.0]]) * up[k]
        right.plot(ends[:, 0] + shift, ends[:, 1], color=color)
        right.plot(x[k, 0, 0] + shift, x[k, 0, 2], "o", color=color)
    right.axhline(0.0, color="black", lw=1)
    right.set(aspect="equal", title="every 60 ms, shifted", xlabel="m", ylabel="m")
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path
