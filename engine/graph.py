"""The graph of a mechanism: a spanning tree from the world outwards, and the joints that close loops."""

from dataclasses import dataclass, replace

import numpy as np

from vigym.engine.joint import WORLD, Joint
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, rotation_matrix

# Kinds whose constraint and coordinates look the same from either body, once the axis is turned around.
REVERSIBLE = ("fixed", "revolute", "prismatic", "cylindrical")


@dataclass(frozen=True)
class Tree:
    """parent (n,): index of each body's parent, n for the world; order (n,): bodies, parents first.

    joints: the joint from each body to its parent, parent side first; None for a body that floats.
    loops: indices (into the mechanism's joints) of those that close loops.
    """

    parent: np.ndarray
    order: np.ndarray
    joints: list[Joint | None]
    loops: list[int]


def spanning_tree(mechanism: Mechanism) -> Tree:
    """Depth first from the world, then from each body that is left and is nobody's child.

    Depth first, a joint that closes a loop always leads back to an ancestor, and neighbouring loops (a scissor lift)
    share few bodies, so that their cost stays local. A joint that would have to be turned around and cannot be (its
    coordinates look different from the other side) is treated as closing a loop.
    """
    bodies, joints = mechanism.bodies, mechanism.joints
    n = len(bodies)
    index = {body.name: i for i, body in enumerate(bodies)} | {WORLD: n}
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n + 1)]
    backwards: list[list[tuple[int, int]]] = [[] for _ in range(n + 1)]
    is_child = np.zeros(n, bool)
    for j, joint in enumerate(joints):
        if joint.kind == "floating":
            continue
        a, b = index[joint.parent], index[joint.child]
        neighbours[a].append((b, j))
        backwards[b].append((a, j))
        is_child[b] = True
    for onward, back in zip(neighbours, backwards, strict=True):  # as declared, where there is a choice
        onward += [(body, j) for body, j in back if joints[j].kind in REVERSIBLE]
    parent = np.full(n, n)
    tree: list[Joint | None] = [None] * n
    order: list[int] = []
    seen, used = np.zeros(n + 1, bool), np.zeros(len(joints), bool)
    for root in [n, *np.flatnonzero(~is_child), *range(n)]:
        if seen[root]:
            continue
        if root < n:
            order.append(int(root))
        seen[root] = True
        stack = [(int(root), iter(neighbours[root]))]
        while stack:
            body, ways = stack[-1]
            for other, j in ways:
                if other < n and not seen[other]:
                    seen[other] = used[j] = True
                    parent[other] = body
                    tree[other] = joints[j] if index[joints[j].child] == other else reverse(joints[j])
                    order.append(other)
                    stack.append((other, iter(neighbours[other])))
                    break
            else:
                stack.pop()
    loops = [j for j, joint in enumerate(joints) if not used[j] and joint.kind != "floating"]
    return Tree(parent, np.array(order, int), tree, loops)


def connected(mechanism: Mechanism) -> np.ndarray:
    """First of the bodies that joints and couplings connect with each body (n,); the world connects nothing."""
    index = {body.name: i for i, body in enumerate(mechanism.bodies)}
    group = np.arange(len(index))
    child = {joint.name: joint.child for joint in mechanism.joints}
    tied = [(joint.parent, joint.child) for joint in mechanism.joints if joint.kind != "floating"]
    tied += [(child[c.follower.joint], child[leader.joint]) for c in mechanism.couplings for leader in c.leaders]
    for first, second in tied:
        if WORLD not in (first, second):
            a, b = group[index[first]], group[index[second]]
            group[group == max(a, b)] = min(a, b)
    return group


@dataclass(frozen=True)
class Loops:
    """Tables of where loops pass and close; see kernels/loop.py for the words. Body n is the world.

    parts: what closes them, in the order in which they are eliminated: indices into the mechanism's joints, and from
        `n_joints` on, the number of these, into its couplings
    pieces: for each body and the world, the loops that pass it, those that close there first
    closing: for each body and the world, how many close there
    couplings: (loop, loop) -> its block, for every pair that shares a body
    """

    parts: list[int]
    pieces: list[list[int]]
    closing: list[int]
    couplings: dict[tuple[int, int], int]
    n_joints: int

    @property
    def joints(self) -> list[int]:
        """The joints among `parts`."""
        return [j for j in self.parts if j < self.n_joints]

    @property
    def places(self) -> list[int]:
        """Indices among `parts`."""
        return [place for place, j in enumerate(self.parts) if j < self.n_joints]


def find_loops(mechanism: Mechanism, tree: Tree) -> Loops:
    """Follow all sides of every loop up to where they meet, and note which loops get to know each other. A coupling of
    axes is a loop through the bodies of all their joints."""
    n = len(tree.parent)
    index = {body.name: i for i, body in enumerate(mechanism.bodies)} | {WORLD: n}
    when = {int(body): k for k, body in enumerate(tree.order[::-1])} | {n: n}  # leaves are eliminated first

    def to_root(body: int) -> list[int]:
        path = [body]
        while path[-1] != n:
            path.append(int(tree.parent[path[-1]]))
        return path

    found, n_joints = [], len(mechanism.joints)
    ends = {j: [mechanism.joints[j]] for j in tree.loops}
    for k, coupling in enumerate(mechanism.couplings):
        ends[n_joints + k] = [mechanism.joint(axis.joint) for axis in coupling.axes]
    for j, joints in ends.items():
        sides = [to_root(index[body]) for joint in joints for body in (joint.parent, joint.child)]
        meet = next(body for body in sides[0] if all(body in side for side in sides))
        passed = {body for side in sides for body in side[: side.index(meet) + 1]}
        found.append((when[meet], j, meet, passed))
    found.sort()
    pieces = [[k for k, (_, _, _, passed) in enumerate(found) if body in passed] for body in range(n + 1)]
    closing = [sum(meet == body for _, _, meet, _ in found) for body in range(n + 1)]
    pairs = sorted({(a, b) for here in pieces for a in here for b in here})
    blocks = {pair: k for k, pair in enumerate(pairs)}
    return Loops([j for _, j, _, _ in found], pieces, closing, blocks, n_joints)


def reverse(joint: Joint) -> Joint:
    """The same joint with parent and child exchanged; coordinates and efforts keep their sign."""
    b1, b2, axis = joint.basis @ rotation_matrix(joint.orientation).T
    return replace(
        joint,
        parent=joint.child,
        child=joint.parent,
        parent_anchor=joint.child_anchor,
        child_anchor=joint.parent_anchor,
        orientation=conjugate(joint.orientation),
        basis=np.array([b2, b1, -axis]),
    )
