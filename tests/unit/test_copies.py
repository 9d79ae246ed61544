"""Copies and pickles of users' own kinds of things keep what these have of their own."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scenes import pendulum

from vigym import Mechanism, Simulator
from vigym.envs.cartpole import CartPole
from vigym.envs.env import RobotEnv
from vigym.envs.rendering import Picture
from vigym.envs.vector import RobotVectorEnv


class OwnMechanism(Mechanism):
    """Has attributes of its own, and an argument."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label, self.notes = label, [1, 2]


class OwnSimulator(Simulator):
    """Has attributes of its own, one of them in a slot."""

    __slots__ = ("fast",)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.label, self.notes, self._hidden, self.fast = "mine", [1, 2], np.arange(3), 5
        self.me = self


class OwnTask(CartPole):
    """Has attributes of its own, arrays that change among them."""

    memory = ("seen",)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.label, self.notes, self.seen = "mine", [1, 2], np.arange(float(self.num_envs))


class OwnEnv(RobotEnv):
    label, notes = "", None  # type: ignore[assignment]


class OwnVectorEnv(RobotVectorEnv):
    label, notes = "", None  # type: ignore[assignment]


class OwnPicture(Picture):
    label, notes = "", None  # type: ignore[assignment]


def labelled(thing: Any) -> Any:
    thing.label, thing.notes = "mine", [1, 2]
    return thing


def mechanism() -> OwnMechanism:
    m = OwnMechanism("mine")
    m.add_body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0))
    return m


THINGS: dict[str, Callable[[], Any]] = {
    "mechanism": mechanism,
    "simulator": lambda: OwnSimulator(pendulum(), num_envs=3),
    "a simulator's mechanism": lambda: Simulator(mechanism()).model.mechanism,
    "task": lambda: OwnTask(num_envs=2),
    "environment": lambda: labelled(OwnEnv(OwnTask)),
    "environments": lambda: labelled(OwnVectorEnv(OwnTask, num_envs=2)),
    "task of an environment": lambda: OwnEnv(OwnTask).task,
    "picture": lambda: labelled(OwnPicture(RobotEnv(CartPole), None, 8, 8, None)),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "an old protocol": lambda thing: pickle.loads(pickle.dumps(thing, protocol=2)),
}


@pytest.mark.parametrize("duplicate", COPIES)
@pytest.mark.parametrize("thing", THINGS)
def test_attributes_of_subclasses_survive(thing, duplicate):
    one = THINGS[thing]()
    other = COPIES[duplicate](one)
    assert type(other) is type(one)
    assert other is not one
    assert (other.label, other.notes) == ("mine", [1, 2])
    assert other.notes is not one.notes


@pytest.mark.parametrize("duplicate", COPIES)
def test_simulators_of_users(duplicate):
    sim = OwnSimulator(pendulum(), num_envs=3)
    sim.set_joint_state([[0.1], [0.2], [0.3]])
    sim.step(repeat=3)
    other = COPIES[duplicate](sim)
    assert (other.fast, other._hidden.tolist()) == (5, [0, 1, 2])
    assert other.me is other
    assert other.status.steps.tolist() == [3, 3, 3]
    sim.step(), other.step()
    assert sim.save() == other.save()


def test_attributes_that_were_set_later():
    sim = Simulator(pendulum())
    sim._mine = [1]
    assert pickle.loads(pickle.dumps(sim))._mine == [1]
    assert copy.copy(sim)._mine is sim._mine  # as copies of anything else


@pytest.mark.parametrize("duplicate", COPIES)
def test_what_is_open_is_not_copied(tmp_path, duplicate):
    sim = OwnSimulator(pendulum())
    with sim.record(tmp_path / "run.vigym"):
        other = COPIES[duplicate](sim)
        assert other.recorders == []
        other.step()


def test_copies_of_mechanisms_are_independent():
    one = mechanism()
    other = one.copy()
    assert type(other) is OwnMechanism
    other.add_body("another", mass=1.0, inertia=(1.0, 1.0, 1.0))
    other.gravity = (0, 0, 0)
    assert [body.name for body in one.bodies] == ["rod"]
    assert one.gravity[2] == -9.81


def test_tasks_of_users_remember():
    envs = RobotVectorEnv(OwnTask, num_envs=2)
    envs.reset(seed=0)
    state, other = envs.get_state(), copy.deepcopy(envs)
    envs.task.seen += 1
    assert other.task.seen.tolist() == [0, 1]
    envs.set_state(state)
    assert envs.task.seen.tolist() == [0, 1]


class OneSlot(Simulator):
    __slots__ = "slot"


class PrivateSlot(Simulator):
    __slots__ = ("__private",)

    def keep(self, value):
        self.__private = value

    def kept(self):
        return self.__private


@pytest.mark.parametrize("copy_of", [copy.deepcopy, copy.copy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_slots_of_any_name_are_kept(copy_of):
    mechanism = Mechanism()
    mechanism.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    one, private, saved = OneSlot(mechanism, dt=0.01), PrivateSlot(mechanism, dt=0.01), OneSlot(mechanism, dt=0.01)
    one.slot, saved.saved = "mine", "mine"
    private.keep("mine")
    assert copy_of(one).slot == copy_of(private).kept() == copy_of(saved).saved == "mine"
