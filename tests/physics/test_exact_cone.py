"""cone="exact": Coulomb's law with its circular cone, on planes of any orientation and for random mechanisms."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from mechanisms import DT, Scene
from mechanisms import scenes as random_scenes
from scenes import GRAVITY, advance, change, corners, frames, on_planes, random_normals

import reference
from vigym import Simulator
from vigym.assets import disc, unitree_a1
from vigym.assets.unitree_a1 import STANDING

PLANES = 12
NORMALS = random_normals(PLANES, seed=3)
PLATE = corners((0.2, 0.2, 0.1))[:4] * [1, 1, 0]  # flat: friction has no arm
AZIMUTH = np.linspace(0.1, 2 * np.pi - 0.2, PLANES)


def slope(m, angle, azimuth) -> np.ndarray:
    """Weights (..., n_bodies, 3) of 1 kg on a slope of `angle` towards `azimuth`, counted from t1, on every plane."""
    basis = frames(m).reshape(len(m.bodies), -1, 3, 3)[:, 0]
    angle, azimuth = np.broadcast_arrays(angle, azimuth)
    local = [np.sin(angle) * np.cos(azimuth), np.sin(angle) * np.sin(azimuth), -np.cos(angle)]
    return GRAVITY * np.einsum("k...b,bkj->...bj", np.array(local), basis)


def test_blocks_slide_straight_down():
    # a = g (sin(angle) - cf cos(angle)) down the slope, whatever the azimuth; constant, hence exact
    h, steps, cf = 0.01, 60, 0.4
    angle = np.radians([25.0, 35.0, 50.0])[:, None] + np.zeros(PLANES)
    m = on_planes(NORMALS, cf, PLATE)
    sim = Simulator(m, dt=h, num_envs=3, cone="exact")
    pull = slope(m, angle, AZIMUTH)
    advance(sim, steps, force=pull)
    downhill = slope(m, angle, AZIMUTH) - slope(m, angle, AZIMUTH + np.pi)
    downhill /= np.linalg.norm(downhill, axis=-1, keepdims=True)
    a = GRAVITY * (np.sin(angle) - cf * np.cos(angle))
    np.testing.assert_allclose(sim.state.v, (a * steps * h)[..., None] * downhill, atol=1e-5)


def test_the_threshold_is_the_same_in_all_directions():
    # sticks if and only if tan(angle) <= cf: 1 % either way decides
    cf = 0.4
    m = on_planes(NORMALS, cf, PLATE)
    angle = np.arctan(cf * np.array([0.99, 1.01]))[:, None] + np.zeros(PLANES)
    sim = Simulator(m, dt=0.01, num_envs=2, cone="exact")
    advance(sim, 100, force=slope(m, angle, AZIMUTH))
    speed = np.linalg.norm(sim.state.v, axis=-1)
    a = GRAVITY * (np.sin(angle[1]) - cf * np.cos(angle[1]))
    assert (speed[0] < 1e-4).all()
    np.testing.assert_allclose(speed[1], a * 1.0, rtol=0.01)


def test_a_thrown_block_keeps_its_direction():
    # v = v0 - cf g t along v0; the pyramid turns it
    m = on_planes(NORMALS, 0.3, PLATE)
    basis = frames(m).reshape(PLANES, -1, 3, 3)[:, 0]
    direction = np.einsum("bk,bkj->bj", np.stack([np.cos(AZIMUTH), np.sin(AZIMUTH), 0 * AZIMUTH], -1), basis)
    ends = {}
    for cone in ("exact", "pyramid"):
        sim = Simulator(m, dt=0.01, cone=cone)
        sim.set_state(v=2.0 * direction)
        advance(sim, 40, force=slope(m, np.zeros(PLANES), 0.0))
        ends[cone] = sim.state.v[0]
    np.testing.assert_allclose(ends["exact"], (2.0 - 0.3 * GRAVITY * 0.4) * direction, atol=1e-5)
    assert np.abs(ends["pyramid"] - ends["exact"]).max() > 0.1


def test_a_spinning_disc_slows_down_evenly():
    # friction cf m g at the rim: dw/dt = -cf m g r / J, J = m r^2 / 2, whatever the number of contacts
    for count in (3, 8, 30):
        sim = Simulator(disc.build(contacts=count, friction=0.3), dt=0.005, cone="exact")
        sim.set_state(w=[[0, 0, 10.0]])
        advance(sim, 100)
        expected = 10.0 - 0.3 * GRAVITY / (0.5 * 0.5) * 0.5
        assert sim.state.w[0, 0, 2] == pytest.approx(expected, abs=0.01)


def test_a_robot_stands_and_walks():
    sim = Simulator(unitree_a1.build(), dt=0.005, num_envs=3, tolerance=1e-6, cone="exact")
    sim.set_joint_state(STANDING)
    iterations = advance(
        sim,
        200,
        lambda: sim.status.iterations.mean(),
        target=lambda k: STANDING + 0.2 * np.sin(0.1 * k + np.arange(12)),
    )
    assert iterations[5:].mean() < 8
    assert not sim.status.relaxed.any()


def check_law(scene: Scene) -> None:
    """The equations of the step, with the forces that the simulator tells: dynamics (joints may push as they like), and
    Coulomb's law contact by contact."""
    m = scene.mechanism
    sim = Simulator(m, dt=DT, tolerance=1e-9, cone="exact", compiled=False)
    x, q, v, w = scene.state
    sim.set_state(x=x, q=q, v=v, w=w)
    sim.step(scene.effort, scene.force, scene.torque)
    status = sim.status
    assert status.converged[0]
    if status.substeps[0] > 1 or status.relaxed[0]:
        check_law.others += 1
        return
    state = [np.asarray(part, float) for part in scene.state]
    problem = reference.Problem(m, state, DT, scene.effort, scene.force, scene.torque)
    V = np.concatenate([sim.state.v[0], sim.state.w[0]], -1).ravel()
    y = np.zeros(problem.ends[-1] + len(problem.A))
    y[: len(V)] = V
    dynamics = problem.equations(y)[: len(V)]
    force, gap = sim.contact_forces()[0], sim.contact_gaps()[0]
    B = reference.friction_map(m, problem.x, problem.q)
    after, twists = reference.move(problem.x, problem.q, V.reshape(-1, 6), DT), V.reshape(-1, 6)
    slides = reference.slides(m, (problem.x, problem.q), after, twists, DT).reshape(-1, 2)
    N = reference.gaps(m, *reference.perturb(problem.x, problem.q)).imag.T / reference.EPS
    scale = 1.0 + np.abs(force).max()
    for k, contact in enumerate(m.contacts):
        gamma, beta = force[k] @ contact.normal, np.asarray(contact.tangents) @ force[k]
        slip, size = slides[k], np.linalg.norm(beta)
        dynamics = dynamics - N[k] * gamma - B[k].T @ beta
        assert gap[k] > -1e-9
        assert gamma > -1e-9
        assert gamma * gap[k] < 1e-8
        assert size <= contact.friction * gamma + 1e-8 * scale
        speed = np.linalg.norm(slip)
        if speed > 1e-4:  # slides: all of the friction, against the motion; products to 1e-9 leave 1e-9 / speed
            np.testing.assert_allclose(beta, -contact.friction * gamma * slip / speed, atol=1e-4 * scale)
            check_law.sliding += size > 1e-3
    free = dynamics - problem.G.T @ np.linalg.lstsq(problem.G.T, dynamics, rcond=None)[0]
    np.testing.assert_allclose(free, 0.0, atol=1e-7 * scale)
    check_law.solved += 1


