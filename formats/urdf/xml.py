"""XML that knows its lines: elements with the checks that a URDF reader needs, and errors of the form

robot.urdf:12: <joint name='knee'>: what is wrong; how to mend it
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from xml.parsers import expat

import numpy as np

from vigym.engine.errors import InputError, MechanismError
from vigym.engine.files import read_regular
from vigym.engine.validation import Array, show

# Robots have hundreds of elements; whoever wants more than this wants something else. docs/urdf.md tells the limits.
MOST_BYTES = 20_000_000
MOST_ELEMENTS = 100_000
MOST_CHARACTERS = 4096  # of a name or an attribute: the longest path of most systems
DEEPEST = 100
MOST_NOTES = 200

# No part of a pattern can match what the next one begins with: time grows with the length alone.
_NUMBER = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)", re.IGNORECASE)
_OPTIONAL = re.compile(r"\$\(optenv\s+\w+\b([^()]*)\)")  # left over by an old xacro: name, default
_OTHER_FORMATS = {
    "sdf": "this is SDF, not URDF; convert it first",
    "mujoco": "this is MJCF, not URDF; convert it first",
    "mujocoinclude": "this is MJCF, not URDF; convert it first",
    "COLLADA": "this is a COLLADA mesh, not URDF; give the URDF file that refers to it",
}
_XACRO = "this is a xacro file, a template; expand it first: xacro robot.urdf.xacro > robot.urdf"


class UrdfError(MechanismError, InputError):
    """A URDF file that cannot be turned into a mechanism; the message names file, line and element."""


class UrdfWarning(UserWarning):
    """Something in a URDF file that was mended or left out; the message names file, line and element."""


@dataclass
class Document:
    """The file that is being read, and what was noticed on the way."""

    path: Path
    notes: dict[str, None] = field(default_factory=dict)
    left_out: int = 0
    boxes: dict[tuple[str, str], Array | None] = field(default_factory=dict)  # around meshes, by path and ending
    hints: dict[tuple[object, str], str] = field(default_factory=dict)  # for elements that are not known, by their tag

    @cached_property
    def folders(self) -> list[Path]:
        """The file's own and those above it, where meshes are searched."""
        return [self.path.parent, *self.path.parent.resolve().parents]

    def note(self, text: str) -> None:
        """Record a warning, once; of the first MOST_NOTES their text, of the others their number."""
        if text in self.notes:
            return
        if len(self.notes) < MOST_NOTES:
            self.notes[text] = None
        else:
            self.left_out += 1

    @property
    def warnings(self) -> tuple[str, ...]:
        """All notes, and a last one about those that are not among them."""
        more = [f"{self.path}: {self.left_out} more warnings, left out"] if self.left_out else []
        return (*self.notes, *more)


