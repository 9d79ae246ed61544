"""Environments draw a picture that shows the robot, and changes when it moves."""

import os
import subprocess
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from vigym import InputError
from vigym.envs.registration import ENVIRONMENTS

SIZE = {"width": 96, "height": 64}
HIDDEN = ("libGL.so.1", "libEGL.so.1", "libX11.so.6", "libOSMesa.so.8", "libvulkan.so.1", "libGLX.so.0")


def test_a_picture_shows_the_robot_and_its_motion(env_id):
    see(env_id)


def see(env_id):
    """The robot is in the picture, and moves in it."""
    env = gym.make(env_id, render_mode="rgb_array", **SIZE)
    env.reset(seed=0)
    first = env.render()
    assert first.shape == (64, 96, 3)
    assert first.dtype == np.uint8
    task = env.unwrapped.task
    away = task.state.x[0] + np.array([0.0, 0.0, 1e4])  # nothing but ground and sky
    blank = env.unwrapped.picture.renderer().render(away, task.state.q[0])
    assert (np.abs(first.astype(int) - blank).max(-1) > 30).sum() > 20
    for _ in range(15):
        env.step(env.action_space.sample())
    second = env.render()
    assert second is not first
    assert (np.abs(second.astype(int) - first).max(-1) > 30).sum() > 5


def test_pictures_need_no_graphics_library(tmp_path):
    """The same in a process that would find a broken file where it looked for OpenGL or X11."""
    for library in HIDDEN:
        (tmp_path / library).write_bytes(b"no library")
    script = f"import runpy\nsee = runpy.run_path({__file__!r})['see']\nfor env_id in {list(ENVIRONMENTS)}: see(env_id)"
    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    bare |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=bare, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_stairs_are_drawn():
    pictures = []
    for height in (0.05, -0.05):
        env = gym.make("VIQuadruped-v0", terrain="steps", step_height=height, render_mode="rgb_array", **SIZE)
        env.reset(seed=0)
        pictures.append(env.render().astype(int))
    flat = gym.make("VIQuadruped-v0", render_mode="rgb_array", **SIZE)
    flat.reset(seed=0)
    for picture in pictures:
        assert (np.abs(picture - flat.render()).max(-1) > 10).mean() > 0.1


def test_the_checker_renders(env_id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*symmetric and normalized")  # see test_gymnasium.py
        check_env(gym.make(env_id, render_mode="rgb_array", **SIZE).unwrapped)


def test_lists_depths_and_batches():
    env = gym.make("VICartPole-v0", render_mode="rgb_array_list", **SIZE)
    env.reset(seed=0)
    env.step(np.zeros(1, np.float32))
    assert len(env.render()) == 2
    env = gym.make("VICartPole-v0", render_mode="depth_array", **SIZE)
    env.reset(seed=0)
    depth = env.render()
    assert depth.shape == (64, 96)
    assert depth.dtype == np.float32
    envs = gym.make_vec("VICartPole-v0", num_envs=3, render_mode="rgb_array", **SIZE)
    envs.reset(seed=0)
    images = envs.render()
    assert len(images) == 3
    assert (images[0] != images[1]).any()


def test_without_a_mode_there_is_nothing_to_render():
    env = gym.make("VICartPole-v0").unwrapped
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="rgb_array"):
        env.render()
    with pytest.raises(InputError, match="render_mode"):
        gym.make("VICartPole-v0", render_mode="hologram", disable_env_checker=True)
