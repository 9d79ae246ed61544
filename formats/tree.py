"""Choice of the joints that form a peer's tree, and of those that close loops."""

from heapq import heappop, heappush
from itertools import count

import numpy as np

from vigym.engine.graph import REVERSIBLE, Tree, reverse
from vigym.engine.joint import WORLD, Joint
from vigym.engine.mechanism import Mechanism


def first_axes(mechanism: Mechanism) -> dict[str, int]:
    """Name of each joint -> the first of its free axes, as vigym counts them (those of floating joints are none)."""
    free = [0 if joint.kind == "floating" else joint.n_free for joint in mechanism.joints]
    names = [joint.name for joint in mechanism.joints]
    return dict(zip(names, np.cumsum([0, *free]).tolist(), strict=False))


def closes_loops(joint: Joint) -> bool:
    """Return whether peers can have it as a constraint between two bodies that other joints connect: nothing acts on
    it."""
    acting = (joint.stiffness, joint.damping, joint.kp, joint.kd, joint.friction, joint.armature)
    limited = np.isfinite([joint.lower, joint.upper, joint.velocity_limit]).any()
    return joint.kind in ("spherical", "revolute", "fixed") and not (np.any(acting) or limited)


def shallow_tree(mechanism: Mechanism) -> Tree:
    """A spanning tree, breadth first from the world, then from each body that is left and is nobody's child.

    vigym's own tree is depth first, which suits its elimination. Breadth first, loops close far from the world, at the
    hinges of linkages and not at the sliders and drives that they stand on, which peers only know as parts of a tree.
    Where that leaves one of those to close a loop, the tree takes them first and plain hinges later.
    """
    tree = _grow(mechanism, [0] * len(mechanism.joints))
    if all(closes_loops(mechanism.joints[j]) for j in tree.loops):
        return tree
    return _grow(mechanism, [int(closes_loops(joint)) for joint in mechanism.joints])


def _grow(mechanism: Mechanism, rank: list[int]) -> Tree:
    """A tree that takes joints of the lowest rank first, and the oldest of those that it has met."""
    bodies, joints = mechanism.bodies, mechanism.joints
    n = len(bodies)
    index = {body.name: i for i, body in enumerate(bodies)} | {WORLD: n}
    ways: list[list[tuple[int, int]]] = [[] for _ in range(n + 1)]
    is_child = np.zeros(n, bool)
    for j, joint in enumerate(joints):
        if joint.kind == "floating":
            continue
        a, b = index[joint.parent], index[joint.child]
        is_child[b] = True
        ways[a].append((b, j))
        if joint.kind in REVERSIBLE and a < n:
            ways[b].append((a, j))
    parent, order = np.full(n, n), []
    tree: list[Joint | None] = [None] * n
    seen, used = np.zeros(n + 1, bool), np.zeros(len(joints), bool)
    met = count()
    for root in [n, *np.flatnonzero(~is_child), *range(n)]:
        if seen[root]:
            continue
        found = [(0, next(met), int(root), n, -1)]  # rank, age, body, its parent, joint
        while found:
            _, _, body, above, j = heappop(found)
            if seen[body]:
                continue
            seen[body] = True
            if body < n:
                order.append(body)
            if j >= 0:
                used[j], parent[body] = True, above
                tree[body] = joints[j] if index[joints[j].child] == body else reverse(joints[j])
            for other, way in ways[body]:
                if not seen[other]:
                    heappush(found, (rank[way], next(met), other, body, way))
    loops = [j for j, joint in enumerate(joints) if not used[j] and joint.kind != "floating"]
    return Tree(parent, np.array(order, int), tree, loops)
