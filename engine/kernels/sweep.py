"""How functions of one entity run over a mechanism; see `each` in simd.py. Sizes are m.size: bodies, contacts, axes."""

from vigym.engine.kernels.simd import each

each_body = each(0)
each_joint = each(0, kinds=True)
leaf_to_root = each(0, kinds=True, order=-1)
root_to_leaf = each(0, kinds=True, order=1)
each_contact = each(1, feature="contacts")
each_axis = each(2)
each_limited_axis = each(2, feature="limits")
