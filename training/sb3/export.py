"""The policy of a Stable-Baselines3 model as a file that vigym itself can read, without torch."""

from typing import Any

import numpy as np
from gymnasium.spaces import Dict
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

from vigym.engine.errors import InputError
from vigym.envs.controllers.learned import PARTS, LearnedPolicy


def policy_of(model: BaseAlgorithm, **about: Any) -> LearnedPolicy:
    """Return what the model does now, without exploration, its normalisation of observations included."""
    if isinstance(model, PPO):
        hidden, last = model.policy.mlp_extractor.policy_net, model.policy.action_net
    elif isinstance(model, SAC):
        hidden, last = model.policy.actor.latent_pi, model.policy.actor.mu
    else:
        raise InputError(f"no export for {type(model).__name__}, only for PPO and SAC")
    modules = [module for module in hidden if hasattr(module, "weight")]
    layers = [
        (module.weight.detach().cpu().numpy().T.copy(), module.bias.detach().cpu().numpy().copy())
        for module in (*modules, last)
    ]
    size = len(layers[0][0])
    mean, scale, clip = np.zeros(size), np.ones(size), np.inf
    normalize = model.get_vec_normalize_env()
    has_goal = isinstance(model.observation_space, Dict)
    if isinstance(normalize, VecNormalize) and normalize.norm_obs:
        parts = [normalize.obs_rms[part] for part in PARTS] if has_goal else [normalize.obs_rms]
        mean = np.concatenate([part.mean for part in parts])
        scale = np.sqrt(np.concatenate([part.var for part in parts]) + normalize.epsilon)
        clip = normalize.clip_obs
    if has_goal:
        weights, bias = layers[0]
        layers[0] = weights[order_of(model.observation_space)], bias
    activation = model.policy.activation_fn.__name__
    return LearnedPolicy(layers, activation, mean, scale, clip=clip, squash=isinstance(model, SAC), about=about)


def order_of(space: Dict) -> np.ndarray:
    """Indices of SB3's inputs, which has the parts of an observation in the space's order, in vigym's."""
    sizes = {name: part.shape[0] for name, part in space.items() if part.shape is not None}
    starts = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
    return np.concatenate([np.arange(starts[part], starts[part] + sizes[part]) for part in PARTS])
