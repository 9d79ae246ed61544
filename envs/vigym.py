"""Entry points of the registered environments.

`gymnasium.pprint_registry()` groups environments by the third word of their entry point: those of `vigym.envs.vigym`
are listed under "vigym".
"""

from vigym.envs.classics.base import ClassicEnv
from vigym.envs.env import RobotEnv
from vigym.envs.goal import GoalEnv, GoalVectorEnv
from vigym.envs.vector import RobotVectorEnv

__all__ = ["ClassicEnv", "GoalEnv", "GoalVectorEnv", "RobotEnv", "RobotVectorEnv"]
