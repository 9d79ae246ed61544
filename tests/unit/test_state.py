"""States: set, read, saved, restored, copied; bit for bit, warm start included."""

import copy
import functools
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from scenes import pendulum
from scipy.spatial.transform import Rotation

from vigym import InputError, Mechanism, Simulator, StateError
from vigym.assets import unitree_a1
from vigym.assets.unitree_a1 import STANDING

ROBOT = unitree_a1.build()  # contacts, limits, drives
TARGET = STANDING + 0.2


@functools.cache
def start(num_envs: int) -> tuple[np.ndarray, ...]:
    """Robots on the ground, each with another velocity."""
    sim = Simulator(ROBOT, num_envs=num_envs)
    sim.set_joint_state(STANDING)
    x, q, v, w = sim.state
    return x - sim.contact_gaps().min() * np.array([0, 0, 1.0]), q, v + pushes(num_envs), w


def robots(num_envs: int = 5, num_threads: int = 1) -> Simulator:
    sim = Simulator(ROBOT, num_envs=num_envs, num_threads=num_threads)
    sim.set_state(*start(num_envs))
    return sim


def pushes(num_envs: int) -> np.ndarray:
    """(num_envs, 1, 3) m/s."""
    return np.stack([0.1 * np.arange(num_envs), np.zeros(num_envs), -0.05 * np.arange(num_envs)], -1)[:, None]


def go_on(sim: Simulator, steps: int = 5) -> bytes:
    """All bytes after some more steps."""
    for k in range(steps):
        sim.step(effort=np.sin(k + np.arange(12.0)), target=TARGET)
    assert sim.status.converged.all()
    return sim.save()


def environment(sim: Simulator, env: int) -> list[np.ndarray]:
    """All that can be read of one environment."""
    read = (*sim.state, *sim.status, sim.joint_positions(), sim.joint_velocities(), sim.contact_forces())
    return [values[env] for values in read]


def assert_equal(some: list[np.ndarray], others: list[np.ndarray]) -> None:
    for a, b in zip(some, others, strict=True):
        np.testing.assert_array_equal(a, b)


# -------------------- save and restore


def test_a_restored_simulator_goes_on_as_it_did():
    sim = robots()
    go_on(sim)
    saved = sim.save()
    first = go_on(sim, 10)
    assert first != saved
    sim.restore(saved)
    assert sim.save() == saved
    assert go_on(sim, 10) == first


def test_the_warm_start_is_part_of_the_state():
    """The same poses and velocities alone go another way, in the last digits: the solver starts elsewhere."""
    sim = robots()
    go_on(sim)
    other = robots()
    other.set_state(*sim.state)
    assert_equal(list(other.state[2:]), list(sim.state[2:]))
    sim.step(target=TARGET), other.step(target=TARGET)
    assert not np.array_equal(sim.state.v, other.state.v)
    np.testing.assert_allclose(sim.state.v, other.state.v, atol=1e-6)


@pytest.mark.parametrize(("threads", "as_type"), [(1, bytes), (2, bytearray), (1, memoryview)])
def test_restore_into_an_equal_simulator(threads, as_type):
    sim = robots()
    go_on(sim)
    other = Simulator(unitree_a1.build(), num_envs=5, num_threads=threads)
    other.restore(as_type(sim.save()))
    assert go_on(other) == go_on(sim)


def test_what_was_saved_does_not_change():
    sim = robots()
    saved = sim.save()
    before = bytes(bytearray(saved))
    go_on(sim)
    assert saved == before


def changed(data: bytes, where: int) -> bytes:
    return data[:where] + bytes([data[where] ^ 0x40]) + data[where + 1 :]


