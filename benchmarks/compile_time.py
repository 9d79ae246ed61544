"""Packed instructions and compile time of the A1's step, next to a reference that is compiled in the same process.

Run with an empty cache (`VIGYM_CACHE_DIR`); prints one line of JSON.
"""

import json
import re
from collections.abc import Callable
from time import process_time

import numba
import numpy as np

from vigym.assets import unitree_a1
from vigym.engine import lanes
from vigym.engine.simulator import Simulator

OPERATION = r"(?:add|sub|mul|div|sqrt|min|max|round|rndscale|fn?m(?:add|sub|addsub|subadd)(?:132|213|231))"


def packed_share(assembly: str) -> float:
    """Of the instructions of x86-64 assembly that do floating-point arithmetic, how many work on several numbers."""
    words = [line.split() for line in assembly.splitlines() if line[:1].isspace()]
    names = [word[0] for word in words if word]
    packed = sum(bool(re.fullmatch(rf"v?{OPERATION}pd", name)) for name in names)
    scalar = sum(bool(re.fullmatch(rf"v?{OPERATION}sd", name)) for name in names)
    return packed / max(1, packed + scalar)


def reference() -> list[Callable]:
    """Ordinary Numba functions, none of them vigym's, that never change: their compile time says how fast the machine,
    LLVM and Numba are."""

    def multiply(a, b, out):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                total = 0.0
                for k in range(a.shape[1]):
                    total += a[i, k] * b[k, j]
                out[i, j] = total

    def factorize(a):
        n = a.shape[0]
        for k in range(n):
            pivot = k
            for i in range(k + 1, n):
                if abs(a[i, k]) > abs(a[pivot, k]):
                    pivot = i
            for j in range(n):
                a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            for i in range(k + 1, n):
                a[i, k] /= a[k, k]
                for j in range(k + 1, n):
                    a[i, j] -= a[i, k] * a[k, j]

    def integrate(x, v, steps, h):
        for _ in range(steps):
            for i in range(x.shape[0]):
                force = np.zeros(3)
                for j in range(x.shape[0]):
                    if i != j:
                        d = x[j] - x[i]
                        force += d / (np.sqrt(np.dot(d, d)) ** 3 + 1e-3)
                v[i] += h * force
            x += h * v

    return [multiply, factorize, integrate]


def compile_reference() -> float:
    """CPU seconds for compiling all functions of `reference`."""
    matrix = numba.float64[:, ::1]
    signatures = [(matrix,) * 3, (matrix,), (matrix, matrix, numba.int64, numba.float64)]
    began = process_time()
    for function, signature in zip(reference(), signatures, strict=True):
        numba.njit(signature)(function)
    return process_time() - began


def main() -> None:
    """Compile the reference twice (the first time warms Numba up), then the step, then the reference again."""
    compile_reference()
    before = compile_reference()
    sim = Simulator(unitree_a1.build(), dt=0.005)
    began = process_time()
    sim.step()
    took = process_time() - began
    unit = min(before, compile_reference())
    assembly = "\n".join(made.library.get_asm_str() for made in lanes._step.overloads.values())
    print(json.dumps({"compile time": took / unit, "packed share": packed_share(assembly)}))


if __name__ == "__main__":
    main()
