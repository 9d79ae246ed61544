"""Uses of gradients, each with a figure on docs/gradients.md: when contact gradients can be trusted, a flip found by
gradient shooting, the real cube from its tosses.

    python -m vigym.benchmarks.uses trust | flip | cube --data cube_tosses.npz   [--out docs/uses]
"""
