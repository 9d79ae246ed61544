"""Tosses of a cube: files, scores, and engines that throw as vigym does."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vigym import InputError
from vigym.__main__ import main
from vigym.assets.cube import MASS, SIDE
from vigym.benchmarks.tosses.convert import convert
from vigym.benchmarks.tosses.cube import DESCRIBED, Cube
from vigym.benchmarks.tosses.data import RATE, Score, Tosses, angles, errors, load, padded, score
from vigym.benchmarks.tosses.engines import (
    ENGINES,
    FRICTION,
    MujocoEngine,
    Parameter,
    RigidBulletEngine,
    SoftMujocoEngine,
    VigymEngine,
)
from vigym.benchmarks.tosses.fit import Trials, explore, named, physical, read, save, sets, steady
from vigym.benchmarks.tosses.halves import apart, crossed, mean, unseen, ways
from vigym.benchmarks.tosses.measure import measured, slides, strikes
from vigym.benchmarks.tosses.report import QUICK
from vigym.benchmarks.tosses.study import heavy_side, in_flight, other_face
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate, to_rotation_vector

DATA = os.environ.get("VIGYM_TOSSES")
LOPSIDED = Cube(half=0.0513, gravity=9.6, com=(0.001, -0.002, 0.006), inertia=1e-3)
needs_data = pytest.mark.skipif(DATA is None, reason="VIGYM_TOSSES does not say where the measured tosses are")


def thrown(
    count: int = 4, frames: int = 40, seed: int = 0, above: float = 0.0, cube: Cube = DESCRIBED, **contact: float
) -> Tosses:
    """Tosses that vigym makes up itself, of different lengths."""
    rng = np.random.default_rng(seed)
    starts = np.zeros((count, 1, 13))
    starts[:, 0, :3] = rng.uniform([-0.1, -0.1, 0.12], [0.1, 0.1, 0.2], (count, 3))
    starts[:, 0, 2] += above
    starts[:, 0, 3:7] = [from_rotation_vector(v) for v in rng.normal(size=(count, 3))]
    starts[:, 0, 7:9], starts[:, 0, 10:] = rng.normal(size=(count, 2)), 3 * rng.normal(size=(count, 3))
    empty = padded([np.repeat(start, frames - 3 * (k % 8), axis=0) for k, start in enumerate(starts)], range(count))
    made = VigymEngine(empty, substeps=4, cube=cube)(**contact)
    made = np.concatenate([made, np.broadcast_to(starts[..., 7:], (*made.shape[:2], 6))], axis=-1)
    return padded([run[:n] for run, n in zip(made, empty.lengths, strict=True)], range(count))


def test_scores():
    # 1 % of the width aside throughout, turned by 2 degrees: 1 % and 2 degrees; frames after the end do not count
    tosses = thrown()
    wrong = tosses.measured[..., :7].copy()
    wrong[..., 0] += 0.01 * SIDE
    wrong[..., 3:] = multiply(wrong[..., 3:], from_rotation_vector(np.radians([0.0, 2.0, 0.0])))
    position, rotation = errors(tosses, wrong)
    np.testing.assert_allclose(position, 1.0, rtol=1e-9)
    np.testing.assert_allclose(rotation, 2.0, rtol=1e-6)
    assert score(tosses, wrong).position == pytest.approx(1.0)
    wrong[0, 0, 0] = np.inf
    assert score(tosses, wrong) == Score(np.inf, np.inf, np.inf, np.inf)


def written(tosses: Tosses, path: Path) -> Path:
    """A file of tosses."""
    states = [row[:n] for row, n in zip(tosses.measured, tosses.lengths, strict=True)]
    np.savez(path, states=np.concatenate(states), offsets=np.cumsum([0, *tosses.lengths]), toss_ids=tosses.ids)
    return path


@pytest.mark.parametrize("cube", [DESCRIBED, LOPSIDED], ids=["described", "lopsided"])
@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.name)
def test_engines_fly_alike_and_land_on_the_ground(make, cube):
    pytest.importorskip(make.needs)
    tosses = thrown(frames=70, above=0.3, friction=0.2, cube=cube)
    values = named(make.parameters, physical(make.parameters, np.full(len(make.parameters), 0.5)))
    values |= {"friction": 0.2, "restitution": 0.0} if "restitution" in values else {"friction": 0.2}
    run = make(tosses, substeps=4, cube=cube)(**values)
    assert np.isnan(run[:, :, 0]).sum() == np.isnan(tosses.measured[:, :, 0]).sum()
    # until the first touch, after 0.2 s or more, all fly alike: integrators of first order, but with the same impulses
    few = 25
    np.testing.assert_allclose(run[:, :few, :3], tosses.measured[:, :few, :3], atol=2e-5)
    np.testing.assert_allclose(angles(tosses, run)[:, :few], 0.0, atol=0.1)
    rest = np.array([row[n - 1] for row, n in zip(run, tosses.lengths, strict=True)])
    assert rest[:, 2].max() < 0.9 * SIDE
    assert rest[:, 2].min() > 0.4 * SIDE  # soft ones sink in
    if make is VigymEngine:
        assert score(tosses, run).rotation < 1e-6


@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.name)
def test_parameters_reach_the_engine(make):
    """A cube that slides on a face comes to rest after v^2 / (2 mu g); soft contacts sink in by m g / (4 k)."""
    pytest.importorskip(make.needs)
    start = np.zeros((1, 13))
    start[:, 2], start[:, 3], start[:, 7] = SIDE / 2, 1.0, 0.5
    tosses = padded([np.repeat(start, 90, axis=0)] * 2, [0, 1])
    middle = named(make.parameters, physical(make.parameters, np.full(len(make.parameters), 0.5)))
    engine = make(tosses, substeps=8)
    for friction in (0.17, 0.19):
        x = engine(**middle | {"friction": friction})[0, -1]
        # by steps of 0.84 ms; soft contacts sink in first
        assert x[0] == pytest.approx(0.5**2 / (2 * 9.81 * friction), rel=0.02 if "stiffness" in middle else 0.005)
    if "restitution" in middle:
        still, high = (start * [1, 1, up, *[1] * 4, 0, *[1] * 5] for up in (1.0, 3.0))
        # long steps: in short ones PyBullet brakes what comes near
        engine = make(padded([np.repeat(high, 60, axis=0), np.repeat(still, 60, axis=0)], [0, 1]), substeps=1)
        dead, lively = (engine(**middle | {"restitution": e})[0, :, 2] for e in (0.0, 0.6))
        assert lively[30:].max() > dead[30:].max() + 1e-3
    if "stiffness" in middle:
        soft, stiff = (engine(**middle | {"stiffness": k})[-1, -1, 2] for k in (2e3, 2e4))
        assert soft < stiff - 5e-5
        if "MuJoCo" not in make.name:  # whose stiffness is none
            assert soft == pytest.approx(SIDE / 2 - 0.37 * 9.81 / (4 * 2e3), abs=5e-5)


def test_a_fit_finds_the_friction_that_was_thrown_with():
    tosses = thrown(count=8, friction=0.185, restitution=0.0)
    trials = explore([VigymEngine], tosses, 20, substeps=4)["vigym"]
    assert trials.errors.shape == (40, 2, 8)
    for i in trials.best(np.array([[1, 0] * 4, [0] * 4 + [1] * 4])):
        assert trials.named(i)["friction"] == pytest.approx(0.185, abs=0.004)
        assert trials.named(i)["restitution"] < 0.1
    np.testing.assert_array_equal(trials.errors[7], errors(tosses, VigymEngine(tosses, 4)(**trials.named(7))))


def test_parameters_are_spread_over_their_ranges():
    line, curve = FRICTION, Parameter("stiffness", 1e2, 1e6, logarithmic=True)
    found = physical((line, curve), np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]))
    np.testing.assert_allclose(found, [[line.low, 1e2], [(line.low + line.high) / 2, 1e4], [line.high, 1e6]])


def made_up(misses) -> Trials:
    """Trials with these errors of position (sets, tosses), and twice as large ones of rotation."""
    misses = np.array(misses, dtype=float)
    return Trials((FRICTION,), np.linspace(0.17, 0.19, len(misses))[:, None], np.stack([misses, 2 * misses], 1), misses)


def test_only_tosses_that_were_not_fitted_are_scored():
    # each of the two sets is perfect on two of the tosses; the halves fit one kind and are scored on the other
    trials = made_up([[0.0, 0.0, 3.0, 3.0], [5.0, 5.0, 0.0, 0.0]])
    half = np.array([[True, True, False, False]])
    scores, chosen = crossed(trials, half)
    assert chosen.tolist() == [0, 1]
    assert scores == [Score(3.0, 3.0, 6.0, 6.0), Score(5.0, 5.0, 10.0, 10.0)]
    assert mean(scores) == Score(4.0, 4.0, 8.0, 8.0)
    np.testing.assert_allclose(unseen(trials, half, np.ones(4)), [4.0, 8.0])
    halves = ways(7, 20)
    assert (halves.sum(1) == 3).all()
    assert len(np.unique(halves, axis=0)) > 10


def test_weights_are_tosses_that_are_there_more_than_once():
    misses = np.random.default_rng(0).uniform(size=(6, 4))
    weights = np.array([3, 0, 1, 2])
    half = np.array([[True, True, False, False]])
    again = np.repeat(np.arange(4), weights)
    np.testing.assert_allclose(
        unseen(made_up(misses), half, weights), unseen(made_up(misses[:, again]), half[:, again], np.ones(6))
    )


def test_how_sure_a_difference_is():
    """Engines that differ by luck alone are told apart seldom, though each is fitted; a real difference is seen."""
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(20):
        one, other = (made_up(rng.normal(10.0, 3.0, (20, 60))) for _ in range(2))
        limits = apart({"one": one, "other": other}, "one", draws=100)
        told += not limits["other"][0, 0] < 0.0 < limits["other"][0, 1]
        np.testing.assert_array_equal(limits["one"], 0.0)
    assert told <= 4
    worse = made_up(one.errors[:, 0] + 1.0)
    np.testing.assert_allclose(
        apart({"one": one, "worse": worse}, "one", draws=20)["worse"], [[1.0] * 2, [2.0] * 2, [3.0] * 2]
    )


def test_a_lost_cube_is_never_the_best():
    tosses = thrown()
    lost = tosses.measured[..., :7].copy()
    lost[1, 5:] = np.nan
    assert np.isinf(errors(tosses, lost)).tolist() == [[False, True, False, False]] * 2
    assert score(tosses, lost).position == np.inf


def test_trials_are_kept(tmp_path):
    trials, tosses = made_up(np.ones((3, 4))), thrown()
    tried = {"vigym": replace(trials, values=sets((FRICTION,), 3))}
    save(tmp_path / "trials.npz", 8, sharp=tried)

    class One(VigymEngine):
        parameters = (FRICTION,)

    again = read(tmp_path / "trials.npz", 8, "sharp", [One], tosses)["vigym"]
    np.testing.assert_array_equal(again.errors, tried["vigym"].errors)
    for makes, which in (([VigymEngine], tosses), ([One], tosses[:2]), (ENGINES, tosses)):
        with pytest.raises(InputError, match="leave --trials out"):
            read(tmp_path / "trials.npz", 8, "sharp", makes, which)
    save(tmp_path / "other.npz", 8, sharp={"vigym": trials})  # of other ranges
    with pytest.raises(InputError, match="other tosses or parameters"):
        read(tmp_path / "other.npz", 8, "sharp", [One], tosses)
    with pytest.raises(InputError, match="--substeps 8, not 4"):
        read(tmp_path / "trials.npz", 4, "sharp", [One], tosses)


def test_an_interrupt_ends_all_processes(tmp_path):
    pytest.importorskip("scipy")
    written(thrown(count=32, frames=130, above=0.2, restitution=0.4), tmp_path / "t.npz")
    command = [sys.executable, "-m", "vigym", "compare", "tosses", "--data", "t.npz", "--budget", "100000"]
    listening = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is born deaf to it
    with subprocess.Popen([*command, "--out", "."], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        signal.signal(signal.SIGINT, listening)
        assert process.stderr is not None
        seen = ""
        while "throw:   0%" not in seen:
            seen += (more := process.stderr.read(20))
            assert more, seen
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()  # to its end: all processes that could write there are gone
        assert process.wait(timeout=60) == 130
    assert rest.endswith("interrupted\n")
    assert "Traceback" not in rest


@pytest.mark.parametrize("cube", [DESCRIBED, LOPSIDED], ids=["described", "lopsided"])
def test_starts_from_the_whole_flight(cube):
    # noise on the first velocities is gone: made up tosses fly exactly, but for the half step that integrators lag
    tosses = thrown(count=6, above=0.3, cube=cube)
    spoilt = Tosses(tosses.measured.copy(), tosses.ids)
    spoilt.measured[:, 0, 7:] += 0.3
    before, after = (
        np.abs(t.measured[:, 0, 7:] - tosses.measured[:, 0, 7:]).max(1) for t in (spoilt, in_flight(spoilt, cube))
    )
    assert (before > 0.29).all()
    assert (after < 0.5 * 9.81 / RATE).all()
    np.testing.assert_array_equal(in_flight(spoilt, cube).measured[:, 1:], tosses.measured[:, 1:])


def test_a_cube_is_measured_from_its_tosses():
    """Flights of a symmetric inertia are exact but for the integrator's half step; impulses of steps of 1.7 ms."""
    tosses = thrown(count=40, frames=130, above=0.2, cube=LOPSIDED, restitution=0.4)
    found = measured(tosses)
    assert found.half == pytest.approx(LOPSIDED.half, abs=1e-5)
    assert found.gravity == pytest.approx(LOPSIDED.gravity, rel=1e-3)
    np.testing.assert_allclose(found.com, LOPSIDED.com, atol=2e-4)
    assert found.inertia == pytest.approx(LOPSIDED.inertia, rel=0.03)
    # as they were thrown: a bounce takes two steps of 1.7 ms, in which gravity and the spin go on
    restitution, friction = strikes(tosses, found)
    assert np.median(restitution) == pytest.approx(0.4, abs=0.03)
    assert np.median(friction) == pytest.approx(0.18, abs=0.005)
    assert np.median(slides(tosses, found)) == pytest.approx(0.18, abs=0.002)
    plain = measured(thrown(count=40, frames=130, above=0.2, restitution=0.4))
    np.testing.assert_allclose(plain.com, 0.0, atol=2e-4)
    assert plain.inertia == pytest.approx(DESCRIBED.inertia, rel=0.03)


