"""`vigym view` of robot files: what a file is, its picture, its joints posed, held and simulated, and its page."""

import time
from functools import partial

import numpy as np
import pytest
from page.visitor import PATIENCE, controls, enter, update

from vigym.engine.errors import VigymError
from vigym.engine.simulator import Simulator
from vigym.envs.robot_file import kind_of, read_robot
from vigym.envs.view_command import view
from vigym.view.page import trial as trial_module
from vigym.view.page.trial import DT, Trial
from vigym.view.page.workbench import FILE, Workbench

INERTIAL = '<inertial><origin xyz="0 0 0.1"/><mass value="0.1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial>'
BOX = '<origin xyz="0 0 0.1"/><geometry><box size="0.02 0.05 0.2"/></geometry>'
LIMIT = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="50" velocity="9"/>'
GRIPPER = f"""<?xml version="1.0"?>
<!-- a <mujoco> that is none -->
<robot name="gripper">
  <link name="base">{INERTIAL}<visual>{BOX}</visual><collision>{BOX}</collision></link>
  <link name="left">{INERTIAL}<visual>{BOX}</visual></link>
  <link name="right">{INERTIAL}<visual>{BOX}</visual></link>
  <joint name="lead" type="revolute"><parent link="base"/><child link="left"/>{LIMIT}</joint>
  <joint name="follow" type="revolute"><parent link="base"/><child link="right"/>{LIMIT}
    <mimic joint="lead" multiplier="-0.5"/></joint>
</robot>"""
PENDULUM = """<mujoco model="pendulum">
  <worldbody>
    <body pos="0 0 1">
      <joint name="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/>
    </body>
  </worldbody>
  <keyframe><key name="up" qpos="3"/></keyframe>
</mujoco>"""


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """Steps on NumPy: nothing here is about the compiled code."""
    monkeypatch.setattr(trial_module, "Simulator", partial(Simulator, compiled=False))


@pytest.fixture
def gripper(tmp_path):
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER)
    return path


@pytest.fixture
def pendulum(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    return path


def load(path):
    """A picture of a file, (height, width, 3)."""
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(path))


# -------------------- files


def test_the_first_element_tells_what_a_file_is(gripper, pendulum, tmp_path):
    assert kind_of(gripper) == "urdf"
    assert kind_of(gripper.rename(tmp_path / "gripper.xml")) == "urdf"
    assert kind_of(pendulum) == "mjcf"
    assert kind_of(tmp_path / "run.vigym") == "recording"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("page.xml", "<html><robot/></html>", "expected <robot> .* got <html>"),
        ("empty.xml", "", "got no element"),
        ("robot.xacro", "<robot/>", "run xacro first"),
        ("broken.urdf", '<robot name="a"><link', "unclosed token"),
    ],
)
def test_files_that_are_no_robots_are_errors(tmp_path, name, text, problem):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(VigymError, match=problem) as caught:
        read_robot(path, kind_of(path))
    assert str(path) in str(caught.value)
    with pytest.raises(SystemExit, match=problem):
        view(str(path), out=(tmp_path / "robot.png",))
    assert not (tmp_path / "robot.png").exists()


def test_options_that_a_file_has_no_use_for_are_errors(gripper, pendulum, tmp_path):
    with pytest.raises(SystemExit, match="--floating is for URDF files"):
        view(str(pendulum), floating=True)
    with pytest.raises(SystemExit, match="--seed and --controller are for environments"):
        view(str(gripper), seed=1)


def test_pictures_show_the_pose_of_the_file_or_its_first_keyframe(gripper, pendulum, tmp_path):
    for path in (gripper, pendulum):
        out = tmp_path / "new" / f"{path.stem}.png"
        view(str(path), out=(out,))
        image = load(out)
        assert image.shape == (800, 800, 3)
        assert image.std() > 10
    up = load(tmp_path / "new" / "pendulum.png")
    pendulum.write_text(PENDULUM.replace('qpos="3"', 'qpos="0"'))
    view(str(pendulum), out=(tmp_path / "down.png",))
    assert (load(tmp_path / "down.png") != up).any()


# -------------------- a trial


def test_posing_puts_followers_in_their_places(gripper):
    trial = Trial(read_robot(gripper, "urdf").mechanism)
    assert trial.sim.axis_names == ["lead", "follow"]
    assert trial.followers == {1}
    assert trial.pose(np.array([0.6, 0.9])) == ""
    np.testing.assert_allclose(trial.positions(), [0.6, -0.3], atol=1e-12)
    assert not trial.is_moving


