"""The classics beside Gymnasium's own: the same robots, states, observations, rewards, ends, and motion where nothing
touches."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from vigym import InputError
from vigym.engine.rotation import rotate
from vigym.envs.env import load_task
from vigym.envs.registration import CLASSICS

mujoco = pytest.importorskip("mujoco", reason='pip install "gymnasium[mujoco]"')

THEIRS = {
    "VIInvertedPendulum-v0": "InvertedPendulum-v5",
    "VIInvertedDoublePendulum-v0": "InvertedDoublePendulum-v5",
    "VIReacher-v0": "Reacher-v5",
    "VIPusher-v0": "Pusher-v5",
    "VIHopper2D-v0": "Hopper-v5",
    "VIWalker2d-v0": "Walker2d-v5",
    "VIHalfCheetah-v0": "HalfCheetah-v5",
    "VIAnt-v0": "Ant-v5",
    "VIHumanoid-v0": "Humanoid-v5",
    "VIHumanoidStandup-v0": "HumanoidStandup-v5",
}
COMPARED = {
    "VIAnt-v0": 27,
    "VIInvertedDoublePendulum-v0": 8,
    "VIHumanoid-v0": 270,
    "VIHumanoidStandup-v0": 270,
}  # elements before those that are forces of constraints
ROOT_Z = {"VIHopper2D-v0": 1, "VIWalker2d-v0": 1, "VIHalfCheetah-v0": 1, "VIAnt-v0": 2}  # in qpos
ROOT_Z |= {"VIHumanoid-v0": 2, "VIHumanoidStandup-v0": 2}
EXTRA_MASS = {"VIHumanoid-v0": 1e-5, "VIHumanoidStandup-v0": 1e-5}  # part of the whole, of the hips
ENDLESS = "VIReacher-v0", "VIPusher-v0", "VIHalfCheetah-v0", "VIHumanoidStandup-v0"
CONTACT_TERMS = "reward_contact", "reward_impact"
SPREAD = {"VIInvertedPendulum-v0": 0.003}  # of states around the middle, so that the pole does not reach its limit
ACTING = {
    "VIAnt-v0": 0.005,
    "VIHumanoid-v0": 0.02,
    "VIHumanoidStandup-v0": 0.02,
}  # part of the largest action, so that no limit is reached; 0.05 otherwise


@pytest.fixture(params=list(CLASSICS))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def pair(name: str, **arguments: Any) -> tuple[Any, Any]:
    """An environment of ours and Gymnasium's, without wrappers."""
    return gym.make(name, **arguments).unwrapped, gym.make(THEIRS[name]).unwrapped


