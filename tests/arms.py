"""A small mechanism with all kinds of parts, and all that it holds, for comparisons."""

from dataclasses import fields

import numpy as np

from vigym import Box, Mechanism

ELBOW = {"axis": (0, 1, 1), "orientation": (1, 2, 3, 4), "lower": 0.2, "upper": 0.5}
PARTS = {
    ("body", "upper"): {"mass": 1.0, "shapes": [Box((0.1, 0.1, 0.5))], "position": (0, 0, 2)},
    ("body", "lower"): {"mass": 0.5, "inertia": (0.01, 0.02, 0.03), "orientation": (0.9, 0.1, 0.2, 0.3)},
    ("joint", "shoulder"): {"kind": "revolute", "parent": "world", "child": "upper", "axis": (1, 2, 3), "damping": 0.3},
    ("joint", "elbow"): {"kind": "universal", "parent": "upper", "child": "lower", **ELBOW},
    ("contact", "hand"): {"body": "lower", "point": (0, 0, -0.2), "normal": (1, 2, 3), "offset": -9.0, "friction": 0.4},
    ("collider", "table"): {"body": "world", "shape": Box((1, 1, 0.1), position=(0, 0, -5)), "friction": 0.3},
}


def arm(changed: dict | None = None) -> Mechanism:
    """Two links on the world, made with some other arguments."""
    m = Mechanism()
    for part, arguments in PARTS.items():
        getattr(m, f"add_{part[0]}")(part[1], **arguments | (changed or {}).get(part, {}))
    return m


def contents(part) -> list:
    shapes = ("shape", "shapes", "visuals")
    return [np.asarray(getattr(part, field.name)).tolist() for field in fields(part) if field.name not in shapes]


def everything(m: Mechanism) -> list:
    parts = [contents(part) for part in (*m.bodies, *m.joints, *m.contacts, *m.colliders)]
    shapes = [[collider.shape for collider in m.colliders], [body.drawn for body in m.bodies]]
    return [parts, shapes, m.couples, m.pair_laws, m.gravity.tolist(), dict(m._connections)]
