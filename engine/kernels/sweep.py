"""Sweeps: functions of one entity run over a mechanism; see `each` in simd.py and the counts in layout.py."""

import functools

from vigym.engine.kernels.simd import block, each

BETWEEN = -1  # kind of a contact between two bodies: not in the table of geometry/

each_body = each("n_bodies")
each_touching_body = each("n_bodies", feature="contacts")
each_near_body = each("n_bodies", feature="touches")
each_joint = each("n_joints", kind="joint_kind")
each_tree_joint = each("n_bodies", kind="joint_kind")
each_loop_joint = each("n_joints", first="n_bodies", kind="joint_kind", feature="loops")
leaf_to_root = each("n_bodies", kind="joint_kind", order=-1)
root_to_leaf = each("n_bodies", kind="joint_kind", order=1)
each_ground_contact = each("n_contacts", kind="contact_kind", plain=True, feature="contact_kinds")
each_slot = each("n_slots", feature="touches", here=True)
each_near_pair = each("n_near", feature="touches", here=True)
each_block = each("n_blocks", feature="touches", here=True)
each_axis = each("n_axes")
each_limited_axis = each("n_axes", feature="limits")
each_piece = each("n_pieces", feature="loops")
each_coupling = each("n_couplings", feature="loops")


class Slots:
    """A store as contacts between bodies see it: what contacts with the ground have as `name`, they have in the slot
    fields of the scratch store, under another name."""

    def __init__(self, store, scratch, prefix, names):
        self.__dict__.update(_store=store, _scratch=scratch, _prefix=prefix, _names=names)

    def __getattr__(self, name):
        return getattr(self._scratch, self._prefix + name) if name in self._names else getattr(self._store, name)

    def __setattr__(self, name, value):
        setattr(self._store, name, value)


def slots(m, s, t):
    """The three stores as contacts between bodies see them."""
    from vigym.engine.kernels.collision.fields import slot_names

    names = slot_names(t.features)
    return [Slots(store, t, prefix, names[prefix]) for store, prefix in ((m, "pair_"), (s, "kept_"), (t, "touch_"))]


def each_contact(function):
    """A function `f(kind, m, s, t, c)` of one contact, called for those with the ground, then those between bodies."""

    @functools.wraps(function)
    def between(m, s, t, c):
        function(BETWEEN, *slots(m, s, t), c)

    between.__qualname__ = f"{function.__qualname__}.between"
    ground, pairs = each_ground_contact(function), each_slot(between)

    @functools.wraps(function)
    def both(m, s, t):
        ground(m, s, t)
        if m.features.touches:
            pairs(m, s, t)

    both.__qualname__ = f"{function.__qualname__}.both"
    return block(both)
