"""Spoilt files: bits flipped, ends cut off, chunks doubled, exchanged or replaced by what programs stumble over.

Everything is drawn from a `random.Random`, so that a seed is enough to make a file again; hypothesis draws from its own
(tests/fuzz.py).
"""

import re
import struct
from collections.abc import Callable
from random import Random

MOST_EDITS = 4
# Numbers that counts and sizes stumble over, as they stand in binary files.
WORDS = [struct.pack("<I", value) for value in (0, 1, 2**16, 2**31 - 1, 2**31, 2**32 - 1)]
WORDS += [struct.pack("<f", value) for value in (float("nan"), float("inf"), 3e38, 1e-45)]
# Text that readers stumble over, in place of a number, a name or a path.
TEXTS = [
    *("", " ", "x", "0", "-1", "1e400", "-1e400", "1e308", "1e-320", "nan", "inf", "1_0", "1 2", "1 2 3 4", "0 0 0"),
    *(
        "<",
        "&",
        "&#0;",
        "]]>",
        '"',
        "'",
        "\0",
        "\ufeff",
        "é",
        "\U0010ffff",
        "%00",
        "../..",
        "/",
        "/dev/zero",
        "file://",
    ),
    *("package://", "${x}", "$(optenv A 1)", "world", "null", "true", "[]", "{}", "Infinity", "9" * 400, "a" * 5000),
]


def flip(data: bytes, rng: Random) -> bytes:
    """Change one bit."""
    at, changed = rng.randrange(len(data)), bytearray(data)
    changed[at] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(data: bytes, rng: Random) -> bytes:
    """Leave out the end."""
    return data[: rng.randrange(len(data))]


def remove(data: bytes, rng: Random) -> bytes:
    """Leave out a chunk."""
    low, high = _chunk(data, rng)
    return data[:low] + data[high:]


def double(data: bytes, rng: Random) -> bytes:
    """Write a chunk a second time, or many times."""
    low, high = _chunk(data, rng)
    return data[:low] + data[low:high] * rng.choice([2, 2, 2, 30]) + data[high:]


def splice(data: bytes, rng: Random) -> bytes:
    """Write a chunk over another place."""
    low, high = _chunk(data, rng)
    at = rng.randrange(len(data))
    return data[:at] + data[low:high] + data[at + high - low :]


def overwrite(data: bytes, rng: Random) -> bytes:
    """Write a number that counts stumble over, in binary."""
    at, word = rng.randrange(len(data)), rng.choice(WORDS)
    return data[:at] + word + data[at + len(word) :]


def retype(data: bytes, rng: Random) -> bytes:
    """Replace what is between two quotes, or a word, by text that readers stumble over."""
    pattern = rng.choice([rb'"[^"]*"', rb"[^\s\"<>=/]+", rb"[-+.\deE]+"])
    found = re.compile(pattern).search(data, rng.randrange(len(data)))
    if found is None:
        return data
    text = rng.choice(TEXTS).encode()
    quoted = found[0].startswith(b'"')
    return data[: found.start()] + (b'"' + text + b'"' if quoted else text) + data[found.end() :]


EDITS: list[Callable[[bytes, Random], bytes]] = [flip, cut, remove, double, splice, overwrite, retype, retype, retype]


def mutate(data: bytes, rng: Random) -> bytes:
    """One to four edits, mostly one."""
    for _ in range(rng.choice([1, 1, 1, 2, 3, MOST_EDITS])):
        if not data:
            break
        data = rng.choice(EDITS)(data, rng)
    return data


def _chunk(data: bytes, rng: Random) -> tuple[int, int]:
    low = rng.randrange(len(data))
    return low, low + rng.randrange(1, rng.choice([2, 9, 100, len(data) + 1]) + 1)
