"""Experiment 8: what the paper's published code gets wrong, one small scene for each error.

Every scene runs three times: in the engine, in the dense equations, and in the dense equations with that one error
(`dense.Errors`; the inertia of the cylinder is the engine's own input). The engine itself contains none of them. It has
the paper's friction pyramid here, but its own rotation map and slip, so that engine and dense equations agree to second
order in the step (see dense.py).
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vigym.benchmarks.reproduction.dense import Dense, Errors, Solved
from vigym.benchmarks.reproduction.drawing import GREY, VIGYM, WRONG, label, panels, save
from vigym.benchmarks.reproduction.result import DIFFERS, NEW, Picture, Result, write_csv
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array, rotate
from vigym.engine.simulator import Simulator
from vigym.engine.state import State

GRAVITY = 9.81
UPRIGHT = np.array([[1.0, 0.0, 0.0, 0.0]])
STILL = np.zeros((1, 3))
POINTS = 300  # of a curve in the CSV file, about


class Case(NamedTuple):
    """One error: curves over time t (s) with and without it, the largest difference of engine and dense equations.

    wrong, right: what the two do, in words.
    """

    name: str
    what: str
    wrong: str
    right: str
    t: Array
    curves: dict[str, Array]
    unit: str
    difference: float | None


def engine(m: Mechanism, state: State, h: float, steps: int) -> list[State]:
    """States after every step of the simulator."""
    sim = Simulator(m, dt=h, cone="pyramid")
    sim.set_state(*state)
    found = []
    for _ in range(steps):
        sim.step()
        if not sim.status.converged[0]:
            raise RuntimeError("a step of the engine could not be solved")
        found.append(State(*(part[0] for part in sim.state)))
    return found


def both(
    m: Mechanism, state: State, h: float, steps: int, errors: Errors
) -> tuple[Array, list[State], list[Solved], float]:
    """Times, states of the engine, steps of the dense equations with the error, and engine against dense without."""
    ours = engine(m, state, h, steps)
    right = [solved.state for solved in Dense(m, h).run(state, steps, tolerance=1e-8)]
    wrong = Dense(m, h, errors).run(state, steps)
    apart = max(float(np.abs(u - v).max()) for a, b in zip(ours, right, strict=True) for u, v in zip(a, b, strict=True))
    return h * np.arange(1.0, steps + 1), ours, wrong, apart


def drift(momenta: Array) -> float:
    """Largest change of a vector (T, 3), of its first size."""
    return float(np.linalg.norm(momenta - momenta[0], axis=-1).max() / np.linalg.norm(momenta[0]))


def engine_momenta(m: Mechanism, states: list[State], h: float) -> Array:
    """Angular momentum in space (T, 3) that goes with the engine's map."""
    sim = Simulator(m, dt=h, num_envs=len(states))
    sim.set_state(*(np.array(part) for part in zip(*states, strict=True)))
    return sim.momentum()[:, 3:]


def paper_momenta(J: Array, states: list[State], h: float) -> Array:
    """Angular momentum of one body (T, 3) with the paper's map: R (h/2) (s(w) J w - w x J w)."""
    found = []
    for _, q, _, w in states:
        Jw = J * w[0]
        found.append(rotate(q[0], h / 2 * (np.sqrt(4 / h**2 - w[0] @ w[0]) * Jw - np.cross(w[0], Jw))))
    return np.array(found)


def padded(values: list[float], length: int) -> Array:
    """A run that stopped early, filled up with NaN."""
    return np.array(values + [np.nan] * (length - len(values)))


def gyroscopic(quick: bool) -> Case:
    """A free body spins about its middle axis: it must turn over again and again, and keep its angular momentum."""
    J, h, steps = np.array([0.1, 0.2, 0.25]), 0.02, 100 if quick else 600
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("body", mass=1.0, inertia=J)
    state = State(STILL, UPRIGHT, STILL, np.array([[0.5, 5.0, -0.5]]))
    t, ours, wrong, apart = both(m, state, h, steps, Errors(gyroscopic=True))
    curves = {
        "engine": np.array([s.w[0, 1] for s in ours]),
        "with the error": np.array([s.state.w[0, 1] for s in wrong]),
    }
    flips = {name: int(np.count_nonzero(np.diff(np.sign(curve)))) for name, curve in curves.items()}
    return Case(
        "gyroscopic term",
        "minus instead of plus before w0 x J w0; a body spins about its middle axis, 5 rad/s",
        f"turns over {flips['with the error']} times in {t[-1]:g} s; angular momentum in space changes by "
        f"{drift(paper_momenta(J, [s.state for s in wrong], h)):.0%}",
        f"turns over {flips['engine']} times, as Euler's equations ask for; it changes by "
        f"{drift(engine_momenta(m, ours, h)):.0e}",
        t,
        curves,
        "spin about the middle axis, rad/s",
        apart,
    )


