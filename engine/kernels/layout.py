"""The fields of the three stores: what a mechanism needs, where, and in which shape.

- model `m`: constants shared by all environments;
- state `s`: what one environment carries from step to step (one lane each), its controls and its parameters;
- scratch `t`: intermediate results of the lane group being solved (one store per thread).

Entities: n bodies (+ 1, the world, where poses are looked up), c contacts, a free joint axes.
"""

from typing import NamedTuple

from vigym.engine.kernels.axis import PAIRS as AXIS_PAIRS
from vigym.engine.kernels.store import Store


class Sizes(NamedTuple):
    """Numbers of bodies n, contacts c, free axes a, joints j (one per body, then those that close loops), loops,
    pieces and couplings of loops (loop.py), most free axes of a joint that is not floating, k, and p (see below)."""

    n: int
    c: int
    a: int
    j: int
    loops: int
    pieces: int
    couplings: int
    pairs: int  # entries of the table that finds couplings
    k: int
    p: int  # numbers a and b of a contact


def model_fields(size):
    n, c, j, loops = size.n, size.c, size.j, size.loops
    floats = {
        "gravity": (1, 3),
        "option": (1, 5),  # dt, tolerance, first floor of the warm start, tolerance of gaps and joints, smoothing
        "scale": (1, 3),  # usual contact force, N; length of the mechanism, m; acceleration, m/s^2
        "axis_length": (size.a, 1),  # lever of an axis: that length for a rotation, 1 for a translation
        "child_anchor": (j, 3),  # child's frame
        "parent_anchor": (j, 3),  # parent's frame
        "child_frame": (j, 4),  # joint frame in the child's frame, and in the parent's
        "parent_frame": (j, 4),
        "child_axes": (j, 3, 3),  # rows: joint axes in the child's frame, and in the parent's
        "parent_axes": (j, 3, 3),
        "slide": (j, 3, 3),  # rows: translation axes in the parent's frame, the free ones last
        "point": (c, 3),
        "frame": (c, 3, 3),  # rows n, t1, t2
        "plane": (c, 2),  # how far it is out of reach, radius
    }
    integers = {
        "size": (7,),  # see sweep.py
        "limit": (1,),  # Newton iterations
        "order": (n,),  # bodies, parents first
        "child": (j,),
        "parent": (j,),  # world: n
        "kind": (j,),  # see joint.py
        "first_axis": (j,),
        "contact_body": (c,),
        "child_piece": (loops,),  # pieces at the two ends of a loop
        "parent_piece": (loops,),
        "own_coupling": (loops,),
        "first_piece": (n + 2,),  # pieces of each body and of the world, closing ones first
        "first_closing": (n + 2,),  # running count of loops that close there
        "first_coupling": (n + 2,),  # into `coupling`, one entry per pair of pieces of a body
        "piece_loop": (size.pieces,),
        "piece_up": (size.pieces,),  # the same loop's piece at the parent
        "coupling": (size.pairs,),
    }
    return floats, integers


