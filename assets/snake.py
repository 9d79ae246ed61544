"""The paper's chain, which resembles a snake: links in a row, torques at their joints, contacts at their ends.

From the paper: cylindrical links of 1 kg, length 1 m, radius 0.05 m; spherical joints; one contact point at the end of
every link and one more at the start of the first, n + 1 in all; friction 0.2; 2 to 100 links. Ours: hinges as another
kind of joint, about y and z in turn, as snake robots are built.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vigym.assets.solid import PASS_EACH_OTHER, TOUCH_EACH_OTHER
from vigym.engine.errors import MechanismError
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Capsule, Cylinder

MASS, LENGTH, RADIUS = 1.0, 1.0, 0.05  # of a link: kg, m, m
MOST_LINKS = 1000
PEG_RADIUS, PEG_LENGTH = 0.03, 0.3  # m
COLORS = ((0.18, 0.55, 0.34), (0.93, 0.79, 0.28))
PEG_COLOR = (0.55, 0.42, 0.30, 1.0)
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
    self_collision: bool = False,
    pegs: ArrayLike = (),
) -> Mechanism:
    """Bodies "link 0" ... along x, joints "joint 1" ..., contacts "end 0" ...; it starts straight, lying on the ground.

    Every link has its axis along its own x. "joint k" ties link k to link k - 1: a ball joint with three torques, or
    a hinge, about y for odd and about z for even k. "end 0" is the start of link 0, "end k + 1" the end of link k.

    Ends touch the ground; links pass through each other and through whatever is added, unless they have a skin:

    links: 2 to 1000. mass: kg, length, radius: m, of a link.
    effort_limit: N m, of each axis of a joint. stiffness, damping: N m/rad, N m s/rad, spring (towards straight) and
    damper of each axis.
    kp, kd: N m/rad, N m s/rad, PD drive (towards straight, unless told otherwise) of each axis.
    contact_radius: m, of spheres around the ends; 0 are the paper's points on the links' axes, `radius` makes a snake
    that lies on its skin.
    self_collision: let links touch each other that no joint connects. pegs: (n, 2) places of upright pegs, m, that they
    touch. Their skin is a capsule, as long as the link; `length` must be more than twice `radius`.
    """
    if not 2 <= links <= MOST_LINKS:
        raise MechanismError(f"links must be 2 to {MOST_LINKS}, got {links}")
    if joints not in ("ball", "hinge"):
        raise MechanismError(f"joints must be 'ball' or 'hinge', got {joints!r}")
    places = np.reshape(np.asarray(pegs, float), (-1, 2))
    has_skin = self_collision or len(places) > 0
    if has_skin and not length > 2 * radius:
        raise MechanismError(f"links that touch must be longer than thick: length {length:g} m, radius {radius:g} m")
    start, end = (-length / 2, 0, 0), (length / 2, 0, 0)
    touch = TOUCH_EACH_OTHER if self_collision else PASS_EACH_OTHER
    m = Mechanism()
    for k in range(links):
        shape = Cylinder(radius, length, orientation=ALONG_X, color=(*COLORS[k % 2], 1.0))
        place, solid = (k * length, 0, contact_radius), {"collide": False} if has_skin else PASS_EACH_OTHER
        m.add_body(f"link {k}", mass, shapes=[shape], position=place, **solid)
        if has_skin:
            skin = Capsule(radius, length - 2 * radius, orientation=ALONG_X)
            m.add_collider(f"skin {k}", f"link {k}", skin, friction=friction, **touch)
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
    for k, (x, y) in enumerate(places):
        peg = Capsule(PEG_RADIUS, PEG_LENGTH, position=(x, y, 0.5 * PEG_LENGTH), color=PEG_COLOR)
        m.add_collider(f"peg {k}", "world", peg, friction=friction)
    m.add_contact("end 0", "link 0", start, radius=contact_radius, friction=friction)
    for k in range(links):
        m.add_contact(f"end {k + 1}", f"link {k}", end, radius=contact_radius, friction=friction)
    return m
