"""Scenes whose failed, relaxed and cut steps are counted (`python -m vigym.benchmarks.robustness --only touching`)."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vigym.assets import unitree_a1
from vigym.benchmarks.touching import grips, piles, robots, rounds
from vigym.benchmarks.touching.parts import GRAVITY, Array
from vigym.engine.mechanism import Mechanism
from vigym.engine.simulator import Simulator


class Played(NamedTuple):
    """A mechanism, its time step in s, how it begins, and how it is driven.

    begin: puts a simulator into the state in which all environments begin
    controls: those of `Simulator.step` at times t (num_envs,) since each environment began
    """

    make: Callable[[], Mechanism]
    dt: float = 0.01
    begin: Callable[[Simulator], None] = lambda sim: None
    controls: Callable[[Array], dict[str, Any]] = lambda t: {}


def stand(sim: Simulator) -> None:
    """Put two A1s on their feet."""
    sim.set_joint_state(np.tile(unitree_a1.STANDING, 2))


def beat(t: Array) -> dict[str, Any]:
    """Drives and pushes of two A1s that fight: legs beat to and fro, trunks are pushed together by 100 N."""
    rates, phases = np.linspace(1.0, 3.0, 24), np.arange(24)
    target = np.tile(unitree_a1.STANDING, 2) + 0.5 * np.sin(2 * np.pi * rates * t[:, None] + phases)
    force = np.zeros((len(t), 26, 3))
    force[:, [0, 13], 0] = 100.0, -100.0
    return {"target": target, "force": force}


def shake(t: Array) -> dict[str, Any]:
    """Drive and squeeze of a gripper that lifts a cube of 0.2 kg by 0.1 m, then shakes it with 5 g at 5 Hz."""
    omega, squeeze = 2 * np.pi * 5.0, 1.05 * 0.2 * 6 * GRAVITY
    lifted = 0.1 * np.minimum(t, 1.0)
    wave = 5 * GRAVITY / omega**2 * (1 - np.cos(omega * np.maximum(t - 1.2, 0.0)))
    still, force = np.zeros(len(t)), np.full(len(t), squeeze)
    return {"target": np.stack([lifted + wave, still, still], -1), "effort": np.stack([still, force, force], -1)}


def strike(sim: Simulator) -> None:
    """Shoot the cue ball at the others, 8 m/s."""
    v = sim.state.v.copy()
    v[:, 0, 0] = 8.0
    sim.set_state(v=v)


SCENES: dict[str, Played] = {
    "stack of 20": Played(piles.stack),
    "turned stack of 20": Played(lambda: piles.stack(yaw=0.3, shuffle=1)),
    "sliding stack": Played(lambda: piles.sloping_stack(3, np.arctan(0.3), [0.5, 0.29, 0.5])),
    "house of cards": Played(piles.house_of_cards),
    "leaning pile": Played(lambda: piles.leaning_pile(8, 0.99)),
    "falling pile": Played(lambda: piles.leaning_pile(4, 1.01)),
    "pinch": Played(lambda: grips.pinch(20.0)),
    "gripper at 5 g": Played(grips.gripper, dt=0.005, controls=shake),
    "ball in a groove": Played(lambda: rounds.groove(0.3, 1.0, friction=0.5)),
    "ball in a closed box": Played(lambda: rounds.ball_in_box((3.0, -4.0, -9.0), friction=0.5)),
    "ball on rollers": Played(lambda: rounds.rollers(5.0)),
    "billiard break": Played(rounds.billiard, dt=0.002, begin=strike),
    "coiled snake": Played(rounds.coiled_snake),
    "two A1s that fight": Played(robots.fight, dt=0.005, begin=stand, controls=beat),
    "8 things dropped": Played(lambda: piles.dropped(4, 4)),
    "40 things dropped": Played(piles.dropped),
    "10 needles dropped": Played(piles.needles),
}


class Touching:
    """Environments of a scene, each struck a little when it begins, differently every time; they begin anew after
    `limit` steps, and for the first time at different moments.

    A blow is an impulse on every body in the first step, which alone would give it up to some cm/s.
    """

    def __init__(self, scene: Played, num_envs: int, seed: int, limit: int = 300, blow: float = 0.02) -> None:
        self.sim, self.scene = Simulator(scene.make(), dt=scene.dt, num_envs=num_envs), scene
        scene.begin(self.sim)
        self.rng, self.begun, self.limit = np.random.default_rng(seed), self.sim.state, limit
        self.age, self.left = np.zeros(num_envs, int), self.rng.integers(1, limit + 1, num_envs)
        self.blow = blow * self.sim.parameter("mass")[..., None] / scene.dt

    def step(self) -> int:
        """Make a step; returns how many steps of the simulator it has."""
        controls = self.scene.controls(self.age * self.scene.dt)
        blow = self.rng.normal(size=self.sim.state.v.shape) * np.where(self.age == 0, 1.0, 0.0)[:, None, None]
        self.sim.step(**controls | {"force": controls.get("force", 0.0) + self.blow * blow})
        self.age, self.left = self.age + 1, self.left - 1
        return 1

    def end(self) -> None:
        """Begin anew where it is time, or a step failed."""
        over = ~self.sim.status.converged | (self.left == 0)
        if over.any():
            self.sim.set_state(*self.begun, mask=over)
            self.age[over], self.left[over] = 0, self.limit


def scenes() -> Iterator[tuple[str, Callable[[int, int], Touching]]]:
    """Names of all scenes, and what makes so many environments of them with a seed."""
    for name, scene in SCENES.items():
        yield name, partial(Touching, scene)
