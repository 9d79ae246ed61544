"""The same mechanism, control and start in vigym, MuJoCo and PyBullet: what each of them makes of it."""
