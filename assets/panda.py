"""Franka Emika Panda: an arm of seven hinges with a hand of two fingers, which move together.

Geometry, limits and efforts are those of Franka's public description (`franka_description`); masses, centres of mass
and inertias those that come with it, identified by Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca (2019); armature,
damping and gains of the hinges those of the model in MuJoCo Menagerie. Figures are in link frames, with z along the
joint. The last link and the hand are one body, "hand".
"""

from collections.abc import Sequence

import numpy as np

from vigym.assets import panda_look as look
from vigym.assets.links import Links, link_of, moved, together
from vigym.assets.solid import PASS_EACH_OTHER, TOUCH_EACH_OTHER
from vigym.engine.mechanism import Mechanism
from vigym.engine.validation import Array

EFFORT_LIMIT = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)  # N m
VELOCITY_LIMIT = (2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61)  # rad/s, for controllers and rewards
LOWER = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)  # rad
UPPER = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
STROKE = 0.04  # m, of each finger
GRIP = 70.0  # N, with which the fingers press at most for long, each
KP = (4500.0, 4500.0, 3500.0, 3500.0, 2000.0, 2000.0, 2000.0)  # N m/rad
KD = (450.0, 450.0, 350.0, 350.0, 200.0, 200.0, 200.0)  # N m s/rad
FINGER_KP, FINGER_KD = 5000.0, 200.0  # N/m and N s/m, of the drive of both fingers together
ARMATURE, DAMPING = 0.1, 1.0  # kg m^2 and N m s/rad (kg and N s/m of the fingers)
HOME = np.array([0.0, 0.0, 0.0, -np.pi / 2, 0.0, np.pi / 2, -np.pi / 4, STROKE, STROKE])  # as `axis_names` orders them
HOME.flags.writeable = False

BACK, FORTH = (1.0, -1.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0)  # quarter turns about x, not normalised
AT = (  # origin, m, and orientation of each link's frame in that of the link before it
    ((0.0, 0.0, 0.333), (1.0, 0.0, 0.0, 0.0)),
    ((0.0, 0.0, 0.0), BACK),
    ((0.0, -0.316, 0.0), FORTH),
    ((0.0825, 0.0, 0.0), FORTH),
    ((-0.0825, 0.384, 0.0), BACK),
    ((0.0, 0.0, 0.0), FORTH),
    ((0.088, 0.0, 0.0), FORTH),
)
FLANGE = 0.107  # m, along z of the last link: where the hand is mounted, turned by -45 degrees
HAND_TURN = (np.cos(np.pi / 8), 0.0, 0.0, -np.sin(np.pi / 8))
FINGER_AT = 0.0584  # m, along z of the hand
GRASP_AT = 0.1034  # m, along z of the hand: the middle between the finger pads

LINKS = (
    link_of(4.970684, (0.003875, 0.002081, -0.04762), 0.70337, -1.39e-4, 6.772e-3, 0.70661, 1.9169e-2, 9.117e-3),
    link_of(0.646926, (-0.003141, -0.02872, 0.003495), 7.962e-3, -3.925e-3, 1.0254e-2, 2.811e-2, 7.04e-4, 2.5995e-2),
    link_of(
        3.228604, (0.027518, 0.039252, -0.066502), 3.7242e-2, -4.761e-3, -1.1396e-2, 3.6155e-2, -1.2805e-2, 1.083e-2
    ),
    link_of(3.587895, (-0.05317, 0.104419, 0.027454), 2.5853e-2, 7.796e-3, -1.332e-3, 1.9552e-2, 8.641e-3, 2.8323e-2),
    link_of(1.225946, (-0.011953, 0.041065, -0.038437), 3.5549e-2, -2.117e-3, -4.037e-3, 2.9474e-2, 2.29e-4, 8.627e-3),
    link_of(1.666555, (0.060149, -0.014117, -0.010517), 1.964e-3, 1.09e-4, -1.158e-3, 4.354e-3, 3.41e-4, 5.433e-3),
    link_of(0.735522, (0.010517, -0.004252, 0.061597), 1.2516e-2, -4.28e-4, -1.196e-3, 1.0027e-2, -7.41e-4, 4.815e-3),
)
HAND = link_of(0.73, (-0.01, 0.0, 0.03), 0.001, 0.0, 0.0, 0.0025, 0.0, 0.0017)
FINGER = link_of(0.015, (0.0, 0.0, 0.0), 2.375e-6, 0.0, 0.0, 2.375e-6, 0.0, 7.5e-7)
LAST = together(LINKS[6], moved(HAND, (0.0, 0.0, FLANGE), HAND_TURN))  # the last link with the hand
GRASP: Array = np.array([0.0, 0.0, FLANGE + GRASP_AT]) - LAST.com  # the middle between the pads, in the body "hand"
GRASP.flags.writeable = False


