"""Random actions in every environment: no exception, no NaN, no failed solve; how deep, how open, how often relaxed."""

import time
from contextlib import closing

import gymnasium as gym
import numpy as np

from vigym.benchmarks.soak.result import Result
from vigym.envs.registration import ENVIRONMENTS

NUM = 16
PIECE = 50  # steps between two looks at the clock, at one size of the actions
SIZES = (0.1, 0.5, 1.0, np.inf)  # of random actions; infinite: full power to and fro


def run(result: Result, until: float, seed: int) -> None:
    """Step batches of all environments, one after the other, for the same time each."""
    began = time.monotonic()
    for k, env_id in enumerate(ENVIRONMENTS, 1):
        try:
            _one(result, env_id, began + (until - began) * k / len(ENVIRONMENTS), seed)
        except Exception as error:
            result.fail(f"{env_id}, seed {seed}: {type(error).__name__}: {error}")


def _one(result: Result, env_id: str, until: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    with closing(gym.make_vec(env_id, num_envs=NUM)) as env:
        env.reset(seed=seed)
        while True:
            _piece(result, env, env_id, rng, seed)
            if time.monotonic() >= until:
                return


def _piece(result: Result, env: gym.vector.VectorEnv, env_id: str, rng: np.random.Generator, seed: int) -> None:
    """Make PIECE steps. Failures are told with the seed: the same one leads to them again."""
    task = env.task  # type: ignore[attr-defined]
    sim, whole = task.sim, round(task.dt / task.sim.dt)  # steps of the physics in one of the environment
    size = rng.choice(SIZES)
    for _ in range(PIECE):
        noise = rng.uniform(-1, 1, env.action_space.shape or ())
        action = np.sign(noise) if np.isinf(size) else size * noise
        _, reward, *_ = env.step(action.astype(np.float32))
        status = sim.status
        result.count(f"{env_id}: steps", NUM)
        result.count(f"{env_id}: relaxed steps", status.relaxed.sum())
        result.count(f"{env_id}: cut steps", (status.substeps > whole).sum())
        result.count(f"{env_id}: failed steps", (~status.converged).sum())
        result.most(f"{env_id}: joint error", sim.joint_error().max(initial=0.0))
        if sim.model.n_contacts:
            result.most(f"{env_id}: deepest penetration, m", -sim.contact_gaps().min())
        if not status.converged.all():
            result.fail(f"{env_id}, seed {seed}: {(~status.converged).sum()} steps were not solved")
        if not (np.isfinite(task.observe()).all() and np.isfinite(reward).all()):
            result.count(f"{env_id}: steps with NaN")
            result.fail(f"{env_id}, seed {seed}: an observation or reward is not finite")
            env.reset(seed=seed)
