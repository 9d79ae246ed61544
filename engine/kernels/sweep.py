"""Sweeps: functions of one entity run over a mechanism; see `each` in simd.py and the counts in layout.py."""

from vigym.engine.kernels.simd import each

each_body = each("n_bodies")
each_touching_body = each("n_bodies", feature="contacts")
each_joint = each("n_joints", kind="joint_kind")
each_tree_joint = each("n_bodies", kind="joint_kind")
each_loop_joint = each("n_joints", first="n_bodies", kind="joint_kind", feature="loops")
leaf_to_root = each("n_bodies", kind="joint_kind", order=-1)
root_to_leaf = each("n_bodies", kind="joint_kind", order=1)
each_contact = each("n_contacts", kind="contact_kind", plain=True, feature="contacts")
each_axis = each("n_axes")
each_limited_axis = each("n_axes", feature="limits")
each_piece = each("n_pieces", feature="loops")
each_coupling = each("n_couplings", feature="loops")
