"""Fixed tendons of MJCF files, and damped free bodies: accelerations, limits and couplings are MuJoCo's."""

import numpy as np
import pytest

from vigym import MjcfError, Simulator, read_mjcf
from vigym.benchmarks.robot_files import accelerations, compiled, random_ctrl, random_state

BODIES = """<site name="one"/><body name="a"><site name="two"/>
  <joint name="x" axis="0 1 0" stiffness="0.3" springref="0.2" ref="0.1"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="1"/>
  <body name="b" pos="0 0 -0.3"><joint name="y" axis="1 0 0" range="-2 2" limited="true"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="0.5"/>
    <body name="c" pos="0 0 -0.3"><joint name="z" axis="0 -1 0"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0 0.1 -0.3" mass="0.3"/></body></body></body>"""
PUCK = """<body name="puck" pos="1 0 1"><joint type="free" damping="0.4"/>
  <geom type="box" size="0.1 0.2 0.05" pos="0.05 0.02 0.01" mass="0.7"/></body>"""
BOTH = '<joint joint="x" coef="0.5"/><joint joint="y" coef="-1.5"/>'


def robot(tendons: str, more: str = "", bodies: str = BODIES) -> str:
    return (
        f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody><tendon>{tendons}</tendon>'
        f'{more}<actuator><position joint="x" kp="4" kv="0.2"/></actuator></mujoco>'
    )


SPRINGS = f"""<fixed name="t" stiffness="3" damping="0.2" springlength="0.15" armature="0.01">{BOTH}</fixed>
<fixed name="s" stiffness="2" damping="0.1" armature="0.02" limited="true" range="-0.5 0.9" springlength="-0.1">
<joint joint="z" coef="-0.7"/></fixed>"""


def test_springs_and_dampers():
    """Tendons of one joint and of several; and a puck that is damped about a point beside its centre."""
    text = robot(SPRINGS, bodies=BODIES + PUCK)
    ours, model, rng = read_mjcf(text), compiled(text), np.random.default_rng(1)
    assert ours.needs_state  # for the puck's damper
    for _ in range(2):
        state = random_state(model, rng)
        state[0][2] = rng.uniform(-0.5, 0.3)
        found, expected = accelerations(ours, model, state, random_ctrl(model, rng))
        np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())
    z = ours.mechanism.joint("z")
    np.testing.assert_allclose([z.lower[0], z.upper[0]], [-0.9 / 0.7, 0.5 / 0.7])


def test_damping_of_free_bodies_is_exact_at_any_step():
    """Damping of 0.4 N s/m on 0.7 kg: after a second, exp(-0.4/0.7) of the speed is left, and of the slowest spin."""
    text = robot("", bodies=BODIES + PUCK.replace(' pos="0.05 0.02 0.01"', ""))
    ours = read_mjcf(text.replace("<worldbody>", '<option gravity="0 0 0"/><worldbody>'))
    least = np.linalg.eigvalsh(ours.mechanism.body("puck").inertia)[0]
    qvel = np.array([0, 0, 0, 1.0, 0, 3.0, 0, 0.01, 0])  # the box turns about its axis of least inertia, y
    for h in (0.5, 0.05):
        sim = Simulator(ours.mechanism, dt=h, compiled=False)
        sim.set_joint_state(**ours.joint_state(ours.qpos0, qvel))
        for _ in range(round(1.0 / h)):
            sim.step(**ours.controls([0.0], sim))
        np.testing.assert_allclose(sim.state.v[0, -1], np.exp(-0.4 / 0.7) * np.array([1.0, 0, 3.0]), atol=1e-8)
        np.testing.assert_allclose(sim.state.w[0, -1], [0, 0.01 * np.exp(-0.4 / least), 0], atol=1e-8)


