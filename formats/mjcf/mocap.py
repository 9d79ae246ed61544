"""Mocap bodies: their pose is given from outside, whatever they meet.

Such a body stands on three slides and a ball, with a body between. Their drives are so stiff that they reach a target
within one step: with k = STIFF m/dt^2, what is left of the way is 1/STIFF of it, and a body of mass m that is thrown
against it moves it by 1/STIFF of its own way. Coordinates are those from the file's pose.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import InputError
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, multiply, to_rotation_vector
from vigym.engine.validation import Array, show
from vigym.formats.mjcf.rigid import Group
from vigym.formats.urdf.parts import Pose

STIFF = 1e4  # of stiffer ones, rounding is too much at steps that are longer than the file's
SLIDES = (0, 0, 0, 1, 1, 1)  # constrained


def add_mocap(mechanism: Mechanism, group: Group, rest: Pose, dt: float) -> None:
    """Add the body and its drives, for steps of about dt (s)."""
    between = f"{group.name} before its turn"
    for name in (between, group.name):
        mechanism.add_body(name, group.mass, group.inertia, position=rest.position, collide=False)
    gain = STIFF / dt**2
    push, twist = gain * group.mass, gain * float(group.inertia[0, 0])
    names = f"{group.name} slides", f"{group.name} turns"
    mechanism.add_joint(names[0], "custom", WORLD, between, parent_anchor=rest.position, constrained=SLIDES, kp=push)
    mechanism.add_joint(names[1], "spherical", between, group.name, orientation=rest.orientation, kp=twist)


def mocap_coordinates(
    mocap: Mapping[int, tuple[int, Pose]], position: ArrayLike | None, turn: ArrayLike | None
) -> Array:
    """Coordinates (..., nmocap, 6) of the bodies' drives at these positions (..., nmocap, 3) and orientations
    (..., nmocap, 4); None stands for those of the file."""
    rest = [mocap[k][1] for k in range(len(mocap))]
    home = np.array([pose.position for pose in rest]).reshape(-1, 3)
    frame = np.array([pose.orientation for pose in rest]).reshape(-1, 4)
    p = home if position is None else _poses(position, home.shape, "mocap_pos")
    q = frame if turn is None else _poses(turn, frame.shape, "mocap_quat")
    size = np.linalg.norm(q, axis=-1, keepdims=True)
    if (size < 1e-9).any():
        raise InputError("mocap_quat must not be zero: it is an orientation")
    lead = np.broadcast_shapes(p.shape[:-2], q.shape[:-2])
    found = np.zeros((*lead, len(rest), 6))
    found[..., :3] = p - home
    found[..., 3:] = to_rotation_vector(multiply(conjugate(np.broadcast_to(frame, q.shape)), q / size))
    return found


def _poses(value: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    array = np.asarray(value, float)
    if array.ndim not in (2, 3) or array.shape[-2:] != shape or not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, of shape {shape} or (num_envs, *{shape}), got {show(value)}")
    return array
