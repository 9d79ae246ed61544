"""Schedules of learning rates and the like."""


class Linear:
    """Fall from `start` to 0 with what remains of the training; the last update is made with the rate before it."""

    def __init__(self, start: float, least: float) -> None:
        self.start, self.least = start, least

    def __call__(self, remaining: float) -> float:
        return self.start * max(remaining, self.least)
