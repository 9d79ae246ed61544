"""Numbers that two colliders share: those of both by the rules, or their own."""

import numpy as np
import pytest

from vigym import Box, Mechanism, MechanismError, Simulator, Sphere
from vigym.engine.collider import make_collider, pair_law


def pair(first: dict, second: dict) -> list:
    return [make_collider(name, "world", Sphere(0.1), **law) for name, law in (("a", first), ("b", second))]


def test_rules():
    a, b = pair({"friction": 0.9, "restitution": 0.2}, {"friction": 0.4, "restitution": 0.7})
    np.testing.assert_allclose(pair_law(a, b, {}), (0.6, 0.7, 0.0, 0.0), rtol=1e-15)
    a, b = pair({"compliance": 1e-4, "damping": 3.0}, {"compliance": 2e-4, "damping": 2.0})
    np.testing.assert_allclose(pair_law(a, b, {}), (0.8, 0.0, 3e-4, 3.0), rtol=1e-15)
    a, b = pair({"compliance": 1e-4}, {"restitution": 0.7})
    assert pair_law(a, b, {}).restitution == 0.0  # what is soft rebounds by its compliance
    assert pair_law(a, b, {"compliance": 0.0}).restitution == 0.7
    assert pair_law(a, b, {"friction": 0.1}).friction == 0.1


def cubes() -> Mechanism:
    m = Mechanism()
    m.add_ground(friction=0.5)
    for name in ("a", "b"):
        shapes = [Box((0.1, 0.1, 0.1), position=(s, 0, 0)) for s in (-0.2, 0.2)]
        m.add_body(name, mass=1.0, shapes=shapes, friction=0.5)
    return m


def laws(m: Mechanism) -> dict[tuple[str, str], dict[str, float]]:
    names = [collider.name for collider in m.colliders]
    return {(names[i], names[j]): own for (i, j), own in zip(m.couples, m.pair_laws, strict=True) if own}


def test_own_laws_by_names_of_bodies_and_colliders():
    m = cubes()
    assert not laws(m)
    m.set_pair("ground", "a 1", friction=0.0)  # one collider
    assert laws(m) == {("a 1", "ground"): {"friction": 0.0}}
    m.set_pair("a", "world", friction=0.3, damping=2.0)  # all of a body; the last one counts
    assert laws(m) == {(name, "ground"): {"friction": 0.3, "damping": 2.0} for name in ("a", "a 1")}
    m.set_pair("ground", "a 1", friction=0.1)
    assert laws(m)["a 1", "ground"] == {"friction": 0.1, "damping": 2.0}
    copied = m.copy()
    m.set_pair("a", "b", restitution=0.5)
    assert len(laws(m)) == 6
    assert len(laws(copied)) == 2
    m.add_collider("hat", "a", Sphere(0.1))
    assert laws(m)["hat", "ground"] == {"friction": 0.3, "damping": 2.0}  # bodies mean later colliders, too


@pytest.mark.parametrize(
    ("names", "law", "what"),
    [
        (("a", "nobody"), {"friction": 0.1}, "'nobody' is neither a body nor a collider"),
        (("a", 3), {"friction": 0.1}, "names must be strings, got 3"),
        (("a", "a"), {"friction": 0.1}, "give two different names, got 'a' twice"),
        (("a", "b"), {}, "give at least one of friction, restitution, compliance, damping"),
        (("a", "b"), {"friction": -1.0}, r"set_pair\('a', 'b'\): friction"),
        (("a", "b"), {"restitution": 1.5}, "restitution must be at most 1"),
        (("a", "b"), {"restitution": 0.5, "compliance": 1e-3}, "rebounds by its compliance"),
    ],
)
def test_what_is_refused(names, law, what):
    m = cubes()
    with pytest.raises(MechanismError, match=what):
        m.set_pair(*names, **law)
    assert not laws(m)


def test_saved_states_know_the_laws():
    sims = []
    for friction in (None, 0.3):
        m = cubes()
        m.ignore_contact("a", "b")
        if friction:
            m.set_pair("a", "world", friction=friction)
        sims.append(Simulator(m, compiled=False))
    with pytest.raises(ValueError, match="another"):
        sims[1].restore(sims[0].save())
