"""History: from the same state a step leads to the same motion, whatever was before, where it has one solution.

Every step of a run is made twice: as it comes (warm), and by a second simulator that is put into the same state
(reset). The two differ by what the tolerance leaves, in all steps but those

    with several solutions    four corners of a box share its weight in any way, and slide as their shares say
    that continue something   an impact that is not over, turns of a joint: no part of x, q, v and w (`save` keeps them)

What the tolerance leaves is an energy. With bounds of friction given, the equations of a step are monotone: of two
approximate solutions with forces a and slacks b, and V the velocities,

    dV' M dV = sum da db = sum (a b + a' b' - a b' - a' b) <= sum (a b + a' b')

as no number is negative: twice the kinetic energy of the difference is at most the sum of all products left. An effort
limit cuts p off what a drive of the slope k = kp + kd/h asks for. Its pair is p times mobility (limit - effort), which
is an energy if divided by mobility k.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scenes import box, corners

import reference
from vigym import Box, Mechanism, Simulator, Sphere
from vigym.assets import hopper, unitree_a1

NUM = 64


class Steps(NamedTuple):
    """All steps of a run, (steps, NUM): twice the kinetic energy of the difference between warm and reset, J; the
    products left, J; whether both were solved at once; whether something is under way that a state does not tell."""

    energy: np.ndarray
    left: np.ndarray
    whole: np.ndarray
    continues: np.ndarray


def products(sim: Simulator) -> np.ndarray:
    """Sum of the products left of all pairs, J (NUM,)."""
    m, get = sim._lanes.constants[0], sim._get
    total = (get("ca") * get("cb")).sum((1, 2))
    axes = get("la") * get("lb") * get("bounded")
    lever = np.asarray(m.axis_length) ** 2 * np.asarray(m.axis_force_scale)
    mobility = np.asarray(m.axis_acceleration) * sim.dt**2 / lever
    slope = np.maximum(get("kp") + get("kd") / sim.dt, 1e-300)
    axes[..., 2:4] /= mobility * slope
    return total + axes.sum((1, 2))


def difference(sim: Simulator, other: Simulator) -> np.ndarray:
    """dV' M dV (NUM,)"""
    (_, _, v, w), (_, _, v1, w1) = sim.state, other.state
    turn = np.einsum("nbi,nbij,nbj->n", w - w1, sim.parameter("inertia"), w - w1)
    return (sim.parameter("mass") * ((v - v1) ** 2).sum(-1)).sum(-1) + turn


def run(warm: Simulator, steps: int, controls: Callable[[int], dict], look: Callable = lambda *_: None) -> Steps:
    """Make every step twice; look: called after each one with the state before it, and both simulators."""
    reset = Simulator(warm.model.mechanism, dt=warm.dt, num_envs=NUM, cone=warm.cone)
    found = []
    for k in range(steps):
        state, struck, turned = warm.state, warm._get("struck"), warm.joint_positions()
        reset.set_state(*state)
        continues = (struck > 0).any((1, 2)) | (np.abs(turned - reset.joint_positions()) > 1.0).any(1)
        for sim in (warm, reset):
            sim.step(**controls(k))
        whole = [s.converged & (s.substeps == 1) & (s.relaxed == 0) for s in (warm.status, reset.status)]
        left = products(warm) + products(reset)
        found.append((difference(warm, reset), left, whole[0] & whole[1], continues))
        look(state, warm, reset)
    return Steps(*(np.array(part) for part in zip(*found, strict=True)))


def tossed(m: Mechanism, cone: str, height: float) -> Simulator:
    """Anyhow, at 2 m/s and 5 rad/s."""
    rng, sim = np.random.default_rng(0), Simulator(m, dt=0.01, num_envs=NUM, cone=cone)
    q = rng.normal(size=(NUM, 1, 4))
    v, w = rng.normal(size=(2, NUM, 1, 3))
    sim.set_state([[0, 0, height]], q / np.linalg.norm(q, axis=-1, keepdims=True), 2 * v, 5 * w)
    return sim


