"""Threads that share work: all of it is done, errors and interrupts come through, and only then."""

import os
import threading
import time

import pytest

from vigym.engine.workers import share


def test_every_job_is_done_once_and_the_first_here():
    done = {}
    share(lambda k: done.setdefault(k, threading.get_ident()), [(k,) for k in range(5)])
    assert sorted(done) == list(range(5))
    assert done[0] == threading.get_ident()
    assert threading.get_ident() not in [done[k] for k in range(1, 5)]


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_an_error_waits_for_the_others(bad):
    done = []

    def work(k):
        if k == bad:
            raise ValueError(f"job {k}")
        time.sleep(0.05)
        done.append(k)

    with pytest.raises(ValueError, match=f"job {bad}"):
        share(work, [(k,) for k in range(3)])
    assert sorted(done) == [k for k in range(3) if k != bad]
    share(done.append, [(3,), (4,)])  # the threads are still there
    assert sorted(done)[-2:] == [3, 4]


def test_an_interrupt_waits_for_the_others():
    done = []

    def work(k):
        if k == 0:
            raise KeyboardInterrupt
        time.sleep(0.05)
        done.append(k)

    with pytest.raises(KeyboardInterrupt):
        share(work, [(0,), (1,)])
    assert done == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # that a process with threads is forked
def test_a_forked_process_has_threads_of_its_own():
    share(len, [("a",), ("b",)])
    child = os.fork()
    if not child:
        try:
            share(len, [("a",), ("b",), ("c",)])
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_simulators_of_many_threads_share_them():
    totals = []

    def caller():
        for _ in range(20):
            seen = []
            share(seen.append, [(k,) for k in range(3)])
            totals.append(sorted(seen))

    threads = [threading.Thread(target=caller) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals == [[0, 1, 2]] * 80


def test_a_bell_that_has_rung_is_not_waited_for():
    """Work that comes while a thread looks away, or goes to sleep, is done all the same; and at once while it looks."""
    done = []
    share(done.append, [(0,), (1,)])
    for pause in (0.0, 1e-4, 1e-3, 1e-2):  # the thread looks at the bell, or sleeps already
        for k in range(20):
            time.sleep(pause)
            share(done.append, [(k,), (k,)])
    assert len(done) == 2 + 2 * 4 * 20
