"""Actuators of a compiled model as drives of the engine's axes, and controls for them.

The force of an actuator is  f = gain ctrl + b0 + b1 length + b2 rate,  cut to its range, and acts on the velocities by
its arms T: T^T f, with length = T qpos. What an axis feels of its own position and rate is a drive, which the engine
treats implicitly: kp = -b1 T^2, kd = -b2 T^2. What it feels of others (fixed tendons of several joints) and the
constant part are given in each step, by `controls`. Where an actuator has an activation (activations.py), that takes
the place of ctrl.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vigym.engine.rotation import cross, rotate
from vigym.engine.validation import Array
from vigym.formats.mjcf.activations import Dynamics, has_known_dynamics, read_dynamics
from vigym.formats.mjcf.chains import BALL, FREE, HINGE, SLIDE
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import Rigid, names_of
from vigym.formats.mjcf.tendons import arms_of
from vigym.formats.urdf.parts import Pose

_JOINT, _IN_PARENT, _TENDON, _SITE = 0, 1, 3, 4  # mjtTrn
_FIXED_GAIN, _NO_BIAS, _AFFINE_BIAS = 0, 0, 1


@dataclass(eq=False)
class Thruster:
    """Wrench of an actuator on a body, for a force of 1: force and torque in the frame of the mechanism's body."""

    actuator: int
    body: str
    force: Array
    torque: Array


@dataclass(eq=False)
class Actuators:
    """Actuators in MuJoCo's coordinates. Arrays have a row for each control (nu), or a number for each velocity (nv).

    arms: T (nu, nv). gain, bias (nu, 3). control_range, force_range (nu, 2).
    kp, kd, limit, armature, damping: of drives (nv,). torque_range (nv, 2): of the sum on an axis without a drive.
    thrusters: actuators that push bodies. dynamics: their activations, if some have one.
    """

    names: list[str]
    arms: Array
    gain: Array
    bias: Array
    control_range: Array
    force_range: Array
    kp: Array
    kd: Array
    limit: Array
    armature: Array
    damping: Array
    torque_range: Array
    thrusters: list[Thruster] = field(default_factory=list)
    dynamics: Dynamics | None = None

    @property
    def cross(self) -> Array:
        """True if stiffness and damping (nu, 2) of an actuator couple several axes."""
        return ((self.arms != 0.0).sum(1) > 1)[:, None] & (self.bias[:, 1:] != 0.0)

    def forces(self, ctrl: Array) -> Array:
        """The part of the forces (..., nu) that does not depend on the state; cut to its range where it is all."""
        ctrl = np.clip(ctrl, self.control_range[:, 0], self.control_range[:, 1])
        forces = self.gain * ctrl + self.bias[:, 0]
        alone = ~self.bias[:, 1:].any(1)
        cut = np.clip(forces, self.force_range[:, 0], self.force_range[:, 1])
        return np.where(alone, cut, forces)

    def efforts(self, forces: Array, qpos: Array | None, qvel: Array | None) -> Array:
        """Generalized forces (..., nv) but for what drives add; qpos (..., nv) are the coordinates of scalar joints."""
        efforts = forces @ self.arms
        if self.cross.any():
            assert qpos is not None
            assert qvel is not None
            b1, b2 = (np.where(self.cross[:, k], self.bias[:, k + 1], 0.0) for k in (0, 1))
            for b, values in ((b1, qpos), (b2, qvel)):
                efforts = efforts + (b * (values @ self.arms.T)) @ self.arms - values * (b @ self.arms**2)
        free = (self.kp == 0.0) & (self.kd == 0.0)
        cut = np.clip(efforts, self.torque_range[:, 0], self.torque_range[:, 1])
        return np.where(free, cut, efforts)


def read_actuators(model: Any, rigid: Rigid, notes: Notes) -> Actuators:
    """All actuators of a model; those that are refused have no arms."""
    n, nv = model.nu, model.nv
    arms, thrusters = np.zeros((n, nv)), []
    names = names_of(model, "actuator", n) if model.nu == getattr(model, "nactuator", model.nu) else []
    if len(names) != n:
        notes.refuse("actuators with several controls")
        names = [f"control {i}" for i in range(n)]
        return _empty(names, nv)
    for i, name in enumerate(names):
        if _refused(model, i, name, notes):
            continue
        thruster = _transmission(model, rigid, i, name, arms[i], notes)
        if thruster is not None:
            thrusters.append(thruster)
    gain = model.actuator_gainprm[:, 0].copy()
    bias = np.where(model.actuator_biastype[:, None] == _AFFINE_BIAS, model.actuator_biasprm[:, :3], 0.0)
    for i in np.flatnonzero((bias[:, 1:] > 0.0).any(1)).tolist():
        notes.refuse(f"actuator {names[i]!r}: a bias that grows with position or velocity")
        bias[i, 1:] = np.minimum(bias[i, 1:], 0.0)
    endless = np.array([-np.inf, np.inf])
    control_range = np.where(model.actuator_ctrllimited[:, None] != 0, model.actuator_ctrlrange, endless)
    dynamics = read_dynamics(model, names, control_range, notes)
    if dynamics is not None:
        control_range = dynamics.range  # which `forces` cuts the activations to
    force_range = np.where(model.actuator_forcelimited[:, None] != 0, model.actuator_forcerange, endless)
    kp, kd = -bias[:, 1] @ arms**2, -bias[:, 2] @ arms**2
    limit, torque_range = _limits(model, names, arms, bias, force_range, notes)
    own = [np.asarray(getattr(model, f"actuator_{key}", np.zeros(n))) for key in ("armature", "damping")]
    for key, values in zip(("armature", "damping"), own, strict=True):
        if ((values != 0.0) & ((arms != 0.0).sum(1) > 1)).any():
            notes.refuse(f"{key} of actuators that act on several joints")
    return Actuators(
        names,
        arms,
        gain,
        bias,
        control_range,
        force_range,
        kp,
        kd,
        limit,
        own[0] @ arms**2,
        own[1] @ arms**2,
        torque_range,
        thrusters,
        dynamics,
    )


