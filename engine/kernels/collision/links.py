"""The order in which bodies that touch are eliminated: which blocks Newton's matrix has beside those of the tree.

Nodes are eliminated in a fixed sequence, whatever touches: bodies leaf to root (ldu.py), and the wrench of each joint
that closes a loop just before the body where its sides meet. Where there are many free bodies, each environment has a
sequence of its own (`own_order`): next is the body with the fewest links, of those whose children are gone; ties by
number. Links are looked for again only when other bodies are near each other.

A LINK joins a node with one that is eliminated later: because they are near, because a loop ends there, or because a
node between them is gone (fill). With the joint to its parent, body i leaves a block between every two of its links,
the parent among them. For each link l of i, to node j:

    link_body     j
    link_out      block B of row i, column j;      link_in   row j, column i
    up_out        block of row parent, column j;   up_in     row j, column parent
    fill          block of row j, column k, for every link of i to a k

Blocks are numbered: 0 takes what concerns the world, which does not move; `own_block` of a node that has one
(`has_own`) is what fill adds to its own D. Links of a node are in the order of elimination. The work is linear in the
number of links: a node hands its links to the first of them, which hands them on.
"""

from vigym.engine.kernels.collision.fields import BITS
from vigym.engine.kernels.collision.growth import BLOCKS, FILLS, LINKS, NEAR, ensure
from vigym.engine.kernels.simd import rows, shared


@shared
def parent_of(m, i):
    """Parent of a body; the world for other nodes."""
    n = rows(m, "n_bodies")[0]
    return rows(m, "parent")[i] if i < n else n


@shared
def find_link(t, i, j):
    """Number of the link of node i to the later node j."""
    link = rows(t, "first_link")[i]
    while rows(t, "link_body")[link] != j:
        link += 1
    return link


@shared
def add_edges(m, s, t, group):
    """Chain near pairs, and the ends of all loops behind them, to both of their nodes; returns how many there are.

    Edge e is in the chains of near_first[e] as 2 e, and of near_second[e] as 2 e + 1."""
    n, near = rows(m, "n_bodies")[0], rows(t, "n_near")[0]
    edges = near + rows(m, "n_ends")[0]
    ensure(m, s, t, group, NEAR, edges)
    first, second = rows(t, "near_first"), rows(t, "near_second")
    for end in range(edges - near):
        first[near + end], second[near + end] = rows(m, "end_body")[end], n + 1 + rows(m, "end_loop")[end]
    chain = rows(t, "edge_chain")
    for e in range(edges):
        i, j = first[e], second[e]
        if i != n and j != n:
            rows(t, "first_after")[e], chain[i] = chain[i], 2 * e
            rows(t, "second_after")[e], chain[j] = chain[j], 2 * e + 1
    return edges


@shared
def add_link(m, s, t, group, i, j, place, where):
    """Link node i, at `place` in the sequence, with node j, unless j is gone or known; returns the number of links."""
    seen = rows(t, "seen")
    if rows(t, "rank")[j] <= place or seen[j] == place:
        return where
    seen[j] = place
    ensure(m, s, t, group, LINKS, where + 1)
    body, rank = rows(t, "link_body"), rows(t, "rank")
    link = where
    while link > rows(t, "first_link")[i] and rank[body[link - 1]] > rank[j]:
        body[link] = body[link - 1]
        link -= 1
    body[link] = j
    return where + 1


@shared
def find_links(m, s, t, group):
    """Links of all nodes, and the numbers of their blocks."""
    n, nodes, sequence = rows(m, "n_bodies")[0], rows(m, "n_nodes")[0], rows(t, "sequence")
    first, heirs, after, own = rows(t, "first_link"), rows(t, "heirs"), rows(t, "next_heir"), rows(t, "has_own")
    where, blocks = 0, 1
    for place in range(nodes):
        i = sequence[place]
        start = first[i] = where
        edge = rows(t, "edge_chain")[i]
        while edge >= 0:
            e = edge // 2
            j = rows(t, "near_first")[e] if edge % 2 else rows(t, "near_second")[e]
            where = add_link(m, s, t, group, i, j, place, where)
            edge = rows(t, "second_after")[e] if edge % 2 else rows(t, "first_after")[e]
        earlier = heirs[i]
        while earlier >= 0:
            for link in range(first[earlier], first[earlier] + rows(t, "link_count")[earlier]):
                where = add_link(m, s, t, group, i, rows(t, "link_body")[link], place, where)
            earlier = after[earlier]
        parent = parent_of(m, i)
        if where > start and parent < n:
            where = add_link(m, s, t, group, i, parent, place, where)
        rows(t, "link_count")[i] = where - start
        for link in range(start, where):
            rows(t, "link_out")[link], rows(t, "link_in")[link] = blocks, blocks + 1
            blocks += 2
            own[rows(t, "link_body")[link]] = 1
        if where > start:
            heir = rows(t, "link_body")[start]
            after[i], heirs[heir] = heirs[heir], i
    for place in range(nodes):
        if own[sequence[place]]:
            rows(t, "own_block")[sequence[place]] = blocks
            blocks += 1
    rows(t, "n_links")[0] = where
    ensure(m, s, t, group, BLOCKS, blocks)
    rows(t, "n_blocks")[0] = blocks


