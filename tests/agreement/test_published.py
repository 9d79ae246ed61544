"""Gaps, velocities, slips, forces and touching points of contacts, as the kernels publish them, against plain NumPy."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from threading import Barrier

import numpy as np
import pytest
from scenes import matrix

from vigym import InputError, Mechanism, Simulator, StateError, VigymError
from vigym.assets import unitree_a1
from vigym.engine.rotation import from_rotation_vector, multiply

CONES = ("pyramid", "exact")


def thrown(num_envs: int = 3, **options) -> Simulator:
    """Lopsided dumbbells above a level and a tilted plane, with points and spheres."""
    m = Mechanism()
    m.add_body("bar", mass=1.3, inertia=(0.02, 0.03, 0.04))
    m.add_contact("end", "bar", (0.2, 0.0, 0.03), friction=0.6)
    m.add_contact("knob", "bar", (-0.2, 0.05, 0.0), radius=0.07, friction=0.3)
    m.add_contact("side", "bar", (0.0, 0.1, 0.0), radius=0.05, friction=0.0, normal=(1, -2, 2), offset=-0.4)
    sim = Simulator(m, dt=0.01, num_envs=num_envs, **options)
    rng = np.random.default_rng(2)
    v, w = rng.normal(size=(2, num_envs, 1, 3))
    sim.set_state(x=np.array([[0.0, 0.0, 0.35]]), v=v, w=4.0 * w)
    return sim


def contacts(sim: Simulator) -> tuple[np.ndarray, ...]:
    """Points, radii, normals, offsets."""
    found = sim.model.mechanism.contacts
    points, normals = (np.array([getattr(c, name) for c in found]) for name in ("point", "normal"))
    return points, np.array([c.radius for c in found]), normals, sim.parameter("offset")


def check_geometry(sim: Simulator) -> None:
    """gap = n . (x + R p) - offset - radius, and the point that touches."""
    points, radius, normals, offset = contacts(sim)
    centres = sim.state.x + np.einsum("nij,cj->nci", matrix(sim.state.q[:, 0]), points)
    gaps = (centres * normals).sum(-1) - offset - radius
    np.testing.assert_allclose(sim.contact_gaps(), gaps, atol=1e-14)
    np.testing.assert_allclose(sim.contact_points(), centres - radius[:, None] * normals, atol=1e-14)


def check_velocity(sim: Simulator, q0: np.ndarray) -> None:
    """v + (R1 - R0) p / dt - om x radius n, R0 before the step; slip is what of it is along the plane.

    To rounding of a length over a step, 1e-16 / dt."""
    points, radius, normals, _ = contacts(sim)
    R0, R1 = matrix(q0[:, 0]), matrix(sim.state.q[:, 0])
    om = np.einsum("nij,nj->ni", R0, sim.state.w[:, 0])
    core = sim.state.v + np.einsum("nij,cj->nci", R1 - R0, points) / sim.dt
    velocity = core - np.cross(om[:, None], radius[:, None] * normals)
    np.testing.assert_allclose(sim.contact_velocities(), velocity, atol=1e-12)
    along = velocity - (velocity * normals).sum(-1, keepdims=True) * normals
    np.testing.assert_allclose(sim.contact_slips(), np.linalg.norm(along, axis=-1), atol=1e-12)


@pytest.mark.parametrize("cone", CONES)
def test_after_every_step(cone):
    sim = thrown(cone=cone)
    pressed = 0
    for _ in range(120):
        before = sim.state
        sim.step()
        check_geometry(sim)
        if (sim.status.substeps == 1).all():
            check_velocity(sim, before.q)
            # m (v1 - v0)/h = m g + sum of forces, to the tolerance (N)
            total = 1.3 * (sim.state.v - before.v)[:, 0] / 0.01 + [0, 0, 1.3 * 9.81]
            np.testing.assert_allclose(sim.contact_forces().sum(1), total, atol=2e-7)
        pressed += (sim.contact_forces()[..., 2] > 0.1).sum()
    assert pressed > 100


def test_after_a_state_was_set():
    sim = thrown()
    sim.step(repeat=40)
    assert np.abs(sim.contact_forces()[2]).max() > 0.0
    told = sim.contact_forces(), sim.contact_gaps(), sim.contact_velocities()
    mask = np.array([True, False, False])
    sim.set_state(x=np.array([[0.1, 0.2, 0.5]]), mask=mask)
    check_geometry(sim)
    assert not sim.contact_forces()[0].any()  # there was no step
    for before, now in zip(told, (sim.contact_forces(), sim.contact_gaps(), sim.contact_velocities()), strict=True):
        np.testing.assert_array_equal(now[1:], before[1:])
    # the velocity of a state that was set is that of a step of length dt that led there
    x, q, v, w = sim.state
    sim.set_state(x=x, q=q, v=v, w=w)
    check_velocity(sim, multiply(q, from_rotation_vector(-0.01 * w)))


def test_a_refused_state_changes_nothing():
    sim = thrown()
    sim.step(repeat=30)
    saved, gaps = sim.save(), sim.contact_gaps()
    with pytest.raises(StateError, match="penetrates"):
        sim.set_state(x=np.array([[0.0, 0.0, -1.0]]), mask=np.array([False, True, False]))
    with pytest.raises(InputError, match="below its plane"):
        sim.set_parameters(offset=np.array([0.0, 5.0, -0.4]), friction=np.array([0.1, 0.1, 0.1]))
    assert sim.save() == saved
    np.testing.assert_array_equal(sim.contact_gaps(), gaps)


def test_planes_that_move():
    sim = thrown()
    sim.step(repeat=5)
    gaps, forces = sim.contact_gaps(), sim.contact_forces()
    sim.set_parameters(offset=sim.parameter("offset") - [0.1, 0.2, 0.3])
    np.testing.assert_allclose(sim.contact_gaps(), gaps + np.array([0.1, 0.2, 0.3]), atol=1e-14)
    np.testing.assert_array_equal(sim.contact_forces(), forces)
    check_geometry(sim)


def test_reading_is_free_of_side_effects():
    """Reading changes neither states nor saved bytes, whoever reads and when; restored bytes tell the same."""
    silent, curious = thrown(), thrown()
    for _ in range(30):
        silent.step()
        curious.step()
        curious.contact_forces()
    assert silent.save() == curious.save()
    told = curious.contact_gaps(), curious.contact_forces(), curious.contact_points()
    silent.step()
    silent.restore(curious.save())
    for one, other in zip(told, (silent.contact_gaps(), silent.contact_forces(), silent.contact_points()), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("num_envs", [2, 4, 7])
def test_batch_and_single_tell_the_same_bits(num_envs):
    together = thrown(7)
    alone = Simulator(together.model.mechanism, dt=0.01, num_envs=num_envs)
    x, q, v, w = (part[:num_envs] for part in together.state)
    alone.set_state(x=x, q=q, v=v, w=w)
    for sim in (together, alone):
        sim.step(repeat=50)
    for name in ("contact_gaps", "contact_forces", "contact_velocities", "contact_points", "contact_slips"):
        np.testing.assert_array_equal(getattr(together, name)()[:num_envs], getattr(alone, name)())


def test_gaps_at_other_poses():
    sim = Simulator(unitree_a1.build(), num_envs=3)
    x, q = sim.state.x.copy(), sim.state.q
    x[:, 0, 2] += [0.1, 0.2, 0.3]
    sim.set_joint_state(np.tile(unitree_a1.STANDING, (3, 1)), x=x, q=q)
    saved, state, gaps = sim.save(), sim.state, sim.contact_gaps()
    raised = sim.gaps_at(np.array([0, 2]), state.x[[0, 2]] + [0, 0, 0.5], state.q[[0, 2]])
    np.testing.assert_allclose(raised, gaps[[0, 2]] + 0.5, atol=1e-14)
    assert sim.save() == saved


def test_a_step_that_fails_tells_of_the_state_that_stays():
    sim = thrown(1)
    sim.step(repeat=3)
    gaps, velocities = sim.contact_gaps(), sim.contact_velocities()
    sim._lanes.constants.last_iterations[...] = 1  # nothing is solved any more
    sim.step(force=np.full((1, 1, 3), 50.0))
    assert not sim.status.converged.any()
    np.testing.assert_array_equal(sim.contact_gaps(), gaps)
    np.testing.assert_array_equal(sim.contact_velocities(), velocities)
    assert not sim.contact_forces().any()


def test_friction_that_changes_after_a_step():
    """Forces are read with the friction that is there, whether or not they were read before it changed."""
    silent, curious = thrown(), thrown()
    for sim in (silent, curious):
        sim.step(repeat=40)
    assert np.abs(curious.contact_forces()[..., :2]).max() > 1e-3
    for sim in (silent, curious):
        sim.set_parameters(friction=np.zeros(3))
    np.testing.assert_array_equal(silent.contact_forces(), curious.contact_forces())
    assert silent.save() == curious.save()


def test_an_interrupt_leaves_everything_as_it_was(monkeypatch):
    """Ctrl-C while the read-outs are compiled: states, planes and read-outs are those before the call."""
    sim = thrown()
    sim.step(repeat=5)
    saved, gaps = sim.save(), sim.contact_gaps()

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sim._lanes, "_publish", interrupt)
        for call in (
            lambda: sim.set_state(x=np.array([[0.0, 0.0, 3.0]])),
            lambda: sim.set_parameters(offset=np.full(3, -1.0)),
            lambda: sim.gaps_at([0, 1, 2], sim.state.x + 1.0, sim.state.q),
        ):
            with pytest.raises(KeyboardInterrupt):
                call()
    assert sim.save() == saved
    np.testing.assert_array_equal(sim.contact_gaps(), gaps)
    sim.step()
    with monkeypatch.context() as patch:
        patch.setattr(sim._lanes, "_publish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            sim.contact_gaps()
    check_geometry(sim)


@pytest.mark.parametrize(
    ("env", "x", "q"),
    [
        ([-1], np.zeros((1, 1, 3)), np.ones((1, 1, 4))),
        ([3], np.zeros((1, 1, 3)), np.ones((1, 1, 4))),
        ([0, 0], np.zeros((2, 1, 3)), np.ones((2, 1, 4))),
        ([True], np.zeros((1, 1, 3)), np.ones((1, 1, 4))),
        ([0], np.zeros((1, 1, 3)), np.ones((1, 2, 4))),
        ([0], np.full((1, 1, 3), np.nan), np.ones((1, 1, 4))),
    ],
)
def test_bad_poses_are_refused(env, x, q):
    sim = thrown()
    sim.step()
    saved = sim.save()
    with pytest.raises(VigymError):
        sim.gaps_at(env, x, q)
    assert sim.save() == saved


def test_a_look_at_the_start_leaves_no_trace():
    for compiled in (True, False):
        sim = Simulator(thrown(1).model.mechanism, num_envs=5, compiled=compiled)
        saved = sim.save()
        sim.contact_gaps()
        sim.gaps_at([4], sim.state.x[:1], sim.state.q[:1])
        assert sim.save() == saved


def test_readers_in_several_threads():
    """The first reader publishes, the others wait for it."""
    sim = thrown(512)
    for _ in range(20):
        sim.step()
        expected = thrown_like(sim)
        start = Barrier(3)

        def read(_, start=start):
            start.wait()
            return sim.contact_forces()

        with ThreadPoolExecutor(3) as pool:
            for forces in pool.map(read, range(3)):
                np.testing.assert_array_equal(forces, expected)


def thrown_like(sim: Simulator) -> np.ndarray:
    """Forces as a copy of the simulator tells them."""
    return deepcopy(sim).contact_forces()


def test_live_fields_follow_every_step():
    """Views of all environments, group by group and lane by lane; those of contacts after `publish`."""
    sim = thrown(6)
    fields = {name: sim.live(name) for name in ("x", "q", "angle", "converged", "gap")}
    for _ in range(5):
        sim.step()
        sim.publish()
        env, lanes = np.arange(6), fields["x"].shape[1]
        told = {name: view[env // lanes, env % lanes] for name, view in fields.items()}
        np.testing.assert_array_equal(told["x"], sim.state.x)
        np.testing.assert_array_equal(told["q"], sim.state.q)
        np.testing.assert_array_equal(told["angle"][..., 0], sim.joint_positions())
        np.testing.assert_array_equal(told["converged"] > 0, sim.status.converged)
        np.testing.assert_array_equal(told["gap"][..., 0], sim.contact_gaps())
    with pytest.raises(ValueError, match="read-only"):
        fields["x"][...] = 0.0
