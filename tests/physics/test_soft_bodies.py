"""Colliders with a compliance: they sink in by what they carry, and oscillate as on a spring."""

import numpy as np
import pytest

import vigym


@pytest.mark.parametrize("compliance", [(1e-4, 0.0), (3e-4, 2e-4)])
def test_a_ball_sinks_in_by_its_weight(compliance):
    # two compliances add up: depth = (K1 + K2) m g
    m = vigym.Mechanism()
    m.add_collider("floor", "world", vigym.Plane(), compliance=compliance[1])
    m.add_body("ball", mass=2.0, shapes=[vigym.Sphere(0.1)], position=(0, 0, 0.1), collide=False)
    m.add_collider("ball", "ball", vigym.Sphere(0.1), compliance=compliance[0], damping=200.0)
    sim = vigym.Simulator(m, dt=0.002)
    sim.step(repeat=2000)
    assert sim.status.converged.all()
    depth = sum(compliance) * 2.0 * 9.81
    assert sim.state.x[0, 0, 2] == pytest.approx(0.1 - depth, abs=1e-8)
    assert sim.contacts().force[0] == pytest.approx([0, 0, 2.0 * 9.81], rel=1e-6)


def test_two_soft_balls_part_by_the_time_of_a_spring():
    # reduced mass m/2 on a spring 1/K: they touch for half a period, pi sqrt(K m/2), less O(h) of implicit steps
    K, mass, h = 1e-4, 1.0, 1e-4
    m = vigym.Mechanism(gravity=(0, 0, 0))
    for k in range(2):
        m.add_body(f"b{k}", mass=mass, shapes=[vigym.Sphere(0.1)], position=(0.2 * k, 0, 0), collide=False)
        m.add_collider(f"b{k}", f"b{k}", vigym.Sphere(0.1), compliance=0.5 * K, friction=0.0)
    sim = vigym.Simulator(m, dt=h)
    sim.set_state(v=[[1.0, 0, 0], [0, 0, 0]])
    touching = 0
    for _ in range(400):
        sim.step()
        touching += sim.distance("b0", "b1")[0] < 0
    expected = np.pi * np.sqrt(K * mass / 2)
    assert touching * h == pytest.approx(expected, abs=0.05 * expected)
    assert sim.state.v[0, :, 0].sum() == pytest.approx(1.0, abs=1e-10)
