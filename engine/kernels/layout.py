"""The fields of the three stores: what a mechanism needs, where, and in which shape.

- model `m`: constants shared by all environments;
- state `s`: what one environment carries from step to step (one lane each), its controls and its parameters;
- scratch `t`: intermediate results of the lane group being solved (one store per thread).

Entities: n bodies (+ 1, the world, where poses are looked up), c contacts, a free joint axes.
"""

from vigym.engine.kernels.cone import PAIRS
from vigym.engine.kernels.store import Store


def model_fields(n, c, a):
    floats = {
        "gravity": (1, 3),
        "option": (1, 4),  # dt, tolerance, floor of the warm start, tolerance of gaps and joints
        "child_anchor": (n, 3),  # child's frame
        "parent_anchor": (n, 3),  # parent's frame
        "child_frame": (n, 4),  # joint frame in the child's frame, and in the parent's
        "parent_frame": (n, 4),
        "child_axes": (n, 3, 3),  # rows: joint axes in the child's frame, and in the parent's
        "parent_axes": (n, 3, 3),
        "slide": (n, 3, 3),  # rows: translation axes in the parent's frame, the free ones last
        "point": (c, 3),
        "frame": (c, 3, 3),  # rows n, t1, t2
        "plane": (c, 2),  # offset, radius
    }
    integers = {
        "size": (3,),  # bodies, contacts, axes
        "limit": (1,),  # Newton iterations
        "order": (n,),  # bodies, parents first
        "parent": (n,),  # world: n
        "kind": (n,),  # see joint.py
        "first_axis": (n,),
        "contact_body": (c,),
    }
    return floats, integers


def state_fields(n, c, a):
    return {
        "x": (n, 3),
        "q": (n, 4),
        "v": (n, 3),
        "w": (n, 3),
        "led": (1, 1),  # length of the (sub)step that led here
        "real": (1, 1),  # 1, or 0 in lanes that only fill up the group
        "angle": (a, 1),  # joint coordinates, turns counted
        "wrench": (n, 6),  # warm start: joint wrenches, contact pairs, axis pairs
        "ca": (c, PAIRS),
        "cb": (c, PAIRS),
        "la": (a, 4),
        "lb": (a, 4),
        "effort": (a, 1),  # controls
        "target": (a, 2),
        "force": (n, 3),
        "torque": (n, 3),
        "mass": (n, 1),  # parameters
        "inertia": (n, 6),
        "friction": (c, 1),
        "gains": (a, 5),  # stiffness, rest, damping, kp, kd
        "bounds": (a, 4),  # lower, upper, effort limit twice; 0 where infinite
        "bounded": (a, 4),
        "status": (1, 4),  # converged, iterations, residual, substeps
    }


def scratch_fields(n, c, a, k):
    """`k`: most free axes of a joint that is not floating."""
    single = "h live good cold lost todo stride iterations residual substeps led alpha ratio total count mu center"
    return {
        **{name: (1, 1) for name in (*single.split(), "norm", "geometry")},
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
        "old": (n, 13),
        "wrench": (n, 6),
        "rho0": (n, 3),
        "arm0": (n, 3),
        "rho": (n, 3),
        "arm": (n, 3),
        "N": (n, k, 3),
        "S": (n, k, 3),
        "K": (n, 3, 3),
        "delta": (n, 6),
        "rN": (n, k),
        "U": (n, 6, k),
        "G": (n, k, 6),
        "H": (n, k, k),
        "xi": (n, k),
        "rhat": (n, 6),
        "old_angle": (a, 1),
        "slope": (a, 2),
        "dphi": (a, 1),
        **{name: (a, 4) for name in "la lb lr li lda ldb lk".split()},
        "lever0": (c, 3, 3),
        "lever": (c, 3, 3),
        "gap": (c, 1),
        **{name: (c, PAIRS) for name in "ca cb cr ci cda cdb ck".split()},
    }


def model_store(features, n, c, a):
    floats, integers = model_fields(n, c, a)
    return Store("m", 1, 1, features, floats, integers)


def state_store(features, n, c, a, lanes, groups, dtype=float):
    return Store("s", lanes, groups, features, state_fields(n, c, a), dtype=dtype)


def scratch_store(features, n, c, a, k, lanes, dtype=float):
    return Store("t", lanes, 1, features, scratch_fields(n, c, a, k), dtype=dtype)
