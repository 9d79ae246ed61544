"""Experiment 3: the Newton matrix in minimal and in maximal coordinates, its fill-ins, and counted operations."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from vigym.assets import unitree_a1
from vigym.benchmarks.flops import flops_per_iteration
from vigym.benchmarks.reproduction.dense import Dense
from vigym.benchmarks.reproduction.drawing import GREY, VIGYM, WRONG, label, panels, save
from vigym.benchmarks.reproduction.elimination import Graph, chain, eliminate
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Result, write_csv
from vigym.benchmarks.runner import Vigym
from vigym.benchmarks.scenes import build
from vigym.benchmarks.scenes.chain import GENTLE
from vigym.benchmarks.scenes.scene import at_rest
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array, conjugate, cross, rotate

# The paper's numbers of the nodes of its figure: trunk, upper leg, lower leg; joints; friction, its limits, contact
PAPERS = {"body 0": 1, "body 1": 2, "body 2": 3, "joint 1": 4, "joint 2": 5}
PAPERS |= {"friction 0": 6, "cone 0": 7, "directions 0": 8, "gap 0": 9}
PARTS = ("trunk", "FR hip", "FR thigh", "FR calf")
SMALL = 1e-9  # of the largest entry: below it, an entry is zero
WARM = 50  # steps before the operations of one are counted


def leg() -> Mechanism:
    """Trunk and front right leg of the A1, without drives."""
    whole = unitree_a1.build(drive=False, friction=0.2)
    m = Mechanism(gravity=whole.gravity)
    for body in whole.bodies:
        if body.name in PARTS:
            m.add_body(body.name, body.mass, body.inertia)
    for joint in whole.joints:
        if joint.name in PARTS:
            anchors = {"parent_anchor": joint.parent_anchor, "child_anchor": joint.child_anchor}
            m.add_joint(joint.name, "revolute", joint.parent, joint.child, axis=joint.basis[2], **anchors)
    (foot,) = (contact for contact in whole.contacts if contact.body in PARTS)
    m.add_contact(foot.name, foot.body, foot.point, radius=foot.radius, friction=foot.friction)
    return m


def matrices() -> tuple[dict[str, Array], dict[str, list[tuple[str, int]]]]:
    """The leg's Newton matrix in maximal and minimal coordinates, ordered for elimination; blocks (name, size)."""
    m = leg()
    state = at_rest(m, [0.1, 0.9, -1.7], height=0.001)
    rng = np.random.default_rng(0)  # a motion without symmetries, so that no entry is zero by accident
    state.v[:], state.w[:] = rng.normal(size=(2, *state.v.shape))
    dense = Dense(m, 0.001)
    dense.maps(state)
    y = dense.start(state)
    y[-16:] += rng.uniform(0.1, 1.0, 16)
    K = dense.jacobian(state, y)
    at = {(kind, k): np.arange(a, a + size) for (kind, k, size), a in zip(dense.nodes, dense.first, strict=False)}
    order: list[tuple[str, int]] = [(part, 0) for part in ("directions", "cone", "friction", "gap")]
    bodies = len(m.bodies)
    S = motions(dense, state.x, state.q)
    columns = [np.arange(6), *(np.array([5 + i]) for i in range(1, bodies))]  # of S: of the trunk, of each joint

    full, full_blocks, small_blocks = [], [], []
    for key in order:
        full.append(at[key])
        full_blocks.append((key[0], len(at[key])))
    small_blocks += full_blocks
    for i in reversed(range(bodies)):
        name = PARTS[i].replace("FR ", "")
        full.append(at["body", i])
        full_blocks.append((name, 6))
        small_blocks.append((name if i == 0 else f"{name} joint", len(columns[i])))
        if i:
            full.append(at["joint", i - 1])
            full_blocks.append((f"{name} joint", 5))
    contact = np.concatenate(full[:4])
    P = np.zeros((len(K), len(contact) + S.shape[1]))
    P[contact, np.arange(len(contact))] = 1.0
    reverse = np.concatenate([columns[i] for i in reversed(range(bodies))]).astype(int)
    P[: 6 * bodies, len(contact) :] = S[:, reverse]
    order_full = np.concatenate(full)
    found = {"minimal": P.T @ K @ P, "maximal": K[np.ix_(order_full, order_full)]}
    return found, {"minimal": small_blocks, "maximal": full_blocks}