def carts(tendon: str) -> str:
    """Carts of 1 and 3 kg on one line, and a tendon of length c (x - y)."""
    body = '<body name="{0}"><joint name="{0}" type="slide"/><geom size="0.1" mass="{1}" contype="0"/></body>'
    joints = '<joint joint="x" coef="{0}"/><joint joint="y" coef="-{0}"/>'
    tendon = f"<fixed {tendon}</fixed>".replace("JOINTS", joints)
    return (
        '<mujoco><option gravity="0 0 0"/><worldbody>'
        + body.format("x", 1).replace("<joint", '<joint axis="1 0 0"')
        + body.format("y", 3).replace("<joint", '<joint axis="1 0 0"')
        + f"</worldbody><tendon>{tendon}</tendon></mujoco>"
    )


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_limits_stop_all_joints_of_a_tendon(unit):
    """A slider of 1e-6 of the carts' mass stops them as a wall would: they meet, without rebound, and go on together
    at the velocity of their centre of mass, for tendons of any unit of length."""
    text = carts(f'limited="true" range="{-0.1 * unit} {0.2 * unit}">' + "JOINTS").replace("{0}", f"{unit}")
    sim = Simulator(read_mjcf(text).mechanism, dt=0.01, compiled=False)
    sim.set_joint_state([0.0, 0.0, 0.0], [2.0, -1.0, 3.0 * unit])
    for _ in range(12):
        sim.step()
        assert sim.status.converged.all()
        assert sim.status.iterations[0] < 30
    x, y, length = sim.joint_positions()[0]
    np.testing.assert_allclose([x - y, length / unit], 0.2, atol=1e-7)
    np.testing.assert_allclose(sim.joint_velocities()[0, :2], (2.0 * 1 - 1.0 * 3) / 4, atol=1e-5)


def test_friction_of_a_tendon_of_several_joints():
    """Friction of F in a tendon of length c (x - y): the carts slow down by c F / m each, until both go as one."""
    text = carts('frictionloss="3">' + "JOINTS").replace("{0}", "0.5")
    sim = Simulator(read_mjcf(text).mechanism, dt=0.01, compiled=False)
    sim.set_joint_state([0.0, 0.0, 0.0], [1.0, 0.0, 0.5])
    sim.step(repeat=20)
    np.testing.assert_allclose(sim.joint_velocities()[0, :2], [1.0 - 0.2 * 1.5, 0.2 * 1.5 / 3], atol=1e-5)
    sim.step(repeat=40)  # the difference of 1 m/s is gone after 0.5 s
    np.testing.assert_allclose(sim.joint_velocities()[0, :2], 0.25, atol=1e-6)


@pytest.mark.parametrize(
    ("equality", "rest"),
    [
        ('<tendon tendon1="t" polycoef="0.05"/>', lambda x, y, z: 0.5 * x - 1.5 * y - 0.05),
        (
            '<tendon tendon1="t" tendon2="u" polycoef="0.1 0.3"/>',
            lambda x, y, z: 0.5 * x - 1.5 * y - 0.1 - 0.3 * 0.7 * z,
        ),
    ],
)
def test_equalities(equality, rest):
    """They hold to rounding, on the level of positions, from the file's pose on."""
    tendons = f'<fixed name="t">{BOTH}</fixed><fixed name="u"><joint joint="z" coef="0.7"/></fixed>'
    ours = read_mjcf(robot(tendons, f"<equality>{equality}</equality>"))
    sim = Simulator(ours.mechanism, dt=0.01, compiled=False)
    sim.set_joint_state(sim.joint_positions())
    for _ in range(8):
        sim.step(**ours.controls([0.3]))
    (x, y, z), start = ours.coordinates(sim)[0][0], ours.qpos0
    assert abs(x - start[0]) > 1e-3
    assert abs(rest(x - start[0], y - start[1], z - start[2])) < 1e-9


@pytest.mark.parametrize(
    ("tendons", "more", "what"),
    [
        (
            '<spatial limited="true" range="0 1"><site site="one"/><site site="two"/></spatial>',
            "",
            "a spatial tendon with a spring",
        ),
        (f'<fixed stiffness="1" springlength="0 1">{BOTH}</fixed>', "", "slack between two lengths"),
        (
            f'<fixed name="t">{BOTH}</fixed><fixed name="u"><joint joint="z" coef="1"/></fixed>',
            '<equality><tendon tendon1="t" tendon2="u" polycoef="0 1 2"/></equality>',
            "not linear",
        ),
        (
            '<fixed name="t"><joint joint="z" coef="1"/></fixed>',
            '<equality><tendon tendon1="t"/></equality>',
            "of a single joint",
        ),
    ],
)
def test_refused(tendons, more, what):
    with pytest.raises(MjcfError, match=what):
        read_mjcf(robot(tendons, more))
