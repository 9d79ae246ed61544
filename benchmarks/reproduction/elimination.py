"""Newton matrices as graphs: which blocks fill in when nodes are eliminated, and what that costs."""

from collections.abc import Sequence
from typing import NamedTuple

Pair = frozenset[str]


class Graph(NamedTuple):
    """nodes: name -> size of its block, in the order of elimination; edges: pairs of nodes with a block between."""

    nodes: dict[str, int]
    edges: set[Pair]


class Eliminated(NamedTuple):
    """fill: pairs that became non-zero; blocks: off-diagonal ones in the end; operations: multiplications and
    additions of one factorisation and one solve."""

    fill: set[Pair]
    blocks: int
    operations: int


def eliminate(graph: Graph) -> Eliminated:
    """Gaussian elimination, block by block: every pair of a node's remaining neighbours gets a block."""
    around: dict[str, set[str]] = {node: set() for node in graph.nodes}
    for edge in graph.edges:
        a, b = edge
        around[a].add(b)
        around[b].add(a)
    fill: set[Pair] = set()
    blocks = operations = 0
    for node, size in graph.nodes.items():
        others = around.pop(node)
        width = sum(graph.nodes[other] for other in others)
        # LU of the pivot, pivot times row, the update of the rest, and forward and backward substitution
        operations += 2 * size**3 // 3 + 2 * size**2 * width + 2 * size * width**2
        operations += 2 * size**2 + 4 * size * width
        blocks += 2 * len(others)
        for a in others:
            around[a].discard(node)
            for b in others:
                if a < b and b not in around[a]:
                    fill.add(frozenset((a, b)))
                    around[a].add(b)
                    around[b].add(a)
    return Eliminated(fill, blocks, operations)


def contact_nodes(k: int | str) -> dict[str, int]:
    """Blocks of a contact in the order of elimination: directions, cone, friction, gap (see dense.py)."""
    return {f"directions {k}": 8, f"cone {k}": 2, f"friction {k}": 4, f"gap {k}": 2}


def contact_edges(k: int | str, bodies: Sequence[str]) -> set[Pair]:
    """Friction and gap touch the bodies that move the point; the rest is among themselves."""
    pairs = [("directions", "friction"), ("cone", "friction"), ("cone", "gap")]
    inner = {frozenset((f"{a} {k}", f"{b} {k}")) for a, b in pairs}
    return inner | {frozenset((f"{part} {k}", body)) for part in ("friction", "gap") for body in bodies}


def chain(links: int, contacts: Sequence[int], *, maximal: bool, joint: int = 3, root: int = 6) -> Graph:
    """A chain of free links; contacts: the link that each one is on. The first link is eliminated last.

    maximal: 6 coordinates a body, and `joint` multipliers a joint. Otherwise 6 - joint coordinates a body (`root` of
    the first), all of which move everything after them: the matrix of inertia is full, and a contact point is moved by
    every link before its own.
    """
    nodes: dict[str, int] = {}
    edges: set[Pair] = set()
    by_link: dict[int, list[int]] = {}
    for k, link in enumerate(contacts):
        by_link.setdefault(link, []).append(k)
    for i in reversed(range(links)):
        movers = [f"body {i}"] if maximal else [f"body {j}" for j in range(i + 1)]
        for k in by_link.get(i, []):
            nodes |= contact_nodes(k)
            edges |= contact_edges(k, movers)
        nodes[f"body {i}"] = 6 if maximal else root if i == 0 else 6 - joint
        if i and maximal:
            nodes[f"joint {i}"] = joint
            edges |= {frozenset((f"joint {i}", f"body {i}")), frozenset((f"joint {i}", f"body {i - 1}"))}
        elif i:
            edges |= {frozenset((f"body {i}", f"body {j}")) for j in range(i)}
    return Graph(nodes, edges)