def test_noise_does_not_hide_a_cube():
    # as large as that of the real measurements: 0.1 mm and 0.1 degrees, and one toss that was not tracked
    tosses, rng = thrown(count=60, frames=130, above=0.2, cube=LOPSIDED, restitution=0.4), np.random.default_rng(0)
    poses = tosses.measured[..., :7]
    poses[..., :3] += 1e-4 * rng.normal(size=poses[..., :3].shape)
    poses[..., 3:] = multiply(poses[..., 3:], from_rotation_vector(2e-3 * rng.normal(size=poses[..., :3].shape)))
    poses[7, 5:12, 0] += 0.02
    found = measured(tosses)
    np.testing.assert_allclose(found.com, LOPSIDED.com, atol=1.5e-3)
    assert found.inertia == pytest.approx(LOPSIDED.inertia, rel=0.05)


def test_a_cube_that_cannot_be_measured():
    tosses = thrown(count=8, frames=90)
    up = Tosses(tosses.measured[:, :14], tosses.ids)  # in the air to the end
    with pytest.raises(InputError, match="no toss ends on a face"):
        measured(up)
    down = Tosses(tosses.measured[:, 70:], tosses.ids)
    with pytest.raises(InputError, match="free flights"):
        measured(down[:3])
    with pytest.raises(InputError, match="impacts of single corners"):
        measured(tosses[:4])


