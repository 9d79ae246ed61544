"""VIHopper-v0: what counts as a turn, what it is worth, where an episode ends."""

import gymnasium as gym
import numpy as np
import pytest

from vigym.assets import hopper
from vigym.engine.kernels.dependencies import fingerprint
from vigym.envs.hopper import AXIS, FULL, Hopper, judge
from vigym.envs.hopper_base import TORQUE

NAMES = Hopper().observation_names()
LEFT, RISEN, ALOFT, LANDED, TIME = range(NAMES.index("what is left of the turn"), len(NAMES))


def airborne(spin: float, height: float = 3.0, axis: np.ndarray = AXIS, **kwargs) -> Hopper:
    """In the air at rest but for an angular velocity of `spin` rad/s about an axis of the world."""
    task = Hopper(reset_noise_scale=0.0, **kwargs)
    rng = np.random.default_rng(0)
    task.reset(np.zeros(1, np.int64), [rng], {})
    task.sim.set_joint_state([0.0], x=[[0, 0, height], [0, 0, 0]], w=[spin * axis, spin * axis])
    task.now["aloft"], task.now["rate"] = True, spin * axis @ AXIS  # as if it had been in the air before
    return task


def steps(task: Hopper, n: int, action=(0.0, 0.0, 0.0, 0.0)) -> list[dict]:
    """All infos of n control steps."""
    infos = []
    for _ in range(n):
        task.step(np.array([action], float))
        infos.append(task.told())
    return infos


# -------------------- the state is read right


def test_kinematics_are_those_of_the_engine():
    env = gym.make_vec("VIHopper-v0", num_envs=7, reset_noise_scale=0.2, terminate_when_unhealthy=False)
    env.reset(seed=4)
    task, rng, touched = env.task, np.random.default_rng(0), 0
    for _ in range(40):
        env.step(rng.uniform(-1, 1, (7, 4)))
        sim = task.sim
        touching = task.now["touching"]
        np.testing.assert_allclose(task.now["foot"], sim.contact_gaps()[:, 0], atol=1e-12)
        velocity = np.linalg.norm(sim.contact_velocities()[:, 0, :2], axis=-1)
        np.testing.assert_allclose(task.now["slip"], np.where(touching, velocity, 0.0), atol=1e-9)  # joints: 1e-10
        loaded = np.linalg.norm(sim.contact_forces()[:, 0], axis=-1) > 1e-3
        assert (touching[loaded]).all()
        touched += loaded.sum()
    assert touched > 20


def test_compiled_code_is_kept_by_its_constants(monkeypatch):
    before = fingerprint(judge)
    assert fingerprint(judge) == before
    monkeypatch.setitem(judge.py_func.__globals__, "FULL", 1.0)
    assert fingerprint(judge) != before


