"""MJCF files of strangers: typed errors, and nothing is read outside the folder."""

import pytest

from vigym import InputError, MjcfError, MjcfWarning, load_mjcf, read_mjcf

pytest.importorskip("mujoco")

BODY = '<body name="b"><joint/><geom size="0.1"/></body>'
GOOD = f"<mujoco><worldbody>{BODY}</worldbody></mujoco>"


def scene(before: str = "", inside: str = BODY, after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{inside}</worldbody>{after}</mujoco>"


def test_text_and_file(tmp_path):
    (tmp_path / "robot.xml").write_text(GOOD)
    assert repr(load_mjcf(tmp_path / "robot.xml")) == repr(load_mjcf(GOOD)) == repr(load_mjcf(f"\n {GOOD}"))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<mujoco><worldbody>", "correct the XML"),
        ("<mujoco><worldbody><bodi/></worldbody></mujoco>", "does not compile"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><mujoco>&a;</mujoco>', "not read"),
        (scene(inside='<replicate count="1000000" offset="1 0 0"><geom size="0.1"/></replicate>'), "copies"),
        (
            scene(inside='<replicate count="1000"><replicate count="1000"><geom size="1"/></replicate></replicate>'),
            "copi",
        ),
        (scene('<asset><texture name="t" type="2d" builtin="flat" width="99999" height="99999"/></asset>'), "pixels"),
        (scene('<size nuser_body="100000000"/>'), "too large"),
        ("<mujoco>" + 200 * "<default>" + 200 * "</default>" + "</mujoco>", "deep"),
        (scene('<asset><mesh name="m" file="/etc/passwd"/></asset>'), "root="),
        ('<mujoco><include file="other.xml"/></mujoco>', "root="),
        (scene(inside='<geom size="1"/>'), "nothing in it can move"),
        (scene('<option density="1000"/>'), "fluid drag"),
        (scene('<option><flag limit="disable"/></option>'), "disables limit"),
        (
            scene(after='<actuator><muscle joint="j"/></actuator>', inside=BODY.replace("<joint", '<joint name="j"')),
            "act",
        ),
        (scene(inside=BODY.replace("<joint", '<joint type="ball" range="0 1" limited="true"')), "limits of a ball"),
    ],
)
def test_errors(text, what):
    with pytest.raises(MjcfError, match=what) as caught:
        load_mjcf(text)
    assert isinstance(caught.value, InputError)


def test_only_the_folder_is_read(tmp_path):
    folder = tmp_path / "robot"
    folder.mkdir()
    (tmp_path / "secret.xml").write_text(f"<mujocoinclude>{BODY}</mujocoinclude>")
    file = folder / "robot.xml"
    for path in ("../secret.xml", str(tmp_path / "secret.xml"), "sub/../../secret.xml"):
        file.write_text(scene(inside=f'<include file="{path}"/>'))
        with pytest.raises(MjcfError, match="outside"):
            load_mjcf(file)
        if not path.startswith("sub"):
            assert len(load_mjcf(file, root=tmp_path).bodies) == 1
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    file.write_text(scene(inside='<include file="link.xml"/>'))
    with pytest.raises(MjcfError, match="outside"):
        load_mjcf(file)
    file.write_text(scene('<compiler meshdir=".."/><asset><mesh name="m" file="secret.obj"/></asset>'))
    with pytest.raises(MjcfError, match="outside"):
        load_mjcf(file)


def test_files_that_include_themselves(tmp_path):
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.xml").write_text(f'<mujoco><include file="{other}.xml"/></mujoco>')
    with pytest.raises(MjcfError, match="includes itself"):
        load_mjcf(tmp_path / "a.xml")
    with pytest.raises(MjcfError, match="cannot be read"):
        load_mjcf(tmp_path / "none.xml")
    with pytest.raises(MjcfError, match="cannot be read"):
        load_mjcf(tmp_path)


def test_left_out_if_asked():
    text = scene('<option density="1000"/>')
    with pytest.warns(MjcfWarning, match="fluid drag"):
        model = read_mjcf(text, unsupported="omit")
    assert any("fluid drag" in note for note in model.not_converted)


@pytest.mark.parametrize(("call", "what"), [("joint_state", "qpos"), ("controls", "ctrl")])
def test_wrong_shapes(call, what):
    with pytest.raises(InputError, match=what):
        getattr(read_mjcf(GOOD), call)([0.0] * 5)


def test_warnings_of_the_compiler_are_told_and_leave_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        '<mujoco><compiler settotalmass="3"/><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    with pytest.warns(MjcfWarning, match="settotalmass"):
        mechanism = load_mjcf(text)
    assert mechanism.bodies[0].mass == pytest.approx(3.0)
    assert not list(tmp_path.iterdir())
