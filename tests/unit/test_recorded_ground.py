"""Height fields in recordings and pictures."""

import numpy as np
import pytest

import vigym
from vigym import HeightField, InputError, Mesh
from vigym.engine.recorded_scene import mechanism_to_json, meshes_of, read_mechanism
from vigym.view.pictures.camera import Camera
from vigym.view.pictures.picture import Renderer
from vigym.view.pictures.scene import parts_of


def valley(rows=21, columns=11):
    heights = np.abs(np.linspace(-1.0, 1.0, columns)) + np.zeros((rows, 1))
    m = vigym.Mechanism()
    m.add_collider("hill", "world", HeightField(heights, (2.0, 4.0), color=(0.9, 0.1, 0.1)))
    m.add_body("ball", 1.0, shapes=[vigym.Sphere(0.1)], position=(0.3, 0, 0.6))
    return m


def test_recording_has_the_field_and_its_contacts(tmp_path):
    m = valley()
    sim = vigym.Simulator(m)
    with sim.record(tmp_path / "run.vigym"):
        sim.step(repeat=40)
        sim.step()
        seen = sim.contacts(0)
    replay = vigym.Replay.load(tmp_path / "run.vigym")
    field, told = m.colliders[0].shape, replay.mechanism.colliders[0].shape
    assert np.allclose(told.heights, field.heights, atol=1e-7)
    assert (told.size, told.color) == (field.size, field.color)
    assert len(seen) > 0
    assert np.array_equal(replay.contacts(-1).force, seen.force)


def test_recording_has_the_mesh(tmp_path):
    hill = HeightField(np.random.default_rng(0).uniform(0, 0.1, (5, 6)), (2.0, 2.0))
    m = vigym.Mechanism()
    m.add_collider("hill", "world", Mesh(*hill.triangles(), closed=False, color=(0.9, 0.1, 0.1)))
    visual = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    m.add_body("ball", 1.0, shapes=[vigym.Sphere(0.1)], visuals=[visual], position=(0.3, 0, 0.6))
    sim = vigym.Simulator(m)
    with sim.record(tmp_path / "run.vigym"):
        sim.step(repeat=41)
    replay = vigym.Replay.load(tmp_path / "run.vigym")
    told = replay.mechanism.colliders[0].shape
    assert len(told.faces) == len(hill.triangles()[1])
    assert told.color[:3] == (0.9, 0.1, 0.1)
    assert np.array_equal(replay.contacts(-1).force, sim.contacts(0).force)
    assert len(replay.contacts(-1)) > 0
    assert parts_of(replay.mechanism, {}, ())[0].triangles is not None


def test_large_fields_are_shown_coarser():
    m = vigym.Mechanism()
    heights = np.random.default_rng(0).uniform(size=(1000, 700))
    m.add_collider("hill", "world", HeightField(heights, (2.0, 4.0)))
    m.add_body("ball", 1.0, shapes=[vigym.Sphere(0.1)], position=(0, 0, 3))
    shown = m.colliders[0].shape.drawn
    assert shown.heights.shape == (400, 400)
    assert shown.heights[0, 0] == heights[0, 0]
    assert shown.heights[-1, -1] == heights[-1, -1]
    assert len(parts_of(m, {}, ())[0].triangles[1]) == 2 * 399**2


def test_files_whose_field_does_not_fit():
    m = valley()
    meshes = meshes_of(m, ())
    head = mechanism_to_json(m, meshes)
    assert read_mechanism(head, list(meshes.values())).colliders[0].shape.heights.shape == (21, 11)
    for change in ({"rows": 20}, {"rows": 1.5}, {"mesh": 7}, {"mesh": None}, {"size": [1.0]}):
        bad = head | {"colliders": [head["colliders"][0] | {"shape": head["colliders"][0]["shape"] | change}]}
        with pytest.raises((InputError, vigym.MechanismError)):
            read_mechanism(bad, list(meshes.values()))


def test_pictures_show_the_triangles():
    # straight from above, the two slopes are lit differently; beside the field there is nothing of its colour
    m = valley()
    camera = Camera(distance=8.0, elevation=-89.0)
    renderer = Renderer(m, 64, 64, camera, planes=(), sun=(1.0, 0.0, 1.0))
    image = renderer.render(np.array([[9.0, 9.0, 9.0]]), np.array([[1.0, 0, 0, 0]])).astype(int)
    red = image[..., 0] > image[..., 2] + 40
    assert red.any()
    assert not red.all()
    assert len(np.unique(image[red][:, 0] // 16)) >= 2
