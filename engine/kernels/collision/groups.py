"""Groups of an impact: all that joints connect (`group` of the model), and contacts that are near, lane by lane.

An impact passes energy from one body to another, so that it can only be judged by what all of them have together
(impact.py). Kernels sum over what joints connect; here these sums are joined over what touches.
"""

from vigym.engine.kernels.collision.detect import compile_call
from vigym.engine.kernels.simd import rows, shared


@shared
def connect(m, t, lane):
    """Write into `joined` of each group of joints the first one that contacts connect with it."""
    group, joined, n = rows(m, "group"), rows(t, "joined"), rows(m, "n_bodies")[0]
    for i in range(n):
        joined[i] = i
    for slot in range(rows(t, "n_slots")[0]):
        i, j = rows(t, "pair_contact_body")[slot], rows(t, "pair_contact_other")[slot]
        if j < n and rows(t, "touch_present")[slot, 0, lane] > 0.5:
            a, b = first_of(joined, group[i]), first_of(joined, group[j])
            joined[max(a, b)] = min(a, b)
    for i in range(n):  # in this order, the one that a group points to is settled
        joined[i] = joined[joined[i]]


@shared
def first_of(joined, i):
    """Follow a group to the first one that it is connected with so far."""
    while joined[i] != i:
        i = joined[i]
    return i


@shared
def join_largest(m, s, t, group):
    """Impacts of each group: whether there is any, and the largest one."""
    due, impact, joined = rows(t, "group_due"), rows(t, "group_impact"), rows(t, "joined")
    n = rows(m, "n_bodies")[0]
    for lane in range(due.shape[2]):
        connect(m, t, lane)
        for outwards in range(2):  # to the first of a group, and back
            for i in range(n):
                to, of = (i, joined[i]) if outwards else (joined[i], i)
                due[to, 0, lane] = max(due[to, 0, lane], due[of, 0, lane])
                for d in range(2):
                    impact[to, d, lane] = max(impact[to, d, lane], impact[of, d, lane])


@shared
def join_sums(m, s, t, group):
    """Energies of each group, and the work that was done on it."""
    n, joined = rows(m, "n_bodies")[0], rows(t, "joined")
    parts = rows(t, "energy"), rows(t, "energy0"), rows(t, "group_work"), rows(s, "budget")
    wholes = rows(t, "whole_energy"), rows(t, "whole_energy0"), rows(t, "whole_work"), rows(t, "whole_budget")
    for lane in range(parts[0].shape[2]):
        connect(m, t, lane)
        for field in range(4):
            part, whole = parts[field], wholes[field]
            for i in range(n):
                whole[i, 0, lane] = 0.0
            for i in range(n):
                whole[joined[i], 0, lane] += part[i, 0, lane]
            for i in range(n):
                whole[i, 0, lane] = whole[joined[i], 0, lane]


# ------------------------------------------------------------------------------------------------ for kernels
def join_impacts(m, s, t, group):
    """`join_largest`, where bodies that touch may bounce."""
    if m.features.touches and m.features.bounce:
        join_largest(m, s, t, group)


def join_energies(m, s, t, group):
    """`join_sums`, where bodies that touch may bounce."""
    if m.features.touches and m.features.bounce:
        join_sums(m, s, t, group)


for _number, _function in enumerate((join_impacts, join_energies), 3):
    compile_call(_function, _number, lambda features: features.touches and features.bounce)