def build(
    *,
    friction: float = 0.8,
    drive: bool = True,
    kp: Sequence[float] | None = None,
    kd: Sequence[float] | None = None,
    self_collision: bool = False,
) -> Mechanism:
    """The arm on its base, which stands in the world's origin: 9 bodies, 7 hinges, 2 sliders; it starts at `HOME`.

    Bodies and joints "link 1" to "link 6" and "joint 1" to "joint 7", the last body being "hand"; bodies and joints
    "finger 1" and "finger 2". The second finger follows the first one (coupling "fingers"): the coordinate of each is
    its way from the middle, m. The middle between the pads is `GRASP` in the frame of "hand", whose z axis points out.

    friction: of all that touches.
    drive: PD drives on hinges and fingers; False leaves them to the simulator's `effort`.
    kp, kd: gains of the hinges (7,), N m/rad and N m s/rad; None is `KP`, `KD`.
    self_collision: let the links touch each other; otherwise they pass through each other, but not through what is not
    part of the robot. Links that a joint connects never touch.

    The targets of the drives are those at which it stays at `HOME` under its weight. Those of the fingers press each of
    them with up to `GRIP` on what is between them.
    """
    stiffness, damping = (
        np.broadcast_to(np.asarray(gain, float), 7) if drive else np.zeros(7)
        for gain in (KP if kp is None else kp, KD if kd is None else kd)
    )
    solids = TOUCH_EACH_OTHER if self_collision else PASS_EACH_OTHER
    arm = Links(friction=friction, **solids)
    m = arm.mechanism
    m.add_scenery(look.BASE)
    m.add_collider("base", "world", look.BASE_SOLID, friction=friction, **solids)
    parent = "world"
    for k, part in enumerate((*LINKS[:6], LAST)):
        name = f"link {k + 1}" if k < 6 else "hand"
        arm.joint(
            f"joint {k + 1}",
            parent,
            name,
            part,
            look.SOLIDS[k],
            look.VISUALS[k],
            at=AT[k][0],
            turn=AT[k][1],
            start=HOME[k],
            lower=LOWER[k],
            upper=UPPER[k],
            effort_limit=EFFORT_LIMIT[k],
            armature=ARMATURE,
            damping=DAMPING,
            kp=stiffness[k],
            kd=damping[k],
        )
        parent = name
    for k, turn in enumerate((0.0, np.pi)):
        driven = drive and k == 0
        arm.joint(
            f"finger {k + 1}",
            "hand",
            f"finger {k + 1}",
            FINGER,
            look.FINGER_SOLIDS,
            look.FINGER_VISUALS,
            at=(0.0, 0.0, FLANGE + FINGER_AT),
            turn=(np.cos(turn / 2 - np.pi / 8), 0.0, 0.0, np.sin(turn / 2 - np.pi / 8)),
            kind="prismatic",
            axis=(0.0, 1.0, 0.0),
            start=STROKE,
            lower=0.0,
            upper=STROKE,
            effort_limit=2 * GRIP if k == 0 else np.inf,
            armature=ARMATURE,
            damping=DAMPING,
            kp=FINGER_KP if driven else 0.0,
            kd=FINGER_KD if driven else 0.0,
        )
    m.add_coupling("fingers", "finger 2", "finger 1")
    arm.hold(arm.holding_efforts())
    return m
