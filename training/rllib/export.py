"""The policy of an RLlib algorithm as a file that vigym itself can read, without torch."""

from typing import Any

import numpy as np
from ray.rllib.algorithms.algorithm import Algorithm

from vigym.envs.controllers.learned import LearnedPolicy
from vigym.training.rllib.config import NETWORK
from vigym.training.rllib.normalize import CLIP, Normalize
from vigym.training.runs import Run


def normalisation(algorithm: Algorithm) -> Normalize | None:
    """Statistics that normalise observations and rewards, as known to all runners; None if there are none."""
    return next((part for part in algorithm.env_runner._env_to_module if isinstance(part, Normalize)), None)


def policy_of(algorithm: Algorithm, run: Run, steps: int) -> LearnedPolicy:
    """Policy of the module as it is now, without exploration, with its normalisation of observations."""
    module: Any = algorithm.get_module()
    weights = {name: value.cpu().numpy() for name, value in module.state_dict().items()}
    names = [name for name in weights if name.startswith(("encoder.actor_encoder.", "pi.")) and name.endswith("weight")]
    layers = [(weights[name].T.copy(), weights[f"{name.removesuffix('weight')}bias"]) for name in names]
    size = len(layers[0][0])
    mean, scale, clip = np.zeros(size), np.ones(size), np.inf
    if (normalize := normalisation(algorithm)) is not None:
        known = normalize.of("observations")
        mean, scale, clip = known.mean, known.scale, CLIP
    return LearnedPolicy(
        layers,
        (NETWORK | run.settings.get("policy_kwargs", {}))["activation_fn"],
        mean,
        scale,
        clip=clip,
        about={"env_id": run.env_id, "algo": run.algo, "backend": "ray", "seed": run.seed, "steps": steps},
    )
