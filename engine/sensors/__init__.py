"""Sensors of robots: read after each step, for all environments at once."""
