"""Mechanisms in PyBullet: `to_pybullet` and the handle that it returns. PyBullet is imported when it is called."""
