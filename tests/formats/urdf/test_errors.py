"""A file that cannot be loaded says where: file, line, element, what is wrong and how to mend it."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from vigym import MechanismError
from vigym.formats.urdf import UrdfError, load_urdf, read_urdf

Write = Callable[..., Path]
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
A, B, C = (f'<link name="{name}">{INERTIAL}</link>' for name in "abc")


def joint(inside: str = "", kind: str = "continuous", parent: str = "a", child: str = "b", name: str = "j") -> str:
    return f'<joint name="{name}" type="{kind}">\n<parent link="{parent}"/><child link="{child}"/>\n{inside}\n</joint>'


def lines(*parts: str) -> str:
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("inside", "place", "problem"),
    [
        ("", "1: <robot name='r'>", "there is no link"),
        ("<link/>", "2: <link>", "attribute 'name' is missing"),
        ('<link name=" "/>', "2: <link name=' '>", "attribute 'name' is blank"),
        (lines(A, A), "3: <link name='a'>", "the name is taken by line 2"),
        (lines(A, B), "3: <link name='b'>", "2 links without a parent joint: 'a', 'b'"),
        (lines(A, B, joint(parent="aa")), "5: <parent>", "link 'aa' is unknown; did you mean 'a'"),
        (lines(A, B, joint(), joint(name="k")), "8: <joint name='k'>", r"child of joint 'j' \(line 4\) already"),
        (lines(A, B, joint(), joint(parent="b", child="a")), "8: <joint name='j'>", "the name is taken by line 4"),
        (
            lines(A, B, C, joint(parent="b", child="c"), joint(parent="c", child="b", name="k")),
            r"\d+: <joint name='[jk]'>",
            "form a cycle",
        ),
        (lines(A, joint(child="a")), "3: <joint name='j'>", "form a cycle"),
        (lines(A, B, joint(kind="hinge")), "4: <joint name='j'>", "type 'hinge' is unknown; known: 'revolute'"),
        (lines(A, B, joint("<axis xyz='0 0 0'/>")), "6: <axis>", "must not be zero"),
        (lines(A, B, joint("<axis xyz='0 nan 0'/>")), "6: <axis>", "'nan' is not a number"),
        (lines(A, B, joint("<axis xyz='0 inf 0'/>")), "6: <axis>", "must be finite"),
        (lines(A, B, joint("<axis xyz='0 1'/>")), "6: <axis>", "has 2 numbers; it needs 3"),
        (lines(A, B, joint("<axis xyz='0 1_0 0'/>")), "6: <axis>", "'1_0' is not a number"),
        (lines(A, B, joint("<origin rpy='0 0 ${pi}'/>")), "6: <origin>", "this is a xacro file"),
        (lines(A, B, joint("<dynamics damping='-1'/>")), "6: <dynamics>", "must be >= 0"),
        (lines(A, B, joint("<limit effort='-1'/>")), "6: <limit>", "must be >= 0"),
        (
            lines(A, B, joint("<limit lower='1' upper='1'/>", "revolute")),
            "6: <limit>",
            "lower = upper = 1: it cannot move",
        ),
        (lines(A, B, joint("<mimic joint='k'/>")), "6: <mimic>", "joint 'k' is unknown"),
        (
            lines(A, B, C, joint(), joint("<mimic joint='k'/>", child="c", name="k")),
            "11: <mimic>",
            "couples an axis with itself",
        ),
        (f'{A}\n<link name="b"/>\n{joint()}', "3: <link name='b'>", r"it has no mass; joint 'j' \(line 4\) could not"),
        (f"{A}\n{joint(child='world')}\n<link name='world'/>", "7: <link name='world'>", "rename the link"),
        ("<link name='a'>\n<inertial>\n<mass/></inertial></link>", "4: <mass>", "attribute 'value' is missing"),
        ("<link name='a'>\n<inertial>\n<mass value='-1'/></inertial></link>", "4: <mass>", "must be >= 0"),
        ("<link name='a'>\n<inertial></inertial></link>", "3: <inertial>", "<mass> is missing"),
        ("<link name='a'>\n<inertial><mass value='1'/></inertial></link>", "3: <inertial>", "<inertia> is missing"),
        (
            f"{A}\n<joint name='j' type='fixed'>\n<child link='a'/></joint>",
            "3: <joint name='j'>",
            "<parent> is missing",
        ),
        (f"<link name='a'>{INERTIAL}\n<visual/></link>", "3: <visual>", "<geometry> is missing"),
        (f"<link name='a'>{INERTIAL}\n<xacro:sensor/></link>", "3: <xacro:sensor>", "this is a xacro file"),
        (A, "1: <robot name='r'>", "nothing in it can move; load it with floating=True"),
        ("<link>", r"3: inside <link>", "mismatched tag; correct the XML"),
    ],
)
def test_errors_name_file_line_and_element(urdf: Write, inside: str, place: str, problem: str) -> None:
    path = urdf(inside)
    with pytest.raises(UrdfError, match=rf"^{path}:{place}: .*{problem}"):
        load_urdf(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1: outside any element: no element found; the file is not XML"),
        ("solid cube", "1: outside any element: .*the file is not XML"),
        ('<sdf version="1.6"/>', "1: <sdf>: this is SDF"),
        ('<mujoco model="x"/>', "1: <mujoco>: this is MJCF"),
        ("\n<html/>", "2: <html>: a URDF file holds a <robot>"),
        ('<!DOCTYPE r [\n<!ENTITY a "b">]><robot name="&a;"/>', "2: <!ENTITY a>: entities are not read"),
        ('<?xml version="1.0" encoding="klingon"?><robot/>', "1: .*unknown encoding"),
    ],
)
def test_files_that_are_something_else(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "x.urdf"
    path.write_text(text)
    with pytest.raises(UrdfError, match=rf"^{path}:{problem}"):
        load_urdf(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UrdfError, match=r"none\.urdf: cannot be read \(No such file"):
        load_urdf(tmp_path / "none.urdf")


def test_a_root_that_cannot_float(urdf: Write) -> None:
    with pytest.raises(UrdfError, match=r"robot\.urdf:2: <link name='a'>: it has no mass; .*floating=False"):
        load_urdf(urdf('<link name="a"/>'), floating=True)
    with pytest.raises(UrdfError, match=r"robot\.urdf:2: <link name='world'>: .*floating=False"):
        load_urdf(urdf(f'<link name="world">{INERTIAL}</link>'), floating=True)


def test_impossible_inertia_may_be_an_error(urdf: Write) -> None:
    path = urdf('<link name="a"><inertial>\n<mass value="1"/><inertia ixx="1" iyy="1" izz="3"/></inertial></link>')
    with pytest.raises(
        UrdfError, match=r":2: <inertial>: link 'a' has principal moments 1, 1, 3 .*repair_inertia=True"
    ):
        load_urdf(path, floating=True, repair_inertia=False)
    shapeless = urdf('<link name="a"><inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial></link>')
    with pytest.raises(UrdfError, match="no shape to take them from"):
        load_urdf(shapeless, floating=True)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"contacts": "a"}, r"give \['a'\]"),
        ({"contacts": ["aa"]}, "robot.urdf:1: <robot name='r'>: contacts: link 'aa' is unknown; did you mean 'a'"),
        ({"contacts": ["a"]}, "robot.urdf:2: <link name='a'>: contacts: it has no <collision>"),
        ({"friction": -1}, "friction must be a finite number >= 0"),
        ({"cylinders": "cone"}, "cylinders must be one of 'rim', 'spheres'"),
        ({"mimic": "ignore"}, "mimic must be one of 'couple', 'error', 'free'"),
        ({"default_mass": -1}, "default_mass must be"),
        ({"position": (0, 0)}, "position must be"),
        ({"rim_points": 0}, "rim_points must be"),
        ({"kp": -1.0}, "kp must be a finite number >= 0"),
        ({"kd": "stiff"}, "kd must be a finite number"),
        ({"kp": {"jj": 1.0}}, "kp: joint 'jj' is unknown"),
        ({"floating": "no"}, "floating must be one of True, False, got 'no'"),
    ],
)
def test_bad_arguments(urdf: Write, options: dict, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        load_urdf(urdf(A), **{"floating": True} | options)


def test_errors_are_mechanism_errors(urdf: Write) -> None:
    with pytest.raises(MechanismError):
        read_urdf(urdf(""))


JUNK = [
    "nan",
    "inf",
    "1e400",
    "",
    "x",
    "0",
    "-1",
    "1 2",
    "1 2 3 4",
    "<",
    "&",
    "\x00",
    "é",
    "world",
    "package://",
    "9" * 400,
]


@pytest.mark.filterwarnings("ignore::vigym.formats.urdf.UrdfWarning")
@pytest.mark.parametrize("seed", range(10))
def test_spoilt_files_load_or_say_what_is_wrong(urdf: Write, seed: int) -> None:
    """Attributes replaced, elements removed or doubled, bytes cut out: never any other exception."""
    rng = random.Random(seed)
    shapes = '<visual><geometry><mesh filename="m.obj" scale="1 1 1"/></geometry></visual>'
    shapes += '<collision><origin xyz="1 0 0"/><geometry><cylinder radius="1" length="2"/></geometry></collision>'
    limits = '<origin xyz="1 2 3" rpy="1 2 3"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
    first = f'<link name="a">{INERTIAL}{shapes}</link>'
    text = lines(first, B, C, joint(limits, "revolute"), joint('<dynamics damping="1"/>', child="c", name="k"))
    outcomes = set()
    for _ in range(20):
        spoilt = text
        for _ in range(rng.choice([1, 1, 2])):
            pattern, makes = rng.choice(
                [('"[^"]*"', [f'"{word}"' for word in JUNK]), ("<[^<>]*/>", ["", r"\g<0>\g<0>"])]
            )
            place = rng.choice([match.start() for match in re.finditer(pattern, spoilt)] or [0])
            spoilt = spoilt[:place] + re.sub(pattern, rng.choice(makes), spoilt[place:], count=1)
            if rng.random() < 0.1:
                spoilt = spoilt[:place] + spoilt[place + rng.randrange(80) :]
        path = urdf(spoilt)
        try:
            load_urdf(path, floating=True)
            outcomes.add("loaded")
        except UrdfError as error:
            outcomes.add("refused" if str(error).startswith(str(path)) else f"no place in: {error}")
    assert outcomes == {"loaded", "refused"}


def test_text_in_place_of_a_path(urdf: Write) -> None:
    text = urdf(A).read_text()
    with pytest.raises(MechanismError, match="path must be that of a file, got its text") as caught:
        load_urdf("\n  " + text)
    assert "\n" not in str(caught.value)