def test_random_mechanisms_obey_coulomb():
    check_law.solved = check_law.others = check_law.sliding = 0
    settings(max_examples=50)(given(random_scenes(contacts=True))(check_law))()  # one scene in five slides, or so
    assert check_law.solved >= 0.9 * 50
    assert check_law.sliding > 3


def test_batches_copies_and_threads_agree():
    sims = [
        Simulator(unitree_a1.build(), dt=0.005, num_envs=n, num_threads=t, cone="exact") for n, t in ((1, 1), (9, 2))
    ]
    for sim in sims:
        sim.set_joint_state(STANDING)
        advance(sim, 30, target=STANDING + 0.1)
    np.testing.assert_array_equal(sims[1].state.x, np.repeat(sims[0].state.x, 9, axis=0))
    copy = pickle.loads(pickle.dumps(sims[0]))
    assert copy.cone == "exact"
    for sim in (copy, sims[0]):
        advance(sim, 5, target=STANDING)
    np.testing.assert_array_equal(copy.state.x, sims[0].state.x)


def test_gradients_of_a_sliding_block():
    # central differences of whole steps; the block slides askew, so that friction turns with the velocity
    m = on_planes(NORMALS[:1], 0.3, PLATE)
    sim = Simulator(m, dt=0.01, tolerance=1e-9, cone="exact")
    direction = frames(m)[0][0] + 0.6 * frames(m)[0][1]
    push = {"force": slope(m, np.zeros(1), 0.0)}
    sim.set_state(v=[direction])
    advance(sim, 2, **push)
    saved, start = sim.save(), sim.state
    sim.step(**push)
    gradients = sim.gradients("friction")
    for k in range(3):
        ends = []
        for sign in (1, -1):
            sim.restore(saved)
            v = start.v.copy()
            v[0, 0, k] += sign * 1e-5
            sim._lanes.set("v", v)
            sim.step(**push)
            ends.append(sim.state)
        np.testing.assert_allclose(gradients.state[0, :, 6 + k], change(*ends)[0] / 2e-5, atol=5e-4)
    # d v / d cf = -g h along the motion, shared by four contacts
    total = gradients["friction"][0, 6:9].sum(-1)
    np.testing.assert_allclose(np.linalg.norm(total), GRAVITY * 0.01, rtol=1e-3)
