"""The fields of the three stores: what a mechanism needs, where, and in which shape.

- model `m`: constants shared by all environments;
- state `s`: what one environment carries from step to step (one lane each), its controls and its parameters;
- scratch `t`: intermediate results of the lane group being solved (one store per thread).

Entities: n bodies (+ 1, the world, where poses are looked up), c contacts, a free joint axes. A field of shape () is
one number.
"""

from typing import NamedTuple

from vigym.engine.kernels import geometry, integrator
from vigym.engine.kernels.axis import PAIRS as AXIS_PAIRS
from vigym.engine.kernels.collision.fields import (
    COLUMNS_OF,
    collider_fields,
    collider_integers,
    growing_fields,
    impact_fields,
    memory_fields,
    near_fields,
    scratch_integers,
    watch_fields,
)
from vigym.engine.kernels.collision.handle import describe
from vigym.engine.kernels.cone import CONES
from vigym.engine.kernels.store import Store


class Sizes(NamedTuple):
    """Numbers of entities of a mechanism.

    n_joints counts one joint per body, then loops: joints that close them, and couplings of axes (gear.py), which have
    n_terms terms. Pieces and couplings are those of loops (loop.py), which have n_ends ends.
    """

    n_bodies: int
    n_contacts: int
    n_axes: int
    n_joints: int
    n_loops: int
    n_pieces: int
    n_couplings: int
    coupling_entries: int  # of the table that finds couplings
    most_free: int  # free axes of a joint that is not floating
    n_colliders: int = 0
    n_couples: int = 0  # of colliders that may touch each other
    n_nodes: int = 0  # bodies and loops
    ground_numbers: int = 1  # of ground of triangles, see collision/terrain.py
    ground_integers: int = 1
    hull_numbers: int = 1  # of solids with many faces, see collision/polytope.py
    hull_integers: int = 1
    n_ends: int = 0
    n_terms: int = 0
    own_order: bool = False  # bodies are eliminated in an order that follows what touches


COUNTS = (
    *("n_bodies", "n_contacts", "n_axes", "n_joints", "n_loops", "n_pieces", "n_couplings"),
    *("n_colliders", "n_couples", "n_nodes", "n_ends"),
)


def scalars(names):
    """Fields of one number each."""
    return dict.fromkeys(names.split(), ())


def model_fields(features, size):
    n, c, j, loops = size.n_bodies, size.n_contacts, size.n_joints, size.n_loops
    floats = {
        "gravity": (1, 3),
        # time step; tolerance of forces, and of gaps and joints (both relative, see interior_point.py); how many times
        # as closely products are solved; how much of a size may be rounding, over either tolerance; product at which
        # pairs stop
        **scalars("dt tolerance accuracy strictness force_rounding length_rounding smoothing"),
        "first_floor": (),  # of the warm start, see interior_point.py
        "free_fall": (),  # usual acceleration of a body in no hurry, m/s^2: that of gravity
        "nominal_mass": (n, 1),  # with which the usual sizes were found, see body.heft
        # usual sizes of pairs: force, N, and acceleration, m/s^2, of contacts and of axes, whose lever is the size of a
        # body for a rotation, 1 for a translation
        "contact_force_scale": (c, 1),
        "contact_weight": (c, 1),  # of the body alone, N
        "contact_acceleration": (c, 1),
        # of contacts that sag, see contact.py: 1, else 0; weight, N, and mass of all that is joined
        "sags": (c, 1),
        "joined_weight": (c, 1),
        "joined_mass": (c, 1),
        "axis_force_scale": (size.n_axes, 1),
        "axis_acceleration": (size.n_axes, 1),
        "axis_length": (size.n_axes, 1),
        "child_anchor": (j, 3),  # child's frame
        "parent_anchor": (j, 3),  # parent's frame
        "child_frame": (j, 4),  # joint frame in the child's frame, and in the parent's
        "parent_frame": (j, 4),
        "child_axes": (j, 3, 3),  # rows: joint axes in the child's frame, and in the parent's
        "parent_axes": (j, 3, 3),
        "slide": (j, 3, 3),  # rows: translation axes in the parent's frame, the free ones last
        "gear_offset": (loops if size.n_terms else 0, 1),  # of couplings of axes, and of their terms: see gear.py
        "term_coefficients": (size.n_terms, 4),
        "term_slides": (size.n_terms, 1),  # 1 for translations, else 0
        "clearance": (c, 1),  # added to the gaps of bodies that cannot move, so that nothing pushes them
    }
    if features.touches:
        floats |= collider_fields(size)
    shapes = {name: (c, *shape) for name, shape in geometry.fields(features.contact_kinds).items()}
    integers = {
        **scalars(" ".join(COUNTS)),
        # of Newton: of an attempt, of those in the shortest parts, of all rounds of lent sliding
        **scalars("max_iterations last_iterations most_iterations"),
        "order": (n,),  # bodies, parents first
        "child": (j,),
        "parent": (j,),  # world: n
        "joint_kind": (j,),  # see joint.py
        "first_axis": (j,),
        "contact_body": (c,),
        "axis_body": (size.n_axes,),  # the joint's child
        "group": (n,),  # first of the bodies that joints connect with this one
        "contact_kind": (c,),  # see geometry/
        "first_end": (loops + 1,),  # of a loop: child and parent of a joint; those of all joints that a coupling has
        "end_body": (size.n_ends,),
        "end_loop": (size.n_ends,),
        "end_piece": (size.n_ends,),
        "first_term": (loops + 1,),
        "term_joint": (size.n_terms,),
        "term_axis": (size.n_terms,),
        "term_end": (size.n_terms,),  # the first of two
        "own_coupling": (loops,),
        "first_piece": (n + 2,),  # pieces of each body and of the world, closing ones first
        "first_closing": (n + 2,),  # running count of loops that close there
        "first_coupling": (n + 2,),  # into `coupling`, one entry per pair of pieces of a body
        "piece_loop": (size.n_pieces,),
        "piece_up": (size.n_pieces,),  # the same loop's piece at the parent
        "coupling": (size.coupling_entries,),
    }
    if features.touches:
        integers |= collider_integers(size)
    if taken := shapes.keys() & {*floats, *integers}:
        raise ValueError(f"a kind of contact has a field {min(taken)!r}, which is another one of the model")
    return floats | shapes, integers