def test_where_the_mass_is():
    # states of the tracked centre and of the centre of mass: one rigid motion, there and back
    states = thrown(cube=LOPSIDED).measured[:, 0]
    mass = LOPSIDED.to_mass(states)
    np.testing.assert_allclose(LOPSIDED.to_centre(mass[:, :7]), states[:, :7], atol=1e-15)
    step = 1e-6  # s
    q = multiply(states[:, 3:7], from_rotation_vector(step * states[:, 10:13]))
    moved = np.concatenate([states[:, :3] + step * states[:, 7:10], q, states[:, 7:]], axis=-1)
    np.testing.assert_allclose((LOPSIDED.to_mass(moved) - mass)[:, :3] / step, mass[:, 7:10], atol=1e-5)
    m = LOPSIDED.mechanism()
    np.testing.assert_allclose(np.mean([contact.point for contact in m.contacts], axis=0) + LOPSIDED.com, 0, atol=1e-15)
    assert m.bodies[0].inertia[0, 0] == LOPSIDED.inertia
    assert m.gravity[2] == -LOPSIDED.gravity


def test_which_side_is_down():
    # body z up, turned over, on its side
    states = np.zeros((3, 2, 13))
    states[:, :, 3:7] = [
        [from_rotation_vector(np.array(v))] * 2 for v in ((0, 0, 1.0), (np.pi, 0, 0), (0, np.pi / 2, 0))
    ]
    tosses = padded(states, range(3))
    assert heavy_side(tosses, Cube(com=(0.0, 0.0, 0.005))).tolist() == [-1, 1, 0]
    assert heavy_side(tosses, Cube(com=(0.0, 0.0, -0.005))).tolist() == [1, -1, 0]
    assert heavy_side(tosses, Cube(com=(0.005, 0.0, -0.001))).tolist() == [0, 0, 1]  # x points down


