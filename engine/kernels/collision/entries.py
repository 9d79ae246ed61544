"""The functions of detect.py and groups.py as compiled code, and their addresses, which kernels call (handle.py)."""

from numba.core import types

from vigym.engine.kernels.collision import detect, ground, groups, tables
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


def asked_of(consult, name):
    """A function that is asked (asking.py), to be called with the numbers of the handles of two stores."""

    def called(m, m_columns, m_lanes, t, t_columns, t_lanes, first, second, when, reach, start, lane):
        model, scratch = (m, m_columns, m_lanes), (t, t_columns, t_lanes)
        return consult(model, scratch, first, second, when, reach, start, lane)

    called.__name__ = called.__qualname__ = name
    return entry(called)


ASKED = [  # in the order of asking.PLACES
    asked_of(ground.consult, "consult"),
    asked_of(tables.consult, "consult_tables"),
    asked_of(tables.consult_rims, "consult_rims"),
]


def addresses(asked):
    """Addresses of all of them, compiled when they are first asked for; of ASKED those of which `asked` is True."""
    found = [address_of(function, [types.int64] * 10) for function in ENTRIES]
    numbers = [*[types.int64] * 8, types.float64, types.float64, types.int64, types.int64]
    for function, needed in zip(ASKED, asked, strict=True):
        found.append(address_of(function, numbers) if needed else 0)
    return found


def address_of(function, arguments):
    """Address of the machine code of a function for arguments of these types."""
    signature = tuple(arguments)
    function.compile(signature)
    result = function.overloads[signature]
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
