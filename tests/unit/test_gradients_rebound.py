"""sim.gradients() of the step in which something rebounds, against central differences of whole steps.

The rebound is found by three solves, each of which depends on those before it. Where pairs are solved to 1e-7, factors
keep the digits that derivatives need (with 1e-11, forces are 1e17 times their gaps).
"""

from itertools import product

import numpy as np
import pytest
from scenes import change

from vigym import InputError, Mechanism, Simulator, Sphere
from vigym.engine.derivatives import Derivatives
from vigym.engine.rotation import from_rotation_vector, multiply

NAMES = ("friction", "mass", "restitution")  # parameters
EPS = 1e-5


def egg(gravity: float) -> tuple[Mechanism, dict[str, list]]:
    """One contact, beside the centre, that slides and spins."""
    m = Mechanism(gravity=(0, 0, -gravity))
    m.add_body("egg", mass=2.0, inertia=(0.01, 0.012, 0.009))
    m.add_contact("skin", "egg", (0.05, 0.02, -0.05), radius=0.1, friction=0.3, restitution=0.6)
    return m, {"x": [[0, 0, 0.155]], "v": [[2.0, 0.3, -2.0]], "w": [[1.0, 2.0, 3.0]]}


def box() -> tuple[Mechanism, dict[str, list]]:
    """Four corners strike at once."""
    m = Mechanism()
    m.add_body("box", mass=1.0, inertia=(1 / 150, 1 / 150, 1 / 150))
    for k, corner in enumerate(product((-0.1, 0.1), repeat=3)):
        m.add_contact(f"c{k}", "box", corner, friction=0.3, restitution=0.5)
    tilted = [[np.cos(0.04), np.sin(0.04), 0, 0]]
    return m, {"x": [[0, 0, 0.11]], "q": tilted, "v": [[1.5, 0.2, -2.0]], "w": [[0.1, 0.2, 0.3]]}


def differences(sim: Simulator, force: np.ndarray, by_state: bool) -> dict[str, np.ndarray]:
    """d(next state)/d(input) of the next step of sim, which stays where it is; columns flat."""
    names = NAMES if sim.model.n_contacts else ("mass",)
    saved, start = sim.save(), sim.state
    sim.step(force=force)
    base = sim.state

    def after(name: str, index: tuple[int, ...], amount: float) -> np.ndarray:
        sim.restore(saved)
        applied = force.copy()
        if name == "force":
            applied[index] += amount
        elif name in NAMES:
            value = sim.parameter(name)[0]
            value[index] += amount
            sim.set_parameters(**{name: value})
        elif name == "q":
            q = start.q.copy()
            q[0, index[0]] = multiply(q[0, index[0]], from_rotation_vector(amount * np.eye(3)[index[1]]))
            sim._lanes.set(name, q)
        else:
            value = getattr(start, name).copy()
            value[0][index] += amount
            sim._lanes.set(name, value)
        sim.step(force=applied)
        return change(sim.state, base)[0]

    def column(name: str, index: tuple[int, ...]) -> np.ndarray:
        return (after(name, index, EPS) - after(name, index, -EPS)) / (2 * EPS)

    shapes = {name: sim.parameter(name)[0].shape for name in names} | {"force": force.shape}
    found = {name: np.stack([column(name, k) for k in np.ndindex(*shape)], -1) for name, shape in shapes.items()}
    if by_state:
        parts = [(name, (i, k)) for i in range(sim.model.n_bodies) for name in "xqvw" for k in range(3)]
        found["state"] = np.stack([column(*part) for part in parts], -1)
    sim.restore(saved)
    return found


def compare(sim: Simulator, tolerance: float, by_state: bool = True) -> None:
    """The next step of sim, which is one with a rebound."""
    force = np.tile([0.5, 0.0, -1.0], (sim.model.n_bodies, 1))
    expected = differences(sim, force, by_state)
    sim.step(force=force)
    assert sim._get("rebounds").all()
    found = sim.gradients(*expected.keys() - {"state"})
    for name, columns in expected.items():
        scale = np.abs(columns).max()
        assert scale > 1e-3
        exact = found[name][0].reshape(columns.shape)
        np.testing.assert_allclose(exact, columns, rtol=0, atol=tolerance * scale, err_msg=name)


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_one_contact(cone, gravity):
    mechanism, start = egg(gravity)
    sim = Simulator(mechanism, dt=0.005, tolerance=1e-7, cone=cone)
    sim.set_state(**start)
    sim.step()
    compare(sim, 2e-3)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "on NumPy"])
