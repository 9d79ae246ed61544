"""Features of a file that a mechanism cannot have: refused, or left out and reported."""

from typing import Any

import numpy as np

from vigym.formats.mjcf.source import MjcfError


class Notes:
    """Remarks on a model that is being converted.

    name: of the file. omit: leave out what would be refused. changes: what alters the motion; others: what does not.
    """

    def __init__(self, name: str, omit: bool) -> None:
        self.name, self.omit = name, omit
        self.changes: list[str] = []
        self.others: list[str] = []

    def refuse(self, what: str) -> None:
        """MjcfError that names a feature; a remark if such are left out."""
        if not self.omit:
            raise MjcfError(f"{self.name}: {what}: not converted; leave it out with unsupported='omit'")
        self.change(f"{what}: left out")

    def change(self, text: str) -> None:
        """Tell what alters the motion, once."""
        if text not in self.changes:
            self.changes.append(text)

    def other(self, text: str) -> None:
        """Tell what does not alter the motion, once."""
        if text not in self.others:
            self.others.append(text)


def check_features(model: Any, notes: Notes) -> None:
    """Refuse features of the whole model that a mechanism cannot have, and tell of those that are not read."""
    opt = model.opt
    if opt.density > 0.0 or opt.viscosity > 0.0 or np.any(opt.wind):
        notes.refuse("fluid drag (option density, viscosity, wind)")
    for field, what in (
        ("nflex", "flexible bodies (flex)"),
        ("nplugin", "plugins"),
    ):
        if getattr(model, field, 0):
            notes.refuse(what)
    for field, what in (
        ("jnt_springyield", "plastic springs (springyield)"),
        ("jnt_stiffnesspoly", "nonlinear springs of joints"),
        ("dof_dampingpoly", "nonlinear dampers of joints"),
        ("geom_adhesion", "adhesion of geoms"),
        ("geom_surfacevel", "moving surfaces (surfacevel)"),
        ("actuator_dampingpoly", "nonlinear dampers of actuators"),
    ):
        if np.any(getattr(model, field, 0)):
            notes.refuse(what)
    if np.any(model.geom_fluid) and (opt.density > 0.0 or opt.viscosity > 0.0):
        notes.refuse("fluid forces on geoms (fluidshape)")
    notes.other("solref, solimp, margin, gap, impratio and the solver's options are not read: contacts are hard")
    if number := getattr(model, "nskin", 0):
        notes.other(f"{number} skins: not read")
