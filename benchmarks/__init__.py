"""Experiments and comparisons; each writes CSV and PNG files."""
