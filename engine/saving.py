"""Bytes of a simulator's state: version, flags, a checksum that also tells whose they are, then the lanes' slab."""

import hashlib
import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from vigym.engine.errors import InputError
from vigym.engine.model import Model
from vigym.engine.rotation import Array

MAGIC = b"vigym-3"
FLAGS = struct.Struct("<?I")
HEAD = len(MAGIC) + FLAGS.size + hashlib.sha256().digest_size


class Saved(NamedTuple):
    """unchecked: whether the start is still to be checked; steps: of the last call; slab: the state store's bytes."""

    unchecked: bool
    steps: int
    slab: bytes


def signature(model: Model, options: object, arrays: Iterable[Array]) -> Any:
    """A hash of a mechanism, with its parameters as it was built, of `options` and of further `arrays`."""
    mechanism = model.mechanism
    joints = [(joint.name, joint.kind, joint.parent, joint.child) for joint in mechanism.joints]
    contacts = [(contact.name, contact.body, contact.compliance > 0) for contact in mechanism.contacts]
    parts = [body.name for body in mechanism.bodies], joints, contacts, model.features
    digest = hashlib.sha256(repr((parts, options)).encode())
    for known in (*arrays, *model.defaults().values()):
        digest.update(known.tobytes())
    return digest


def pack(owner: Any, saved: Saved) -> bytes:
    """Bytes that only a simulator with the same signature, `owner`, takes."""
    return head(owner, saved) + saved.slab


def head(owner: Any, saved: Saved) -> bytes:
    """Return the header of the slab."""
    flags, digest = FLAGS.pack(saved.unchecked, saved.steps), owner.copy()
    digest.update(flags + saved.slab)
    return MAGIC + flags + digest.digest()


def unpack(owner: Any, data: Any, fits: Callable[[bytes], bool]) -> Saved:
    """Return the packed parts; InputError if it was damaged, or packed for another owner. fits: whether a slab is
    whole."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise InputError("restore takes the bytes that save() returned")
    data = bytes(data)
    if len(data) >= HEAD and fits(data[HEAD:]):
        unchecked, steps = FLAGS.unpack_from(data, len(MAGIC))
        saved = Saved(unchecked, steps, data[HEAD:])
        if data[:HEAD] == head(owner, saved):
            return saved
    raise InputError("these bytes are damaged, or of a simulator of another mechanism, dt, num_envs or version")


def attributes(thing: object) -> dict[str, Any]:
    """All attributes of an instance, those in slots included."""
    names = []
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            is_private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{kind.__name__.lstrip('_')}{name}" if is_private else name)
    return {name: getattr(thing, name) for name in names if hasattr(thing, name)} | vars(thing)
