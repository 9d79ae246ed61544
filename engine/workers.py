"""Threads that share work with the caller's; made when first needed, they wait for more until the process ends.

A thread that sleeps takes 100 us to wake up, as long as a batch of 64 robots takes for a step. So a thread that has
nothing to do keeps an eye on a bell for a while, without the interpreter, before it goes to sleep.
"""

import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

import numpy as np

from vigym.engine.kernels.cache import SOURCES, DiskCache
from vigym.engine.kernels.simd import compiled, wait_for_change

LOOKS = 400_000  # at the bell, half a millisecond or so
_wait = compiled(wait_for_change, DiskCache("wait", SOURCES, "what wakes threads up, once for this machine (1 s)"))
_bell = np.zeros(1, np.int64)  # rings, that is: changes, with every piece of work

_queue: SimpleQueue = SimpleQueue()
_started = 0
_process = 0  # threads do not survive a fork
_starting = threading.Lock()


def share(function: Callable[..., Any], jobs: Sequence[tuple]) -> None:
    """function(*job) of every job, the first in this thread; comes back when all of them are done, whatever happens."""
    _start(len(jobs) - 1)
    answers: SimpleQueue = SimpleQueue()
    for job in jobs[1:]:
        _queue.put((function, job, answers))
    _bell[0] += 1
    errors: list[BaseException | None] = []
    try:
        function(*jobs[0])
    except BaseException as error:
        errors.append(error)
    waiting = len(jobs) - 1
    while waiting:
        try:
            errors.append(answers.get())
            waiting -= 1
        except BaseException as interrupt:  # others still write into the caller's buffers: wait for them first
            errors.append(interrupt)
    for failure in errors:
        if failure is not None:
            raise failure


def _start(count: int) -> None:
    """At least `count` threads, in this process."""
    global _queue, _started, _process
    if _started >= count and _process == os.getpid():
        return
    with _starting:
        if _process != os.getpid():
            _queue, _started, _process = SimpleQueue(), 0, os.getpid()
        for _ in range(count - _started):
            threading.Thread(target=_work, args=(_queue,), daemon=True, name="vigym").start()
        _started = max(_started, count)


def _work(queue: SimpleQueue) -> None:
    while True:
        heard = int(_bell[0])  # before the queue is looked at: what comes after that, rings
        if queue.empty():
            _wait(_bell.ctypes.data, heard, LOOKS)
        function, job, answers = queue.get()
        try:
            function(*job)
            answers.put(None)
        except BaseException as error:
            answers.put(error)
        del function, job, answers  # they hold buffers of a simulator that may have gone
