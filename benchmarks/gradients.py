"""`vigym bench gradients`: derivatives of a driven A1 in units of a step, beside those of MuJoCo and MJX.

All robots follow random targets, so that feet strike, stick and slide. A Newton iteration is a part of a step: mean
iterations are told beside, as a robot that stands still takes one, and its gradients as many more steps.
"""

import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vigym import Simulator
from vigym.assets import unitree_a1
from vigym.benchmarks.tables import markdown
from vigym.engine.durable import write_rows, write_whole
from vigym.formats.mjcf.write import to_mjcf

DT, WARM, STEPS, SPREAD = 0.005, 40, 100, 0.3  # s; steps before, and of a rollout; rad
BATCHES = (1, 64)


class Figure(NamedTuple):
    """A time, for all environments of a batch, and in steps of the same engine."""

    engine: str
    num_envs: int
    what: str
    microseconds: float
    steps: float
    bar: str


def fastest(call: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of the fastest of many calls, after one that compiles; of this process, which has one thread."""
    call()
    times = []
    for _ in range(repeats):
        began = clock()
        call()
        times.append(clock() - began)
    return min(times)


def targets(num_envs: int) -> np.ndarray:
    """Targets of all joints, (WARM + STEPS, num_envs, 12)."""
    rng = np.random.default_rng(0)
    return unitree_a1.STANDING + SPREAD * rng.uniform(-1, 1, (WARM + STEPS, num_envs, 12))


def of_vigym(num_envs: int, repeats: int) -> tuple[list[Figure], str]:
    """Figures of a batch on one core, and what the robots were doing."""
    sim, asked = Simulator(unitree_a1.build(), DT, num_envs), targets(num_envs)
    sim.rollout(target=asked[:WARM])
    start, times, loaded = sim.save(), [], []
    sim.rollout(target=asked[WARM:])
    iterations = sim.status.iterations.mean() / STEPS
    for _ in range(repeats):
        sim.restore(start)
        for target in asked[WARM:]:
            began = time.process_time()
            sim.step(target=target)
            times.append(time.process_time() - began)  # each step is the same in all passes
            loaded.append((np.linalg.norm(sim.contact_forces(), axis=-1) > 1.0).any(1).mean())
    step = float(np.reshape(times, (repeats, STEPS)).min(0).mean())
    bar = np.ones((num_envs, 12 * sim.model.n_bodies))
    pulled, joint, whole = sim.vjp(bar), sim.gradients(coordinates="joint"), sim.gradients()
    calls: list[tuple[str, Callable[[], Any], str]] = [
        ("VJP", lambda: sim.vjp(bar, out=pulled), "0.7"),
        ("Jacobian, joint coordinates", lambda: sim.gradients(coordinates="joint", out=joint), "2.5"),
        ("Jacobian, maximal coordinates", lambda: sim.gradients(out=whole), "6"),
    ]
    found = [Figure("vigym", num_envs, "step", 1e6 * step, 1.0, "")]
    for what, call, most in calls:
        seconds = fastest(call, 3 * repeats)
        found.append(Figure("vigym", num_envs, what, 1e6 * seconds, seconds / step, most))
    bars = np.ones((STEPS, *bar.shape))

    def alone() -> None:
        sim.restore(start)
        sim.rollout(target=asked[WARM:])

    def both() -> None:
        sim.restore(start)
        sim.rollout(target=asked[WARM:], gradients=True)
        sim.rollout_vjp(bars, "target")

    whole_way, rollout = fastest(both, 2 * repeats), fastest(alone, 2 * repeats)
    what = f"rollout of {STEPS} and its backward pass, in rollouts"
    found.append(Figure("vigym", num_envs, what, 1e6 * whole_way, whole_way / rollout, "4"))
    doing = f"{num_envs} A1: {iterations:.1f} Newton iterations a step, {np.mean(loaded):.0%} with feet on the ground"
    return found, doing


def of_mujoco(repeats: int) -> list[Figure]:
    """Steps of MuJoCo, and their Jacobian by one-sided and central differences (mjd_transitionFD)."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(to_mjcf(unitree_a1.build(), DT))
    data, asked, times = mujoco.MjData(model), targets(1)[:, 0], []
    for target in asked:
        data.ctrl[:] = target
        began = time.process_time()
        mujoco.mj_step(model, data)
        times.append(time.process_time() - began)
    step, n = float(np.mean(times[WARM:])), 2 * model.nv
    by_state, by_control = np.zeros((n, n)), np.zeros((n, model.nu))
    found = [Figure("MuJoCo", 1, "step", 1e6 * step, 1.0, "")]
    for name, centred in (("one-sided", False), ("central", True)):

        def differences(centred: bool = centred) -> None:
            mujoco.mjd_transitionFD(model, data, 1e-6, centred, by_state, by_control, None, None)

        seconds = fastest(differences, repeats)
        found.append(Figure("MuJoCo", 1, f"Jacobian, {name} differences", 1e6 * seconds, seconds / step, ""))
    return found


def of_mjx(num_envs: int, repeats: int) -> list[Figure]:
    """Steps of MJX on this CPU, compiled by JAX, and the change of the next state along one of state and controls: its
    solver is a loop, through which JAX differentiates forward only, so there is no VJP."""
    import jax
    import mujoco
    from mujoco import mjx

    host = mujoco.MjModel.from_xml_string(to_mjcf(unitree_a1.build(), DT))
    model, asked = mjx.put_model(host), targets(num_envs)
    data = jax.vmap(lambda _: mjx.make_data(host))(np.arange(num_envs))

    def one(data: Any, *given: Any) -> tuple[Any, Any]:
        after = mjx.step(model, data.replace(**dict(zip(("qpos", "qvel", "ctrl"), given, strict=True))))
        return after.qpos, after.qvel

    def changed(data: Any, *given: Any) -> Any:
        return jax.jvp(lambda *inputs: one(data, *inputs), given, jax.tree.map(jax.numpy.ones_like, given))

    forward, tangent = jax.jit(jax.vmap(one)), jax.jit(jax.vmap(changed))
    position, velocity = data.qpos, data.qvel
    for target in asked[:WARM].astype(np.float32):
        position, velocity = forward(data, position, velocity, target)
    given = data, position, velocity, asked[WARM].astype(np.float32)
    step = fastest(lambda: jax.block_until_ready(forward(*given)), 3 * repeats, time.perf_counter)
    seconds = fastest(lambda: jax.block_until_ready(tangent(*given)), 3 * repeats, time.perf_counter)
    name = "MJX on this CPU"
    return [
        Figure(name, num_envs, "step", 1e6 * step, 1.0, ""),
        Figure(name, num_envs, "step and its JVP", 1e6 * seconds, seconds / step, ""),
    ]


def measure(quick: bool, repeats: int) -> tuple[list[Figure], list[str]]:
    """All figures, and remarks."""
    figures, remarks = [], []
    for num_envs in BATCHES:
        found, doing = of_vigym(num_envs, repeats)
        figures += found
        remarks.append(doing)
    if find_spec("mujoco") is None:
        remarks.append('MuJoCo is not installed and left out: pip install "vigym[compare]" brings it')
    else:
        figures += of_mujoco(repeats)
    if quick or find_spec("jax") is None or find_spec("mujoco.mjx") is None:
        remarks.append("MJX is left out: it takes minutes to compile (not with --quick), and needs mujoco-mjx")
    else:
        try:
            for num_envs in BATCHES:
                figures += of_mjx(num_envs, repeats)
        except Exception as error:  # of a library in a version that may not fit MuJoCo's
            remarks.append(f"MJX failed: {type(error).__name__}: {str(error)[:200]}")
    return figures, remarks


def text(figures: Sequence[Figure], remarks: Sequence[str]) -> str:
    """A Markdown table and the remarks."""
    lines = [
        [
            figure.engine,
            str(figure.num_envs),
            figure.what,
            f"{figure.microseconds:,.0f}",
            f"{figure.steps:.2f}",
            figure.bar,
        ]
        for figure in figures
    ]
    table = markdown(["engine", "environments", "", "us", "in steps", "goal: at most"], lines)
    return table + "".join(f"\n- {remark}" for remark in remarks) + "\n"


def write(figures: Sequence[Figure], remarks: Sequence[str], folder: Path, title: str) -> list[Path]:
    """The figures as CSV and Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    table, page = folder / "gradients.csv", folder / "gradients.md"
    write_rows(table, [Figure._fields, *figures])
    write_whole(page, f"# {title}\n\n{text(figures, remarks)}")
    return [table, page]
