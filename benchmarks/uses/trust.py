"""Contact gradients of a push that breaks a box loose, and of a ball that is dropped: through stick-slip and impacts,
with smoothing from 0 to 1e-2."""

from pathlib import Path

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.engine.mechanism import Mechanism
from vigym.engine.simulator import Simulator

SMOOTHINGS = (0.0, 1e-6, 1e-4, 1e-3, 1e-2)
DT, STEPS, G, FRICTION, RADIUS = 0.01, 20, 9.81, 0.5, 0.1
FORCES = np.linspace(0.0, 10.0, 101)  # N, on 1 kg
HEIGHTS = np.linspace(0.11, 0.5, 118)  # m, of the ball's centre


def pushed(smoothing: float, forces: Array = FORCES) -> tuple[Array, Array]:
    """Speed of a box of 1 kg that was pushed for STEPS steps, m/s, and its derivative by the push.

    Without smoothing it is max(0, F - friction g) STEPS DT."""
    m = Mechanism()
    m.add_body("box", 1.0, (0.01,) * 3, position=(0, 0, 0.1))
    for k, (x, y) in enumerate(((-0.2, -0.2), (-0.2, 0.2), (0.2, -0.2), (0.2, 0.2))):
        m.add_contact(f"{k}", "box", (x, y, -0.0), radius=0.1, friction=FRICTION)
    sim = Simulator(m, DT, len(forces), smoothing=smoothing, tolerance=1e-9)
    push = np.zeros((STEPS, len(forces), 1, 3))
    push[..., 0] = forces[:, None]
    states = sim.rollout(force=push, gradients=True)
    pulled = sim.rollout_vjp({"v": along(states["v"], 0)}, "force")
    return states["v"][-1, :, 0, 0], pulled["force"][..., 0, 0].sum(0)


def dropped(smoothing: float, restitution: float = 0.0, heights: Array = HEIGHTS) -> tuple[Array, Array]:
    """Height of a ball STEPS steps after it was dropped, m, and its derivative by the height from which it was.

    Without restitution and smoothing, 1 where it still falls, 0 where it lies on the ground."""
    m = Mechanism()
    m.add_body("ball", 1.0, (0.004,) * 3)
    m.add_contact("skin", "ball", (0, 0, 0), radius=RADIUS, restitution=restitution)
    sim = Simulator(m, DT, len(heights), smoothing=smoothing, tolerance=1e-9)
    x = np.zeros((len(heights), 1, 3))
    x[:, 0, 2] = heights
    sim.set_state(x=x)
    states = sim.rollout(steps=STEPS, gradients=True)
    pulled = sim.rollout_vjp({"x": along(states["x"], 2)})
    return states["x"][-1, :, 0, 2], pulled["state"][:, 2]


def along(values: Array, axis: int) -> Array:
    """Derivative 1 by one component of the first body's last values."""
    bar = np.zeros_like(values)
    bar[-1, :, 0, axis] = 1.0
    return bar


def draw(path: Path) -> Path:
    """Values above, derivatives below."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(11, 5), layout="constrained", sharex="col")
    for k, smoothing in enumerate(SMOOTHINGS):
        for column, (x, found) in enumerate(((FORCES, pushed(smoothing)), (HEIGHTS, dropped(smoothing)))):
            for row, values in zip(axes[:, column], found, strict=True):
                row.plot(x, values, color=plt.get_cmap("viridis")(k / len(SMOOTHINGS)), label=f"{smoothing:g}")
    value, slope = dropped(0.0, 0.8)
    axes[0, 2].plot(HEIGHTS, value, color="tab:red")
    axes[1, 2].plot(HEIGHTS, slope, ".", color="tab:red", label="gradient")
    axes[1, 2].plot(HEIGHTS, np.gradient(smoothed(value), HEIGHTS), color="black", lw=1, label="trend of the curve")
    axes[0, 0].set(title="box pushed for 0.2 s", ylabel="speed, m/s")
    axes[0, 1].set(title="ball dropped, after 0.2 s", ylabel="height, m")
    axes[0, 2].set(title="the same, restitution 0.8", ylabel="height, m")
    axes[1, 0].set(xlabel="push, N", ylabel="gradient, m/s / N")
    for row in axes[1, 1:]:
        row.set(xlabel="first height, m", ylabel="gradient")
    axes[0, 0].legend(title="smoothing", fontsize="small")
    axes[1, 2].legend(fontsize="small")
    for row in axes.ravel():
        row.grid(alpha=0.3)
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path


def smoothed(values: Array, width: int = 9) -> Array:
    """Mean over some neighbours."""
    padded = np.pad(values, width // 2, mode="edge")
    return np.convolve(padded, np.full(width, 1.0 / width), mode="valid")
