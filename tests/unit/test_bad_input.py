"""More than 10,000 bad inputs: each raises a VigymError that names the culprit, and nothing has changed after it."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vigym import (
    Box,
    Capsule,
    Cylinder,
    InputError,
    Mechanism,
    MechanismError,
    Simulator,
    Sphere,
    StateError,
    VigymError,
)
from vigym.engine.kernels.integrator import MOST_SPIN
from vigym.engine.kernels.step import TICKS

ENVS, DT = 3, 0.01


@pytest.fixture(autouse=True)
def quiet():
    """Silence NumPy's warnings about overflows on the way to an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def mechanism() -> Mechanism:
    """A base that flies, on it an arm with limits and a slider, contacts on base and arm."""
    m = Mechanism()
    m.add_body("base", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 2))
    for name in ("arm", "cart"):
        m.add_body(name, mass=1.0, inertia=(1, 1, 1))
    m.add_joint("elbow", "revolute", "base", "arm", axis=(0, 1, 0), child_anchor=(0, 0, 0.5), lower=-1.0, upper=1.5)
    m.add_joint("rail", "prismatic", "base", "cart", axis=(1, 0, 0), upper=2.0, kp=1.0, effort_limit=5.0)
    m.add_contact("sole", "base", radius=0.2)
    m.add_contact("tip", "arm", (0, 0, -0.5))
    return m


# -------------------- bad values


