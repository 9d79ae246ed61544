"""Robots of Gymnasium's MuJoCo environments (v5), one module each, with `build()`, which returns a `Mechanism`.

Masses, lengths, limits, gears, dampers, springs and armatures are those of Gymnasium's model files
(gymnasium/envs/mujoco/assets, Gymnasium 1.x); tests compare them with MuJoCo's own reading of these files.
"""
