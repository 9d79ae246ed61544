"""The functions of detect.py and groups.py as compiled code, and their addresses, which kernels call (handle.py)."""

from numba.core import types

from vigym.engine.kernels.collision import detect, groups
from vigym.engine.kernels.jit import entry


def on_handles(function):
    """A function of the handles of three stores and a group, to be called with the numbers that they are made of."""

    def called(m, m_columns, m_lanes, s, s_columns, s_lanes, t, t_columns, t_lanes, group):
        function((m, m_columns, m_lanes), (s, s_columns, s_lanes), (t, t_columns, t_lanes), group)

    called.__name__ = called.__qualname__ = function.__name__
    return entry(called)


# in the order of the numbers by which kernels call them (compile_call)
ENTRIES = [
    on_handles(function)
    for function in (
        *(detect.find_contacts, detect.review_contacts, detect.keep_contacts),
        *(groups.join_largest, groups.join_sums),
    )
]


def addresses():
    """Addresses of all of them, compiled when they are first asked for."""
    found = []
    for function in ENTRIES:
        signature = tuple([types.int64] * 10)
        function.compile(signature)
        result = function.overloads[signature]
        found.append(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
    return found