def ball(friction: float) -> Mechanism:
    """A sphere of 1 kg and 0.1 m on the plane z = 0."""
    m = Mechanism()
    m.add_body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004))
    m.add_contact("skin", "ball", (0, 0, 0), radius=0.1, friction=friction)
    return m


def friction_torque(quick: bool) -> Case:
    """A sphere slides until it rolls: at 5/7 of its speed, whatever the friction."""
    h, steps = (0.02, 15) if quick else (0.01, 60)
    state = State(np.array([[0, 0, 0.1]]), UPRIGHT, np.array([[1.0, 0.0, 0.0]]), STILL)
    t, ours, wrong, apart = both(ball(0.2), state, h, steps, Errors(half_torque=True))
    curves = {
        "engine": np.array([s.v[0, 0] for s in ours]),
        "with the error": np.array([s.state.v[0, 0] for s in wrong]),
    }
    curves["closed form"] = np.full(steps, 5 / 7)
    ends = [curve[-1] for curve in curves.values()]
    return Case(
        "friction torque",
        "half the torque of friction; a ball that slides at 1 m/s, friction 0.2, until it rolls",
        f"rolls at {ends[1]:.4f} m/s (5/9 of the start)",
        f"rolls at {ends[0]:.4f} m/s (closed form: 5/7 = 0.7143)",
        t,
        curves,
        "speed of the ball, m/s",
        apart,
    )


def step_length(quick: bool) -> Case:
    """A sphere falls by 5 mm while it moves sideways."""
    h, steps = 0.01, 15 if quick else 40
    state = State(np.array([[0, 0, 0.105]]), UPRIGHT, np.array([[1.0, 0.0, 0.0]]), STILL)
    m = ball(0.2)
    t, ours, wrong, apart = both(m, state, h, steps, Errors(step_length=True))
    heights = {"engine": [s.x[0, 2] for s in ours], "with the error": [s.state.x[0, 2] for s in wrong]}
    curves = {name: 1e3 * (padded(values, steps) - 0.1) for name, values in heights.items()}
    low = {name: np.nanmin(curve) for name, curve in curves.items()}
    accepted = sum(solved.converged for solved in wrong)
    return Case(
        "step length",
        "fraction to the boundary applied to what grows, not to what falls; a ball that falls by 5 mm at 1 m/s "
        "sideways",
        f"{-low['with the error']:.1f} mm deep in the ground; its test of convergence accepts {accepted} of {steps} "
        "steps",
        f"smallest distance {1e-3 * low['engine']:.0e} m",
        t,
        curves,
        "signed distance, mm",
        apart,
    )


def cylinder_inertia(quick: bool) -> Case:
    """The paper's disc as a pendulum, hung up at its rim so that it swings about a transverse axis."""
    mass, radius, height, h, swing = 1.0, 0.5, 0.1, 0.001, 0.1
    steps = 2000 if quick else 6000
    t = h * np.arange(1.0, steps + 1)
    curves, periods, exact = {}, [], []
    for name, share in (("engine", 0.25), ("with the error", 0.5)):
        across = mass * (share * radius**2 + height**2 / 12)
        m = Mechanism()
        m.add_body("disc", mass=mass, inertia=(across, across, mass * radius**2 / 2))
        m.add_joint("rim", "revolute", "world", "disc", axis=(0, 1, 0), child_anchor=(radius, 0, 0))
        sim = Simulator(m, dt=h)  # without contacts
        sim.set_joint_state([-np.pi / 2 + swing])  # hanging straight down is -pi/2
        angles = []
        for _ in range(steps):
            sim.step()
            angles.append(sim.joint_positions()[0, 0] + np.pi / 2)
        curves[name] = np.array(angles)
        # zero crossings, interpolated; the first order of the amplitude's effect is swing^2 / 16
        a, b = curves[name][:-1], curves[name][1:]
        zero = np.flatnonzero(a * b < 0)
        times = t[zero] + h * a[zero] / (a[zero] - b[zero])
        periods.append(float(2 * np.diff(times).mean()))
        whole = across + mass * radius**2
        exact.append(2 * np.pi * np.sqrt(whole / (mass * GRAVITY * radius)) * (1 + swing**2 / 16))
    return Case(
        "cylinder inertia",
        "m (r^2/2 + h^2/12) across instead of m (r^2/4 + h^2/12); the paper's disc swings on its rim",
        f"period {periods[1]:.4f} s ({periods[1] / exact[0] - 1:+.1%})",
        f"period {periods[0]:.4f} s (closed form {exact[0]:.4f} s)",
        t,
        curves,
        "angle, rad",
        None,
    )


