"""The paper's hopper in space: a sphere that slides along a pole, and jumps by pushing the pole down.

From the paper: sphere 1 kg, radius 0.1 m; pole 0.2 kg, length 0.8 m, radius 0.05 m; actuated prismatic joint; torque on
the sphere about all three axes (flywheels would give it); a contact point at the pole's lower end, friction 0.2.
Ours: the stroke, which leaves the sphere on the pole, and the limit of the force.
"""

from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder, Sphere

SPHERE_MASS, SPHERE_RADIUS = 1.0, 0.1  # kg, m
POLE_MASS, POLE_LENGTH, POLE_RADIUS = 0.2, 0.8, 0.05  # kg, m, m
STROKE = (0.0, 0.3)  # m: from the sphere at the middle of the pole to the sphere at its upper end
FORCE_LIMIT = 60.0  # N, five times the weight
# N m, about each axis of the sphere, for environments to keep; the weight of the hopper lying flat turns it about its
# foot with 1.2 kg 9.81 m/s^2 0.4 m = 4.7 N m
TORQUE_LIMIT = 5.0


def build(
    *,
    friction: float = 0.2,
    sphere_mass: float = SPHERE_MASS,
    sphere_radius: float = SPHERE_RADIUS,
    pole_mass: float = POLE_MASS,
    pole_length: float = POLE_LENGTH,
    pole_radius: float = POLE_RADIUS,
    stroke: tuple[float, float] = STROKE,
    force_limit: float = FORCE_LIMIT,
    kp: float = 0.0,
    kd: float = 0.0,
) -> Mechanism:
    """Bodies "sphere" and "pole", joint "leg", contact "foot"; it starts upright on the ground, on its lower stop.

    The coordinate of "leg" is how far the middle of the pole is below that of the sphere, m; effort on it pushes the
    pole down. The torque on the sphere is no joint's: it is the simulator's `torque=`, at index 0, in the sphere's
    frame, and whoever applies it keeps to `TORQUE_LIMIT`. On its point of a foot the hopper balances only if that
    torque holds it.

    sphere_mass, pole_mass: kg; sphere_radius, pole_length, pole_radius: m.
    stroke: range of the leg's coordinate, m. force_limit: N, of the leg.
    kp, kd: PD drive of the leg, N/m and N s/m, towards the lower stop until `target=` says otherwise; 0 leaves it to
    the simulator's `effort`.
    """
    lower, upper = stroke
    m = Mechanism()
    m.add_body(
        "sphere",
        sphere_mass,
        shapes=[Sphere(sphere_radius, color=(0.85, 0.33, 0.1, 1.0))],
        position=(0, 0, pole_length / 2 + lower),
    )
    m.add_body("pole", pole_mass, shapes=[Cylinder(pole_radius, pole_length, color=(0.25, 0.35, 0.55, 1.0))])
    m.add_joint(
        "leg",
        "prismatic",
        "sphere",
        "pole",
        axis=(0, 0, -1),
        lower=lower,
        upper=upper,
        effort_limit=force_limit,
        kp=kp,
        kd=kd,
        target=lower if kp > 0.0 else 0.0,
        start=lower,
    )
    m.add_contact("foot", "pole", (0, 0, -pole_length / 2), friction=friction)
    return m
