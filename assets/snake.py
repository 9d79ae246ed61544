"""The paper's chain, which resembles a snake: links in a row, torques at their joints, contacts at their ends.

From the paper: cylindrical links of 1 kg, length 1 m, radius 0.05 m; spherical joints; one contact point at the end of
every link and one more at the start of the first, n + 1 in all; friction 0.2; 2 to 100 links. Ours: hinges as another
kind of joint, about y and z in turn, as snake robots are built.
"""

from typing import Literal

import numpy as np

from vigym.assets.solid import PASS_EACH_OTHER
from vigym.engine.errors import MechanismError
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder

MASS, LENGTH, RADIUS = 1.0, 1.0, 0.05  # of a link: kg, m, m
MOST_LINKS = 1000
COLORS = ((0.18, 0.55, 0.34), (0.93, 0.79, 0.28))
ALONG_X = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)  # turns the z axis of a cylinder to x


def build(
    *,
    links: int = 10,
    mass: float = MASS,
    length: float = LENGTH,
    radius: float = RADIUS,
    friction: float = 0.2,
    joints: Literal["ball", "hinge"] = "ball",
    effort_limit: float = np.inf,
    stiffness: float = 0.0,
    damping: float = 0.0,
    kp: float = 0.0,
    kd: float = 0.0,
    contact_radius: float = 0.0,
) -> Mechanism:
    """Bodies "link 0" ... along x, joints "joint 1" ..., contacts "end 0" ...; it starts straight, lying on the ground.

    Every link has its axis along its own x. "joint k" ties link k to link k - 1: a ball joint with three torques, or
    a hinge, about y for odd and about z for even k. "end 0" is the start of link 0, "end k + 1" the end of link k.

    The links pass through each other.

    links: 2 to 1000. mass: kg, length, radius: m, of a link.
    effort_limit: N m, of each axis of a joint. stiffness, damping: N m/rad, N m s/rad, spring (towards straight) and
    damper of each axis.
    kp, kd: N m/rad, N m s/rad, PD drive (towards straight, unless told otherwise) of each axis.
    contact_radius: m, of spheres around the ends; 0 are the paper's points on the links' axes, `radius` makes a snake
    that lies on its skin.
    """
    if not 2 <= links <= MOST_LINKS:
        raise MechanismError(f"links must be 2 to {MOST_LINKS}, got {links}")
    if joints not in ("ball", "hinge"):
        raise MechanismError(f"joints must be 'ball' or 'hinge', got {joints!r}")
    start, end = (-length / 2, 0, 0), (length / 2, 0, 0)
    m = Mechanism()
    for k in range(links):
        shape = Cylinder(radius, length, orientation=ALONG_X, color=(*COLORS[k % 2], 1.0))
        m.add_body(f"link {k}", mass, shapes=[shape], position=(k * length, 0, contact_radius), **PASS_EACH_OTHER)
        if k:
            m.add_joint(
                f"joint {k}",
                "spherical" if joints == "ball" else "revolute",
                f"link {k - 1}",
                f"link {k}",
                axis=(0, 1, 0) if k % 2 else (0, 0, 1),
                parent_anchor=end,
                child_anchor=start,
                effort_limit=effort_limit,
                stiffness=stiffness,
                damping=damping,
                kp=kp,
                kd=kd,
            )
    m.add_contact("end 0", "link 0", start, radius=contact_radius, friction=friction)
    for k in range(links):
        m.add_contact(f"end {k + 1}", f"link {k}", end, radius=contact_radius, friction=friction)
    return m
