"""The humanoid: inertias, velocities and contact forces of MuJoCo's bodies, and torques of motors.

MuJoCo tells them in the world's axes about the centre of mass of all, c: cinert, the inertia of each body (xx, yy, zz,
xy, xz, yz), its mass times the way from c to its centre of mass, and its mass; cvel, its angular velocity and the
velocity of what it would have at c; cfrc_ext, see pushes.py.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from vigym.assets.classics import humanoid
from vigym.engine.compiled import inlined
from vigym.engine.rotation import rotate
from vigym.engine.shapes import mass_properties
from vigym.engine.simulator import Simulator
from vigym.engine.vectors import cross, rotation_matrix
from vigym.envs.classics.base import ClassicTask, observe_state, rate_names, sense_joints, sense_root, state_fields
from vigym.envs.classics.pushes import pushes_of, sense_pushes
from vigym.envs.compiled_task import numbers, physics_of_all, sense_solver, sum_of_squares

N_PARTS, N_JOINTS = 13, 17
JOINTS = tuple(
    f"{side}{joint}"
    for side, joints in (
        ("", ("abdomen_z", "abdomen_y", "abdomen_x")),
        ("right_", ("hip_x", "hip_z", "hip_y", "knee")),
        ("left_", ("hip_x", "hip_z", "hip_y", "knee")),
        ("right_", ("shoulder1", "shoulder2", "elbow")),
        ("left_", ("shoulder1", "shoulder2", "elbow")),
    )
    for joint in joints
)


class Parts(NamedTuple):
    """MuJoCo's bodies: body here, mass, centre of mass and inertia (9) in its frame."""

    bodies: Any
    masses: Any
    centres: Any
    inertias: Any


class Axes(NamedTuple):
    """Free axes: the joint's child and parent, the body in whose frame the axis is fixed, the axis there, and the
    joint's anchor in the child's frame. Joints are in an order in which parents come first."""

    children: Any
    parents: Any
    carriers: Any
    directions: Any
    anchors: Any


def parts_of(sim: Simulator, lying: bool) -> Parts:
    """MuJoCo's bodies of a humanoid."""
    found = humanoid.parts_of(lying=lying)
    bodies = np.array([sim.model.bodies[owner] for owner, *_ in found])
    masses, centres, inertias = (np.array([part[k] for part in found]) for k in (1, 2, 3))
    return Parts(bodies, masses, centres, inertias.reshape(-1, 9))


def axes_of(sim: Simulator) -> Axes:
    """Free axes of a humanoid, hinges and universal joints, none of whose joints is turned in its parent but those of
    TILT."""
    rows = []
    for joint in sim.model.mechanism.joints:
        child, parent = sim.model.bodies[joint.child], sim.model.bodies[joint.parent]
        for k, (_, row) in enumerate(joint.free_axes):
            second = k == 1 or joint.n_free == 1  # of a hinge, the axis is the same in both
            axis = joint.basis[row] if second else rotate(joint.orientation, joint.basis[row])
            rows.append((child, parent, child if second else parent, axis, joint.child_anchor))
    return Axes(*(np.array(column) for column in zip(*rows, strict=True)))


@inlined
def sense_centre(me, physics, parts):
    """Centre of mass of all, m."""
    me.centre[:] = 0.0
    total = 0.0
    for k in range(len(parts.masses)):
        b, p = parts.bodies[k], parts.centres[k]
        rows = rotation_matrix(physics.q[b])
        for i in range(3):
            at = physics.x[b, i] + rows[i][0] * p[0] + rows[i][1] * p[1] + rows[i][2] * p[2]
            me.places[k, i] = at
            me.centre[i] += parts.masses[k] * at
        total += parts.masses[k]
    for i in range(3):
        me.centre[i] /= total


@inlined
def sense_inertias(me, physics, parts):
    """cinert, (n_parts, 10)."""
    for k in range(len(parts.masses)):
        rows, J, m = rotation_matrix(physics.q[parts.bodies[k]]), parts.inertias[k], parts.masses[k]
        d0, d1, d2 = me.places[k, 0] - me.centre[0], me.places[k, 1] - me.centre[1], me.places[k, 2] - me.centre[2]
        square = d0 * d0 + d1 * d1 + d2 * d2
        for at, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
            turned = 0.0
            for a in range(3):
                for c in range(3):
                    turned += rows[i][a] * J[3 * a + c] * rows[j][c]
            di, dj = me.places[k, i] - me.centre[i], me.places[k, j] - me.centre[j]
            me.inertias[k, at] = turned + m * ((square if i == j else 0.0) - di * dj)
        me.inertias[k, 6], me.inertias[k, 7], me.inertias[k, 8], me.inertias[k, 9] = m * d0, m * d1, m * d2, m


