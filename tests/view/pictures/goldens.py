"""Pictures that are kept: what they show, and how they are read and compared.

    python tests/view/pictures/goldens.py

draws them anew, after a change of the look that is meant; look at them before they are committed.
"""

import struct
import sys
import zlib
from pathlib import Path

import numpy as np

import vigym
from vigym.assets import cube, hopper, snake, unitree_a1
from vigym.view.pictures.picture import Arrows, Camera, Renderer, save_png

FOLDER = Path(__file__).parent / "golden"
SIZE = 96


def a1_scene():
    return start(unitree_a1.build(), Camera(1.1, 130.0, -18.0, (0.0, 0.0, 0.2)))


def hopper_scene():
    r, x, q = start(hopper.build(), Camera(2.0, 110.0, -15.0, (0.0, 0.0, 0.4), "sphere"))
    return r, np.add(x, [0.3, 0.2, 0.25]), q


def snake_scene():
    return start(snake.build(links=6, contact_radius=0.05), None)


def cube_scene():
    r, x, _ = start(cube.build(), Camera(0.5, 60.0, -25.0, (0.0, 0.0, 0.05)))
    return r, np.add(x, [0.0, 0.0, 0.05]), np.array([[0.8, 0.36, 0.48, 0.0]])


def slope_scene():
    """A floor and a slope, every solid, a body without shapes, an arrow and a step; two poses of all of them."""
    m = vigym.Mechanism()
    shapes = (vigym.Sphere(0.15), vigym.Capsule(0.1, 0.3), vigym.Cylinder(0.15, 0.3), vigym.Box((0.3, 0.2, 0.25)))
    for k, shape in enumerate(shapes):
        m.add_body(f"body {k}", mass=1.0, shapes=[shape])
    m.add_body("bare", mass=1.0, inertia=(0.01, 0.02, 0.025))
    m.add_body("hull", mass=1.0, inertia=(0.01, 0.02, 0.025))
    m.add_contact("floor", "body 0")
    m.add_contact("slope", "body 1", normal=(-0.5, 0.0, 1.0), offset=-0.5)
    corners = np.array([(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.15, 0.15)] + [(0.0, 0.0, 0.3)])
    step = vigym.Box((0.5, 0.5, 0.2), position=(-0.6, 0.9, 0.1))
    camera = Camera(4.0, 70.0, -25.0, (0.0, 0.0, 0.3))
    r = Renderer(m, SIZE, SIZE, camera, hulls={"hull": corners}, scenery=[step], samples=8)
    x = np.array(
        [[-0.9, 0.0, 0.3], [-0.3, 0.1, 0.3], [0.2, 0.0, 0.4], [0.8, 0.0, 0.6], [-0.4, -0.6, 0.3], [0.5, -0.7, 0.2]]
    )
    q = np.array(
        [[0.5, 0.5, 0.5, 0.5], [0.8, 0.6, 0.0, 0.0], [0.8, 0.0, 0.6, 0.0], [0.6, 0.48, 0.0, 0.64]] + [[1, 0, 0, 0]] * 2
    )
    return r, np.array([x, np.add(x, [0.0, 0.9, 0.1])]), np.array([q, q])


SCENES = {"a1": a1_scene, "hopper": hopper_scene, "snake": snake_scene, "cube": cube_scene, "slope": slope_scene}


def start(mechanism, camera):
    state = vigym.Simulator(mechanism).state
    return Renderer(mechanism, SIZE, SIZE, camera), state.x[0], state.q[0]


def draw(name):
    renderer, x, q = SCENES[name]()
    if name == "slope":
        return renderer.render(x, q, arrows=Arrows([x[0, 0]], [[0.2, 0.0, 0.7]]), fade=[0.0, 0.6])
    return renderer.render(x, q)


def read_png(path):
    """Decode what `save_png` wrote: one chunk of lines, each as its difference from the line above."""
    data, position, chunks = path.read_bytes(), 8, {}
    while position < len(data):
        (length,) = struct.unpack_from(">I", data, position)
        chunks[data[position + 4 : position + 8]] = data[position + 8 : position + 8 + length]
        position += 12 + length
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert (lines[:, 0] == 2).all()
    return np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3)


def difference(image, golden):
    """Mean difference in grey levels, and the share of pixels that differ by more than 16."""
    d = np.abs(image.astype(int) - golden)
    return d.mean(), (d.max(axis=-1) > 16).mean()


if __name__ == "__main__":
    for name in sys.argv[1:] or SCENES:
        save_png(FOLDER / f"{name}.png", draw(name))
        print(FOLDER / f"{name}.png")
