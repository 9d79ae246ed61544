"""Gymnasium's RecordVideo films single environments and batches. It needs moviepy, and vigym does not: .ci/zoo."""

import gymnasium as gym
import numpy as np
import pytest

import vigym  # noqa: F401

pytest.importorskip("moviepy")


def test_record_video(tmp_path):
    import imageio_ffmpeg

    options = {"render_mode": "rgb_array", "width": 64, "height": 48}
    env = gym.wrappers.RecordVideo(gym.make("VICartPole-v0", **options), str(tmp_path / "one"))
    env.reset(seed=0)
    for _ in range(5):
        env.step(np.zeros(1, np.float32))
    env.close()
    envs = gym.make_vec("VICartPole-v0", num_envs=3, **options)
    envs = gym.wrappers.vector.RecordVideo(envs, str(tmp_path / "many"), video_aspect_ratio=(1, 1))
    envs.reset(seed=0)
    for _ in range(5):
        envs.step(np.zeros((3, 1), np.float32))
    envs.close()
    for folder in ("one", "many"):
        (film,) = (tmp_path / folder).glob("*.mp4")
        assert imageio_ffmpeg.count_frames_and_secs(str(film))[0] == 6
