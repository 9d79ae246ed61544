"""MJCF text to a model that MuJoCo has compiled, once every file that it names was looked at.

MuJoCo's compiler reads whatever an attribute `file` names, and makes as many bodies and pixels as numbers ask for. So
the XML is read here first: its size, its includes, the places of all files that it names, and numbers that multiply.
"""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from vigym.engine.errors import InputError, MechanismError
from vigym.engine.files import read_regular
from vigym.engine.validation import file_path, show

# docs/mjcf.md tells the limits.
MOST_BYTES = 20_000_000  # of all XML files together
MOST_ASSET_BYTES = 500_000_000  # of meshes, textures and height fields together
MOST_ELEMENTS = 200_000
MOST_FILES = 2_000
DEEPEST = 100
MOST_COPIES = 10_000  # of <replicate>, nested ones multiplied
MOST_PIXELS = 100_000_000  # of a texture or height field
MOST_BODIES = 10_000
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_SIZES = {"width": MOST_PIXELS, "height": MOST_PIXELS, "nrow": MOST_PIXELS, "ncol": MOST_PIXELS}
_REFUSED = {"flexcomp": "flexible bodies", "composite": "composite bodies", "plugin": "plugins", "flex": "flexes"}


class MjcfError(MechanismError, InputError):
    """An MJCF file that cannot be turned into a mechanism; the message names the file and what is wrong."""


class MjcfWarning(UserWarning):
    """Parts of an MJCF file that were left out or approximated."""


class Source(NamedTuple):
    """A compiled model and where it came from: `path` is None for text."""

    model: Any
    path: Path | None


def compile_mjcf(given: str | PathLike[str], root: str | PathLike[str] | None) -> Source:
    """The model that MuJoCo makes of a file, or of text that begins with "<".

    root: folder below which files may be read; None is that of the file. Text may name files only if it is given.
    """
    mujoco = import_mujoco()
    is_text = isinstance(given, str) and given.lstrip("\ufeff \t\r\n").startswith("<")
    folder = None if root is None else Path(file_path(root, "root", MechanismError)).resolve()
    if is_text:
        path, text = None, str(given)
        if len(text) > MOST_BYTES:
            raise MjcfError(f"the text has {len(text):,} characters; at most {MOST_BYTES:,} are read")
        Survey(folder, folder).look(text.encode(), "the text")
    else:
        path = Path(file_path(given, error=MechanismError))
        folder = path.resolve().parent if folder is None else folder
        if not path.resolve().is_relative_to(folder):
            raise MjcfError(f"{path}: it is not below root {str(folder)!r}")
        data = _read(path, MOST_BYTES, str(path))
        Survey(folder, path.resolve().parent).look(data, str(path))
        text = ""
    name = "the text" if path is None else str(path)
    try:
        with _heard(mujoco, name):
            file = mujoco.MjModel.from_xml_path
            model = _from_text(mujoco, text, folder) if path is None else file(str(path.resolve()))
    except (ValueError, mujoco.FatalError) as cause:
        raise MjcfError(f"{name}: MuJoCo does not compile it: {_one_line(cause)}") from cause
    if model.nbody > MOST_BODIES:
        raise MjcfError(f"{name}: there are {model.nbody:,} bodies; at most {MOST_BODIES:,} are read")
    return Source(model, path)


def import_mujoco() -> Any:
    """The module; an error that names the extra if it is not installed."""
    try:
        import mujoco
    except ModuleNotFoundError as cause:
        raise ModuleNotFoundError("MJCF files need MuJoCo's compiler: pip install 'vigym[mjcf]'") from cause
    return mujoco


@contextmanager
def _heard(mujoco: Any, name: str) -> Iterator[None]:
    """Tell the compiler's warnings as Python's; MuJoCo writes them to a file in the current folder otherwise."""
    told: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(told.append)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
    for text in dict.fromkeys(told):
        warnings.warn(f"{name}: MuJoCo warns: {' '.join(text.split())}", MjcfWarning, stacklevel=5)


def _from_text(mujoco: Any, text: str, folder: Path | None) -> Any:
    if folder is None:
        return mujoco.MjModel.from_xml_string(text)
    spec = mujoco.MjSpec.from_string(text)
    spec.modelfiledir = str(folder)
    return spec.compile()


def _one_line(cause: BaseException) -> str:
    return " ".join(str(cause).split())[:500]


def _read(path: Path, most: int, name: str) -> bytes:
    try:
        return read_regular(path, most)
    except InputError as cause:
        raise MjcfError(f"{name}: cannot be read ({cause}); check the path") from cause


