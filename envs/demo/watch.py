"""Summary of a run of the demo."""

from pathlib import Path
from typing import Any

import numpy as np

from vigym.engine.durable import write_rows
from vigym.engine.simulator import Simulator


class Watch:
    """Summary of a run, and the poses of all its bodies as rows of a table."""

    def __init__(self, sim: Simulator) -> None:
        self.sim, self.names = sim, [body.name for body in sim.model.mechanism.bodies]
        self.rows: list[list[Any]] = []
        self.gap, self.error, self.iterations, self.steps, self.timed, self.spent = np.inf, 0.0, 0, 0, 0, 0.0

    def after(self, steps: int, spent: float) -> None:
        """Look at the state after some more steps, which took that many seconds."""
        sim = self.sim
        if not sim.status.converged[0]:
            raise SystemExit(f"step {self.steps} could not be solved: residual {sim.status.residual[0]:.3g}")
        if self.steps:  # the first may have compiled
            self.timed += steps
            self.spent += spent
        self.steps += steps
        self.gap = min(self.gap, sim.contact_gaps().min(initial=np.inf), sim.contacts().gap.min(initial=np.inf))
        self.error = max(self.error, sim.joint_error()[0])
        self.iterations += sim.status.iterations[0]
        state = sim.state
        for i, name in enumerate(self.names):
            self.rows.append([f"{self.steps * sim.dt:.6g}", name, *state.x[0, i], *state.q[0, i]])

    def tell(self, path: Path) -> None:
        """Write the poses, print the rest."""
        write_rows(path, [["time", "body", "x", "y", "z", "qw", "qx", "qy", "qz"], *self.rows])
        speed = f", {self.timed / self.spent:,.0f} a second" if self.timed else ""
        print(f"  steps of physics           {self.steps} of {self.sim.dt:g} s{speed}")
        print(f"  Newton iterations a step   {self.iterations / self.steps:.1f}")
        if self.gap < np.inf:
            print(f"  deepest penetration        {max(0.0, -self.gap):.1e} m")
        if self.sim.model.mechanism.joints:
            print(f"  largest joint error        {self.error:.1e}")
        print(f"wrote {path}")
