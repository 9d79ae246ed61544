"""Calls of detect.py and overlap.py for couples that not all mechanisms have: where they touch, and how far apart they
are. This is compiled apart from them, and only where there are such couples (entries.py): others never call it.
"""

from numba.core import types
from numba.extending import overload

from vigym.engine.kernels.collision import ground, tables
from vigym.engine.kernels.collision.handle import call_consult
from vigym.engine.kernels.collision.space import has_rims, has_tables, is_ground
from vigym.engine.kernels.simd import rows, shared

PLACES = OVER_GROUND, BY_TABLES, WITH_RIMS = 5, 6, 7  # of the addresses among those of entries.py
SIMPLE = 0


@shared
def place_of(first, second):
    """Function that handles a couple of these kinds; SIMPLE if none."""
    if is_ground(second):
        return OVER_GROUND
    if has_rims(first, second):
        return WITH_RIMS
    return BY_TABLES if has_tables(first, second) else SIMPLE


@shared
def is_asked(first, second):
    """True if couples of these kinds are handled here."""
    return place_of(first, second) != SIMPLE


def ask(m, t, first, second, when, reach, start, lane):
    """`consult` of ground.py or tables.py, which compiled code calls by its address."""
    kind = rows(m, "collider_kind")
    place = place_of(kind[first], kind[second])
    consult = {OVER_GROUND: ground.consult, BY_TABLES: tables.consult, WITH_RIMS: tables.consult_rims}[place]
    return consult(m, t, first, second, when, reach, start, lane)


@overload(ask)
def _ask(m, t, first, second, when, reach, start, lane):
    if not isinstance(m, types.UniTuple):
        return None

    def call(m, t, first, second, when, reach, start, lane):
        kind = rows(m, "collider_kind")
        at = rows(t, "entries")[place_of(kind[first], kind[second])]
        return call_consult(at, m[0], m[1], m[2], t[0], t[1], t[2], first, second, when, reach, start, lane)

    return call