class Survey:
    """All XML files of a model, read before MuJoCo reads them.

    root: folder below which files may be, None if there may be none; base: folder of the main file.
    """

    def __init__(self, root: Path | None, base: Path | None) -> None:
        self.root, self.base = root, base
        self.elements = self.bytes = 0
        self.open: list[Path] = []  # includes that led here
        self.folders: list[str] = [""]
        self.named: list[tuple[str, str]] = []  # where, file
        self.seen: set[Path] = set()

    def look(self, data: bytes, name: str) -> None:
        """Look through the main file, and all that it includes; MjcfError if something in it is not read."""
        self._xml(data, name)
        total = 0
        for where, file in self.named:
            for path in self._places(where, file, self.folders):
                if path.is_file():
                    total += path.stat().st_size
        if total > MOST_ASSET_BYTES:
            raise MjcfError(f"{name}: its meshes and textures have {total:,} bytes; at most {MOST_ASSET_BYTES:,}")

    def _xml(self, data: bytes, name: str) -> None:
        self.bytes += len(data)
        if self.bytes > MOST_BYTES:
            raise MjcfError(f"{name}: its XML has more than {MOST_BYTES:,} bytes with all that it includes")
        includes: list[str] = []
        for line, tag, attributes, copies in _elements(data, name):
            where = f"{name}:{line}: <{tag[:80]}>"
            self.elements += 1
            if self.elements > MOST_ELEMENTS:
                raise MjcfError(f"{where}: there are more than {MOST_ELEMENTS:,} elements; leave some out")
            _check(where, tag, attributes, copies)
            self.folders += [attributes[key] for key in _FOLDERS if key in attributes]
            for key, value in attributes.items():
                if key.startswith("file") and tag == "include":
                    includes.append(value)
                elif key.startswith("file"):
                    self.named.append((where, value))
                    if tag == "model":
                        includes.append(value)
        if len(self.named) > MOST_FILES:
            raise MjcfError(f"{name}: it names more than {MOST_FILES:,} files")
        for file in includes:
            self._include(name, file)

    def _include(self, name: str, file: str) -> None:
        where = f"{name}: {show(file)}"
        folders = ["", *(str(path.parent) for path in self.open)]
        for path in dict.fromkeys(self._places(where, file, folders)):
            if path in self.open or len(self.open) > DEEPEST:
                raise MjcfError(f"{where}: it includes itself")
            if not path.exists() or path in self.seen:
                continue
            self.seen.add(path)
            self.open.append(path)
            self._xml(_read(path, MOST_BYTES, str(path)), str(path))
            self.open.pop()

    def _places(self, where: str, file: str, folders: Iterable[str]) -> Iterator[Path]:
        """List the places where MuJoCo may look for a file; MjcfError if one of these is not below the root."""
        if self.root is None or self.base is None:
            raise MjcfError(f"{where}: text may name files ({show(file)}) only below a folder that is given: root=...")
        for folder in folders:
            path = (self.base / folder / file).resolve()
            if not path.is_relative_to(self.root):
                raise MjcfError(f"{where}: {show(file)} is outside {str(self.root)!r}; allow it with root='folder'")
            yield path


def _check(where: str, tag: str, attributes: dict[str, str], copies: int) -> None:
    """MjcfError for elements that would grow beyond limits when they are compiled."""
    if tag in _REFUSED:
        raise MjcfError(f"{where}: {_REFUSED[tag]} are not converted; remove them")
    if copies > MOST_COPIES:
        raise MjcfError(f"{where}: there would be {copies:,} copies; at most {MOST_COPIES:,} are made")
    numbers = {key: _integer(attributes[key]) for key in attributes if key in _SIZES or key.startswith("nuser")}
    for key, value in numbers.items():
        if value > (_SIZES.get(key, 1000)):
            raise MjcfError(f"{where}: {key}={value:,} is too large")
    if numbers.get("width", 1) * numbers.get("height", 1) > MOST_PIXELS:
        raise MjcfError(f"{where}: a texture may have at most {MOST_PIXELS:,} pixels")
    if numbers.get("nrow", 1) * numbers.get("ncol", 1) > MOST_PIXELS:
        raise MjcfError(f"{where}: a height field may have at most {MOST_PIXELS:,} points")


def _integer(text: str) -> int:
    """The number that a text is; 0 if it is none, which MuJoCo will tell."""
    try:
        return int(text[:20])
    except ValueError:
        return 0


def _elements(data: bytes, name: str) -> list[tuple[int, str, dict[str, str], int]]:
    """Line, tag, attributes and number of copies (by <replicate> around it) of all elements."""
    parser = expat.ParserCreate()
    found: list[tuple[int, str, dict[str, str], int]] = []
    copies = [1]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(copies) > DEEPEST:
            raise MjcfError(f"{name}:{parser.CurrentLineNumber}: elements are nested more than {DEEPEST} deep")
        if len(found) > MOST_ELEMENTS:
            raise MjcfError(f"{name}: there are more than {MOST_ELEMENTS:,} elements; leave some out")
        factor = max(_integer(attributes.get("count", "1")), 1) if tag == "replicate" else 1
        copies.append(copies[-1] * factor)
        found.append((parser.CurrentLineNumber, tag, attributes, copies[-1]))

    def end(_: str) -> None:
        copies.pop()

    def refuse(what: str, *_: object) -> None:
        raise MjcfError(f"{name}:{parser.CurrentLineNumber}: declarations ({what[:80]}) are not read; remove them")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler, parser.AttlistDeclHandler = refuse, refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as cause:
        raise MjcfError(f"{name}:{cause.lineno}: {expat.ErrorString(cause.code)}; correct the XML") from cause
    except (LookupError, ValueError) as cause:
        if isinstance(cause, MjcfError):
            raise
        raise MjcfError(f"{name}: {cause}; correct the XML") from cause
    return found