@shared
def fill_in(m, s, t, group):
    """Find where the links of each node meet."""
    n, nodes, sequence = rows(m, "n_bodies")[0], rows(m, "n_nodes")[0], rows(t, "sequence")
    fills = 0
    for place in range(nodes):
        i = sequence[place]
        first, count, parent = rows(t, "first_link")[i], rows(t, "link_count")[i], parent_of(m, i)
        rows(t, "first_fill")[i] = fills
        ensure(m, s, t, group, FILLS, fills + count * count)
        fill, body = rows(t, "fill"), rows(t, "link_body")
        for a in range(count):
            j = body[first + a]
            fill[fills + a * count + a] = rows(t, "own_block")[j]
            link = rows(t, "first_link")[j]
            for b in range(a + 1, count):
                while body[link] != body[first + b]:
                    link += 1
                fill[fills + a * count + b] = rows(t, "link_out")[link]
                fill[fills + b * count + a] = rows(t, "link_in")[link]
        up = 0
        while up < count and body[first + up] != parent:
            up += 1
        for a in range(count):
            known = parent < n and up < count
            rows(t, "up_out")[first + a] = fill[fills + up * count + a] if known else 0
            rows(t, "up_in")[first + a] = fill[fills + a * count + up] if known else 0
        fills += count * count


@shared
def is_drawn(t):
    """True if there are links for the pairs that are near."""
    near, first, second = rows(t, "n_near")[0], rows(t, "near_first"), rows(t, "near_second")
    if rows(t, "n_drawn")[0] != near + 1:
        return False
    for e in range(near):
        if first[e] != rows(t, "drawn_first")[e] or second[e] != rows(t, "drawn_second")[e]:
            return False
    return True


@shared
def draw(t):
    """Remember for which near pairs there are links."""
    near = rows(t, "n_near")[0]
    rows(t, "n_drawn")[0] = near + 1
    for e in range(near):
        rows(t, "drawn_first")[e], rows(t, "drawn_second")[e] = rows(t, "near_first")[e], rows(t, "near_second")[e]


@shared
def bind(t, i, j, words):
    """Note that bodies i and j are linked."""
    bits = rows(t, "linked_with")
    bits[i * words + j // BITS] |= 1 << (j % BITS)
    bits[j * words + i // BITS] |= 1 << (i % BITS)


@shared
def degree(t, i, words):
    """Number of bodies that body i is linked with."""
    count = 0
    for word in range(i * words, (i + 1) * words):
        rest = rows(t, "linked_with")[word]
        while rest:
            rest &= rest - 1
            count += 1
    return count


@shared
def take_out(m, t, i, words):
    """Take body i out: all that it is linked with are linked with each other."""
    bits, mine = rows(t, "linked_with"), i * words
    for j in range(rows(m, "n_bodies")[0]):
        if (bits[mine + j // BITS] >> (j % BITS)) & 1:
            for word in range(words):
                bits[j * words + word] |= bits[mine + word]
            bits[j * words + i // BITS] &= ~(1 << (i % BITS))
            bits[j * words + j // BITS] &= ~(1 << (j % BITS))
            rows(t, "link_count")[j] = degree(t, j, words)


@shared
def choose_sequence(m, t):
    """An order of elimination in which few links come into being: next is the body that has the fewest."""
    n, parent = rows(m, "n_bodies")[0], rows(m, "parent")
    words, left, links = n // BITS + 1, rows(t, "children_left"), rows(t, "link_count")
    for word in range(n * words):
        rows(t, "linked_with")[word] = 0
    for i in range(n):
        left[i] = 0
    for i in range(n):
        if parent[i] < n:
            left[parent[i]] += 1
    for e in range(rows(t, "n_near")[0]):
        i, j = rows(t, "near_first")[e], rows(t, "near_second")[e]
        if i != n and j != n:
            bind(t, i, j, words)
    for i in range(n):
        links[i] = degree(t, i, words)
    for place in range(n):
        best = -1
        for i in range(n):
            if left[i] == 0 and (best < 0 or links[i] < links[best]):
                best = i
        if parent[best] < n:
            left[parent[best]] -= 1
            if links[best] > 0:
                bind(t, best, parent[best], words)
        take_out(m, t, best, words)
        left[best] = -1
        rows(t, "sequence")[place], rows(t, "order")[n - 1 - place], rows(t, "rank")[best] = best, best, place


@shared
def usual_sequence(m, t):
    """The order of elimination that does not depend on what touches."""
    for place in range(rows(m, "n_nodes")[0]):
        i = rows(m, "usual_sequence")[place]
        rows(t, "sequence")[place], rows(t, "rank")[i] = i, place
    for k in range(rows(m, "n_bodies")[0]):
        rows(t, "order")[k] = rows(m, "order")[k]


@shared
def order(m, s, t, group):
    """Links, blocks and fill of the near pairs of a lane group."""
    if is_drawn(t):
        return
    if rows(m, "own_order")[0]:
        choose_sequence(m, t)
    else:
        usual_sequence(m, t)
    n, nodes, sequence, rank = rows(m, "n_bodies")[0], rows(m, "n_nodes")[0], rows(t, "sequence"), rows(t, "rank")
    for place in range(nodes):
        i = sequence[place]
        rows(t, "edge_chain")[i] = rows(t, "heirs")[i] = rows(t, "seen")[i] = -1
        rows(t, "has_own")[i] = 0
    edges = add_edges(m, s, t, group)
    find_links(m, s, t, group)
    fill_in(m, s, t, group)
    for e in range(edges):
        i, j = rows(t, "near_first")[e], rows(t, "near_second")[e]
        out, back = 0, 0
        if i != n and j != n and rank[i] < rank[j]:
            link = find_link(t, i, j)
            out, back = rows(t, "link_out")[link], rows(t, "link_in")[link]
        elif i != n and j != n:
            link = find_link(t, j, i)
            out, back = rows(t, "link_in")[link], rows(t, "link_out")[link]
        rows(t, "near_out")[e], rows(t, "near_in")[e] = out, back
    draw(t)
