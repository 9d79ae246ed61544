"""Groups of colliders that robots share."""

from typing import Any

ROBOT = 2  # the bit of `group` that parts of robots have
PASS_EACH_OTHER: dict[str, Any] = {"group": ROBOT, "mask": ~ROBOT}  # they touch everything but other parts of robots
TOUCH_EACH_OTHER: dict[str, Any] = {"group": ROBOT, "mask": -1}
