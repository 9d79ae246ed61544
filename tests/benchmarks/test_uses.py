"""Uses of gradients that docs/gradients.md shows (benchmarks/uses), in short forms."""

import numpy as np

from vigym.benchmarks.uses import flip, toss, trust
from vigym.engine.rotation import from_rotation_vector


def test_a_push_that_breaks_a_box_loose():
    # v = max(0, F/m - friction g) t, a kink in the push; smoothed, there is a slope on both sides of it
    forces = np.array([1.0, 4.5, 5.5, 9.0])
    expected = trust.STEPS * trust.DT * (forces - trust.FRICTION * trust.G)
    speed, slope = trust.pushed(0.0, forces)
    np.testing.assert_allclose(speed, np.maximum(expected, 0.0), atol=1e-8)
    np.testing.assert_allclose(slope, [0.0, 0.0, 0.2, 0.2], atol=1e-6)
    ends = [trust.pushed(1e-4, forces + move)[0] for move in (1e-5, -1e-5)]
    slope = trust.pushed(1e-4, forces)[1]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, rtol=5e-3)
    assert (slope > 1e-3).all()


def test_a_ball_that_is_dropped():
    """In time steps, its rebound is where it touches down, at a multiple of the step: flat, with jumps between."""
    heights = np.linspace(0.12, 0.45, 5)
    for restitution in (0.0, 0.8):
        ends = [trust.dropped(0.0, restitution, heights + move)[0] for move in (1e-6, -1e-6)]
        slope = trust.dropped(0.0, restitution, heights)[1]
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, atol=1e-6)


def test_the_hopper_learns_to_flip_by_gradients():
    way = flip.by_gradients()
    assert way.history[0, 1] > 10.0  # a jump that turns half way
    assert way.history[-1, 1] < 1e-6


def thrown(guess: toss.Guess, n: int) -> np.ndarray:
    """Windows (n, FRAMES, 13) of a cube that is thrown in the simulation, each around its first impact."""
    rng, frames = np.random.default_rng(0), 2 * toss.FRAMES
    sim = guess.simulator(n)
    starts = np.zeros((n, 13))
    starts[:, :3] = [0.0, 0.0, 0.14]
    starts[:, 3:7] = from_rotation_vector(0.8 * rng.normal(size=(n, 3)))
    starts[:, 7:] = np.concatenate([rng.normal(size=(n, 2)), -np.ones((n, 1)), 4.0 * rng.normal(size=(n, 3))], -1)
    sim.set_state(**{name: part[:, None] for name, part in toss.parts(starts).items()})
    read = sim.rollout(steps=frames, repeat=toss.SUBSTEPS)
    states = np.concatenate([read[name][:, :, 0] for name in "xqvw"], -1).swapaxes(0, 1)
    poses = guess.cube.to_centre(states[..., :7])
    com = np.array(guess.cube.com)
    R = toss.rotation_matrix(states[..., 3:7])
    v = states[..., 7:10] - np.einsum("...ij,...j->...i", R, np.cross(states[..., 10:], com))
    whole = np.concatenate([poses, v, states[..., 10:]], -1)
    low = guess.cube.height(whole) < toss.TOUCH
    first = np.clip(low.argmax(1) - toss.BEFORE, 0, frames - toss.FRAMES)
    return np.stack([row[k : k + toss.FRAMES] for row, k in zip(whole, first, strict=True)])


def test_a_cube_from_its_tosses():
    """Tosses of the simulation, without noise, from a guess that is off: what they were made with is found again."""
    values = np.array([0.25, 0.4, 1e-3, -2e-3, 4e-3, 9e-4])
    found = toss.identify(thrown(toss.Guess(values), 8), turns=6)
    assert found.errors[-1] < 0.1 * found.errors[0]
    assert np.all(np.abs(found.values - values) < [0.005, 0.01, 3e-4, 3e-4, 3e-4, 1e-5]), found
