"""Rows of all joints of a mechanism, from the stores of the kernels."""

import numpy as np

from vigym import Simulator
from vigym.engine import coordinates
from vigym.engine.joint_table import joint_table
from vigym.engine.kernels.store import Group


def joint_rows(sim: Simulator, t: Group) -> np.ndarray:
    """g of all joints at the next pose, (lanes, rows)."""
    n = sim.model.n_bodies
    x, q = np.moveaxis(t.xn[:n], -1, 0), np.moveaxis(t.qn[:n], -1, 0)
    joints = [j for j in sim.model.joints if j is not None]  # as the kernels see them
    table = joint_table(joints, [0] * len(joints), sim.model.bodies, sim.model.first_axis)
    return coordinates.rows(table, x, q)[:, table.constrained]
