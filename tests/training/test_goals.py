"""Training of tasks with a goal: hindsight experience replay goes on after an interruption; policies are exported."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import stable_baselines3 as sb3
import torch
from stable_baselines3.common.vec_env import VecNormalize

from vigym import InputError
from vigym.envs.controllers.learned import PARTS
from vigym.envs.goal import GOALS
from vigym.training import hyperparameters, plain
from vigym.training.runs import Run
from vigym.training.sb3.export import policy_of
from vigym.training.sb3.models import build
from vigym.training.sb3.state import set_state, state_of
from vigym.training.sb3.vec_env import NativeVecEnv

torch.set_num_threads(1)  # as `vigym train` has it: so small a network is slower with more
SMALL = {"n_envs": 4, "learning_starts": 200, "gradient_steps": 1, "batch_size": 32, "buffer_size": 600}


def run(folder, **settings):
    folder.mkdir()
    entry = hyperparameters.settings("sac", "VIPandaReach-v0") | SMALL | settings
    return Run(folder, "sac", "VIPandaReach-v0", 0, {}, entry, {"threads": 1})


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("steps", [300, 700])  # before and after the buffer is full
def test_it_goes_on_bit_for_bit(normalize, steps, tmp_path):
    model = build(run(tmp_path / "one", normalize=normalize))
    model.learn(steps)
    plain.save(tmp_path / "state.npz", state_of(model))
    model.learn(40, reset_num_timesteps=False)
    other = build(run(tmp_path / "other", normalize=normalize))
    other.learn(0)  # makes what a training has from its start on
    set_state(other, plain.load(tmp_path / "state.npz"))
    other.learn(40, reset_num_timesteps=False)
    for name, parameters in model.get_parameters()["policy"].items():
        np.testing.assert_array_equal(parameters.numpy(), other.get_parameters()["policy"][name].numpy())
    assert model.num_timesteps == other.num_timesteps


@pytest.mark.parametrize("algorithm", [sb3.PPO, sb3.SAC])
def test_policies_do_what_their_models_do(algorithm):
    env = VecNormalize(NativeVecEnv("VIPandaReach-v0", 3))
    model = algorithm("MultiInputPolicy", env, policy_kwargs={"net_arch": [8, 8]}, seed=0, device="cpu")
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(10):
        observation, _, _, _ = env.step(rng.uniform(-1, 1, (3, 3)))
    expected, _ = model.predict(observation, deterministic=True)
    np.testing.assert_allclose(policy_of(model).act(env.get_original_obs()), expected, atol=1e-5)


def test_parts_are_those_of_the_tasks():
    env = NativeVecEnv("VIPandaReach-v0", 1)
    assert (*env.env.task.parts,) == PARTS == ("observation", *GOALS)


def test_other_buffers_are_refused(tmp_path):
    with pytest.raises(InputError, match="replay_buffer_class must be one of HerReplayBuffer, got 'Mine'"):
        build(run(tmp_path / "one", replay_buffer_class="Mine"))