GARBAGE: dict[str, Callable[[bytes], object]] = {
    "nothing": lambda data: b"",
    "short": lambda data: data[:10],
    "cut off": lambda data: data[:-8],
    "too long": lambda data: data + bytes(8),
    "zeros": lambda data: bytes(len(data)),
    "noise": lambda data: np.random.default_rng(0).bytes(len(data)),
    "another version": lambda data: data.replace(b"vigym", b"vijim", 1),
    "one bit flipped": lambda data: changed(data, len(data) // 2),
    "text": lambda data: data.decode("latin1"),
    "None": lambda data: None,
    "list": list,
    "array": lambda data: np.frombuffer(data, np.uint8),
    "view of numbers": lambda data: memoryview(np.zeros(len(data))),
}


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_is_refused(garbage):
    sim = robots()
    before = sim.save()
    with pytest.raises(InputError):
        sim.restore(GARBAGE[garbage](before))
    assert sim.save() == before
    sim.restore(before)


def slider() -> Mechanism:
    """As many bodies, joints and axes as `pendulum`."""
    m = Mechanism()
    m.add_body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("slide", "prismatic", "world", "rod", axis=(0, 0, 1))
    return m


def with_contact(m: Mechanism) -> Mechanism:
    m.add_contact("tip", "rod", offset=-5.0)
    return m


OTHERS: dict[str, Callable[[], Simulator]] = {
    "num_envs": lambda: Simulator(pendulum(), num_envs=3),
    "robot": lambda: Simulator(unitree_a1.build(), num_envs=2),
    "another joint": lambda: Simulator(slider(), num_envs=2),
    "dt": lambda: Simulator(pendulum(), num_envs=2, dt=0.02),
    "more contacts": lambda: Simulator(with_contact(pendulum()), num_envs=2),
}


@pytest.mark.parametrize("other", OTHERS)
def test_the_bytes_of_another_simulator_are_refused(other):
    sim = Simulator(pendulum(), num_envs=2)
    sim.set_joint_state([[0.1], [0.2]])
    before = sim.save()
    with pytest.raises(InputError, match=r"another"):
        sim.restore(OTHERS[other]().save())
    assert sim.save() == before
    np.testing.assert_array_equal(sim.joint_positions(), [[0.1], [0.2]])


# -------------------- copies


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))],
    ids=["copy", "deepcopy", "pickle"],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_copy_goes_on_as_the_original(duplicate, threads):
    sim = robots(num_threads=threads)
    go_on(sim)
    saved = sim.save()
    twin = duplicate(sim)
    assert twin.save() == saved
    after = go_on(twin)
    assert sim.save() == saved  # they share nothing that changes
    assert go_on(sim) == after
    assert (twin.dt, twin.num_envs, twin.num_threads, twin.axis_names) == (0.01, 5, threads, sim.axis_names)


def test_an_unused_simulator_pickles():
    sim = Simulator(ROBOT, num_envs=2)
    twin = pickle.loads(pickle.dumps(sim))
    assert twin.save() == sim.save()
    twin.set_state(x=twin.state.x + 1.0)
    twin.step()


# -------------------- setting some environments


@pytest.mark.parametrize("method", ["set_state", "set_joint_state"])
def test_a_mask_leaves_the_others_alone(method):
    """State, warm start and future of the environments that are not chosen are those of a run without the call."""
    undisturbed, sim = robots(6), robots(6)
    go_on(undisturbed), go_on(sim)
    mask = np.array([True, False, False, True, False, False])
    if method == "set_state":
        sim.set_state(x=sim.state.x + np.array([0, 0, 1.0]), v=np.zeros((13, 3)), mask=mask)
    else:
        sim.set_state(x=sim.state.x + np.array([0, 0, 1.0]), mask=mask)
        sim.set_joint_state(np.tile(STANDING - 0.1, (6, 1)), mask=mask)
        np.testing.assert_allclose(sim.joint_positions()[mask], STANDING - 0.1 + np.zeros((2, 12)), atol=1e-14)
    for steps in (0, 5):
        go_on(undisturbed, steps), go_on(sim, steps)
        for env in range(6):
            if not mask[env]:
                assert_equal(environment(sim, env), environment(undisturbed, env))
            else:
                assert np.abs(sim.state.x[env] - undisturbed.state.x[env]).max() > 0.5


