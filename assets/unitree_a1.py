"""Unitree A1: a walking robot of 12.5 kg, with a trunk and four legs of hip, thigh and calf, and spheres for feet.

The figures below are those of the robot's public description (Unitree's `a1_description`, see docs/models.md): masses,
centres of mass and inertias of the trunk and of the front right leg, each in its own LINK frame, with its origin at
the link's joint and, with all angles zero, the axes of the trunk (x forward, y left, z up). The other legs are mirror
images. In the engine the origin of a body is its centre of mass, so every anchor is `point - com`.
"""

from collections.abc import Sequence

import numpy as np

from vigym.assets import unitree_a1_look as look
from vigym.assets.links import Link, link_of, mirrored, together
from vigym.assets.solid import PASS_EACH_OTHER, TOUCH_EACH_OTHER
from vigym.engine.mechanism import Mechanism
from vigym.engine.validation import Array

LEGS = ("FR", "FL", "RR", "RL")
PARTS = ("hip", "thigh", "calf")  # of a leg, from the trunk outwards; each hangs on a hinge of the same name
EFFORT_LIMIT = 33.5  # N m, every joint
VELOCITY_LIMIT = 21.0  # rad/s, every joint; the engine has no such limit, it is for controllers and rewards
LIMITS = {"hip": (-0.802851, 0.802851), "thigh": (-1.047198, 4.188790), "calf": (-2.696534, -0.916298)}  # rad
KP = (100.0, 80.0, 60.0)  # N m/rad: hip, thigh, calf, from the code of the paper's quadruped
KD = (5.0, 4.0, 3.0)  # N m s/rad
STANDING = np.tile([0.0, 0.8, -1.6], 4)  # rad, in the order of `axis_names`: legs as in LEGS, joints as in PARTS
STANDING.flags.writeable = False

HIP_AT = (0.183, 0.047, 0.0)  # m, in the trunk: x forward or back, y left or right
THIGH_AT = (0.0, 0.08505, 0.0)  # m, in the hip: y left or right
CALF_AT = (0.0, 0.0, -0.2)  # m, in the thigh
FOOT_AT = (0.0, 0.0, -0.2)  # m, in the calf
FOOT_RADIUS = 0.02  # m
AXES = {"hip": (1, 0, 0), "thigh": (0, 1, 0), "calf": (0, 1, 0)}


TRUNK = link_of(
    4.713, (0.012731, 0.002186, 0.000515), 0.01683993, 8.3902e-5, 5.97679e-4, 0.056579028, 2.5134e-5, 0.064713601
)
HIP = link_of(0.696, (-0.003311, -0.000635, 0.000031), 4.69246e-4, 9.409e-6, -3.42e-7, 8.0749e-4, 4.66e-7, 5.52929e-4)
THIGH = link_of(
    1.013, (-0.003237, 0.022327, -0.027326), 0.005529065, -4.825e-6, 3.43869e-4, 0.005139339, -2.2448e-5, 0.001367788
)
CALF = link_of(0.166, (0.006435, 0.0, -0.107388), 0.002997972, 0.0, -1.41163e-4, 0.003014022, 0.0, 3.2426e-5)
FOOT = link_of(0.06, FOOT_AT, 9.6e-6, 0.0, 0.0, 9.6e-6, 0.0, 9.6e-6)


def sides(leg: str) -> tuple[int, int]:
    """Signs of x and y where a leg is: +1 front, -1 rear; +1 left, -1 right."""
    return (1 if leg[0] == "F" else -1), (1 if leg[1] == "L" else -1)


def links(leg: str) -> dict[str, Link]:
    """Hip, thigh and calf of a leg; the calf with the foot, which is fixed to it."""
    front, left = sides(leg)
    return {
        "hip": mirrored(HIP, front, -left),
        "thigh": mirrored(THIGH, 1, -left),
        "calf": mirrored(together(CALF, FOOT), 1, -left),
    }


def joint_positions(leg: str) -> dict[str, Array]:
    """Origins of a leg's link frames, each in the frame of the link before it, m."""
    front, left = sides(leg)
    return {
        "hip": np.array(HIP_AT) * (front, left, 1),
        "thigh": np.array(THIGH_AT) * (1, left, 1),
        "calf": np.array(CALF_AT),
    }


def holding_torques() -> Array:
    """Joint torques (12,), N m, that keep the robot standing (`STANDING`, level) on feet that press straight down.

    The feet share the weight so that its moments about x and y balance (of all ways, the one with the smallest sum
    of squares). A joint then holds up what hangs on it: with its axis a through p, and forces F at points r beyond
    it (weights, and the force on the foot), tau = -a . sum (r - p) x F.
    """
    origins, centres, feet = _standing_points()
    masses = np.array([[part.mass for part in links(leg).values()] for leg in LEGS])
    moments = np.einsum("lp,lpk->k", masses, centres) + TRUNK.mass * TRUNK.com
    rows = np.stack([np.ones(4), feet[:, 0], feet[:, 1]])
    load = np.linalg.pinv(rows) @ [masses.sum() + TRUNK.mass, moments[0], moments[1]]  # kg on each foot
    torques = np.zeros((4, 3))
    for k, axis in enumerate(AXES.values()):
        points = np.concatenate([centres[:, k:], feet[:, None]], axis=1) - origins[:, k : k + 1]
        forces = np.zeros_like(points)
        forces[..., 2] = 9.81 * np.concatenate([-masses[:, k:], load[:, None]], axis=1)
        torques[:, k] = -np.cross(points, forces).sum(axis=1) @ axis
    return torques.ravel()


