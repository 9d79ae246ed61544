"""The fields of the scratch stores of derivatives: those of a step (layout.py), and what linear.py, pullback.py,
joint_bars.py and pushforward.py, or differentials.py, add to them."""

from vigym.engine.kernels.collision.fields import growing_fields, scratch_integers
from vigym.engine.kernels.layout import described, scalars, scratch_fields
from vigym.engine.kernels.store import Store

BAR_AXES = (
    *("effort", "target", "target_velocity", "kp", "kd", "stiffness", "damping", "effort_limit"),
    *("dry_friction", "velocity_limit", "no_load_speed", "armature"),
)
BAR_BODIES = {"force": 3, "torque": 3, "mass": 1, "inertia": 6}
BAR_CONTACTS = {"friction": 1, "compliance": 1, "contact_damping": 1, "offset": 1, "point": 3, "radius": 1}


def gradient_fields(features, size):
    """Fields for derivatives of a step, beside the scratch store: see linear.py, pullback.py and pushforward.py."""
    n, c, a, j, k = size.n_bodies, size.n_contacts, size.n_axes, size.n_joints, size.most_free
    return {
        # lanes that have made one whole step; whether each covector is of another step; whether bars of parameters, and
        # of joint coordinates, are asked for
        **scalars("sound anew by_parameters by_joints"),
        # of the linearised step
        "turning": (n, 3, 3),
        "spun": (n, 3),
        "spin_slope": (n, 3, 3),
        "returns": (n, 3, 3),
        "answer": (c, 3, 3),
        "axis_answer": (a, 2),
        "speed_answer": (a if features.speeds else 0, 2),
        # in: bars of the next state, of joint coordinates there, and of their rates
        "after_bar": (n, 12),
        "angle_after_bar": (a, 1),
        "rate_after_bar": (a, 1),
        # on the way
        **{name: (n + 1, 6) for name in ["y_bar", "lam", "pose_bar", "origin_bar"]},
        "xi_bar": (j, k),
        **{name: (a, 1) for name in ["effort_lam", "tau_bar", "angle_bar"]},
        "answer_bar": (c, 3),
        # out
        "before_bar": (n, 12),
        "root_bar": (n, 12),  # in joint coordinates: of bodies without a joint
        "position_bar": (a, 1),
        "velocity_bar": (a, 1),
        **{f"{name}_bar": (a, 1) for name in BAR_AXES},
        **{f"{name}_bar": (n, size) for name, size in BAR_BODIES.items()},
        **{f"{name}_bar": (c, size) for name, size in BAR_CONTACTS.items()},
        # changes in, of all that has a bar, and out
        "before_dot": (n, 12),
        "after_dot": (n, 12),
        **{f"{name}_dot": (a, 1) for name in ("effort", "target", "target_velocity")},
        **{f"{name}_dot": (n, 3) for name in ("force", "torque")},
    }


def gradient_store(features, size, lanes, dtype=float):
    """A scratch store for derivatives of mechanisms that linear.py knows."""
    return Store("t", lanes, 1, features, scratch_fields(features, size) | gradient_fields(features, size), {}, dtype)


def differential_store(features, size, lanes, seeds):
    """A scratch store for differentials.py, which follows directions of the state and of so many other numbers."""
    n = size.n_bodies
    fields = {
        # lanes whose derivatives are asked for, and that have made one whole step; the phase of a rebound, and whether
        # there is anything left to do
        **scalars("wanted sound number left"),
        "before_dot": (n, 12),
        "seed": (seeds, 1),
        "after_dot": (n, 12),
        "due_dot": (size.n_contacts if features.bounce else 0, 1),  # of impacts whose rebound comes next
    }
    integers = {
        # addresses: of dual stores and of the numbers of the one of states, of the states' own numbers, of seeds; bytes
        # of a group's numbers, and of a number; how many numbers and seeds there are, and of which number each seed is
        **scalars("dual_state dual_scratch dual_numbers states seeds pitch row n_numbers n_seeds"),
        "slot": (seeds,),
    }
    growing = {}
    if features.touches:
        integers, growing = integers | scratch_integers(size), growing_fields(features)
    return described(Store("t", lanes, 1, features, scratch_fields(features, size) | fields, integers, float, growing))
