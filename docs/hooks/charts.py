"""Charts of committed results, drawn as SVG: `<!-- chart: path/of.csv -->` in a page. Points tell their values."""

import csv
import html
import math
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"<!-- chart: (\S+) -->")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 70, 170, 12, 44
COLOURS = ["#4051b5", "#ef6c00", "#2e9d5b", "#c2185b", "#00838f", "#8d6e63"]
FALL = "0.005"  # m, of the chain: the scene has two starts

Points = list[tuple[float, float]]


def lines(path: Path) -> dict[str, Points]:
    """Read microseconds of a step by size, a line for each engine and mode, of one environment."""
    found: dict[str, Points] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["status"] == "ok" and row["drop"] in ("", FALL) and row["num_envs"] == "1" and row["threads"] == "1":
                name = " ".join(filter(None, (row["engine"], row["mode"])))
                found[name].append((float(row["size"]), float(row["microseconds"])))
    return {name: sorted(points) for name, points in found.items()}


def chart(path: Path) -> str:
    """Draw them, both axes logarithmic."""
    data = lines(path)
    xs = [x for points in data.values() for x, _ in points]
    ys = [y for points in data.values() for _, y in points]
    x0, x1 = math.log10(min(xs)), math.log10(max(xs))
    y0, y1 = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x0) / (x1 - x0)
        up = (math.log10(y) - y0) / (y1 - y0)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    label = "Microseconds of a step by size"
    parts = [f'<div class="chart"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">']
    for power in range(y0, y1 + 1):
        x, y = place(10**x0, 10.0**power)
        parts.append(f'<line class="grid" x1="{x:.0f}" x2="{WIDTH - RIGHT}" y1="{y:.0f}" y2="{y:.0f}"/>')
        parts.append(f'<text x="{x - 8:.0f}" y="{y + 4:.0f}" text-anchor="end">{10**power:,}</text>')
    for size in sorted({x for x in xs}):
        x, y = place(size, 10.0**y0)
        parts.append(f'<text x="{x:.0f}" y="{y + 18:.0f}" text-anchor="middle">{size:,.0f}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">size</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">us a step</text>')
    for k, (name, points) in enumerate(data.items()):
        colour, places = COLOURS[k % len(COLOURS)], [place(*point) for point in points]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line" stroke="{colour}" points="{way}"/>')
        for (x, y), (size, time) in zip(places, points, strict=True):
            told = html.escape(f"{name}, size {size:,.0f}: {time:,.3g} us a step")
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"><title>{told}</title></circle>')
        x, y = places[-1]
        parts.append(f'<text x="{x + 8:.0f}" y="{y + 4:.0f}" style="fill: {colour}">{html.escape(name)}</text>')
    return "".join([*parts, "</svg></div>"])


def drawn(text: str) -> str:
    """Put the charts of a page where it asks for them."""
    return MARK.sub(lambda found: chart(ROOT / found[1]), text)
