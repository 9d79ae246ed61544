"""Stairs under the feet of VIQuadruped-v0: planes that follow each foot from tread to tread.

A foot is kept above the tread it is over and before the next riser: two contacts, whose planes are moved between
control steps. Treads overhang the one below (NOSING), so that a foot which is high enough has the next tread below it
before it would run into the riser. Along u, which is x if the stairs go up and -x if they go down, tread j is at the
height j rise and ends at the riser u = first + j length. The robot starts on tread 0, which goes on for ever behind it.
"""

from typing import Any

import numpy as np

from vigym.assets import unitree_a1
from vigym.engine.compiled import compiled
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box
from vigym.engine.vectors import cross, rotation_matrix

FOOT_RADIUS = unitree_a1.FOOT_RADIUS
FIRST = 0.5  # m, from the start to the first riser
AWAY = 2.0  # m: at least half as far is a riser that is not there
NOSING = 0.03  # m, more than a foot's radius: feet that come down behind it are clear of the riser
DRAWN = 20  # treads in pictures
STONES = (0.80, 0.79, 0.76, 1.0), (0.70, 0.69, 0.66, 1.0)  # every other tread
NEAR = 1e-6  # m: closer than that to its tread, a foot stands on it


def add_risers(m: Mechanism, friction: float, direction: float) -> None:
    """Contacts of the feet with risers that face against `direction` (1 or -1) along x."""
    for contact in m.contacts:
        m.add_contact(
            contact.name.replace("foot", "toe"),
            contact.body,
            contact.point,
            radius=contact.radius,
            friction=friction,
            normal=(-direction, 0, 0),
            offset=-AWAY,
        )


def scene(direction: float, rise: float, length: float) -> dict[str, Any]:
    """Return what stairs look like: a block and an overhanging board a tread, on the lowest level; for `Task.scene`."""
    first = FIRST if direction > 0.0 else length - FIRST
    treads = range(1, DRAWN + 1) if direction > 0.0 else range(1 - DRAWN, 1)
    bottom = min(0.0, (treads[0] - 1) * rise)
    board = min(0.01, 0.5 * rise)
    shapes = []
    for j in treads:
        near = first + (j - 1) * length
        far = near + length if j != 0 else near + 4.0  # where the robot starts
        for low, high, start in ((bottom, j * rise - board, near), (j * rise - board, j * rise, near - NOSING)):
            size, middle = (far - start, 3.0, high - low), (direction * (start + far) / 2, 0.0, (low + high) / 2)
            shapes.append(Box(size, position=middle, color=STONES[j % 2]))
    return {"scenery": shapes, "planes": [((0.0, 0.0, 1.0), bottom)]}


@compiled
def climb(x, q, v, w, foot, dt, direction, rise, length, floors, offsets):
    """Move the planes of the feet for a control step of dt s.

    foot: (4, 3) in the frames of the calves, m. direction: 1 up, -1 down. floors: (n, 4) heights of the treads below
    the feet, m; offsets: (n, 8) of the planes of treads and risers.
    """
    first = FIRST if direction > 0.0 else length - FIRST
    lowest, highest = (0.0, np.inf) if direction > 0.0 else (-np.inf, 0.0)
    for n in range(len(x)):
        for i in range(4):
            b = 3 + 3 * i
            p1, p2, p3 = foot[i]
            (r11, r12, r13), _, (r31, r32, r33) = rotation_matrix(q[n, b])
            a1, a2, a3 = cross(w[n, b], foot[i])
            u = direction * (x[n, b, 0] + r11 * p1 + r12 * p2 + r13 * p3)
            speed = direction * (v[n, b, 0] + r11 * a1 + r12 * a2 + r13 * a3)
            bottom = x[n, b, 2] + r31 * p1 + r32 * p2 + r33 * p3 - FOOT_RADIUS
            tread = np.floor((u + max(speed, 0.0) * dt + NOSING - first) / length) + 1.0
            tread = min(max(tread, lowest), highest)
            stands = abs(bottom - floors[n, i]) < NEAR
            while tread > lowest and bottom < tread * rise and not (stands and tread * rise == floors[n, i]):
                tread -= 1.0
            floors[n, i] = tread * rise
            offsets[n, i] = tread * rise
            offsets[n, 4 + i] = -(np.floor(u) + AWAY) if tread == highest else -(first + tread * length)
