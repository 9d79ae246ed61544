"""Runs that several tests look at."""

import gymnasium as gym
import pytest
from replay.touching import grip

import vigym
from vigym.envs.controllers import scripted


@pytest.fixture(scope="session")
def trot(tmp_path_factory):
    """Two seconds of the A1's trot, as a file."""
    path = tmp_path_factory.mktemp("trot") / "trot.vigym"
    env = gym.make("VIQuadruped-v0").unwrapped
    controller = scripted("VIQuadruped-v0")
    observation, _ = env.reset(seed=0, options={"command": (0.5, 0.0, 0.0)})
    env.record(path)
    for _ in range(100):
        observation, *_ = env.step(controller.act(observation))
    env.close()
    return path


@pytest.fixture(scope="session")
def replay(trot):
    return vigym.Replay.load(trot)


@pytest.fixture(scope="session")
def pinch(tmp_path_factory):
    """A second of a gripper that closes on a cube and lifts it, as a file."""
    path = tmp_path_factory.mktemp("pinch") / "pinch.vigym"
    grip(path)
    return path
