"""Training and evaluation of policies. A backend is a folder, whose entry is `learn.learn(run, resumed=...)`."""
