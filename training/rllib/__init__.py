"""Training on Ray RLlib: `learn.learn(run, resumed=...)`."""