def test_an_empty_mask_changes_nothing():
    sim = robots()
    go_on(sim)
    before = sim.save()
    sim.set_state(x=sim.state.x + 1.0, mask=np.zeros(5, bool))
    sim.set_joint_state(STANDING, mask=np.zeros(5, bool))
    assert sim.save() == before


def test_a_failed_call_changes_nothing():
    sim = robots()
    go_on(sim)
    x = sim.state.x + np.array([0, 0, 1.0])
    sim.set_state(x=x)
    before = sim.save()
    x[4, :, 2] -= 2.0
    with pytest.raises(StateError, match=r"foot.*environment 4"):
        sim.set_state(x=x)
    with pytest.raises(StateError, match=r"hip.*environment 2"):
        sim.set_joint_state(STANDING + np.eye(5)[2][:, None] * np.eye(12)[3])
    assert sim.save() == before
    sim.set_state(x=x, mask=np.arange(5) < 4)  # the bad one is not chosen


def test_set_state_forgets_the_past():
    """After `set_state` an environment is what it would be in a new simulator: no trace of earlier steps is left."""
    sim, new = robots(), robots()
    go_on(sim)
    start = new.state
    sim.set_state(*start)
    new.set_state(*start)
    assert go_on(sim) == go_on(new)


# -------------------- what was set is what is read


def test_set_state_round_trip():
    rng = np.random.default_rng(0)
    m = Mechanism()
    for name in "ab":
        m.add_body(name, mass=1.0, inertia=(1, 1, 1))
    sim = Simulator(m, num_envs=3)
    x, v, w = rng.normal(size=(3, 3, 2, 3))
    q = Rotation.random(6, random_state=1).as_quat().reshape(3, 2, 4)
    sim.set_state(x, q, v, w)
    assert_equal([sim.state.x, sim.state.v, sim.state.w], [x, v, w])
    np.testing.assert_allclose(sim.state.q, q, rtol=4e-16)
    for name, value in (("x", x[0]), ("q", q[0]), ("v", v[0]), ("w", w[0])):  # one of them, the same for all
        before = sim.state
        sim.set_state(**{name: value})
        np.testing.assert_allclose(getattr(sim.state, name), np.broadcast_to(value, (3, *value.shape)), rtol=4e-16)
        for other in {"x", "q", "v", "w"} - {name}:
            np.testing.assert_allclose(getattr(sim.state, other), getattr(before, other), rtol=4e-16)


def test_a_quaternion_is_normalised():
    sim = Simulator(pendulum())
    sim.set_state(q=np.array([[1.0005, 0, 0, 0]]))
    np.testing.assert_allclose(sim.state.q, [[[1, 0, 0, 0]]])


def test_set_joint_state_round_trip():
    rng = np.random.default_rng(3)
    sim = Simulator(ROBOT, num_envs=4)
    sim.set_state(x=sim.state.x + 1.0)
    phi, rates = STANDING + rng.uniform(-0.5, 0.5, (4, 12)), rng.normal(size=(4, 12))
    sim.set_joint_state(phi, rates)
    np.testing.assert_allclose(sim.joint_positions(), phi, atol=1e-14)
    np.testing.assert_allclose(sim.joint_velocities(), rates, atol=1e-13)
    assert sim.joint_error().max() < 1e-14
    state = sim.state
    sim.set_state(*state)
    np.testing.assert_allclose(sim.joint_positions(), phi, atol=1e-14)
    sim.set_joint_state(phi)  # velocities left out are zero
    np.testing.assert_allclose(sim.joint_velocities(), 0.0, atol=1e-14)


READ = {
    "state": lambda sim: sim.state,
    "status": lambda sim: sim.status,
    "positions": lambda sim: [sim.joint_positions()],
    "velocities": lambda sim: [sim.joint_velocities()],
    "error": lambda sim: [sim.joint_error()],
    "gaps": lambda sim: [sim.contact_gaps()],
    "forces": lambda sim: [sim.contact_forces()],
    "energy": lambda sim: [sim.energy()],
    "momentum": lambda sim: [sim.momentum()],
}


