"""Environments as words on the command line: `ID` or `module:ID`, and their arguments as `name=value`."""

import os
import sys
from ast import literal_eval
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from typing import Any

import gymnasium as gym

from vigym.engine.errors import InputError
from vigym.envs.env import load_task

BATCH = {"num_envs": "--set n_envs=...", "num_threads": "--threads"}  # arguments that the commands choose themselves


def bare_id(env_id: str) -> str:
    """Return the id without the module that registers it: "my_robots:Walker-v0" is Walker-v0."""
    return env_id.rpartition(":")[2]


def file_name(env_id: str) -> str:
    """Return the bare id as part of a file's name: "lab/Walker-v0" is lab-Walker-v0."""
    return bare_id(env_id).replace("/", "-")


def known_env(env_id: str) -> str:
    """Return the id if it is an environment of a vigym task, after importing the module it names; InputError
    otherwise."""
    try:
        if ":" in env_id:
            _import(env_id.partition(":")[0])
        spec = gym.spec(bare_id(env_id))
    except ImportError as error:
        raise InputError(
            f"the module of {env_id!r} cannot be imported: {error}; run the command in the module's folder, "
            "or install it"
        ) from None
    except gym.error.Error as error:
        known = [name for name, spec in gym.registry.items() if "task" in spec.kwargs]
        raise InputError(
            f"{env_id!r} is not an environment{suggestion(bare_id(env_id), known)}; registered are {', '.join(known)}, "
            f"and module:ID imports a module that registers its own ({error})"
        ) from None
    if "task" not in spec.kwargs:
        raise InputError(
            f"{env_id} is not an environment of vigym: it was not registered with kwargs={{'task': ...}} as in "
            "docs/simulation.md"
        )
    return env_id


def _import(module: str) -> None:
    """Import a module that is installed or, as with `python -m`, in the current folder."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # last: it hides nothing that is installed
    import_module(module)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ", did you mean NAME?" for the known name that is most like the given one, or nothing."""
    close = get_close_matches(name, list(known), 1)
    return f", did you mean {close[0]!r}?" if close else ""


def assignments(words: Iterable[str]) -> dict[str, Any]:
    """Read words name=value, with Python's numbers, tuples, ...; anything else is a string."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"expected name=value, got {word!r}")
        try:
            found[name] = literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def env_arguments(env_id: str, words: Iterable[str]) -> dict[str, Any]:
    """Read arguments of an environment, name=value; InputError for those that its task does not take."""
    return known_arguments(env_id, assignments(words))


def known_arguments(env_id: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments if the environment's task takes them; InputError otherwise."""
    for name in given.keys() & BATCH.keys():
        raise InputError(f"{name} is not an argument of single environments: {BATCH[name]} sets it")
    taken = parameters_of(load_task(gym.spec(bare_id(env_id)).kwargs["task"]))
    if taken is None:
        return given  # passed on, and checked where they arrive
    known = [name for name in taken if name not in BATCH]
    if unknown := sorted(set(given) - set(known)):
        hint = suggestion(unknown[0], known)
        raise InputError(f"{env_id} has no argument {unknown[0]!r}{hint or '; it has ' + ', '.join(known)}")
    return given


def parameters_of(task: Any) -> list[str] | None:
    """Name the arguments that a task takes, also those that it passes on to its parents; None if they are unknown."""
    names: list[str] = []
    for owner in task.__mro__ if isinstance(task, type) else [task]:
        if isinstance(task, type) and "__init__" not in vars(owner):
            continue
        parameters = signature(owner).parameters.values()
        names += [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
        if not any(each.kind is each.VAR_KEYWORD for each in parameters):
            return [name for name in dict.fromkeys(names) if name != "mechanism"]
    return None
