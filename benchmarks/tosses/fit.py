"""Contact parameters of an engine from measured tosses: as many sets tried for each, the same loss for all.

Every engine throws all tosses with many sets of parameters, spread evenly over their ranges. A fit to some tosses is
the set that is closest to these. Fits to other tosses need no more simulations, so that engines can be compared over
many ways to choose the tosses that are fitted.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import astuple, dataclass
from multiprocessing import get_context

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import Score, Tosses, errors, score, summary
from vigym.benchmarks.tosses.engines import Engine, Parameter

HEIGHTS = (-4e-4, -2e-4, 0.0, 2e-4, 4e-4)  # m: the ground is moved a little, and scores averaged, since they are rough
SETS = 16  # of parameters, simulated by one process in a row


@dataclass(frozen=True, eq=False)
class Trials:
    """values: of the parameters (sets, parameters); errors: (sets, 2, tosses), position (%) and rotation (degrees),
    infinite where an engine lost a cube; failed: frames that ended in a step that could not be solved (sets,)."""

    parameters: tuple[Parameter, ...]
    values: Array
    errors: Array
    failed: Array

    def best(self, tosses: Array) -> int:
        """The set closest to these tosses, places or a mask: a per cent counts as much as a degree."""
        return int(self.errors[:, :, tosses].sum(1).mean(1).argmin())

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


def throw(make: type[Engine], tosses: Tosses, substeps: int, values: Array) -> tuple[Array, Array]:
    """Errors of all tosses with each set of values, and frames that failed."""
    engine, found, failed = make(tosses, substeps), [], []
    for row in values:
        found.append(errors(tosses, engine(**named(engine.parameters, row))))
        failed.append(engine.failed)
    return np.nan_to_num(found, nan=np.inf), np.array(failed)


def explore(makes: Sequence[type[Engine]], tosses: Tosses, substeps: int, budget: int) -> dict[str, Trials]:
    """All tosses with `budget` sets of parameters of each engine, by their names; on all cores."""
    from scipy.stats import qmc
    from tqdm import tqdm

    tried, parts = {}, {}
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as processes:
        for make in makes:
            values = physical(make.parameters, qmc.Halton(len(make.parameters), scramble=False).random(budget))
            found, failed = np.empty((budget, 2, len(tosses))), np.empty(budget, dtype=int)
            tried[make.name] = Trials(make.parameters, values, found, failed)
            for begin in range(0, budget, SETS):
                some = slice(begin, begin + SETS)
                parts[processes.submit(throw, make, tosses, substeps, values[some])] = found[some], failed[some]
        try:
            for part in tqdm(as_completed(parts), "throw", total=len(parts), unit=f"{SETS} sets"):
                for place, result in zip(parts[part], part.result(), strict=True):
                    place[:] = result
        except BaseException:
            processes.shutdown(wait=False, cancel_futures=True)
            raise
    return tried


def ways(count: int, draws: int) -> Array:
    """Random halves of so many tosses: masks (draws, count) of those to fit."""
    rng = np.random.default_rng(0)
    return np.array([rng.permutation(count) < count // 2 for _ in range(draws)])


def crossed(trials: Trials, halves: Array) -> tuple[Array, Score, Array]:
    """Both ways round for all these halves (draws, tosses), the tosses that were not fitted: mean errors of each (2,
    tosses), mean score, and which sets were chosen (2 draws,)."""
    chosen, scores = [], []
    unseen = np.zeros(trials.errors.shape[1:])
    for half in halves:
        for fitted in (half, ~half):
            chosen.append(trials.best(fitted))
            found = trials.errors[chosen[-1]][:, ~fitted]
            unseen[:, ~fitted] += found / len(halves)
            scores.append(astuple(summary(*found)))
    return unseen, Score(*np.mean(scores, axis=0).tolist()), np.array(chosen)


def steady(tosses: Tosses, engine: Engine, ground: float = 0.0, **values: float) -> Score:
    """The mean score over a few heights of the ground, around `ground`."""
    found = [score(tosses, engine(ground=ground + h, **values)) for h in HEIGHTS]
    return Score(*np.mean([astuple(one) for one in found], axis=0).tolist())
