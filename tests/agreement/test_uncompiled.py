"""The kernels as plain Python on NumPy do what their compiled code does; an index out of range raises there."""

import numpy as np
import pytest
from scenes import KINDS, STANDING, chain, quadruped

from vigym import Mechanism, Simulator

ENVS = 3  # and a lane that only fills up the group
LIMIT = 0.4


def everything() -> Mechanism:
    """A chain with a joint of every kind, each with spring, damper, drive, limits and dry friction, over the ground."""

    def laws(kind, n_free):
        passive = {"stiffness": 2.0, "damping": 0.1, "friction": 0.2, "lower": -LIMIT, "upper": LIMIT}
        return {**passive, "kp": 20.0, "kd": 1.0, "effort_limit": 5.0} if n_free else {}

    m = chain(len(KINDS), KINDS, options=laws)
    tip = f"link {len(KINDS) - 1}"
    m.add_contact("tip", tip, (0.15, 0, 0), offset=-0.5)
    m.add_contact("wall", tip, (0.1, 0, 0), radius=0.05, normal=(0.2, 1.0, 0.1), offset=-1.0)
    return m


def four_bar() -> Mechanism:
    """World - a - b - c - world: a parallelogram of hinges about y, in the plane y = 0."""
    m = Mechanism()
    for name in "abc":
        m.add_body(name, mass=1.0, inertia=(0.02, 0.03, 0.02))
    for name, parent, child, parent_anchor, child_anchor in (
        ("left", "world", "a", (0, 0, 0), (0, 0, -0.5)),
        ("top left", "a", "b", (0, 0, 0.5), (-0.75, 0, 0)),
        ("top right", "b", "c", (0.75, 0, 0), (0, 0, 0.5)),
        ("right", "world", "c", (1.5, 0, 0), (0, 0, -0.5)),
    ):
        m.add_joint(
            name, "revolute", parent, child, axis=(0, 1, 0), parent_anchor=parent_anchor, child_anchor=child_anchor
        )
    return m


def both_ways(mechanism, steps, positions=None, lift=None):
    """(compiled, uncompiled) after the same steps from the same random state, with the same random efforts."""
    pair = []
    for compiled in (True, False):
        rng = np.random.default_rng(2)
        sim = Simulator(mechanism, num_envs=ENVS, compiled=compiled)
        axes = len(sim.axis_names)
        around = np.zeros(axes) if positions is None else positions
        if lift is not None:
            sim.set_state(x=sim.state.x + np.array([0, 0, lift]))
        sim.set_joint_state(around + 0.2 * rng.uniform(-1, 1, (ENVS, axes)), rng.normal(size=(ENVS, axes)))
        for _ in range(steps):
            sim.step(effort=3 * rng.normal(size=(ENVS, axes)), force=rng.normal(size=sim.state.x.shape))
            assert sim.status.converged.all()
        pair.append(sim)
    return pair


def assert_agree(pair):
    """Step by step the same operations: what differs is the rounding of fused multiply-adds, 1e-16 a piece."""
    fast, plain = pair
    for name, a, b in zip("xqvw", fast.state, plain.state, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10, rtol=0, err_msg=name)
    np.testing.assert_allclose(fast.joint_positions(), plain.joint_positions(), atol=1e-10, rtol=0)
    np.testing.assert_allclose(fast.contact_gaps(), plain.contact_gaps(), atol=1e-10, rtol=0)
    np.testing.assert_array_equal(fast.status.substeps, plain.status.substeps)


def test_every_kind_of_joint_with_all_that_acts_on_it():
    pair = both_ways(everything(), steps=3)
    assert_agree(pair)


def test_a_loop():
    pair = both_ways(four_bar(), steps=10)
    assert_agree(pair)
    assert pair[0].joint_error().max() < 1e-10
    assert np.abs(pair[0].joint_velocities()).min() > 0.01


def test_a_robot_that_lands():
    """Contacts, limits and drives that are at work: feet on the ground, an effort at its limit."""
    pair = both_ways(quadruped(effort_limit=4.0), steps=3, positions=STANDING, lift=0.1)
    assert_agree(pair)


@pytest.mark.parametrize("repeat", [1, 3])
def test_repeat_and_threads_without_compiling(repeat):
    """The options of a compiled simulator are those of an uncompiled one."""
    sims = [Simulator(four_bar(), num_envs=9, num_threads=threads, compiled=False) for threads in (1, 2)]
    for sim in sims:
        sim.set_joint_state(np.zeros(4), np.outer(np.arange(9.0), [1, -1, 1, 1]))
        sim.step(repeat=repeat)
    assert sims[0].save() == sims[1].save()
    assert np.abs(sims[0].joint_positions()[1:]).min() > 1e-3
