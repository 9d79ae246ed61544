"""Contacts between bodies as the last step had them, put back into the slots of other stores: for its derivatives."""

import numpy as np

from vigym.engine.kernels.collision import links, slots
from vigym.engine.kernels.collision.fields import SHAPE, phase_fields
from vigym.engine.kernels.collision.manifold import KEYS
from vigym.engine.kernels.store import Group
from vigym.engine.lanes import Lanes

COUNTS = ("n_slots", "n_near", "n_blocks", "n_links")
TABLES = ("first_link", "link_count", "first_fill", "own_block", "has_own", "order", "sequence", "rank")


def recall_contacts(lanes: Lanes, env: int, m: Group, s: Group, t: Group) -> None:
    """Write the contacts that environment `env` had in its last step into the slots of all lanes of `t`, with their
    links; of real numbers."""
    group, lane = divmod(env, lanes.lanes)
    memory = {name: field[..., lane] for name, field in lanes.memory(group).items()}
    keys = memory["memory_key"][:, 0]
    keys = keys[keys > 0.0]
    t.store.grow("slots", t.index, len(keys))
    t.store.grow("near", t.index, len(keys))
    near, last = -1, -1
    for slot, key in enumerate(keys):
        couple = int((key - 1.0) // KEYS)
        i, j = (int(m.collider_body[which[couple]]) for which in (m.couple_first, m.couple_second))
        if couple != last:
            near, last = near + 1, couple
            t.near_first[near], t.near_second[near], t.near_couple[near] = i, j, couple
        t.pair_contact_body[slot], t.pair_contact_other[slot], t.pair_contact_pair[slot] = i, j, near
        slots.weigh(m, s, t, slot, i, j, 0)
        slots.give_law(m, s, t, slot, couple, 0)
        for name, field in t.store.grown[t.index].items():
            if name.startswith(("pair_", "kept_")) and field.dtype == float and name != "pair_D":
                field[slot] = field[slot, ..., :1]
        t.touch_mass[slot], t.touch_heft[slot] = t.touch_mass[slot, :, :1], t.touch_heft[slot, :, :1]
        t.touch_present[slot], t.touch_new[slot], t.touch_key[slot] = 1.0, 0.0, key
        for name in ("feature", *SHAPE):
            getattr(t, f"touch_{name}")[slot] = memory[f"memory_{name}"][slot][:, None]
        for name in ("ca", "cb", "impulse", *(phase_fields(t.features))):
            getattr(t, f"kept_{name}")[slot] = memory[f"memory_{name}"][slot][:, None]
        if t.features.bounce:  # as it was before the step
            t.kept_struck[slot], t.kept_came[slot] = memory["memory_due"][slot], memory["memory_came"][slot]
    t.n_slots, t.n_near = len(keys), near + 1
    links.order(m, s, t, 0)


def copy_contacts(source: Group, target: Group) -> None:
    """Give a store, of real or complex numbers, the contacts and links that another one has."""
    for kind in target.store.growing:
        target.store.grow(kind, target.index, source.store.capacity[kind][source.index])
    for name, field in source.store.grown[source.index].items():
        target.store.grown[target.index][name][: len(field)] = field
    for name in (*COUNTS, *TABLES):
        np.copyto(
            target.scalars[name] if name in target.scalars else getattr(target, name),
            source.scalars[name] if name in source.scalars else getattr(source, name),
            casting="unsafe",
        )
