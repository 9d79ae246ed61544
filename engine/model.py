"""A mechanism turned once into flat arrays: the constants of the kernels and the default values of an environment."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vigym.engine.collider import LAW, has_rims, pair_law
from vigym.engine.coupling import Axis, Coupling, axis_labels, in_order
from vigym.engine.graph import Tree, connected, find_loops, spanning_tree
from vigym.engine.hulls import hulls_of
from vigym.engine.joint import WORLD, Joint
from vigym.engine.joint_kinds import FLOATING, axis_pairs, driven, frames, kind_of
from vigym.engine.joint_table import JointTable, joint_table
from vigym.engine.kernels import axis, cone, geometry, layout
from vigym.engine.kernels.joint import GEAR
from vigym.engine.kernels.store import Features, Group, Store
from vigym.engine.mechanism import Mechanism
from vigym.engine.terrain import terrain_of
from vigym.engine.watching import is_crowded, watch_tables

PER_AXIS = ("stiffness", "rest", "damping", "kp", "kd", "target", "target_velocity", "armature")
# Of Newton in an attempt; in those at the shortest parts of a step, after which nothing else is tried; and in all
# rounds of lent sliding (kernels/lending.py)
MAX_ITERATIONS, LAST_ITERATIONS, MOST_ITERATIONS = 40, 200, 600
MAX_BETWEEN = 100  # where bodies may touch each other: searches that come near an end are stuck more often on the way
WARM_START_FLOOR = 0.05  # in units of the usual sizes of a pair; of the first step, later ones learn theirs
OUT_OF_REACH = 1.0  # m
FEW = 50  # contacts of a body: each may carry its whole weight; of more, each has a share as its usual force
# gaps and joints are solved to this part of a body's size (of 1 m if it is larger; rad), however loose the tolerance
ACCURACY = 1e-10
# Products, force times length, are solved to PRODUCTS tolerance^2 of these: what sticks creeps by product / force in a
# step. TIED times as closely where the forces of contacts may not be determined: sqrt(load product / sag) is left.
PRODUCTS, TIED, LEAST_PRODUCT = 1e4, 1e3, 1e-15
ROUNDING = 100.0 * np.finfo(float).eps  # of a number that is the sum of some others
# Of its size a body usually moves in a step, between these; without gravity as much as things do on Earth
LEAST_MOTION, MOST_MOTION, WEIGHTLESS_MOTION = 1e-8, 0.1, 0.01


@dataclass(frozen=True)
class Options:
    """dt: time step, s; tolerance: largest residual of a converged step, relative; smoothing: product at which pairs
    stop, N m."""

    dt: float
    tolerance: float
    smoothing: float = 0.0


class CoupledAxes(NamedTuple):
    """A coupling, and the rows of its axes in the arrays of free axes."""

    law: Coupling
    follower: int
    leaders: np.ndarray  # (n_leaders,)


class Model:
    """mechanism: the source; tree: its spanning tree; features: what its kernels must be able to do; `cone`: shape of
    the friction cone; `smooth`: pairs that stop at a product of their own.

    first_axis: for each of the mechanism's joints, its first row in the arrays of free axes; n_axes rows in all
    (joints in the order added, free axes of each in its own order; floating joints have none).
    """

    def __init__(self, mechanism: Mechanism, cone: str = "exact", smooth: bool = False) -> None:
        mechanism.validate()
        self.mechanism = mechanism.copy()
        self.tree: Tree = spanning_tree(mechanism)
        self.n_bodies, self.n_contacts = len(mechanism.bodies), len(mechanism.contacts)
        free = [0 if joint.kind == "floating" else joint.n_free for joint in mechanism.joints]
        self.first_axis = np.concatenate([[0], np.cumsum(free)]).astype(int)
        self.n_axes = int(self.first_axis[-1])
        self.loops = find_loops(mechanism, self.tree)
        whole: list[Joint | Coupling] = [*mechanism.joints, *mechanism.couplings]
        self.joints: list[Joint | Coupling | None] = [*self.tree.joints, *(whole[j] for j in self.loops.parts)]
        coupled = {axis.joint for coupling in mechanism.couplings for axis in coupling.axes}
        self.kinds = np.array([kind_of(joint, coupled) for joint in self.joints])
        self.soft = np.array([contact.compliance > 0 for contact in mechanism.contacts], bool)
        self.bodies = {body.name: i for i, body in enumerate(mechanism.bodies)} | {WORLD: self.n_bodies}
        self.held = self._held_contacts()
        self.colliders, self.couples = self.mechanism.colliders, self.mechanism.couples
        self.touches, self.own_laws = bool(self.couples), self.mechanism.pair_laws
        self.crowded = self.touches and is_crowded(connected(self.mechanism), self.tied)
        self.pair_laws = [
            pair_law(self.colliders[a], self.colliders[b], own)
            for (a, b), own in zip(self.couples, self.own_laws, strict=True)
        ]
        self.terrain, self.hulls = terrain_of(self.colliders), hulls_of(self.colliders, self.couples)
        self.features = Features(
            joint_kinds=tuple(sorted({int(kind) for kind in self.kinds})),
            contact_kinds=tuple(sorted({geometry.number(contact.kind) for contact in mechanism.contacts})),
            limits=tuple(sorted({pair for joint in mechanism.joints for pair in axis_pairs(joint)})),
            loops=bool(self.loops.parts),
            cone=cone,
            bounce=any(contact.restitution > 0 for contact in mechanism.contacts)
            or any(law.restitution > 0 for law in self.pair_laws),
            soft=bool(self.soft.any()) or any(law.compliance > 0 for law in self.pair_laws),
            smooth=smooth,
            held=bool(self.held.any()),
            sags=self._touching(self.tied | self.wedged) or self.touches,
            touches=self.touches,
            rims=has_rims(self.colliders, self.couples),
            armature=any(joint.armature.any() for joint in mechanism.joints),
            speeds=any(np.isfinite(joint.velocity_limit).any() for joint in mechanism.joints),
            gears=bool(mechanism.couplings),
            curves=any(np.isfinite(joint.no_load_speed).any() for joint in mechanism.joints),
        )
        kinds = [kind for kind in self.features.joint_kinds if kind % 16 != FLOATING or self.features.loops]
        kinds = [kind for kind in kinds if kind != GEAR]
        terms = [len(coupling.axes) for coupling in mechanism.couplings]
        self.sizes = layout.Sizes(
            n_bodies=self.n_bodies,
            n_contacts=self.n_contacts,
            n_axes=self.n_axes,
            n_joints=len(self.joints),
            n_loops=len(self.loops.parts),
            n_pieces=sum(map(len, self.loops.pieces)),
            n_couplings=len(self.loops.couplings),
            coupling_entries=sum(len(here) ** 2 for here in self.loops.pieces),
            most_free=max([1, *((kind // 4) % 4 + kind % 4 for kind in kinds)]),
            n_colliders=len(self.colliders) if self.touches else 0,
            n_couples=len(self.couples),
            n_nodes=self.n_bodies + len(self.loops.parts),
            n_ends=2 * (len(self.loops.joints) + sum(terms)),
            n_terms=sum(terms),
            own_order=self.crowded and not self.loops.parts,
            **(self.terrain.sizes | self.hulls.sizes),
        )
        numbers = [j for j, joint in enumerate(mechanism.joints) if joint.kind != "floating"]
        self.joint_table = self.table(mechanism.joints, numbers)
        self.loop_table = self.table(mechanism.joints, self.loops.joints)
        self.tree_table = self._tree_table()
        self.couplings = [
            CoupledAxes(law, self.axis_of(law.follower), np.array([self.axis_of(axis) for axis in law.leaders]))
            for law in in_order(mechanism.couplings)
        ]

    @property
    def axis_joints(self) -> list[Joint]:
        """The joints that constrain something, as added: theirs are the free axes."""
        return [joint for joint in self.mechanism.joints if joint.kind != "floating"]

    def per_axis(self, name: str) -> np.ndarray:
        """An option of the joints, one entry a free axis (n_axes,)."""
        return np.concatenate([np.zeros(0), *(getattr(joint, name) for joint in self.axis_joints)])

    @property
    def driven_axes(self) -> np.ndarray:
        """Mask of free axes with a motor (n_axes,), by `driven`: the kernels cut its effort, and any added to it."""
        return np.concatenate([np.zeros(0, bool), *map(driven, self.axis_joints)])

    @property
    def axis_names(self) -> list[str]:
        """Names of the free joint axes, in the order of efforts, positions and velocities."""
        return [name for joint in self.mechanism.joints for name in axis_labels(joint)]

    @property
    def axis_owners(self) -> list[str]:
        """Name of the joint of each free axis."""
        return [joint.name for joint in self.axis_joints for _ in range(joint.n_free)]

    def usual_sizes(self, dt: float) -> np.ndarray:
        """Usual force, N, acceleration, m/s^2, and length, m, of the parts of which each body is one; the body's own
        weight, N; weight and mass of the part (n_bodies, 6).

        A part is what joints hold together. Its length is the mean radius of gyration, its acceleration that of
        gravity; a contact usually carries a share of its weight."""
        bodies, parts = self.mechanism.bodies, connected(self.mechanism)
        mass, touching = np.array([body.mass for body in bodies]), np.zeros(self.n_bodies)
        size = np.sqrt([np.trace(body.inertia) / body.mass for body in bodies])
        np.add.at(touching, [self.bodies[contact.body] for contact in self.mechanism.contacts], 1)
        dt = float(np.clip(dt, 1e-100, 1e100))
        motion = LEAST_MOTION if self.mechanism.gravity.any() else WEIGHTLESS_MOTION
        sizes = np.zeros((self.n_bodies, 6))
        for part in np.unique(parts):
            here = parts == part
            length = size[here].mean()
            gravity = max(np.linalg.norm(self.mechanism.gravity), motion * length / dt**2)
            acceleration = min(gravity, MOST_MOTION * length / dt**2)
            number = max(1, min(touching[here].sum(), here.sum()))
            whole = mass[here].sum()
            sizes[here, :3] = whole * gravity / number, acceleration, length
            sizes[here, 3] = mass[here] * gravity
            sizes[here, 4:] = whole * gravity, whole
        return sizes

    def table(self, joints: Sequence[Joint], numbers: Sequence[int]) -> JointTable:
        """The joints as a table; `numbers` are theirs among the mechanism's joints."""
        return joint_table([joints[j] for j in numbers], numbers, self.bodies, self.first_axis)

    def _tree_table(self) -> JointTable:
        """The tree's joints, turned so that each has its parent nearer to the root, parents first."""
        numbers = {joint.name: j for j, joint in enumerate(self.mechanism.joints)}
        joints = [joint for i in self.tree.order if (joint := self.tree.joints[i]) is not None]
        return joint_table(joints, [numbers[joint.name] for joint in joints], self.bodies, self.first_axis)

    def constants(self, options: Options) -> Store:
        """The store shared by all environments."""
        store = layout.model_store(self.features, self.sizes)
        m, mechanism = store[0], self.mechanism
        names = [joint.name for joint in mechanism.joints]
        m.gravity[0] = mechanism.gravity
        m.dt, m.tolerance, m.smoothing = options.dt, options.tolerance, options.smoothing
        m.accuracy, m.first_floor = min(options.tolerance, ACCURACY), WARM_START_FLOOR
        products = np.clip(PRODUCTS * m.tolerance**2, 1e-14, 1e-3 * m.tolerance)
        closeness = TIED if self._touching(self.tied) else cone.of(m).CLOSENESS
        m.strictness = m.tolerance / max(products / closeness, LEAST_PRODUCT)
        m.force_rounding, m.length_rounding = ROUNDING / m.tolerance, ROUNDING / m.accuracy
        m.free_fall = np.linalg.norm(mechanism.gravity)
        sizes = self.usual_sizes(options.dt)
        child = np.repeat(self.joint_table.child, self.joint_table.free.sum(-1))
        m.axis_body[:], m.nominal_mass[:, 0] = child, [body.mass for body in mechanism.bodies]
        m.axis_force_scale[:, 0], m.axis_acceleration[:, 0], length, *_ = sizes[child].T
        m.axis_length[:, 0] = np.where(self.joint_table.is_slide, 1.0, length)
        for name in layout.COUNTS:
            setattr(m, name, getattr(self.sizes, name))
        m.max_iterations, m.last_iterations = MAX_BETWEEN if self.features.lends else MAX_ITERATIONS, LAST_ITERATIONS
        m.most_iterations = MOST_ITERATIONS if self.features.lends else LAST_ITERATIONS
        m.order[:], m.joint_kind[:] = self.tree.order, self.kinds
        m.group[:] = connected(self.mechanism)
        for i, joint in enumerate(self.joints):
            if joint is None:
                m.child[i], m.parent[i] = i, self.n_bodies
            elif isinstance(joint, Coupling):
                m.child[i] = m.parent[i] = self.n_bodies
            else:
                m.child[i], m.parent[i] = self.bodies[joint.child], self.bodies[joint.parent]
                m.first_axis[i] = self.first_axis[names.index(joint.name)]
                frames(m, i, joint)
        sagging = self.tied | self.wedged
        crowd = Counter(contact.body for contact in mechanism.contacts)
        for c, contact in enumerate(mechanism.contacts):
            i, share = self.bodies[contact.body], min(1.0, FEW / crowd[contact.body])
            m.contact_body[c], m.contact_kind[c] = i, geometry.number(contact.kind)
            m.contact_force_scale[c], m.contact_acceleration[c] = share * sizes[i, 0], sizes[i, 1]
            m.contact_weight[c] = share * sizes[i, 3]
            m.sags[c], m.joined_weight[c], m.joined_mass[c] = sagging[i], *sizes[i, 4:]
            for name, value in geometry.KINDS[contact.kind].describe(contact).items():
                getattr(m, name)[c] = value
        m.clearance[:, 0] = np.where(self.held, OUT_OF_REACH, 0.0)
        self._loop_tables(m)
        if self.touches:
            self._collider_tables(m, sizes)
        return store

    def _collider_tables(self, m: Group, sizes: np.ndarray) -> None:
        """Solids, and which of them may touch."""
        m.usual[:], m.usual_sequence[:], m.own_order = sizes, self._sequence(), int(self.sizes.own_order)
        m.bounces, m.wedged[:-1, 0], m.reach[:, 1] = int(self.features.bounce), self.tied, np.inf
        self.terrain.write(m)
        self.hulls.write(m)
        for k, (collider, i) in enumerate((part, self.bodies[part.body]) for part in self.colliders):
            m.collider_body[k], m.collider_kind[k], m.collider_bound[k] = i, collider.kind, collider.bound
            m.collider_place[k], m.collider_turn[k] = collider.place, collider.rotation.ravel()
            m.collider_size[k] = collider.size
            m.reach[i] = max(m.reach[i, 0], collider.span), min(m.reach[i, 1], collider.bound)
        m.reach[~np.isfinite(m.reach)] = 0.0
        m.couple_first[:], m.couple_second[:] = np.array(self.couples).T
        watch_tables(m, connected(self.mechanism))
        for name in LAW:
            getattr(m, f"couple_{name}")[:, 0] = [own.get(name, -1.0) for own in self.own_laws]

    def _sequence(self) -> list[int]:
        """Bodies, leaf to root, each after the loops whose sides meet there; from n_bodies + 1 on, loops."""
        found: list[int] = []
        for i in (*reversed(self.tree.order), self.n_bodies):
            found += [self.n_bodies + 1 + which for which in self.loops.pieces[i][: self.loops.closing[i]]]
            found += [i]
        return found[:-1]

    def heft(self, mass: np.ndarray) -> np.ndarray:
        """Mass of all that joints connect with each body over that when it was built, for masses (..., n_bodies)."""
        parts = connected(self.mechanism)
        same = (parts[:, None] == parts).astype(float)
        return mass @ same / (np.array([body.mass for body in self.mechanism.bodies]) @ same)

    @property
    def tied(self) -> np.ndarray:
        """Mask of bodies that joints hold to the world, directly or through others (n_bodies,)."""
        parts = connected(self.mechanism)
        anchored = {
            parts[self.bodies[joint.child]]
            for joint in self.mechanism.joints
            if joint.parent == WORLD and joint.kind != "floating"
        }
        return np.isin(parts, list(anchored))

    @property
    def wedged(self) -> np.ndarray:
        """Mask of bodies (n_bodies,) that friction may hold: the planes of their part do not all face the same way."""
        parts = connected(self.mechanism)
        facing: dict[int, set[tuple[float, ...]]] = {}
        for contact in self.mechanism.contacts:
            facing.setdefault(parts[self.bodies[contact.body]], set()).add(tuple(contact.normal))
        return np.isin(parts, [part for part, normals in facing.items() if len(normals) > 1])

    def _touching(self, bodies: np.ndarray) -> bool:
        """Return whether some of the bodies have contacts."""
        return bool(bodies[[self.bodies[contact.body] for contact in self.mechanism.contacts]].any())

    def _held_contacts(self) -> np.ndarray:
        """Mask of contacts on bodies that are rigidly attached to the world."""
        held = np.append(np.zeros(self.n_bodies, bool), True)
        for i in self.tree.order:
            joint = self.tree.joints[i]
            held[i] = joint is not None and joint.n_free == 0 and held[self.tree.parent[i]]
        return held[[self.bodies[contact.body] for contact in self.mechanism.contacts]]

    def _loop_tables(self, m: Group) -> None:
        """Indices of pieces and couplings."""
        pieces, n = self.loops.pieces, self.n_bodies
        number = {(body, which): k for k, (body, which) in enumerate((b, w) for b in range(n + 1) for w in pieces[b])}
        m.first_piece[1:] = np.cumsum([len(here) for here in pieces])
        m.first_closing[1:] = np.cumsum(self.loops.closing)
        m.first_coupling[1:] = np.cumsum([len(here) ** 2 for here in pieces])
        table = [self.loops.couplings[a, b] for here in pieces for a in here for b in here]
        m.coupling[:] = np.array(table, int)
        for (body, which), k in number.items():
            m.piece_loop[k] = which
            m.piece_up[k] = number.get((m.parent[body], which), 0) if body < n else 0
        place = {joint.name: i for i, joint in enumerate(self.joints) if isinstance(joint, Joint)}
        end = term = 0
        for which, part in enumerate(self.joints[n:]):
            m.own_coupling[which] = self.loops.couplings[which, which]
            axes = part.axes if isinstance(part, Coupling) else ()
            joints = [place[axis.joint] for axis in axes] or [n + which]
            m.first_end[which], m.first_term[which] = end, term
            if isinstance(part, Coupling):
                m.gear_offset[which] = -part.offset
                m.term_coefficients[term : term + len(joints)] = [[1.0, 0.0, 0.0, 0.0], *-part.coefficients]
            for k, i in enumerate(joints):
                for body in (m.child[i], m.parent[i]):
                    m.end_body[end], m.end_loop[end], m.end_piece[end] = body, which, number[body, which]
                    end += 1
                if axes:
                    self._term(m, term, axes[k], i, end - 2)
                    term += 1
        m.first_end[-1:], m.first_term[-1:] = end, term

    def _term(self, m: Group, term: int, axis: Axis, i: int, end: int) -> None:
        """Tell a term of a coupling its axis: that of joint i of the kernels, whose bodies are ends `end` on."""
        joint = self.mechanism.joint(axis.joint)
        m.term_joint[term], m.term_axis[term], m.term_end[term] = i, self.axis_of(axis), end
        m.term_slides[term] = float(joint.free_axes[axis.number][0] == "translation")

    def axis_of(self, axis: Axis) -> int:
        """Row of an axis in the arrays of free axes."""
        names = [joint.name for joint in self.mechanism.joints]
        return int(self.first_axis[names.index(axis.joint)]) + axis.number

    def defaults(self) -> dict[str, np.ndarray]:
        """Parameters and drive targets of one environment, by field of the state store."""
        mechanism, colliders = self.mechanism, self.colliders if self.touches else []
        J = np.array([body.inertia for body in mechanism.bodies])
        column = self.per_axis
        bounds = np.stack([column("lower"), column("upper")], -1)
        limit, friction = column("effort_limit"), column("friction")
        slow, curve = column("velocity_limit"), column("no_load_speed")
        finite, cut, dry = np.isfinite(bounds), np.isfinite(limit) & self.driven_axes, friction > 0
        held = finite | np.isfinite(slow)[:, None]
        nowhere = axis.FAR * np.array([-1.0, 1.0]) if self.features.speeds else 0.0
        return {
            "mass": np.array([[body.mass] for body in mechanism.bodies]),
            "heft": np.ones((self.n_bodies, 1)),
            "inertia": J[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]],
            "friction": np.array([[contact.friction] for contact in mechanism.contacts]).reshape(-1, 1),
            "restitution": np.array([[contact.restitution] for contact in mechanism.contacts]).reshape(-1, 1),
            "compliance": np.array([[contact.compliance] for contact in mechanism.contacts]).reshape(-1, 1),
            "contact_damping": np.array([[contact.damping] for contact in mechanism.contacts]).reshape(-1, 1),
            "offset": np.array([[contact.offset] for contact in mechanism.contacts]).reshape(-1, 1),
            **{
                f"collider_{name}": np.array([[getattr(collider, name)] for collider in colliders]).reshape(-1, 1)
                for name in ("friction", "restitution", "compliance", "damping")
            },
            **{name: column(name)[:, None] for name in PER_AXIS},
            "bounds": np.where(finite, bounds, nowhere),
            "velocity_limit": finite_limit(slow)[:, None],
            "no_load_speed": finite_limit(curve)[:, None],
            "effort_limit": kept_limit(limit)[:, None],
            "dry_friction": friction[:, None],
            "bounded": np.stack([*held.T, cut, cut, dry, dry], -1).astype(float),
        }


def kept_limit(limit: np.ndarray) -> np.ndarray:
    """Effort limits as the kernels keep them: 0 stands for none, as infinity would spoil products."""
    return np.where(np.isfinite(limit), limit, 0.0)


def limit_of(kept: np.ndarray) -> np.ndarray:
    """Effort limits from what the kernels keep; infinite where there is none."""
    return np.where(kept > 0.0, kept, np.inf)


def finite_limit(speed: np.ndarray) -> np.ndarray:
    """Limits of velocity and speeds of motors as the kernels keep them: `axis.FAR` stands for none."""
    return np.where(np.isfinite(speed), speed, axis.FAR)
