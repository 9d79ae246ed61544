"""Robots for `vigym view`: those of URDF and MJCF files, and the models of `vigym.assets`."""

import re
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple

import vigym.assets
from vigym.engine.errors import InputError
from vigym.engine.files import read_regular
from vigym.engine.mechanism import Mechanism
from vigym.formats.mjcf.read import read_mjcf
from vigym.formats.urdf.loader import read_urdf

MOST_BYTES = 20_000_000
_FIRST_TAG = re.compile(rb"<\s*([A-Za-z_][\w.:-]*)")
_ASIDE = re.compile(rb"<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^>\[]*>", re.DOTALL)


class Robot(NamedTuple):
    """A robot as its file, or its model, has it.

    poses: arguments of `set_joint_state` by name. remarks: what was left out or mended
    """

    name: str
    mechanism: Mechanism
    poses: Mapping[str, Mapping[str, Any]]
    remarks: tuple[str, ...]


def kind_of(path: Path) -> str:
    """ "urdf", "mjcf", or "recording" for all that is not XML; InputError for other XML."""
    if path.suffix.lower() not in (".urdf", ".xml", ".mjcf", ".xacro"):
        return "recording"
    if path.suffix.lower() == ".xacro":
        raise InputError(f"{path}: xacro files are programs that write URDF; run xacro first, and view what it writes")
    tag = _FIRST_TAG.search(_ASIDE.sub(b"", read_regular(path, MOST_BYTES)))
    name = "" if tag is None else tag[1].decode()
    if name not in ("robot", "mujoco"):
        found = f"<{name[:80]}>" if name else "no element"
        raise InputError(f"{path}: expected <robot> (URDF) or <mujoco> (MJCF), got {found}")
    return "urdf" if name == "robot" else "mjcf"


def model_names() -> list[str]:
    """Names of the models of `vigym.assets`."""
    names = [info.name for info in iter_modules(vigym.assets.__path__) if not info.ispkg]
    return [name for name in names if hasattr(import_module(f"vigym.assets.{name}"), "build")]


def model(name: str) -> Robot:
    """A model of `vigym.assets`, as it starts."""
    return Robot(name, import_module(f"vigym.assets.{name}").build(), {}, ())


def read_robot(path: Path, kind: str, floating: bool = False) -> Robot:
    """The robot of a file; what the engine does not have is left out, with a remark.

    floating: of URDF files, let the root link fly freely; MJCF files say it themselves
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if kind == "urdf":
            urdf = read_urdf(path, floating=floating)
            name, mechanism, poses = urdf.name, urdf.mechanism, {}
        else:
            mjcf = read_mjcf(path, unsupported="omit")
            name, mechanism = mjcf.name, mjcf.mechanism
            poses = {
                key: mjcf.joint_state(frame.qpos, mocap_pos=frame.mocap_pos, mocap_quat=frame.mocap_quat)
                for key, frame in mjcf.keyframes.items()
            }
    remarks = dict.fromkeys(str(each.message) for each in told)
    return Robot(name or path.stem, mechanism, poses, tuple(remarks))