def test_actions_are_a_force_and_torques():
    task = Hopper(num_envs=2)
    controls = task.controls(np.array([[0.5, 1.0, -0.5, 0.2], [0.0, 0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(controls["effort"], [[30.0], [0.0]])
    np.testing.assert_allclose(controls["torque"][0], [[5.0, -2.5, 0.02], [0.0, 0.0, 0.0]])
    assert (TORQUE <= hopper.TORQUE_LIMIT).all()


# -------------------- what counts as a turn


@pytest.mark.parametrize("spin", [5.0, -5.0, 40.0])
def test_a_turn_in_the_air_is_counted(spin):
    # a rod goes on spinning about an axis across it, by h w in every step
    task = airborne(spin)
    steps(task, 10, (-0.5, 0.0, 0.0, 0.0))
    assert FULL - task.now["left"][0] == pytest.approx(spin * 10 * task.dt, rel=2e-3)
    assert task.info()["turn"][0] == pytest.approx(np.degrees(spin * 10 * task.dt), rel=2e-3)
    assert task.now["R"][0, 2, 2] == pytest.approx(np.cos(spin * 10 * task.dt), abs=2e-3 * abs(spin) * 10 * task.dt)


def test_steps_at_the_ends_of_a_jump_count_by_half():
    task = airborne(0.5, height=0.405)  # the foot 5 mm up: it lands in the second step, after 32 ms
    task.now["left"], task.now["rise"], task.now["aloft"] = FULL - 4.0, 0.0, False
    steps(task, 1)
    assert task.now["aloft"][0]
    first = FULL - task.now["left"][0] - 4.0
    assert first == pytest.approx(0.5 * 0.5 * task.dt, rel=2e-3)
    before = task.now["rate"][0]
    steps(task, 1)
    assert not task.now["aloft"][0]
    assert task.now["landed"][0]
    second = FULL - task.now["left"][0] - 4.0 - first
    assert second == pytest.approx(0.5 * 0.5 * (before + task.now["rate"][0]) * task.dt, rel=1e-9)


def test_only_the_part_about_the_axis_counts():
    across = np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0)
    for axis in (across, np.array([0.0, 0.0, 1.0])):
        task = airborne(5.0, axis=axis)
        steps(task, 10)
        assert abs(FULL - task.now["left"][0]) < 1e-9


def test_turning_on_the_ground_does_not_count():
    task = Hopper(reset_noise_scale=0.0)
    task.reset(np.zeros(1, np.int64), [np.random.default_rng(0)], {})
    terms = steps(task, 8, (0.0, 0.1, 0.1, 0.0))  # tips over its foot
    assert task.now["tilt"][0] > 2.5
    assert task.now["left"][0] == FULL
    assert not any(task.now[name][0] for name in ("rise", "aloft", "landed"))
    assert all(term["reward_turn"] == 0.0 for term in terms)
    assert terms[-1]["reward_spin"] < 0.0


def test_a_jump_without_a_turn_is_worth_nothing():
    env = gym.make("VIHopper-v0", reset_noise_scale=0.0).unwrapped
    env.reset(seed=0)
    gained, highest, flew = 0.0, 0.0, False
    for k in range(40):
        seen, _, _, _, info = env.step([1.0 if k < 2 else -1.0, *[0.02 if k == 3 else 0.0] * 2, 0.0])
        gained += info["reward_turn"] + info["reward_jump"]
        highest = max(highest, seen[RISEN])
        flew |= seen[ALOFT] > 0
        if flew and not seen[ALOFT]:
            break
    assert flew
    assert not seen[ALOFT]
    assert not info["landed"]
    assert seen[LEFT] == FULL
    assert highest > 0.01
    assert abs(gained) < 1e-12


@pytest.mark.parametrize("turned", [200.0, 300.0, 355.0, 420.0])
def test_the_turn_of_a_landing_remains(turned):
    task = airborne(0.0, height=0.45)
    steps(task, 1)
    task.now["left"] = FULL - np.radians(turned)
    while not task.now["touching"][0]:
        steps(task, 1)
    assert task.info()["landed"][0]
    assert task.info()["turn"][0] == pytest.approx(turned)
    # at rest (but for what the impact left), upright: the term's closed form
    steps(task, 5)
    terms = steps(task, 1)[0]
    error = (turned - 360.0) / 20.0
    assert terms["reward_stand"][0] == pytest.approx(1.0 / (1.0 + error**2), rel=1e-3)
    steps(task, 42)
    assert not task.info()["success"][0]  # after 49 steps
    steps(task, 1)
    assert task.info()["success"][0] == (turned == 355.0)
    assert task.now["tilt"][0] < 1.0


def test_rewards_of_a_turn_add_up_to_their_weight():
    task, retract = airborne(FULL / 0.4), (-0.5, 0.0, 0.0, 0.0)  # or the leg flies out, and the turn slows down
    gained = sum(term["reward_turn"][0] for term in steps(task, 20, retract))
    assert gained == pytest.approx(20.0, rel=1e-3)
    more = sum(term["reward_turn"][0] for term in steps(task, 5, retract))
    assert more == pytest.approx(-20.0 * 5 / 20, rel=1e-3)  # too far is as bad as too little


def test_the_height_of_a_jump_counts_once_and_up_to_its_limit():
    task = airborne(0.0, height=0.9)
    task.sim.set_state(v=[[0, 0, 2.0], [0, 0, 2.0]])
    terms = steps(task, 1)[0]
    assert terms["reward_jump"][0] == pytest.approx(60.0 * (task.state.x[0, 0, 2] - 0.4) / 0.6)
    assert sum(term["reward_jump"][0] for term in steps(task, 8)) == pytest.approx(60.0 - terms["reward_jump"][0])
    assert task.state.x[0, 0, 2] > 1.05


def test_uprightness_counts_after_half_a_turn():
    task, retract = airborne(FULL / 0.4), (-0.5, 0.0, 0.0, 0.0)
    gained = np.cumsum([term["reward_upright"][0] for term in steps(task, 20, retract)])
    angle = FULL * np.arange(1, 21) / 20
    expected = np.where(angle > 1.001 * np.pi, 40.0 * np.cos(angle / 2) ** 2, 0.0)
    np.testing.assert_allclose(gained, expected, atol=40.0 * 2e-3 * FULL)  # angles are good to 2e-3


# -------------------- starts and ends


def test_starts_stand_on_the_foot():
    env = gym.make_vec("VIHopper-v0", num_envs=20, reset_noise_scale=0.1)
    seen, info = env.reset(seed=0)
    assert not seen[:, [RISEN, ALOFT, LANDED, TIME]].any()
    assert (seen[:, LEFT] == FULL).all()
    assert env.task.now["touching"].all()
    assert (env.task.now["foot"] >= 0.0).all()
    assert seen[:, NAMES.index("leg")].min() >= 0.0
    assert seen[:, NAMES.index("leg")].max() <= 0.1
    assert 1.0 < info["tilt"].max() < np.degrees(0.1 * np.sqrt(2))


def test_the_sphere_ends_the_episode_at_the_ground():
    env = gym.make("VIHopper-v0", reset_noise_scale=0.05).unwrapped
    env.reset(seed=0)
    for _ in range(200):
        _, _, terminated, _, info = env.step(np.zeros(4))
        if terminated:
            break
    assert terminated
    assert info["z_position"] < hopper.SPHERE_RADIUS
    assert not info["solver_failed"]


def test_the_upper_end_ends_the_episode_at_the_ground():
    task = airborne(0.0, height=0.5)
    task.sim.set_joint_state([0.3], x=[[0, 0, 0.35], [0, 0, 0]], q=[[0, 1, 0, 0], [1, 0, 0, 0]], mask=[True])
    _, _, terminated = task.step(np.zeros((1, 4)))  # head down: upper end 0.1 m below the sphere
    assert not terminated[0]
    for _ in range(20):
        _, _, terminated = task.step(np.zeros((1, 4)))
        if terminated[0]:
            break
    assert terminated[0]
    assert task.state.x[0, 0, 2] < 0.1 + 0.05


def test_time_and_maximal_observation():
    env = gym.make("VIHopper-v0", observation="maximal", exclude_current_positions_from_observation=False)
    seen, _ = env.reset(seed=0)
    assert seen.shape == (2 * 13 + 11,)
    for _ in range(3):
        seen = env.step(np.zeros(4))[0]
    assert seen[-1] == pytest.approx(0.06)