def friction_directions(quick: bool) -> Case:
    """A point of 1 kg slides down a plane of 30 degrees, friction 0.4."""
    h, steps, slope, cf = 0.01, 10 if quick else 50, np.radians(30.0), 0.4
    n, down = np.array([np.sin(slope), 0, np.cos(slope)]), np.array([np.cos(slope), 0, -np.sin(slope)])
    m = Mechanism()
    m.add_body("point", mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_contact("contact", "point", (0, 0, 0), friction=cf, normal=n)
    state = State(STILL, UPRIGHT, STILL, STILL)
    t, ours, wrong, apart = both(m, state, h, steps, Errors(world_axes=True))
    curves = {
        "engine": np.array([s.v[0] @ down for s in ours]),
        "with the error": np.array([s.state.v[0] @ down for s in wrong]),
    }
    exact = GRAVITY * (np.sin(slope) - cf * np.cos(slope))
    bent = GRAVITY * (np.sin(slope) - cf * np.cos(slope) ** 2 / (1 - cf * np.sin(slope)))
    rates = [curve[-1] / t[-1] for curve in curves.values()]
    curves["closed form"] = exact * t
    return Case(
        "friction directions",
        "along the world's x and y whatever the normal; a point slides down 30 degrees, friction 0.4",
        f"acceleration {rates[1]:.3f} m/s^2 ({rates[1] / exact - 1:+.0%}; by hand {bent:.3f}): friction pushes into "
        "the plane",
        f"acceleration {rates[0]:.3f} m/s^2 (closed form {exact:.3f})",
        t,
        curves,
        "speed down the slope, m/s",
        apart,
    )


CASES: list[Callable[[bool], Case]] = [gyroscopic, friction_torque, step_length, cylinder_inertia, friction_directions]


def corrections(folder: Path, quick: bool) -> Result:
    """All of them."""
    from tqdm import tqdm

    cases = [case(quick) for case in tqdm(CASES, desc="corrections", unit="scene")]
    result = Result("corrections", against="the published code's way")
    lines = [
        (case.name, name, float(t), float(value))
        for case in cases
        for name, curve in case.curves.items()
        for t, value in list(zip(case.t, curve, strict=True))[:: max(1, len(case.t) // POINTS)]
    ]
    result.files.append(write_csv(folder, "corrections.csv", ["error", "curve", "time s", "value"], lines))
    result.pictures.append(draw(folder, cases))
    for case in cases:
        result.claim(f"{case.name}: {case.what}", case.wrong, case.right, DIFFERS)
    tumbling, *others = (case.difference for case in cases if case.difference is not None)
    result.claim(
        "the dense equations without errors (the paper's rotation map) against the engine (the exponential map)",
        "-",
        f"at most {max(others):.0e} apart; the body that turns over {tumbling:.0e} rad/s, at the end",
        NEW,
    )
    result.method = [
        "Each scene runs in the engine, in a small dense version of the paper's equations, and in that version with "
        "one error of the published Julia code put in (`benchmarks/reproduction/dense.py`, `corrections.py`). The "
        "dense version uses the paper's schedule: every step starts with mu = 1 and all pairs at 1, and its rotation "
        "map, q+ = q (h/2) [sqrt(4/h^2 - w.w), w]; the engine has the exponential map and the friction pyramid. The "
        "published code itself was not run.",
    ]
    result.notes = [
        "Three more are known and have no scene here: the velocity of a prismatic joint ignores that its parent "
        "turns, joint limits and efforts of URDF files are ignored, and a solve that fails is accepted without a "
        "word.",
    ]
    return result


def draw(folder: Path, cases: list[Case]) -> Picture:
    """A plot for each error."""
    figure, axes = panels(6, width=4.4, height=3.5, lines=2)
    colors = {"engine": (VIGYM, "-"), "with the error": (WRONG, "--")}
    for axis, case in zip(axes, cases, strict=False):
        for name, curve in case.curves.items():
            color, dashes = colors.get(name, (GREY, ":"))
            axis.plot(case.t, curve, dashes, color=color, label=name)
        label(axis, case.name, "time, s", case.unit, legend=False)
    axes[-1].axis("off")
    axes[-1].legend(*axes[1].get_legend_handles_labels(), loc="center", title="curves")
    caption = "One scene for each error: the engine (red), the same equations with the error (blue, dashed)."
    return save(figure, folder, "corrections.png", caption)
