"""vigym: robots for reinforcement learning on a physics engine of its own.

Rigid bodies in maximal coordinates, a variational integrator, hard contact with friction solved by an interior-point
method, in time linear in bodies and contacts. The physics is in `vigym.engine`.
"""

from vigym.engine.errors import InputError, MechanismError, StateError, VigymError
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Capsule, Cylinder, Sphere
from vigym.engine.simulator import Simulator
from vigym.engine.urdf import UrdfError, UrdfModel, UrdfWarning, load_urdf, read_urdf
from vigym.envs.registration import register as _register
from vigym.envs.replay.replay import Replay

__version__ = "0.1.0"

_register()

__all__ = [
    "Box",
    "Capsule",
    "Cylinder",
    "InputError",
    "Mechanism",
    "MechanismError",
    "Replay",
    "Simulator",
    "Sphere",
    "StateError",
    "UrdfError",
    "UrdfModel",
    "UrdfWarning",
    "VigymError",
    "load_urdf",
    "read_urdf",
]
