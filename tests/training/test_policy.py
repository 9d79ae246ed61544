"""Policies in files for NumPy alone: they do what the model does."""

import json
import tracemalloc
import zipfile
from itertools import pairwise

import numpy as np
import pytest
from adversaries import archive, bomb, npy, policy

from vigym import InputError
from vigym.envs.controllers import SCRIPTED, scripted
from vigym.envs.controllers.learned import ACTIVATIONS, LearnedPolicy, learned


def network(rng: np.random.Generator, *sizes: int, **options) -> LearnedPolicy:
    layers = [
        (rng.normal(size=(m, n)).astype(np.float32), rng.normal(size=n).astype(np.float32)) for m, n in pairwise(sizes)
    ]
    return LearnedPolicy(layers, "ELU", rng.normal(size=sizes[0]), rng.uniform(1, 2, sizes[0]), **options)


def told(**other) -> bytes:
    values = {"activation": "Tanh", "squash": False, "clip": 10.0, "about": {}} | other
    return npy(np.array(json.dumps(values)))


def test_a_file_keeps_the_policy(tmp_path):
    rng = np.random.default_rng(0)
    policy = network(rng, 5, 7, 2, clip=3.0, squash=True, about={"env_id": "VIHopper-v0"})
    policy.save(tmp_path / "policy.npz")
    other = LearnedPolicy.load(tmp_path / "policy.npz")
    observations = rng.normal(size=(4, 5))
    np.testing.assert_array_equal(policy.act(observations), other.act(observations))
    assert other.about == {"env_id": "VIHopper-v0"}
    assert policy.act(observations[0]).shape == (2,)


def test_bad_files_and_observations(tmp_path):
    policy = network(np.random.default_rng(0), 5, 7, 2)
    with pytest.raises(InputError, match="for 5 observations"):
        policy.act(np.zeros(4))
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    (tmp_path / "empty.npz").write_bytes(b"")
    policy.save(tmp_path / "whole.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:500])
    for name in ("bad.npz", "empty.npz", "cut.npz", "missing.npz"):
        with pytest.raises(InputError, match="is not a policy"):
            LearnedPolicy.load(tmp_path / name)
    with pytest.raises(InputError, match="do not fit"):
        LearnedPolicy(policy.layers[:1] * 2, "ELU", policy.mean, policy.scale)
    with pytest.raises(InputError, match="activation"):
        LearnedPolicy(policy.layers, "GELU", policy.mean, policy.scale)


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"told": npy(np.array("[1]"))}, "told has no activation"),
        ({"told": npy(np.array("[" * 10_000))}, "told is not JSON"),
        ({"told": npy(np.array("x" * 200_000))}, "no text of at most 100,000 characters called told"),
        ({"told": npy(np.array("x")).replace(b"x\0\0\0", b"\xff" * 4)}, "characters that there are not"),
        ({"told": told(activation=[])}, "told has no activation, or not of its kind"),
        ({"told": told(activation="GELU")}, "activation must be one of"),
        ({"told": told(clip=float("nan"))}, "clip must be > 0"),
        ({"told": told(about=[])}, "told has no about, or not of its kind"),
        ({"mean": npy(np.zeros(()))}, "mean must be floats of 1 axes"),
        ({"mean": npy(np.array(["a", "b"]))}, "mean must be floats of 1 axes"),
        ({"mean": npy(np.array([0.0, np.nan]))}, "mean must be finite"),
        ({"scale": npy(np.ones(3))}, "mean and scale must be of one shape"),
        ({"scale": npy(np.zeros(2))}, "scale > 0"),
        ({"weights0": npy(np.ones((2, 1), "f4"), (2, 10**9))}, "an array of shape .* has 8 bytes"),
        ({"weights0": npy(np.array([print], object), pickled=True)}, "not of floats or text"),
        ({"weights0": b""}, "not of floats or text"),
        ({"weights2": npy(np.ones((1, 1), "f4"))}, "it has no weights1"),
        ({"bias0": npy(np.zeros(2, "f4"))}, "layers do not fit"),
    ],
)
def test_a_spoilt_member_is_named(tmp_path, other, problem):
    path = tmp_path / "policy.npz"
    path.write_bytes(archive(policy()))
    assert LearnedPolicy.load(path).act(np.ones(2)).shape == (1,)
    path.write_bytes(archive(policy(**other)))
    with pytest.raises(InputError, match=f"^{path} is not a policy that `vigym train` wrote: .*{problem}"):
        LearnedPolicy.load(path)


def test_a_policy_of_nothing(tmp_path):
    members = policy()
    del members["weights0.npy"]
    (tmp_path / "policy.npz").write_bytes(archive(members))
    with pytest.raises(InputError, match="layers do not fit"):
        LearnedPolicy.load(tmp_path / "policy.npz")


def test_a_bomb_is_not_unpacked(tmp_path):
    """A policy of 4 MB that would be 4 GB is not read, nor one of another method, which may unpack to more."""
    for size, method, problem in (
        (60_000, zipfile.ZIP_DEFLATED, "when it is unpacked; at most 50,000,000"),
        (2_000, zipfile.ZIP_LZMA, "not packed by the method"),
    ):
        (tmp_path / "policy.npz").write_bytes(bomb(size, method))
        tracemalloc.start()
        with pytest.raises(InputError, match=problem):
            LearnedPolicy.load(tmp_path / "policy.npz")
        assert tracemalloc.get_traced_memory()[1] < 10e6
        tracemalloc.stop()


def test_controllers_are_found_by_the_environment():
    for env_id in SCRIPTED:
        scripted(env_id).reset()
    with pytest.raises(InputError, match="no learned policy for No-v0"):
        learned("No-v0")


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("algo", ["PPO", "SAC"])
def test_it_does_what_the_model_does(algo, activation):
    sb3, torch = pytest.importorskip("stable_baselines3"), pytest.importorskip("torch")
    from stable_baselines3.common.vec_env import VecNormalize

    from vigym.training.sb3.export import policy_of
    from vigym.training.sb3.vec_env import NativeVecEnv

    env = VecNormalize(NativeVecEnv("VIHopper-v0", 3))
    options = {"net_arch": [8, 8], "activation_fn": getattr(torch.nn, activation)}
    model = getattr(sb3, algo)("MlpPolicy", env, policy_kwargs=options, seed=0, device="cpu")
    env.reset()
    for _ in range(10):
        observation, _, _, _ = env.step(np.random.default_rng(0).uniform(-1, 1, (3, 4)))
    policy = policy_of(model)
    expected, _ = model.predict(observation, deterministic=True)
    np.testing.assert_allclose(policy.act(env.get_original_obs()), expected, atol=1e-5)
