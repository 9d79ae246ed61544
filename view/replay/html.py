"""A replay as one HTML file: viser's player with the scene inside, and our plots beside it."""

import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.engine.rotation import Array
from vigym.view.page.stage import Stage, start_server, stop_server
from vigym.view.pictures.scene import COLLIDER

if TYPE_CHECKING:
    from vigym.view.replay.replay import Replay

# three.js tells whoever listens of the scenes that it makes; the player keeps its own to itself
LISTEN = """
window.vigymScenes = [];
window.__THREE_DEVTOOLS__ = new EventTarget();
__THREE_DEVTOOLS__.addEventListener("observe", ({ detail }) => { if (detail.isScene) vigymScenes.push(detail); });
"""
MOST_POINTS = 2000  # of a line
MOST_LINES = 4  # of a plot; of more contacts, all together, and by name those that are pressed most


def page(replay: "Replay", *, forces: bool = True, colliders: bool = False) -> str:
    """The whole page. It needs nothing but a browser.

    colliders: those that bodies do not look like are seen at first; plots.js has a switch for them
    """
    server = start_server()
    try:
        scene = replay.mechanism, replay.camera, replay.scenery, replay.planes, replay.scene.weight
        stage = Stage(server, *scene)
        stage.show_colliders(True)

        def show(k: int) -> None:
            stage.show(replay.x[k], replay.q[k], replay.forces_of(k) if forces else None)

        show(0)
        server.flush()
        serializer = server.get_scene_serializer()
        last = 0.0
        for k in replay.thinned()[1:]:
            serializer.insert_sleep(float(replay.time[k] - last))
            last = replay.time[k]
            show(k)
        text = serializer.as_html()
    finally:
        stop_server(server)
    told = series(replay)
    if stage.colliders:
        told["colliders"] = {"color": "".join(f"{round(255 * c):02x}" for c in COLLIDER), "shown": colliders}
    return insert(text, told)


def insert(text: str, told: dict[str, Any]) -> str:
    """The player's page with title, plots, and a switch for colliders."""
    # names come from strangers: without "<", nothing in them ends or opens anything in the page
    data = json.dumps(told).replace("<", "\\u003c")
    script = files("vigym.view.replay").joinpath("plots.js").read_text(encoding="utf-8")
    at = text.rindex("</body>")
    text = f"{text[:at]}<script>const REPLAY = {data};\n{script}</script>{text[at:]}"
    return text.replace("<head>", f"<head><script>{LISTEN}</script>", 1) if "colliders" in told else text


def series(replay: "Replay") -> dict[str, Any]:
    """Return what is plotted: the times, and lines with their names in every plot."""
    every = max(1, -(-len(replay) // MOST_POINTS))
    names = [contact.name for contact in replay.mechanism.contacts]
    plots: list[dict[str, Any]] = []
    if names:
        pressed = np.linalg.norm(replay.forces, axis=-1)
        told: Sequence[int] = range(len(names))
        if len(names) > MOST_LINES:
            told = sorted(np.argsort(-pressed.sum(0), kind="stable")[: MOST_LINES - 1].tolist())
        plots.append(_plot("gap", "m", _lines(names, told, replay.gaps, "smallest", replay.gaps.min(1)), every))
        plots.append(_plot("contact force", "N", _lines(names, told, pressed, "sum", pressed.sum(1)), every))
    if replay.mechanism.colliders:
        plots.append(_plot("force between colliders", "N", _between_colliders(replay).items(), every))
    plots.append(_plot("joint error", "", [("largest", replay.joint_error)], every))
    plots.append(_plot("reward", "", [("reward", replay.reward)], every))
    return {"title": replay.head["title"], "time": _digits(replay.time[::every], 7), "plots": plots}


def _between_colliders(replay: "Replay") -> dict[str, Array]:
    """Sum of the sizes of all forces between colliders in every frame, and the largest one."""
    size, ends = np.linalg.norm(replay.touches["force"], axis=-1), replay.touch_ends
    frame = np.searchsorted(ends, np.arange(len(size)), side="right")
    total, largest = np.zeros((2, len(ends) + 1))
    np.add.at(total, frame, size)
    np.maximum.at(largest, frame, size)
    return {"sum": total[:-1], "largest": largest[:-1]}


def _lines(
    names: list[str], told: Sequence[int], values: Array, summary: str, together: Array
) -> list[tuple[str, Array]]:
    """Lines of the contacts that are told, by name, after that of all together if they are not all."""
    first = [] if len(told) == len(names) else [(summary, together)]
    return first + [(names[k], values[:, k]) for k in told]


def _plot(title: str, unit: str, lines: Iterable[tuple[str, Array]], every: int) -> dict[str, Any]:
    # a list: JavaScript sorts the keys of an object, and one of them, __proto__, is not what it looks like
    kept = [{"name": name, "values": _digits(values[::every], 4)} for name, values in lines]
    return {"title": title, "unit": unit, "lines": kept}


def _digits(values: Array, digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values.tolist()]
