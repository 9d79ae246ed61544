"""Mechanisms in PyBullet are the same mechanisms, in both of its coordinates, and move as in MuJoCo."""

import numpy as np
import peers
import pytest

from vigym import Mechanism
from vigym.benchmarks.rows import Job
from vigym.benchmarks.scenes import Scene, build
from vigym.benchmarks.scenes.chain import GENTLE
from vigym.benchmarks.scenes.scene import at_rest
from vigym.benchmarks.worker import run
from vigym.engine.errors import MechanismError
from vigym.engine.rotation import rotation_matrix

pybullet = pytest.importorskip("pybullet")
from vigym.benchmarks.peers.bullet_runner import Bullet  # noqa: E402

H = 0.002


def tree(kinds: tuple[str, ...], free: bool = True) -> Scene:
    """A chain of bodies with full inertias and skew joints of these kinds, at rest away from zero coordinates."""
    rng = np.random.default_rng(7)
    m = Mechanism()
    parent = "world"
    if free:
        m.add_body("root", **peers.skew_body(rng))
        parent = "root"
    for k, kind in enumerate(kinds):
        name = f"{kind} {k}"
        body = peers.skew_body(rng)
        m.add_body(name, mass=body["mass"], inertia=body["inertia"])
        anchors = {"parent_anchor": 0.3 * rng.normal(size=3), "child_anchor": 0.3 * rng.normal(size=3)}
        m.add_joint(name, kind, parent, name, axis=rng.normal(size=3), orientation=rng.normal(size=4), **anchors)
        parent = name
    start = at_rest(m, 0.5 * rng.normal(size=sum(joint.n_free for joint in m.joints)))
    return Scene("tree", m, start, H, steps=25)


def runner(scene: Scene, **options) -> Bullet:
    engine = Bullet(scene, scene.dt, scene.steps, **options)
    engine.reset()
    return engine


CASES = pytest.mark.parametrize(
    ("kinds", "free", "maximal"),
    [
        (("revolute", "prismatic", "spherical", "fixed", "revolute"), True, False),
        (("spherical", "revolute", "prismatic"), False, False),
        (("spherical", "revolute"), True, True),
        (("spherical", "revolute"), False, True),
    ],
)


@CASES
def test_bodies_and_poses(kinds, free, maximal):
    scene = tree(kinds, free)
    engine = runner(scene, maximal=maximal)
    for body in scene.mechanism.bodies:
        number, link = engine.handle.bodies[body.name]
        info = pybullet.getDynamicsInfo(number, link, physicsClientId=engine.client)
        assert info[0] == pytest.approx(body.mass, rel=1e-12)
        R = rotation_matrix(engine.handle.turns[body.name])
        np.testing.assert_allclose(R @ np.diag(info[2]) @ R.T, body.inertia, atol=1e-12)
    x, q = engine.poses()
    np.testing.assert_allclose(x, scene.start.x, atol=1e-7)  # single precision is in PyBullet's URDF reader
    np.testing.assert_allclose(np.abs((q * scene.start.q).sum(-1)), 1.0, atol=1e-7)
    np.testing.assert_allclose(engine.velocities(), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("kinds", "free"), [(("revolute", "prismatic", "spherical", "fixed"), True), (("spherical", "revolute"), False)]
)
def test_trees_move_as_in_mujoco(kinds, free):
    """Both integrate accelerations by semi-implicit Euler in the same coordinates: the same motion."""
    pytest.importorskip("mujoco")
    from vigym.benchmarks.peers.mujoco import Mujoco

    scene = tree(kinds, free)
    ours, theirs = runner(scene), Mujoco(scene, scene.dt, scene.steps)
    theirs.reset()
    for k in range(scene.steps):
        ours.step(k)
        theirs.step(k)
    moved = ours.poses()[0] - scene.start.x
    # differences: PyBullet keeps some numbers in single precision, and rotates the base to second order in h only,
    # (h w)^3 a step
    np.testing.assert_allclose(moved, theirs.poses()[0] - scene.start.x, atol=2e-5)
    assert np.abs(moved).max() > 0.005
    assert ours.energy() == pytest.approx(theirs.energy(), abs=1e-3)


def test_contacts_and_friction():
    """A disc that slides: v^2 / (2 friction g), 0.255 m less what the first step takes (v h / 2)."""
    scene = build("disc", contacts=20)
    for maximal in (False, True):
        engine = runner(scene, maximal=maximal)
        for k in range(scene.steps):
            engine.step(k)
        x, _ = engine.poses()
        assert x[0, 0] == pytest.approx(0.2548, abs=0.01 * 1.0)
        assert len(engine.handle.planes) == 1
        assert engine.gap() == pytest.approx(0.0, abs=1e-4)


def test_drives_hold_the_robot_up():
    scene = build("a1", gait="stand", seconds=0.2)
    engine = runner(scene)
    for k in range(scene.steps):
        engine.step(k)
    x, _ = engine.poses()
    # its feet sink by Bullet's slop of 1e-5 m and the drives give way to the same extent
    np.testing.assert_allclose(x, scene.start.x, atol=5e-4)


def test_loops_stay_closed():
    scene = build("loops", cells=3)
    engine = runner(scene)
    assert len(engine.handle.constraints) == 3
    np.testing.assert_allclose(engine.poses()[0], scene.start.x, atol=1e-6)


# A base has seven coordinates, a ball joint four: chains of more than 31 links have more than PyBullet's 128.
@pytest.mark.parametrize(("links", "crowded"), [(31, False), (32, True), (50, True)])
def test_chains_too_long_for_messages_of_pybullet_run(links, crowded):
    """They slide to a stop as vigym's, and do so again: from v = 0.5 m/s, v^2 / (2 friction g) = 0.064 m, less v h."""
    scene = build("chain", links=links, drop=GENTLE)
    engine, ends = runner(scene), []
    assert bool(engine.handle.crowded) == crowded
    assert (engine.poses() is None) == crowded
    for _ in range(2):
        engine.reset()
        for k in range(20):
            engine.step(k)
        (number,) = engine.objects
        ends.append(pybullet.getBasePositionAndOrientation(number, physicsClientId=engine.client)[0])
    assert ends[0] == pytest.approx([0.0, 0.064, 0.0], abs=0.005)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    assert engine.gap() == pytest.approx(0.0, abs=1e-4)


def test_a_long_chain_is_timed():
    where = {"links": 50, "drop": GENTLE}
    (row,) = run(Job("chain", "pybullet", "chain", where, "reduced", {"maximal": False}, steps=10, repeats=1))
    assert row.status == "ok"
    assert row.microseconds is not None
    assert row.separation is None  # not told


def test_what_pybullet_cannot_set_or_tell_is_refused():
    (row,) = run(Job("chain", "pybullet", "flying-chain", {"links": 32}, "reduced", {"maximal": False}, steps=10))
    assert row.status == "refused"
    assert "more than 128 coordinates" in row.note
    engine = runner(build("chain", links=32))
    for ask in (engine.handle.poses, engine.handle.velocities, engine.handle.apply):
        with pytest.raises(MechanismError, match="more than 128 coordinates"):
            ask()


def test_a_long_chain_that_is_lost_is_told():
    engine = runner(build("chain", links=50))
    (number,) = engine.objects
    pybullet.resetBasePositionAndOrientation(number, [np.nan] * 3, [0, 0, 0, 1], physicsClientId=engine.client)
    x, q = engine.poses()
    assert np.isnan(x).all()
    assert x.shape == (50, 3)
    assert q.shape == (50, 4)
