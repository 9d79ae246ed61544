"""The order in which bodies that touch are eliminated: which blocks Newton's matrix has beside those of the tree.

Bodies are eliminated leaf to root (ldu.py), whatever touches. A LINK joins a body with one that is eliminated later:
because they are near, or because a body between them is gone (fill). With the joint to its parent, body i leaves a
block between every two of its links, the parent among them. For each link l of i, to body j:

    link_body     j
    link_out      block B of row i, column j;      link_in   row j, column i
    up_out        block of row parent, column j;   up_in     row j, column parent
    fill          block of row j, column k, for every link of i to a k

Blocks are numbered: 0 takes what concerns the world, which does not move; `own_block` of a body is what fill adds to
its own D. Links of a body are in the order of elimination.
"""

from vigym.engine.kernels.collision.growth import BLOCKS, FILLS, LINKS, ensure
from vigym.engine.kernels.simd import rows, shared


@shared
def join(linked, n, i, j):
    """Link two bodies."""
    linked[i * (n + 1) + j] = linked[j * (n + 1) + i] = 1


@shared
def block(m, t, i, j):
    """Number of the block of row i, column j, which are linked or the same, or one of which is the world."""
    n, linked, own, rank = rows(m, "n_bodies")[0], rows(t, "linked"), rows(t, "own_block"), rows(m, "rank")
    if n in (i, j):
        return 0
    if i == j:
        return own[i]
    link = linked[i * (n + 1) + j] - 2
    return rows(t, "link_out")[link] if rank[i] < rank[j] else rows(t, "link_in")[link]


@shared
def order(m, s, t, group):
    """Links, blocks and fill of the near pairs of a lane group."""
    n, body = rows(m, "n_bodies")[0], rows(m, "order")
    linked, own, first = rows(t, "linked"), rows(t, "own_block"), rows(t, "first_link")
    near = rows(t, "n_near")[0]
    for k in range((n + 1) * (n + 1)):
        linked[k] = 0
    for k in range(near):
        i, j = rows(t, "near_first")[k], rows(t, "near_second")[k]
        if j != n and i != j:
            join(linked, n, i, j)
    # links, leaf to root; linked is 2 + the number of the link from then on
    links, blocks = 0, 1
    for k in range(n):
        i = body[n - 1 - k]
        first[i] = links
        parent, count = rows(m, "parent")[i], 0
        for later in range(k + 1, n):
            if linked[i * (n + 1) + body[n - 1 - later]] > 0:
                count += 1
        if count > 0 and parent < n and linked[i * (n + 1) + parent] == 0:
            join(linked, n, i, parent)
            count += 1
        ensure(m, s, t, group, LINKS, links + count)
        where = links
        for later in range(k + 1, n):
            j = body[n - 1 - later]
            if linked[i * (n + 1) + j] > 0:
                linked[i * (n + 1) + j] = linked[j * (n + 1) + i] = 2 + where
                rows(t, "link_body")[where] = j
                rows(t, "link_out")[where], rows(t, "link_in")[where] = blocks, blocks + 1
                where, blocks = where + 1, blocks + 2
        for a in range(links, where):
            for b in range(a + 1, where):
                p, q = rows(t, "link_body")[a], rows(t, "link_body")[b]
                if linked[p * (n + 1) + q] == 0:
                    join(linked, n, p, q)
        links = where
        rows(t, "link_count")[i] = count
        own[i] = blocks
        blocks += 1
    rows(t, "n_links")[0] = links
    ensure(m, s, t, group, BLOCKS, blocks)
    rows(t, "n_blocks")[0] = blocks
    # where links meet
    fills = 0
    for i in range(n):
        count, parent = rows(t, "link_count")[i], rows(m, "parent")[i]
        rows(t, "first_fill")[i] = fills
        ensure(m, s, t, group, FILLS, fills + count * count)
        for a in range(count):
            j = rows(t, "link_body")[first[i] + a]
            rows(t, "up_out")[first[i] + a] = block(m, t, parent, j)
            rows(t, "up_in")[first[i] + a] = block(m, t, j, parent)
            for b in range(count):
                rows(t, "fill")[fills + a * count + b] = block(m, t, j, rows(t, "link_body")[first[i] + b])
        fills += count * count
    for k in range(near):
        i, j = rows(t, "near_first")[k], rows(t, "near_second")[k]
        rows(t, "near_out")[k], rows(t, "near_in")[k] = block(m, t, i, j), block(m, t, j, i)