def rod() -> Mechanism:
    m = Mechanism()
    m.add_body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, 0.001))
    for end in (-0.5, 0.5):
        m.add_contact(f"end {end}", "rod", point=(0, 0, end), friction=0.5)
    return m


def soft_box() -> Mechanism:
    m = Mechanism()
    m.add_body("box", mass=1.0, shapes=[Box((0.2, 0.2, 0.2))])
    for k, point in enumerate(corners((0.2, 0.2, 0.2))):
        m.add_contact(f"corner {k}", "box", point, friction=0.5, compliance=1e-4, damping=10.0)
    return m


def targets(size: float, *shape: int) -> np.ndarray:
    return size * np.random.default_rng(1).normal(size=shape)


def tossed_rod(cone: str) -> Steps:
    return run(tossed(rod(), cone, 0.8), 150, lambda _: {})


def tossed_soft_box(cone: str) -> Steps:
    return run(tossed(soft_box(), cone, 0.5), 150, lambda _: {})


def hops(cone: str) -> Steps:
    """A drive at its limit, and at the ends of its stroke, on a foot."""
    to = np.clip(0.15 + targets(0.15, 30, NUM, 1), *hopper.STROKE)
    sim = Simulator(hopper.build(kp=400.0, kd=10.0), dt=0.01, num_envs=NUM, cone=cone)
    return run(sim, 150, lambda k: {"target": to[k // 5]})


def thrashes(cone: str) -> Steps:
    """A robot whose targets jump by half a radian."""
    to = unitree_a1.STANDING + targets(0.5, 50, NUM, 12)
    sim = Simulator(unitree_a1.build(), dt=0.005, num_envs=NUM, cone=cone)
    return run(sim, 200, lambda k: {"target": to[k // 4]})


@pytest.mark.parametrize(
    ("motion", "cone"),
    [(tossed_rod, "exact"), (tossed_rod, "pyramid"), (tossed_soft_box, "exact"), (hops, "exact"), (thrashes, "exact")],
)
def test_a_step_with_one_solution_has_no_history(motion, cone):
    steps = motion(cone)
    assert steps.whole.all()
    assert (steps.energy <= steps.left).all()


def test_loads_that_are_shared_in_any_way_have_several_solutions():
    """Both are solutions, to the dense reference, and only of boxes that press with more than three corners."""
    m = box()
    others, misfits = [], []

    def look(state, *sims):
        for e in np.flatnonzero(difference(*sims) > sum(map(products, sims))):
            others.append([sim.contact_forces()[e, :, 2] for sim in sims])
            if len(others) % 10 == 1:
                before, nothing = [part[e] for part in state], (np.zeros(0), np.zeros((1, 3)), np.zeros((1, 3)))
                twists = [np.concatenate([sim.state.v[e], sim.state.w[e]], -1) for sim in sims]
                misfits.extend(reference.misfit(m, before, 0.01, V, *nothing) for V in twists)

    steps = run(tossed(m, "pyramid", 0.5), 150, lambda _: {}, look)
    assert 0 < len(others) < 0.1 * steps.energy.size
    assert ((np.array(others) > 1e-3).sum(-1) > 3).all()
    assert max(misfits) < 1e-6  # N, of a weight of 10 N


def ball() -> Simulator:
    m = Mechanism()
    m.add_body("ball", mass=2.0, shapes=[Sphere(0.1)])
    m.add_contact("skin", "ball", radius=0.1, friction=0.5, restitution=0.5)
    return tossed(m, "exact", 0.5)


def wheel() -> Simulator:
    """A drive turns it towards an angle that is turns away."""
    m = Mechanism()
    m.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("hinge", "revolute", "world", "wheel", axis=(0, 0, 1), kp=1.0, kd=0.3, target=20.0)
    return Simulator(m, dt=0.01, num_envs=NUM)


@pytest.mark.parametrize("start", [ball, wheel])
def test_an_impact_under_way_and_turns_are_no_part_of_a_state(start):
    steps = run(start(), 150, lambda _: {})
    assert steps.whole.all()
    apart = steps.energy > steps.left + 1e-20
    assert apart.any()
    assert (steps.continues >= apart).all()
