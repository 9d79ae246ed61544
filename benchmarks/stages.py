"""Operations and time of every stage of a step, next to the most that the core can do.

Each function of the kernels is compiled by itself and called many times on the memory of a simulation in motion, and
its operations are counted as in flops.py. A call serves one lane group, LANES environments at once.
"""

from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from vigym.benchmarks.flops import Counted
from vigym.benchmarks.scenes import build
from vigym.engine.kernels import axis, body, contact, interior_point, joint, ldu
from vigym.engine.kernels import step as whole
from vigym.engine.kernels.jit import unkept_kernel
from vigym.engine.kernels.simd import block, group
from vigym.engine.lanes import LANES
from vigym.engine.simulator import Simulator

ONCE = 0  # a step, not an iteration
# Stage -> its functions, and how often a Newton iteration calls them
STAGES: dict[str, tuple[tuple[Any, ...], int]] = {
    "start of a step": ((whole.begin_step, interior_point.start), ONCE),
    "residual of bodies": ((body.move_body, interior_point.measure_body), 1),
    "residual of joints": ((joint.move_joint, axis.measure_axis), 1),
    "residual of contacts": ((contact.move_contact,), 1),
    "condensing contacts": ((contact.condense_contact,), 1),
    "factorising the tree": ((axis.condense_axis, ldu.eliminate), 1),
    "substituting": ((ldu.substitute,), 2),
    "direction of contacts": ((contact.affine_contact, contact.direct_contact), 1),
    "direction of axes": ((axis.affine_axis, axis.direct_axis), 1),
    "corrector": ((contact.correct_contact, axis.correct_axis, ldu.eliminate_again, body.limit_spin), 1),
    "update": ((joint.update_joint, body.update_body, contact.update_contact, axis.update_axis), 1),
    "end of a step": ((whole.judge_pull, whole.finish_substep, whole.finish_step), ONCE),
}
# Scene -> its name, parameters and steps until it is looked at
SCENES: dict[str, tuple[str, dict[str, Any], int]] = {
    "A1 standing": ("a1", {"gait": "stand", "dt": 0.005}, 30),
    "chain of 100": ("chain", {"links": 100, "drop": 0.005}, 60),
    "disc of 100": ("disc", {"contacts": 100}, 30),
}
CHAINS, LENGTH = 12, 64  # of the kernel that does nothing but multiply and add


class Stage(NamedTuple):
    """flops of one environment and ns of one lane group, a step."""

    name: str
    flops: float
    ns: float


def repeated(stage: Callable) -> Callable:
    """A kernel that calls a stage over and over."""

    def kernel(m, states, t, first, last, repeat):
        for g in range(first, last):
            s = group(states, g)
            for _ in range(repeat):
                stage(m, s, t)

    return kernel


@block
def multiply_and_add(m, s, t):
    """Independent chains of fused multiply-adds in registers: the most that the core can do."""
    values = [t.V[0][0] + k for k in range(CHAINS)]
    factor = t.h
    for _ in range(LENGTH):
        values = [value * factor + factor for value in values]
    total = values[0]
    for value in values[1:]:
        total = total + value
    t.V[0][0] = total


class Bench:
    """A scene in motion, and copies of its memory from which every measurement starts."""

    def __init__(self, scene: str) -> None:
        name, parameters, steps = SCENES[scene]
        built = build(name, **parameters)
        self.sims = [
            Simulator(built.mechanism, built.dt, LANES, tolerance=1e-6, compiled=mode) for mode in (True, False)
        ]
        x, q, v, w = built.starts(LANES)
        fast, slow = self.sims
        for sim in self.sims:
            sim.set_state(x=x, q=q, v=v, w=w)
        for _ in range(steps):
            fast.step()
        self.iterations = int(fast.status.iterations.max())
        self.memory = [store.slab.copy() for store in (fast._lanes.store, fast._lanes.scratch[0])]
        for store in (slow._lanes.store, slow._lanes.scratch[0]):
            for field in store.fields:
                setattr(store, field, getattr(store, field).view(Counted))

    def restore(self, sim: Simulator) -> None:
        """Put the memory back."""
        for store, slab in zip((sim._lanes.store, sim._lanes.scratch[0]), self.memory, strict=True):
            store.slab[...] = slab

    def flops(self, stage: Callable) -> int:
        """Operations of one call, of one environment."""
        slow = self.sims[1]
        self.restore(slow)
        Counted.start()
        with np.errstate(all="ignore"):
            stage(slow._lanes.constants[0], slow._lanes.store[0], slow._lanes.scratch[0][0])
        return Counted.operations

    def ns(self, stage: Callable, repeat: int = 200, tries: int = 9) -> float:
        """CPU time of one call, of one lane group; best of several tries."""
        fast = self.sims[0]
        lanes = fast._lanes
        code = unkept_kernel(repeated(stage)).code(lanes.constants, lanes.store, lanes.scratch[0])
        times = []
        for _ in range(tries):
            self.restore(fast)
            began = process_time()
            code.run(lanes.constants, lanes.store, lanes.scratch[0], 0, 1, repeat)
            times.append(process_time() - began)
        return min(times) / repeat * 1e9

    def peak(self) -> float:
        """Operations of a lane group in a ns, at most."""
        return 2.0 * CHAINS * LENGTH * LANES / self.ns(multiply_and_add)

    def stages(self) -> list[Stage]:
        """Return what every stage takes in a step."""
        rows = []
        for name, (functions, calls) in STAGES.items():
            times = calls * self.iterations if calls else 1
            rows.append(
                Stage(name, times * sum(map(self.flops, functions)), times * sum(self.ns(stage) for stage in functions))
            )
        return [row for row in rows if row.flops > 0]


def table(scene: str) -> str:
    """A Markdown table of the stages of a scene."""
    bench = Bench(scene)
    peak, stages = bench.peak(), bench.stages()
    flops, ns = sum(stage.flops for stage in stages), sum(stage.ns for stage in stages)
    lines = [
        f"### {scene}",
        "",
        f"{bench.iterations} Newton iterations; {flops / 1e3:.1f} thousand operations and {ns / LANES / 1e3:.2f} us a "
        f"step of one environment: {LANES * flops / ns:.1f} of at most {peak:.1f} GFLOP/s.",
        "",
        "| stage | flops a step | us a step | GFLOP/s | of the time | of the peak |",
        "|---|---|---|---|---|---|",
    ]
    for stage in [*stages, Stage("all", flops, ns)]:
        rate = LANES * stage.flops / stage.ns
        lines.append(
            f"| {stage.name} | {stage.flops:,.0f} | {stage.ns / LANES / 1e3:.3f} | {rate:.1f} "
            f"| {stage.ns / ns:.0%} | {rate / peak:.0%} |"
        )
    return "\n".join(lines)