@pytest.mark.parametrize("name", ["MuJoCo", "PyBullet"])
def test_peers_throw_the_same_cube(name):
    make = next(make for make in ENGINES if make.name == name)
    pytest.importorskip(make.needs)
    engine = make(thrown(), cube=LOPSIDED)
    if name == "MuJoCo":
        mass, inertia = engine.model.body_mass[1], engine.model.body_inertia[1]
        assert engine.model.opt.gravity.tolist() == [0, 0, -LOPSIDED.gravity]
    else:
        mass, _, inertia, *_ = engine.p.getDynamicsInfo(engine.body, -1, physicsClientId=engine.client)
    assert mass == pytest.approx(MASS)
    np.testing.assert_allclose(inertia, LOPSIDED.inertia, rtol=1e-6)


def test_rounded_corners():
    # a cube on a corner is lower by r (sqrt(3) - 1) when it touches, on a face as high as before
    corner = from_rotation_vector(np.arccos(1 / np.sqrt(3)) * np.array([1.0, -1.0, 0.0]) / np.sqrt(2))
    for q, lower in ((np.array([1.0, 0, 0, 0]), 0.0), (corner, 0.004 * (np.sqrt(3) - 1))):
        touches = [(Cube(rounding=r).corners @ rotate(q, np.eye(3)))[:, 2].min() - r for r in (0.004, 0.0)]
        assert touches[0] - touches[1] == pytest.approx(lower, abs=1e-12)
    assert {contact.radius for contact in Cube(rounding=0.004).mechanism().contacts} == {0.004}


