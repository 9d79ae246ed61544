"""Which controllers there are for an environment: a scripted one, a learned one, both or none."""

from importlib import import_module
from typing import Any, Protocol

from vigym.engine.errors import InputError
from vigym.envs.controllers.learned import LearnedPolicy, committed
from vigym.envs.task import Array

SCRIPTED = {
    "VIHopper-v0": "vigym.envs.controllers.hopper:HopperFlip",
    "VIHopperHop-v0": "vigym.envs.controllers.hopper_hop:HopperHops",
    "VIQuadruped-v0": "vigym.envs.controllers.quadruped:QuadrupedTrot",
    "VISnake-v0": "vigym.envs.controllers.snake:SnakeGait",
}


class Controller(Protocol):
    """From observations (..., n_observations) to actions (..., n_actions), anew in every episode."""

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: Array) -> Array:
        """Actions for observations."""


def scripted(env_id: str) -> Controller:
    """The scripted controller of an environment, with its defaults; InputError if there is none."""
    if env_id not in SCRIPTED:
        raise InputError(f"{env_id} has no scripted controller; there is one for {', '.join(SCRIPTED)}")
    module, name = SCRIPTED[env_id].split(":")
    make: Any = getattr(import_module(module), name)
    return make()


def learned(env_id: str) -> LearnedPolicy:
    """The learned policy that vigym brings along; InputError if there is none."""
    path = committed(env_id)
    if not path.exists():
        raise InputError(f"vigym brings no learned policy for {env_id}; `vigym train {env_id}` makes one")
    return LearnedPolicy.load(path)
