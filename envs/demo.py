"""`vigym demo`: one scene, simulated and written to a file."""

import csv
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np

from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Cylinder
from vigym.engine.simulator import Simulator


def box() -> Simulator:
    """A tumbling box, thrown across the floor."""
    size = np.array([0.4, 0.3, 0.2])
    mechanism = Mechanism()
    mechanism.add_body("box", mass=1.0, shapes=[Box(tuple(size))])
    for k, corner in enumerate(product((-0.5, 0.5), repeat=3)):
        mechanism.add_contact(f"corner {k}", "box", corner * size, friction=0.5)
    sim = Simulator(mechanism, dt=0.01)
    sim.set_state(x=[[0, 0, 1.0]], q=[[0.9, 0.3, 0.1, -0.2]] / np.sqrt(0.95), v=[[2.0, 0.5, 1.0]], w=[[4.0, -7.0, 2.0]])
    return sim


def chain() -> Simulator:
    """Twenty links with ball joints, dropped on the floor while sliding."""
    n = 20
    mechanism = Mechanism()
    for k in range(n):
        mechanism.add_body(f"link {k}", mass=1.0, shapes=[Cylinder(0.05, 1.0)])
        if k:
            anchors = {"parent_anchor": (0, 0, 0.5), "child_anchor": (0, 0, -0.5)}
            mechanism.add_joint(f"joint {k}", "spherical", f"link {k - 1}", f"link {k}", **anchors)
        else:
            mechanism.add_contact("start", "link 0", (0, 0, -0.5), friction=0.2)
        mechanism.add_contact(f"end {k}", f"link {k}", (0, 0, 0.5), friction=0.2)
    sim = Simulator(mechanism, dt=0.01)
    x = np.stack([np.arange(n), np.zeros(n), np.full(n, 0.3)], -1)
    v = np.tile([1.0, 0.3, 0.0], (n, 1))
    sim.set_state(x=x, q=np.tile([1, 0, 1, 0] / np.sqrt(2), (n, 1)), v=v)
    return sim


def fourbar() -> Simulator:
    """A closed loop of hinges that swings under its weight."""
    mechanism = Mechanism()
    hinge: dict = {"kind": "revolute", "axis": (0, 1, 0)}
    for name in ("left", "top", "right"):
        mechanism.add_body(name, mass=1.0, shapes=[Box((1.0, 0.05, 0.05))])
    left, right = (-0.5, 0, 0), (0.5, 0, 0)
    mechanism.add_joint("A", parent="world", child="left", parent_anchor=(0, 0, 2), child_anchor=left, **hinge)
    mechanism.add_joint("B", parent="left", child="top", parent_anchor=right, child_anchor=left, **hinge)
    mechanism.add_joint("C", parent="top", child="right", parent_anchor=right, child_anchor=right, **hinge)
    mechanism.add_joint("D", parent="world", child="right", parent_anchor=(1, 0, 2), child_anchor=left, **hinge)
    sim = Simulator(mechanism, dt=0.005)
    sim.set_joint_state(np.array([-0.6, 0.6, -0.6, -0.6]))
    return sim


SCENES: dict[str, Callable[[], Simulator]] = {"box": box, "chain": chain, "fourbar": fourbar}


def demo(
    scene: Literal["box", "chain", "fourbar"] = "box", seconds: float = 3.0, out: Path = Path("vigym-demo")
) -> None:
    """Simulate a scene and write what happened to files.

    Args:
        scene: A thrown box, a chain of 20 links that falls on the floor, or a four-bar linkage.
        seconds: Simulated time, in seconds.
        out: Folder for the file; it is made if it does not exist.
    """
    from tqdm import tqdm

    sim = SCENES[scene]()
    steps = max(1, round(seconds / sim.dt))
    names = [body.name for body in sim.model.mechanism.bodies]
    rows, gap, error, iterations = [], np.inf, 0.0, 0
    spent = 0.0
    for k in tqdm(range(steps), desc=scene, unit="step"):
        started = time.perf_counter()
        sim.step()
        if k:  # the first step may compile
            spent += time.perf_counter() - started
        if not sim.status.converged[0]:
            raise SystemExit(f"step {k} could not be solved: residual {sim.status.residual[0]:.3g}")
        gap = min(gap, sim.contact_gaps().min(initial=np.inf))
        error = max(error, sim.joint_error()[0])
        iterations += sim.status.iterations[0]
        state = sim.state
        for i, name in enumerate(names):
            rows.append([f"{(k + 1) * sim.dt:.6g}", name, *state.x[0, i], *state.q[0, i]])
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{scene}.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", "body", "x", "y", "z", "qw", "qx", "qy", "qz"])
        writer.writerows(rows)
    speed = np.abs(sim.state.v).max()
    print(f"{scene}: {steps} steps of {sim.dt:g} s, {spent / max(steps - 1, 1) * 1e6:.0f} us a step")
    print(f"  Newton iterations a step   {iterations / steps:.1f}")
    if sim.model.n_contacts:
        print(f"  deepest penetration        {max(0.0, -gap):.1e} m")
    if sim.model.mechanism.joints:
        print(f"  largest joint error        {error:.1e}")
    print(f"  largest speed at the end   {speed:.1e} m/s")
    print(f"wrote {path}")