@inlined
def sense_spins(me, physics, axes, centre):
    """Angular and linear velocities of the bodies' centres of mass, world, from qvel: those of MuJoCo at this state."""
    x, rows = physics.x, rotation_matrix(physics.q[0])
    w = (me.qvel[3], me.qvel[4], me.qvel[5])
    for i in range(3):
        me.spins[0, i] = rows[i][0] * w[0] + rows[i][1] * w[1] + rows[i][2] * w[2]
        me.speeds[0, i] = physics.v[0, i]
    for a in range(len(axes.children)):
        b, p, carrier, d, rate = (
            axes.children[a],
            axes.parents[a],
            axes.carriers[a],
            axes.directions[a],
            physics.rates[a],
        )
        if a == 0 or axes.children[a - 1] != b:
            for i in range(3):
                me.spins[b, i] = me.spins[p, i]
        turn = rotation_matrix(physics.q[carrier])
        for i in range(3):
            me.spins[b, i] += rate * (turn[i][0] * d[0] + turn[i][1] * d[1] + turn[i][2] * d[2])
        own, at = rotation_matrix(physics.q[b]), axes.anchors[a]
        r0 = own[0][0] * at[0] + own[0][1] * at[1] + own[0][2] * at[2]
        r1 = own[1][0] * at[0] + own[1][1] * at[1] + own[1][2] * at[2]
        r2 = own[2][0] * at[0] + own[2][1] * at[1] + own[2][2] * at[2]
        s, u = me.spins[p], me.spins[b]
        first = cross(s, (x[b, 0] + r0 - x[p, 0], x[b, 1] + r1 - x[p, 1], x[b, 2] + r2 - x[p, 2]))
        second = cross(u, (r0, r1, r2))
        for i in range(3):
            me.speeds[b, i] = me.speeds[p, i] + first[i] - second[i]


@inlined
def sense_velocities(me, physics, parts):
    """cvel, (n_parts, 6)."""
    for k in range(len(parts.masses)):
        b = parts.bodies[k]
        u, x = me.spins[b], physics.x[b]
        way = cross(u, (me.centre[0] - x[0], me.centre[1] - x[1], me.centre[2] - x[2]))
        for i in range(3):
            me.velocities[k, i], me.velocities[k, 3 + i] = u[i], me.speeds[b, i] + way[i]


@inlined
def sense_humanoid(me, physics, parts, axes, pushes, efforts, order, centre, n, at_start, settings):
    """All of the state that both tasks tell and judge."""
    if not at_start:
        me.length = 1.0
    sense_solver(me, physics)
    sense_root(me, physics, centre)
    sense_joints(me, physics, order, 7, 6)
    sense_centre(me, physics, parts)
    sense_inertias(me, physics, parts)
    sense_spins(me, physics, axes, centre)
    sense_velocities(me, physics, parts)
    sense_pushes(me.forces, physics, pushes, n, at_start, settings.step)
    for k in range(len(order)):
        me.torques[order[k]] = 0.0 if at_start else efforts[n, k]
    for k in range(2):
        hip, knee = (9, 10) if k == 0 else (5, 6)  # tendons of the left and of the right leg
        me.tendon_length[k] = me.qpos[7 + knee] - me.qpos[7 + hip]
        me.tendon_velocity[k] = me.qvel[6 + knee] - me.qvel[6 + hip]
    me.x_position, me.y_position = me.qpos[0], me.qpos[1]


@inlined
def observe_humanoid(out, me, physics, settings):
    """Write the observation."""
    k = observe_state(out, me, physics, settings)
    if settings.observes_inertias:
        for part in range(len(me.inertias)):
            for i in range(10):
                out[k] = me.inertias[part, i]
                k += 1
    if settings.observes_velocities:
        for part in range(len(me.velocities)):
            for i in range(6):
                out[k] = me.velocities[part, i]
                k += 1
    if settings.observes_torques:
        for i in range(len(me.torques)):
            out[k] = me.torques[i]
            k += 1
    if settings.observes_forces:
        for part in range(len(me.forces)):
            for i in range(6):
                out[k] = me.forces[part, i]
                k += 1


@inlined
def squared_forces(me):
    """Sum of all squared contact torques and forces."""
    total = 0.0
    for part in range(len(me.forces)):
        total += sum_of_squares(me.forces[part])
    return total


