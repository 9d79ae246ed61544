"""Geoms of a compiled model: colliders, with MuJoCo's rules of who touches whom, and shapes that are only drawn."""

from dataclasses import replace
from itertools import combinations
from typing import Any

from vigym.engine.collider import GROUNDS, ON_GROUND
from vigym.engine.errors import MechanismError
from vigym.engine.height_field import HeightField
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.engine.polyhedra import Hull
from vigym.engine.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere
from vigym.formats.hulls import EXTRA, HAS_SCIPY, hull_of
from vigym.formats.mjcf.looks import Looks
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import Rigid, names_of
from vigym.formats.mjcf.source import import_mujoco
from vigym.formats.urdf.parts import Pose

_PLANE, _HFIELD, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(8)  # mjtGeom
_KIND_NAMES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
MOST_PAIRS = 200_000
_BITS = 62
HIDDEN = (0.0, 0.0, 0.0, 0.0)
SOLID = (Sphere, Capsule, Box, Plane, Cylinder, Hull, HeightField)  # kinds that become colliders


class Geoms:
    """All geoms of a model; `solid`: numbers of those that are colliders of the mechanism."""

    def __init__(self, model: Any, rigid: Rigid, notes: Notes) -> None:
        self.model, self.rigid, self.notes = model, rigid, notes
        self.names = names_of(model, "geom", model.ngeom)
        self.looks = Looks(model, rigid, notes)
        self.solid: list[int] = []
        self._hulls: dict[int, Hull] = {}  # by number of the mesh

    def add(self, mechanism: Mechanism) -> None:
        """Add colliders and visuals to the bodies, which were added before."""
        model = self.model
        touching = self._pairs()
        able = {g for pair in touching for g in pair}
        seen: dict[str, list[Shape]] = {}
        unseen: dict[str, list[Shape]] = {}
        left_out: dict[str, int] = {}
        classes = _Classes(model, self.names)
        for g in range(model.ngeom):
            body = self.rigid.name(model.geom_bodyid[g])
            shape = self._shape(g)
            solid = shape if isinstance(shape, Shape) else None
            look = None if isinstance(shape, Plane) else self.looks.of(g, solid)
            if look is not None:
                (seen if self.looks.shown(g) else unseen).setdefault(body, []).append(look)
            if g in able and isinstance(shape, SOLID):
                if body == WORLD and not isinstance(shape, Plane):  # which would be drawn: see `seen`
                    shape = replace(shape, color=HIDDEN)
                friction = float(model.geom_friction[g, 0]) if model.geom_condim[g] > 1 else 0.0
                mechanism.add_collider(
                    self.names[g], body, shape, friction=friction, group=classes.group(g), mask=classes.mask(g)
                )
                self.solid.append(g)
            elif g in able:
                kind = _KIND_NAMES[min(int(model.geom_type[g]), 7)]
                left_out[kind] = left_out.get(kind, 0) + 1
        mechanism.add_scenery(seen.pop(WORLD, []))
        unseen.pop(WORLD, None)
        for body, visuals in (unseen | seen).items():
            mechanism.replace_body(body, visuals=visuals)
        for kind, number in left_out.items():
            self.notes.change(f"{number} geoms of type {kind}: they touch nothing")
        kinds = dict(zip(self.solid, (collider.shape for collider in mechanism.colliders), strict=True))
        there = {pair: touching[pair] for pair in touching if {*pair} <= {*self.solid}}
        over = [pair for pair in there if _cannot(kinds[pair[0]], kinds[pair[1]])]
        if over:
            self.notes.change(f"{len(over)} pairs of a cylinder and a height field: they do not touch")
        self._tell_pairs(mechanism, {pair: there[pair] for pair in there if pair not in over})

    def of_robot(self) -> set[str]:
        """Names of the geoms that stand still and belong to a body, such as the base of an arm."""
        model, fixed = self.model, self.rigid.filtered
        return {self.names[g] for g in range(model.ngeom) if (b := int(model.geom_bodyid[g])) and not fixed[b]}

    def _pairs(self) -> dict[tuple[int, int], float]:
        """Geoms that may touch, the smaller number first, with the friction of both."""
        model, rigid = self.model, self.rigid
        if model.opt.disableflags & (_disabled("CONTACT") | _disabled("CONSTRAINT")):
            return {}
        explicit = {}
        for k in range(model.npair):
            a, b = sorted((int(model.pair_geom1[k]), int(model.pair_geom2[k])))
            explicit[a, b] = float(model.pair_friction[k, 0]) if model.pair_dim[k] > 1 else 0.0
        excluded = {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
        leader, fixed = rigid.leader, rigid.filtered
        above = {b: leader[model.body_parentid[b]] for b in rigid.groups}
        filter_parent = not model.opt.disableflags & _disabled("FILTERPARENT")
        found = {}
        candidates = [
            g
            for g in range(model.ngeom)
            if model.geom_contype[g] or model.geom_conaffinity[g] or any(g in pair for pair in explicit)
        ]
        if len(candidates) ** 2 > 2 * MOST_PAIRS * 10:
            self.notes.refuse(f"{len(candidates):,} geoms that may touch each other")
            return {}
        for a, b in combinations(candidates, 2):
            bodies = sorted((int(model.geom_bodyid[a]), int(model.geom_bodyid[b])))
            first, second = leader[bodies[0]], leader[bodies[1]]
            if fixed[bodies[0]] == fixed[bodies[1]] or _both_planes(model, a, b):
                continue
            if (a, b) in explicit:
                found[a, b] = explicit[a, b]
                continue
            if not (model.geom_contype[a] & model.geom_conaffinity[b]) | (
                model.geom_contype[b] & model.geom_conaffinity[a]
            ):
                continue
            if filter_parent and first and second and (above[first] == second or above[second] == first):
                continue
            if (bodies[0], bodies[1]) in excluded or (bodies[1], bodies[0]) in excluded:
                continue
            found[a, b] = self._friction(a, b)
        return found

    def _friction(self, a: int, b: int) -> float:
        """The coefficient of two geoms: that of the higher priority, or the larger one."""
        model = self.model
        order = model.geom_priority[a] - model.geom_priority[b]
        if order:
            g = a if order > 0 else b
            return float(model.geom_friction[g, 0]) if model.geom_condim[g] > 1 else 0.0
        if max(model.geom_condim[a], model.geom_condim[b]) < 3:
            return 0.0
        return float(max(model.geom_friction[a, 0], model.geom_friction[b, 0]))

    def _tell_pairs(self, mechanism: Mechanism, touching: dict[tuple[int, int], float]) -> None:
        """Make exactly the given colliders touch, with their friction."""
        order = {g: k for k, g in enumerate(self.solid)}
        wanted = {(order[a], order[b]): friction for (a, b), friction in touching.items()}
        colliders = mechanism.colliders
        for i, j in wanted:
            pair = colliders[i].body, colliders[j].body
            mechanism.allow_contact(*pair)
        there = {(min(pair), max(pair)) for pair in mechanism.couples}
        for i, j in sorted(there - wanted.keys()):
            mechanism.ignore_colliders(colliders[i].name, colliders[j].name)
        missing = wanted.keys() - there
        if missing:
            i, j = min(missing)
            self.notes.refuse(f"geoms {colliders[i].name!r} and {colliders[j].name!r}: too many classes of contact")
        for (i, j), friction in wanted.items():
            if abs((colliders[i].friction * colliders[j].friction) ** 0.5 - friction) > 1e-12:
                mechanism.set_pair(colliders[i].name, colliders[j].name, friction=friction)
        if any(self.model.geom_condim[g] > 3 for g in self.solid):
            self.notes.change("torsional and rolling friction (condim 4, 6): left out, sliding friction remains")

    def _shape(self, g: int) -> Shape | Plane | HeightField | None:
        """The geom in the frame of the mechanism's body; None if it is of a kind that has no shape."""
        model, size = self.model, self.model.geom_size[g].tolist()
        body = model.geom_bodyid[g]
        pose = self.rigid.place(body, Pose(model.geom_pos[g].copy(), model.geom_quat[g].copy()))
        place: dict[str, Any] = {
            "position": tuple(pose.position.tolist()),
            "orientation": tuple(pose.orientation.tolist()),
        }
        kind = model.geom_type[g]
        if kind == _PLANE:
            return Plane(**place)
        place["color"] = self.looks.color(g)
        if kind == _SPHERE:
            return Sphere(size[0], **place)
        if kind == _CAPSULE:
            return Capsule(size[0], 2 * size[1], **place) if size[1] > 0 else Sphere(size[0], **place)
        if kind == _CYLINDER:
            return Cylinder(size[0], 2 * size[1], **place)
        if kind == _BOX:
            return Box((2 * size[0], 2 * size[1], 2 * size[2]), **place)
        try:
            if kind == _HFIELD and body == 0:
                return self._field(g, place)
            return self._hull(g, place) if kind == _MESH else None
        except MechanismError:  # flat, or too thin
            return None

    def _hull(self, g: int, place: dict[str, Any]) -> Hull | None:
        """A mesh as its convex hull, as MuJoCo has it."""
        data = int(self.model.geom_dataid[g])
        if not HAS_SCIPY:
            self.notes.other(f"the hull of a mesh {EXTRA}")
            return None
        if data not in self._hulls:
            start, count = self.model.mesh_vertadr[data], self.model.mesh_vertnum[data]
            self._hulls[data] = hull_of(self.model.mesh_vert[start : start + count].astype(float))
        return replace(self._hulls[data], **place)

    def _field(self, g: int, place: dict[str, Any]) -> HeightField:
        """A height field of the world."""
        model, data = self.model, int(self.model.geom_dataid[g])
        start, rows, columns = (int(table[data]) for table in (model.hfield_adr, model.hfield_nrow, model.hfield_ncol))
        heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns).astype(float)
        x, y, z, _ = model.hfield_size[data].tolist()
        return HeightField(z * heights, (2 * x, 2 * y), **place)


