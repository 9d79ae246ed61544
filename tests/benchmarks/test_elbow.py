"""Two bricks on a hinge: derivatives of windows, and a linkage that is found again from tosses that were made up."""

from dataclasses import replace

import numpy as np
import pytest

from vigym import InputError
from vigym.benchmarks.compare.command import compare
from vigym.benchmarks.elbow.data import is_elbow, load, misses, scores
from vigym.benchmarks.elbow.engines import VigymEngine
from vigym.benchmarks.elbow.identify import MASS, NAMES, from_flights
from vigym.benchmarks.elbow.linkage import DESCRIBED, Linkage
from vigym.benchmarks.elbow.windows import Windows, by_hinge, free, linearised, place, residuals, simulator
from vigym.engine.rotation import from_rotation_vector

BASE = replace(DESCRIBED, damping=1e-4, rubbing=1e-4)
FRAMES = 8


def thrown(linkage: Linkage, n: int, frames: int = FRAMES) -> np.ndarray:
    """Flights of a linkage, as they would be measured (n, frames, 15); velocities of later frames are zero."""
    rng = np.random.default_rng(0)
    tosses = np.zeros((n, frames, 15))
    tosses[:, 0, :4] = from_rotation_vector(rng.normal(size=(n, 3)))
    tosses[:, 0, 4:8] = rng.normal(size=(n, 4)) + np.array([0, 0, 5.0, 0])
    tosses[:, 0, 8:] = rng.normal(size=(n, 7)) * [4, 4, 4, 1, 1, 1, 6]
    sim = simulator(linkage, n, 2, None)
    place(sim, linkage.to_mass(tosses[:, 0]))
    for frame in range(1, frames):
        sim.step(repeat=2)
        x, q = sim.state.x[:, 0], sim.state.q[:, 0]
        tosses[:, frame, :4], tosses[:, frame, 4:7] = q, linkage.to_centre(x, q)
        tosses[:, frame, 7] = sim.joint_positions()[:, 0]
    return tosses


def test_derivatives_of_windows():
    rng = np.random.default_rng(1)
    windows = Windows.of(thrown(BASE, 6), [(k, 0) for k in range(6)], FRAMES, BASE)
    windows = windows.moved(1e-2 * rng.normal(size=(6, 14)))  # which do not fit: rotations are far from those measured
    _, by_start, by = linearised(BASE, windows, 2)
    change, eps = rng.normal(size=(6, 14)), 1e-5
    ends = [residuals(BASE, windows.moved(sign * eps * change), 2) for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * eps)
    found = np.einsum("nfrk,nk->nfr", by_start, change)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
    ends = [residuals(replace(BASE, share=0.5 + sign * eps), windows, 2) for sign in (1, -1)]
    by_share = 2 * MASS * (by["mass"][..., 0] - by["mass"][..., 1])
    np.testing.assert_allclose(by_share, (ends[0] - ends[1]) / (2 * eps), rtol=0, atol=1e-5 * np.abs(by_share).max())
    assert by_hinge(BASE, windows, 2).shape == (6, FRAMES, 7, 8)


def test_a_linkage_is_found_again():
    true = replace(BASE, share=0.53, hinge=(-0.032, 0.06, 0.002), moments=((5e-4, 6e-4, 7e-4), (6e-4, 5.5e-4, 6e-4)))
    tosses = thrown(true, 48, 20)
    which = free(tosses, BASE, 0.01, 20)
    assert len(which) == 48
    found = from_flights(BASE, tosses, which, 20)
    assert found.after < 0.1 * found.before  # priors are as wide as what is noise here
    sought = [NAMES.index(name) for name in ("share", "hinge 1 x", "hinge 1 z")]
    assert (np.abs(found.values[sought] - [0.03, 0.003, 0.002]) < found.sigmas[sought]).all()
    assert found.sigmas[0] < 0.05
    assert len(found.values) == len(found.sigmas) == len(NAMES)


def test_errors_are_those_of_the_first_frames():
    tosses = thrown(BASE, 2, 4)
    simulated = tosses[..., :8].copy()
    simulated[1, 2:, 4] += 0.01  # m, a tenth of a brick
    simulated[0, 3, 7] += np.radians(3.0) + 2 * np.pi
    found = scores(misses(tosses, simulated), [2, 3])
    np.testing.assert_allclose(found[:, 0], [[0, 10 / 3], [0, 5]], atol=1e-9)
    np.testing.assert_allclose(found[:, 2], [[0, 0], [0.75, 0]], atol=1e-6)
    simulated[0, 1] = np.nan
    assert misses(tosses, simulated)[:, 0, 1].tolist() == [180.0] * 3


def test_engines_start_as_measured():
    tosses = thrown(BASE, 3)
    run = VigymEngine(tosses, BASE, 2)(friction=0.3, restitution=0.2)
    assert misses(tosses, run).max() < 1e-5  # in flight, they are the tosses themselves


def test_files_of_tosses(tmp_path):
    tosses = thrown(BASE, 4)
    path = tmp_path / "elbow.npz"
    np.savez(path, states=tosses.reshape(-1, 15), offsets=np.arange(5) * FRAMES, ids=np.arange(4))
    assert is_elbow(path)
    np.testing.assert_allclose(load(path), tosses, atol=1e-12)
    with pytest.raises(SystemExit, match="4 tosses; 8 are needed"):
        compare(("tosses",), data=path, out=tmp_path)
    np.savez(path, states=tosses.reshape(-1, 15) * np.nan, offsets=np.arange(5) * FRAMES)
    with pytest.raises(InputError, match="not numbers"):
        load(path)
    np.savez(path, states=tosses.reshape(-1, 15), offsets=np.arange(4) * FRAMES)
    with pytest.raises(InputError, match="do not fit"):
        load(path)
    path.write_text("text")
    assert not is_elbow(path)
