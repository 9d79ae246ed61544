"""The place of a contact, whatever the shapes are."""

from typing import Any, NamedTuple

from vigym.engine.kernels.quaternion import scale, sub


class Touch(NamedTuple):
    """A core point with a radius, and the surface next to it. World frame; lists of numbers.

    gap: distance of the two surfaces, m
    axes: n out of the surface, t1, t2 along it; orthonormal
    core: from the body's centre of mass to the core point, m
    radius: around the core point, m
    """

    gap: Any
    axes: list
    core: list
    radius: Any

    @property
    def arm(self) -> list:
        """Vector from the body's centre of mass to the point that touches: core - radius n."""
        return sub(self.core, scale(self.radius, self.axes[0]))
