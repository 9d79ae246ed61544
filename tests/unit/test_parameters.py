"""Parameters that differ between environments: each environment behaves as a mechanism built with its own."""

import numpy as np
import pytest
from scenes import advance, box, hinge_and_slider

from vigym import InputError, Simulator
from vigym.assets import unitree_a1
from vigym.assets.unitree_a1 import STANDING


def test_friction_and_mass_of_each_environment():
    sim = Simulator(box(), num_envs=3)
    friction = np.array([0.1, 0.3, 0.5])
    sim.set_parameters(friction=np.repeat(friction[:, None], 8, 1), mass=[[1.0], [2.0], [1.0]])
    np.testing.assert_array_equal(sim.parameter("friction")[:, 0], friction)
    x, v = sim.state.x, np.zeros((3, 1, 3))
    v[..., 0] = 1.0
    sim.set_state(x=x, v=v)
    advance(sim, 20)
    for env, cf in enumerate(friction):
        alone = Simulator(box(mass=[1.0, 2.0, 1.0][env], friction=cf))
        alone.set_parameters(inertia=sim.parameter("inertia")[env])  # set_parameters(mass=...) leaves it as it was
        alone.set_state(x=x[env], v=v[env])
        advance(alone, 20)
        np.testing.assert_allclose(sim.state.x[env], alone.state.x[0], atol=1e-7)
    assert np.diff(sim.state.x[:, 0, 0]).max() < -0.01  # the rougher, the shorter
    np.testing.assert_allclose(sim.contact_forces()[:, :, 2].sum(-1), 9.81 * np.array([1.0, 2.0, 1.0]), rtol=1e-6)


def test_drives_of_each_environment():
    # A constant effort beyond the limit: v = limit t / m, see test_effort_limits_saturate.
    sim = Simulator(hinge_and_slider(effort_limit=1.5), num_envs=2)
    sim.set_parameters(effort_limit=[0.75, 0.75], mask=[True, False])
    advance(sim, 50, effort=np.full((2, 2), 10.0))
    np.testing.assert_allclose(sim.joint_velocities()[0], 0.5 * sim.joint_velocities()[1], rtol=1e-3)
    np.testing.assert_array_equal(sim.parameter("effort_limit"), [[0.75, 0.75], [1.5, 1.5]])
    saved = sim.save()
    other = Simulator(hinge_and_slider(effort_limit=1.5), num_envs=2)
    other.restore(saved)
    advance(other, 10, effort=np.full((2, 2), 10.0)), advance(sim, 10, effort=np.full((2, 2), 10.0))
    np.testing.assert_array_equal(other.joint_velocities(), sim.joint_velocities())
    robot = Simulator(unitree_a1.build(), num_envs=2, dt=0.005)
    robot.set_joint_state(STANDING)
    robot.set_parameters(kp=np.array([[80.0], [40.0]]) + np.zeros(12), kd=2.0 * np.ones(12))
    advance(robot, 300, target=STANDING)
    sag = STANDING - robot.joint_positions()
    assert np.abs(sag[1]).max() > 1.5 * np.abs(sag[0]).max()  # half as stiff, about twice as deep


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"weight": 1.0}, "'weight' is unknown.*mass"),
        ({"mass": np.zeros(13)}, "mass of body 'trunk'.*> 0"),
        ({"mass": np.full(13, np.nan)}, "mass.*nan"),
        ({"mass": np.ones(12)}, r"mass must have shape \(2, 13\)"),
        ({"inertia": np.tile(np.diag([1.0, 1.0, 3.0]), (13, 1, 1))}, "inertia of body 'trunk'.*principal"),
        ({"friction": -np.ones(4)}, "friction of contact 'FR foot'.*>= 0"),
        ({"stiffness": np.ones(12)}, "stiffness of 'FR hip'.*cannot be changed"),
        ({"joint_friction": np.ones(12)}, "joint_friction of 'FR hip'.*finite friction"),
        ({"kp": -np.ones(12)}, "kp of 'FR hip'.*>= 0"),
        ({"mass": np.ones(13), "kd": -np.ones(12)}, "kd of"),
    ],
)
def test_bad_parameters(values, message):
    sim = Simulator(unitree_a1.build(), num_envs=2)
    before = sim.save()
    with pytest.raises(InputError, match=message):
        sim.set_parameters(**values)
    assert sim.save() == before


def test_planes_of_each_environment():
    # A floor that is 1 m lower in one environment: its box falls on, and comes to rest there.
    sim = Simulator(box(), num_envs=2)
    height = sim.state.x[0, 0, 2]
    sim.set_parameters(offset=np.array([[0.0], [-1.0]]) + np.zeros(8))
    np.testing.assert_allclose(sim.contact_gaps().min(-1), [0.0, 1.0], atol=1e-12)
    advance(sim, 120)
    np.testing.assert_allclose(sim.state.x[:, 0, 2], [height, height - 1.0], atol=1e-6)
    before = sim.save()
    with pytest.raises(InputError, match=r"`offset` puts contact 'corner 0' \(environment 1\) 0.5 m below"):
        sim.set_parameters(offset=np.full(8, -0.5), mask=[False, True])
    assert sim.save() == before
    sim.set_parameters(offset=np.full(8, -1.5), mask=[False, True])
    advance(sim, 100)
    np.testing.assert_allclose(sim.state.x[1, 0, 2], height - 1.5, atol=1e-6)
