"""Experiment 5: the Unitree A1 walks with the paper's periodic gait."""

from pathlib import Path

import numpy as np

from vigym.assets import unitree_a1
from vigym.benchmarks.measures import Measures
from vigym.benchmarks.reproduction.drawing import VIGYM, film_strip, label, panels, save
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Result, write_csv
from vigym.benchmarks.runner import Vigym
from vigym.benchmarks.scenes import build

DT, SECONDS, TOLERANCE = 0.001, 10.0, 1e-6
POSES, APART = 5, 0.6  # of the film strip; m between them
EVERY = 5  # steps between the lines of the CSV file
ACCURATE = 1e-9  # m: what is called no penetration


def quadruped(folder: Path, quick: bool) -> Result:
    """Follow the trunk and all four feet."""
    from tqdm import tqdm

    seconds = 1.0 if quick else SECONDS
    scene = build("a1", gait="trot", dt=DT, seconds=seconds)
    engine = Vigym(scene, DT, scene.steps, tolerance=TOLERANCE, cone="pyramid")
    measures = Measures(scene.mechanism)
    engine.reset()
    gaps, trunk, poses, failures, error, iterations = [], [], [engine.poses()], 0, 0.0, 0.0
    for k in tqdm(range(scene.steps), desc="quadruped", unit="step"):
        engine.step(k)
        failures += engine.failures()
        iterations += engine.iterations()
        x, q = engine.poses()
        gaps.append(measures.gaps(x, q))
        trunk.append(x[0])
        error = max(error, measures.separation(x, q))
        if (k + 1) % (scene.steps // (POSES - 1)) == 0:
            poses.append((x, q))
    feet, way, t = np.array(gaps), np.array(trunk), DT * (1 + np.arange(scene.steps))
    moved = way[-1] - scene.start.x[0]
    start = float(measures.gaps(*poses[0]).min())

    result = Result("quadruped")
    header = ["time s", *(f"{leg} foot m" for leg in unitree_a1.LEGS), "trunk x m", "trunk y m", "trunk z m"]
    lines = np.column_stack([t, feet, way])[EVERY - 1 :: EVERY]
    result.files.append(write_csv(folder, "quadruped.csv", header, lines.tolist()))
    result.pictures += draw(folder, t, feet, way)
    camera = {"distance": 2.1, "azimuth": 95.0, "elevation": -9.0, "lookat": (1.2, 0.0, 0.2)}
    # the robot moves slowly: its poses are drawn side by side
    spread = max(0.0, APART - float(moved[0]) / (POSES - 1))
    caption = f"{POSES} poses from 0 to {seconds:g} s, each drawn {spread:.2f} m further forward than it has walked."
    strip = film_strip(scene.mechanism, poses, folder, "quadruped-film.png", caption, spread=spread, camera=camera)
    result.pictures.insert(0, strip)

    smallest = float(feet.min())
    result.claim(
        "smallest signed distance of all feet",
        "1.5e-9 m, no penetration",
        f"{smallest:.1e} m, {(feet < 0).sum()} of {feet.size:,} below 0",
        AGREES if smallest > -ACCURATE else DIFFERS,
    )
    result.claim("walks with a simple periodic gait", "yes", f"{moved[0]:+.3f} m forward in {seconds:g} s", AGREES)
    result.claims[-1].verdict = AGREES if moved[0] > 0.02 * seconds else DIFFERS
    result.claim("sideways, and height of the trunk", "not told", f"{moved[1]:+.3f} m, {moved[2]:+.3f} m", NEW)
    result.claim("steps that could not be solved", "not told", f"{failures} of {scene.steps:,}", NEW)
    result.claim("largest opening of a joint", "none (no drift)", f"{error:.1e} m", AGREES if error < 1e-6 else DIFFERS)
    mean = iterations / scene.steps
    result.claim("Newton iterations a step", "not told", f"{mean:.1f}", NEW)
    result.method = [
        f"h = 0.001 s, {seconds:g} s, friction 0.2, tolerance 1e-6. Targets once a second: thigh 0.95 (0.9 + 0.1 cos "
        "2 pi t), calf -1.9 - 0.1 sin 2 pi t, hip 0; one diagonal half a period after the other. PD gains 100/5, "
        "80/4, 60/3 of hip, thigh and calf. It starts at rest, feet on the ground, at the targets of t = 0.",
    ]
    result.notes = [
        "The PD law is evaluated at the end of the step (implicit drive) and keeps to the motors' 33.5 N m; the "
        "published code evaluates it at the beginning, without limits. The feet are spheres of 0.02 m, those of the "
        "published code points. The published code starts from a pose in mid-gait.",
        f"Feet start at {start:.1e} m (they are placed on the ground, to rounding). A gap that is solved to zero "
        "comes out as a small positive number: the interior point approaches from inside. The paper's 1.5e-9 m and "
        "ours are both leftovers of a tolerance, and say the same: no penetration.",
    ]
    return result


def draw(folder: Path, t: np.ndarray, feet: np.ndarray, way: np.ndarray) -> list:
    """Signed distance of the front right foot, and where the trunk goes."""
    figure, (left, right) = panels(2)
    foot = 1e3 * feet[:, unitree_a1.LEGS.index("FR")]
    left.plot(t, foot, color=VIGYM)
    left.axhline(0.0, color="black", lw=0.8)
    label(left, "front right foot", "time, s", "signed distance, mm", legend=False)
    start = way[0]
    for k, (name, style) in enumerate((("x (forward)", "-"), ("y (left)", "--"), ("z (up)", ":"))):
        right.plot(t, way[:, k] - start[k], style, color="black" if k else VIGYM, label=name)
    label(right, "trunk, from where it started", "time, s", "m")
    caption = "Signed distance of the front right foot, as in the paper's figure, and the way of the trunk."
    return [save(figure, folder, "quadruped.png", caption)]
