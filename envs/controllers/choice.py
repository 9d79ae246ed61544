"""Controllers by kind."""

from typing import Any, Literal

from vigym.engine.errors import InputError
from vigym.envs.controllers import SCRIPTED, scripted
from vigym.envs.controllers.learned import LEARNED_IS_BETTER, committed, learned

Kind = Literal["scripted", "learned", "random"]


def best(env_id: str) -> Kind:
    """Return the kind of controller that does best of those that vigym brings along for an environment."""
    if env_id in LEARNED_IS_BETTER:
        return "learned"
    if env_id in SCRIPTED:
        return "scripted"
    return "learned" if committed(env_id).exists() else "random"


def choose(env_id: str, kind: Kind | None = None) -> Any:
    """Return a controller of that kind, or of the best one unless given; None for random actions."""
    kind = kind or best(env_id)
    if kind == "learned":
        return learned(env_id)
    if kind == "scripted" and env_id not in SCRIPTED:
        raise InputError(f"{env_id} has no scripted controller; there is one for {', '.join(SCRIPTED)}")
    return scripted(env_id) if kind == "scripted" else None
