"""Features of two solids of any kinds: the table of which function finds those of which two kinds."""

from vigym.engine.kernels.collision.cylinder import on_plane
from vigym.engine.kernels.collision.manifold import (
    OWNER_RADIUS,
    PARTNER_RADIUS,
    SWAP,
    box_box,
    round_box,
    round_round,
    with_plane,
)
from vigym.engine.kernels.collision.space import BOX, CYLINDER, PLANE
from vigym.engine.kernels.simd import shared


@shared
def features(found, kind_a, a, later_a, kind_b, b, later_b, reach):
    """Features of two placed solids; returns how many. Without swap, the first one is the owner."""
    count = features_of(found, kind_a, a, later_a, kind_b, b, later_b, reach)
    for k in range(count):
        swapped = found[k, SWAP] > 0.5
        found[k, OWNER_RADIUS] += b[3] if swapped else a[3]
        found[k, PARTNER_RADIUS] += a[3] if swapped else b[3]
    return count


@shared
def features_of(found, kind_a, a, later_a, kind_b, b, later_b, reach):
    """Features of two placed solids, without the radii around them."""
    if kind_a == PLANE or kind_b == PLANE:
        plane, solid, later, swap = (a, b, later_b, 1.0) if kind_a == PLANE else (b, a, later_a, 0.0)
        kind = kind_b if kind_a == PLANE else kind_a
        if kind == PLANE:
            return 0
        if kind == CYLINDER:
            return on_plane(found, solid, later, plane, swap, reach)
        return with_plane(found, solid, plane, swap, reach)
    if kind_a == BOX and kind_b == BOX:
        return box_box(found, a, b, later_a, later_b, reach)
    if kind_a == BOX:
        return round_box(found, b, a, 1.0, reach)
    if kind_b == BOX:
        return round_box(found, a, b, 0.0, reach)
    return round_round(found, a, b, reach)
