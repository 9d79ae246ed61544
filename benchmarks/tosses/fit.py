"""Contact parameters of an engine from measured tosses: the same optimiser, the same budget, the same loss for all."""

from dataclasses import astuple, dataclass

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import Score, Tosses, score
from vigym.benchmarks.tosses.engines import Engine, Parameter

HEIGHTS = (-4e-4, -2e-4, 0.0, 2e-4, 4e-4)  # m: the ground is moved a little, and scores averaged, since they are rough


@dataclass(frozen=True)
class Fit:
    """values: of the parameters; fitted: score on the tosses that were fitted; runs: simulations of all of them."""

    values: dict[str, float]
    fitted: Score
    runs: int


def physical(parameters: tuple[Parameter, ...], unit: Array) -> dict[str, float]:
    """Values of the parameters at a point of the unit cube."""
    values = {}
    for p, u in zip(parameters, unit, strict=True):
        low, high = (np.log(p.low), np.log(p.high)) if p.logarithmic else (p.low, p.high)
        value = low + float(np.clip(u, 0, 1)) * (high - low)
        values[p.name] = float(np.exp(value)) if p.logarithmic else value
    return values


def steady(tosses: Tosses, engine: Engine, ground: float = 0.0, **values: float) -> Score:
    """The mean score over a few heights of the ground, around `ground`."""
    found = [score(tosses, engine(ground=ground + h, **values)) for h in HEIGHTS]
    return Score(*np.mean([astuple(one) for one in found], axis=0).tolist())


def fit(engine: Engine, tosses: Tosses, budget: int = 100, seed: int = 0) -> Fit:
    """The parameters that make `Score.total` of these tosses, which the engine was made for, least.

    By differential evolution, with so many simulations of all tosses: the loss is rough, since a cube that just rolls
    over in one simulation does not in the next.
    """
    from scipy.optimize import differential_evolution

    parameters, tried = engine.parameters, []

    def loss(unit: Array) -> float:
        values = physical(parameters, unit)
        found = score(tosses, engine(**values))
        tried.append((found.total, values, found))
        return min(found.total, 1e3)

    n, population = len(parameters), max(5, min(20, budget // 8))
    differential_evolution(
        loss,
        [(0.0, 1.0)] * n,
        init=np.random.default_rng(seed).uniform(size=(population, n)),
        maxiter=max(1, budget // population - 1),
        tol=0.0,
        polish=False,
        seed=seed,
    )
    _, values, found = min(tried, key=lambda entry: entry[0])
    return Fit(values, found, len(tried))
