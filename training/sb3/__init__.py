"""Training with Stable-Baselines3: `learn.learn(run, resumed=...)`."""

from vigym.training.sb3.schedule import Linear

__all__ = ["Linear"]  # by this name in models saved before there was schedule.py
