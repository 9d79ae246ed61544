"""Text of small robots."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from mechanisms import Printed, directions, numbers, vectors

SOLID = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
BASE = f'<link name="base">{SOLID}</link>'


def link(name: str, inside: str = SOLID) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


@dataclass
class Tree(Printed):
    """Text of all links and joints, and the joints: kind, parent, xyz, rpy, axis; joint k leads to link k + 1."""

    text: str
    joints: list[dict]

    def __repr__(self) -> str:
        return "\n".join(["Tree:", self.text])


@st.composite
def trees(draw: st.DrawFn, most: int) -> Tree:
    """2 to `most` links in any tree, origins, axes and centres of mass askew; one joint at least is not fixed."""
    count = draw(st.integers(2, most))
    lines, joints = [], []
    for k in range(count):
        com, mass = row(draw(vectors(2.0))), draw(numbers(0.5, 2.0))
        inertia = '<inertia ixx="1" iyy="1.2" izz="1.4" ixy="0.1" ixz="-0.2" iyz="0.05"/>'
        inside = f'<origin xyz="{com}" rpy="0.9 -0.5 1.3"/><mass value="{mass}"/>{inertia}'
        lines.append(link(f"l{k}", f"<inertial>{inside}</inertial>"))
    for k in range(1, count):
        kind = draw(st.sampled_from(["continuous", "prismatic", "fixed"][: 2 if k == 1 else 3]))
        parent, xyz, rpy = draw(st.integers(0, k - 1)), draw(vectors(2.0)), draw(vectors(3.0))
        axis = np.array(draw(directions))
        axis /= np.linalg.norm(axis)  # PyBullet takes it as it is
        joints.append({"kind": kind, "parent": parent, "xyz": np.array(xyz), "rpy": rpy, "axis": axis})
        inside = f'<origin xyz="{row(xyz)}" rpy="{row(rpy)}"/><axis xyz="{row(axis)}"/>'
        inside += '<limit lower="-9" upper="9" effort="1" velocity="1"/>' if kind == "prismatic" else ""
        lines.append(joint(f"j{k}", kind, f"l{parent}", f"l{k}", inside))
    return Tree("\n".join(lines), joints)


def row(values: Iterable[float]) -> str:
    return " ".join(map(str, values))
