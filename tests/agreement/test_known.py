"""Knowledge at compile time (level planes, pairs that no axis has) saves work, and changes nothing."""

import numpy as np
import pytest
from scenes import advance

from vigym import Simulator
from vigym.assets import unitree_a1
from vigym.assets.unitree_a1 import STANDING
from vigym.engine import model
from vigym.engine.contact import Contact
from vigym.engine.kernels import axis, geometry

STEPS, TOLERANCE = 20, 1e-11


def simulate(cone: str) -> Simulator:
    """Four robots that are told to bend their legs, three of them pushed sideways."""
    sim = Simulator(unitree_a1.build(), dt=0.005, num_envs=4, tolerance=TOLERANCE, cone=cone)
    sim.set_joint_state(STANDING)
    force = np.zeros((4, 13, 3))
    force[:, 0] = [[0, 0, 0], [30, 0, 0], [0, 30, 0], [-20, 20, 0]]
    advance(sim, STEPS, target=STANDING + 0.2, force=force)
    return sim


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
def test_less_is_compiled_and_the_motion_is_the_same(cone, monkeypatch):
    known = simulate(cone)
    assert known.model.features.contact_kinds == (geometry.number("level plane"),)
    assert known.model.features.limits == (axis.LOW, axis.HIGH, axis.CUT, axis.UNCUT)
    features, limits = model.Features, tuple(range(axis.PAIRS))
    monkeypatch.setattr(model, "Features", lambda **kinds: features(**kinds | {"limits": limits}))
    monkeypatch.setattr(Contact, "kind", "plane")
    general = simulate(cone)
    assert general.model.features.contact_kinds == (geometry.number("plane"),)
    assert general.model.features.limits == limits
    assert (known.contact_forces()[..., 2] > 1.0).any()
    # both solve each step to TOLERANCE N, which moves a foot of 0.06 kg by 1e-11 N (0.005 s)^2 / 0.06 kg in a step
    for a, b in zip(known.state, general.state, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8)
