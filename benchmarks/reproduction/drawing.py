"""Figures, all of one look."""

from pathlib import Path
from typing import Any

import numpy as np

from vigym.benchmarks.reproduction.result import Picture
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array

VIGYM, WRONG, GREY = "tab:red", "tab:blue", "0.5"


def panels(count: int, width: float = 5.0, height: float = 4.0, lines: int = 1, **options: Any) -> tuple[Any, Any]:
    """A figure with that many axes (a list), in so many lines."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    columns = -(-count // lines)
    size = (width * columns, height * lines)
    figure, axes = plt.subplots(lines, columns, figsize=size, layout="constrained", squeeze=False, **options)
    return figure, list(axes.ravel())


def label(axes: Any, title: str, x: str, y: str, legend: bool = True) -> None:
    """Title, what the axes are, a grid, and the legend."""
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(which="both", alpha=0.25)
    if legend:
        axes.legend(fontsize="small")


def save(figure: Any, folder: Path, name: str, caption: str) -> Picture:
    """Write the PNG file."""
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / name, dpi=110)
    plt.close(figure)
    return Picture(name, caption)


def film_strip(
    mechanism: Mechanism,
    poses: list[tuple[Array, Array]],
    folder: Path,
    name: str,
    caption: str,
    *,
    spread: float,
    camera: dict[str, Any],
    size: tuple[int, int] = (960, 400),
) -> Picture:
    """Poses (x, q) side by side in one picture, each `spread` m further along x, the earlier ones paler."""
    from vigym.view.pictures.image import save_png
    from vigym.view.pictures.picture import Camera, Renderer

    folder.mkdir(parents=True, exist_ok=True)
    x, q = (np.stack(part) for part in zip(*poses, strict=True))
    x[..., 0] += spread * np.arange(len(poses))[:, None]
    renderer = Renderer(mechanism, *size, Camera.from_config(camera))
    save_png(folder / name, renderer.render(x, q, fade=np.linspace(0.5, 0.0, len(poses))))
    return Picture(name, caption)
