"""Building a mechanism from the arrangement of a URDF file: bodies, joints, contacts.

A joint's frame at zero is the child link's frame, in URDF as in the engine, so the child's anchor is minus its centre
of mass.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.formats.urdf.contact import touching
from vigym.formats.urdf.parts import JointPart, Link
from vigym.formats.urdf.tree import Arrangement
from vigym.formats.urdf.xml import Element, UrdfError

MOST_CONTACTS = 20_000
_KINDS = {"continuous": "revolute"}  # the others have the same names in the engine


def build(arrangement: Arrangement, joints: Sequence[JointPart], velocity_limits: bool) -> Mechanism:
    """Bodies in the order of their leading links, joints in the order of the file; no contacts yet."""
    mechanism = Mechanism()
    for group in arrangement.bodies():
        rest = arrangement.rest[group.name]
        with place_of(group.members[0][0].element):
            mechanism.add_body(
                group.name,
                mass=group.mass,
                inertia=group.inertia,
                visuals=group.shapes(),
                position=rest.apply(group.com),
                orientation=rest.orientation,
            )
    for joint in joints:
        if joint.kind != "fixed":
            with place_of(joint.element):
                _add_joint(mechanism, joint, arrangement, velocity_limits)
    return mechanism


def _add_joint(mechanism: Mechanism, joint: JointPart, arrangement: Arrangement, velocity_limits: bool) -> None:
    parent, child = arrangement.group[joint.parent], arrangement.group[joint.child]
    frame = parent.place(arrangement.inside[joint.parent] @ joint.origin)
    options: dict[str, Any] = {}
    if joint.kind != "floating":  # which stands for the absence of a connection
        anchors = {"parent_anchor": frame.position, "child_anchor": -child.com, "orientation": frame.orientation}
        options = {"damping": joint.damping, "friction": joint.friction, "effort_limit": joint.effort, **anchors}
    if joint.kind not in ("floating", "spherical"):
        options |= {"axis": joint.axis, "lower": joint.lower, "upper": joint.upper}
        options["velocity_limit"] = joint.velocity if velocity_limits else np.inf
    mechanism.add_joint(joint.name, _KINDS.get(joint.kind, joint.kind), parent.name, child.name, **options)


def add_contacts(
    mechanism: Mechanism,
    arrangement: Arrangement,
    links: Sequence[Link],
    friction: float,
    cylinders: str,
    rim_points: int,
) -> None:
    """Contacts of the collision shapes of `links`, named after the link, with a number where it has several.

    friction: for links that have none of their own. Links that are fixed to the world cannot touch it.
    """
    count = 0
    for link in links:
        name, group, pose = link.name, arrangement.group[link.name], arrangement.inside[link.name]
        if group.name == WORLD:
            continue
        found = [touching(geometry, cylinders, rim_points) for geometry in link.collisions]
        spheres = [(point, radius) for points, radius in found for point in points]
        count += len(spheres)
        if count > MOST_CONTACTS:
            raise link.element.error(f"there are more than {MOST_CONTACTS:,} contacts; choose links with contacts=")
        for k, (point, radius) in enumerate(spheres):
            with place_of(link.element):
                mechanism.add_contact(
                    name if len(spheres) == 1 else f"{name} {k}",
                    body=group.name,
                    point=pose.apply(point) - group.com,
                    radius=radius,
                    friction=friction if link.friction is None else link.friction,
                )


@contextmanager
def place_of(element: Element) -> Iterator[None]:
    """Say where in the file the cause of the engine's errors is."""
    try:
        yield
    except UrdfError:
        raise
    except MechanismError as cause:
        raise element.error(str(cause)) from cause
