"""The Panda's tasks: a table, the arm on it, an object, a goal that is seen, actions that move the hand."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from vigym.assets import panda
from vigym.engine.compiled import direct, inlined
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Sphere
from vigym.engine.vectors import rotate
from vigym.envs.arms.hand import NEUTRAL, N, arm_of, command, place, velocity
from vigym.envs.compiled_task import numbers, physics_of_all, write
from vigym.envs.goal import GoalTask
from vigym.envs.task import Array, Draws, Indices

BASE = (-0.6, 0.0, 0.0)  # m, of the arm on the table
SIZE = 0.04  # m, of the cube
CUBE = N + 2  # its number among the bodies: the arm's come first
TABLE = 0.25  # friction of the cube with the table
LAG = 0.04  # s, with which the hinges follow their targets: kd / kp
FINGER_KD = 2000.0  # N s/m: fingers close at 0.25 m/s
GREEN, GHOST = (0.1, 0.65, 0.2, 1.0), (0.75, 0.9, 0.75, 1.0)


def scene(object_mass: float | None, friction: float) -> Mechanism:
    """The table, whose top is z = 0 and has no edges; the arm; a cube, if it has a mass; and a ghost that shows the
    goal, which a light drive holds there and which touches nothing.

    friction: of the cube with the fingers
    """
    m = Mechanism()
    m.add_ground(friction=0.5)
    arm = panda.build(kd=[LAG * kp for kp in panda.KP])
    arm.set_drive("finger 1", kd=FINGER_KD)
    m.merge(arm, position=BASE)
    if object_mass is not None:
        m.add_body("object", object_mass, shapes=[Box((SIZE,) * 3, color=GREEN)], position=(0.0, 0.0, SIZE / 2))
        m.set_pair("object", "world", friction=TABLE)
        for finger in ("finger 1", "finger 2"):
            m.set_pair("object", finger, friction=friction)
    ghost = Sphere(0.02, color=GHOST) if object_mass is None else Box((SIZE,) * 3, color=GHOST)
    m.add_body("goal", 1e-3, 1e-6 * np.ones(3), visuals=[ghost])
    m.add_joint("goal", "custom", "world", "goal", constrained=(0, 0, 0, 1, 1, 1), kp=100.0, kd=1.0)
    return m


@inlined
def observe_hand(out, physics, arm):
    """Write where the hand is and how fast; the index after the last number."""
    k = write(out, 0, place(physics, arm))
    return write(out, k, velocity(physics, arm))


@inlined
def angles(q):
    """Roll, pitch and yaw of a quaternion: turns about x, y and z of the world, one after the other, rad."""
    roll = np.arctan2(2.0 * (q[0] * q[1] + q[2] * q[3]), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]))
    pitch = np.arcsin(min(max(2.0 * (q[0] * q[2] - q[3] * q[1]), -1.0), 1.0))
    yaw = np.arctan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]))
    return roll, pitch, yaw


@inlined
def observe_object(out, k, physics, b):
    """Write place, angles, velocity and angular velocity of body b; the index after the last number."""
    k = write(out, k, physics.x[b])
    k = write(out, k, angles(physics.q[b]))
    k = write(out, k, physics.v[b])
    return write(out, k, rotate(physics.q[b], physics.w[b]))


class PandaTask(GoalTask):
    """A task of the Panda on a table: actions move its hand, which points down, and its fingers, if `grips`.

    object_mass: of the cube, kg; None for a task without one; friction: of the cube with the fingers
    `draw` returns "goal" and, where there is one, "object", (3,) m.
    """

    memory: ClassVar[tuple[str, ...]] = ("target", "effort")
    fixed: ClassVar[tuple[str, ...]] = ("start_joints",)
    grips: ClassVar[bool] = False
    n_actions = 3
    camera: ClassVar[Mapping[str, Any]] = {
        "distance": 1.5,
        "azimuth": 140.0,
        "elevation": -25.0,
        "lookat": (-0.15, 0.0, 0.2),
    }

    def __init__(
        self,
        *,
        object_mass: float | None,
        friction: float = 0.0,
        reward_type: str,
        distance_threshold: float,
        continuing_task: bool,
        **options: Any,
    ) -> None:
        self.has_object = object_mass is not None
        super().__init__(scene(object_mass, friction), **options)
        self.settings = numbers(
            dense=reward_type == "dense", distance_threshold=distance_threshold, continuing_task=continuing_task
        )
        n_axes = len(self.sim.axis_names)
        self.start_joints = np.zeros(n_axes)
        self.start_joints[: N + 2] = NEUTRAL
        self.sim.set_joint_state(self.start_joints)
        masses = np.array([body.mass for body in self.sim.model.mechanism.bodies[: N + 2]])
        self.arm = arm_of(masses, self.sim.state.q[0, N - 1])
        self.target, self.effort = np.zeros((2, self.num_envs, n_axes))

    def start(self, env: Indices, draws: Draws) -> None:
        joints = np.tile(self.start_joints, (len(env), 1))
        joints[:, N + 2 :] = self.now["goal"][env] = self.target[env, N + 2 :] = draws["goal"]
        positions, mask = self.rows(env, joints)
        roots = {name: part.copy() for name, part in self.sim.state._asdict().items()}
        if self.has_object:
            for name, value in zip("xqvw", (draws["object"], (1.0, 0.0, 0.0, 0.0), 0.0, 0.0), strict=True):
                roots[name][env, CUBE] = value
        self.sim.set_joint_state(positions, None, mask, **roots)

    def controls(self, action: Array) -> dict[str, Any]:
        self._command(action)
        return {"target": self.target, "effort": self.effort}

    def names(self) -> list[str]:
        hand = [f"{axis} of the hand" for axis in "xyz"] + [f"velocity along {axis} of the hand" for axis in "xyz"]
        if not self.has_object:
            return hand
        turns = [f"{turn} of the object" for turn in ("roll", "pitch", "yaw")]
        rates = [
            f"{kind} {axis} of the object" for kind in ("velocity along", "angular velocity about") for axis in "xyz"
        ]
        width = ["distance of the fingers"] if self.grips else []
        return [*hand, *width, *(f"{axis} of the object" for axis in "xyz"), *turns, *rates]

    # -------------------------------------------------------------------------------------------- made when first used
    @cached_property
    def _command(self) -> Callable[[Array], None]:
        own = physics_of_all(self.sim), self.arm
        rest = self.grips, self.target, self.effort
        code = direct(command, *own, self.action, *rest)
        return lambda action: code(*own, action, *rest)

    def __getstate__(self) -> dict[str, Any]:
        """All but what belongs to these very arrays."""
        return {name: value for name, value in super().__getstate__().items() if name != "_command"}
