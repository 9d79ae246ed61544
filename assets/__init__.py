"""Robots and small mechanisms: one module a model, each with `build(...)`, which returns a `Mechanism`.

    from vigym.assets import unitree_a1
    sim = vigym.Simulator(unitree_a1.build(friction=0.6))  # stands on its feet

g1, go2, hopper, panda, robotiq_2f85, unitree_a1, snake; cartpole, cube, disc, double_pendulum, four_bar,
pendulum, scissor_lift.
docs/models.md lists their parameters and where the figures come from.
"""
