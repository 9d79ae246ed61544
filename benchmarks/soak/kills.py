"""Processes that are killed at random times: a run of training goes on, a recording can be read."""

import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from random import Random

from vigym.benchmarks.soak.result import Result
from vigym.engine.errors import InputError
from vigym.engine.recording import Recording

NETWORK = "policy_kwargs={'net_arch': [16, 16], 'activation_fn': 'Tanh'}"
TRAIN = [
    *("VICartPole-v0", "--steps", "40000", "--checkpoint-every", "1000", "--eval-every", "2000"),
    *("--eval-episodes", "2", "--set", "n_envs=8", "n_steps=32", "n_epochs=2", "batch_size=256", NETWORK),
]
MOST_KILLS = 50  # of one run
# Answers of `vigym train --resume` to a run that was killed too early, or too late
NO_CHECKPOINT, FINISHED = "no checkpoint to resume from", "is finished"
BEGAN = ("writing to", "going on with")  # the first line of one that learns
RECORD = """
import sys, gymnasium, vigym
env = gymnasium.make("VIPendulum-v0").unwrapped
env.reset(seed=0)
env.record(sys.argv[1])
print("began", flush=True)
while True:
    env.step(env.action_space.sample())
"""


def train(result: Result, until: float, seed: int) -> None:
    """Kill a small run of training again and again until then, and resume it each time; at last let it end."""
    if find_spec("stable_baselines3") is None or find_spec("tyro") is None:
        result.skip('it needs the extra: pip install "vigym[train]"')
        return
    rng = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        arguments = fresh = [*TRAIN, "--seed", str(seed), "--out", folder]
        for _ in range(MOST_KILLS):
            code, began, said = _train(arguments, rng.uniform(0.0, 5.0) if time.monotonic() < until else None)
            result.count("processes that went on", began and arguments is not fresh)
            if code is None:
                result.count("processes killed")
                runs = sorted(Path(folder).glob("*/*/*/args.yml"), key=lambda path: path.stat().st_mtime)
                arguments = ["--resume", str(runs[-1].parents[1])] if runs else fresh
            elif code and NO_CHECKPOINT in said:
                result.count("killed before the first checkpoint")
                arguments = fresh
            else:
                result.count("runs that ended")
                if code and FINISHED not in said:
                    result.fail(f"seed {seed}: vigym train {' '.join(arguments[:2])} ended with {code}: {said[-500:]}")
                return
        result.fail(f"seed {seed}: a run of training did not end after {MOST_KILLS} processes")


def _train(arguments: list[str], after: float | None) -> tuple[int | None, bool, str]:
    """Status, or None if it was killed so many seconds after it began to learn; whether it began; what it said."""
    command, pipe = [sys.executable, "-u", "-m", "vigym", "train", *arguments], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            began = process.stdout.readline().startswith(BEGAN)
            _, said = process.communicate(timeout=after)
            return process.returncode, began, said
        except subprocess.TimeoutExpired:
            return None, began, ""
        finally:
            process.kill()


def record(result: Result, until: float, seed: int) -> None:
    """Kill processes that record, and read what they have written, until then."""
    rng = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pendulum.vigym"
        while True:
            with subprocess.Popen([sys.executable, "-c", RECORD, str(path)], stdout=subprocess.PIPE) as process:
                try:
                    assert process.stdout is not None
                    began = process.stdout.readline()
                    time.sleep(rng.uniform(0.0, 0.5))
                finally:
                    process.kill()
            result.count("processes killed")
            if not began:
                result.fail("the process that records did not begin")
                return
            try:
                result.most("frames of the longest recording", len(Recording.load(path)))
            except (InputError, OSError) as error:
                result.keep(f"recording-{seed}.vigym", path.read_bytes() if path.exists() else b"")
                result.fail(f"seed {seed}: {error}")
            if time.monotonic() >= until:
                return
