"""Contact parameters of an engine from measured tosses: equally many sets tried for each parameter, one loss for all.

Every engine throws all tosses with many sets of parameters, spread evenly over their ranges. A fit to some tosses is
the set that is closest to these. Fits to other tosses need no more simulations, so that engines can be compared over
many ways to choose the tosses that are fitted.
"""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import Score, Tosses, errors, score
from vigym.benchmarks.tosses.engines import Engine, Parameter
from vigym.engine.durable import write_arrays
from vigym.engine.errors import InputError

HEIGHTS = (-4e-4, -2e-4, 0.0, 2e-4, 4e-4)  # m: the ground is moved a little, and scores averaged, since they are rough
PARTS = "values", "errors", "failed"  # of trials, in a file
LOST = 1e4  # % and degrees: error of a toss whose cube an engine lost


@dataclass(frozen=True, eq=False)
class Trials:
    """values: of the parameters (sets, parameters); errors: (sets, 2, tosses), position (%) and rotation (degrees);
    failed: frames that ended in a step that could not be solved (sets,)."""

    parameters: tuple[Parameter, ...]
    values: Array
    errors: Array
    failed: Array

    @property
    def budget(self) -> int:
        """Sets for each parameter."""
        return len(self.values) // len(self.parameters)

    def first(self, part: int) -> "Trials":
        """Only so large a part of the sets: one half for 2, and so on."""
        some = slice(max(1, len(self.values) // part))
        return Trials(self.parameters, self.values[some], self.errors[some], self.failed[some])

    def best(self, weights: Array) -> Array:
        """The sets closest to tosses that count so often (ways, tosses): a per cent counts as much as a degree."""
        return (self.errors.sum(1) @ weights.T / weights.sum(-1)).argmin(0)

    def named(self, chosen: int) -> dict[str, float]:
        """The values of a set, by their names."""
        return named(self.parameters, self.values[chosen])


def named(parameters: tuple[Parameter, ...], values: Array) -> dict[str, float]:
    """Values by the names of the parameters."""
    return {p.name: float(value) for p, value in zip(parameters, values, strict=True)}


def physical(parameters: tuple[Parameter, ...], unit: Array) -> Array:
    """Values of the parameters at points of the unit cube (..., parameters)."""
    low, high = (np.array([getattr(p, end) for p in parameters]) for end in ("low", "high"))
    logarithmic = np.array([p.logarithmic for p in parameters])
    with np.errstate(divide="ignore", invalid="ignore"):  # zeros, where the other one is taken
        return np.where(logarithmic, low * (high / low) ** unit, low + unit * (high - low))


class Thrower:
    """State of a process that throws: tosses, options of engines, and engines once they were asked for."""

    tosses: Tosses
    options: dict[str, Any]
    engines: dict[type[Engine], Engine]

    @classmethod
    def begin(cls, tosses: Tosses, options: dict[str, Any]) -> None:
        """Start in a new process; interrupts are the parent's business."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        cls.tosses, cls.options, cls.engines = tosses, options, {}

    @classmethod
    def throw(cls, job: tuple[type[Engine], int, Array]) -> tuple[str, int, Array, int]:
        """Errors of all tosses in an engine with one set of values, and frames that failed."""
        make, number, values = job
        if make not in cls.engines:
            cls.engines[make] = make(cls.tosses, **cls.options)
        engine = cls.engines[make]
        found = np.array(errors(cls.tosses, engine(**named(make.parameters, values))))
        return make.name, number, np.where(np.isfinite(found), found, LOST), engine.failed


def sets(parameters: tuple[Parameter, ...], budget: int) -> Array:
    """Values to try, `budget` for each of the parameters there are: Halton's sequence, spread over their ranges."""
    from scipy.stats import qmc

    return physical(parameters, qmc.Halton(len(parameters), scramble=False).random(budget * len(parameters)))


def explore(makes: Sequence[type[Engine]], tosses: Tosses, budget: int, **options: Any) -> dict[str, Trials]:
    """All tosses with the `sets` of each engine, by the engines' names; on all cores. options: of engines."""
    from tqdm import tqdm

    tried, jobs = {}, []
    for make in makes:
        values = sets(make.parameters, budget)
        blank = np.empty((len(values), 2, len(tosses))), np.empty(len(values), dtype=int)
        tried[make.name] = Trials(make.parameters, values, *blank)
        jobs += [(make, number, row) for number, row in enumerate(values)]
    with get_context("spawn").Pool(min(os.cpu_count() or 1, 16), Thrower.begin, (tosses, options)) as processes:
        results = processes.imap_unordered(Thrower.throw, jobs)
        for name, number, found, failed in tqdm(results, "throw", total=len(jobs), unit="set"):
            tried[name].errors[number], tried[name].failed[number] = found, failed
    return tried


def save(path: Path, substeps: int, **kinds: Mapping[str, Trials]) -> None:
    """Write trials of some kinds; `read` reads them."""
    arrays = {
        f"{kind}/{name}/{part}": getattr(trials, part)
        for kind, tried in kinds.items()
        for name, trials in tried.items()
        for part in PARTS
    }
    write_arrays(path, arrays | {"substeps": np.array(substeps)})


def read(path: Path, substeps: int, kind: str, makes: Sequence[type[Engine]], tosses: Tosses) -> dict[str, Trials]:
    """Trials of a kind, of these engines with these tosses, that `save` wrote."""
    try:
        with np.load(path) as file:
            made = int(file["substeps"])
            tried = {m.name: Trials(m.parameters, *(file[f"{kind}/{m.name}/{part}"] for part in PARTS)) for m in makes}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile) as error:
        raise InputError(f"{path} does not hold trials of all engines ({error}): leave --trials out") from None
    if made != substeps:
        raise InputError(f"{path} holds trials with --substeps {made}, not {substeps}")
    for trials in tried.values():
        usual = sets(trials.parameters, trials.budget)
        if trials.errors.shape[-1] != len(tosses) or not np.array_equal(trials.values, usual):
            raise InputError(f"{path} holds trials of other tosses or parameters: leave --trials out")
    return tried


def steady(tosses: Tosses, engine: Engine, **values: float) -> Score:
    """The mean score over a few heights of the ground."""
    found = [score(tosses, engine(ground=height, **values)) for height in HEIGHTS]
    return Score(*np.mean([astuple(one) for one in found], axis=0).tolist())