def motions(dense: Dense, x: Array, q: Array) -> Array:
    """V = S u: velocities of all bodies (6 n, 6 + joints) from the trunk's own and the rates of the hinges."""
    n = len(x)
    S = np.zeros((n, 6, 6 + len(dense.joints)))
    turns = rotate(q[0], np.eye(3))  # the trunk's axes in the world
    for b in range(n):
        S[b, :3, :3] = np.eye(3)
        S[b, :3, 3:6] = cross(turns, x[b] - x[0]).T
        S[b, 3:, 3:6] = rotate(conjugate(q[b]), turns).T
        for j, (parent, child, joint) in enumerate(dense.joints):
            if child <= b:  # a leg is a chain: all that follows
                assert parent is not None
                axis = rotate(q[parent], rotate(joint.orientation, joint.basis[2]))
                at = x[child] + rotate(q[child], joint.child_anchor)
                S[b, :3, 6 + j] = cross(axis, x[b] - at)
                S[b, 3:, 6 + j] = rotate(conjugate(q[b]), axis)
    return S.reshape(6 * n, -1)


def filled(K: Array, blocks: list[tuple[str, int]]) -> tuple[Array, Array]:
    """Non-zeros before, and entries that become non-zero while blocks are eliminated in their order."""
    ends = np.cumsum([0, *(size for _, size in blocks)])
    before = np.abs(K) > SMALL * np.abs(K).max(1, keepdims=True)
    touched, K = before.copy(), K.copy()
    for a, b in pairwise(ends):
        K[b:, b:] -= K[b:, a:b] @ np.linalg.solve(K[a:b, a:b], K[a:b, b:])
        left = np.abs(K[b:, b:]) > SMALL * np.abs(K[b:, b:]).max(1, keepdims=True, initial=1e-300)
        touched[b:, b:] |= left
    return before, touched & ~before


def blocks_picture(axes: Any, graph: Graph, title: str) -> int:
    """The paper's figure: one square a block, dots where blocks fill in. Returns the number of fill-ins."""
    order, fill = list(graph.nodes), eliminate(graph).fill
    for i, a in enumerate(order):
        for j, b in enumerate(order):
            pair = frozenset((a, b))
            if a == b or pair in graph.edges:
                axes.add_patch(axes_square(j, i, "0.35" if a == b else "0.7"))
            elif pair in fill:
                axes.plot(j, i, "o", color=VIGYM, ms=9)
    names = [str(PAPERS[node]) for node in order]
    axes.set(title=title, xlim=(-0.6, len(order) - 0.4), ylim=(len(order) - 0.4, -0.6), aspect="equal")
    axes.set_xticks(range(len(order)), names)
    axes.set_yticks(range(len(order)), names)
    return 2 * len(fill)


def axes_square(x: float, y: float, color: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.42, y - 0.42), 0.84, 0.84, color=color)


def entries_picture(axes: Any, K: Array, blocks: list[tuple[str, int]], title: str) -> tuple[int, int]:
    """Entries of a matrix and those that fill in; returns how many of each."""
    before, new = filled(K, blocks)
    for where, color, marker in ((before, "0.25", "s"), (new, VIGYM, "o")):
        i, j = np.nonzero(where)
        axes.plot(j, i, marker, color=color, ms=2.6, ls="none")
    ends = np.cumsum([0, *(size for _, size in blocks)])
    for end in ends[1:-1]:
        axes.axhline(end - 0.5, color="0.8", lw=0.6)
        axes.axvline(end - 0.5, color="0.8", lw=0.6)
    axes.set(title=title, xlim=(-1, len(K)), ylim=(len(K), -1), aspect="equal")
    middles = (ends[:-1] + ends[1:] - 1) / 2
    axes.set_yticks(middles, [name for name, _ in blocks], fontsize=7)
    axes.set_xticks([])
    return int(before.sum()), int(new.sum())


