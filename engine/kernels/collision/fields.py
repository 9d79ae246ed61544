"""Fields of the three stores for bodies that may touch each other; layout.py has the others."""

from vigym.engine.kernels.collision.handle import NAMES
from vigym.engine.kernels.collision.manifold import COLUMNS, FOUND
from vigym.engine.kernels.collision.poses import LOOKS
from vigym.engine.kernels.cone import CONES
from vigym.engine.kernels.store import Growing

SHAPE = ("code", "swap", "radius", "rim", "firm")  # of a feature, beside its points and directions, see between.py
STRUCK = ("struck", "came", "due")  # of an impact that calls for a rebound, see impact.py
PHASES = ("settled", "steady")
BITS = 62  # of an integer that are used
COLUMNS_OF = {"columns_of": (2 * len(NAMES),)}  # see handle.py


def collider_fields(size):
    """Numbers of the model store."""
    n, solids = size.n_bodies, size.n_colliders
    return {
        # of solids in their body's frame: centre; rotation; half lengths of the core, and the radius around it;
        # radius of a ball around the centre
        "collider_place": (solids, 3),
        "collider_turn": (solids, 9),
        "collider_size": (solids, 4),
        "collider_bound": (solids, 1),
        # of couples: numbers of their own, or -1 where those of the colliders count
        **dict.fromkeys(
            ("couple_friction", "couple_restitution", "couple_compliance", "couple_damping"), (size.n_couples, 1)
        ),
        "ground_numbers": (size.ground_numbers, 1),  # see terrain.py
        "hull_numbers": (size.hull_numbers, 1),  # see polytope.py
        # of a body: 1 if it may meet others of its own part, or other things, see motion_bounds.py
        "watched": (n + 1, 2),
        "reach": (n + 1, 2),  # of a body: as far as its solids go from the centre of mass; the smallest one's size
        "usual": (n, 6),  # see model.usual_sizes
        "wedged": (n + 1, 1),  # 1 for bodies that are held to the world, or between other things
    }


def collider_integers(size):
    """Integers of the model store."""
    n = size.n_bodies
    return {
        "collider_body": (size.n_colliders,),
        "collider_kind": (size.n_colliders,),
        "collider_ground": (size.n_colliders,),  # first integer of ground of triangles, see terrain.py
        "ground_integers": (size.ground_integers,),
        "collider_hull": (size.n_colliders,),  # first integer of what has many faces, see polytope.py
        "hull_integers": (size.hull_integers,),
        "couple_first": (size.n_couples,),
        "couple_second": (size.n_couples,),
        # nodes of Newton's matrix (bodies; from n + 1 on, loops) as they are eliminated without own_order
        "usual_sequence": (n + size.n_loops,),
        "bounces": (),  # 1 if anything has a restitution
        "own_order": (),  # 1 if bodies are eliminated in an order that follows what touches, see links.py
        "watch_root": (n + 1,),  # the body from which a body's motion is seen in its part; n if it is the world
    }


def impact_fields(size):
    """Numbers of the scratch store for impacts between bodies, see groups.py: velocity and acceleration of bodies, and
    of the world, before the step; sums over all that contacts and joints connect."""
    n = size.n_bodies
    return {"before": (n + 1, 9)} | {f"whole_{name}": (n, 1) for name in ("energy", "energy0", "work", "budget")}


def near_fields(size):
    """Numbers of the scratch store, but for those that grow."""
    n = size.n_bodies
    return {
        # velocities, also of the world; how far bodies are assumed to move, and at least; features that were found,
        # and how many; lanes whose bodies moved farther, or into each other
        "speed": (n + 1, 3),
        "assumed": (n + 1, 1),
        "farther": (n, 1),
        "found": (FOUND, COLUMNS),
        "counts": (1, 1),
        "found_V": (n, 6 * LOOKS),  # velocities of solutions in which bodies went into each other; see `look`
        **dict.fromkeys(("missed", "pierced", "look", "added", "gone", "stale", "head"), ()),
        # see motion_bounds.py: poses from where their part begins; how far they have moved since distances were kept
        "seen_x": (n, 3),
        "seen_q": (n, 4),
        "shifted": (n + 1, 2),
        "centre": (size.n_colliders, 3),  # of solids, in the world
    }


def watch_fields():
    """Fields for kept distances; each lane has a list of its own (watch.py). A couple's number is n_couples at the end
    of a list; bounds of its distance when the list was made, and in this step. Then, block by block of bodies, where
    they were, from where their part begins and from the world; and how far they may move until the list is made anew.
    """
    couples: dict[str, tuple[int, ...]] = dict.fromkeys(("watch_couple", "watch_room", "watch_now"), (1,))
    poses: dict[str, tuple[int, ...]] = {"near_x": (3,), "near_q": (4,), "far_x": (3,), "far_q": (4,), "margin": (1,)}
    return {"watch": Growing(couples), "watched": Growing(poses)}


