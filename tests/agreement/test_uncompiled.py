"""The kernels as plain Python on NumPy do what their compiled code does; an index out of range raises there."""

import numpy as np
from scenes import KINDS, chain

from vigym import Mechanism, Simulator
from vigym.assets import four_bar, unitree_a1
from vigym.assets.unitree_a1 import STANDING

ENVS = 3  # and a lane that only fills up the group
LIMIT = 0.4
TOLERANCE = 2e-11  # so that one iteration more or less makes no difference that shows


def everything(ground: float = -10.0) -> Mechanism:
    """A chain with a joint of every kind, each with spring, damper, drive, limits and dry friction, over the ground."""

    def laws(kind, n_free):
        passive = {"stiffness": 2.0, "damping": 0.1, "friction": 0.2, "lower": -LIMIT, "upper": LIMIT}
        return {**passive, "kp": 20.0, "kd": 1.0, "target": 1.0, "effort_limit": 5.0} if n_free else {}

    m = chain(len(KINDS), KINDS, options=laws)
    tip = f"link {len(KINDS) - 1}"
    m.add_contact("tip", tip, (0.15, 0, 0), offset=ground)
    m.add_contact("wall", tip, (0.1, 0, 0), radius=0.05, normal=(0.2, 1.0, 0.1), offset=-3.0)
    return m


def start(mechanism, compiled=True, around=0.0) -> tuple[Simulator, np.random.Generator]:
    """Random coordinates and rates, and a generator that is good for more; the first axis at its limit."""
    rng = np.random.default_rng(2)
    sim = Simulator(mechanism, num_envs=ENVS, tolerance=TOLERANCE, compiled=compiled)
    if mechanism.joints[0].parent != "world":
        sim.set_state(x=sim.state.x + np.array([0.0, 0.0, 1.0]))
    shape = ENVS, len(sim.axis_names)
    positions = around + 0.2 * rng.uniform(-1, 1, shape)
    upper = np.concatenate([joint.upper for joint in mechanism.joints])
    if np.isfinite(upper[0]):
        positions[0, 0] = upper[0]
    rates = rng.normal(size=shape)
    rates[0, 0] = 1.0
    sim.set_joint_state(positions, rates)
    if mechanism.joints[0].parent != "world":  # down to the ground
        x, _, v, _ = sim.state
        down = np.array([0.0, 0.0, 1.0])
        sim.set_state(x=x - sim.contact_gaps().min(-1)[:, None, None] * down, v=v - 0.5 * down)
    return sim, rng


def both_ways(mechanism, steps, weight=0.0, **options) -> tuple[Simulator, Simulator]:
    """(compiled, uncompiled) after the same steps from the same random state, with the same random efforts.

    weight: N, on the last body
    """
    pair = []
    for compiled in (True, False):
        sim, rng = start(mechanism, compiled, **options)
        for _ in range(steps):
            force = rng.normal(size=sim.state.x.shape)
            force[:, -1, 2] -= weight
            sim.step(3 * rng.normal(size=sim.joint_positions().shape), force)
            assert sim.status.converged.all()
        pair.append(sim)
    return pair[0], pair[1]


def assert_agree(pair):
    """Step by step the same operations: what differs is the rounding of fused multiply-adds, 1e-16 a piece."""
    fast, plain = pair
    for name, a, b in zip("xqvw", fast.state, plain.state, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8, rtol=0, err_msg=name)
    np.testing.assert_allclose(fast.joint_positions(), plain.joint_positions(), atol=1e-8, rtol=0)
    np.testing.assert_allclose(fast.contact_gaps(), plain.contact_gaps(), atol=1e-8, rtol=0)
    np.testing.assert_array_equal(fast.status.substeps, plain.status.substeps)


def test_every_kind_of_joint_with_all_that_acts_on_it():
    ground = start(everything(), compiled=False)[0].contact_gaps()[:, 0].min() - 10.0  # the lowest tip touches it
    pair = both_ways(everything(ground), steps=2, weight=300.0)
    assert_agree(pair)
    assert pair[0].contact_forces()[..., 2].max() > 1.0
    assert np.isclose(np.abs(pair[0].joint_positions()), LIMIT, atol=1e-9).any()


def test_a_loop():
    pair = both_ways(four_bar.build(), steps=5)
    assert_agree(pair)
    assert pair[0].joint_error().max() < 1e-10
    assert np.abs(pair[0].joint_velocities()).min() > 0.01


def test_a_robot_that_lands():
    pair = both_ways(unitree_a1.build(), steps=2, around=STANDING)
    assert_agree(pair)
    assert pair[0].contact_forces()[..., 2].max() > 1.0


def test_repeat_and_threads_without_compiling():
    """The options of a compiled simulator are those of an uncompiled one."""
    sims = [Simulator(four_bar.build(), num_envs=5, num_threads=threads, compiled=False) for threads in (1, 2)]
    for sim in sims:
        sim.set_joint_state(np.zeros(4), np.outer(np.arange(5.0), [1, -1, 1, 1]))
    sims[0].step(repeat=2)
    for _ in range(2):
        sims[1].step()
    for sim in sims:  # the status is that of a call: make the last one the same
        sim.step()
    assert sims[0].save() == sims[1].save()
    assert np.abs(sims[0].joint_positions()[1:]).min() > 1e-3
