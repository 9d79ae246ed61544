"""A mechanism written as a URDF file, body by body: so that PyBullet gets the masses and inertias that vigym has."""

from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

from vigym import Mechanism

_TYPES = {"revolute": "continuous"}  # without limits


def write_urdf(mechanism: Mechanism, base: str, path: Path) -> Path:
    """The link of each body has its origin where the body's joint holds it, and the body's axes. No shapes.

    base: the root link's name; a link without mass if no body is called so.
    """
    origin = {joint.child: joint.child_anchor for joint in mechanism.joints}
    names = [body.name for body in mechanism.bodies]
    text = ['<robot name="copy">']
    if base not in names:
        text.append(
            f'<link name={quoteattr(base)}><inertial><mass value="0"/>{_inertia(np.zeros((3, 3)))}</inertial></link>'
        )
    for body in mechanism.bodies:
        com = -origin.get(body.name, np.zeros(3))
        mass = f'<origin xyz="{_row(com)}"/><mass value="{body.mass!r}"/>{_inertia(body.inertia)}'
        text.append(f"<link name={quoteattr(body.name)}><inertial>{mass}</inertial></link>")
    for joint in mechanism.joints:
        parent = joint.parent if joint.parent in names else base
        xyz = joint.parent_anchor - origin.get(parent, np.zeros(3))
        rpy = Rotation.from_quat(np.roll(joint.orientation, -1)).as_euler("xyz")
        text.append(
            f'<joint name={quoteattr(joint.name)} type="{_TYPES.get(joint.kind, joint.kind)}">'
            f"<parent link={quoteattr(parent)}/><child link={quoteattr(joint.child)}/>"
            f'<origin xyz="{_row(xyz)}" rpy="{_row(rpy)}"/><axis xyz="{_row(joint.basis[2])}"/>'
            f'<dynamics damping="{float(joint.damping[0])!r}"/>'
            '<limit effort="1" velocity="1" lower="1" upper="-1"/></joint>'
        )
    path.write_text("\n".join([*text, "</robot>"]), encoding="utf-8")
    return path


def _row(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


def _inertia(J: np.ndarray) -> str:
    names = [("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2)]
    return "<inertia " + " ".join(f'{name}="{float(J[i, j])!r}"' for name, i, j in names) + "/>"
