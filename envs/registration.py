"""The environments' ids. Importing vigym registers them with Gymnasium; nothing else is imported for that."""

import gymnasium as gym

# The same for the environments of Gymnasium's MuJoCo suite; returns are those that Gymnasium gives, where it does
CLASSICS: dict[str, tuple[str, int, float | None]] = {
    "VIInvertedPendulum-v0": ("vigym.envs.classics.inverted_pendulum:InvertedPendulum", 1000, 950.0),
    "VIInvertedDoublePendulum-v0": (
        "vigym.envs.classics.inverted_double_pendulum:InvertedDoublePendulum",
        1000,
        9100.0,
    ),
    "VIReacher-v0": ("vigym.envs.classics.reacher:Reacher", 50, -3.75),
    "VIPusher-v0": ("vigym.envs.classics.pusher:Pusher", 100, 0.0),
    "VIHopper2D-v0": ("vigym.envs.classics.hopper2d:Hopper2D", 1000, 3800.0),
    "VIWalker2d-v0": ("vigym.envs.classics.walker2d:Walker2d", 1000, None),
    "VIHalfCheetah-v0": ("vigym.envs.classics.half_cheetah:HalfCheetah", 1000, 4800.0),
    "VIAnt-v0": ("vigym.envs.classics.ant:Ant", 1000, 6000.0),
    "VIHumanoid-v0": ("vigym.envs.classics.humanoid:Humanoid", 1000, None),
    "VIHumanoidStandup-v0": ("vigym.envs.classics.humanoid_standup:HumanoidStandup", 1000, None),
}
# Those of an arm with a goal
ARMS: dict[str, tuple[str, int, float | None]] = {
    "VIPandaReach-v0": ("vigym.envs.arms.reach:PandaReach", 50, None),
    "VIPandaPush-v0": ("vigym.envs.arms.push:PandaPush", 50, None),
    "VIPandaPickAndPlace-v0": ("vigym.envs.arms.pick_and_place:PandaPickAndPlace", 50, None),
}
# id -> task, control steps of an episode, return at which it counts as solved
ENVIRONMENTS: dict[str, tuple[str, int, float | None]] = {
    "VIPendulum-v0": ("vigym.envs.pendulum:Pendulum", 200, -250.0),
    "VICartPole-v0": ("vigym.envs.cartpole:CartPole", 500, 475.0),
    "VIHopper-v0": ("vigym.envs.hopper:Hopper", 200, 260.0),
    "VIHopperHop-v0": ("vigym.envs.hopper_hop:HopperHop", 500, 400.0),
    "VISnake-v0": ("vigym.envs.snake:Snake", 400, 300.0),
    "VIQuadruped-v0": ("vigym.envs.quadruped:Quadruped", 1000, 1900.0),
    "VIQuadrupedRough-v0": ("vigym.envs.quadruped_rough:QuadrupedRough", 1000, None),
    **CLASSICS,
    **ARMS,
}


def register() -> None:
    """Tell Gymnasium about all environments that it does not know yet."""
    for name, (task, steps, threshold) in ENVIRONMENTS.items():
        if name not in gym.registry:
            kind = "Goal" if name in ARMS else "Robot"
            gym.register(
                id=name,
                entry_point=f"vigym.envs.vigym:{'Classic' if name in CLASSICS else kind}Env",
                vector_entry_point=f"vigym.envs.vigym:{kind}VectorEnv",
                max_episode_steps=steps,
                reward_threshold=threshold,
                kwargs={"task": task},
            )
