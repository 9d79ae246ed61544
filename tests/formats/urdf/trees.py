"""Text of small robots."""

import numpy as np

SOLID = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
BASE = f'<link name="base">{SOLID}</link>'


def link(name: str, inside: str = SOLID) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def random_tree(rng: np.random.Generator, count: int) -> tuple[str, list[dict]]:
    """Links in a random tree, with random origins, axes and centres of mass; a third of the joints fixed."""
    text, joints = [], []
    for k in range(count):
        com = " ".join(map(str, rng.normal(size=3)))
        mass = f'<mass value="{rng.uniform(0.5, 2)}"/>'
        mass += '<inertia ixx="1" iyy="1.2" izz="1.4" ixy="0.1" ixz="-0.2" iyz="0.05"/>'
        text.append(link(f"l{k}", f'<inertial><origin xyz="{com}" rpy="0.9 -0.5 1.3"/>{mass}</inertial>'))
    for k in range(1, count):
        kind = str(rng.choice(["fixed", "continuous", "prismatic"]))
        xyz, rpy, axis = rng.normal(size=3), rng.uniform(-3, 3, 3), rng.normal(size=3)
        axis /= np.linalg.norm(axis)  # PyBullet takes it as it is
        joints.append({"kind": kind, "parent": int(rng.integers(k)), "xyz": xyz, "rpy": rpy, "axis": axis})
        row = {name: " ".join(map(str, value)) for name, value in (("xyz", xyz), ("rpy", rpy), ("axis", axis))}
        inside = f'<origin xyz="{row["xyz"]}" rpy="{row["rpy"]}"/><axis xyz="{row["axis"]}"/>'
        inside += '<limit lower="-9" upper="9" effort="1" velocity="1"/>' if kind == "prismatic" else ""
        text.append(joint(f"j{k}", kind, f"l{joints[-1]['parent']}", f"l{k}", inside))
    return "\n".join(text), joints
