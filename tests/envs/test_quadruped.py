"""VIQuadruped-v0: what it is told, sees and is paid for, and where it ends; against the engine and in plain NumPy."""

import gymnasium as gym
import numpy as np
import pytest
import scenes

from vigym import InputError
from vigym.assets import unitree_a1
from vigym.envs.controllers.quadruped import QuadrupedTrot
from vigym.envs.quadruped import Quadruped

CALVES = [3, 6, 9, 12]


def started(num_envs: int = 4, seed: int = 0, **kwargs) -> Quadruped:
    options = {"command": kwargs.pop("command")} if "command" in kwargs else {}
    task = Quadruped(num_envs=num_envs, **kwargs)
    task.reset(np.arange(num_envs), [np.random.default_rng(seed + i) for i in range(num_envs)], options)
    return task


def moved(steps: int = 12, scale: float = 0.4, **kwargs) -> Quadruped:
    """After random actions, some of them in the middle of a fall."""
    task = started(num_envs=6, reset_noise_scale=0.1, **kwargs)
    rng = np.random.default_rng(1)
    for _ in range(steps):
        task.step(rng.uniform(-scale, scale, (6, 12)))
    return task


def foot_centres(task: Quadruped) -> np.ndarray:
    x, R = task.state.x[:, CALVES], scenes.matrix(task.state.q[:, CALVES])
    return x + np.einsum("nfij,fj->nfi", R, task.foot_points)


# -------------------- actions


def test_without_action_it_stands_still():
    task = started(num_envs=1, reset_noise_scale=0.0)
    before = task.state.x
    for _ in range(50):
        task.step(np.zeros((1, 12)))
    # the equilibrium of the drives: nothing moves but by the solver's tolerance, 1e-6 N, over 200 steps
    assert np.abs(task.state.x - before).max() < 1e-6
    np.testing.assert_allclose(task.sim.joint_positions()[0], unitree_a1.STANDING, atol=1e-6)


def test_targets_stay_within_the_limits_of_the_joints():
    task = started(action_scale=10.0)
    lower, upper = (np.tile([unitree_a1.LIMITS[part][k] for part in unitree_a1.PARTS], 4) for k in (0, 1))
    np.testing.assert_array_equal(task.controls(-np.ones((4, 12)))["target"], np.tile(lower, (4, 1)))
    np.testing.assert_array_equal(task.controls(np.ones((4, 12)))["target"], np.tile(upper, (4, 1)))


def test_torques():
    task = started(actuation="torque")
    action = np.random.default_rng(0).uniform(-1, 1, (4, 12))
    assert list(task.controls(action)) == ["effort"]
    np.testing.assert_array_equal(task.controls(action)["effort"], 33.5 * action)
    task.step(action)
    terms = task.rewards()
    np.testing.assert_allclose(terms["reward_ctrl"], -1e-4 * (33.5**2 * action**2).sum(-1))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"actuation": "muscle"}, "actuation must be"),
        ({"terrain": "moon"}, "terrain must be"),
        ({"terrain": "steps", "step_height": 0.0}, "no stairs"),
        ({"observation": "joints"}, "observation must be"),
    ],
)
def test_bad_arguments(kwargs, message):
    with pytest.raises(InputError, match=message):
        Quadruped(**kwargs)


# -------------------- commands and observation


def test_commands_are_drawn_from_their_ranges_or_given():
    env = gym.make_vec("VIQuadruped-v0", num_envs=32, x_velocity_range=(0.3, 0.4), y_velocity_range=(0.0, 0.0))
    _, info = env.reset(seed=0)
    command = info["command"]
    assert ((command >= [0.3, 0.0, -0.4]) & (command <= [0.4, 0.0, 0.4])).all()
    assert command[:, [0, 2]].std(0).min() > 0.02
    observation, info = env.reset(options={"command": (0.1, -0.2, 0.3)})
    np.testing.assert_array_equal(info["command"], np.tile([0.1, -0.2, 0.3], (32, 1)))
    np.testing.assert_array_equal(observation[:, 34:37], info["command"])
    for bad in ((0.1, 0.2), (np.nan, 0, 0)):
        with pytest.raises(InputError, match="command"):
            env.reset(options={"command": bad})