def build(
    *,
    friction: float = 0.8,
    drive: bool = True,
    kp: Sequence[float] | None = None,
    kd: Sequence[float] | None = None,
    effort_limit: float = EFFORT_LIMIT,
    slope: float = 0.0,
    self_collision: bool = False,
    ground: bool = True,
) -> Mechanism:
    """The robot, standing on the ground: 13 bodies, 12 hinges, 4 contacts; `STANDING` is where it starts.

    Bodies "trunk", "FR hip", "FR thigh", "FR calf", "FL hip", ...; hinges by the name of the link they move; contacts
    "FR foot", .... With all angles zero, every body has the axes of the trunk.

    friction: of the feet, and of what else touches.
    drive: PD drives at the joints; False leaves them to the simulator's `effort`.
    kp, kd: gains of hip, thigh and calf (3,), N m/rad and N m s/rad; None is `KP`, `KD`.
    effort_limit: N m, of each joint.
    slope: rad, of the ground, a plane through the origin that rises along x; the trunk starts parallel to it.
    self_collision: let trunk and legs touch each other; otherwise they pass through each other, but not through what
    is not part of the robot. Links that a hinge connects never touch.
    ground: have the contacts of the feet with the plane; without them, its solids touch ground that is added to it.

    The targets of the drives are those at which it stands at `STANDING` under its weight, which is
    `STANDING + holding_torques() / kp` (of level ground, whatever the slope).
    """
    gains = [(KP if kp is None else kp), (KD if kd is None else kd)] if drive else [np.zeros(3)] * 2
    stiffness, damping = (np.tile(np.broadcast_to(np.asarray(gain, float), (3,)), 4) for gain in gains)
    driven = stiffness > 0  # without a gain, a target has no meaning
    target = np.divide(holding_torques(), stiffness, out=np.zeros(12), where=driven) + STANDING * driven
    _, _, feet = _standing_points()

    m = Mechanism()
    height = FOOT_RADIUS - feet[:, 2].min()
    centre = _pitched(np.add(TRUNK.com, (0, 0, height)), -slope)
    turn, up = (np.cos(slope / 2), 0, -np.sin(slope / 2), 0), (-np.sin(slope), 0, np.cos(slope))
    touch = TOUCH_EACH_OTHER if self_collision else PASS_EACH_OTHER
    shapes, visuals = look.trunk(TRUNK.com)
    m.add_body(
        "trunk",
        TRUNK.mass,
        TRUNK.inertia,
        shapes,
        visuals=visuals,
        position=centre,
        orientation=turn,
        friction=friction,
        **touch,
    )
    for i, leg in enumerate(LEGS):
        parent, parent_com = "trunk", TRUNK.com
        at = joint_positions(leg)
        for k, (part, link) in enumerate(links(leg).items()):
            name, axis = f"{leg} {part}", 3 * i + k
            shapes, visuals = look.leg(part, *sides(leg), link.com)
            m.add_body(name, link.mass, link.inertia, shapes, visuals=visuals, friction=friction, **touch)
            m.add_joint(
                name,
                "revolute",
                parent,
                name,
                axis=AXES[part],
                parent_anchor=at[part] - parent_com,
                child_anchor=-link.com,
                lower=LIMITS[part][0],
                upper=LIMITS[part][1],
                effort_limit=effort_limit,
                kp=stiffness[axis],
                kd=damping[axis],
                target=target[axis],
                start=STANDING[axis],
            )
            parent, parent_com = name, link.com
        if ground:
            foot = FOOT_AT - parent_com
            m.add_contact(f"{leg} foot", parent, foot, radius=FOOT_RADIUS, friction=friction, normal=up)
    return m


def _standing_points() -> tuple[Array, Array, Array]:
    """Joints (4, 3, 3), centres of mass (4, 3, 3), by leg and part, and feet (4, 3), at STANDING, from the trunk, m."""
    origins, centres, feet = np.zeros((4, 3, 3)), np.zeros((4, 3, 3)), np.zeros((4, 3))
    for i, leg in enumerate(LEGS):
        at, pitch = np.zeros(3), 0.0  # hips are level in this pose: all turning is about y
        for k, (part, link) in enumerate(links(leg).items()):
            origins[i, k] = at = at + _pitched(joint_positions(leg)[part], pitch)
            pitch += STANDING[3 * i + k]
            centres[i, k] = at + _pitched(link.com, pitch)
        feet[i] = at + _pitched(np.array(FOOT_AT), pitch)
    return origins, centres, feet


def _pitched(vector: Array, angle: float) -> Array:
    """A vector turned about y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] + s * vector[2], vector[1], c * vector[2] - s * vector[0]])