@dataclass(eq=False)
class Element:
    """An element of the file with its line number (of its opening tag)."""

    document: Document
    tag: str
    attributes: dict[str, str]
    line: int
    elements: list["Element"] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The element without its place."""
        name = self.attributes.get("name")
        return f"<{self.tag}>" if name is None else f"<{self.tag} name={show(name)}>"

    def __str__(self) -> str:
        return f"{self.document.path}:{self.line}: {self.label}"

    def error(self, problem: str) -> UrdfError:
        """An error about this element, to be raised."""
        return UrdfError(f"{self}: {problem}")

    def note(self, problem: str) -> None:
        """Record a warning about this element, once."""
        self.document.note(f"{self}: {problem}")

    def all(self, tag: str) -> Iterator["Element"]:
        """Children of that tag."""
        return (element for element in self.elements if element.tag == tag)

    def find(self, tag: str) -> "Element | None":
        """The first child of that tag, or None."""
        found = list(self.all(tag))
        for again in found[1:]:
            again.note(f"there may be only one in {self.label}; left out, line {found[0].line} counts")
        return found[0] if found else None

    def need(self, tag: str) -> "Element":
        """The child of that tag; an error if there is none."""
        found = self.find(tag)
        if found is None:
            raise self.error(f"<{tag}> is missing inside it; add it")
        return found

    def text(self, name: str) -> str:
        """An attribute that must be there and not be blank, without spaces around it."""
        value = self.attributes.get(name, "").strip()
        if not value:
            missing = "is missing" if name not in self.attributes else "is blank"
            raise self.error(f"attribute {name!r} {missing}; give it a value")
        return value

    def vector(self, name: str, size: int, default: tuple[float, ...] | None = None, infinite: bool = False) -> Array:
        """`size` numbers, separated by spaces; without NaN, and infinities only where they mean "no limit"."""
        if name not in self.attributes and default is not None:
            return np.array(default)
        given = self.text(name)
        what = f"{name}={show(given)}"
        text = _OPTIONAL.sub(r"\1", given).replace(",", " ")
        values = np.array([self._number(word, what) for word in text.split()])
        if len(values) < size:
            raise self.error(f"{what} has {len(values)} numbers; it needs {size}")
        if text != given or len(values) > size:
            values = values[:size]
            self.note(
                f"{what} must be {size} numbers separated by spaces; read as {' '.join(f'{v:g}' for v in values)}"
            )
        if not infinite and not np.isfinite(values).all():
            raise self.error(f"{what} must be finite; give a finite number")
        return values

    def number(
        self, name: str, default: float | None = None, at_least: float | None = None, infinite: bool = False
    ) -> float:
        """One number, optionally `>= at_least`."""
        values = self.vector(name, 1, None if default is None else (default,), infinite)
        if at_least is not None and values[0] < at_least:
            raise self.error(f"{name}={show(self.attributes[name])} must be >= {at_least:g}; correct it")
        return float(values[0])

    def _number(self, word: str, what: str) -> float:
        if _NUMBER.fullmatch(word):
            return float(word)
        if word.endswith(".") and _NUMBER.fullmatch(word[:-1]):  # "1.57." is found in real files
            self.note(f"{what}: {show(word)} has two points, read as {word[:-1]}")
            return float(word[:-1])
        if "${" in what or "$(" in what:
            raise self.error(f"{what}: {_XACRO}")
        raise self.error(f"{what}: {show(word)} is not a number; give finite numbers, separated by spaces")


def parse(path: Path) -> Element:
    """The <robot> element of a URDF file."""
    document = Document(path)
    try:
        data = read_regular(path, MOST_BYTES)
    except InputError as cause:
        raise UrdfError(f"{path}: cannot be read ({cause}); check the path") from cause
    root = _parse(data, document)
    if root.tag != "robot":
        problem = _OTHER_FORMATS.get(root.tag, "a URDF file holds a <robot>; this is something else")
        raise root.error(problem)
    for element in _walk(root):
        if element.tag.startswith("xacro:"):
            raise element.error(_XACRO)
    return root


def _walk(element: Element) -> Iterator[Element]:
    pending = [element]
    while pending:
        element = pending.pop()
        yield element
        pending += reversed(element.elements)


def _readable(data: bytes, document: Document) -> tuple[bytes, int]:
    """The bytes as expat likes them, and the number of lines cut off at the top."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data, 0  # UTF-16, which expat knows by these two bytes
    if data.endswith(b"\0"):  # strings of C programs, written out with their end
        document.note(f"{document.path}: zero bytes at the end of the file, left out")
        data = data.rstrip(b"\0 \t\r\n")
    if b"encoding" not in data[:200]:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as problem:
            line = data.count(b"\n", 0, problem.start) + 1
            document.note(f"{document.path}:{line}: not UTF-8, read as Latin-1; save the file as UTF-8")
            data = data.decode("latin-1").encode("utf-8")
    body = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    blank = data[: len(data) - len(body)]
    if blank.strip(b"\xef\xbb\xbf") and body.startswith(b"<?xml"):
        document.note(f"{document.path}:1: blank space before <?xml ...?>, left out")
    return body, blank.count(b"\n")


def _parse(data: bytes, document: Document) -> Element:
    data, cut = _readable(data, document)
    parser = expat.ParserCreate()
    open_elements: list[Element] = []
    roots: list[Element] = []
    count = 0

    def refuse(what: str, problem: str) -> UrdfError:
        return UrdfError(f"{document.path}:{parser.CurrentLineNumber + cut}: {what}: {problem}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS:
            raise refuse(f"<{tag[:80]}>", f"there are more than {MOST_ELEMENTS:,} elements; leave some out")
        if len(open_elements) >= DEEPEST:
            raise refuse(f"<{tag[:80]}>", f"elements are nested more than {DEEPEST} deep; a URDF file is flat")
        _check_lengths((tag, *attributes, *attributes.values()), refuse)
        element = Element(document, tag, attributes, parser.CurrentLineNumber + cut)
        if open_elements:
            open_elements[-1].elements.append(element)
        else:
            roots.append(element)
        open_elements.append(element)

    def end(_: str) -> None:
        open_elements.pop()

    def entity(name: str, *_: object) -> None:
        raise refuse(f"<!ENTITY {name[:80]}>", "entities are not read; write their text out")

    def defaults(name: str, *_: object) -> None:  # of attributes, which would be copied into every element
        raise refuse(f"<!ATTLIST {name[:80]}>", "declarations of attributes are not read; remove them")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler, parser.AttlistDeclHandler = entity, defaults
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as cause:
        if isinstance(cause, UrdfError):
            raise
        where = f"inside {open_elements[-1].label}" if open_elements else "outside any element"
        problem = expat.ErrorString(cause.code) if isinstance(cause, expat.ExpatError) else str(cause)
        line = (cause.lineno if isinstance(cause, expat.ExpatError) else 1) + cut
        if not data.startswith((b"<", b"\xff", b"\xfe")):
            problem += "; the file is not XML"
        raise UrdfError(f"{document.path}:{line}: {where}: {problem}; correct the XML") from cause
    return roots[0]


def _check_lengths(texts: Iterable[str], refuse: Callable[[str, str], UrdfError]) -> None:
    for text in texts:
        if len(text) > MOST_CHARACTERS:
            problem = f"{len(text):,} characters in one name or attribute; at most {MOST_CHARACTERS:,} are read"
            raise refuse(show(text), problem)
