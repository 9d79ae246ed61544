"""The functions of detect.py and groups.py as compiled code, and their addresses, which kernels call (handle.py)."""

from numba.core import types

from vigym.engine.kernels.collision import detect, ground, groups
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


def consult(m, m_columns, m_lanes, t, t_columns, t_lanes, first, second, when, reach, start, lane):
    """`ground.consult` of the handles of two stores."""
    model, scratch = (m, m_columns, m_lanes), (t, t_columns, t_lanes)
    return ground.consult(model, scratch, first, second, when, reach, start, lane)


CONSULT = entry(consult)


def addresses(with_ground):
    """Addresses of all of them, compiled when they are first asked for; that of `ground.consult` only if needed."""
    found = [address_of(function, [types.int64] * 10) for function in ENTRIES]
    numbers = [*[types.int64] * 8, types.float64, types.float64, types.int64, types.int64]
    return [*found, address_of(CONSULT, numbers) if with_ground else 0]


def address_of(function, arguments):
    """Address of the machine code of a function for arguments of these types."""
    signature = tuple(arguments)
    function.compile(signature)
    result = function.overloads[signature]
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
