"""A task: a robot in many environments at once, what it is told, what it sees, and what that is worth.

`RobotEnv` serves one environment of it, `RobotVectorEnv` a batch. One control step reads

    action -> controls -> frame_skip steps of the simulator -> sense -> observation, reward terms, termination

Every array leads with the environment, (num_envs, ...). What is random comes from the environment's own generator, so
that an environment of a batch is the single environment with its seed, bit for bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, NamedTuple
from warnings import warn

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

from vigym.engine.errors import InputError
from vigym.engine.learned_actuator import ActuatorNetwork, LearnedActuator
from vigym.engine.mechanism import Mechanism
from vigym.engine.simulator import Simulator
from vigym.engine.state import State
from vigym.engine.validation import count, show
from vigym.envs.arguments import checks
from vigym.envs.randomization import Randomization, Variation
from vigym.envs.saved import VERSION, check_parts, checked_arrays, refused

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]
Draws = Mapping[str, Array]

LARGEST = float(np.finfo(np.float32).max)  # bound of observations: finite, as Gymnasium's checker asks
TOLERANCE = 1e-6  # relative; gaps and joints are solved to 1e-10 of a body's size whatever it is


class Step(NamedTuple):
    """Outcome of a control step, (num_envs, ...), until the next one or a reset; `Task.told` has the rest."""

    observation: Array
    reward: Array
    terminated: Flags


class Task(ABC):
    """Base of all tasks; a task says where episodes start, what actions do, what is seen and what it is worth.

    `sense` alone takes note of what has happened; all that follows from it (`observe`, `rewards`, `terminated`, `info`,
    `outcome`) changes nothing, however often it is asked.

    mechanism: the robot
    num_envs, num_threads: environments in the batch, and threads that share them
    dt, frame_skip: time step of the simulator, s, and how many of them a control step has
    randomization: what differs between episodes, see `Randomization`; nothing by default
    actuator: network, or path of its file, that takes the place of all PD drives; see `LearnedActuator`

    `memory` names the arrays that change from step to step, of finite numbers: those, the simulator and what is drawn
    for an episode are the task's state. `fixed` names those that are configuration, which no state changes. A task adds
    its own, `memory = ("peak",)`; what it inherits is kept.
    """

    memory: ClassVar[tuple[str, ...]] = ("elapsed", "action")
    fixed: ClassVar[tuple[str, ...]] = ("everyone",)
    camera: ClassVar[Mapping[str, Any]] = {"distance": 3.0, "azimuth": 135.0, "elevation": -20.0}
    n_actions: int  # set by the task
    action_limit: ClassVar[float] = 1.0  # actions are within +- this
    overlap: ClassVar[str] = "error"  # of bodies where environments start, see `Simulator`
    options: ClassVar[tuple[str, ...]] = ()  # that `reset` takes
    smooth: ClassVar[bool] = False  # observations and rewards are smooth functions of states; controls are linear
    parts: Mapping[str, int] = {}  # names and sizes of the parts of an observation that users see as a dict

    def __init_subclass__(cls) -> None:
        """Have arguments checked where they are declared."""
        if "__init__" in vars(cls):
            cls.__init__ = checks(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        num_envs: int = 1,
        num_threads: int = 1,
        dt: float,
        frame_skip: int,
        randomization: Randomization | Mapping[str, Any] | None = None,
        actuator: ActuatorNetwork | str | PathLike[str] | None = None,
    ) -> None:
        self.actuator: LearnedActuator | None = None
        if actuator is not None:
            self.actuator = LearnedActuator(actuator, num_envs, without_drives(mechanism))
        self.sim = Simulator(
            mechanism,
            dt=dt,
            num_envs=num_envs,
            tolerance=TOLERANCE,
            cone="exact",
            num_threads=num_threads,
            overlap=self.overlap,
        )
        self.num_envs, self.frame_skip = num_envs, count(frame_skip, "frame_skip")
        self.dt = dt * frame_skip  # of a control step, as in Gymnasium's MuJoCo environments
        self.variation = Variation(self.sim, randomization, self.n_actions, self.dt)
        self.observation_size = len(self.observation_names())
        self.observation_space: Space[Any] = observation_box(self.observation_size)
        if self.parts:
            self.observation_space = Dict({name: observation_box(size) for name, size in self.parts.items()})
        self.action_space = Box(-self.action_limit, self.action_limit, (self.n_actions,), np.float32)
        self.elapsed = np.zeros(num_envs, np.int64)  # control steps since the episode's start
        self.action = np.zeros((num_envs, self.n_actions))  # the last one
        self.everyone = np.arange(num_envs)

    # -------------------------------------------------------------------------------------------- what a task says
    @abstractmethod
    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        """Draw the random values of an episode's start; `options` are those of `reset`."""

    @abstractmethod
    def start(self, env: Indices, draws: Draws) -> None:
        """Put the environments `env` where the drawn values (len(env), ...) say."""

    @abstractmethod
    def controls(self, action: Array) -> dict[str, Any]:
        """Arguments of `Simulator.step` for actions (num_envs, n_actions) within +-`action_limit`."""

    def seeded(self, env: Indices) -> None:  # noqa: B027, most tasks have nothing to forget
        """Forget what earlier episodes have left in the environments `env`, whose next reset has a seed: levels."""

    def sense(self, env: Indices) -> None:  # noqa: B027, most tasks have nothing to remember
        """Take note of the state of the environments `env`: those whose episodes begin (`elapsed` is 0) in a reset, all
        of them in a step. A task that remembers something (a peak, the last position) updates it here."""

    @abstractmethod
    def observation_names(self) -> list[str]:
        """One name an element of the observation."""

    @abstractmethod
    def observe(self) -> Array:
        """(num_envs, n_observations)"""

    @abstractmethod
    def rewards(self) -> dict[str, Array]:
        """Terms of the reward, (num_envs,) each, named reward_...; the reward is their sum."""

    def terminated(self) -> Flags:
        """Environments whose episode has come to an end."""
        return np.zeros(self.num_envs, bool)

    def rough(self) -> Flags:
        """Environments of a smooth task that are where an observation or the reward has no derivatives."""
        return np.zeros(self.num_envs, bool)

    def info(self) -> dict[str, Array]:
        """Return further infos, after a reset and after a step, (num_envs, ...)."""
        return {}

    def outcome(self) -> dict[str, Array]:
        """The same, after a step only."""
        return {}

    def scene(self) -> dict[str, Any]:
        """Return the surroundings that are drawn: `scenery` and `planes` of `Renderer`, where they are not its own."""
        return {}

    # -------------------------------------------------------------------------------------------- for environments
    def reset(self, env: Indices, rngs: Sequence[np.random.Generator], options: Mapping[str, Any]) -> None:
        """Start new episodes in the environments `env`, each with its own generator."""
        if unknown := [name for name in options if name not in self.options]:
            raise InputError(
                f"option {show(unknown[0])} of reset is unknown; known: {', '.join(self.options) or 'none'}"
            )
        draws = [self.draw(rng, options) | self.variation.draw(rng) for rng in rngs]
        together = {name: np.array([drawn[name] for drawn in draws]) for name in draws[0]}
        self.elapsed[env], self.action[env] = 0, 0.0
        if self.actuator is not None:
            self.actuator.reset(self.rows(env, np.zeros((len(env), 0)))[1])
        self.variation.start(env, together)
        self.start(env, together)
        self.sense(env)

    def step(self, action: Array) -> Step:
        """One control step of all environments."""
        np.copyto(self.action, self.variation.delayed(action))
        controls = self.controls(self.action) | self.variation.push()
        if self.actuator is None:
            self.sim.step(**controls, repeat=self.frame_skip)
        else:
            self.advance(self.actuator, **controls)
        self.elapsed += 1
        self.sense(self.everyone)
        return self.judged()

    def advance(self, actuator: LearnedActuator, target: Array, **others: Any) -> None:
        """The simulator's part of a control step in which a network stands for the drives."""
        aim, converged = target.copy(), np.ones(self.num_envs, bool)
        for _ in range(self.frame_skip):
            effort = actuator(aim, self.sim.joint_positions(), self.sim.joint_velocities())
            self.sim.step(effort=effort, **others)
            converged &= self.sim.status.converged
        if not converged.all():  # as of a call with `repeat`
            self.sim._lanes.set("converged", converged.astype(float))
        self.acted(effort)

    def acted(self, effort: Array) -> None:  # noqa: B027, most tasks do not pay for it
        """Take note of the last efforts of a learned actuator, (num_envs, n_axes)."""

    def judged(self) -> Step:
        """Observation, reward and end of the last step."""
        # np.sum of a stack rounds by the size of the batch
        reward = sum(self.rewards().values(), np.zeros(self.num_envs))
        return Step(self.observe(), reward, self.terminated() | ~self.sim.status.converged)

    def shown(self, observation: Array) -> Any:
        """Observations (..., observation_size) as users see them, and may keep them: an array, or a dict of `parts`."""
        if not self.parts:
            return observation.copy()
        seen, first = {}, 0
        for name, size in self.parts.items():
            seen[name] = observation[..., first : first + size].copy()
            first += size
        return seen

    def told(self, *, stepped: bool = True) -> dict[str, Array]:
        """All infos of the last step, or those of a reset, (num_envs, ...), as fresh arrays."""
        infos = self.info()
        if stepped:
            infos |= self.outcome() | self.physics() | self.rewards()
        return {name: value.copy() for name, value in infos.items()}

    def told_alone(self, *, stepped: bool = True) -> dict[str, Any]:
        """The same of the only environment: Python numbers, and arrays."""
        told = self.told(stepped=stepped)
        return {name: value.item() if value.ndim == 1 else value[0] for name, value in told.items()}

    def physics(self) -> dict[str, Array]:
        """Infos about how the physics went; deepest penetration, m, and fastest slip of the contacts that carry
        something, m/s, if there are contacts."""
        status = self.sim.status
        infos: dict[str, Any] = {"solver_iterations": status.iterations, "solver_failed": ~status.converged}
        if self.sim.model.n_contacts:
            forces = self.sim.contact_forces()
            loaded = (forces * forces).sum(-1) > 1e-6
            infos["penetration"] = np.maximum(0.0, -self.sim.contact_gaps().min(-1))
            infos["slip"] = np.where(loaded, self.sim.contact_slips(), 0.0).max(-1)
        return infos

    # -------------------------------------------------------------------------------------------- for tasks to use
    @property
    def state(self) -> State:
        """Pose and velocity of every body, as fresh arrays."""
        return self.sim.state

    def rows(self, env: Indices, values: Array) -> tuple[Array, Flags]:
        """Values (len(env), ...) in their rows of (num_envs, ...), and the mask of these rows."""
        full, mask = np.zeros((self.num_envs, *values.shape[1:])), np.zeros(self.num_envs, bool)
        full[env], mask[env] = values, True
        return full, mask

    def maximal(self) -> Array:
        """The state of every body, (num_envs, 13 n_bodies): x, q, v, w of the first, of the second, ..."""
        return np.concatenate(self.state, -1).reshape(self.num_envs, -1)

    def maximal_names(self) -> list[str]:
        """Names of `maximal`'s elements."""
        axes = {"x": "xyz", "q": "wxyz", "v": "xyz", "w": "xyz"}
        parts = [f"{name}_{axis}" for name in axes for axis in axes[name]]
        return [f"{body.name} {part}" for body in self.sim.model.mechanism.bodies for part in parts]

    # -------------------------------------------------------------------------------------------- states
    def remembered(self) -> dict[str, np.ndarray]:
        """The arrays that `memory` names; a warning if there may be others."""
        names = self._declared("memory")
        for name in vars(self).keys() - {*names, *self._declared("fixed")}:
            value = getattr(self, name)
            if isinstance(value, np.ndarray) and value.shape[:1] == (self.num_envs,):
                warn(
                    f"array {name!r} of {type(self).__name__} is in no state: name it in `memory` if it changes from "
                    "step to step, or else in `fixed`",
                    stacklevel=4,
                )
        return {name: getattr(self, name) for name in names} | (self.actuator.memory if self.actuator else {})

    def _declared(self, kind: str) -> list[str]:
        """Names in `memory` or `fixed` of the task and of all that it inherits from."""
        return [name for cls in reversed(type(self).__mro__) for name in vars(cls).get(kind, ())]

    def identity(self) -> dict[str, Any]:
        """Parts of a state that say whose it is."""
        kind = type(self)
        return {"version": VERSION, "kind": f"{kind.__module__}:{kind.__qualname__}", "num_envs": self.num_envs}

    def snapshot(self) -> dict[str, Any]:
        """Everything that changes from step to step: bytes of the simulator, and arrays."""
        own = self.remembered()
        memory, variation = checked_arrays(own, own, "task"), self.variation.snapshot()
        return self.identity() | {"sim": self.sim.save(), "task": memory, "variation": variation}

    def checked(self, state: Any, *others: str) -> "Snapshot":
        """Return what a state has of the task, which may have `others` parts beside it; InputError if it is not one
        of such a task, but for the simulator's bytes, which `restore` checks."""
        check_parts(state, self.identity(), ("sim", "task", "variation", *others))
        memory = checked_arrays(state["task"], self.remembered(), "task")
        return Snapshot(state["sim"], memory, self.variation.checked(state["variation"]))

    def restore(self, snapshot: "Snapshot") -> None:
        """Go back to what was `checked`, bit by bit; InputError, and nothing has changed, if the bytes are of another
        simulator."""
        try:
            self.sim.restore(snapshot.sim)
        except InputError as cause:
            raise refused(str(cause)) from cause
        own = self.remembered()
        for name, value in snapshot.memory.items():
            np.copyto(own[name], value)
        vars(self.variation).update(snapshot.variation)


def without_drives(mechanism: Mechanism) -> int:
    """Take the PD drives away; number of axes. InputError unless every axis has one."""
    for joint in mechanism.joints:
        if (joint.kp == 0.0).any():
            raise InputError(f"actuator stands for PD drives, and joint {joint.name!r} has none; leave it out")
        mechanism.replace_joint(joint.name, kp=0.0, kd=0.0, target=0.0, target_velocity=0.0, start=joint.start)
    return sum(joint.n_free for joint in mechanism.joints)


def observation_box(size: int) -> Box:
    """The space of so many observations."""
    return Box(-LARGEST, LARGEST, (size,), np.float64)


class Snapshot(NamedTuple):
    """A task's part of a state: bytes of the simulator, arrays of the task and of its `Variation`."""

    sim: bytes
    memory: dict[str, np.ndarray]
    variation: dict[str, np.ndarray]