def _cannot(first: object, second: object) -> bool:
    """Tell whether one of two shapes is ground that the other one cannot touch."""
    pairs = (first, second), (second, first)
    return any(isinstance(a, GROUNDS) and not isinstance(b, ON_GROUND) for a, b in pairs)


class _Classes:
    """Geoms that touch the same others by their bits and by explicit pairs; each class is a bit of group and mask."""

    def __init__(self, model: Any, names: list[str]) -> None:
        partners: dict[int, set[int]] = {}
        for k in range(model.npair):
            a, b = int(model.pair_geom1[k]), int(model.pair_geom2[k])
            partners.setdefault(a, set()).add(b)
            partners.setdefault(b, set()).add(a)
        self.keys = [
            (int(model.geom_contype[g]), int(model.geom_conaffinity[g]), frozenset(partners.get(g, ())))
            for g in range(len(names))
        ]
        self.kinds = list(dict.fromkeys(key for key in self.keys if key[0] or key[1] or key[2]))
        members: dict[Any, set[int]] = {}
        for g, key in enumerate(self.keys):
            members.setdefault(key, set()).add(g)
        self.masks = {}
        for key in self.kinds if len(self.kinds) <= _BITS else ():
            meets = (bool(key[0] & other[1] or other[0] & key[1] or key[2] & members[other]) for other in self.kinds)
            self.masks[key] = sum(1 << k for k, touches in enumerate(meets) if touches)

    def group(self, g: int) -> int:
        """Group of a geom's collider; all alike where there are more classes than bits."""
        return 1 << self.kinds.index(self.keys[g]) if self.masks else 1

    def mask(self, g: int) -> int:
        """Mask of a geom's collider."""
        return self.masks[self.keys[g]] if self.masks else -1


def _both_planes(model: Any, a: int, b: int) -> bool:
    flat = (_PLANE, _HFIELD)
    return model.geom_type[a] in flat and model.geom_type[b] in flat


def _disabled(name: str) -> int:
    """The bit of MuJoCo's flag that disables something."""
    return int(getattr(import_mujoco().mjtDisableBit, f"mjDSBL_{name}"))
