"""Bodies of a compiled model that move as one, with the names of all things."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.engine.joint import WORLD
from vigym.engine.rotation import rotation_matrix
from vigym.engine.validation import Array
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.source import MjcfError
from vigym.formats.urdf.inertia import combine, possible, repair
from vigym.formats.urdf.parts import IDENTITY, Pose


def names_of(model: Any, kind: str, count: int) -> list[str]:
    """Names of all bodies, joints, ... of a model; those without one are called after their kind and number."""
    given = [getattr(model, kind)(i).name for i in range(count)]
    taken, found = set(given), []
    for i, name in enumerate(given):
        if not name.strip():
            name = f"{kind} {i}"
            while name in taken:
                name += "'"
            taken.add(name)
        found.append(name)
    return found


@dataclass(frozen=True, eq=False)
class Group:
    """A body that moves, with those that are rigidly attached to it; its frame is that of the first one.

    com: centre of mass in that frame (3,); inertia about it (3, 3).
    """

    name: str
    mass: float
    com: Array
    inertia: Array


def driven(model: Any, name: str) -> Group:
    """A mocap body: as heavy and as large as the whole model, for the drives that hold it; its frame is its centre."""
    moving = float(sum(model.body_mass[b] for b in range(1, model.nbody) if model.body_weldid[b]))
    mass = moving or 1.0
    return Group(name, mass, np.zeros(3), mass * float(model.stat.extent) ** 2 * np.eye(3))


class Rigid:
    """Groups of bodies of a model that move as one.

    leader: number of the body that leads each one's group; 0 is the world. Mocap bodies lead groups of their own.
    filtered: the same where mocap bodies belong to the world, as what neither of two can move never touches.
    inside: frame of each body in its leader's (in the world, if that is its leader). groups: by leader.
    """

    def __init__(self, model: Any, notes: Notes) -> None:
        self.names = names_of(model, "body", model.nbody)
        self.names[0] = WORLD
        if WORLD in self.names[1:]:
            raise MjcfError(f"{notes.name}: a body is called {WORLD!r}, which is reserved; rename it")
        self.leader, self.inside, self.filtered = [0], [IDENTITY], [0]
        for b in range(1, model.nbody):
            pose, above = Pose(model.body_pos[b].copy(), model.body_quat[b].copy()), model.body_parentid[b]
            mocap = model.body_mocapid[b] >= 0
            moves = mocap or model.body_jntnum[b] > 0
            self.leader.append(b if moves else self.leader[above])
            self.inside.append(IDENTITY if moves else self.inside[above] @ pose)
            self.filtered.append(self.filtered[above] if mocap or not moves else b)
        self.groups: dict[int, Group] = {}
        for b in dict.fromkeys(self.leader[1:]):
            if b:
                mocap = model.body_mocapid[b] >= 0
                self.groups[b] = driven(model, self.names[b]) if mocap else self._group(model, b, notes)

    def name(self, body: int) -> str:
        """Name, in the mechanism, of what a body is part of."""
        return self.names[self.leader[body]]

    def place(self, body: int, pose: Pose) -> Pose:
        """A frame of a body in the mechanism's frame of what it is part of, whose origin is the centre of mass."""
        found = self.inside[body] @ pose
        leader = self.leader[body]
        return found if leader == 0 else Pose(found.position - self.groups[leader].com, found.orientation)

    def _group(self, model: Any, leader: int, notes: Notes) -> Group:
        parts = []
        for b in (b for b, first in enumerate(self.leader) if first == leader):
            pose = self.inside[b] @ Pose(model.body_ipos[b], model.body_iquat[b])
            R = rotation_matrix(pose.orientation)
            parts.append((float(model.body_mass[b]), pose.position, R @ np.diag(model.body_inertia[b]) @ R.T))
        mass, com, inertia = combine(parts)
        name = self.names[leader]
        if mass <= 0.0:
            raise MjcfError(f"{notes.name}: body {name!r} moves and has no mass; give it one")
        inertia = 0.5 * (inertia + inertia.T)
        if not possible(inertia):
            if not np.linalg.eigvalsh(inertia)[2] > 0.0:
                raise MjcfError(f"{notes.name}: body {name!r} moves and has no inertia; give it one")
            inertia = repair(inertia)
            notes.change(f"body {name!r}: its inertia, which no solid has, was mended")
        return Group(name, mass, com, inertia)
