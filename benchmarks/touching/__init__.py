"""Scenes of bodies that touch each other, for tests and for the benchmark of robustness: piles, grips, round things."""
