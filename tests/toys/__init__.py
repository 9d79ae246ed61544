"""Parts that only tests have: another integrator, another kind of contact."""
