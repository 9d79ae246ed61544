"""Threads that share a step with the caller's; made when first needed, they wait for more until the process ends.

A thread that sleeps takes 100 us to wake up, as long as a batch of 64 robots takes for a step. So a thread that has
nothing to do looks at its mailbox for a while, without the interpreter (kernels/threads.py), before it goes to sleep.
"""

import os
import threading

import numpy as np

from vigym.engine.errors import BusyError
from vigym.engine.kernels.store import aligned
from vigym.engine.kernels.threads import REPEAT, RINGS, SCRATCH, is_done, lead, serve

TASK, MOST = 8, 1 << 40  # steps
LOOKS = 400_000  # at the mailbox, half a millisecond or so


class Plan:
    """Division of the lane groups of a batch among threads; see kernels/threads.py.

    kernel, m, states: addresses; scratch: one address a thread; groups: how many there are; task: steps that a thread
    makes of one group before it turns to another, or 0 for all
    """

    def __init__(self, kernel: int, m: int, states: int, scratch: list[int], groups: int, task: int = TASK) -> None:
        self.threads = threads = len(scratch)
        self.crew: list[Worker] = []
        self.is_at_work = False
        first = groups * np.arange(threads + 1) // threads
        empty = np.zeros(threads + groups, int)
        fixed = kernel, m, states, threads, 0, 0, 0, task or MOST
        self.numbers = np.array([*fixed, *scratch, *empty[:threads], *first, *empty], np.int64)
        self.mailboxes = self.numbers[SCRATCH + threads :][1:threads]
        self.address = self.numbers.ctypes.data

    def run(self, repeat: int, *, resumed: bool = False, script: int = 0) -> None:
        """Advance all groups by `repeat` steps; return only when all is done, whatever interrupts; `made` tells whether
        it was before the first step.

        resumed: whether the call that the last run began goes on; script: address of one, or 0
        """
        if self.is_at_work:
            raise BusyError("a handler of signals cannot step the simulator that it interrupts")
        self.is_at_work = True
        try:
            self._run(repeat, resumed, script)
        finally:
            self.is_at_work = False

    def _run(self, repeat: int, resumed: bool, script: int) -> None:
        self.numbers[REPEAT] = 0
        crew = [hire() for _ in range(self.threads - 1)]
        if crew != self.crew:
            self.mailboxes[:] = [worker.address for worker in crew]
            self.crew = crew
        done, interrupt = False, None
        try:
            for worker in crew:
                worker.wake()
            done = lead(self.address, repeat, int(resumed), script, LOOKS)
        except BaseException as error:
            interrupt = error
        while not done:  # they still write into the caller's buffers
            try:
                for worker in crew:
                    worker.wake()
                done = is_done(self.address, LOOKS)
            except BaseException as error:
                interrupt = error
        _idle.extend(reversed(crew))
        if interrupt is not None:
            raise interrupt

    @property
    def made(self) -> int:
        """Steps that the last run has made: all of them, or none."""
        return int(self.numbers[REPEAT])  # which `lead` writes


class Worker:
    """One thread and its mailbox."""

    def __init__(self) -> None:
        self.mailbox = aligned(1, 8, np.int64)[0]  # a cache line of its own
        self.address = self.mailbox.ctypes.data
        self.asleep, self.bell = False, threading.Lock()
        self.bell.acquire()
        threading.Thread(target=self._live, daemon=True, name="vigym").start()

    def _live(self) -> None:
        while True:
            answered = serve(self.address, LOOKS)
            self.asleep = True  # before the last look: who rings after it, sees that it must wake us
            if self.mailbox[RINGS] == answered:
                self.bell.acquire()
            self.asleep = False

    def wake(self) -> None:
        """Have the thread look at its mailbox, if it does not."""
        if self.asleep and self.bell.locked():
            self.bell.release()


_idle: list[Worker] = []


def hire() -> Worker:
    """A worker that nobody uses."""
    try:
        return _idle.pop()
    except IndexError:
        return Worker()


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_idle.clear)
