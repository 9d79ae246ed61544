"""What threads do without the interpreter: wait for a step to share, do their share of it, say that it is done.

A PLAN (int64) describes one step of a batch, for T threads; its numbers are addresses, or indices of lane groups:

    kernel, m, states, T, repeat,  next (T),  end (T),  scratch (T)

Thread k takes the groups next[k]..end[k] one after the other, then those that are left to others, so that nobody waits
for a thread with more work, or less of a core. A MAILBOX (int64) tells a thread which plan, and which k, is its own:

    rings, answered, plan, k
"""

from vigym.engine.kernels.cache import SOURCES, DiskCache
from vigym.engine.kernels.simd import call, compiled, fetch_add, load_acquire, store_release

KERNEL, MODEL, STATES, THREADS, REPEAT, NEXT = range(6)
RINGS, ANSWERED, PLAN, WHO = range(4)
WORD = 8  # bytes


def native(function):
    """Compiled when it is first called; kept on disk."""
    what = "what threads do, once for this machine (1 s)"
    return compiled(function, DiskCache(f"thread-{function.__name__}", SOURCES, what, small=True))


@native
def work(plan, k):
    """Thread k's share of a plan."""
    threads = load_acquire(plan + WORD * THREADS)
    first = plan + WORD * NEXT
    end, scratch = first + WORD * threads, first + 2 * WORD * threads
    kernel, m = load_acquire(plan + WORD * KERNEL), load_acquire(plan + WORD * MODEL)
    states, repeat = load_acquire(plan + WORD * STATES), load_acquire(plan + WORD * REPEAT)
    own = load_acquire(scratch + WORD * k)
    for other in range(threads):
        whose = WORD * ((k + other) % threads)
        group = fetch_add(first + whose, 1)
        while group < load_acquire(end + whose):
            call(kernel, m, states, own, group, group + 1, repeat)
            group = fetch_add(first + whose, 1)


@native
def serve(mailbox, looks):
    """Do what the mailbox asks for, until nobody rang for so many looks; returns the rings answered."""
    answered, idle = load_acquire(mailbox + WORD * ANSWERED), 0
    while idle < looks:
        idle += 1
        rings = load_acquire(mailbox + WORD * RINGS)
        if rings != answered:
            work(load_acquire(mailbox + WORD * PLAN), load_acquire(mailbox + WORD * WHO))
            answered, idle = rings, 0
            store_release(mailbox + WORD * ANSWERED, rings)
    return answered


@native
def ring(mailbox, plan, k):
    """Ask for share k of a plan."""
    store_release(mailbox + WORD * PLAN, plan)
    store_release(mailbox + WORD * WHO, k)
    store_release(mailbox + WORD * RINGS, load_acquire(mailbox + WORD * RINGS) + 1)


@native
def is_answered(mailbox, looks):
    """Whether the last ring has been answered; looks so many times."""
    rings = load_acquire(mailbox + WORD * RINGS)
    while looks > 0 and load_acquire(mailbox + WORD * ANSWERED) != rings:
        looks -= 1
    return looks > 0