def memory_fields(features):
    """Memory of contacts between bodies, one block a contact; each lane has a list of its own: the key that tells them
    apart (0 at the end of a list), pairs, impulse; point, normal and gap at the end of the step; the feature, for
    derivatives of the step; for impacts, see impact.py."""
    cone_pairs = CONES[features.cone].PAIRS
    floats = {"key": (1,), "ca": (cone_pairs,), "cb": (cone_pairs,), "impulse": (3,)}
    floats |= {"point": (3,), "normal": (3,), "gap": (1,), "feature": (12,)} | dict.fromkeys(SHAPE, (1,))
    if features.bounce:
        floats |= dict.fromkeys(STRUCK, (1,)) | phase_fields(features)
    return {"memory": Growing({f"memory_{name}": shape for name, shape in floats.items()})}


def phase_fields(features):
    """Unknowns of a contact in the first two phases of an impact, see impact.py."""
    shape = (CONES[features.cone].PAIRS,)
    return {f"{phase}_{name}": shape for phase in PHASES for name in ("ca", "cb")} if features.bounce else {}


def slot_fields(features):
    """Fields of contacts between bodies, by the prefix under which they stand beside those of the model, the state and
    the scratch that contacts with the ground have (sweep.Slots); and what only they have."""
    cone_pairs = CONES[features.cone].PAIRS
    one = ("contact_force_scale", "contact_weight", "contact_acceleration", "sags", "joined_weight", "joined_mass")
    own = {"feature": (12,), "place": (3,), "rows": (3, 6), "axes": (3, 3), "core0": (3,), "ci": (cone_pairs + 2,)}
    own |= {"seen": (6,)}  # point and normal at the end of the step
    flags = (
        *("code", "swap", "present", "new", "radius", "rim", "firm", "key", "heft", "mass", "gap"),
        *("give", "sunk", "usual_force", "grip", "lent", "astray"),
    )
    kept = {"ca": (cone_pairs,), "cb": (cone_pairs,), "impulse": (3,)}
    kept |= dict.fromkeys(("friction", "compliance", "contact_damping"), (1,))
    if features.bounce:
        kept |= dict.fromkeys((*STRUCK, "restitution"), (1,)) | phase_fields(features)
        own |= {"given": (1,), "ample": (2,)}
    return {
        "pair_": dict.fromkeys(one, (1,)),
        "kept_": kept,
        "touch_": own
        | dict.fromkeys(flags, (1,))
        | dict.fromkeys(("ca", "cb", "cr", "cda", "cdb", "cdd", "ck"), (cone_pairs,)),
    }


NEAR = (
    *("near_first", "near_second", "near_couple", "near_out", "near_in"),
    *("first_after", "second_after"),  # chains of links.py
    *("drawn_first", "drawn_second"),  # the near pairs for which there are links
)
SLOT_INTEGERS = ("contact_body", "contact_other", "contact_pair")


def slot_names(features):
    """Names that contacts between bodies have in their slots, by prefix."""
    names = {prefix: set(fields) for prefix, fields in slot_fields(features).items()}
    names["pair_"] |= set(SLOT_INTEGERS)
    return names


def growing_fields(features):
    """Fields of the scratch store that grow: slots; near pairs; blocks, links and fill of the elimination; contacts in
    the phases of an impact, one block a contact, by key as in the memory."""
    slots = {f"{prefix}{name}": shape for prefix, part in slot_fields(features).items() for name, shape in part.items()}
    return {
        "slots": Growing(slots, tuple(f"pair_{name}" for name in SLOT_INTEGERS)),
        "near": Growing({"pair_D": (6, 6)}, NEAR),
        "blocks": Growing({"B": (6, 6)}),
        "links": Growing(
            {"Z": (6, 6), "BS": (6, 6)},
            ("link_body", "link_out", "link_in", "up_out", "up_in"),
        ),
        "fills": Growing({}, ("fill",)),
        "phases": Growing({"phase_key": (1,)} | {f"phase_{name}": of for name, of in phase_fields(features).items()}),
    }


def scratch_integers(size):
    """Integers of the scratch store: counts and tables of links.py, addresses."""
    n = size.n_bodies
    counts = dict.fromkeys(("n_slots", "n_near", "n_blocks", "n_links", "n_drawn", "thread"), ())
    links = (
        "first_link",
        "link_count",
        "first_fill",
        "own_block",
        "has_own",
        "edge_chain",
        "heirs",
        "next_heir",
        "seen",
    )
    orders = {
        "order": (n,),  # bodies, parents first; the opposite of the order of elimination
        "sequence": (n + size.n_loops,),  # nodes as they are eliminated, and their places there
        "rank": (n + 1 + size.n_loops,),
        # bodies that are linked with each body, as bits
        "linked_with": (n * (n // BITS + 1) if size.own_order else 1,),
        "children_left": (n,),
    }
    by_node = dict.fromkeys(links, (n + 1 + size.n_loops,))
    # addresses of what is called for more room (collision/growth.py), and of collision/entries.py
    addresses = {"more": (), "entries": (8,)}
    return counts | orders | by_node | addresses | {"joined": (n,)} | COLUMNS_OF