def test_faces():
    # about an axis that points up a cube stays on its face; about another one it does not
    tosses = thrown()
    for axis, other in (([0.0, 0.0, 1.4], False), ([1.4, 0.0, 0.0], True)):
        turned = tosses.measured[..., :7].copy()
        turned[..., 3:] = multiply(from_rotation_vector(np.array(axis)), turned[..., 3:])
        assert (other_face(tosses, turned) == other).all()


def original(n: int) -> np.ndarray:
    """Rows as the public files have them: lengths in half widths, velocities from the frame before, six zeros."""
    rows = np.zeros((n, 19))
    rows[:, :2] = np.linspace([3.0, 4.0], [1.0, 2.0], n)
    rows[:, 2] = np.linspace(2.0, 0.97, n)  # lies on a face in the end
    q = from_rotation_vector(np.outer(np.linspace(-1.0, 0.0, n), [0.3, 0.2, 1.0]))
    rows[:, 3:7] = q  # scalar first
    rows[1:, 7:10] = np.diff(rows[:, :3], axis=0) * RATE
    rows[1:, 10:13] = to_rotation_vector(multiply(conjugate(q[:-1]), q[1:])) * RATE  # body frame
    rows[0, 7:13] = rows[1, 7:13]
    return rows


@pytest.mark.parametrize("kind", ["csv", "pt"])
def test_original_files_are_converted(kind, tmp_path):
    for number, n in ((10, 3), (2, 4)):
        if kind == "pt":
            torch = pytest.importorskip("torch")
            torch.save(torch.tensor(original(n), dtype=torch.float64).unsqueeze(0), tmp_path / f"{number}.pt")
        else:
            np.savetxt(tmp_path / f"{number}.csv", original(n), delimiter=",")
    (tmp_path / "notes.csv").write_text("not a toss")
    assert convert(tmp_path, tmp_path / "tosses.npz") == 2
    tosses = load(tmp_path / "tosses.npz")
    assert tosses.ids.tolist() == [2, 10]
    assert tosses.lengths.tolist() == [4, 3]
    expected = original(4)[:, :13]
    expected[:, [0, 1, 2, 7, 8, 9]] *= SIDE / 2
    np.testing.assert_allclose(tosses.measured[0], expected, rtol=1e-12)
    assert convert(tmp_path, tmp_path / "some.npz", every=2) == 1
    assert load(tmp_path / "some.npz").ids.tolist() == [2]
    with pytest.raises(InputError, match="at least 1"):
        convert(tmp_path, tmp_path / "some.npz", every=0)


