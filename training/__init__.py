"""Training and evaluation of policies."""
