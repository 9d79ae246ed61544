"""Self-collision of the A1: which of its solids may touch, and that they do not while it walks."""

from itertools import combinations

import gymnasium as gym
import numpy as np
import pytest

from vigym import Box, Simulator
from vigym.assets import unitree_a1
from vigym.benchmarks.scenes.a1 import trot
from vigym.benchmarks.scenes.scene import at_rest
from vigym.engine.collisions import distances
from vigym.envs.controllers.learned import learned
from vigym.envs.controllers.quadruped import QuadrupedTrot

pytestmark = pytest.mark.usefixtures("judged")


def test_solids_are_few_and_touch_only_what_is_not_a_neighbour():
    m = unitree_a1.build(self_collision=True)
    assert len(m.colliders) == 2 + 4 * (1 + 1 + 2)  # trunk; hip, thigh, calf and foot
    bodies = [collider.body for collider in m.colliders]
    touching = {frozenset((bodies[i], bodies[j])) for i, j in m.couples}
    joined = {frozenset((joint.parent, joint.child)) for joint in m.joints}
    assert touching == {frozenset(pair) for pair in combinations(dict.fromkeys(bodies), 2)} - joined
    assert not unitree_a1.build().couples


def test_without_self_collision_it_touches_obstacles_only():
    m = unitree_a1.build()
    m.add_collider("wall", "world", Box((0.1, 2.0, 2.0), position=(1.0, 0, 1.0)))
    assert {m.colliders[j].name for _, j in m.couples} == {"wall"}
    assert len({m.colliders[i].body for i, _ in m.couples}) == 13


def test_it_trots_without_touching_itself():
    # nothing touches, so that self-collision changes nothing: forces are what the solver leaves at a gap of 17 mm
    sims = [Simulator(unitree_a1.build(friction=0.6, self_collision=on), dt=0.005) for on in (True, False)]
    start = at_rest(sims[0].model.mechanism, trot(np.zeros(1))[0], 0.0)
    couples = np.array(sims[0].model.couples)
    for sim in sims:
        sim.set_state(*start)
    for target in trot(0.005 * np.arange(400)):
        for sim in sims:
            sim.step(target=target)
            assert sim.status.converged.all()
        assert distances(sims[0].model, *sims[0].state[:2], couples).min() > 0.015
        assert np.abs(sims[0].contacts().force).max(initial=0.0) < 1e-6
    np.testing.assert_allclose(sims[0].state.x, sims[1].state.x, atol=1e-9)


def test_legs_stop_at_each_other():
    # the hips press both front legs inwards, the other joints are loose: feet meet, then thighs meet the trunk
    m = unitree_a1.build(drive=False, self_collision=True)
    m.gravity = (0, 0, 0)
    sim = Simulator(m, dt=0.005)
    x, q = sim.state.x.copy(), sim.state.q
    x[:, 0, 2] += 1.0
    sim.set_joint_state(unitree_a1.STANDING, x=x, q=q)
    effort, couples, touched = np.zeros(12), np.array(sim.model.couples), []
    effort[[0, 3]] = 2.0, -2.0
    for _ in range(40):
        sim.step(effort=effort)
        assert sim.status.converged.all()
        assert distances(sim.model, *sim.state[:2], couples).min() > -1e-9
        found = sim.contacts()
        touched += found.collider[np.abs(found.force).max(-1) > 1.0].tolist()
    names = [tuple(sim.model.colliders[k].name for k in pair) for pair in touched]
    assert list(dict.fromkeys(names)) == [
        ("FR calf 1", "FL calf 1"),
        ("trunk", "FR thigh"),
        ("trunk", "FL thigh"),
    ]


@pytest.mark.parametrize("make", [QuadrupedTrot, lambda: learned("VIQuadruped-v0")])
def test_it_walks_without_touching_itself(make, monkeypatch):
    # 4 s of the scripted trot, and of the committed policy, towards random velocities
    monkeypatch.setitem(unitree_a1.build.__kwdefaults__, "self_collision", True)
    env, controller = gym.make_vec("VIQuadruped-v0", num_envs=4), make()
    controller.reset()
    observation, _ = env.reset(seed=0)
    sim = env.unwrapped.task.sim
    couples = np.array(sim.model.couples)
    assert len(couples) > 100
    for _ in range(200):
        observation, _, terminated, _, _ = env.step(np.asarray(controller.act(observation), np.float32))
        assert not terminated.any()
        assert distances(sim.model, *sim.state[:2], couples).min() > 0.003
        assert np.abs(sim.contacts().force).max(initial=0.0) < 1e-6
    env.close()
