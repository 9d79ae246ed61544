"""The hot path: plain functions on small blocks, compiled with one lane per environment."""
