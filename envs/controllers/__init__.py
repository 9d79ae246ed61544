"""Scripted controllers: no learning, from observations to actions."""

from importlib import import_module
from typing import Any

# id of the environment -> module:class, for its default arguments
SCRIPTED = {
    "VIHopper-v0": "vigym.envs.controllers.hopper:HopperFlip",
    "VIHopperHop-v0": "vigym.envs.controllers.hopper_hop:HopperHops",
    "VIPandaPickAndPlace-v0": "vigym.envs.controllers.panda:PandaGrasps",
    "VIPandaPush-v0": "vigym.envs.controllers.panda:PandaPushes",
    "VIPandaReach-v0": "vigym.envs.controllers.panda:PandaReaches",
    "VIQuadruped-v0": "vigym.envs.controllers.quadruped:QuadrupedTrot",
    "VISnake-v0": "vigym.envs.controllers.snake:SnakeGait",
}


def scripted(env_id: str) -> Any:
    """The controller of an environment, with `reset()` and `act(observation)`; None if it has none."""
    if env_id not in SCRIPTED:
        return None
    module, name = SCRIPTED[env_id].split(":")
    return getattr(import_module(module), name)()
