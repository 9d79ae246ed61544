"""Experiment 4: the hopper jumps and makes a full turn about [1 1 0] in the air."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from vigym.benchmarks.reproduction.drawing import GREY, VIGYM, film_strip, label, panels, save
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Result, write_csv
from vigym.envs.controllers.hopper import HopperFlip

DT, SECONDS = 0.001, 3.0
POSES = 9
EVERY = 2  # steps between the lines of the CSV file
ACCURATE = 1e-9  # m: what is called no penetration
TURN = 20.0  # degrees: what is called a full turn


def hopper(folder: Path, quick: bool) -> Result:
    """Run the scripted flip, control in every step, and look at every step."""
    from tqdm import tqdm

    seconds = 2.4 if quick else SECONDS
    steps = round(seconds / DT)
    env: Any = gym.make("VIHopper-v0", dt=DT, frame_skip=1, reset_noise_scale=0.0).unwrapped
    controller = HopperFlip()
    observation, info = env.reset(seed=0)
    sim, lines, poses, error, failures, ended = env.task.sim, [], [], 0.0, 0, False
    start = float(sim.contact_gaps().min())
    for k in tqdm(range(steps), desc="hopper", unit="step"):
        observation, _, ended, _, info = env.step(controller.act(observation))
        state = sim.state
        lines.append([(k + 1) * DT, sim.contact_gaps()[0, 0], state.x[0, 0, 2], info["turn"]])
        poses.append((state.x[0], state.q[0]))
        error = max(error, float(sim.joint_error()[0]))
        failures += int(not sim.status.converged[0])
        if ended:
            break
    t, gap, height, turn = np.array(lines).T
    aloft = np.flatnonzero(gap > 1e-4)

    result = Result("hopper")
    header = ["time s", "foot m", "sphere z m", "turn degrees"]
    result.files.append(write_csv(folder, "hopper.csv", header, lines[EVERY - 1 :: EVERY]))
    first, last = (int(aloft[0]) - 60, int(aloft[-1]) + 60) if len(aloft) else (0, len(poses) - 1)
    chosen = np.linspace(max(0, first), min(last, len(poses) - 1), POSES).astype(int)
    caption = f"From {t[chosen[0]]:.2f} to {t[chosen[-1]]:.2f} s; each pose is drawn 0.5 m further to the right."
    camera = {"distance": 4.2, "azimuth": 90.0, "elevation": -8.0, "lookat": (2.0, 0.0, 0.9)}
    mechanism = sim.model.mechanism
    shown = [poses[k] for k in chosen]
    result.pictures.append(film_strip(mechanism, shown, folder, "hopper-film.png", caption, spread=0.5, camera=camera))
    result.pictures.append(draw(folder, t, gap, height, turn))

    smallest = float(min(gap.min(), start))
    result.claim(
        "smallest signed distance of the foot",
        "0.0 m, at the start",
        f"{start:.1e} m at the start, {gap.min():.1e} m afterwards",
        AGREES if smallest > -ACCURATE else DIFFERS,
    )
    full = abs(turn[-1] - 360.0) < TURN
    result.claim(
        "turn about [1 1 0] in the air", "one full turn", f"{turn[-1]:.0f} degrees", AGREES if full else DIFFERS
    )
    landed = "yes" if info["landed"] and not ended else "no"
    stood = landed + (", and stays upright for 1 s" if info["success"] else "")
    result.claim("lands on its foot", "shown as pictures", stood, AGREES if landed == "yes" else DIFFERS)
    result.claim("time in the air, highest point", "not told", f"{DT * len(aloft):.2f} s, {height.max():.2f} m", NEW)
    result.claim("steps that could not be solved", "not told", f"{failures} of {len(t):,}", NEW)
    result.claim("largest error of the joint", "none (no drift)", f"{error:.1e}", AGREES if error < 1e-6 else DIFFERS)
    result.method = [
        "Sphere (1 kg, radius 0.1 m) on a pole (0.2 kg, 0.8 m), friction 0.2, h = 0.001 s, driven by the scripted "
        "controller of `VIHopper-v0` (`envs/controllers/hopper.py`), which acts in every step here, from an exact "
        "start.",
    ]
    result.notes = [
        "The paper does not give its controller: this one is ours, and so are the stroke of the leg (0.3 m) and the "
        "limits of force and torque. The environment solves to 1e-8, tighter than the paper's 1e-6, and has "
        "Coulomb's circular cone where the paper has a pyramid.",
    ]
    return result


def draw(folder: Path, t: np.ndarray, gap: np.ndarray, height: np.ndarray, turn: np.ndarray) -> Any:
    """Heights and turn over time."""
    figure, (left, right) = panels(2)
    left.plot(t, gap, color=VIGYM, label="foot, signed distance")
    left.plot(t, height, "--", color=GREY, label="middle of the sphere")
    left.axhline(0.0, color="black", lw=0.8)
    label(left, "heights", "time, s", "m")
    right.plot(t, turn, color=VIGYM)
    right.axhline(360.0, color=GREY, lw=0.8, ls="--")
    label(right, "turn about [1 1 0] in the air", "time, s", "degrees", legend=False)
    return save(figure, folder, "hopper.png", "Signed distance of the foot, height of the sphere, and the turn.")
