"""One simulator, one thread at a time: others are told so, and change nothing; many simulators, many threads."""

import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scenes import box

from vigym import BusyError, Simulator
from vigym.assets import unitree_a1

ENVS = 5


class Gate:
    """A recorder that holds up the step it is shown."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def frame(self, steps: int) -> None:
        self.reached.set()
        assert self.open.wait(60)

    def jump(self, envs: Any) -> None:
        pass


def cubes() -> Simulator:
    sim = Simulator(box(), num_envs=ENVS)
    sim.set_state(x=np.array([[0.0, 0.0, 1.0]]), v=np.random.default_rng(0).normal(size=(ENVS, 1, 3)))
    return sim


@pytest.fixture(params=["step", "rollout"])
def at_work(request: pytest.FixtureRequest) -> Iterator[Simulator]:
    """A simulator in the middle of a step of another thread."""
    sim, gate = cubes(), Gate()
    sim.step()
    sim.gradients()  # there are some
    saved = sim.save()
    sim.recorders.append(gate)  # type: ignore[arg-type]
    work = {"step": sim.step, "rollout": lambda: sim.rollout(steps=1)}[request.param]
    thread = threading.Thread(target=work)
    thread.start()
    assert gate.reached.wait(60)
    yield sim
    gate.open.set()
    thread.join()
    sim.recorders.clear()
    twin = cubes()
    twin.restore(saved)
    twin.step()
    assert sim.save() == twin.save()  # nobody has disturbed the step
    sim.step()


CALLS: dict[str, Callable[[Simulator], Any]] = {
    "step": lambda sim: sim.step(),
    "step with controls": lambda sim: sim.step(force=np.ones((ENVS, 1, 3)), repeat=3),
    "rollout": lambda sim: sim.rollout(steps=2),
    "set_state": lambda sim: sim.set_state(v=np.ones((1, 3))),
    "set_joint_state": lambda sim: sim.set_joint_state(np.zeros(0)),
    "set_parameters": lambda sim: sim.set_parameters(mass=[2.0]),
    "save": lambda sim: sim.save(),
    "restore": lambda sim: sim.restore(b""),
    "gradients": lambda sim: sim.gradients(),
    "contact_gaps": lambda sim: sim.contact_gaps(),
    "contact_forces": lambda sim: sim.contact_forces(),
    "contact_slips": lambda sim: sim.contact_slips(),
    "energy": lambda sim: sim.energy(),
    "gaps_at": lambda sim: sim.gaps_at([0], np.ones((1, 1, 3)), np.array([[[1.0, 0, 0, 0]]])),
    "copy": copy.deepcopy,
}


@pytest.mark.parametrize("call", CALLS)
def test_a_simulator_at_work_is_busy(at_work, call):
    with pytest.raises(BusyError, match="another thread"):
        CALLS[call](at_work)


def test_two_threads_never_spin():
    """They spun in machine code for ever, deaf to Ctrl-C: each step had its numbers changed by the other."""
    sim = Simulator(unitree_a1.build(), num_envs=8)
    sim.step()
    start, told, made = threading.Barrier(2), [], []

    def work() -> None:
        start.wait()
        for _ in range(300):
            try:
                sim.step(repeat=3)
                made.append(3)
            except BusyError as error:
                told.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert len(made) + len(told) == 600
    twin = Simulator(unitree_a1.build(), num_envs=8)
    twin.step()
    for steps in made:
        twin.step(repeat=steps)
    assert sim.save() == twin.save()


def test_simulators_of_their_own():
    """Threads with a simulator each, of one mechanism or copied from one another, do not disturb each other."""
    first = cubes()
    expected = cubes().rollout(steps=300)["x"]
    sims, seen = [first, *(copy.deepcopy(first) for _ in range(3))], {}

    def work(who: int) -> None:
        sim, parts = sims[who], []
        for _ in range(30):
            saved = sim.save()
            sim.step(repeat=5)
            sim.contact_gaps()
            sim.restore(saved)
            parts.append(sim.rollout(steps=10)["x"])
        seen[who] = np.concatenate(parts)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for who in range(4):
        np.testing.assert_array_equal(seen[who], expected)


def test_a_simulator_may_be_passed_on():
    sim, twin = cubes(), cubes()
    for _ in range(3):
        thread = threading.Thread(target=sim.step)
        thread.start()
        thread.join()
        twin.step()
        sim.contact_gaps(), twin.contact_gaps()
    assert sim.save() == twin.save()


def test_a_handler_of_signals_does_not_step_what_it_interrupts():
    # threads that share the call are told what to do by one plan, which two calls at once would mix up
    sim = Simulator(unitree_a1.build(), dt=0.005, num_envs=8, num_threads=2)
    sim.step()
    sim._lanes._plan.is_at_work = True
    with pytest.raises(BusyError, match="handler of signals"):
        sim.step()
    sim._lanes._plan.is_at_work = False
    sim.step()
