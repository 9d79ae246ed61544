"""Arguments of any type: each is taken, or refused with a VigymError that names it; nothing else is raised."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vigym import InputError, Mechanism, MechanismError, Replay, Simulator, VigymError, load_urdf, read_urdf

URDF = """<robot name="r"><link name="a">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>"""


class Hostile:
    """Whatever is asked of it fails."""

    __hash__ = None  # type: ignore[assignment]

    def fail(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no")

    __repr__ = __eq__ = __len__ = __iter__ = __bool__ = __array__ = __fspath__ = __index__ = __float__ = fail


VALUES: list[Any] = [
    *(0, 3, -1, 2.5, np.nan, np.inf, 10**400, 2**31, 1j, None, Ellipsis, object(), print, Exception, Hostile()),
    *("", "x", "\0", "\ud800", "x" * 10_000, b"x", Path("x")),
    *([], [[]], [1, [2]], [None], ["x"], [b"x"], (1, 2, 3), {}, {"x": 1}, {1: 2}, {1, 2}, range(3)),
    *(np.zeros(3), np.zeros(0), np.zeros((1, 1)), np.array(["a"]), np.array(None), np.bool_(True), np.ma.masked),
    *(np.datetime64(0, "s"), np.longdouble(1)),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to be in, with a robot."""
    monkeypatch.chdir(tmp_path)
    Path("robot.urdf").write_text(URDF)
    return tmp_path


@pytest.fixture(scope="module")
def sim():
    mechanism = Mechanism()
    mechanism.add_body("box", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 3))
    mechanism.add_contact("corner", "box", friction=0.5)
    return Simulator(mechanism, num_envs=2)


def refuse(call: Any, argument: str, given: dict[str, Any] | None = None) -> int:
    """Call it with every value for one argument; how many are refused."""
    told = [outcome(call, (given or {}) | {argument: value}) for value in VALUES]
    refused = [text for text in told if text]
    assert not [text for text in refused if argument not in text]
    assert len(refused) >= len(VALUES) // 2
    return len(refused)


def outcome(call: Any, given: dict[str, Any]) -> str:
    """What an error says, or nothing if there is none."""
    try:
        call(**given)
    except VigymError as error:
        return str(error)
    except OSError as error:
        return f"the path is that of a file which cannot be: {error}"
    return ""


URDF_ARGUMENTS = ["path", "floating", "contacts", "friction", "packages", "position", "orientation"]
URDF_ARGUMENTS += ["cylinders", "rim_points", "mimic", "default_mass", "repair_inertia"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("argument", URDF_ARGUMENTS)
def test_robots_from_files(argument, folder):
    refuse(read_urdf, argument, {"path": "robot.urdf", "floating": True})


def test_errors_of_robots_say_what_to_give(folder):
    with pytest.raises(MechanismError, match=r"^contacts \(names of links\) must be a list of words, got 3$"):
        load_urdf("robot.urdf", contacts=3)
    with pytest.raises(MechanismError, match=r"^packages\['p'\] must be a path"):
        load_urdf("robot.urdf", packages={"p": 3})
    with pytest.raises(MechanismError, match=r"^packages must be a dictionary of names and folders, got"):
        load_urdf("robot.urdf", packages=np.zeros(3))


@pytest.mark.parametrize(
    "argument", ["mechanism", "dt", "num_envs", "tolerance", "cone", "smoothing", "num_threads", "compiled"]
)
def test_simulators(argument, sim):
    refuse(Simulator, argument, {"mechanism": sim.model.mechanism})


@pytest.mark.parametrize("argument", ["effort", "force", "torque", "target", "target_velocity", "steps", "read", "out"])
def test_rollouts(argument, sim):
    refuse(sim.rollout, argument, {"steps": 2})


@pytest.mark.parametrize("argument", ["mask", "mass", "inertia", "friction", "offset", "kp"])
def test_parameters(argument, sim):
    refuse(sim.set_parameters, argument)
    with pytest.raises(InputError, match="is unknown; known: mass, inertia"):
        sim.parameter([])


@pytest.mark.parametrize("argument", ["env", "title", "camera", "scenery", "planes", "n_actions", "path"])
def test_recordings(argument, sim, folder):
    def record(**given):
        sim.record(**given).close()

    refuse(record, argument, {"path": "run.vigym"})
    assert not sim.recorders


def test_other_calls_of_a_simulator(sim):
    for value in ([], [1, [2]], 3, Hostile()):
        with pytest.raises(InputError, match="inputs must be a list of words"):
            sim.gradients(value)
        with pytest.raises(InputError, match="first and second must be a list of words"):
            sim.distance("box", value)
        with pytest.raises(MechanismError, match="ignore_contact: names must be strings"):
            sim.model.mechanism.copy().ignore_contact("box", value)
    with pytest.raises(InputError, match="env must be numbers of environments"):
        sim.gaps_at([1, [2]], np.zeros((1, 1, 3)), [[[1.0, 0.0, 0.0, 0.0]]])


@pytest.mark.parametrize("argument", ["path", "forces", "rate", "time"])
def test_replays(argument, sim, folder):
    with sim.record("run.vigym"):
        sim.step()
    replay = Replay.load("run.vigym")
    call = {"path": Replay.load, "forces": replay.html, "rate": replay.thinned, "time": replay.at}[argument]
    refuse(call, argument)
    if argument == "path":
        refuse(replay.save, argument)


@pytest.mark.parametrize(("kind", "argument"), [("png", "width"), ("png", "window"), ("gif", "height"), ("gif", "fps")])
def test_pictures_of_replays(kind, argument, sim, folder):
    with sim.record("run.vigym"):
        sim.step()
    replay = Replay.load("run.vigym")
    small = {"width": 8, "height": 8} | ({"poses": 1} if kind == "png" else {})
    for value in ("x", [], np.zeros(3), Hostile(), object()):
        with pytest.raises(InputError, match=argument):
            replay.save(f"run.{kind}", **small | {argument: value})


def test_a_number_is_no_path(sim, folder):
    """It is that of an open file, which would be read, or written to, and closed."""
    number = os.open("robot.urdf", os.O_RDWR)
    for call in (Replay.load, read_urdf, sim.record):
        with pytest.raises(VigymError, match="path must be a path"):
            call(number)
    os.close(number)  # still open
