"""VISnake-v0: sizes, what is read off the state against the engine, and its rewards in cases that are easy to see."""

import gymnasium as gym
import numpy as np
import pytest
import scenes

from vigym import InputError, MechanismError
from vigym.envs.snake import Snake


def started(num_envs: int = 4, **kwargs) -> Snake:
    task = Snake(num_envs=num_envs, **kwargs)
    task.reset(np.arange(num_envs), [np.random.default_rng(i) for i in range(num_envs)], {})
    return task


@pytest.mark.parametrize(("links", "joints", "actions"), [(2, "hinge", 1), (5, "hinge", 4), (3, "ball", 6)])
def test_sizes(links, joints, actions):
    env = gym.make("VISnake-v0", num_links=links, joints=joints)
    observation, _ = env.reset(seed=0)
    assert env.action_space.shape == (actions,)
    assert observation.shape == (15 + 2 * actions,) == (len(env.unwrapped.task.observation_names()),)
    rng = np.random.default_rng(0)
    for _ in range(20):
        *_, info = env.step(rng.uniform(-0.5, 0.5, actions))
        assert not info["solver_failed"]
        assert info["penetration"] < 1e-9


def test_bad_arguments():
    with pytest.raises(InputError, match="actuation must be"):
        Snake(actuation="muscle")
    with pytest.raises(MechanismError, match="longer than thick"):
        Snake(self_collision=True, link_radius=0.1)


def test_two_hundred_links_that_coil_up_touch_each_other():
    task = started(num_envs=2, num_links=200, self_collision=True)
    target, near = np.zeros((2, 199)), 0
    target[:, 1::2] = 1.0  # bend to one side, all at once, until every third link or so meets another one
    for _ in range(6):
        task.step(target)
        assert task.sim.status.converged.all()
        contacts = task.sim.contacts()
        assert contacts.gap.min(initial=0.0) > -1e-9
        near = max(near, len(contacts.gap))
    assert near > 100


def test_pegs_stop_it():
    task = started(num_envs=2, pegs=True, reset_noise_scale=0.0)
    names = task.sim.collider_names
    assert sum(name.startswith("peg") for name in names) == 50
    x, q, v, w = task.state
    # towards a row whose third peg is straight ahead, 0.045 m away
    task.sim.set_state(x=x, q=q, v=v + np.array([3.0, 0.0, 0.0]), w=w)
    held = np.zeros((2, 7))
    pushed = 0.0
    for _ in range(4):
        task.step(held)
        contacts = task.sim.contacts()
        assert contacts.gap.min(initial=0.0) > -1e-9
        pushed = max(pushed, np.abs(contacts.force).max(initial=0.0))
    assert pushed > 1.0
    head = task.state.x[:, -1, 0] + 0.075
    assert (head < 1.2 - 0.03 + 1e-9).all()


def test_the_papers_links_can_be_had():
    sizes = {"link_length": 1.0, "link_mass": 1.0, "link_radius": 0.05, "friction": 0.2, "effort_limit": 60.0}
    task = started(num_envs=1, **sizes, kp=300.0, kd=10.0)
    assert task.sim.parameter("mass").sum() == 8.0
    task.step(np.full((1, 7), 0.1))
    assert task.sim.status.converged.all()


def test_controls():
    action = np.random.default_rng(0).uniform(-1, 1, (4, 7))
    np.testing.assert_array_equal(started().controls(action)["target"], 1.2 * action)
    np.testing.assert_array_equal(started(actuation="torque").controls(action)["effort"], 6.0 * action)


def test_it_starts_on_the_ground_with_its_head_in_front():
    task = started(num_envs=8)
    assert np.abs(task.sim.contact_gaps().min(-1)).max() < 1e-6
    ahead = task.state.x[:, -1] - task.state.x[:, 0]
    assert (ahead[:, 0] > 1.0).all()  # of 7 links of 0.15 m
    assert np.abs(np.arctan2(ahead[:, 1], ahead[:, 0])).max() > 1e-3


def test_what_is_read_off_the_state():
    task = started(num_envs=6)
    rng = np.random.default_rng(1)
    seen = 0.0
    for _ in range(15):
        task.step(rng.uniform(-0.6, 0.6, (6, 7)))
        x, q, v, _ = task.state
        np.testing.assert_allclose(task.now["centre"], x.mean(1), atol=1e-12)
        np.testing.assert_allclose(task.now["velocity"], v.mean(1), atol=1e-12)
        np.testing.assert_allclose(task.now["upright"], scenes.matrix(q)[..., 2, 2].mean(-1), atol=1e-12)
        gaps, slip = task.sim.contact_gaps(), np.linalg.norm(task.sim.contact_velocities()[..., :2], axis=-1)
        np.testing.assert_allclose(task.now["lowest"], gaps.min(-1), atol=1e-12)
        # where all stick, the square root of squares at rounding level
        np.testing.assert_allclose(task.now["slip"], np.where(gaps < 1e-6, slip, 0.0).max(-1), atol=1e-7)
        seen = max(seen, task.now["slip"].max())
    assert seen > 1e-2


def test_rewards():
    task = started()
    rng, total = np.random.default_rng(2), {}
    begin = task.state.x.mean(1)
    aside = np.zeros(4)
    for _ in range(10):
        action, last = rng.uniform(-1, 1, (4, 7)), task.state.x.mean(1)
        task.step(action)
        terms = task.rewards()
        aside += np.abs(task.state.x.mean(1) - last)[:, 1]
        np.testing.assert_allclose(terms["reward_ctrl"], -0.01 * (action**2).sum(-1))
        for name, term in terms.items():
            total[name] = total.get(name, 0.0) + term
    distance = (task.state.x.mean(1) - begin)[:, 0]
    np.testing.assert_allclose(total["reward_forward"], 10.0 * distance, atol=1e-12)
    np.testing.assert_allclose(task.info()["distance"], distance, atol=1e-12)
    np.testing.assert_allclose(total["reward_drift"], -aside, atol=1e-12)


def test_rolling_and_jumping_cost():
    task = started(num_envs=2, reset_noise_scale=0.0)
    x, q = task.state.x, task.state.q
    turned = np.tile([0.0, 1.0, 0.0, 0.0], (8, 1))  # upside down, in the second
    task.sim.set_state(x=x + np.array([[[0, 0, 0.0]], [[0, 0, 0.5]]]), q=np.stack([q[0], turned]))
    task.step(np.zeros((2, 7)))
    terms = task.rewards()
    np.testing.assert_allclose(terms["reward_roll"], [0.0, -0.4], atol=1e-9)
    np.testing.assert_array_equal(terms["reward_jump"], [0.0, -1.0])
