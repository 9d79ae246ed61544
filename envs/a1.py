"""Tasks of the Unitree A1: actions are targets of its drives, or torques."""

from typing import Any

import numpy as np

from vigym.assets import unitree_a1
from vigym.envs.compiled_task import CompiledTask
from vigym.envs.quadruped_motion import aim
from vigym.envs.robot import RobotTask
from vigym.envs.task import Array


class A1Task(CompiledTask, RobotTask):
    """A task of the A1.

    has_drives: actions are targets, action_scale (rad) times the action from `neutral` (12,), rad, within `limits`
    (2, 12); else torques. aims: (num_envs, 12) what was asked of the motors in the last step
    """

    has_drives: bool
    action_scale: float
    neutral: Array
    limits: Array
    aims: Array

    def controls(self, action: Array) -> dict[str, Any]:
        if self.has_drives:
            aim(action, self.neutral, self.action_scale, self.limits, self.aims)
            return {"target": self.aims}
        np.multiply(unitree_a1.EFFORT_LIMIT, action, out=self.aims)
        return {"effort": self.aims}

    def acted(self, effort: Array) -> None:
        np.clip(effort, -unitree_a1.EFFORT_LIMIT, unitree_a1.EFFORT_LIMIT, out=self.aims)
