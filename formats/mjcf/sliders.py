"""Tendons of several joints as sliders: a light body on the world, whose coordinate is the tendon's length.

A coupling makes it follow the joints,  y = sum c_d q_d - L_0;  spring, damper, friction, limits and armature of the
tendon are those of the slider's joint, so that they act on all joints, implicitly.
"""

from typing import Any

import numpy as np

from vigym.engine.joint import WORLD, orthonormal_basis
from vigym.engine.mechanism import Mechanism
from vigym.formats.mjcf.build import LIGHT, Axes
from vigym.formats.mjcf.equalities import axis_of
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import names_of
from vigym.formats.mjcf.tendons import arms_of

_SIZE = 0.01  # m: radius of gyration, which nothing depends on


def add_sliders(mechanism: Mechanism, model: Any, tendons: list[int], axes: Axes, notes: Notes) -> None:
    """Add a slider for each of these tendons."""
    names = names_of(model, "tendon", model.ntendon)
    taken = {body.name for body in mechanism.bodies} | {joint.name for joint in mechanism.joints}
    taken |= {coupling.name for coupling in mechanism.couplings}
    across = orthonormal_basis(mechanism.gravity)[0] if mechanism.gravity.any() else np.array([1.0, 0.0, 0.0])
    for t in tendons:
        arms = arms_of(model, t)
        assert arms is not None
        name = f"tendon {names[t]}"
        while name in taken:
            name += "'"
        joints = [j for j in range(model.njnt) if model.jnt_type[j] > 1 and arms[model.jnt_dofadr[j]] != 0.0]
        dofs = model.jnt_dofadr[joints]
        start = float(arms[dofs] @ model.qpos0[model.jnt_qposadr[joints]])  # L_0
        mass = LIGHT * float((model.dof_M0[dofs] / arms[dofs] ** 2).min())
        mechanism.add_body(name, mass, [mass * _SIZE**2] * 3, collide=False)
        laws = {key: float(getattr(model, f"tendon_{key}")[t]) for key in ("stiffness", "damping")}
        laws["friction"] = float(model.tendon_frictionloss[t])
        if model.tendon_limited[t]:
            laws["lower"], laws["upper"] = (float(end) - start for end in model.tendon_range[t])
        mechanism.add_joint(
            name,
            "prismatic",
            WORLD,
            name,
            axis=across,
            rest=float(model.tendon_lengthspring[t, 0]) - start if laws["stiffness"] else 0.0,
            armature=float(model.tendon_armature[t]) if hasattr(model, "tendon_armature") else 0.0,
            **laws,
        )
        ends = [axis_of(model, j, axes, mechanism) for j in joints]
        ratios = [sign * float(arms[d]) for (_, sign), d in zip(ends, dofs, strict=True)]
        mechanism.add_coupling(name, name, [label for label, _ in ends], ratio=ratios)
        notes.other(f"body {name!r} was added: a slider that the tendon moves, with {LIGHT:g} of the inertia it moves")
