"""VIQuadrupedRough-v0: the ground, what is seen of it, levels, rewards; against geometry and plain NumPy."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import scenes

from vigym import InputError
from vigym.assets import unitree_a1
from vigym.envs import rough_motion as motion
from vigym.envs.quadruped_rough import REST, QuadrupedRough
from vigym.envs.terrain.field import KINDS, ground, height_at
from vigym.envs.terrain.tile import Tile

CALVES = [3, 6, 9, 12]
TILE = Tile(60, 0.1)


@pytest.fixture(scope="module")
def played() -> QuadrupedRough:
    """Six environments, one on each kind of ground at the hardest level, after random actions."""
    task = QuadrupedRough(num_envs=6)
    for n, kind in enumerate(KINDS):
        task.reset(np.array([n]), [np.random.default_rng(n)], {"kind": kind, "level": 5})
    rng = np.random.default_rng(0)
    for _ in range(40):
        task.step(rng.uniform(-1, 1, (6, 12)))
        assert task.sim.status.converged.all()
        assert task.sim.contacts().gap.min(initial=0.0) > -1e-9, "something is in the ground"
    assert len(task.sim.contacts().gap) > 6
    return task


# -------------------- ground


def steepest(heights: np.ndarray) -> float:
    return max(np.abs(np.diff(heights, axis=k)).max() for k in (0, 1))


def test_kinds_are_as_hard_as_the_page_says():
    rng = np.random.default_rng(0)
    assert steepest(KINDS["slope"](TILE, 1.0, rng)) == pytest.approx(0.4 * 0.1)
    assert steepest(KINDS["slope"](TILE, 0.0, rng)) == 0.0
    assert 0.02 < np.ptp(KINDS["rough"](TILE, 0.0, rng)) < 0.03
    for level, rise in ((0.0, 0.05), (1.0, 0.23)):
        up, down = KINDS["stairs up"](TILE, level, rng), KINDS["stairs down"](TILE, level, rng)
        np.testing.assert_allclose(np.unique(np.round(np.diff(up[30, 30:]), 9)), [0.0, rise])
        np.testing.assert_array_equal(down, -up)
        risers = np.flatnonzero(np.diff(up[30, 30:]))
        assert set(np.diff(risers)) == {3}
        assert np.abs(KINDS["stones"](TILE, level, rng)).max() == pytest.approx(0.05 + 0.2 * level)
    ditch = KINDS["gaps"](TILE, 1.0, rng)[30, 30:] < 0.0
    assert np.flatnonzero(ditch)[:6].tolist() == list(range(10, 16))
    assert not KINDS["gaps"](TILE, 0.0, rng).any()


def test_tiles_follow_from_seed_kind_and_level_alone():
    few, all_kinds = ground(("stones",), 6, 6.0, 1), ground(tuple(KINDS), 6, 6.0, 1)
    row = 20 + 60 * list(KINDS).index("stones")
    np.testing.assert_array_equal(few.heights[20:80, 20:380], all_kinds.heights[row : row + 60, 20:380])
    assert (ground(("stones",), 6, 6.0, 2).heights != few.heights).any()


def test_heights_are_those_of_the_collider():
    tiles, rng = ground(tuple(KINDS), 6, 6.0, 1), np.random.default_rng(0)
    vertices, faces = tiles.field.triangles()
    for face in rng.choice(faces, 300):
        a, b, c = vertices[face]
        u, v = sorted(rng.uniform(0, 1, 2))
        point = u * a + (v - u) * b + (1.0 - v) * c
        normal = np.cross(b - a, c - a)
        height, by_x, by_y = height_at(tiles.heights, tiles.spacing, point[0], point[1])
        assert height == pytest.approx(point[2], abs=1e-9)
        np.testing.assert_allclose([by_x, by_y], -normal[:2] / normal[2], atol=1e-9)


# -------------------- what is seen, and its worth


def below(task: QuadrupedRough, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    found = [height_at(task.heights, task.spacing, *point)[0] for point in zip(x.ravel(), y.ravel(), strict=True)]
    return np.reshape(found, x.shape)


def test_observation(played):
    task, now = played, played.now
    x, q, v, w = (part[:, 0] for part in task.state)
    R = scenes.matrix(q)
    yaw = np.arctan2(R[:, 1, 0], R[:, 0, 0])
    ahead, aside = (part.ravel() for part in np.meshgrid(np.arange(-8, 9) / 10, np.arange(-5, 6) / 10, indexing="ij"))
    c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    floor = below(task, x[:, :1] + c * ahead - s * aside, x[:, 1:2] + s * ahead + c * aside)
    heights = 5.0 * np.clip(x[:, 2:3] - 0.5 - floor, -1.0, 1.0)
    told = task.commands[:, 0]
    turn = np.clip(0.5 * ((told[:, 2] - yaw + np.pi) % (2 * np.pi) - np.pi), -1.0, 1.0)
    np.testing.assert_allclose(now["command"], np.column_stack([told[:, :2], turn]), atol=1e-12)
    parts = [2.0 * np.einsum("nij,ni->nj", R, v), 0.25 * w, -R[:, 2], now["command"] * [2.0, 2.0, 0.25]]
    parts += [task.sim.joint_positions() - REST, 0.05 * task.sim.joint_velocities(), task.action, heights]
    np.testing.assert_allclose(task.observe(), np.concatenate(parts, -1), atol=1e-9)


def test_rewards(played):
    task = played
    rates, action = task.sim.joint_velocities(), np.random.default_rng(5).uniform(-1, 1, (6, 12))
    last, air, touched = task.action.copy(), task.now["air_time"].copy(), task.now["touched"] > 0
    task.step(action)
    now = task.now
    R, w = scenes.matrix(task.state.q[:, 0]), task.state.w[:, 0]
    velocity = np.einsum("nij,ni->nj", R, task.state.v[:, 0])
    lower, upper = (np.tile([unitree_a1.LIMITS[part][k] for part in unitree_a1.PARTS], 4) for k in (0, 1))
    joints, new = task.sim.joint_positions(), task.sim.joint_velocities()
    target = np.clip(REST + 0.25 * action, lower, upper)
    torque = np.clip(20.0 * (target - joints) - 0.5 * new, -33.5, 33.5)
    soft = 0.05 * (upper - lower)
    forces = np.linalg.norm(task.sim.net_contact_forces(), axis=-1)
    x = task.state.x[:, CALVES] + np.einsum("nfij,fj->nfi", scenes.matrix(task.state.q[:, CALVES]), task.foot_points)
    assert (now["foot_gap"] <= x[..., 2] - 0.02 - below(task, x[..., 0], x[..., 1]) + 0.02).all()
    stands = now["foot_gap"] < 0.01
    touches = stands & (task.sim.net_contact_forces()[:, CALVES, 2] > 1.0)
    assert touches.any()
    assert not touches.all()
    hits = (forces[:, 2::3] > 0.1).sum(-1) + ((forces[:, CALVES] > 0.1) & ~stands).sum(-1)
    landed = (touches | touched) & (air > 0) & (np.hypot(*now["command"][:, :2].T) > 0.1)[:, None]
    expected = {
        "reward_velocity": np.exp(-((velocity - now["command"])[:, :2] ** 2).sum(-1) / 0.25),
        "reward_yaw": 0.5 * np.exp(-((w - now["command"])[:, 2] ** 2) / 0.25),
        "reward_air": np.where(landed, air + 0.02 - 0.5, 0.0).sum(-1),
        "reward_vertical": -2.0 * velocity[:, 2] ** 2,
        "reward_turn": -0.05 * (w[:, :2] ** 2).sum(-1),
        "reward_ctrl": -2e-4 * (torque**2).sum(-1),
        "reward_acceleration": -2.5e-7 * (((new - rates) / 0.02) ** 2).sum(-1),
        "reward_rate": -0.01 * ((action - last) ** 2).sum(-1),
        "reward_collision": -1.0 * hits,
        "reward_limits": -10.0 * np.maximum(np.maximum(lower + soft - joints, joints - upper + soft), 0.0).sum(-1),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(now[name], 0.02 * value, atol=1e-9, err_msg=name)
    total = 0.02 * sum(expected.values())
    np.testing.assert_allclose(now["reward"], np.maximum(total, 0.0), atol=1e-9)
    assert (total < 0).any()
    np.testing.assert_array_equal(now["terminated"], (forces[:, [0, 1, 4, 7, 10]] > 1.0).any(-1))


# -------------------- starts and levels


def test_it_starts_where_it_is_told(played):
    task = played
    for level in range(6):
        task.reset(task.everyone, [np.random.default_rng(k) for k in range(6)], {"kind": "gaps", "level": level})
        middle = np.array([6.0 * (level - 2.5), 15.0])
        assert np.abs(task.state.x[:, 0, :2] - middle).max() <= 1.0
        assert task.sim.distance("FR calf", "world").min() > 0.0
        assert (task.now["kind"] == 5).all()
    for options in ({"level": 6}, {"level": True}, {"kind": "lava"}, {"command": (0, 0)}):
        with pytest.raises(InputError, match=r"options\['"):
            task.reset(np.array([0]), [np.random.default_rng(0)], options)


def test_levels_follow_the_robot(played):
    task = played
    env = np.arange(6)

    def next_levels(options: dict[str, Any], seeded: bool = False) -> list[int]:
        if seeded:
            task.seeded(env)
        task.reset(env, [np.random.default_rng(7) for _ in env], options)
        return task.now["level"].tolist()

    assert next_levels({"level": 2, "command": (0.5, 0.0, 0.0)}) == [2] * 6
    assert next_levels({}) == [2] * 6, "an episode without a step tells nothing"
    next_levels({"level": 2, "command": (0.5, 0.0, 0.0)})
    task.now["steps"] = 5
    task.now["x_position"] = task.now["begin"][:, 0] + [0.0, 2.9, 3.1, 4.9, 5.1, 9.0]
    assert next_levels({}) == [1, 1, 3, 3, 3, 3]  # half a tile is 3 m, half of what was asked for 5 m
    first = next_levels({}, seeded=True)
    assert len(set(first)) == 1
    assert first == next_levels({}, seeded=True)
    next_levels({"level": 5})
    task.now["steps"], task.now["x_position"] = 5, 1e3
    assert set(next_levels({})) <= set(range(6))
    next_levels({"level": 0})
    task.now["steps"] = 5
    task.commands[:] = 1.0
    assert next_levels({}) == [0] * 6


@pytest.mark.parametrize(
    "bad", [{"kinds": ("lava",)}, {"kinds": "slope"}, {"kinds": ()}, {"levels": 0}, {"tile_length": 3.0}]
)
def test_bad_arguments(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        QuadrupedRough(**bad)


def test_friction_differs_between_episodes():
    env = gym.make_vec("VIQuadrupedRough-v0", num_envs=4)
    env.reset(seed=0)
    friction = env.unwrapped.task.sim.parameter("collider_friction")
    assert len(np.unique(friction)) == 4
    assert ((friction >= 0.5) & (friction <= 1.25)).all()
    assert motion.N_COLUMNS * motion.N_ROWS == 187
