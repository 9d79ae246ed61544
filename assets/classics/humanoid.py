"""The humanoid of Gymnasium's Humanoid-v5, upright, and of HumanoidStandup-v5, on its back.

A shoulder or the waist has two hinges with perpendicular axes at one point: a universal joint, whose coordinates are
the angles of both. A hip has three: a universal joint and a hinge, with a body of HIP_MASS between them, which MuJoCo's
model does not have.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from vigym.assets.classics.builder import Builder, capsule
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Shape, Sphere, mass_properties

HEIGHT, LYING_HEIGHT = 1.4, 0.105  # m, of the torso at the start
HIP_MASS, HIP_SIZE = 1e-4, 0.1  # kg; m, radius of gyration
MOST = 0.4  # of an action; motors have 100, 300, 200 or 25 N m for one of 1, see GEARS
TILT = (1.0, 0.0, -0.002, 0.0)  # of the waist in the torso, of the pelvis in the waist; to be normalised
# N m for an action of 1, in the order of actions
GEARS = {"abdomen_y": 100.0, "abdomen_z": 100.0, "abdomen_x": 100.0}
for _side in ("right", "left"):
    GEARS |= {f"{_side}_hip_x": 100.0, f"{_side}_hip_z": 100.0, f"{_side}_hip_y": 300.0, f"{_side}_knee": 200.0}
for _side in ("right", "left"):
    GEARS |= {f"{_side}_shoulder1": 25.0, f"{_side}_shoulder2": 25.0, f"{_side}_elbow": 25.0}
# Numbers of MuJoCo's bodies, from 0, the torso
PARTS = ["torso", "lwaist", "pelvis"]
PARTS += [f"{side}_{part}" for side in ("right", "left") for part in ("thigh", "shin", "foot")]
PARTS += [f"{side}_{part}" for side in ("right", "left") for part in ("upper_arm", "lower_arm")]


def shapes_of(lying: bool) -> dict[str, list[Shape]]:
    """Shapes of MuJoCo's bodies, each in its own frame."""
    found: dict[str, list[Shape]] = {
        "torso": [capsule((0, -0.07, 0), (0, 0.07, 0), 0.07)],
        "lwaist": [capsule((0, -0.06, 0), (0, 0.06, 0), 0.06)],
        "pelvis": [capsule((-0.02, -0.07, 0), (-0.02, 0.07, 0), 0.09)],
    }
    if lying:
        found["torso"] += [Sphere(0.09, position=(-0.15, 0, 0)), capsule((0.11, -0.06, 0), (0.11, 0.06, 0), 0.06)]
    else:
        found["torso"] += [
            Sphere(0.09, position=(0, 0, 0.19)),
            capsule((-0.01, -0.06, -0.12), (-0.01, 0.06, -0.12), 0.06),
        ]
    for side, y in (("right", 1), ("left", -1)):
        knee, ankle = ((0.34, 0.01 * y, 0), (0.3, 0, 0)) if lying else ((0, 0.01 * y, -0.34), (0, 0, -0.3))
        found[f"{side}_thigh"] = [capsule((0, 0, 0), knee, 0.06)]
        found[f"{side}_shin"] = [capsule((0, 0, 0), ankle, 0.049)]
        found[f"{side}_foot"] = [Sphere(0.075, position=(0, 0, 0.1))]
        found[f"{side}_upper_arm"] = [capsule((0, 0, 0), (0.16, -0.16 * y, -0.16), 0.04)]
        forearm = capsule((0.01, 0.01 * y, 0.01), (0.17, 0.17 * y, 0.17), 0.031)
        found[f"{side}_lower_arm"] = [forearm, Sphere(0.04, position=(0.18, 0.18 * y, 0.18))]
    return found


def foot_at(lying: bool) -> np.ndarray:
    """Return the origin of the foot's frame in the shin's, to which it is fixed, m."""
    return np.array([0.35, 0.0, -0.1] if lying else [0.0, 0.0, -0.45])


def build(*, lying: bool = False) -> Mechanism:
    """Upright or on its back. Coordinates: those of MuJoCo, but for its order of the abdomen's motors."""
    b, shapes = Builder(touches_itself=True), shapes_of(lying)
    b.ground()
    foot = foot_at(lying)
    height = LYING_HEIGHT if lying else HEIGHT
    b.body("torso", shapes["torso"], at=(0, 0, height))
    for name in ("lwaist", "pelvis"):
        b.body(name, shapes[name])
    waist: dict[str, Any] = {"stiffness": (20.0, 10.0), "damping": 5.0, "armature": 0.02, "effort_limit": 100 * MOST}
    at, below = ((0.21, 0, 0), (0.165, 0, 0)) if lying else ((-0.01, 0, -0.26), (0, 0, -0.165))
    lower, upper = np.radians([[-45, -75], [45, 30]])
    b.joint(
        "abdomen_zy", "universal", "torso", "lwaist", at, pivot=(0, 0, 0.065), turn=TILT,
        axis=(0, 0, 1), axis2=(0, 1, 0), lower=lower, upper=upper, **waist,
    )  # fmt: skip
    limits = np.radians([-35, 35])
    waist["stiffness"] = 10.0
    b.hinge("abdomen_x", "lwaist", "pelvis", below, limits, pivot=(0, 0, 0.1), turn=TILT, axis=(1, 0, 0), **waist)
    for side, y in (("right", 1), ("left", -1)):
        _leg(b, side, y, shapes, foot, lying)
    for side, y in (("right", 1), ("left", -1)):
        _arm(b, side, y, shapes)
    return b.mechanism