class HumanoidTask(ClassicTask):
    """A task of the humanoid; arguments as in the tasks, `settings` those of their rewards.

    lying: on its back
    """

    nq, nv, floats = 24, 23, True
    infos: ClassVar[Mapping[str, Any]] = {
        **{"x_position": float, "y_position": float, "tendon_length": (float, 2), "tendon_velocity": (float, 2)}
    }
    senses: ClassVar[Mapping[str, Any]] = {
        **state_fields(nq, nv),
        **{"length": float, "healthy": bool, "centre": (float, 3), "places": (float, (N_PARTS, 3))},
        **{"inertias": (float, (N_PARTS, 10)), "velocities": (float, (N_PARTS, 6)), "forces": (float, (N_PARTS, 6))},
        **{"spins": (float, (15, 3)), "speeds": (float, (15, 3)), "torques": (float, N_JOINTS)},
    }
    n_actions, action_limit = N_JOINTS, 0.4
    order, motors = tuple(range(N_JOINTS)), tuple(JOINTS.index(name) for name in humanoid.GEARS)
    gears = tuple(humanoid.GEARS.values())
    camera: ClassVar[Mapping[str, Any]] = {"distance": 4.0, "azimuth": 135.0, "elevation": -15.0, "trackbodyid": 0}

    def __init__(
        self,
        *,
        lying: bool,
        reset_noise_scale: float,
        exclude_current_positions_from_observation: bool,
        include_cinert_in_observation: bool,
        include_cvel_in_observation: bool,
        include_qfrc_actuator_in_observation: bool,
        include_cfrc_ext_in_observation: bool,
        settings: Mapping[str, Any],
        **options: Any,
    ) -> None:
        self.lying, self.reset_noise_scale = lying, reset_noise_scale
        self.skipped = 2 if exclude_current_positions_from_observation else 0
        self.observes = {
            "inertias": include_cinert_in_observation,
            "velocities": include_cvel_in_observation,
            "torques": include_qfrc_actuator_in_observation,
            "forces": include_cfrc_ext_in_observation,
        }
        mechanism = humanoid.build(lying=lying)
        super().__init__(mechanism, **options)
        torso = humanoid.shapes_of(lying)["torso"]
        self.origin[:] = mass_properties(torso, density=1000.0)[1]
        own: dict[str, Any] = {f"observes_{name}": seen for name, seen in self.observes.items()}
        own |= {"observes_maximal": self.observes_maximal, "skipped": float(self.skipped), "most_rate": np.inf}
        self.settings = numbers(**own, dt=self.dt, step=self.sim.dt, **settings)

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return self.uniform(rng, self.reset_noise_scale)

    def observation_names(self) -> list[str]:
        names = super().observation_names()
        inertia = ["xx", "yy", "zz", "xy", "xz", "yz", "mass times x", "mass times y", "mass times z", "mass"]
        motion = [f"{kind} {axis}" for kind in ("angular", "linear") for axis in "xyz"]
        contact = [f"{kind} {axis}" for kind in ("torque", "force") for axis in "xyz"]
        if self.observes["inertias"]:
            names += [f"inertia of {part}: {kind}" for part in humanoid.PARTS for kind in inertia]
        if self.observes["velocities"]:
            names += [f"velocity of {part}: {kind}" for part in humanoid.PARTS for kind in motion]
        if self.observes["torques"]:
            names += [f"torque of motors: {joint}" for joint in JOINTS]
        if self.observes["forces"]:
            names += [f"contact on {part}: {kind}" for part in humanoid.PARTS for kind in contact]
        return names

    def names(self) -> list[str]:
        place = [*(f"{axis} of the torso" for axis in "xyz"), *(f"{axis} of the torso's quaternion" for axis in "wxyz")]
        velocity = [f"velocity along {axis} of the torso" for axis in "xyz"]
        spin = [f"angular velocity about the torso's {axis}" for axis in "xyz"]
        return [*place[self.skipped :], *JOINTS, *velocity, *spin, *rate_names(JOINTS)]

    def tables(self) -> tuple[Any, ...]:
        """Arguments that the loops of both tasks share."""
        owners = [collider.body for collider in self.sim.model.mechanism.colliders if collider.body != "world"]
        parts = [humanoid.PARTS.index(owner) for owner in owners]
        for k, owner in enumerate(owners):  # the second shape of a shin is its foot
            if owner.endswith("shin") and owners[k - 1] == owner:
                parts[k] += 1
        pushes = pushes_of(self.sim, parts)
        tables = physics_of_all(self.sim), parts_of(self.sim, self.lying), axes_of(self.sim), pushes
        shared = self.effort, self.settings, self.places, self.origin, self.elapsed, self.action
        return (*tables, *shared, self.observation, self.now)
