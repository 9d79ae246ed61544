"""Recordings as strangers may send them: real ones with damage, and well-formed ones that say impossible things."""

import copy
import json
import struct

from hypothesis import strategies as st

from vigym.engine.frames import HEAD, MAGIC, Chunks, chunk

OLD = b"vigym r1"  # of the first version, which has no colliders
NUMBERS = (0, -1, 1, 0.5, 1e-320, 1e-30, 1e30, 1e200, 1e308, 10**400, 2**31, 2**63, True)
WORDS = ("", " ", "world", "box", "Sphere", "\ud800", "\0", "</script>", "__proto__", "nan", "1e9", "a" * 3000)
SPECIAL = (0.0, -0.0, 1.0, -1.0, 1e-38, 1e38, 3.4e38, -3.4e38, float("inf"), float("-inf"), float("nan"))


def unpack(data: bytes) -> tuple[dict, list[bytes]]:
    """Head and frames of a whole recording."""
    text, *frames = Chunks(data)
    return json.loads(text), frames


def pack(head: object, frames: list[bytes], end: bool = True, magic: bytes = OLD) -> bytes:
    """A recording with right checksums, whatever is in it."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return magic + b"".join(map(chunk, [text, *frames])) + (HEAD.pack(0, 0) if end else b"")


def deep(levels: int) -> list:
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


# Any value of JSON, and what Python takes for one; made once, since that takes long
LEAVES = st.one_of(
    st.none(),
    st.sampled_from(NUMBERS),
    st.sampled_from(WORDS),
    st.floats(),
    st.integers(),
    st.text(max_size=5),
    st.builds(deep, st.just(100)),
)
KEYS = st.one_of(st.sampled_from(WORDS), st.text(max_size=5))
JUNK = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3))


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Paths to all values in JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


@st.composite
def wrong_heads(draw: st.DrawFn, head: dict) -> object:
    """The head with some values replaced, left out or repeated."""
    head = copy.deepcopy(head)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(places(head)[1:]))
        holder: object = head
        for key in above:
            holder = holder[key]
        how = draw(st.sampled_from(("replace", "replace", "replace", "delete", "repeat")))
        if how == "replace":
            holder[last] = draw(JUNK)
        elif how == "delete":
            del holder[last]
        elif isinstance(holder, list):
            holder.insert(last, copy.deepcopy(holder[last]))
        if not head:
            break
    return head


@st.composite
def wrong_frames(draw: st.DrawFn, frames: list[bytes]) -> list[bytes]:
    """The frames with some numbers replaced, and frames of other sizes, in another order, or twice."""
    frames = draw(st.lists(st.sampled_from(frames), max_size=6))
    for k in draw(st.lists(st.integers(0, max(0, len(frames) - 1)), max_size=3)) if frames else ():
        frame = bytearray(frames[k])
        for at in draw(st.lists(st.integers(0, len(frame) // 4 - 1), max_size=4)) if len(frame) >= 4 else ():
            word = st.sampled_from(SPECIAL).map(lambda v: struct.pack("<f", v)) | st.binary(min_size=4, max_size=4)
            frame[4 * at : 4 * at + 4] = draw(word)
        cut = draw(st.sampled_from((None, None, None, 0, 1, 7, 8, -1, -4)))
        frames[k] = bytes(frame[:cut])
    return frames


@st.composite
def wrong_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """The file with bytes changed, left out, put in or repeated."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.sampled_from((0, 1, 4, 8, 100)))
        new = draw(st.one_of(st.binary(max_size=9), st.just(data[at : at + size] * 2)))
        data = data[:at] + new + data[at + size :]
    return data


@st.composite
def strangers(draw: st.DrawFn, data: bytes) -> bytes:
    """A file that was once the recording `data`."""
    head, frames = unpack(data)
    how = draw(st.sampled_from(("head", "head", "head", "frames", "both", "bytes", "text")))
    if how == "bytes":
        return draw(wrong_bytes(data))
    if how == "text":
        text = draw(wrong_bytes(json.dumps(head).encode()))
        return pack(text, frames, magic=data[: len(MAGIC)])
    head = draw(wrong_heads(head)) if how in ("head", "both") else head
    frames = draw(wrong_frames(frames)) if how in ("frames", "both") else frames
    return pack(head, frames, draw(st.booleans()), data[: len(MAGIC)])