def state_fields(features, size):
    n, c, a, j = size.n_bodies, size.n_contacts, size.n_axes, size.n_joints
    cone_pairs = CONES[features.cone].PAIRS
    bounces, groups = (c, n) if features.bounce else (0, 0)
    unknown = {"V": (n, 6), "wrench": (j, 6), "ca": (c, cone_pairs), "cb": (c, cone_pairs)}
    unknown |= {"la": (a, AXIS_PAIRS), "lb": (a, AXIS_PAIRS), "dry": (a, 1)}
    if not features.bounce:
        unknown = {}
    solids, rotors = size.n_colliders, a if features.armature else 0
    return {
        "x": (n, 3),
        "q": (n, 4),
        "v": (n, 3),
        "w": (n, 3),
        "h0": (),  # length of the (sub)step that led here
        "even": (),  # how even the arms of joints were in it, see arms.py
        "owed": (),  # work that joints have done, J
        "angle": (a, 1),  # joint coordinates, turns counted, and how fast they changed in the last step
        "rate": (a, 1),
        "struck": (bounces, 1),  # normal impulse that brought a contact to the ground, of which a rebound is due, N s
        "came": (bounces, 1),  # speed with which it came, m/s
        "budget": (groups, 1),  # energy that a group may have after a rebound, J
        "factor": (groups, 1),  # on its last rebound
        "rebounds": (),  # 1 if something rebounds in the last step
        "impulse": (c, 3),  # on the body in the last step, N s, world
        "pushed": (n + 1 if features.touches else 0, 3),  # sum of those from other bodies on each, and on the world
        # all of these before the last step
        "old_x": (n, 3),
        "old_q": (n, 4),
        "old_v": (n, 3),
        "old_w": (n, 3),
        "old_h0": (),
        "old_angle": (a, 1),
        "old_rate": (a, 1),
        "old_struck": (bounces, 1),
        "real": (),  # 1, or 0 in lanes that only fill up the group
        # warm start: joint wrenches, contact pairs, axis pairs
        "floor": (),  # where it lifts pairs to, in units of their usual sizes
        "fresh": (),  # 1 if there is no last step to start from
        "steady": (),  # 1 if velocities changed in the last step as in the one before
        "wrench": (j, 6),
        "ca": (c, cone_pairs),
        "cb": (c, cone_pairs),
        "la": (a, AXIS_PAIRS),
        "lb": (a, AXIS_PAIRS),
        "dry": (a, 1),
        "command": (a, 1),
        # the unknowns in the first two phases of a rebound, see impact.py
        **{f"{phase}_{name}": shape for phase in ("settled", "steady") for name, shape in unknown.items()},
        # controls
        "effort": (a, 1),
        "target": (a, 1),
        "target_velocity": (a, 1),
        "force": (n, 3),
        "torque": (n, 3),
        # parameters
        "mass": (n, 1),
        "heft": (n, 1),  # mass of all that joints connect with the body, over that in `nominal_mass`; follows `mass`
        "inertia": (n, 6),
        "friction": (c, 1),
        "restitution": (c, 1),
        "compliance": (c, 1),
        "contact_damping": (c, 1),
        "offset": (c, 1),  # of the plane of each contact
        **{f"collider_{name}": (solids, 1) for name in ("friction", "restitution", "compliance", "damping")},
        **{name: (a, 1) for name in ("stiffness", "rest", "damping", "kp", "kd")},
        "armature": (a, 1),
        "rotor": (rotors, 1),  # effort of the rotor in the last step
        "settled_rate": (rotors if features.bounce else 0, 1),  # of axes, in the first phase of a rebound
        "bounds": (a, 2),  # lower and upper limit of the coordinate, 0 where infinite
        "effort_limit": (a, 1),  # 0 where there is none
        "velocity_limit": (a, 1),  # FAR (axis.py) where there is none; beside others, `bounds` are too
        "no_load_speed": (a, 1),
        "dry_friction": (a, 1),
        "bounded": (a, AXIS_PAIRS),  # 1 for the pairs that take part; those of effort limits only where a drive acts
        # what a call tells: see state.Status
        **scalars("converged iterations residual substeps relaxed"),
        # what contacts tell, see publish.py: gap; speed of sliding; velocity of the point that touches,
        # force on the body, that point, all in the world frame
        "gap": (c, 1),
        "slip": (c, 1),
        "contact_velocity": (c, 3),
        "contact_force": (c, 3),
        "contact_point": (c, 3),
    }


