"""Asking a training to stop: Ctrl-C or SIGTERM."""

import signal
import sys
from typing import Any


class Stop:
    """Note the first Ctrl-C or SIGTERM of a `with` block in `asked`; the second one ends the program."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> "Stop":
        self.before = {number: signal.signal(number, self.ask) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: Any) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def ask(self, number: int, frame: Any) -> None:
        """Stop after this rollout and update; the second time at once."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("\nstopping after this update; once more to stop at once", file=sys.stderr)
