"""The benchmark's scenes run in vigym, and are what they say."""

import numpy as np
import pytest

from vigym import Simulator
from vigym.benchmarks.measures import Measures
from vigym.benchmarks.runner import Vigym
from vigym.benchmarks.scenes import SCENES, build
from vigym.benchmarks.scenes.a1 import trot

SMALL = [
    ("disc", {"contacts": 2}),
    ("disc", {"contacts": 10}),
    ("chain", {"links": 5}),
    ("chain", {"links": 5, "drop": 0.3}),
    ("free-chain", {"links": 4}),
    ("flying-chain", {"links": 4}),
    ("a1", {"gait": "stand", "dt": 0.005}),
    ("a1", {"gait": "trot", "dt": 0.005}),
    ("hopper", {"dt": 0.005}),
    ("loops", {"cells": 3}),
    ("flip", {"dt": 0.005}),
    ("toss", {}),
    ("incline", {"friction": 0.2}),
    ("incline", {"friction": 0.4}),
    ("top", {}),
    ("stack", {"bodies": 3, "dt": 0.002}),  # in 10 ms, friction would stop what moves differently
    ("pinch", {}),
    ("heap", {"bodies": 4}),
    ("cubes", {"bodies": 4}),
    ("coil", {"links": 10}),
    ("gripper", {}),
    ("ready", {}),
    ("humanoid", {}),
]


def test_every_scene_is_tried():
    assert {name for name, _ in SMALL} == set(SCENES)


@pytest.mark.parametrize(("name", "parameters"), SMALL, ids=lambda value: str(value))
def test_scenes_run(name, parameters):
    """20 steps of a batch that starts a little differently: no failed step, no gap, no open joint, in any of them."""
    scene = build(name, **parameters)
    engine = Vigym(scene, scene.dt, steps=20, num_envs=3)
    measures = Measures(scene.mechanism)
    engine.reset()
    for k in range(20):
        engine.step(k)
        assert engine.failures() == 0
        x, q = engine.poses()
        assert measures.gaps(x, q).min(initial=np.inf) >= -1e-9
        assert measures.distances(x, q).min(initial=np.inf) >= -1e-8
        assert engine.gap() is None or engine.gap() >= -1e-9
        assert measures.separation(x, q) < 1e-9
    first, second, _ = engine.sim.state.x
    np.testing.assert_array_equal(engine.scene.starts(3).x[0], scene.start.x)
    assert np.abs(first - second).max() > 1e-6


def test_timed_steps_are_those_that_are_looked_at():
    """One call for all steps, or one a step: the state at the end is that of the pass that is looked at."""
    for name, parameters in (("disc", {"contacts": 10}), ("a1", {"gait": "trot", "dt": 0.005})):
        scene = build(name, **parameters)
        engine = Vigym(scene, scene.dt, steps=10)
        engine.reset()
        for k in range(10):
            engine.step(k)
        seen = engine.sim.state.x
        engine.reset()
        engine.time()
        np.testing.assert_array_equal(engine.sim.state.x, seen)


def test_measures_agree_with_the_engine():
    scene = build("a1", gait="stand", dt=0.005)
    sim = Simulator(scene.mechanism, dt=0.005, compiled=False)
    x, q, _, _ = scene.start
    sim.set_state(x=x, q=q)
    measures = Measures(scene.mechanism)
    np.testing.assert_allclose(measures.gaps(x, q), sim.contact_gaps()[0], atol=1e-15)
    moved = x.copy()
    moved[1] += [0.0, 0.003, 0.004]
    assert measures.separation(moved, q) == pytest.approx(0.005)


def test_separation_ignores_free_translations():
    scene = build("hopper")
    x, q, _, _ = (part.copy() for part in scene.start)
    x[1, 2] -= 0.1  # along the leg
    assert Measures(scene.mechanism).separation(x, q) < 1e-12
    x[1, 0] += 0.1
    assert Measures(scene.mechanism).separation(x, q) == pytest.approx(0.1)


def test_the_trot():
    """The paper's: 1 Hz; diagonal legs alike, the others half a period later."""
    legs = trot(np.array([0.0, 0.25, 0.5])).reshape(3, 4, 3)
    np.testing.assert_allclose(legs[0, 0], [0, 0.95 * 1.0, -1.9])
    np.testing.assert_allclose(legs[0, 1], [0, 0.95 * 0.8, -1.9])
    np.testing.assert_allclose(legs[1, 0], [0, 0.95 * 0.9, -2.0])
    np.testing.assert_allclose(legs[:, 0], legs[:, 3])  # FR and RL
    np.testing.assert_allclose(legs[0, 0], legs[2, 1])
