"""Which joints of a mechanism become joints of a peer's tree, and which close loops."""

from collections import deque

import numpy as np

from vigym.engine.graph import REVERSIBLE, Tree, reverse
from vigym.engine.joint import WORLD, Joint
from vigym.engine.mechanism import Mechanism


def shallow_tree(mechanism: Mechanism) -> Tree:
    """A spanning tree, breadth first from the world, then from each body that is left and is nobody's child.

    vigym's own tree is depth first, which suits its elimination. Breadth first, loops close far from the world, at the
    hinges of linkages and not at the sliders and drives that they stand on, which peers only know as parts of a tree.
    """
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
    for root in [n, *np.flatnonzero(~is_child), *range(n)]:
        if seen[root]:
            continue
        queue = deque([int(root)])
        seen[root] = True
        while queue:
            body = queue.popleft()
            if body < n:
                order.append(body)
            for other, j in ways[body]:
                if not seen[other]:
                    seen[other] = used[j] = True
                    parent[other] = body
                    tree[other] = joints[j] if index[joints[j].child] == other else reverse(joints[j])
                    queue.append(other)
    loops = [j for j, joint in enumerate(joints) if not used[j] and joint.kind != "floating"]
    return Tree(parent, np.array(order, int), tree, loops)
