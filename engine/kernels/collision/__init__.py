"""Contact and distance of two solids: scalar code, for one pair in one environment at a time.

    space.py       vectors as tuples, solids placed in the world
    distance.py    exact distances, with the points that are nearest
    manifold.py    the features by which two solids may touch in a step; cylinder.py, kinds.py the other kinds
    detect.py      which pairs are near, and the contacts of a lane group; slots.py, poses.py its parts
    groups.py      what an impact connects
    links.py       the order in which bodies that touch are eliminated
    fields.py      what they need in the stores; growth.py, handle.py, entries.py: how compiled code gets at it

A solid is a core, a box of half lengths (hx, hy, hz), with a radius around it: spheres have a point for a core,
capsules a segment along z. Planes have no core; their free side is that of z.
"""