@pytest.mark.parametrize("kwargs", [{}, {"terrain": "incline", "slope": 0.2}])
def test_observation(kwargs):
    task = moved(**kwargs)
    x, q, v, w = (part[:, 0] for part in task.state)
    R = scenes.matrix(q)
    normal = np.array([-np.sin(0.2), 0, np.cos(0.2)]) if kwargs else np.array([0, 0, 1.0])
    clock = 2 * np.pi * 12 * 0.02 / 0.5
    parts = [(x @ normal)[:, None], R[:, 2], task.sim.joint_positions(), np.einsum("nij,ni->nj", R, v), w]
    told = np.tile([np.cos(clock), np.sin(clock)], (6, 1))
    parts += [task.sim.joint_velocities(), task.now["command"], told, task.action]
    np.testing.assert_allclose(task.observe(), np.concatenate(parts, -1), atol=1e-12)


def test_choices_of_observation():
    assert started(exclude_current_positions_from_observation=False).observe().shape == (4, 53)
    task = started(observation="maximal")
    assert task.observe().shape == (4, 13 * 13 + 17) == (4, len(task.observation_names()))


# -------------------- feet, rewards and ends


@pytest.mark.parametrize("kwargs", [{}, {"terrain": "incline", "slope": 0.2}])
def test_gaps_and_slip_are_the_engines(kwargs):
    task = moved(steps=8, **kwargs)
    gaps, velocity = task.sim.contact_gaps(), task.sim.contact_velocities()
    np.testing.assert_allclose(task.now["foot_clearance"], gaps, atol=1e-12)
    normal = np.array([contact.normal for contact in task.sim.model.mechanism.contacts])
    tangential = velocity - (velocity * normal).sum(-1, keepdims=True) * normal
    touching = gaps < 1e-6
    assert touching.any()
    assert not touching.all()
    expected = np.where(touching, np.linalg.norm(tangential, axis=-1), 0.0)
    # the square root of a sum of squares at rounding level, where a foot sticks
    np.testing.assert_allclose(task.now["foot_slip"], expected, atol=1e-7)
    assert task.now["foot_slip"].max() > 1e-3


def test_rewards():
    task = moved(steps=10, actuation="pd")
    last, task.now["command"][0] = task.action.copy(), 0.0  # the first is told to stand still
    action = np.random.default_rng(5).uniform(-1, 1, (6, 12))
    terminated, terms, info = task.step(action).terminated, task.rewards(), task.told()
    R = scenes.matrix(task.state.q[:, 0])
    velocity, w = np.einsum("nij,ni->nj", R, task.state.v[:, 0]), task.state.w[:, 0]
    clock = 2 * np.pi * (11 * 0.02 / 0.5 + np.array([0, 0.5, 0.5, 0]))
    wanted = np.where(np.arange(6)[:, None] == 0, 0.0, 0.06 * np.maximum(np.sin(clock), 0))
    joints, rates = task.sim.joint_positions(), task.sim.joint_velocities()
    lower, upper = (np.tile([unitree_a1.LIMITS[part][k] for part in unitree_a1.PARTS], 4) for k in (0, 1))
    kp, kd = np.tile(unitree_a1.KP, 4), np.tile(unitree_a1.KD, 4)
    neutral = unitree_a1.STANDING + unitree_a1.holding_torques() / kp
    torque = np.clip(kp * (np.clip(neutral + 0.5 * action, lower, upper) - joints) - kd * rates, -33.5, 33.5)
    beyond = np.maximum(np.maximum(lower + 0.05 - joints, joints - upper + 0.05), 0)
    feet = foot_centres(task)[..., 2] - 0.02
    expected = {
        "reward_velocity": np.exp(-((velocity - task.now["command"])[:, :2] ** 2).sum(-1) / 0.09),
        "reward_yaw": 0.5 * np.exp(-((w - task.now["command"])[:, 2] ** 2) / 0.25),
        "reward_feet": 0.5 * np.exp(-((feet - wanted) ** 2).sum(-1) / 0.0025),
        "reward_survive": np.where(terminated, 0.0, 0.5),
        "reward_vertical": -(velocity[:, 2] ** 2),
        "reward_tilt": -0.01 * ((w[:, :2] ** 2).sum(-1) + 50 * (R[:, 2, :2] ** 2).sum(-1)),
        "reward_ctrl": -1e-4 * (torque**2).sum(-1),
        "reward_rate": -0.005 * ((action - last) ** 2).sum(-1),
        "reward_limits": -2.0 * beyond.sum(-1),
        "reward_slip": -0.1 * (task.now["foot_slip"] ** 2).sum(-1),
    }
    assert set(terms) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(terms[name], value, atol=1e-9, err_msg=name)
    assert info["slip"].max() == task.now["foot_slip"].max()


