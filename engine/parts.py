"""Long calls in parts: the interpreter hears signals, Ctrl-C for one, only between calls of machine code."""

from collections.abc import Iterator
from time import perf_counter

# s; long enough that a part's own cost, a few microseconds, is not felt; short enough that an answer comes in time on a
# machine with several times more to do than cores, and from steps with ten times as many iterations
PART = 0.005
FIRST = 2000  # bodies and contacts of lane groups that a step of the first part goes through: 5 us each at most
MOST_GROWTH = 8


def first_part(groups: int, entities: int) -> int:
    """Steps of the first part, whose time nobody knows: for so many lane groups of so many bodies and contacts."""
    return max(1, FIRST // (groups * max(1, entities)))


def parts(steps: int, first: int) -> Iterator[tuple[int, int]]:
    """Split so many steps: (steps before, steps in it) of each part; parts take about as long as PART says."""
    done, size = 0, first
    while done < steps:
        size = min(size, steps - done)
        began = perf_counter()
        yield done, size
        rate = PART / max(perf_counter() - began, 1e-9)
        done += size
        size = max(1, int(size * min(rate, MOST_GROWTH)))
