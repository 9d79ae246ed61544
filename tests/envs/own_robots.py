"""A module of a user's own that registers an environment, for commands that take `module:ID`."""

import gymnasium as gym
import numpy as np

from vigym import Mechanism
from vigym.envs.task import Task


class Swing(Task):
    """Swing a rod on a hinge."""

    def __init__(self, *, torque: float = 5.0, **options):
        m = Mechanism()
        m.add_body("rod", mass=1.0, inertia=0.1 * np.eye(3))
        m.add_joint(
            "hinge", "revolute", "world", "rod", axis=(0, 1, 0), parent_anchor=(0, 0, 1), child_anchor=(0, 0, 0.5)
        )
        self.n_actions, self.torque = 1, torque
        super().__init__(m, dt=0.01, frame_skip=2, **options)

    def draw(self, rng, options):
        return {"angle": rng.uniform(-1.0, 1.0, 1)}

    def start(self, env, draws):
        angle, mask = self.rows(env, draws["angle"])
        self.sim.set_joint_state(angle, mask=mask)

    def controls(self, action):
        return {"effort": self.torque * action}

    def observation_names(self):
        return ["angle", "velocity"]

    def observe(self):
        return np.concatenate([self.sim.joint_positions(), self.sim.joint_velocities()], -1)

    def rewards(self):
        return {"reward_height": self.state.x[:, 0, 2], "reward_ctrl": -0.01 * self.action[:, 0] ** 2}


gym.register(
    "lab/OwnSwing-v0",
    entry_point="vigym.envs.env:RobotEnv",
    vector_entry_point="vigym.envs.vector:RobotVectorEnv",
    max_episode_steps=20,
    kwargs={"task": Swing},
)