def structure(folder: Path, quick: bool) -> Result:
    """Matrices of a leg, then counts against n and c."""
    result = Result("structure")
    figure, axes = panels(4, width=5.2, height=4.9, lines=2)
    graphs = [chain(3, [2], maximal=maximal, joint=5) for maximal in (False, True)]
    titles = ("a) minimal coordinates", "b) maximal coordinates")
    fills = [blocks_picture(axis, graph, title) for axis, graph, title in zip(axes, graphs, titles, strict=False)]
    found, blocks = matrices()
    counts = [
        entries_picture(axis, found[kind], blocks[kind], f"A1's front right leg, {kind}")
        for axis, kind in zip(axes[2:], ("minimal", "maximal"), strict=True)
    ]
    caption = (
        "Top: the paper's nine nodes (1-3 trunk, upper and lower leg, 4-5 joints, 6 friction, 7-8 its limits, 9 "
        "contact), eliminated from the top left; grey: non-zero blocks, red: fill-ins. Bottom: entries of the real "
        "leg (trunk, hip, thigh, calf, one foot), red: entries that become non-zero."
    )
    result.pictures.append(save(figure, folder, "structure-leg.png", caption))
    symbolic(result, folder, quick)
    counted(result, folder, quick)

    result.claim(
        "fill-ins of one contact, the paper's nine nodes",
        "a fixed number of blocks in maximal coordinates",
        f"{fills[1]} (between friction and gap)",
        AGREES if fills[1] == 2 else DIFFERS,
    )
    result.claim(
        "the same in minimal coordinates",
        "O(n) additional fill-ins for each contact",
        f"{fills[0]} as well; it is blocks that are more: the contact touches all bodies before it from the start",
        DIFFERS,
    )
    result.claim(
        "non-zero entries and fill-ins, A1's leg",
        "not told",
        f"minimal {counts[0][0]} + {counts[0][1]}, maximal {counts[1][0]} + {counts[1][1]}",
        NEW,
    )
    result.method = [
        "The Newton matrix of the dense equations (`benchmarks/reproduction/dense.py`) for the A1's trunk and front "
        "right leg in contact, in a motion without symmetries. Minimal coordinates: the same matrix seen through V "
        "= S u, with u the velocity of the trunk and the rates of the hinges. Blocks are eliminated from the leaf "
        "to the root.",
        "Operations of the engine are counted by running its source on numbers that count (`benchmarks/flops.py`), one "
        "Newton iteration of the disc and of the chain in contact. Those of a general block elimination, in both "
        "coordinates, follow from the graph alone.",
    ]
    result.notes = [
        "Where it differs: in minimal coordinates the nodes of the bodies are all connected from the start (the "
        "matrix of inertia of a chain is full), and so are a contact's friction and gap with every body before it. "
        "What grows with c n there is the number of blocks, not that of fill-ins, of which a contact makes two in "
        "either case. The conclusion stays the paper's: operations of minimal coordinates are not linear.",
        "What is counted is elimination of the paper's Newton matrix. Reduced coordinates also have recursive "
        "algorithms that never form the matrix of inertia and are linear in n without contacts; contacts bring the "
        "coupling back.",
        "The engine does not form these matrices: it condenses a contact in closed form and eliminates a body together "
        "with its joint, which is the same elimination with less arithmetic.",
    ]
    return result