def test_drives_hold_a_pose_and_let_it_go(gripper):
    """At 0.6 rad gravity wants both fingers down; the drive pulls at the leader only."""
    trial = Trial(read_robot(gripper, "urdf").mechanism)
    target = np.array([0.6, -0.3])
    trial.pose(target)
    for _ in range(20):
        trial.step(target)
    np.testing.assert_allclose(trial.positions(), target, atol=0.05)
    held = abs(trial.positions() - target).max()
    for _ in range(20):
        trial.step(target, hold=False)
    fallen = trial.positions()
    assert fallen[0] - 0.6 > 2 * held + 0.01
    assert fallen[1] == pytest.approx(-0.5 * fallen[0], abs=1e-9)
    assert trial.sim.time[0] == pytest.approx(40 * DT)
    trial.stop()
    np.testing.assert_allclose(trial.positions(), fallen, atol=1e-12)
    trial.reset()
    np.testing.assert_allclose(trial.positions(), 0.0, atol=1e-12)


def test_a_robot_that_floats_is_lifted_out_of_the_ground(gripper):
    trial = Trial(read_robot(gripper, "urdf", floating=True).mechanism)
    assert -1e-9 < trial.sim.contact_gaps().min() < 1e-5
    given = trial.state()
    given["x"][0, :, 2] -= 0.3
    assert trial.pose(np.zeros(2), given) == ""
    assert -1e-9 < trial.sim.contact_gaps().min() < 1e-5


def test_a_pose_that_cannot_be_is_told_and_changes_nothing(gripper):
    trial = Trial(read_robot(gripper, "urdf").mechanism)
    assert "positions[0, 0] is nan" in trial.pose(np.array([np.nan, 0.0]))
    np.testing.assert_array_equal(trial.positions(), 0.0)


# -------------------- its page


def until(bench, happened):
    """Let the page go on until happened() is true."""
    for _ in range(int(PATIENCE / 0.01)):
        bench.turn()
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


@pytest.fixture
def page(request):
    """Opens pages, and closes them."""
    pytest.importorskip("viser")

    def open_bench(robot):
        bench = Workbench(robot.mechanism, robot.name, robot.poses, browse=False)
        request.addfinalizer(bench.close)
        return bench

    return open_bench


def test_sliders_pose_the_robot_and_are_targets_while_it_is_simulated(gripper, page):
    bench = page(read_robot(gripper, "urdf"))
    trial = bench.trial
    with enter(bench.url) as visitor:
        uuids = controls(visitor, "lead")
        assert "follow" not in uuids
        visitor.send(update(uuids["lead"], value=2.0))  # beyond the limit: ignored
        visitor.send(update(uuids["lead"], value=0.5))
        until(bench, lambda: trial.positions()[0] != 0.0)
        np.testing.assert_allclose(trial.positions(), [0.5, -0.25], atol=1e-12)
        assert not trial.is_moving
        visitor.send(update(uuids["Simulate"], value=True))
        visitor.send(update(uuids["lead"], value=-0.5))
        until(bench, lambda: trial.positions()[0] < -0.4)
        assert trial.is_moving
        assert trial.sim.time[0] > 0.0
        visitor.send(update(uuids["Simulate"], value=False))
        until(bench, lambda: not trial.is_moving)
        assert bench.sliders[0].value == pytest.approx(trial.positions()[0])
        visitor.send(update(uuids["Reset"], value=True))
        until(bench, lambda: trial.positions()[0] == 0.0)
        assert bench.sliders[0].value == 0.0


def test_layers_are_shown_when_they_are_switched_on(gripper, page):
    bench = page(read_robot(gripper, "urdf"))
    nodes = bench.layers._nodes["Inertia boxes"]
    bench.turn()
    assert not any(node.visible for node in nodes)
    for switch in bench.switches.values():
        switch.value = True
    bench.turn()
    assert all(node.visible for group in bench.layers._nodes.values() for node in group)
    centre = bench.trial.sim.state.x[0].mean(0)  # two fingers of one mass
    np.testing.assert_allclose(bench.layers._whole.position, centre, atol=1e-6)


def test_keyframes_are_poses_to_choose_from(pendulum, page):
    bench = page(read_robot(pendulum, "mjcf"))
    assert bench.trial.positions() == pytest.approx(3.0)
    bench.choice.value = FILE
    bench.turn()
    assert bench.trial.positions() == pytest.approx(0.0)
    bench.choice.value = "up"
    bench.turn()
    assert bench.trial.positions() == pytest.approx(3.0)
    assert bench.sliders[0].value == pytest.approx(3.0)


def test_ends_of_sliders_have_few_digits():
    """They are within the limits, nearly as wide, and short at any scale."""
    from vigym.view.page.workbench import round_ends

    rng = np.random.default_rng(0)
    for low, high in [(-0.523599, 0.174533), (0.0, 1.5708), (1e-7, 3.3333e-7), (100.0, 100.0012345), (2.0, 2.0)]:
        ends = round_ends(low, high)
        assert low <= ends[0] <= ends[1] <= high
        assert ends[1] - ends[0] >= 0.995 * (high - low)
    assert round_ends(-0.523599, 0.174533) == (-0.5235, 0.1745)
    for low, wide in zip(rng.normal(size=100), 10.0 ** rng.uniform(-6, 3, 100), strict=True):
        ends = round_ends(low, low + wide)
        assert low - 1e-9 * wide <= ends[0] <= ends[1] <= low + wide * (1 + 1e-9)
