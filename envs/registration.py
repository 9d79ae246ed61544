"""The environments' ids. Importing vigym registers them with Gymnasium; nothing else is imported for that."""

import gymnasium as gym

# id -> task, control steps of an episode, return at which it counts as solved
ENVIRONMENTS = {
    "VIPendulum-v0": ("vigym.envs.pendulum:Pendulum", 200, -250.0),
    "VICartPole-v0": ("vigym.envs.cartpole:CartPole", 500, 475.0),
    "VIHopper-v0": ("vigym.envs.hopper:Hopper", 200, 260.0),
    "VIHopperHop-v0": ("vigym.envs.hopper_hop:HopperHop", 500, 400.0),
    "VISnake-v0": ("vigym.envs.snake:Snake", 400, 12.0),
    "VIQuadruped-v0": ("vigym.envs.quadruped:Quadruped", 1000, 1900.0),
}


def register() -> None:
    """Tell Gymnasium about all environments that it does not know yet."""
    for name, (task, steps, threshold) in ENVIRONMENTS.items():
        if name not in gym.registry:
            gym.register(
                id=name,
                entry_point="vigym.envs.env:RobotEnv",
                vector_entry_point="vigym.envs.vector:RobotVectorEnv",
                max_episode_steps=steps,
                reward_threshold=threshold,
                kwargs={"task": task},
            )
