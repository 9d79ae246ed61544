"""Mechanisms from and for other programs: read from URDF, written as MJCF for MuJoCo, put into PyBullet."""