def state_fields(size):
    n, c, a, j = size.n, size.c, size.a, size.j
    return {
        "x": (n, 3),
        "q": (n, 4),
        "v": (n, 3),
        "w": (n, 3),
        "led": (1, 1),  # length of the (sub)step that led here
        "old": (n, 13),  # x, q, v, w, then coordinates, their rates and led, before the last step
        "old_angle": (a, 2),
        "old_led": (1, 1),
        "real": (1, 1),  # 1, or 0 in lanes that only fill up the group
        "floor": (1, 1),  # where the warm start lifts pairs to, in units of their usual sizes
        "fresh": (1, 1),  # 1 if there is no last step to start from
        "angle": (a, 1),  # joint coordinates, turns counted, and how fast they changed in the last step
        "rate": (a, 1),
        "wrench": (j, 6),  # warm start: joint wrenches, contact pairs, axis pairs
        "ca": (c, size.p),
        "cb": (c, size.p),
        "la": (a, AXIS_PAIRS),
        "lb": (a, AXIS_PAIRS),
        "dry": (a, 1),
        "command": (a, 1),
        "rebound": (c, 2),  # normal velocity that is due after an impact, m/s, and the same before the last step
        "effort": (a, 1),  # controls
        "target": (a, 2),
        "force": (n, 3),
        "torque": (n, 3),
        "mass": (n, 1),  # parameters
        "inertia": (n, 6),
        "friction": (c, 1),
        "restitution": (c, 1),
        "soft": (c, 2),  # compliance and damping
        "offset": (c, 1),  # of the plane of each contact
        "gains": (a, 5),  # stiffness, rest, damping, kp, kd
        "bounds": (a, 2),  # lower and upper limit of the coordinate, 0 where infinite
        "effort_limit": (a, 1),  # 0 where there is none
        "dry_friction": (a, 1),
        "bounded": (a, AXIS_PAIRS),  # 1 for the pairs that take part; those of effort limits only where a drive acts
        "status": (1, 5),  # converged, iterations, residual, substeps, relaxed substeps
    }


def scratch_fields(size):
    n, c, a, j, k = size.n, size.c, size.a, size.j, size.k
    whole = "h live good cold lost relax relaxed todo stride iterations residual substeps"
    search = "alpha ratio lift caution pace shortest total count mu center norm geometry poison"
    return {
        **{name: (1, 1) for name in (*whole.split(), *search.split())},
        "x": (n + 1, 3),
        "q": (n + 1, 4),
        "R": (n + 1, 3, 3),
        "J": (n, 6),
        "known": (n, 6),
        "V": (n, 6),  # v, om
        "sq": (n, 1),
        "xn": (n + 1, 3),
        "qn": (n + 1, 4),
        "Rn": (n + 1, 3, 3),
        "r": (n + 1, 6),
        "D": (n + 1, 6, 6),
        "y": (n + 1, 6),
        "wrench": (j, 6),
        "rho0": (j, 3),
        "arm0": (j, 3),
        "rho": (j, 3),
        "arm": (j, 3),
        "N": (j, k, 3),
        "S": (j, k, 3),
        "K": (j, 3, 3),
        "delta": (j, 6),
        "rN": (j, k),
        "U": (j, 6, k),
        "G": (j, k, 6),
        "H": (j, k, k),
        "xi": (j, k),
        "rhat": (j, 6),
        "now": (1, 6),
        "C": (size.pieces, 6, 6),
        "R_loop": (size.pieces, 6, 6),
        "Y": (size.pieces, k, 6),
        "RS": (size.pieces, 6, k),
        "E": (size.couplings, 6, 6),
        "g": (size.loops, 6),
        "g2": (size.loops, 6),
        "w_loop": (size.loops, 6),
        "loop_rows": (size.loops, 6, 6),
        "slope": (a, 2),
        "apparent": (a, 1),
        "give": (a, 1),
        "dphi": (a, 1),
        **{name: (a, AXIS_PAIRS) for name in ["la", "lb", "li", "lda", "ldb", "lk"]},
        "lr": (a, AXIS_PAIRS + 1),
        "dry": (a, 1),
        "command": (a, 1),
        "ddry": (a, 1),
        "approach": (c, 1),
        "soft": (c, 2),  # give and sunk
        "touch": (c, 3),  # from the centre of mass to the point that touches, at the current pose
        "lever": (c, 3, 3),
        **{name: (c, size.p) for name in ["ca", "cb", "cr", "cda", "cdb", "cdd", "ck"]},
        "ci": (c, size.p + 1),  # `inverses` of the cone
    }


def model_store(features, size):
    floats, integers = model_fields(size)
    return Store("m", 1, 1, features, floats, integers)


def state_store(features, size, lanes, groups, dtype=float):
    return Store("s", lanes, groups, features, state_fields(size), dtype=dtype)


def scratch_store(features, size, lanes, dtype=float):
    return Store("t", lanes, 1, features, scratch_fields(size), dtype=dtype)