def inner_state(name: str, theirs: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A state of MuJoCo's model with all joints within their limits, in the air."""
    model, qpos = theirs.model, theirs.init_qpos.copy()
    for j in np.flatnonzero(model.jnt_limited):
        low, high = model.jnt_range[j]
        qpos[model.jnt_qposadr[j]] = 0.5 * (low + high) + SPREAD.get(name, 0.1) * (high - low) * rng.uniform(-1, 1)
    if name in ROOT_Z:
        qpos[ROOT_Z[name]] += 20.0
    if ROOT_Z.get(name) == 2:  # one that floats
        q = rng.standard_normal(4)
        qpos[3:7] = q / np.linalg.norm(q)
    return qpos, 3.0 * SPREAD.get(name, 0.1) * rng.standard_normal(model.nv)


def test_the_robot_is_the_same(name):
    """MuJoCo's reading of Gymnasium's file: total mass, and the kinetic energy of random velocities, which has all
    masses, inertias, lengths and armatures in it."""
    ours, theirs = pair(name)
    model, data, task = theirs.model, theirs.data, ours.task
    rng = np.random.default_rng(1)
    bodies = task.sim.model.mechanism.bodies
    assert sum(body.mass for body in bodies) == pytest.approx(
        model.body_mass[1:].sum(), rel=EXTRA_MASS.get(name, 1e-12)
    )
    for _ in range(3):
        qpos, qvel = inner_state(name, theirs, rng)
        theirs.set_state(qpos, qvel)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        ours.set_mujoco_state(qpos, qvel)
        u, first = np.zeros(model.nv), 6 if task.floats else 0
        u[:first] = qvel[:first]
        if first:  # velocity of the torso's centre of mass
            u[:3] += rotate(qpos[3:7], np.cross(qvel[3:6], task.origin))
        u[first:] = qvel[first + task.places]
        expected = 0.5 * qvel @ M @ qvel
        assert 0.5 * u @ task.sim.mass_matrix()[0] @ u == pytest.approx(expected, rel=EXTRA_MASS.get(name, 1e-9))


def test_limits_motors_and_dampers_are_the_same(name):
    ours, theirs = pair(name)
    model, task = theirs.model, ours.task
    first = 6 if task.floats else 0
    for axis, place in enumerate(task.places):
        dof = first + place
        j = model.dof_jntid[dof]
        joint, k = next(
            (joint, axis - start)
            for joint, start in starts(task.sim.model.mechanism)
            if start <= axis < start + joint.n_free
        )
        expected = model.jnt_range[j] if model.jnt_limited[j] else (-np.inf, np.inf)
        np.testing.assert_allclose((joint.lower[k], joint.upper[k]), expected, rtol=1e-12)
        found = joint.damping[k], joint.armature[k], joint.stiffness[k]
        stiffness = np.ravel(model.jnt_stiffness[j])[0]
        damping = np.ravel(model.dof_damping[dof])[0]
        np.testing.assert_allclose(found, (damping, model.dof_armature[dof], stiffness), rtol=1e-12)
    assert model.opt.timestep == pytest.approx(task.sim.dt)
    assert theirs.frame_skip == task.frame_skip
    np.testing.assert_allclose(model.opt.gravity, task.sim.model.mechanism.gravity)
    for k in range(model.nu):
        dof = model.jnt_dofadr[model.actuator_trnid[k, 0]]
        assert task.places[task.driven[k]] == dof - first
        assert model.actuator_gear[k, 0] == task.forces[k]


def starts(mechanism: Any) -> list[tuple[Any, int]]:
    """Joints and the number of their first axis."""
    free = np.cumsum([0, *(joint.n_free for joint in mechanism.joints)])
    return list(zip(mechanism.joints, free, strict=False))


def test_spaces_and_starts_are_the_same(name):
    """The same seed starts where Gymnasium starts, also if that is beyond limits or in the ground."""
    ours, theirs = pair(name)
    assert ours.action_space == theirs.action_space
    assert ours.observation_space.shape == theirs.observation_space.shape
    assert ours.dt == pytest.approx(theirs.dt)
    n = COMPARED.get(name)
    for seed in range(5):
        (mine, told), (other, expected) = ours.reset(seed=seed), theirs.reset(seed=seed)
        np.testing.assert_allclose(mine[:n], other[:n], rtol=0, atol=1e-12)
        for key, value in expected.items():
            np.testing.assert_allclose(told[key], value, rtol=0, atol=1e-12)


def test_states_of_mujoco(name):
    """Observation, reward and end of the same state: a step of no length, as Gymnasium judges what MuJoCo has."""
    ours, theirs = pair(name)
    ours.reset(seed=0)
    theirs.reset(seed=0)
    rng, n = np.random.default_rng(2), COMPARED.get(name)
    ended = set()
    for _ in range(40):
        qpos, qvel = inner_state(name, theirs, rng)
        if name in ROOT_Z:
            qpos[ROOT_Z[name]] += rng.uniform(-0.8, 1.0) - 20.0
        if name.startswith("VIInverted"):
            qpos[1] = rng.uniform(-1.5, 1.5)  # angles of which some end the episode
        theirs.data.ctrl[:] = 0.0
        theirs.set_state(qpos, qvel)
        mine = ours.set_mujoco_state(qpos, qvel)
        np.testing.assert_allclose(mine[:n], theirs._get_obs()[:n], rtol=0, atol=1e-9)
        action = rng.uniform(-1, 1, ours.action_space.shape) * ours.action_space.high
        judged, expected = judge_at_rest(name, ours, action), gymnasium_judges(name, theirs, action)
        ended.add(expected[0])
        assert judged[0] == expected[0]
        for key, value in expected[1].items():
            assert judged[1][key] == pytest.approx(value, abs=1e-9), key
    assert ended == ({False} if name in ENDLESS else {False, True})


def judge_at_rest(name: str, ours: Any, action: np.ndarray) -> tuple[bool, dict[str, float]]:
    """Our judgement of the state that is, as after a step in which nothing moved."""
    task = ours.task
    task.action[:] = action
    task.elapsed[:] = 1
    task.sense(task.everyone)
    return bool(task.terminated()[0]), {key: float(value[0]) for key, value in task.told().items() if value.ndim == 1}


def gymnasium_judges(name: str, theirs: Any, action: np.ndarray) -> tuple[bool, dict[str, float]]:
    """Gymnasium's, with its own functions and MuJoCo standing still."""
    theirs.do_simulation = lambda ctrl, frames: np.copyto(theirs.data.ctrl, ctrl)
    try:
        _, _, terminated, _, info = theirs.step(action)
    finally:
        del theirs.do_simulation
    numbers = {key: float(value) for key, value in info.items() if np.ndim(value) == 0}
    return bool(terminated), {key: value for key, value in numbers.items() if key not in CONTACT_TERMS}


def rollouts(name: str, parts: tuple[int, ...], steps: int = 20) -> list[float]:
    """Largest error of coordinates and velocities over some control steps in the air, against MuJoCo at a sixteenth of
    its step, for our step divided by each of `parts`."""
    theirs = gym.make(THEIRS[name]).unwrapped
    model, data, rng = theirs.model, theirs.data, np.random.default_rng(3)
    qpos, qvel = inner_state(name, theirs, rng)
    size = ACTING.get(name, 0.05) * model.actuator_ctrlrange[:, 1]
    actions, dt, fine = size * rng.uniform(-1, 1, (steps, model.nu)), model.opt.timestep, 16
    if name == "VIPusher-v0":  # the object stands on it all the time, without friction: no force that moves anything
        model.geom("table").contype = model.geom("table").conaffinity = 0
    theirs.set_state(qpos, qvel)
    model.opt.timestep, model.opt.integrator = dt / fine, mujoco.mjtIntegrator.mjINT_RK4
    expected = []
    for action in actions:
        data.ctrl[:] = action
        mujoco.mj_step(model, data, fine * theirs.frame_skip)
        assert data.ncon == data.nefc == 0, "the comparison is for motion without contacts and limits"
        expected.append(np.concatenate([data.qpos, data.qvel]))
    errors = []
    for part in parts:
        ours = gym.make(name, dt=dt / part, frame_skip=theirs.frame_skip * part).unwrapped
        ours.set_mujoco_state(qpos, qvel)
        now, seen = ours.task.now, []
        for action in actions:
            ours.task.step(action[None])
            seen.append(np.concatenate([now["qpos"][0], now["qvel"][0]]))
        errors.append(np.abs(np.array(seen) - expected).max())
    return errors


def test_motion_without_contact_is_that_of_mujoco(name):
    """20 control steps under the same actions. Velocities are means of a step, which is half a step behind: an error of
    first order, which halves with the step. What is left of it at a step of 0 is of second order."""
    coarse, fine = rollouts(name, (2, 4))
    assert 1.85 < coarse / fine < 2.2
    assert abs(2 * fine - coarse) < 0.1 * coarse


def test_states_that_cannot_be(name):
    ours = gym.make(name).unwrapped
    ours.reset(seed=0)
    nq, nv = ours.task.nq, ours.task.nv
    for qpos, qvel in ((np.zeros(nq + 1), np.zeros(nv)), (np.zeros(nq), np.zeros(nv - 1)), (np.full(nq, np.nan), 0.0)):
        with pytest.raises(InputError, match=r"qpos|qvel"):
            ours.set_mujoco_state(qpos, qvel)
    if ours.task.floats:
        with pytest.raises(InputError, match="quaternion"):
            ours.set_mujoco_state(np.zeros(nq), np.zeros(nv))


def test_a_batch_takes_states_of_mujoco():
    batch, alone = gym.make_vec("VIAnt-v0", num_envs=3), gym.make("VIAnt-v0").unwrapped
    theirs = gym.make("Ant-v5").unwrapped
    states = [inner_state("VIAnt-v0", theirs, np.random.default_rng(k)) for k in range(3)]
    seen = batch.unwrapped.task.set_mujoco_state(*(np.array(part) for part in zip(*states, strict=True)))
    for k, state in enumerate(states):
        np.testing.assert_array_equal(seen[k], alone.set_mujoco_state(*state))


def test_every_classic_is_compared():
    assert set(THEIRS) == set(CLASSICS)
    for name, (task, *_) in CLASSICS.items():
        assert f"`{THEIRS[name]}`" in (load_task(task).__doc__ or "")
        assert f"Differences from `{THEIRS[name]}`" in (load_task(task).__doc__ or "")


def test_the_fork_pushes_the_object():
    """The arm sweeps down onto the table and round: fork and table part, and the object is pushed, not passed."""
    env = gym.make("VIPusher-v0").unwrapped
    env.reset(seed=0)
    env.set_mujoco_state([0.0] * 7 + [-0.15, -0.05, 0.0, 0.0], np.zeros(11))  # the object is in the way
    task = env.task
    sim, first = task.sim, task.now["object"][0].copy()
    for k in range(60):
        env.step(np.array([-0.3 if k < 20 else 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], np.float32))
        assert not task.now["solver_failed"][0]
        assert sim.distance("wrist", "world")[0] > -1e-9
        assert sim.distance("wrist", "object")[0] > -1e-9
    assert np.linalg.norm(task.now["object"][0] - first) > 0.1
    assert task.now["object"][0, 2] == pytest.approx(first[2], abs=1e-9)


@pytest.mark.parametrize("name", ["VIHalfCheetah-v0", "VIHumanoidStandup-v0"])
def test_resets_in_which_solids_overlap_part_them(name):
    """The deepest overlap of 40 starts never becomes deeper, shrinks by no more than a length a second, and ends."""
    from apart import Apart

    ours = gym.make(name).unwrapped
    sim = ours.task.sim
    judge, starts = Apart(sim.model.mechanism), {}
    for seed in range(40):
        ours.reset(seed=seed)
        starts[judge.distances(sim.state.x[0], sim.state.q[0]).min()] = seed
    assert -0.1 < min(starts) < -0.01
    ours.reset(seed=starts[min(starts)])
    before = judge.distances(sim.state.x[0], sim.state.q[0])
    for _ in range(round(1.0 / sim.dt)):
        sim.step()
        assert sim.status.converged.all()
        now = judge.distances(sim.state.x[0], sim.state.q[0])
        assert (now >= np.minimum(before, 0.0) - judge.allowed).all()
        deep = before < 0.0
        assert (np.minimum(now, 0.0) - before)[deep].max(initial=0.0) <= 1.0 * sim.dt + 1e-9
        before = now
    assert (before >= -judge.allowed).all()
