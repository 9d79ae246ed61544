"""The scripted trot of the A1 and the gait of the snake, measured as a user would."""

import gymnasium as gym
import numpy as np
import pytest
import scenes

from vigym import Simulator
from vigym.assets import unitree_a1
from vigym.envs.controllers.quadruped import PaperTrot, QuadrupedTrot, joint_angles, support_torques
from vigym.envs.controllers.snake import SnakeGait


def walk(env, controller, seconds: float, seed: int = 0, options=None) -> dict[str, np.ndarray]:
    """Infos (steps, num_envs, ...) of a batch under a controller, and whether each environment came through."""
    controller.reset()
    observation, _ = env.reset(seed=seed, options=options)
    infos, ok, error = [], np.ones(env.num_envs, bool), 0.0
    for _ in range(round(seconds / env.task.dt)):
        observation, _, terminated, _, info = env.step(controller.act(observation).astype(np.float32))
        ok &= ~terminated
        infos.append({name: value for name, value in info.items() if not name.startswith("_")})
        error = max(error, env.task.sim.joint_error().max())
    out = {name: np.array([info[name] for info in infos]) for name in infos[0]}
    assert error < scenes.OPEN
    assert out["penetration"].max() < scenes.GAP
    return out | {"ok": ok}


# -------------------- kinematics


def legs(angles: np.ndarray) -> np.ndarray:
    """Feet's centres from the hips' origins (n, 4, 3), by the engine, with the trunk at rest."""
    m = unitree_a1.build()
    sim = Simulator(m, num_envs=len(angles))
    x, q = sim.state.x.copy(), sim.state.q
    x[:, 0] += 1.0  # clear of the ground
    sim.set_joint_state(angles.reshape(len(angles), 12), x=x, q=q)
    state = sim.state
    body = [sim.model.bodies[contact.body] for contact in m.contacts]
    points = np.array([contact.point for contact in m.contacts])
    feet = state.x[:, body] + np.einsum("ncij,cj->nci", scenes.matrix(state.q[:, body]), points)
    hips = np.array([np.multiply(unitree_a1.HIP_AT, (*unitree_a1.sides(leg), 1)) for leg in unitree_a1.LEGS])
    return feet - (state.x[:, :1] - unitree_a1.TRUNK.com + hips)


def test_joint_angles_put_the_feet_there():
    rng = np.random.default_rng(0)
    feet = np.array([0, 0, -0.27]) + rng.uniform(-0.07, 0.07, (20, 4, 3))
    feet[..., 1] += [0.085 * unitree_a1.sides(leg)[1] for leg in unitree_a1.LEGS]
    np.testing.assert_allclose(legs(joint_angles(feet)), feet, atol=1e-12)


def test_support_torques_do_the_work_of_the_ground():
    """Virtual work: torque . d angle + force . d foot = 0, with central differences (error 1e-10 at steps of 1e-5)."""
    rng = np.random.default_rng(1)
    angles = np.array([0.0, 0.8, -1.6]) + rng.uniform(-0.3, 0.3, (4, 3))
    force = rng.uniform(-50, 50, (4, 3))
    torques = support_torques(angles, legs(angles[None])[0], force)
    for k in range(3):
        step = np.zeros((2, 4, 3))
        step[0, :, k], step[1, :, k] = 1e-5, -1e-5
        forth, back = legs(angles + step)
        work = ((forth - back) / 2e-5 * force).sum(-1)
        np.testing.assert_allclose(torques[:, k], -work, atol=1e-7)


# -------------------- trot


def test_trot_at_half_a_metre_a_second():
    env = gym.make_vec("VIQuadruped-v0", num_envs=16)
    out = walk(env, QuadrupedTrot(), 20.0, options={"command": (0.5, 0.0, 0.0)})
    assert out["ok"].all()
    speed = out["forward_velocity"][100:].mean(0)  # after 2 s
    assert np.abs(speed - 0.5).max() < 0.15 * 0.5
    assert out["x_position"][-1].min() > 8.5
    assert np.abs(out["yaw_rate"][100:].mean(0)).max() < 0.05
    assert out["foot_lift"][100:].min() > 0.03
    assert np.quantile(out["foot_slide"][100:], 0.99) < 0.02
    assert out["foot_slide"][100:].max() < 0.03


def test_trot_follows_commands():
    env = gym.make_vec("VIQuadruped-v0", num_envs=16, reset_noise_scale=0.2)
    out = walk(env, QuadrupedTrot(), 10.0)
    assert out["ok"].all()
    command, measured = out["command"][-1], ("forward_velocity", "sideways_velocity", "yaw_rate")
    for k, (name, margin) in enumerate(zip(measured, (0.03, 0.03, 0.08), strict=True)):
        error = np.abs(out[name][100:].mean(0) - command[:, k])
        assert (error < 0.15 * np.abs(command[:, k]) + margin).all()
    assert np.ptp(command, axis=0).min() > 0.3  # they do differ


@pytest.mark.parametrize(
    "ground",
    [
        {"terrain": "incline", "slope": 0.15},
        {"terrain": "incline", "slope": -0.15},
        {"terrain": "steps"},
        {"terrain": "rough"},
    ],
)
def test_trot_on_other_ground(ground):
    env = gym.make_vec("VIQuadruped-v0", num_envs=8, **ground)
    out = walk(env, QuadrupedTrot(), 8.0, options={"command": (0.4, 0.0, 0.0)})
    assert out["ok"].all()
    assert (out["x_position"][-1] - out["x_position"][0]).min() > 0.7 * 0.4 * 8.0 - 0.1
    if ground["terrain"] == "steps":
        assert env.task.now["floors"].min() > 0.1  # on the fifth tread
    elif ground["terrain"] == "incline":
        climbed = out["z_position"][-1] - out["z_position"][0]
        np.testing.assert_allclose(climbed, np.tan(ground["slope"]) * out["x_position"][-1], atol=0.05)


def test_paper_trot():
    env = gym.make_vec("VIQuadruped-v0", num_envs=4, friction=0.2, gait_period=1.0)
    out = walk(env, PaperTrot(), 10.0)
    assert out["ok"].all()
    assert out["x_position"][-1].min() > 0.4  # it creeps forward
    assert out["foot_lift"][100:].max() < 0.03  # hardly lifting its feet


# -------------------- snake


def test_snake_gait_travels_a_body_length_in_ten_seconds():
    env = gym.make_vec("VISnake-v0", num_envs=16)
    out = walk(env, SnakeGait(), 20.0)
    assert out["ok"].all()
    length = 8 * 0.15
    assert out["distance"][199].min() > 1.2 * length
    assert out["distance"][-2].min() > 2.5 * length
    assert np.abs(out["y_position"]).max() < length / 2
    assert out["reward_jump"].min() == 0.0
    assert out["reward_roll"].min() > -0.2  # never on its side
