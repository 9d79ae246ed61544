"""vigym: robots for reinforcement learning on a physics engine of its own.

Rigid bodies in maximal coordinates, a variational integrator, hard contact with friction solved by an interior-point
method, in time linear in bodies and contacts. The physics is in `vigym.engine`.
"""

from typing import TYPE_CHECKING, Any

from vigym.engine.errors import BusyError, InputError, MechanismError, MechanismWarning, StateError, VigymError
from vigym.engine.height_field import HeightField
from vigym.engine.inverse_kinematics import inverse_kinematics
from vigym.engine.lag import Lag
from vigym.engine.learned_actuator import ActuatorNetwork, LearnedActuator
from vigym.engine.mechanism import Mechanism
from vigym.engine.polyhedra import Hull, Mesh
from vigym.engine.sensors.distances import HeightScan, RangeFinder
from vigym.engine.sensors.imu import Imu
from vigym.engine.sensors.loads import ContactSensor, ForceTorque
from vigym.engine.shapes import Box, Capsule, Cylinder, Plane, Sphere
from vigym.engine.simulator import Simulator
from vigym.engine.surface import Surface
from vigym.envs.registration import register as _register
from vigym.formats.urdf import UrdfError, UrdfModel, UrdfWarning, load_urdf, read_urdf
from vigym.moved import install as _install_old_names
from vigym.view.replay.replay import Replay

if TYPE_CHECKING:
    from vigym.formats.mjcf.read import MjcfModel, load_mjcf, read_mjcf
    from vigym.formats.mjcf.source import MjcfError, MjcfWarning
    from vigym.formats.mjcf.write import to_mjcf
    from vigym.formats.pybullet.convert import to_pybullet

__version__ = "0.2.0"

_install_old_names()
_register()

_LATER = {
    "MjcfError": "vigym.formats.mjcf.source",
    "MjcfModel": "vigym.formats.mjcf.read",
    "MjcfWarning": "vigym.formats.mjcf.source",
    "load_mjcf": "vigym.formats.mjcf.read",
    "read_mjcf": "vigym.formats.mjcf.read",
    "to_mjcf": "vigym.formats.mjcf.write",
    "to_pybullet": "vigym.formats.pybullet.convert",
}


def __getattr__(name: str) -> Any:
    """The converters from and to other engines, and bridges to other libraries, loaded when they are first used."""
    from importlib import import_module

    if name in ("jax", "torch"):
        return import_module(f"vigym.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'vigym' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "ActuatorNetwork",
    "Box",
    "BusyError",
    "Capsule",
    "ContactSensor",
    "Cylinder",
    "ForceTorque",
    "HeightField",
    "HeightScan",
    "Hull",
    "Imu",
    "InputError",
    "Lag",
    "LearnedActuator",
    "Mechanism",
    "MechanismError",
    "MechanismWarning",
    "Mesh",
    "MjcfError",
    "MjcfModel",
    "MjcfWarning",
    "Plane",
    "RangeFinder",
    "Replay",
    "Simulator",
    "Sphere",
    "StateError",
    "Surface",
    "UrdfError",
    "UrdfModel",
    "UrdfWarning",
    "VigymError",
    "inverse_kinematics",
    "load_mjcf",
    "load_urdf",
    "read_mjcf",
    "read_urdf",
    "to_mjcf",
    "to_pybullet",
]
