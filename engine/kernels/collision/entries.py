"""The functions of detect.py and groups.py as compiled code, and their addresses, which kernels call (handle.py)."""

from numba.core import types

from vigym.engine.kernels.collision import detect, groups
from vigym.engine.kernels.jit import entry


@entry
def find_contacts(m, m_columns, m_lanes, s, s_columns, s_lanes, t, t_columns, t_lanes, group):
    """See detect.find_contacts."""
    detect.find_contacts((m, m_columns, m_lanes), (s, s_columns, s_lanes), (t, t_columns, t_lanes), group)


@entry
def review_contacts(m, m_columns, m_lanes, s, s_columns, s_lanes, t, t_columns, t_lanes, group):
    """See detect.review_contacts."""
    detect.review_contacts((m, m_columns, m_lanes), (s, s_columns, s_lanes), (t, t_columns, t_lanes), group)


@entry
def keep_contacts(m, m_columns, m_lanes, s, s_columns, s_lanes, t, t_columns, t_lanes, group):
    """See detect.keep_contacts."""
    detect.keep_contacts((m, m_columns, m_lanes), (s, s_columns, s_lanes), (t, t_columns, t_lanes), group)


@entry
def join_largest(m, m_columns, m_lanes, s, s_columns, s_lanes, t, t_columns, t_lanes, group):
    """See groups.join_largest."""
    groups.join_largest((m, m_columns, m_lanes), (s, s_columns, s_lanes), (t, t_columns, t_lanes), group)


@entry
def join_sums(m, m_columns, m_lanes, s, s_columns, s_lanes, t, t_columns, t_lanes, group):
    """See groups.join_sums."""
    groups.join_sums((m, m_columns, m_lanes), (s, s_columns, s_lanes), (t, t_columns, t_lanes), group)


def addresses():
    """Addresses of all of them, compiled when they are first asked for."""
    found = []
    for function in (find_contacts, review_contacts, keep_contacts, join_largest, join_sums):
        signature = tuple([types.int64] * 10)
        function.compile(signature)
        result = function.overloads[signature]
        found.append(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
    return found