def _leg(b: Builder, side: str, y: int, shapes: dict[str, list[Shape]], foot: np.ndarray, lying: bool) -> None:
    """Thigh, and shin with foot; y: 1 for the right one."""
    thigh, shin, hip = f"{side}_thigh", f"{side}_shin", f"{side}_hip"
    b.mechanism.add_body(hip, HIP_MASS, HIP_MASS * HIP_SIZE**2 * np.ones(3), collide=False)
    b.centres[hip] = np.zeros(3)
    b.body(thigh, shapes[thigh])
    b.body(shin, [*shapes[shin], *(_moved(shape, foot) for shape in shapes[f"{side}_foot"])])
    lower, upper = np.radians([[-25, -60], [5, 35]])
    b.joint(
        f"{side}_hip_xz", "universal", "pelvis", hip, (0, -0.1 * y, 0 if lying else -0.04),
        axis=(y, 0, 0), axis2=(0, 0, y), lower=lower, upper=upper, stiffness=10.0, damping=5.0, armature=0.01,
        effort_limit=100 * MOST,
    )  # fmt: skip
    limits = np.radians([-120 if lying and y < 0 else -110, 20])
    armature = 0.008 if y > 0 else 0.01
    b.hinge(
        f"{side}_hip_y", hip, thigh, (0, 0, 0), limits,
        axis=(0, 1, 0), stiffness=20.0, damping=5.0, armature=armature, effort_limit=300 * MOST,
    )  # fmt: skip
    knee = (0.403, 0.01 * y, 0) if lying else (0, 0.01 * y, -0.403)
    limits, stiffness = np.radians([-160, -2]), 0.0 if y > 0 else 1.0
    b.hinge(
        f"{side}_knee", thigh, shin, knee, limits,
        pivot=(0, 0, 0.02), stiffness=stiffness, damping=1.0, armature=0.006, effort_limit=200 * MOST,
    )  # fmt: skip
    b.mechanism.ignore_contact("pelvis", thigh)


def _arm(b: Builder, side: str, y: int, shapes: dict[str, list[Shape]]) -> None:
    """Upper arm, and lower arm with hand; y: 1 for the right one."""
    upper_arm, lower_arm = f"{side}_upper_arm", f"{side}_lower_arm"
    b.body(upper_arm, shapes[upper_arm])
    b.body(lower_arm, shapes[lower_arm])
    low, high = np.radians([-85, 60] if y > 0 else [-60, 85])
    b.joint(
        f"{side}_shoulder", "universal", "torso", upper_arm, (0, -0.17 * y, 0.06),
        axis=(2, y, 1), axis2=(0, -y, 1), lower=low, upper=high,
        stiffness=1.0, damping=1.0, armature=(0.0068, 0.0051), effort_limit=25 * MOST,
    )  # fmt: skip
    limits, elbow = np.radians([-90, 50]), (0.18, -0.18 * y, -0.18)
    b.hinge(
        f"{side}_elbow", upper_arm, lower_arm, elbow, limits,
        axis=(0, -1, y), damping=1.0, armature=0.0028, effort_limit=25 * MOST,
    )  # fmt: skip


def _moved(shape: Shape, by: np.ndarray) -> Shape:
    """A shape elsewhere."""
    return replace(shape, position=tuple(np.asarray(shape.position) + by))


def parts_of(*, lying: bool) -> list[tuple[str, float, np.ndarray, np.ndarray]]:
    """MuJoCo's bodies: the body here that each belongs to, its mass, kg, where its centre of mass is in that body's
    frame, m, and its inertia about it, kg m^2."""
    found, shapes, foot = [], shapes_of(lying), foot_at(lying)
    for name in PARTS:
        mass, centre, inertia = mass_properties(shapes[name], density=1000.0)
        owner = name.replace("foot", "shin")
        whole = shapes[owner] + [_moved(shape, foot) for shape in shapes[name]] if owner != name else shapes[owner]
        if name.endswith("shin"):
            whole = whole + [_moved(shape, foot) for shape in shapes[name.replace("shin", "foot")]]
        shift = foot if owner != name else np.zeros(3)
        found.append((owner, mass, centre + shift - mass_properties(whole, density=1000.0)[1], inertia))
    return found
