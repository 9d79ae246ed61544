"""Limits of joints that other engines do not have."""

from warnings import warn

import numpy as np

from vigym.engine.errors import MechanismWarning
from vigym.engine.mechanism import Mechanism


def leave_out_velocity_limits(mechanism: Mechanism, engine: str) -> None:
    """Warn if joints have velocity limits, which `engine` does not have."""
    limited = [joint.name for joint in mechanism.joints if np.isfinite(joint.velocity_limit).any()]
    if limited:
        names = ", ".join(map(repr, limited[:3])) + (", ..." if len(limited) > 3 else "")
        warn(f"{engine} has no velocity limits: those of joints {names} are left out", MechanismWarning, stacklevel=3)