def scratch_fields(features, size):
    n, c, a, j, k = size.n_bodies, size.n_contacts, size.n_axes, size.n_joints, size.most_free
    cone_pairs = CONES[features.cone].PAIRS
    balls, turning, several = (count if features.balls else 0 for count in (j, n + 1, a))
    bounces, groups = (c, n) if features.bounce else (0, 0)
    touching = near_fields(size) if features.touches else {}
    nodes = n + 1 + (size.n_loops if features.touches else 0)
    if features.touches and features.bounce:
        touching |= impact_fields(size)
    curved = c if any(geometry.of(kind).fixed_axes is None for kind in features.contact_kinds) else 0
    return {
        # of the step: its length and 1/length; which lanes still iterate, converged; where they start; which gave up;
        # rounds of a relaxed step (cone.py), whether another one follows, how far bounds are from forces and how far
        # above them, whether they only fall; lanes that go on with the same attempt; ticks left and ticks a
        # substep; attempts so far
        **scalars("h rate live good cold lost relax another apart above falling again todo stride attempts"),
        # of lent sliding: see lending.py
        **scalars("lending relend counted strayed stretch turned_back turned"),
        # of joints' arms: see arms.py
        **scalars("even even_before next round uneven taut pushed weighed work owed energy_scale"),
        # of the search: see interior_point.py
        **scalars(
            "alpha ratio lift caution stuck_at pace stumbled untouched floor total count stopped mu center norm misfit "
            "heaviest poison change surprise onwards"
        ),
        "x": (n + 1, 3),
        "q": (n + 1, 4),
        "R": (n + 1, 3, 3),
        "J": (n, 6),
        "known": (n, 6),
        # by which residuals are judged, see body.py: forces, N, and torques, N m, of a body, at least and now; its
        # length, m, and 1/length of what counts as closed
        "least_unit": (n, 2),
        "unit": (n + 1, 2),
        "size": (n, 1),
        "pull": (n + 1, 1),
        "per_length": (n + 1, 1),
        "V": (n, 6),  # v, om
        "gained": (n, 6),  # by which v and w changed in the last step
        "tangent": (n, integrator.KEPT),
        "xn": (n + 1, 3),
        "x_before": (n + 1, 3),
        "R_before": (n + 1, 3, 3),
        "qn": (n + 1, 4),
        "Rn": (n + 1, 3, 3),
        # of bodies and of the world; of loops too where they are nodes, see collision/links.py
        "r": (nodes, 6),
        "D": (nodes, 6, 6),
        "y": (nodes, 6),
        "wrench": (j, 6),
        "rho0": (j, 3),
        "arm0": (j, 3),
        "rho": (j, 3),
        "arm": (j, 3),
        "N": (j, k, 3),
        "S": (j, k, 3),
        # of three free rotations with a law, see ball.py: the relative rotation and its origins at the current pose,
        # the force maps there, the known part of springs; derivatives of coordinates, turns, motors, passive efforts
        "q_before": (turning, 4),
        "e0": (balls, 4),
        "rest_frame": (balls, 4),
        "target_frame": (balls, 4),
        "limit_map": (balls, 3, 3),
        "spring_map": (balls, 3, 3),
        "drive_map": (balls, 3, 3),
        "stretched": (balls, 3),
        "K": (balls, 3, 3),
        "K_turn": (balls, 3, 3),
        "K_drive": (balls, 3, 3),
        "K_passive": (balls, 3, 3),
        "delta": (j, 6),
        "rN": (j, k),
        "U": (j, 6, k),
        "G": (j, k, 6),
        "H": (j, k, k),
        "xi": (j, k),
        "rhat": (j, 6),
        "now": (1, 6),
        "C": (size.n_pieces, 6, 6),
        "R_loop": (size.n_pieces, 6, 6),
        "Y": (size.n_pieces, k, 6),
        "RS": (size.n_pieces, 6, k),
        "E": (size.n_couplings, 6, 6),
        "g": (size.n_loops, 6),
        "g2": (size.n_loops, 6),
        "w_loop": (size.n_loops, 6),
        "loop_rows": (size.n_loops, 6, 6),
        "axis0": (a if size.n_terms else 0, 3),  # the axis in the world, at the current pose and at the next
        "axis1": (a if size.n_terms else 0, 3),
        "coordinate": (a, 1),  # of axes with a law, turns counted, at the next pose
        "drive_slope": (a, 1),
        "passive_slope": (a, 1),
        "rate0": (a if features.armature else 0, 1),  # before the step
        "apparent": (a, 1),
        "mobility": (a, 1),
        "axis_force": (a, 1),  # usual force, N
        "axis_unit": (a, 3),  # effort and motion by which errors are judged, and 1/motion
        "axis_share": (a, 1),  # 1/usual size of a product
        "dphi": (a, 1),
        "dmotion": (several, 1),
        "fall": (several, 1),
        "asked": (several, 1),
        **{name: (a, AXIS_PAIRS) for name in ["la", "lb", "li", "lt", "lda", "ldb", "lk"]},
        "pivots": (a, 2),  # inverse ones, of the motor and of dry friction
        "lr": (a, AXIS_PAIRS + 1),
        "dry": (a, 1),
        "command": (a, 1),
        "ddry": (a, 1),
        # of impacts, see impact.py
        **scalars("phase due kicked excess tries"),
        "given": (bounces, 1),
        "ample": (bounces, 2),  # what products are judged by in the steady phase, over force and over gap
        "group_impact": (groups, 2),  # largest way, m, and blow, N, of its struck contacts
        "moved": (n + 1, 6),  # by how much forces move bodies, m and rad; the world stays 0
        **{name: (groups, 1) for name in ["group_due", "energy0", "energy", "group_work", "settled_energy"]},
        "give": (c, 1),
        "sunk": (c, 1),
        "usual_force": (c, 1),
        "grip": (c, 1),  # normal force that bounds friction in a relaxed step, see cone.py
        "lent": (c if features.lends else 0, 1),  # sliding that is lent to the gap, m a step, see lending.py
        "astray": (c if features.lends else 0, 1),  # how much farther the contact slides, m a step
        # of contacts: from the centre of mass to the core point, at the current pose and at the next; rows of d(slip)
        # by dth; axes at the current pose and normal at the next where these are not fixed
        "core0": (c, 3),
        "core": (c, 3),
        "slip_rows": (c, 2, 3),
        "axes": (curved, 3, 3),
        "normal": (curved, 3),
        **{name: (c, cone_pairs) for name in ["ca", "cb", "cr", "cda", "cdb", "cdd", "ck"]},
        "ci": (c, cone_pairs + 2),  # `inverses` of the cone
        **touching,
    }


def described(store):
    """A store of bodies that may touch, with what scalar code must know of it; others as they are."""
    if store.features.touches:
        describe(store)
    return store


def model_store(features, size):
    floats, integers = model_fields(features, size)
    return described(Store("m", 1, 1, features, floats, integers | (COLUMNS_OF if features.touches else {})))


def state_store(features, size, lanes, groups, dtype=float):
    growing, integers = {}, {}
    if features.touches:
        growing, integers = memory_fields(features) | watch_fields(), COLUMNS_OF
    store = Store("s", lanes, groups, features, state_fields(features, size), integers, dtype, growing)
    for group in range(groups if features.touches else 0):
        store.grow("watched", group, size.n_bodies + 1)
    return described(store)


def scratch_store(features, size, lanes, dtype=float):
    fields, integers, growing = scratch_fields(features, size), {}, {}
    if features.touches:
        integers, growing = scratch_integers(size), growing_fields(features)
    return described(Store("t", lanes, 1, features, fields, integers, dtype, growing))
