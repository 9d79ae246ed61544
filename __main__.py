"""The command line: `vigym COMMAND ...`, also `python -m vigym COMMAND ...`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from vigym import __version__

# Command -> (module:function, the first line of the function's docstring).
# The line stands here too so that `vigym --help` need not import what only one command uses.
COMMANDS = {
    "bench": (
        "vigym.benchmarks.bench:bench",
        "Compare the speed of vigym, MuJoCo and PyBullet on the same scenes, and what it costs.",
    ),
    "cache": (
        "vigym.benchmarks.cache_command:cache",
        "Show where compiled code is kept and how much there is, or delete it.",
    ),
    "compare": (
        "vigym.benchmarks.compare.command:compare",
        "Compare what vigym, MuJoCo and PyBullet make of the same scenes, and of real tosses of a cube.",
    ),
    "demo": (
        "vigym.envs.demo.command:demo",
        "Run a robot under a controller, or a scene of bodies, and write what happened to files.",
    ),
    "doctor": (
        "vigym.benchmarks.doctor:doctor",
        "Report versions, processor, compiled code, a self-test and the speed here, with advice for each problem.",
    ),
    "evaluate": (
        "vigym.training.evaluate:evaluate",
        "Run a policy for many episodes, and tell return and success.",
    ),
    "reproduce": (
        "vigym.benchmarks.reproduction.reproduce:reproduce",
        "Run the paper's experiments again, and set its claims beside what is measured.",
    ),
    "soak": (
        "vigym.benchmarks.soak.command:soak",
        "Run random actions, spoilt files and killed processes for hours, and report what did not hold.",
    ),
    "train": (
        "vigym.training.train:train",
        "Learn a policy for an environment, with Stable-Baselines3 on this machine or with Ray RLlib on many.",
    ),
    "view": (
        "vigym.envs.view_command:view",
        "Open a robot, play a recording, or run an environment, in a browser; or write it as a page, film or picture.",
    ),
}

DESCRIPTION = f"""vigym {__version__}: rigid bodies with joints, contact and friction.

vigym COMMAND --help shows the options of a command, vigym --version the version."""


def load(command: str) -> Callable[..., Any]:
    """Import the function behind `command`."""
    module, function = COMMANDS[command][0].split(":")
    return getattr(import_module(module), function)


def _unloaded(summary: str) -> Callable[[], None]:
    """Stand in, under --help, for a command that this run does not call."""

    def stub() -> None: ...

    stub.__doc__ = summary
    return stub


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status. `argv` is without the program's name."""
    args = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if args == ["--version"]:
        print(f"vigym {__version__}")
        return 0
    if find_spec("tyro") is None:
        print('The command line needs its extra: pip install "vigym[cli]"', file=sys.stderr)
        return 2

    from tyro.extras import subcommand_cli_from_dict

    commands = {name: load(name) if name == args[0] else _unloaded(summary) for name, (_, summary) in COMMANDS.items()}
    subcommand_cli_from_dict(commands, prog="vigym", description=DESCRIPTION, args=args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
