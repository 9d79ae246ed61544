"""Scripted controllers: no learning, from observations to actions."""
