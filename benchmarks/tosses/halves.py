"""Engines compared over many halves of the tosses: fitted to one, scored on the other; and how sure differences are."""

from collections.abc import Mapping
from dataclasses import astuple

import numpy as np
from numpy.typing import NDArray

from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import Score, summary
from vigym.benchmarks.tosses.fit import Trials

Mask = NDArray[np.bool_]
SURE = 2.5, 97.5  # %, the ends of intervals


def ways(count: int, draws: int, seed: int = 0) -> Mask:
    """Random halves of so many tosses: masks (draws, count) of those to fit."""
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(count) < count // 2 for _ in range(draws)])


def crossed(trials: Trials, halves: Mask) -> tuple[list[Score], Array]:
    """Both ways round for all these halves (draws, tosses): scores of the tosses that were not fitted, and the sets
    that were chosen, (2 draws) of each."""
    fitted = np.concatenate([halves, ~halves])
    chosen = trials.best(fitted)
    return [summary(*trials.errors[i][:, ~mask]) for i, mask in zip(chosen, fitted, strict=True)], chosen


def mean(scores: list[Score]) -> Score:
    """Mean of all figures."""
    return Score(*np.mean([astuple(one) for one in scores], axis=0).tolist())


def unseen(trials: Trials, halves: Mask, weights: Array) -> Array:
    """Mean errors (2,) of the tosses that were not fitted, as in `crossed`, where each toss counts so often."""
    fitted = np.concatenate([halves, ~halves])
    rest = ~fitted * weights
    chosen = trials.best(fitted * weights)
    return np.einsum("wkt,wt->k", trials.errors[chosen], rest / rest.sum(-1, keepdims=True)) / len(rest)


def apart(tried: Mapping[str, Trials], ours: str, draws: int, halves: int = 10) -> dict[str, Array]:
    """Excess of other engines' errors over ours, 95 % intervals: (3, 2), position, rotation, sum; low and high.

    Tosses are drawn again and again out of those there are; all engines are fitted to halves of each draw, and scored
    on the rest.
    """
    rng, found = np.random.default_rng(0), []
    count = tried[ours].errors.shape[-1]
    for draw in range(draws):
        weights = rng.multinomial(count, np.full(count, 1 / count)).astype(float)
        there = np.flatnonzero(weights)
        if len(there) < 2:  # of very few tosses
            continue
        masks = np.zeros((halves, count), dtype=bool)
        masks[:, there] = ways(len(there), halves, seed=draw)
        two = np.array([unseen(trials, masks, weights) for trials in tried.values()])
        found.append(np.concatenate([two, two.sum(1, keepdims=True)], axis=1))
    misses = dict(zip(tried, np.moveaxis(np.array(found), 1, 0), strict=True))
    return {name: np.percentile(them - misses[ours], SURE, axis=0).T for name, them in misses.items()}
