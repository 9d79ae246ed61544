"""Time and names, as a simulator tells them."""

import copy
import pickle

import numpy as np
import pytest
from arms import arm

from vigym import Simulator, StateError

H = 0.25  # so that multiples are exact


def test_names():
    sim = Simulator(arm(), compiled=False)
    assert sim.body_names == ["upper", "lower"]
    assert sim.contact_names == ["hand"]
    assert sim.collider_names == ["upper", "table"]
    assert sim.velocity_names == sim.axis_names == ["shoulder", "elbow.rx", "elbow.ry"]


def test_time_counts_steps_since_the_start():
    sim = Simulator(arm(), dt=H, num_envs=3)
    assert sim.time.tolist() == [0, 0, 0]
    sim.step()
    sim.step(repeat=3)
    sim.rollout(steps=2)
    assert sim.time.tolist() == [6 * H] * 3
    sim.set_joint_state(sim.joint_positions(), mask=[True, False, False])
    sim.step()
    assert sim.time.tolist() == [H, 7 * H, 7 * H]
    sim.set_state(v=np.zeros((2, 3)), mask=[False, False, True])
    assert sim.time.tolist() == [H, 7 * H, 0]
    with pytest.raises(StateError):
        sim.set_state(x=np.full((2, 3), 1e3))
    assert sim.time.tolist() == [H, 7 * H, 0]
    sim.time[:] = 9.0  # a copy
    assert sim.time.tolist() == [H, 7 * H, 0]


@pytest.mark.parametrize("compiled", [True, False])
def test_time_goes_back_with_the_state(compiled):
    sim = Simulator(arm(), dt=H, num_envs=2, compiled=compiled)
    sim.step(repeat=2)
    sim.set_state(v=np.zeros((2, 3)), mask=[True, False])
    sim.step()
    saved = sim.save()
    sim.step(repeat=4)
    others = [pickle.loads(pickle.dumps(sim)), copy.deepcopy(sim)]
    for other in others:
        other.step()
        assert other.time.tolist() == [6 * H, 8 * H]
        other.restore(saved)
        assert other.time.tolist() == [H, 3 * H]
        assert other.save() == saved
    sim.restore(saved)
    sim.step()
    assert sim.time.tolist() == [2 * H, 4 * H]


def test_copies_have_read_outs_of_their_own():
    sim = Simulator(arm(), num_envs=2, compiled=False)
    before = sim.mass_matrix()
    other = copy.deepcopy(sim)
    other.set_parameters(inertia=2.0 * sim.parameter("inertia"))
    assert (other.mass_matrix() != before).any()
    np.testing.assert_array_equal(sim.mass_matrix(), before)