@pytest.mark.parametrize(("robot", "num_envs"), [(False, 1), (False, 4), (True, 5)])
@pytest.mark.parametrize("read", READ)
def test_arrays_are_copies(read, robot, num_envs):
    """Writing to what was read does not reach the simulator, and later changes do not reach what was read."""
    sim = Simulator(ROBOT if robot else with_contact(pendulum()), num_envs=num_envs)
    if robot:
        sim.set_state(x=sim.state.x + 1.0)
    before = sim.save()
    for array in READ[read](sim):
        if read == "state":
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 1
        else:
            array[...] = 1
    assert sim.save() == before
    arrays = READ[read](sim)
    values = [array.copy() for array in arrays]
    sim.set_state(x=sim.state.x, v=sim.state.v + 3.0)
    sim.set_joint_state(sim.joint_positions() - 0.01)
    assert_equal(list(arrays), values)


def test_what_was_given_may_be_changed_afterwards():
    sim = Simulator(pendulum(), num_envs=2)
    state = [part.copy() for part in sim.state]
    sim.set_state(*state)
    before = sim.save()
    for part in state:
        part[...] = 7.0
    assert sim.save() == before


# -------------------- at the start


def test_the_default_pose():
    m = Mechanism()
    turn = np.array([0.0, 0.6, 0.0, 0.8])
    m.add_body("free", mass=1.0, inertia=(1, 1, 1), position=(1, 2, 3), orientation=turn)
    m.add_body("floating", mass=1.0, inertia=(1, 1, 1), position=(4, 5, 6))
    m.add_body("on it", mass=1.0, inertia=(1, 1, 1), position=(9, 9, 9))  # of no account: a joint ties it
    m.add_joint("none", "floating", "world", "floating")
    m.add_joint("slide", "prismatic", "free", "on it", axis=(0, 0, 1), parent_anchor=(0, 0, 1))
    sim = Simulator(m, num_envs=2)
    x, q, v, w = sim.state
    np.testing.assert_array_equal(x[0, :2], [(1, 2, 3), (4, 5, 6)])
    np.testing.assert_allclose(q[:, 0], np.broadcast_to(turn, (2, 4)), rtol=1e-15)
    up = Rotation.from_quat(np.roll(turn, -1)).apply([0, 0, 1])
    np.testing.assert_allclose(x[0, 2], np.array([1, 2, 3]) + up, rtol=1e-15)
    assert not v.any()
    assert not w.any()
    np.testing.assert_array_equal(x[0], x[1])
    np.testing.assert_allclose(sim.joint_positions(), 0.0, atol=1e-15)


