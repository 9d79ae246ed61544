"""Trajectories by class of processor: do machines of one class agree to the bit?

    python -m vigym.benchmarks.platforms             # compare this machine with what is recorded for its class
    python -m vigym.benchmarks.platforms --record    # write its hashes down, after a change that changes results

    NUMBA_CPU_NAME=generic python -m vigym.benchmarks.platforms --record                          # without FMA
    NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES= python -m vigym.benchmarks.platforms --record      # AVX2 with FMA

Kernels compute with + - * / and square roots, which are the same everywhere; LLVM joins products and sums into one
operation with one rounding where the processor has it (FMA). So the hashes are of states of bodies alone, which no
function of the system's mathematical library has touched, and count only for the version of LLVM that made the code.
"""

import json
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import binding
from numba.core.registry import cpu_target

from vigym.benchmarks.fingerprint import cases, digest

RECORD = Path(__file__).with_name("platforms.json")
# Joints, contacts that bounce, are soft, or stick in the exact cone; closed loops with limits
TELLING = ("scene chain pyramid", "mechanism bouncing exact", "mechanism soft exact", "mechanism scissor lift pyramid")
MACHINES = {"x86_64": "x86-64", "amd64": "x86-64", "aarch64": "arm64"}
PROBE = """
define <{n} x double> @probe(<{n} x double> %a, <{n} x double> %b) {{
  %p = fmul contract <{n} x double> %a, %b
  %s = fadd contract <{n} x double> %p, %a
  ret <{n} x double> %s
}}"""


def _assembly(lanes: int) -> str:
    """Assembly of a product and a sum of so many lanes, for the processor that Numba compiles for."""
    return str(cpu_target.target_context.codegen()._tm.emit_assembly(binding.parse_assembly(PROBE.format(n=lanes))))


def class_of() -> str:
    """The class of the processor that Numba compiles for: architecture, with FMA or without, and wide registers."""
    name = platform.machine().lower()
    parts = [MACHINES.get(name, name), "with FMA" if re.search("fmadd|fmla", _assembly(4)) else "without FMA"]
    if "zmm" in _assembly(8):
        parts.append("and AVX-512")
    return " ".join(parts)


def llvm() -> str:
    """Version of LLVM."""
    return ".".join(map(str, binding.llvm_version_info))


def hashes(names: tuple[str, ...] = TELLING) -> dict[str, str]:
    """Hashes of the states of bodies in these cases."""
    return {name: digest(np.array(case().bodies)) for name, case in cases() if name in names}


def recorded() -> dict[str, Any]:
    """Classes by name: the version of LLVM, and hashes."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


@dataclass
class Platforms:
    """Hash trajectories of telling scenes, and compare them with those recorded for this class of processors.

    record: write the hashes down instead
    """

    record: bool = False

    def run(self) -> int:
        """Number of cases that differ."""
        known, name, now = recorded(), class_of(), hashes()
        print(f"{name}, LLVM {llvm()}")
        if self.record:
            known[name] = {"llvm": llvm(), "hashes": now}
            RECORD.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
        before = known.get(name, {}).get("hashes", {})
        for case, value in now.items():
            print(f"{value}  {case:40s} {'equal' if before.get(case) == value else 'DIFFERS'}")
        return sum(before.get(case) != value for case, value in now.items())


if __name__ == "__main__":
    import tyro

    sys.exit(tyro.cli(Platforms).run() > 0)
