"""Threads that share a step with the caller's; made when first needed, they wait for more until the process ends.

A thread that sleeps takes 100 us to wake up, as long as a batch of 64 robots takes for a step. So a thread that has
nothing to do looks at its mailbox for a while, without the interpreter (kernels/threads.py), before it goes to sleep.
"""

import os
import threading

import numpy as np

from vigym.engine.kernels.store import aligned
from vigym.engine.kernels.threads import REPEAT, SCRATCH, is_answered, ring, serve, work

LOOKS = 400_000  # at the mailbox, half a millisecond or so


class Plan:
    """How threads share the lane groups of a batch; see kernels/threads.py.

    kernel, m, states: addresses; scratch: one address a thread; groups: how many there are
    """

    def __init__(self, kernel: int, m: int, states: int, scratch: list[int], groups: int) -> None:
        self.threads = threads = len(scratch)
        first = groups * np.arange(threads + 1) // threads
        counters = np.zeros(threads + groups)
        self.numbers = np.array([kernel, m, states, threads, 0, *scratch, *first, *counters], np.int64)
        self.counters = self.numbers[SCRATCH + 2 * threads + 1 :]
        self.address = self.numbers.ctypes.data

    def run(self, repeat: int) -> None:
        """All groups, `repeat` steps each; comes back when all of them are done, whatever happens."""
        self.numbers[REPEAT] = repeat
        self.counters[:] = 0
        crew = [_idle.pop() if _idle else Worker() for _ in range(self.threads - 1)]
        interrupt: BaseException | None = None
        try:
            for k, worker in enumerate(crew):
                worker.ring(self.address, k + 1)
            work(self.address, 0)
        except BaseException as error:
            interrupt = error
        while not all(worker.is_done() for worker in crew):  # they still write into the caller's buffers
            pass
        _idle.extend(crew)
        if interrupt is not None:
            raise interrupt


class Worker:
    """One thread and its mailbox."""

    def __init__(self) -> None:
        self.mailbox = aligned(1, 8, np.int64)[0]  # a cache line of its own
        self.address = self.mailbox.ctypes.data
        self.asleep, self.bell = False, threading.Semaphore(0)
        threading.Thread(target=self._live, daemon=True, name="vigym").start()

    def _live(self) -> None:
        while True:
            answered = serve(self.address, LOOKS)
            self.asleep = True  # before the last look: who rings after it, sees that it must wake us
            if self.mailbox[0] == answered:
                self.bell.acquire()
            self.asleep = False

    def ring(self, plan: int, k: int) -> None:
        """Ask for share k of a plan."""
        ring(self.address, plan, k)
        if self.asleep:
            self.bell.release()

    def is_done(self) -> bool:
        """Whether what was asked for is done; waits for it, for a while."""
        return is_answered(self.address, LOOKS)


_idle: list[Worker] = []
if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_idle.clear)
