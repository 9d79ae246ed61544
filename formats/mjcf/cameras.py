"""Cameras and the sun of a compiled model, for pictures."""

from typing import Any

import numpy as np

from vigym.engine.validation import Array, read_only
from vigym.formats.mjcf.rigid import Rigid
from vigym.formats.mjcf.source import import_mujoco

_NEAREST = 0.2  # of the model's extent: a camera inside the model looks at a point that far away


def cameras_of(model: Any, rigid: Rigid) -> dict[str, dict[str, Any]]:
    """Cameras by name, in the pose of the file, as arguments of `Camera.from_config`.

    They look at the point of their axis that is nearest to the model's centre. Those that move with a body, or look at
    one, follow it across the ground. How a camera is turned about its own axis is lost.
    """
    found: dict[str, dict[str, Any]] = {}
    data = _at_start(model)
    for c in range(model.ncam):
        forward, eye = -data.cam_xmat[c].reshape(3, 3)[:, 2], data.cam_xpos[c]
        distance = max(float(forward @ (model.stat.center - eye)), _NEAREST * float(model.stat.extent))
        at = eye + distance * forward
        config: dict[str, Any] = {
            "distance": distance,
            "azimuth": float(np.degrees(np.arctan2(forward[1], forward[0]))),
            "elevation": float(np.degrees(np.arcsin(np.clip(forward[2], -1.0, 1.0)))),
            "fovy": float(np.clip(model.cam_fovy[c], 1.0, 178.0)),
        }
        target = int(model.cam_targetbodyid[c])
        if body := rigid.leader[target if target >= 0 else model.cam_bodyid[c]]:
            config["trackbodyid"] = rigid.names[body]
            at[:2] -= (data.xpos[body] + data.xmat[body].reshape(3, 3) @ rigid.groups[body].com)[:2]
        found[model.cam(c).name or f"camera {c}"] = config | {"lookat": tuple(at.tolist())}
    return found


def sun_of(model: Any) -> Array | None:
    """Direction (3,) towards the first directional light; None if there is none."""
    kinds = getattr(import_mujoco(), "mjtLightType", None)  # MuJoCo before 3.3.1 has a flag instead
    far = model.light_directional if kinds is None else model.light_type == int(kinds.mjLIGHT_DIRECTIONAL)
    for light in np.flatnonzero(far & (model.light_active != 0)):
        return read_only(-_at_start(model).light_xdir[light])
    return None


def _at_start(model: Any) -> Any:
    """Cameras and lights in the pose of the file."""
    mujoco = import_mujoco()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_camlight(model, data)
    return data
