"""Common parts of tasks of robots with a free base: the usual observation, and starts that touch the ground."""

from typing import Any, ClassVar

import numpy as np

from vigym.engine import coordinates
from vigym.engine.compiled import inlined
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import from_rotation_vector, multiply
from vigym.envs.compiled_task import write, write_maximal
from vigym.envs.task import Array, Indices, Task

TOUCH = 1e-9  # m above the ground
# Infos of compiled tasks that `sense_base` fills
BASE_INFOS = {f"{axis}_{kind}": float for kind in ("position", "velocity") for axis in "xyz"}


@inlined
def sense_base(me, x, v):
    """Position and velocity of the base, as infos."""
    me.x_position, me.y_position, me.z_position = x[0], x[1], x[2]
    me.x_velocity, me.y_velocity, me.z_velocity = v[0], v[1], v[2]


@inlined
def observe_base(out, physics, settings):
    """Write what `RobotTask.observe` returns; the index after the last number."""
    if settings.observes_maximal:
        return write_maximal(out, physics)
    k = write(out, 0, physics.x[0, int(settings.skipped) :])
    k = write(out, k, physics.q[0])
    k = write(out, k, physics.joints)
    k = write(out, k, physics.v[0])
    k = write(out, k, physics.w[0])
    return write(out, k, physics.rates)


class RobotTask(Task):
    """A task of a robot whose first body is its base, which no joint ties to the world.

    observation: "base" (the base and all joints, as Gymnasium's qpos and qvel), or "maximal" for every body
    exclude_current_positions_from_observation: leave x and y of the base out of it
    options: those of every task
    """

    fixed: ClassVar[tuple[str, ...]] = ("rest", "stood_on", "slopes")

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        observation: str,
        exclude_current_positions_from_observation: bool,
        **options: Any,
    ) -> None:
        self.observes_maximal = observation == "maximal"
        self.skipped = 2 if exclude_current_positions_from_observation else 0
        self.base = mechanism.bodies[0].name
        super().__init__(mechanism, **options)
        self.rest = self.sim.joint_positions()[0]  # where the model starts
        self.rest_state = self.sim.state
        up = np.array([contact.normal[2] for contact in mechanism.contacts])
        self.stood_on = np.flatnonzero(up > 1e-6)  # contacts that hold the robot up
        self.slopes = up[self.stood_on]

    def observation_names(self) -> list[str]:
        """Names for the base and the joints, or for all bodies; a task may add to it, and then to `observe` as well."""
        if self.observes_maximal:
            return self.maximal_names()
        base, joints = self.base, self.sim.axis_names
        position = [f"{axis} of the {base}" for axis in "xyz"][self.skipped :]
        turn = [f"{axis} of the {base}'s quaternion" for axis in "wxyz"]
        velocity = [f"velocity along {axis} of the {base}" for axis in "xyz"]
        spin = [f"angular velocity about the {base}'s {axis}" for axis in "xyz"]
        return [*position, *turn, *joints, *velocity, *spin, *(f"velocity of {name}" for name in joints)]

    def observe(self) -> Array:
        if self.observes_maximal:
            return self.maximal()
        x, q, v, w = (part[:, 0] for part in self.state)
        joints, rates = self.sim.joint_positions(), self.sim.joint_velocities()
        return np.concatenate([x[:, self.skipped :], q, joints, v, w, rates], -1)

    def put(
        self,
        env: Indices,
        joints: Array,
        rates: Array,
        x: Array,
        q: Array,
        v: Array | None = None,
        w: Array | None = None,
        *,
        touch: bool = True,
    ) -> None:
        """Start the environments `env` with these joints (len(env), n_axes) and this base (len(env), 3 or 4).

        The base is moved along z until the lowest contact touches the ground; without `touch`, only if that is up.
        """
        n, model = len(env), self.sim.model
        roots = [np.repeat(part[:1], n, axis=0) for part in self.rest_state]
        for part, value in zip(roots, (x, q, v, w), strict=True):
            part[:, 0] = 0.0 if value is None else value
        lift = self.lift(env, *coordinates.forward(model, joints, roots[0], roots[1]))
        roots[0][:, 0, 2] += lift if touch else np.maximum(lift, 0.0)
        phi, mask = self.rows(env, joints)
        given: dict[str, Any] = {name: self.rows(env, part)[0] for name, part in zip("xqvw", roots, strict=True)}
        given["q"][~mask] = 1.0, 0.0, 0.0, 0.0
        self.sim.set_joint_state(phi, self.rows(env, rates)[0], mask, **given)

    def lift(self, env: Indices, x: Array, q: Array) -> Array:
        """Way (len(env),) along z that puts the lowest contact of each robot on the ground; x, q: poses of all bodies.

        0 if the robot has no contacts that could hold it up."""
        if not len(self.stood_on):
            return np.zeros(len(env))
        # how far up the gap of each contact closes depends on the slope of its plane; walls are not stood on
        short = TOUCH - self.sim.gaps_at(env, x, q)
        return (short[:, self.stood_on] / self.slopes).max(-1)

    def turned(self, q: Array, phi: Array) -> Array:
        """Orientations q turned by rotation vectors phi in the world."""
        return multiply(from_rotation_vector(phi), q)

    def info(self) -> dict[str, Array]:
        state = self.state
        x, v = state.x[:, 0], state.v[:, 0]
        return dict(zip(BASE_INFOS, [*x.T, *v.T], strict=True))