def test_joints_start_at_zero_or_at_the_nearest_limit():
    m = Mechanism()
    m.add_body("body", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("plane", "planar", "world", "body", lower=(0.5, -1.0, -2.0), upper=(2.0, -0.25, 3.0))
    np.testing.assert_allclose(Simulator(m).joint_positions(), [[0.5, -0.25, 0.0]], atol=1e-15)


def test_joints_start_where_they_are_told_to():
    m = Mechanism()
    m.add_body("a", mass=1.0, inertia=(1, 1, 1))
    m.add_body("b", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("plane", "planar", "world", "a", upper=2.0, start=(0.5, -1.0, 2.0))
    m.add_joint("hinge", "revolute", "a", "b", start=-7.0, child_anchor=(1, 0, 0))
    sim = Simulator(m, num_envs=2)
    np.testing.assert_allclose(sim.joint_positions(), np.tile([0.5, -1.0, 2.0, -7.0], (2, 1)), atol=1e-15)
    assert sim.joint_error().max() < 1e-15


def test_what_is_fixed_cannot_be_assigned():
    sim = robots()
    for name in ("dt", "tolerance", "num_envs", "model"):
        with pytest.raises(AttributeError, match=f"{name} is fixed"):
            setattr(sim, name, getattr(sim, name))


def test_names_that_a_simulator_has_not_cannot_be_set():
    """`sim.gravity = ...` would have no effect; a class of one's own may keep what it likes."""
    sim = Simulator(pendulum(), compiled=False)
    for name in ("gravity", "timestep", "friction"):
        with pytest.raises(AttributeError, match=f"{name} is fixed.* or unknown"):
            setattr(sim, name, 1.0)
    with pytest.raises(AttributeError):
        sim.state = sim.state

    class Own(Simulator):
        pass

    own = Own(pendulum(), compiled=False)
    own.note = "mine"
    assert own.note == "mine"
    with pytest.raises(AttributeError, match="dt is fixed"):
        own.dt = 1.0


def test_targets_need_a_drive():
    sim = Simulator(pendulum())
    with pytest.raises(InputError, match="no drive"):
        sim.step(target=[0.1])


def test_rows_that_are_not_chosen_do_not_matter():
    sim = robots()
    x = sim.state.x.copy()
    x[1:] = np.nan
    sim.set_state(x=x, mask=np.arange(5) == 0)
    sim.set_joint_state(np.where(np.arange(5)[:, None] == 0, STANDING, np.nan), mask=np.arange(5) == 0)
    with pytest.raises(StateError, match=r"x\[1, 0, 0\] is nan"):
        sim.set_state(x=x, mask=np.arange(5) < 2)


def test_the_status_says_that_nothing_happened_yet():
    sim = robots()
    fresh = Simulator(ROBOT, num_envs=5).status
    go_on(sim)
    stepped = sim.status
    assert (stepped.iterations > 0).all()
    assert sim.contact_forces().any()
    assert sim.status.converged.dtype == bool
    assert sim.status.iterations.dtype == sim.status.substeps.dtype == int
    sim.set_state(*sim.state, mask=np.arange(5) < 2)
    assert_equal([part[2:] for part in sim.status], [part[2:] for part in stepped])
    assert not sim.contact_forces()[:2].any()
    for status in (fresh, type(fresh)(*(part[:2] for part in sim.status))):
        assert status.converged.all()
        assert not status.iterations.any()
        assert not status.residual.any()
        assert not status.substeps.any()


@pytest.mark.parametrize("size", [1e-6, 1e-4, 1.0])
def test_how_deep_a_start_may_be(size):
    """A thousandth of the body's size (its radius of gyration), at most 1e-6 m; joints may be open as far."""
    m = Mechanism()
    for name in ("body", "bob"):
        m.add_body(name, mass=1.0, inertia=size**2 / 3 * np.ones(3))
    m.add_joint("pin", "spherical", "body", "bob")
    m.add_contact("sole", "body")
    sim, most = Simulator(m, compiled=False), min(1e-3 * size, 1e-6)
    sim.set_state(x=[(0, 0, -0.9 * most)] * 2)
    sim.step()
    with pytest.raises(StateError, match="'sole' of environment 0 penetrates"):
        sim.set_state(x=[(0, 0, -1.1 * most)] * 2)
    sim.set_state(x=[(0, 0, size), (0.9 * most, 0, size)])
    with pytest.raises(StateError, match=r"'pin' of environment 0 is open by .* m: "):
        sim.set_state(x=[(0, 0, size), (1.1 * most, 0, size)])


def test_a_start_that_penetrates():
    """Nothing is wrong before it is used: a pose may still be set. All environments must have got one."""
    m = Mechanism()
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.add_contact("sole", "ball", radius=0.5)
    sim = Simulator(m, num_envs=3, compiled=False)
    before = sim.save()
    for _ in range(2):
        with pytest.raises(StateError, match=r"sole.*environment 0"):
            sim.step()
        assert sim.save() == before
    sim.set_state(x=[(0, 0, 2)], mask=[True, False, True])
    with pytest.raises(StateError, match=r"sole.*environment 1"):
        sim.step()
    twin = pickle.loads(pickle.dumps(sim))
    with pytest.raises(StateError, match=r"sole.*environment 1"):
        twin.step()
    sim.set_state(x=[(0, 0, 2)], mask=[False, True, False])
    sim.step()
    assert sim.status.converged.all()