def _empty(names: list[str], nv: int) -> Actuators:
    n, endless = len(names), np.array([-np.inf, np.inf])
    zero = np.zeros(nv)
    ranges = np.tile(endless, (n, 1))
    return Actuators(
        names,
        np.zeros((n, nv)),
        np.zeros(n),
        np.zeros((n, 3)),
        ranges,
        ranges,
        zero,
        zero,
        np.full(nv, np.inf),
        zero,
        zero,
        np.tile(endless, (nv, 1)),
    )


def _refused(model: Any, i: int, name: str, notes: Notes) -> bool:
    """Return whether an actuator is of a kind that is not converted."""
    what = ""
    if not has_known_dynamics(model, i):
        what = "activation dynamics of muscles, motors or plugins"
    elif model.actuator_gaintype[i] != _FIXED_GAIN or model.actuator_biastype[i] not in (_NO_BIAS, _AFFINE_BIAS):
        what = "a gain or bias that is neither constant nor affine"
    elif np.any(getattr(model, "actuator_delay", np.zeros(model.nu))[i]):
        what = "a delay"
    if what:
        notes.refuse(f"actuator {name!r}: {what}")
    return bool(what)


def _transmission(model: Any, rigid: Rigid, i: int, name: str, arms: Array, notes: Notes) -> Thruster | None:
    """Fill in the arms of an actuator, or return its wrench on a body."""
    kind, target = model.actuator_trntype[i], model.actuator_trnid[i, 0]
    gear = model.actuator_gear[i].copy()
    has_bias = model.actuator_biastype[i] == _AFFINE_BIAS and model.actuator_biasprm[i, 1:3].any()
    if kind in (_JOINT, _IN_PARENT):
        d, joint = model.jnt_dofadr[target], model.jnt_type[target]
        if joint in (HINGE, SLIDE):
            arms[d] = gear[0]
            return None
        if has_bias or kind == _IN_PARENT:
            notes.refuse(f"actuator {name!r}: a servo, or the parent's frame, on a ball or free joint")
        elif joint == BALL:
            arms[d : d + 3] = gear[:3]
        elif joint == FREE:
            body = model.jnt_bodyid[target]
            notes.refuse(f"actuator {name!r}: it pushes the free body {rigid.name(body)!r} in world axes")
        return None
    if kind == _TENDON:
        coefficients = arms_of(model, target)
        if coefficients is None:
            notes.refuse(f"actuator {name!r}: a spatial tendon")
        else:
            arms += gear[0] * coefficients
        return None
    if kind == _SITE and model.actuator_trnid[i, 1] < 0 and not has_bias:
        body = model.site_bodyid[target]
        if rigid.leader[body] == 0:
            return None
        pose = rigid.place(body, Pose(model.site_pos[target], model.site_quat[target]))
        force, torque = rotate(pose.orientation, gear[:3]), rotate(pose.orientation, gear[3:])
        return Thruster(i, rigid.name(body), force, torque + cross(pose.position, force))
    notes.refuse(f"actuator {name!r}: its transmission (slider-crank, body, site with a reference, ...)")
    return None


def _limits(
    model: Any, names: list[str], arms: Array, bias: Array, force_range: Array, notes: Notes
) -> tuple[Array, Array]:
    """Effort limits of the axes that drives act on (nv,), and ranges of the sum on all others (nv, 2)."""
    limit, torque_range = np.full(model.nv, np.inf), np.tile([-np.inf, np.inf], (model.nv, 1))
    for j in np.flatnonzero(model.jnt_actfrclimited):
        d = model.jnt_dofadr[j]
        torque_range[d] = model.jnt_actfrcrange[j]
        limit[d] = np.abs(model.jnt_actfrcrange[j]).max()
    servo = bias[:, 1:].any(1)
    for d in np.flatnonzero((arms[servo] != 0.0).any(0)):
        acting = np.flatnonzero(arms[:, d])
        own = np.abs(arms[acting, d]) * np.abs(force_range[acting]).max(1)
        uneven = [names[i] for i in acting if np.isfinite(force_range[i]).any() and force_range[i].sum() != 0.0]
        if uneven:
            notes.change(f"actuator {uneven[0]!r}: its force range is taken as symmetric, at its larger end")
        if len(acting) > 1 and np.isfinite(own).any():
            notes.change(f"actuator {names[acting[0]]!r} shares a joint: the sum of their forces is cut, not each")
        limit[d] = min(limit[d], own.sum())
    return np.where(limit > 0.0, limit, 1e-300), torque_range
