"""Spoilt files for hypothesis: the formats and mutations of `vigym soak`, drawn so that failures shrink and repeat."""

from random import Random

from hypothesis import strategies as st

from vigym.benchmarks.soak.formats import FORMATS
from vigym.benchmarks.soak.mutations import TEXTS, mutate

TAGS = [
    *("link", "joint", "inertial", "mass", "inertia", "origin", "visual", "collision", "geometry", "box", "sphere"),
    *("cylinder", "capsule", "mesh", "material", "color", "axis", "limit", "dynamics", "mimic", "parent", "child"),
    *("contact", "lateral_friction", "linc", "xacro:macro"),
]
ATTRIBUTES = [
    *("name", "type", "link", "joint", "xyz", "rpy", "value", "size", "radius", "length", "filename", "scale", "rgba"),
    *("lower", "upper", "effort", "velocity", "damping", "friction", "ixx", "iyy", "izz", "ixy"),
]
VALUES = [
    *("a", "b", "c", "fixed", "revolute", "continuous", "prismatic", "floating", "planar", "spherical", "1", "0.5"),
    *("1 0 0", "0 1 0 1", "m.obj", *TEXTS),
]


def randoms() -> st.SearchStrategy[Random]:
    """Generators whose numbers hypothesis chooses."""
    return st.randoms(use_true_random=False)


@st.composite
def spoilt(draw: st.DrawFn, name: str) -> bytes:
    """A file of a format of `FORMATS`, spoilt."""
    rng = draw(randoms())
    kind = FORMATS[name]
    return kind.spoil(rng.choice(kind.samples()), rng)


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """Any bytes, spoilt."""
    return mutate(data, draw(randoms()))


def _quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace("\0", "")


def elements(depth: int) -> st.SearchStrategy[str]:
    """An element with words that URDF files have, in places where they may not belong."""
    attributes = st.dictionaries(st.sampled_from(ATTRIBUTES), st.sampled_from(VALUES), max_size=3)
    inside = st.lists(elements(depth - 1), max_size=2).map("".join) if depth else st.just("")
    return st.builds(_element, st.sampled_from(TAGS), attributes, inside)


def _element(tag: str, attributes: dict[str, str], inside: str) -> str:
    written = "".join(f' {name}="{_quoted(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>{inside}</{tag}>"


FLAT, DEEP = elements(1), elements(3)


@st.composite
def robots(draw: st.DrawFn) -> bytes:
    """A whole robot, with elements in it that do not belong there and joints between any links."""
    names = st.sampled_from("abcd")
    solid = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    links = [f'<link name="{name}">{solid}{draw(FLAT)}</link>' for name in draw(st.sets(names, min_size=1))]
    joints = []
    for k, child in enumerate(draw(st.lists(names, max_size=4))):
        ends = f'<parent link="{draw(names)}"/><child link="{child}"/>'
        kind = draw(st.sampled_from(["fixed", "continuous", "revolute", "floating", "spherical", "planar"]))
        joints.append(f'<joint name="{k}" type="{kind}">{ends}{draw(FLAT)}</joint>')
    parts = [*links, *joints, *draw(st.lists(DEEP, max_size=2))]
    return f'<robot name="r">{"".join(draw(st.permutations(parts)))}</robot>'.encode()
