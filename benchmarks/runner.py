"""Interface of the engines that are measured, and vigym's runner."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from time import perf_counter, process_time
from types import TracebackType
from typing import Any

import numpy as np

from vigym.benchmarks.scenes import Scene
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.rotation import rotate
from vigym.engine.simulator import Simulator

LARGEST = 2e8  # bytes that a rollout may write


class Stopwatch:
    """`with stopwatch:` adds to `cpu` (of the process, all threads) and `wall`, s.

    CPU time is hardly disturbed by other processes; but only wall time shows what a second thread brings.
    """

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def __enter__(self) -> None:
        self.began = process_time(), perf_counter()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        cpu, wall = process_time(), perf_counter()
        self.cpu += cpu - self.began[0]
        self.wall += wall - self.began[1]


def at_once() -> None:
    """There is nothing to wait for before the clock starts."""


class Runner(ABC):
    """One engine with one scene in `num_envs` environments; the first one is looked at, all are timed.

    dt: time step, s; steps: how many are run from the start. timing: in words, what `time` measures.
    """

    timing = ""

    def __init__(self, scene: Scene, dt: float, steps: int, num_envs: int = 1, threads: int = 1) -> None:
        self.scene, self.dt, self.steps, self.num_envs, self.threads = scene, dt, steps, num_envs, threads

    def shifts(self) -> Array:
        """Lead of each environment in its controls (num_envs,), s: up to 1 s, the first one not at all."""
        ahead = np.random.default_rng(2).uniform(0, 1, self.num_envs)
        ahead[0] = 0.0
        return ahead

    @abstractmethod
    def reset(self) -> None:
        """Go back to the start."""

    @abstractmethod
    def step(self, k: int) -> None:
        """Step number k of all environments."""

    @abstractmethod
    def time(self, ready: Callable[[], object] = at_once) -> Stopwatch:
        """Return how long all the steps from the start take; `ready` is called when they are about to begin."""

    @abstractmethod
    def poses(self) -> tuple[Array, Array] | None:
        """x (n_bodies, 3) and q (n_bodies, 4) of the first environment, if the engine can tell."""

    @abstractmethod
    def velocities(self) -> tuple[Array, Array]:
        """v (n_bodies, 3) of centres of mass and angular velocities (n_bodies, 3) of the first environment, both in
        the world."""

    def gap(self) -> float | None:
        """Smallest gap of a contact, m, where the engine tells and `poses` does not."""
        return None

    def energy(self) -> float | None:
        """Kinetic and potential energy of the first environment, J."""
        return None

    def momentum(self) -> Array | None:
        """Linear, and angular about the world's origin, of the first environment (6,), N s and N m s."""
        return None

    def iterations(self) -> float | None:
        """Iterations of the solver in the last step; mean of all environments."""
        return None

    def failures(self) -> int:
        """Environments in which the last step could not be solved."""
        return 0

    def retried(self) -> int:
        """Environments in which the last step was solved, but not at once, exactly and whole."""
        return 0

    def relaxed(self) -> int:
        """Environments in which the last step was solved with bounded friction."""
        return 0

    def cut(self) -> int:
        """Environments in which the last step was made in parts."""
        return 0


class Vigym(Runner):
    """tolerance: largest residual of a converged step; the paper's by default. cone: as in `Simulator`."""

    def __init__(self, *args: Any, tolerance: float = 1e-6, cone: str = "exact", **options: Any) -> None:
        super().__init__(*args, **options)
        self.sim = Simulator(self.scene.mechanism, self.dt, self.num_envs, tolerance, cone, num_threads=self.threads)
        starts = self.scene.starts(self.num_envs)
        self.sim.set_state(*starts)
        self.twists = self.scene.twists(self.steps, self.dt)
        self.targets = None
        if self.scene.targets is not None:
            self.targets = np.stack([self.scene.controls(self.steps, self.dt, ahead) for ahead in self.shifts()], 1)
        self.alone = self.num_envs == 1 and self.targets is None and self.twists is None
        self.timing = "sim.step(repeat)" if self.alone else "sim.rollout"
        self.chunk = int(np.clip(LARGEST // sum(part.nbytes for part in starts), 1, self.steps))
        size = 0 if self.alone else self.chunk
        # ones: memory that is really there
        self.written = {name: np.ones((size, *part.shape)) for name, part in starts._asdict().items()}
        self.saved = self.sim.save()

    def reset(self) -> None:
        self.sim.restore(self.saved)

    def step(self, k: int) -> None:
        self.sim.rollout(**self.controls(k, k + 1), read=())

    def controls(self, first: int, last: int) -> dict[str, Any]:
        """Return what acts in the steps first..last."""
        controls: dict[str, Any] = {"steps": last - first}
        if self.targets is not None:
            controls["target"] = self.targets[first:last]
        if self.twists is not None:
            controls["torque"] = np.repeat(self.twists[first:last, None], self.num_envs, axis=1)
        return controls

    def time(self, ready: Callable[[], object] = at_once) -> Stopwatch:
        self.reset()
        watch = Stopwatch()
        ready()
        if self.alone:
            with watch:
                self.sim.step(repeat=self.steps)
            return watch
        for first in range(0, self.steps, self.chunk):
            controls = self.controls(first, min(first + self.chunk, self.steps))
            out = {name: array[: controls["steps"]] for name, array in self.written.items()}
            with watch:
                self.sim.rollout(**controls, out=out)
        return watch

    def poses(self) -> tuple[Array, Array]:
        x, q, _, _ = self.sim.state
        return x[0], q[0]

    def velocities(self) -> tuple[Array, Array]:
        _, q, v, w = self.sim.state
        return v[0], rotate(q[0], w[0])

    def gap(self) -> float | None:
        return float(self.sim.contact_gaps().min()) if self.scene.mechanism.contacts else None

    def energy(self) -> float:
        return float(self.sim.energy()[0])

    def momentum(self) -> Array:
        return self.sim.momentum()[0]

    def iterations(self) -> float:
        return float(self.sim.status.iterations.mean())

    def failures(self) -> int:
        return int((~self.sim.status.converged).sum())

    def retried(self) -> int:
        status = self.sim.status
        return int((status.converged & ((status.relaxed > 0) | (status.substeps > 1))).sum())

    def relaxed(self) -> int:
        status = self.sim.status
        return int((status.converged & (status.relaxed > 0)).sum())

    def cut(self) -> int:
        status = self.sim.status
        return int((status.converged & (status.substeps > 1)).sum())
