"""How functions of one entity run over a mechanism; see `each` in simd.py.

m.size holds the numbers of bodies, contacts, axes, joints (a joint per body, to its parent, then those that close
loops), loops, pieces of loops and couplings of loops (loop.py).
"""

from vigym.engine.kernels.simd import each

BODIES, CONTACTS, AXES, JOINTS, LOOPS, PIECES, COUPLINGS = range(7)

each_body = each(BODIES)
each_joint = each(JOINTS, kinds=True)
each_tree_joint = each(BODIES, kinds=True)
each_loop_joint = each(JOINTS, first=BODIES, kinds=True, feature="loops")
leaf_to_root = each(BODIES, kinds=True, order=-1)
root_to_leaf = each(BODIES, kinds=True, order=1)
each_contact = each(CONTACTS, feature="contacts")
each_axis = each(AXES)
each_limited_axis = each(AXES, feature="limits")
each_piece = each(PIECES, feature="loops")
each_coupling = each(COUPLINGS, feature="loops")