class Hostile:
    """Whatever is asked of it fails."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no array")

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __len__(self) -> int:
        raise RuntimeError("no len")


NO_ARRAY: list[Any] = [
    "",
    "abc",
    "1.0",
    b"bytes",
    {},
    {"a": 1},
    {1, 2},
    [[1, 2], [3]],
    [None],
    ["1", "2", "3"],
    object(),
    Hostile(),
    print,
    int,
    iter([1.0]),
    1j,
    [1j, 2],
    10**400,
    [10**400],
    np.datetime64(0, "s"),
    np.array(["1.0"]),
    np.nan,
    np.inf,
    [np.nan],
    slice(3),
    Ellipsis,
    "x" * 10_000,
]


def bad_array(rng: np.random.Generator, shape: tuple[int, ...], allowed: list[tuple[int, ...]]) -> Any:
    """Nothing that an argument of `shape` (or another of the `allowed` shapes) accepts."""
    choice = rng.integers(6)
    if choice == 0:
        return NO_ARRAY[rng.integers(len(NO_ARRAY))]
    if choice == 1:  # numbers of a wrong shape
        while True:
            wrong = tuple(int(n) for n in rng.integers(0, 6, rng.integers(0, 5)))
            if wrong not in allowed:
                return rng.normal(size=wrong) if rng.random() < 0.5 else rng.normal(size=wrong).tolist()
    values = rng.normal(size=shape)
    if choice == 2:  # not numbers, in the right shape
        kind = ["U8", "S8", complex, object, "datetime64[s]", "timedelta64[s]"][rng.integers(6)]
        raw = values.astype(int) if "64" in str(kind) else values
        odd = raw.astype(kind)
        if odd.dtype == object:
            odd.flat[rng.integers(odd.size)] = [None, "a", {}, 1j][rng.integers(4)]
        return odd if rng.random() < 0.5 else odd.tolist()
    broken = rng.choice([np.nan, np.inf, -np.inf])
    values.flat[rng.integers(values.size)] = broken
    if choice == 3:
        return values
    if choice == 4:
        return values.tolist()
    return values.astype(np.float32)


def bad_number(rng: np.random.Generator, least: float | None = None, integer: bool = False) -> Any:
    """Nothing that a number > least (or an integer of at least 1) is."""
    choice = rng.integers(4)
    if choice == 0:
        return NO_ARRAY[rng.integers(len(NO_ARRAY))]
    if choice == 1:
        return rng.normal(size=tuple(int(n) for n in rng.integers(0, 4, rng.integers(1, 3))))
    if choice == 2 and least is not None:
        low = [least, least - 10.0 ** rng.uniform(-3, 9), -np.inf][rng.integers(3)]
        return int(low) if integer and np.isfinite(low) else low
    if integer:
        return [0, -1, 1.5, 2.0, True, False, None, "3", np.float64(2), 2**31, 2**70, -(2**70)][rng.integers(12)]
    return [np.nan, np.inf, -np.inf, None, "0.1", 1j, np.float64("nan"), np.array(np.nan)][rng.integers(8)]


def expect(call: Callable[[], Any], culprit: str, what: Any) -> VigymError:
    """The error of a call, which must be a VigymError of one line that contains `culprit`."""
    try:
        call()
    except VigymError as error:
        text = str(error)
        assert culprit in text, f"{what}: {text!r} does not say {culprit!r}"
        assert "\n" not in text
        assert len(text) < 500
        return error
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__} instead of a VigymError") from error
    raise AssertionError(f"{what}: accepted")


# -------------------- calls of a simulator

BODIES, AXES = 3, 2
SHAPES = {
    "set_state": {"x": (BODIES, 3), "q": (BODIES, 4), "v": (BODIES, 3), "w": (BODIES, 3)},
    "set_joint_state": {"positions": (AXES,), "velocities": (AXES,)},
    "step": {
        "effort": (AXES,),
        "force": (BODIES, 3),
        "torque": (BODIES, 3),
        "target": (AXES,),
        "target_velocity": (AXES,),
    },
}


def bad_arrays(rng: np.random.Generator, sim: Simulator) -> tuple[str, dict[str, Any], str]:
    """One bad argument among good ones."""
    method = ["set_state", "set_joint_state", "step"][rng.integers(3)]
    name = list(SHAPES[method])[rng.integers(len(SHAPES[method]))]
    arguments: dict[str, Any] = {"positions": np.zeros(AXES)} if method == "set_joint_state" else {}
    if method == "step" and rng.random() < 0.5:
        arguments["effort"] = rng.normal(size=(ENVS, AXES))  # must not be kept
        arguments["target"] = rng.normal(size=AXES)
    one = SHAPES[method][name]
    arguments[name] = bad_array(rng, (ENVS, *one) if rng.random() < 0.7 else one, [one, (ENVS, *one)])
    if name == "positions" and rng.random() < 0.1:
        arguments[name] = None
    return method, arguments, name


def bad_masks(rng: np.random.Generator, sim: Simulator) -> tuple[str, dict[str, Any], str]:
    masks = [np.ones(ENVS), [1, 0, 1], [0, 2], True, np.ones(ENVS + 1, bool), np.ones((ENVS, 1), bool), "all", [], {}]
    masks += [
        [[True], [True, False]],
        [True, None, False],
        [True, False],
        slice(None),
        Hostile(),
        np.ones(ENVS, object),
    ]
    if rng.random() < 0.5:
        return "set_state", {"v": np.zeros((BODIES, 3)), "mask": masks[rng.integers(len(masks))]}, "mask"
    return "set_joint_state", {"positions": np.zeros(AXES), "mask": masks[rng.integers(len(masks))]}, "mask"


def bad_repeats(rng: np.random.Generator, sim: Simulator) -> tuple[str, dict[str, Any], str]:
    return "step", {"effort": rng.normal(size=AXES), "repeat": bad_number(rng, 0, integer=True)}, "repeat"


def bad_states(rng: np.random.Generator, sim: Simulator) -> tuple[str, dict[str, Any], str]:
    """States of good shape that cannot be, in one of the environments."""
    env, choice = int(rng.integers(ENVS)), rng.integers(7)
    x, q, _, w = (part.copy() for part in sim.state)
    shift = rng.normal(size=3)
    shift *= 10.0 ** rng.uniform(-5, 3) / np.linalg.norm(shift)
    if choice == 0:  # the hinge does not hold its body
        x[env, 1] += shift
        return "set_state", {"x": x}, "'elbow'"
    if choice == 1:  # the slider leaves its rail sideways
        x[env, 2] += [0.0, *(shift[1:] + np.copysign(1e-4, shift[1:]))]
        return "set_state", {"x": x}, "'rail'"
    if choice == 2:  # into the ground, all of it
        x[env, :, 2] -= x[env, 0, 2] - 0.2 + 10.0 ** rng.uniform(-5, 3)
        return "set_state", {"x": x}, f"environment {env} penetrates"
    if choice == 3:
        most = MOST_SPIN * TICKS / DT
        w[env, rng.integers(BODIES)] = shift / np.linalg.norm(shift) * most * (1 + 10.0 ** rng.uniform(-6, 290))
        return "set_state", {"w": w}, f"environment {env} is"
    if choice == 4:
        body = int(rng.integers(BODIES))
        q[env, body] *= [0.0, 0.99, 1.01, -1.002, 1e200][rng.integers(5)]
        return "set_state", {"q": q}, f"q of body {['base', 'arm', 'cart'][body]!r}"
    phi = np.zeros((ENVS, AXES))
    if choice == 5:
        over = 10.0 ** rng.uniform(-5, 5)
        axis, phi[env, 0], phi[env, 1] = [("elbow", 1.5 + over, 0), ("elbow", -1 - over, 0), ("rail", 0, 2 + over)][
            rng.integers(3)
        ]
        return "set_joint_state", {"positions": phi}, f"'{axis}' of environment {env}"
    rates = np.zeros((ENVS, AXES))
    phi[env, 1], rates[env] = -1.7e308, 1.7e308  # so far out that distances overflow
    return "set_joint_state", {"positions": phi, "velocities": rates}, f"environment {env}"


def bad_bytes(rng: np.random.Generator, sim: Simulator) -> tuple[str, dict[str, Any], str]:
    data = sim.save()
    where = int(rng.integers(len(data)))
    flipped = data[:where] + bytes([data[where] ^ (1 << int(rng.integers(8)))]) + data[where + 1 :]
    numbers = memoryview(rng.normal(size=10))
    garbage = [b"", data[:where], data + b"1", rng.bytes(where), flipped, rng.bytes(len(data)), data[1:], numbers]
    garbage += [None, 3, data.decode("latin1"), list(data[:20]), np.frombuffer(data, np.uint8), Hostile()]
    return "restore", {"data": garbage[rng.integers(len(garbage))]}, "bytes"


@pytest.fixture(scope="module")
def sim() -> Simulator:
    sim = Simulator(mechanism(), dt=DT, num_envs=ENVS, compiled=False)
    sim.set_joint_state([[0.0, 0.0], [0.3, -1.0], [-0.5, 1.0]], np.ones((ENVS, AXES)))
    sim.step(effort=np.ones(AXES), target=np.ones(AXES))  # a warm start and controls that could get lost
    return sim


@pytest.mark.parametrize(
    ("make", "count"),
    [(bad_arrays, 8000), (bad_masks, 300), (bad_repeats, 300), (bad_states, 1000), (bad_bytes, 400)],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_bad_calls(sim, make, count):
    rng = np.random.default_rng(7)
    before = sim.save()
    for k in range(count):
        method, arguments, culprit = make(rng, sim)
        error = expect(lambda: getattr(sim, method)(**arguments), culprit, (k, method, arguments.keys()))  # noqa: B023
        assert isinstance(error, StateError if method.startswith("set") and "mask" not in arguments else InputError)
        assert sim.save() == before, (k, method)
    sim.step()
    assert sim.status.converged.all()
    sim.restore(before)


# -------------------- making a simulator


def test_bad_simulators():
    rng = np.random.default_rng(8)
    m = mechanism()
    good: dict[str, Any] = {"mechanism": m, "dt": 0.01, "num_envs": 2, "tolerance": 1e-8, "cone": "pyramid"}
    cones = [None, 0, "cone", "PYRAMID", "", b"pyramid", ["pyramid"], np.array(["pyramid", "a"]), {}, Hostile()]
    bad = {
        "dt": lambda: bad_number(rng, 0.0),
        "tolerance": lambda: bad_number(rng, 0.0),
        "num_envs": lambda: bad_number(rng, 0, integer=True),
        "num_threads": lambda: bad_number(rng, 0, integer=True),
        "cone": lambda: cones[rng.integers(len(cones))],
        "mechanism": lambda: [None, "m", Mechanism, Mechanism(), {}, m.bodies, 3, Hostile()][rng.integers(8)],
    }
    for k in range(1500):
        name = list(bad)[k % len(bad)]
        expect(lambda: Simulator(**(good | {name: bad[name]()})), name, (k, name))  # noqa: B023
    Simulator(**good)


def test_a_penetrating_default_pose_is_found_when_it_is_used():
    m = Mechanism()
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.add_contact("under", "ball", radius=0.1)
    sim = Simulator(m, compiled=False)
    before = sim.save()
    for _ in range(2):
        with pytest.raises(StateError, match=r"'under' of environment 0 penetrates its plane by 0\.1 m"):
            sim.step()
        assert sim.save() == before
    sim.set_state(x=[(0, 0, 0.1)])
    sim.step()
    assert sim.status.converged.all()


# -------------------- making a mechanism


def bad_vector(rng: np.random.Generator, size: int) -> Any:
    return [None, np.zeros(0), *[bad_array(rng, (size,), [(size,)])] * 8][rng.integers(10)]


def bad_bodies(rng: np.random.Generator) -> tuple[dict[str, Any], str]:
    bad = {
        "name": lambda: ["", " ", None, 3, b"a", "world", "base", Hostile()][rng.integers(8)],
        "mass": lambda: bad_number(rng, 0.0),
        "inertia": lambda: [bad_vector(rng, 3), (1, 1, 3), (1, -1, 1), np.ones((3, 3)), (0, 0, 0)][rng.integers(5)],
        "position": lambda: bad_vector(rng, 3),
        "orientation": lambda: [bad_vector(rng, 4), np.zeros(4)][rng.integers(2)],
        "shapes": lambda: [3, ["box"], Hostile(), [None], "box", [Box]][rng.integers(6)],
    }
    name = list(bad)[rng.integers(len(bad))]
    value = bad[name]()
    if name in ("mass", "inertia") and value is None:
        value = "None"
    return {"name": "new", "mass": 1.0, "inertia": (1, 1, 1)} | {name: value}, name


def bad_joints(rng: np.random.Generator) -> tuple[dict[str, Any], str]:
    def option() -> Any:
        while isinstance(value := bad_number(rng), np.ndarray) and value.shape == (1,):
            pass  # a good value: one for every free axis
        return value

    bad: dict[str, Callable[[], Any]] = {
        "name": lambda: ["", None, 3, "elbow", Hostile()][rng.integers(5)],
        "kind": lambda: ["", None, 3, "hinge", "Revolute", Hostile()][rng.integers(6)],
        "parent": lambda: ["", None, 3, "nobody", "cart", Hostile()][rng.integers(6)],
        "child": lambda: ["", None, 3, "nobody", "world", Hostile()][rng.integers(6)],
        "axis": lambda: [bad_vector(rng, 3), np.zeros(3)][rng.integers(2)],
        "axis2": lambda: [1.0, 0.0, 0.0],
        "constrained": lambda: [True] * 6,
        "parent_anchor": lambda: bad_vector(rng, 3),
        "child_anchor": lambda: bad_vector(rng, 3),
        "orientation": lambda: [bad_vector(rng, 4), np.zeros(4)][rng.integers(2)],
        "stiffness": lambda: -1.0 if rng.random() < 0.2 else option(),
        "damping": lambda: -1.0 if rng.random() < 0.2 else option(),
        "kp": lambda: -1.0 if rng.random() < 0.2 else option(),
        "kd": lambda: -1.0 if rng.random() < 0.2 else option(),
        "rest": lambda: option(),
        "target": lambda: option(),
        "friction": lambda: -1.0 if rng.random() < 0.2 else option(),
        "effort_limit": lambda: [0.0, -1.0, "a", np.nan, None, [1, 2]][rng.integers(6)],
        "lower": lambda: [2.0, "a", np.nan, None, [1, 2]][rng.integers(5)],
        "upper": lambda: [-2.0, "a", np.nan, None, [1, 2]][rng.integers(5)],
    }
    name = list(bad)[rng.integers(len(bad))]
    good = {"name": "new", "kind": "revolute", "parent": "arm", "child": "cart", "lower": -1.0, "upper": 1.0}
    return good | {name: bad[name]()}, name


def bad_contacts(rng: np.random.Generator) -> tuple[dict[str, Any], str]:
    bad = {
        "name": lambda: ["", None, 3, "tip", Hostile()][rng.integers(5)],
        "body": lambda: ["", None, 3, "nobody", "world", Hostile()][rng.integers(6)],
        "point": lambda: bad_vector(rng, 3),
        "radius": lambda: bad_number(rng, -1e-300),
        "friction": lambda: bad_number(rng, -1e-300),
        "normal": lambda: [bad_vector(rng, 3), np.zeros(3)][rng.integers(2)],
        "offset": lambda: bad_number(rng),
    }
    name = list(bad)[rng.integers(len(bad))]
    return {"name": "new", "body": "arm"} | {name: bad[name]()}, name


@pytest.mark.parametrize(
    ("method", "make"), [("add_body", bad_bodies), ("add_joint", bad_joints), ("add_contact", bad_contacts)]
)
def test_bad_parts(method, make):
    rng = np.random.default_rng(9)
    m = mechanism()
    before = m.bodies, m.joints, m.contacts
    for k in range(700):
        arguments, culprit = make(rng)
        # a name that is taken or reserved is shown itself
        wanted = {"name": method[4:]}.get(culprit, culprit)
        error = expect(lambda: getattr(m, method)(**arguments), wanted, (k, culprit))  # noqa: B023
        assert isinstance(error, MechanismError)
    assert (m.bodies, m.joints, m.contacts) == before
    Simulator(m)


@pytest.mark.parametrize(
    ("part", "make", "good"),
    [
        ("body", bad_bodies, {"mass": 1.0, "inertia": (1, 1, 1)}),
        ("joint", bad_joints, {"kind": "revolute", "parent": "arm", "child": "cart", "lower": -1.0, "upper": 1.0}),
        ("contact", bad_contacts, {"body": "arm"}),
    ],
)
def test_bad_replacements(part, make, good):
    """One argument of a part that is there is replaced by what it cannot be."""
    rng, m = np.random.default_rng(11), mechanism()
    getattr(m, f"add_{part}")("new", **good)
    before = m.bodies, m.joints, m.contacts
    for k in range(500):
        arguments, culprit = make(rng)
        if culprit != "name":
            change = {culprit: arguments[culprit]}
            expect(lambda: getattr(m, f"replace_{part}")("new", **change), culprit, (k, culprit))  # noqa: B023
    assert (m.bodies, m.joints, m.contacts) == before


def test_bad_shapes_and_gravity():
    rng = np.random.default_rng(10)
    m = mechanism()
    makers: list[tuple[Callable[[Any], Any], Callable[[], Any], str]] = [
        (lambda value: Mechanism(gravity=value), lambda: bad_vector(rng, 3), "gravity"),
        (lambda value: setattr(m, "gravity", value), lambda: bad_vector(rng, 3), "gravity"),
        (lambda value: Sphere(value), lambda: bad_number(rng, 0.0), "radius"),
        (lambda value: Box(value), lambda: bad_vector(rng, 3), "size"),
        (lambda value: Cylinder(value, 1.0), lambda: bad_number(rng, 0.0), "radius"),
        (lambda value: Cylinder(1.0, value), lambda: bad_number(rng, 0.0), "length"),
        (lambda value: Capsule(value, 1.0), lambda: bad_number(rng, 0.0), "radius"),
        (lambda value: Capsule(1.0, length=value), lambda: bad_number(rng, -1e-300), "length"),
    ]
    for k in range(800):
        call, make, culprit = makers[k % len(makers)]
        expect(lambda: call(make()), culprit, (k, culprit))  # noqa: B023
    np.testing.assert_array_equal(m.gravity, [0, 0, -9.81])


# -------------------- legal, but out of this world


@pytest.mark.parametrize(
    ("options", "state"),
    [
        ({"dt": 1e-320}, {}),
        ({"dt": 1e-200}, {}),
        ({"dt": 1e10}, {}),
        ({"dt": 1e300}, {}),
        ({"tolerance": 1e-300}, {}),
        ({"tolerance": 1e300}, {}),
        ({}, {"v": (1e300, -1e300, 1e300)}),
        ({}, {"v": (0, 0, -1e300)}),
        ({}, {"x": (1e300, 0, 1e300)}),
        ({}, {"w": (1700.0, 1700.0, -1700.0)}),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e250])
def test_numbers_stay_finite(options, state, scale):
    m = Mechanism(gravity=(0, 0, -9.81))
    m.add_body("ball", mass=scale, inertia=np.full(3, scale), position=(0, 0, 1))
    m.add_contact("under", "ball", radius=0.5)
    sim = Simulator(m, num_envs=2, **options)
    sim.set_state(**{name: [value] for name, value in state.items()})
    for force in (0.0, 1e300):
        sim.step(force=np.full((2, 1, 3), force))
        assert all(np.isfinite(part).all() for part in sim.state)
        np.testing.assert_allclose(np.linalg.norm(sim.state.q, axis=-1), 1.0, atol=1e-12)
