"""Closed forms of a world whose integrator is Cayley's map.

tests/agreement/test_integrator.py runs them in a process of their own: `pytest -p toys.cayley`."""

import numpy as np

from vigym import Mechanism, Simulator
from vigym.engine.kernels import integrator
from vigym.engine.rotation import conjugate, multiply, rotate

H = 0.05


def test_the_integrator_is_the_toy():
    assert integrator.__file__.endswith("cayley.py")


def test_a_free_body():
    """It turns by 2 atan(h w / 2) a step, and keeps its momentum."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("top", mass=2.0, inertia=(0.02, 0.03, 0.04))
    sim = Simulator(m, dt=H)
    sim.set_state(w=[[0.0, 0.0, 9.0]])
    before = sim.state.q
    sim.step()
    e = multiply(conjugate(before), sim.state.q)[0, 0]
    np.testing.assert_allclose(2 * np.arctan2(e[3], e[0]), 2 * np.arctan(H * 9.0 / 2), rtol=1e-12)
    sim.set_state(w=[[5.0, 1.0, -4.0]], v=[[1.0, 2.0, 3.0]])
    momentum = sim.momentum()
    for _ in range(200):
        sim.step()
        assert sim.status.converged.all()
    np.testing.assert_allclose(sim.momentum(), momentum, atol=200 * 1e-8 * H)  # each step is solved to 1e-8 N m


def test_a_sphere_rolls():
    """v = w r, and the read-out tells no slip."""
    m = Mechanism()
    m.add_body("ball", mass=1.0, inertia=0.004 * np.eye(3))
    m.add_contact("ground", "ball", radius=0.1, friction=0.9)
    sim = Simulator(m, dt=H)
    sim.set_state(x=[[0, 0, 0.1]], v=[[2.0, 0, 0]], w=[[0, 20.0, 0]])
    for _ in range(20):
        sim.step()
        np.testing.assert_allclose(sim.contact_slips(), 0.0, atol=1e-8)
    np.testing.assert_allclose(sim.state.v[0, 0], [2.0, 0, 0], atol=1e-7)
    np.testing.assert_allclose(rotate(sim.state.q, sim.state.w)[0, 0], [0, 20.0, 0], atol=1e-6)


def test_joint_velocities():
    """Those that are set are read again; those after a step are what the step changed."""
    m = Mechanism()
    for k in range(3):
        m.add_body(f"link {k}", mass=1.0, inertia=(0.02, 0.02, 0.001))
        parent, anchor = (f"link {k - 1}", (0, 0, -0.3)) if k else ("world", (0, 0, 0))
        m.add_joint(f"hinge {k}", "revolute", parent, f"link {k}", axis=(1, k, 0), parent_anchor=anchor, damping=0.1)
    rates = [[1.0, -2.0, 3.0]]
    sim = Simulator(m, dt=H)
    sim.set_joint_state([[0.1, 0.2, 0.3]], rates)
    np.testing.assert_allclose(sim.joint_velocities(), rates, atol=1e-12)
    x, q, v, w = sim.state
    sim.set_state(x=x, q=q, v=v, w=w)
    np.testing.assert_allclose(sim.joint_velocities(), rates, atol=1e-12)
    for _ in range(20):
        phi = sim.joint_positions()
        sim.step()
        assert sim.status.converged.all()
        np.testing.assert_allclose(sim.joint_velocities(), (sim.joint_positions() - phi) / H, atol=1e-10)
    assert sim.joint_error().max() < 1e-9