def test_it_ends_before_knees_or_trunk_are_in_the_ground():
    task = started(num_envs=16, reset_noise_scale=0.1)
    rng, alive, low = np.random.default_rng(3), np.ones(16, bool), []
    knees = np.array([task.sim.model.mechanism.joint(f"{leg} calf").child_anchor for leg in unitree_a1.LEGS])
    corners = scenes.corners((0.48, 0.194, 0.114))
    for _ in range(100):
        terminated = task.step(rng.uniform(-1, 1, (16, 12))).terminated
        alive &= ~terminated
        x, R = task.state.x, scenes.matrix(task.state.q)
        knee = x[:, CALVES] + np.einsum("nfij,fj->nfi", R[:, CALVES], knees)
        corner = x[:, :1] + np.einsum("nij,cj->nci", R[:, 0], corners)
        low.append(np.minimum(knee[..., 2].min(-1) - 0.02, corner[..., 2].min(-1)))
        assert (low[-1][alive] > 0).all()
        assert ((x[alive, 0, 2] >= 0.16) & (R[alive, 0, 2, 2] >= np.cos(0.8))).all()
    assert not alive.all()
    assert np.min(low) < 0  # some went on to where they would have been


def test_lift_and_slide_of_a_period():
    task = started(num_envs=2, command=(0.5, 0.0, 0.0))
    peak, slid = np.zeros((2, 4)), np.zeros((2, 4))
    for k in range(1, 51):
        task.step(np.random.default_rng(k).uniform(-0.3, 0.3, (2, 12)))
        info = task.told()
        peak, slid = np.maximum(peak, task.now["foot_clearance"]), slid + 0.02 * task.now["foot_slip"]
        if k % 25 == 0:  # the clock's period, 0.5 s
            np.testing.assert_allclose(info["foot_lift"], peak, atol=1e-12)
            np.testing.assert_allclose(info["foot_slide"], slid, atol=1e-12)
            peak[:], slid[:] = 0.0, 0.0
    assert info["foot_lift"].max() > 1e-3


def test_randomized_gains_count():
    task = started(randomization={"gains": (0.5, 1.5), "strength": (0.5, 1.0)})
    for k, name in enumerate(("kp", "kd", "effort_limit")):
        np.testing.assert_array_equal(task.gains[:, k], task.sim.parameter(name))
    assert task.gains[:, 0].std(0).min() > 1.0


# -------------------- ground


def test_on_an_incline_it_starts_parallel_to_the_ground():
    task = started(terrain="incline", slope=0.2, reset_noise_scale=0.0)
    np.testing.assert_allclose(scenes.matrix(task.state.q[0, 0])[:, 2], [-np.sin(0.2), 0, np.cos(0.2)], atol=1e-12)
    assert np.abs(task.sim.contact_gaps()).max() < 1e-6
    assert task.now["height"][0] == pytest.approx(started(reset_noise_scale=0.0).now["height"][0], abs=1e-6)


def stair_height(x: np.ndarray, rise: float, length: float = 0.4) -> np.ndarray:
    """Height of the stairs."""
    return rise * np.maximum(np.floor((x - 0.5) / length) + 1, 0.0)


