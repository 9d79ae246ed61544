"""The kernels and the dense reference agree on one step of random mechanisms."""

import numpy as np
import pytest
import reference
from hypothesis import HealthCheck, given, settings
from mechanisms import DT, Scene, scenes

from vigym import Simulator

# Both solve to 1e-10 (N, N m); a residual of that size moves a body of 0.3 kg, or of 5e-4 kg m^2, by less than
# 1e-10 h / J = 2e-9 rad/s, and joints pass on a few times that.
TOLERANCE = 1e-8
settings.register_profile("oracle", deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def compare(scene: Scene) -> None:
    m = scene.mechanism
    expected = reference.step(m, scene.state, DT, scene.effort, scene.force, scene.torque)
    if not expected.converged:  # the oracle is not always able to; it must be most of the time, see below
        compare.unsolved += 1
        return
    compare.solved += 1
    sim = Simulator(m, dt=DT, tolerance=1e-10, compiled=False)
    x, q, v, w = scene.state
    sim.set_state(x=x, q=q, v=v, w=w)
    sim.step(scene.effort, scene.force, scene.torque)
    status = sim.status
    assert status.converged.all()
    if status.substeps[0] > 1:
        compare.unsolved += 1
        return
    state = sim.state
    scale = max(1.0, np.abs(expected.v).max(), np.abs(expected.w).max())
    np.testing.assert_allclose(state.v[0], expected.v, rtol=0, atol=TOLERANCE * scale)
    np.testing.assert_allclose(state.w[0], expected.w, rtol=0, atol=TOLERANCE * scale)
    np.testing.assert_allclose(state.x[0], expected.x, rtol=0, atol=TOLERANCE * scale * DT)
    assert sim.joint_error()[0] < 1e-10
    if m.contacts:
        assert sim.contact_gaps().min() > -1e-9


@pytest.mark.parametrize(
    ("parts", "examples"),
    [({}, 25), ({"contacts": True}, 20), ({"laws": True}, 20), ({"loops": True}, 15), (None, 25)],
    ids=["joints", "contacts", "laws", "loops", "everything"],
)
def test_one_step_agrees_with_the_reference(parts, examples):
    parts = {"contacts": True, "laws": True, "loops": True} if parts is None else parts
    compare.solved = compare.unsolved = 0

    @settings(settings.get_profile("oracle"), max_examples=examples)
    @given(scenes(**parts))
    def run(scene):
        compare(scene)

    run()
    assert compare.solved >= 0.9 * examples
