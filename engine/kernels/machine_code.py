"""Machine code as bytes and back, each piece in an execution engine of its own, which is freed with its last user.

Numba itself keeps all code that it ever made in one engine, for as long as the process lives, and on disk as pickles.
Here, code is a line of JSON that names its symbols, and the object code that LLVM made: reading it runs nothing. That
is enough because what is kept on disk is called from Python only, returns nothing or a number, and holds no Python
objects.
"""

import json
from collections.abc import Callable
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba.core import compiler, config, types
from numba.core.codegen import JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment, lookup_environment
from numba.core.funcdesc import FunctionDescriptor
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.typing import signature

FORMAT = 1  # of the bytes
ENVIRONMENTS = "_ZN08NumbaEnv"  # how Numba begins the names of variables that point to what Python objects code holds

# Settings of Numba that have no part in the code of a processor; any other counts, also one that a later version adds.
# These are beginnings of names: of graphics cards, of what is printed, of files and threads.
UNRELATED = (
    *("CUDA", "DISABLE_CUDA", "ENABLE_CUDASIM", "FORCE_CUDA"),
    *("ALWAYS_WARN", "ANNOTATE", "CHROME", "COLOR", "DEBUG_PRINT", "DEVELOPER", "DIFF_IR", "DISABLE_PERFORMANCE"),
    *("DUMP", "FULL_TRACEBACKS", "GDB", "HIGHLIGHT", "HTML", "LLVM_PASS_TIMINGS", "PARALLEL_DIAGNOSTICS", "SHOW_HELP"),
    *("TRACE", "CACHE", "DEBUG_CACHE", "FUNCTION_CACHE", "NUMBA_", "RUNNING_UNDER", "THREADING", "USE_LLVMLITE"),
    "_HAVE_YAML",
)


def target(context: Any) -> tuple:
    """All that machine code depends on besides the sources: versions, processor, and how Numba is set."""
    config.reload_config()  # from the environment, as the compiler does
    settings = {
        name: value for name, value in vars(config).items() if name.isupper() and not name.startswith(UNRELATED)
    }
    versions = numba.__version__, llvmlite.__version__, binding.llvm_version_info, np.__version__
    return FORMAT, versions, context.codegen().magic_tuple(), sorted(settings.items())


class Engine(JITCPUCodegen):
    """An execution engine for one piece of code."""

    _passes: Any = None

    def _function_pass_manager(self, *args: Any, **options: Any) -> Any:
        """One for all functions of a module: LLVM never frees what it makes for each, 7 MB for a kind of mechanism."""
        if args or options or config.LLVM_PASS_TIMINGS:  # as older versions of Numba ask for it
            return super()._function_pass_manager(*args, **options)
        if self._passes is None:
            self._passes = super()._function_pass_manager()
        return self._passes


def compile_apart(function: Callable, options: dict[str, Any], arguments: tuple) -> Any:
    """`function` for these types of arguments, in an engine of its own: what Numba calls a compile result."""
    flags = compiler.Flags()
    cpu_target.options.parse_as_flags(flags, options)
    with global_compiler_lock:
        typing, base = cpu_target.typing_context, cpu_target.target_context
        context = base.subtarget(_internal_codegen=Engine("vigym"))
        result = compiler.compile_extra(typing, context, function, arguments, None, flags, {})
        base.remove_user_function(result.entry_point)  # which Numba would keep for those that call it
    return result


def dump(result: Any) -> bytes:
    """Compiled code as bytes; ValueError if it holds Python objects."""
    variables = result.library._final_module.global_variables
    names = [one.name for one in variables if one.name.startswith(ENVIRONMENTS) and not one.is_declaration]
    held = [result.environment, *map(lookup_environment, names)]
    if result.reload_init or result.lifted or any(one is not None and one.consts for one in held):
        raise ValueError("it holds Python objects, such as the type of an array that it returns")
    described = {"function": result.fndesc.mangled_name, "environment": result.fndesc.env_name, "environments": names}
    return json.dumps(described).encode() + b"\n" + result.library._get_compiled_object()


def load(data: bytes, function: Callable, arguments: tuple) -> Any:
    """The compile result of `function` for these types of arguments, from bytes; ValueError if they are something else.

    Numba's own cache lets `context.refresh()` load everything that might be needed for compiling first, half a second
    of imports; running finished code takes only its memory manager.
    """
    line, _, code = data.partition(b"\n")
    described = json.loads(line)
    if not (isinstance(described, dict) and described.keys() == {"function", "environment", "environments"}):
        raise ValueError("no description of machine code")
    name, own = described["function"], described["environment"]
    context = cpu_target.target_context
    with global_compiler_lock:
        rtsys.initialize(context)
        engine = Engine("vigym")
        library = engine.create_library(function.__name__)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        descriptor = FunctionDescriptor(
            native=True,
            modname=function.__module__,
            qualname=function.__qualname__,
            unique_name=function.__qualname__,
            doc=None,
            typemap=None,
            restype=types.undefined,  # known only to the code
            calltypes=None,
            args=function.__code__.co_varnames[: len(arguments)],
            kws=(),
            mangler=lambda *_, **__: name,
            argtypes=tuple(arguments),
            env_name=own,
        )
        engine._engine._defined_symbols |= {name, descriptor.llvm_cpython_wrapper_name}
        environment = Environment(function.__globals__)
        environment.env_name = own
        entry = context.get_executable(library, descriptor, environment)
        for other in described["environments"]:
            engine.set_env(other, environment)  # none of them holds anything
    return compiler.compile_result(
        typing_context=context.typing_context,
        target_context=context,
        library=library,
        environment=environment,
        entry_point=entry,
        fndesc=descriptor,
        signature=signature(types.undefined, *arguments),
        objectmode=False,
    )