@pytest.mark.parametrize("rise", [0.03, -0.03])
def test_feet_stay_out_of_the_stairs(rise):
    task = started(
        num_envs=8, terrain="steps", step_height=rise, command=(0.5, 0.0, 0.0), terminate_when_unhealthy=False
    )
    # from where the stairs are, at all heights above them, and thrown about
    rng = np.random.default_rng(0)
    state = task.state
    shift = np.zeros((8, 1, 3))
    shift[:, 0, 0], shift[:, 0, 2] = rng.uniform(-0.3, 0.2, 8), rng.uniform(0.2, 0.3, 8)
    v = np.tile(rng.uniform([-0.5, -1, -1], [1.5, 1, 1], (8, 1, 3)), (1, 13, 1))
    task.sim.set_state(x=state.x + shift, v=v)
    touched = 0
    for _ in range(60):
        task.step(rng.uniform(-0.5, 0.5, (8, 12)))
        info = task.told()
        assert not info["solver_failed"].any()
        assert info["penetration"].max() < 1e-9
        feet = foot_centres(task)
        clearance = feet[..., 2] - 0.02 - stair_height(feet[..., 0], rise)
        assert clearance.min() > -1e-9
        np.testing.assert_allclose(info["foot_clearance"], clearance, atol=1e-12)
        # no foot is in a riser either: not even the part of it that is higher than the next tread's edge
        seen = task.sim.contacts()
        assert seen.gap.min(initial=0.0) > -1e-9
        touched += len(seen.gap)
    assert touched > 100
    assert len(np.unique(task.now["floors"])) > 1


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_rough_ground(level):
    """Feet stand on it, every start is at another place, and what the task says of slipping is what feet do."""
    task = started(num_envs=4, terrain="rough", bump_level=level, command=(0.5, 0.0, 0.0), reset_noise_scale=0.0)
    assert len(np.unique(task.state.x[:, 0, 0])) == 4
    # the lowest foot is on the ground, or above it by what the ground beside it is steeper
    assert -1e-9 < task.now["foot_clearance"].min(-1).max() < 0.02 * (np.sqrt(1 + 0.8**2) - 1)
    trot = QuadrupedTrot()
    for _ in range(25):
        task.step(trot.act(task.observation))
        assert not task.now["solver_failed"].any()
        assert task.sim.contacts().gap.min() > -1e-9
    feet, before = foot_centres(task), task.now["x_position"].copy()
    task.step(np.zeros((4, 12)))
    assert np.abs(foot_centres(task) - feet).max() < 0.2
    assert np.abs(task.now["x_position"] - before).max() > 1e-4
    assert (task.now["foot_slip"][task.now["foot_clearance"] > 0.01] == 0).all()


def test_on_stairs_a_batch_is_its_environments_and_states_can_be_set_again():
    kwargs = {"terrain": "steps", "max_episode_steps": 70}
    batch = gym.make_vec("VIQuadruped-v0", num_envs=2, **kwargs)
    singles = gym.vector.SyncVectorEnv([lambda: gym.make("VIQuadruped-v0", **kwargs) for _ in range(2)])
    options, trot, floors = {"command": (0.8, 0.0, 0.0)}, QuadrupedTrot(), set()
    ours, theirs = (env.reset(seed=4, options=options)[0] for env in (batch, singles))
    for k in range(100):  # over the end of an episode on the stairs
        np.testing.assert_array_equal(ours, theirs)
        if k == 60:
            saved = batch.get_state()
        action = trot.act(ours).astype(np.float32)
        ours, theirs = batch.step(action)[0], singles.step(action)[0]
        floors |= set(batch.task.now["floors"].ravel())
    assert {0.0, 0.03} <= floors
    batch.set_state(saved)
    for _ in range(5):
        first = batch.step(np.zeros((2, 12), np.float32))[0]
    batch.set_state(saved)
    for _ in range(5):
        again = batch.step(np.zeros((2, 12), np.float32))[0]
    np.testing.assert_array_equal(first, again)
