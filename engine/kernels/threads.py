"""Work of threads without the interpreter: wait for steps to share, do their share of them, report that it is done.

A PLAN (int64) describes a call for a batch of G lane groups and T threads; its numbers are addresses, or counts:

    kernel, m, states, T, repeat, resumed, script, task, scratch (T), mailbox (T), first (T + 1), next (T), done (G)

The groups first[k]..first[k + 1] are thread k's own. It advances all of them by `task` steps, then by as many more:
next[k] counts these tasks. When none is left it takes those of others, so that nobody waits for a thread with more
work, or less of a core. A group's tasks are done in their order: done[g] counts them. Thread 0 is the caller's. A
MAILBOX (int64) tells another which plan, and which k, is its own:

    rings, answered, plan, k

A SCRIPT (int64), if there is one, tells what comes into fields before each step, and which are written down after it:

    environments, lanes, bytes of a group,  fields in, fields out,  then of each field
    column, or -1, address in the first group, address of an array, n, words between its environments, and its steps

A field with a column is one of the thread's scratch store, the column that of its address in the table; others are of
the states.
"""

from vigym.engine.kernels.jit import native, unkept
from vigym.engine.kernels.memory import call, copy, fetch_add, load_acquire, store_release

KERNEL, MODEL, STATES, THREADS, REPEAT, RESUMED, SCRIPT, TASK, SCRATCH = range(9)
RINGS, ANSWERED, PLAN, WHO = range(4)
ENVS, LANES, STRIDE, INWARD, OUTWARD, FIELDS = range(6)
WORD = 8  # bytes
FIELD = 6  # numbers that describe one


@unkept
def transfer(script, number, scratch, group, step, inward):
    """One field of a group's environments, from or into the row of a step in its array."""
    envs, lanes = load_acquire(script + WORD * ENVS), load_acquire(script + WORD * LANES)
    place = script + WORD * (FIELDS + FIELD * number)
    column = load_acquire(place)
    if column < 0:
        field = load_acquire(place + WORD) + group * load_acquire(script + WORD * STRIDE)
    else:
        field = load_acquire(scratch + WORD * column)
    array, n = load_acquire(place + 2 * WORD), load_acquire(place + 3 * WORD)
    per_env, per_step = load_acquire(place + 4 * WORD), load_acquire(place + 5 * WORD)
    apart = WORD * lanes
    for lane in range(min(lanes, envs - group * lanes)):
        there = array + WORD * (step * per_step + (group * lanes + lane) * per_env)
        here = field + WORD * lane
        for i in range(n):
            if inward:
                copy(here + apart * i, there + WORD * i)
            else:
                copy(there + WORD * i, here + apart * i)


@unkept
def play(plan, scratch, group, first, last, resumed):
    """The steps first..last of a group; resumed: 1 if they are not the first of a call, as in step.py."""
    kernel, m = load_acquire(plan + WORD * KERNEL), load_acquire(plan + WORD * MODEL)
    states, script = load_acquire(plan + WORD * STATES), load_acquire(plan + WORD * SCRIPT)
    if script == 0:
        call(kernel, m, states, scratch, group, group + 1, last - first, resumed)
        return
    inward = load_acquire(script + WORD * INWARD)
    both = inward + load_acquire(script + WORD * OUTWARD)
    for step in range(first, last):
        for number in range(inward):
            transfer(script, number, scratch, group, step, True)
        call(kernel, m, states, scratch, group, group + 1, 1, 1 if step > first else resumed)
        for number in range(inward, both):
            transfer(script, number, scratch, group, step, False)


@unkept
def work(plan, k):
    """Thread k's share of a plan."""
    threads, repeat = load_acquire(plan + WORD * THREADS), load_acquire(plan + WORD * REPEAT)
    resumed, size = load_acquire(plan + WORD * RESUMED), load_acquire(plan + WORD * TASK)
    scratch = plan + WORD * SCRATCH
    first = scratch + WORD * 2 * threads
    taken = first + WORD * (threads + 1)
    done = taken + WORD * threads
    own = load_acquire(scratch + WORD * k)
    rounds = (repeat + size - 1) // size
    for other in range(threads):
        whose = WORD * ((k + other) % threads)
        start = load_acquire(first + whose)
        count = load_acquire(first + whose + WORD) - start
        task = fetch_add(taken + whose, 1)
        while task < rounds * count:
            turn, group = task // count, start + task % count
            while load_acquire(done + WORD * group) < turn:
                pass
            play(plan, own, group, turn * size, min(repeat, turn * size + size), 1 if turn > 0 else resumed)
            store_release(done + WORD * group, turn + 1)
            task = fetch_add(taken + whose, 1)


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
def lead(plan, repeat, resumed, script, looks):
    """Have all threads do their shares of `repeat` steps, and thread 0's here; returns whether all of them are done."""
    threads = load_acquire(plan + WORD * THREADS)
    first = plan + WORD * (SCRATCH + 2 * threads)
    groups = load_acquire(first + WORD * threads)
    for k in range(threads + groups):
        store_release(first + WORD * (threads + 1 + k), 0)
    store_release(plan + WORD * REPEAT, repeat)
    store_release(plan + WORD * RESUMED, resumed)
    store_release(plan + WORD * SCRIPT, script)
    for k in range(1, threads):
        mailbox = load_acquire(plan + WORD * (SCRATCH + threads + k))
        store_release(mailbox + WORD * PLAN, plan)
        store_release(mailbox + WORD * WHO, k)
        store_release(mailbox + WORD * RINGS, load_acquire(mailbox + WORD * RINGS) + 1)
    work(plan, 0)
    return have_answered(plan, looks)


@native
def is_done(plan, looks):
    """True once all threads have answered; gives up after `looks` looks."""
    return have_answered(plan, looks)


@unkept
def have_answered(plan, looks):
    """The same for those that are compiled."""
    threads = load_acquire(plan + WORD * THREADS)
    for k in range(1, threads):
        mailbox = load_acquire(plan + WORD * (SCRATCH + threads + k))
        rings = load_acquire(mailbox + WORD * RINGS)
        while load_acquire(mailbox + WORD * ANSWERED) != rings:
            looks -= 1
            if looks <= 0:
                return False
    return True