def symbolic(result: Result, folder: Path, quick: bool) -> None:
    """Blocks and operations of one factorisation of a chain with n + 1 contacts, in both coordinates."""
    sizes = [2, 4, 8, 16] if quick else [2, 5, 10, 20, 50, 100, 200]
    lines = []
    for n in sizes:
        row: list[int] = [n]
        for maximal in (False, True):
            done = eliminate(chain(n, [0, *range(n)], maximal=maximal))
            row += [done.blocks, 2 * len(done.fill), done.operations]
        lines.append(row)
    header = [
        "links",
        *(f"{kind} {what}" for kind in ("minimal", "maximal") for what in ("blocks", "fill", "operations")),
    ]
    result.files.append(write_csv(folder, "structure-elimination.csv", header, lines))
    table = np.array(lines, float)
    figure, (left, right) = panels(2)
    for axis, offset, what in ((left, 0, "off-diagonal blocks"), (right, 2, "operations")):
        for k, name, color in ((1, "minimal coordinates", WRONG), (4, "maximal coordinates", VIGYM)):
            p = slope(table[:, 0], table[:, k + offset])
            axis.loglog(table[:, 0], table[:, k + offset], "o-", color=color, label=f"{name} (last slope {p:.2f})")
        label(axis, f"{what} of one factorisation", "links, with links + 1 contacts", what)
    caption = "A chain with ball joints, general block elimination: blocks and operations in both coordinates."
    result.pictures.append(save(figure, folder, "structure-elimination.png", caption))
    powers = [slope(table[:, 0], table[:, k]) for k in (3, 6)]
    result.claim(
        f"operations of a factorisation, chain of up to {sizes[-1]} links",
        "maximal O(n + c); minimal not linear",
        f"slope at the end: maximal {powers[1]:.2f}, minimal {powers[0]:.2f}",
        AGREES if powers[1] < 1.1 < powers[0] else DIFFERS,
    )
    result.claim(
        "fill-ins of maximal coordinates",
        "fixed per contact, none from joints",
        f"{table[-1, 5] / (table[-1, 0] + 1):.0f} blocks per contact",
        AGREES if (table[:, 5] == 2 * (table[:, 0] + 1)).all() else DIFFERS,
    )


def slope(x: Array, y: Array) -> float:
    """Slope of log y over log x, between the last two points."""
    return float(np.log(y[-1] / y[-2]) / np.log(x[-1] / x[-2]))


def counted(result: Result, folder: Path, quick: bool) -> None:
    """Operations of the engine in a Newton iteration, against c and n."""
    from tqdm import tqdm

    sizes = [2, 4, 8] if quick else [2, 5, 10, 20, 40, 70, 100]
    scenes: list[tuple[str, str, dict[str, float]]] = [("disc", "contacts", {}), ("chain", "links", {"drop": GENTLE})]
    lines: list[tuple[str, int, float, float]] = []
    cases = [(*scene, size) for scene in scenes for size in sizes]
    for name, unit, parameters, size in tqdm(cases, desc="structure: counted operations", unit="size"):
        scene = build(name, **{unit: size}, **parameters)
        engine = Vigym(scene, scene.dt, WARM + 1, cone="pyramid")
        engine.reset()
        for k in range(WARM):
            engine.step(k)
        saved = engine.sim.save()
        engine.step(WARM)
        each = flops_per_iteration(engine, saved, WARM)
        lines.append((name, size, each, each * engine.iterations()))
    header = ["scene", "size", "operations an iteration", "operations a step"]
    result.files.append(write_csv(folder, "structure-operations.csv", header, lines))
    figure, axes = panels(2)
    for axis, (name, unit, _) in zip(axes, scenes, strict=True):
        mine = np.array([(size, each) for scene, size, each, _ in lines if scene == name], float)
        b, a = np.polyfit(mine[:, 0], mine[:, 1], 1)
        left = mine[:, 1] - a - b * mine[:, 0]
        square = 1.0 - (left**2).sum() / ((mine[:, 1] - mine[:, 1].mean()) ** 2).sum()
        axis.plot(*mine.T, "o", color=VIGYM, label="counted")
        ends = np.array([0, mine[-1, 0]])
        axis.plot(ends, a + b * ends, color=GREY, label=f"{a:,.0f} + {b:,.0f} {unit}")
        axis.set(xlim=0, ylim=0)
        label(axis, f"the engine's {name}", unit, "operations of a Newton iteration")
        result.claim(
            f"operations of the engine, {name}, against the number of {unit}",
            "O(c)" if name == "disc" else "O(n + c)",
            f"{a:,.0f} + {b:,.0f} for each of the {unit}, R^2 = {square:.6f}",
            AGREES if square > 0.999 else DIFFERS,
        )
    caption = "Floating-point operations of one environment in a Newton iteration, counted, no clock involved."
    result.pictures.append(save(figure, folder, "structure-operations.png", caption))
