"""The cube that tosses show: its centre of mass, inertia and width, and how it strikes and slides."""

from pathlib import Path

import numpy as np
import pytest
from tosses import DATA, LOPSIDED, needs_data, thrown

from vigym import InputError
from vigym.benchmarks.tosses.cube import DESCRIBED, Cube
from vigym.benchmarks.tosses.data import Tosses, load, padded
from vigym.benchmarks.tosses.measure import measured, slides, strikes
from vigym.benchmarks.tosses.study import heavy_side
from vigym.engine.rotation import from_rotation_vector, multiply, rotate


def test_a_cube_is_measured_from_its_tosses():
    """Flights of a symmetric inertia are exact but for the integrator's half step; impulses of steps of 1.7 ms."""
    tosses = thrown(count=40, frames=130, above=0.2, cube=LOPSIDED, restitution=0.4)
    found = measured(tosses)
    assert found.half == pytest.approx(LOPSIDED.half, abs=1e-5)
    assert found.gravity == pytest.approx(LOPSIDED.gravity, rel=1e-3)
    np.testing.assert_allclose(found.com, LOPSIDED.com, atol=2e-4)
    assert found.inertia == pytest.approx(LOPSIDED.inertia, rel=0.03)
    # as they were thrown: a bounce takes two steps of 1.7 ms, in which gravity and the spin go on
    restitution, friction = strikes(tosses, found)
    assert np.median(restitution) == pytest.approx(0.4, abs=0.03)
    assert np.median(friction) == pytest.approx(0.18, abs=0.005)
    assert np.median(slides(tosses, found)) == pytest.approx(0.18, abs=0.002)
    plain = measured(thrown(count=40, frames=130, above=0.2, restitution=0.4))
    np.testing.assert_allclose(plain.com, 0.0, atol=2e-4)
    assert plain.inertia == pytest.approx(DESCRIBED.inertia, rel=0.03)


def test_noise_does_not_hide_a_cube():
    # as large as that of the real measurements: 0.1 mm and 0.1 degrees, and one toss that was not tracked
    tosses, rng = thrown(count=60, frames=130, above=0.2, cube=LOPSIDED, restitution=0.4), np.random.default_rng(0)
    poses = tosses.measured[..., :7]
    poses[..., :3] += 1e-4 * rng.normal(size=poses[..., :3].shape)
    poses[..., 3:] = multiply(poses[..., 3:], from_rotation_vector(2e-3 * rng.normal(size=poses[..., :3].shape)))
    poses[7, 5:12, 0] += 0.02
    found = measured(tosses)
    np.testing.assert_allclose(found.com, LOPSIDED.com, atol=1.5e-3)
    assert found.inertia == pytest.approx(LOPSIDED.inertia, rel=0.05)


def test_a_cube_that_cannot_be_measured():
    tosses = thrown(count=8, frames=90)
    up = Tosses(tosses.measured[:, :14], tosses.ids)  # in the air to the end
    with pytest.raises(InputError, match="no toss ends on a face"):
        measured(up)
    down = Tosses(tosses.measured[:, 70:], tosses.ids)
    with pytest.raises(InputError, match="free flights"):
        measured(down[:3])
    with pytest.raises(InputError, match="impacts of single corners"):
        measured(tosses[:4])


def test_where_the_mass_is():
    # states of the tracked centre and of the centre of mass: one rigid motion, there and back
    states = thrown(cube=LOPSIDED).measured[:, 0]
    mass = LOPSIDED.to_mass(states)
    np.testing.assert_allclose(LOPSIDED.to_centre(mass[:, :7]), states[:, :7], atol=1e-15)
    step = 1e-6  # s
    q = multiply(states[:, 3:7], from_rotation_vector(step * states[:, 10:13]))
    moved = np.concatenate([states[:, :3] + step * states[:, 7:10], q, states[:, 7:]], axis=-1)
    np.testing.assert_allclose((LOPSIDED.to_mass(moved) - mass)[:, :3] / step, mass[:, 7:10], atol=1e-5)
    m = LOPSIDED.mechanism()
    np.testing.assert_allclose(np.mean([contact.point for contact in m.contacts], axis=0) + LOPSIDED.com, 0, atol=1e-15)
    assert m.bodies[0].inertia[0, 0] == LOPSIDED.inertia
    assert m.gravity[2] == -LOPSIDED.gravity


def test_which_side_is_down():
    # body z up, turned over, on its side
    states = np.zeros((3, 2, 13))
    states[:, :, 3:7] = [
        [from_rotation_vector(np.array(v))] * 2 for v in ((0, 0, 1.0), (np.pi, 0, 0), (0, np.pi / 2, 0))
    ]
    tosses = padded(states, range(3))
    assert heavy_side(tosses, Cube(com=(0.0, 0.0, 0.005))).tolist() == [-1, 1, 0]
    assert heavy_side(tosses, Cube(com=(0.0, 0.0, -0.005))).tolist() == [1, -1, 0]
    assert heavy_side(tosses, Cube(com=(0.005, 0.0, -0.001))).tolist() == [0, 0, 1]  # x points down


def test_rounded_corners():
    # a cube on a corner is lower by r (sqrt(3) - 1) when it touches, on a face as high as before
    corner = from_rotation_vector(np.arccos(1 / np.sqrt(3)) * np.array([1.0, -1.0, 0.0]) / np.sqrt(2))
    for q, lower in ((np.array([1.0, 0, 0, 0]), 0.0), (corner, 0.004 * (np.sqrt(3) - 1))):
        touches = [(Cube(rounding=r).corners @ rotate(q, np.eye(3)))[:, 2].min() - r for r in (0.004, 0.0)]
        assert touches[0] - touches[1] == pytest.approx(lower, abs=1e-12)
    assert {contact.radius for contact in Cube(rounding=0.004).mechanism().contacts} == {0.004}


@needs_data
def test_the_real_cube_is_lopsided():
    """Found in both halves of the tosses, and seen where it comes to rest: the heavy side is down twice as often."""
    tosses = load(Path(DATA or ""))
    cubes = [measured(half) for half in tosses.halves()]
    for found in cubes:
        np.testing.assert_allclose(found.com, [0.0, 0.0, 0.0055], atol=1e-3)
        assert found.inertia == pytest.approx(1.03e-3, rel=0.03)
        assert found.half / DESCRIBED.half == pytest.approx(found.gravity / DESCRIBED.gravity, abs=2e-3)
    down = heavy_side(tosses, cubes[0])
    assert (down > 0).sum() > 1.5 * (down < 0).sum()
