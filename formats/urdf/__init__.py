"""Robots from URDF files: `load_urdf` gives the mechanism, `read_urdf` also what a mechanism does not hold.

xml -> parts -> tree (fixed links merged, inertias) -> build (bodies, joints, contacts); docs/urdf.md is the manual.
"""

from vigym.formats.urdf.loader import UrdfModel, load_urdf, read_urdf
from vigym.formats.urdf.xml import UrdfError, UrdfWarning

__all__ = ["UrdfError", "UrdfModel", "UrdfWarning", "load_urdf", "read_urdf"]