def test_bad_files_say_what_is_wrong(tmp_path):
    with pytest.raises(InputError, match="no tosses at"):
        load(tmp_path / "absent.npz")
    with pytest.raises(InputError, match=r"no files 0.pt"):
        convert(tmp_path, tmp_path / "out.npz")
    np.savetxt(tmp_path / "0.csv", np.ones((2, 13)), delimiter=",")
    with pytest.raises(InputError, match="not quaternions"):
        convert(tmp_path, tmp_path / "out.npz")
    metres = original(3)
    metres[:, :3] *= SIDE / 2
    np.savetxt(tmp_path / "0.csv", metres, delimiter=",")
    with pytest.raises(InputError, match=r"should be half widths.*0\.0508"):
        convert(tmp_path, tmp_path / "out.npz")
    np.savez(tmp_path / "other.npz", states=np.zeros((2, 13)))
    with pytest.raises(InputError, match="offsets"):
        load(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("not a file of NumPy")
    with pytest.raises(InputError, match="is not a file of tosses"):
        load(tmp_path / "text.npz")
    for states, offsets, wrong in (
        (np.ones((4, 13)), [0, 1, 2, 2, 4], "must rise"),
        (np.full((4, 13), np.nan), [0, 1, 2, 3, 4], "not numbers"),
        (np.zeros((4, 13)), [0, 1, 2, 3, 4], "quaternions that are zero"),
    ):
        np.savez(tmp_path / "other.npz", states=states, offsets=offsets, toss_ids=np.arange(len(offsets) - 1))
        with pytest.raises(InputError, match=wrong):
            load(tmp_path / "other.npz")


def test_the_command_in_its_quick_form(tmp_path, capsys):
    for name in ("mujoco", "pybullet", "matplotlib", "scipy"):
        pytest.importorskip(name)
    data = written(thrown(count=32, frames=130, above=0.2, restitution=0.4), tmp_path / "made up.npz")
    assert main(["compare", "tosses", "--quick", "--substeps", "2", "--data", str(data), "--out", str(tmp_path)]) == 0
    page = (tmp_path / "tosses.md").read_text(encoding="utf-8")
    assert page in capsys.readouterr().out
    assert f"{QUICK} tosses" in page
    for make in ENGINES:
        assert page.count(f"\n| {make.name} |") >= 9  # ranges, halves of two cubes, means of three and differences
    for name in ("The cube", "The cube as measured", "The cube as described", "Starts from the flight"):
        assert f"\n## {name}\n" in page
    again = ["--trials", str(tmp_path / "tosses-trials.npz"), "--data", str(data), "--out", str(tmp_path)]
    assert main(["compare", "tosses", "--quick", "--substeps", "2", *again]) == 0
    assert (tmp_path / "tosses.md").read_text(encoding="utf-8") == page
    for name in ("errors", "examples", "pyramid"):
        assert (tmp_path / f"tosses-{name}.png").read_bytes().startswith(b"\x89PNG")


@needs_data
def test_the_real_cube_is_lopsided():
    """Found in both halves of the tosses, and seen where it comes to rest: the heavy side is down twice as often."""
    tosses = load(Path(DATA or ""))
    cubes = [measured(half) for half in tosses.halves()]
    for found in cubes:
        np.testing.assert_allclose(found.com, [0.0, 0.0, 0.0055], atol=1e-3)
        assert found.inertia == pytest.approx(1.03e-3, rel=0.03)
        assert found.half / DESCRIBED.half == pytest.approx(found.gravity / DESCRIBED.gravity, abs=2e-3)
    down = heavy_side(tosses, cubes[0])
    assert (down > 0).sum() > 1.5 * (down < 0).sum()


@needs_data
def test_real_tosses_are_met_closer_than_by_peers_and_pyramids():
    """Every second toss; the cube, and what fits every engine best, are from the others (docs/comparison/tosses.md)."""
    for name in ("mujoco", "pybullet"):
        pytest.importorskip(name)
    even, odd = load(Path(DATA or "")).halves()
    cube = measured(even)
    engine = VigymEngine(odd, cube=cube)
    found = steady(odd, engine, friction=0.185, restitution=0.26)
    assert engine.failed == 0
    plain = steady(odd, VigymEngine(odd), friction=0.18)
    assert found.total < plain.total - 8.0
    fixed = steady(odd, VigymEngine(odd, cube=cube, cone="pyramid"), friction=0.185, restitution=0.26)
    assert fixed.position > 1.7 * found.position
    for make, values in (
        (MujocoEngine, {"friction": 0.19, "stiffness": 50600.0, "damping": 333.0}),
        (SoftMujocoEngine, {"friction": 0.181, "stiffness": 30900.0, "damping": 390.0, "width": 0.0035}),
        (RigidBulletEngine, {"friction": 0.18, "restitution": 0.37}),
    ):
        theirs = steady(odd, make(odd, cube=cube), **values)
        assert found.position < theirs.position
        assert found.rotation < theirs.rotation - 0.5
