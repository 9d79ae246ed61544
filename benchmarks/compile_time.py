"""Packed instructions and compile time of the A1's step, next to a reference that is compiled in the same process.

Run with an empty cache (`VIGYM_CACHE_DIR`); prints one line of JSON.
"""

import json
import re
from time import process_time
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from vigym.assets import unitree_a1
from vigym.engine import lanes
from vigym.engine.simulator import Simulator

OPERATION = r"(?:add|sub|mul|div|sqrt|min|max|round|rndscale|fn?m(?:add|sub|addsub|subadd)(?:132|213|231))"
FUNCTIONS, OPERATIONS, WIDTH = 24, 250, 24  # of the reference
FAST_MATH = ("contract", "nsz", "arcp")


def packed_share(assembly: str) -> float:
    """Share of the floating-point instructions of x86-64 assembly that work on several numbers."""
    words = [line.split() for line in assembly.splitlines() if line[:1].isspace()]
    names = [word[0] for word in words if word]
    packed = sum(bool(re.fullmatch(rf"v?{OPERATION}pd", name)) for name in names)
    scalar = sum(bool(re.fullmatch(rf"v?{OPERATION}sd", name)) for name in names)
    return packed / max(1, packed + scalar)


def reference() -> Any:
    """A library of straight-line functions on vectors, the same ones for ever and none of vigym's, not yet optimised.

    Like vigym's own they are written instruction by instruction, and go through Numba's pipeline: what their compiling
    takes says how fast this machine, its LLVM and its Python are at that kind of work.
    """
    library = cpu_target.target_context.codegen().create_library("reference")
    module = library.create_ir_module("reference")
    vector = ir.VectorType(ir.DoubleType(), 4)
    random = np.random.default_rng(0)
    for k in range(FUNCTIONS):
        kind = ir.FunctionType(ir.VoidType(), [vector.as_pointer()])
        function = ir.Function(module, kind, f"reference{k}")
        function.attributes.add("noinline")
        builder = ir.IRBuilder(function.append_basic_block())

        def place(index: int, builder: Any = builder, function: Any = function) -> Any:
            return builder.gep(function.args[0], [ir.Constant(ir.IntType(64), index)])

        values = [builder.load(place(i), align=8) for i in range(WIDTH)]
        for a, b, c in random.integers(0, WIDTH, (OPERATIONS, 3)):
            product = builder.fmul(values[a], values[b], flags=FAST_MATH)
            values[c] = builder.fadd(product, values[c], flags=FAST_MATH)
        for i, value in enumerate(values):
            builder.store(value, place(i), align=8)
        builder.ret_void()
    library.add_ir_module(module)
    return library


def compile_reference() -> float:
    """CPU seconds for making the reference, from nothing to machine code."""
    began = process_time()
    with global_compiler_lock:
        library = reference()
        library.finalize()
        library.get_asm_str()
    return process_time() - began


def main() -> None:
    """Compile the reference twice (the first time warms Numba up), then the step, then the reference again."""
    compile_reference()
    before = compile_reference()
    sim = Simulator(unitree_a1.build(), dt=0.005)
    began = process_time()
    sim.step()
    took = process_time() - began
    unit = 0.5 * (before + compile_reference())  # not the better of the two: the step has only one try as well
    assembly = lanes._step.compile(*sim._lanes._job[:3]).library.get_asm_str()
    print(json.dumps({"compile time": took / unit, "packed share": packed_share(assembly)}))


if __name__ == "__main__":
    main()