def test_bodies_that_rebound_from_each_other(compiled, monkeypatch):
    """Two balls that meet off centre, slide and spin, each of which carries the other's impact on."""
    m = Mechanism(gravity=(0, 0, 0))
    for k, radius in enumerate((0.1, 0.07)):
        m.add_body(f"b{k}", mass=1.0 + k, shapes=[Sphere(radius)], friction=0.3, restitution=0.6)
    sim = Simulator(m, dt=0.005, tolerance=1e-7)
    sim.set_state(x=[[0, 0, 0], [0.03, 0.02, 0.17]], v=[[0, 0, 1.0], [0.5, 0.2, -2.0]], w=[[1.0, 0, 2.0], [0, 3.0, 0]])
    if not compiled:
        monkeypatch.setattr(Derivatives, "_followed", None)
    sim.step()
    compare(sim, 1e-3)


@pytest.mark.parametrize(("cone", "accuracy"), [("pyramid", 3e-4), ("exact", 5e-3)])
def test_four_corners(cone, accuracy):
    """Corners share the load in no determined way; with the exact cone, a trace of that is left."""
    mechanism, start = box()
    sim = Simulator(mechanism, tolerance=1e-7, cone=cone)
    sim.set_state(**start)
    sim.step()
    compare(sim, accuracy)


def test_a_chain_with_limits_and_drives():
    m = Mechanism()
    for name in "ab":
        m.add_body(name, mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3))
    m.add_joint("hip", "revolute", "world", "a", axis=(0, 1, 0), child_anchor=(0, 0, 0.5), kp=5.0)
    knee = {"parent_anchor": (0, 0, -0.5), "child_anchor": (0, 0, 0.5), "lower": -2.0, "upper": 2.0, "kd": 0.1}
    m.add_joint("knee", "revolute", "a", "b", axis=(0, 1, 0), **knee)
    m.add_contact("foot", "b", (0, 0, -0.5), friction=0.2, restitution=0.4, offset=-3.0)
    sim = Simulator(m, dt=0.005, tolerance=1e-8)
    sim.set_joint_state([[0.3, 0.6]], [[-1.27, -2.42]])
    sim.set_parameters(offset=[[-3.0 + sim.contact_gaps()[0, 0] - 1e-5]])
    sim.step()
    compare(sim, 1e-4, by_state=False)  # differences would open the joints


def test_environments_with_and_without_a_rebound():
    """Side by side as alone."""
    mechanism, start = egg(9.81)

    def after(heights: list[float]) -> Simulator:
        sim = Simulator(mechanism, dt=0.005, num_envs=len(heights), tolerance=1e-7)
        sim.set_state(**start | {"x": [[[0, 0, z]] for z in heights]})
        sim.step()
        sim.step()
        return sim

    sim = after([0.155, 0.5, 0.163])
    np.testing.assert_array_equal(sim._get("rebounds"), [1, 0, 0])  # strikes first, flies, strikes now
    together = sim.gradients("mass")
    for k, height in enumerate([0.155, 0.5, 0.163]):
        alone = after([height]).gradients("mass")
        for name in ("state", "mass"):
            np.testing.assert_allclose(together[name][k], alone[name][0], rtol=1e-9, atol=1e-9)


def test_a_rebound_that_was_lowered_has_none():
    mechanism, start = egg(0.0)
    sim = Simulator(mechanism, dt=0.005, tolerance=1e-7)
    sim._lanes.set("restitution", np.array([[3.0]]))  # more than a user can set
    sim.set_state(**start)
    sim.step()
    sim.gradients()
    sim.step()
    with pytest.raises(InputError, match="environment 0 has no gradients: the rebound in its last step was lowered"):
        sim.gradients()


def test_beside_others_it_has_derivatives_of_zero():
    mechanism, start = egg(0.0)
    sim = Simulator(mechanism, dt=0.005, tolerance=1e-7, num_envs=2)
    sim._lanes.set("restitution", np.array([[3.0], [0.5]]))
    sim.set_state(**start)
    sim.step()
    sim.step()
    found, bar = sim.gradients("mass"), np.ones((2, 12))
    pulled, moved = sim.vjp(bar), sim.jvp(state=bar)
    assert found.status.tolist() == pulled.status.tolist() == ["lowered", "ok"]
    for array in (found.state, found["mass"], pulled["state"], moved):
        assert not array[0].any()
        assert array[1].any()
