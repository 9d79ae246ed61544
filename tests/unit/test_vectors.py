"""Helpers of compiled loops: the same as NumPy's, compiled and not, and one set of them in the whole tree."""

import ast
from pathlib import Path

import numpy as np
import pytest

from vigym.engine import rotation, vectors
from vigym.engine.kernels.jit import unkept

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
P, Q = (q / np.linalg.norm(q) for q in RNG.normal(size=(2, 4)))
A, B = RNG.normal(size=(2, 3))
M = RNG.normal(size=(3, 3))
ROWS = tuple(tuple(row) for row in M)

# function -> arguments, result by NumPy
CASES = {
    "dot": ((A, B), A @ B),
    "cross": ((A, B), np.cross(A, B)),
    "ahead": ((A, 0.3, B), A + 0.3 * B),
    "matvec": ((ROWS, A), M @ A),
    "matvec_t": ((ROWS, A), M.T @ A),
    "multiply": ((P, Q), rotation.multiply(P, Q)),
    "conjugate": ((P,), rotation.conjugate(P)),
    "rotate": ((P, A), rotation.rotate(P, A)),
    "rotation_matrix": ((P,), rotation.rotation_matrix(P)),
    "from_rotation_vector": ((A,), rotation.from_rotation_vector(A)),
}


def test_every_helper_is_tested():
    assert set(vectors.__all__) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_as_on_arrays(name):
    arguments, expected = CASES[name]
    helper = getattr(vectors, name)
    as_tuples = [tuple(part) if isinstance(part, np.ndarray) else part for part in arguments]
    plain = getattr(helper, "py_func", helper)
    for given in (arguments, as_tuples):
        for function in (unkept(plain), plain):
            np.testing.assert_allclose(function(*given), expected, rtol=1e-14, atol=1e-15)


def test_no_rotation():
    assert vectors.from_rotation_vector((0.0, 0.0, 0.0)) == (1.0, 0.0, 0.0, 0.0)


def test_helpers_are_defined_once():
    """No other function for compiled loops has a helper's name."""
    again = {
        path.relative_to(ROOT).as_posix(): node.name
        for path in ROOT.rglob("*.py")
        if not any(part.startswith(".") for part in path.parts) and path != Path(vectors.__file__).resolve()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name in CASES
        if {"inlined", "compiled"} & {getattr(decorator, "id", "") for decorator in node.decorator_list}
    }
    assert not again
