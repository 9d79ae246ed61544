"""Tosses of a cube: files, scores, and engines that throw as vigym does."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tosses import DATA, LOPSIDED, needs_data, thrown, written

from vigym import InputError
from vigym.__main__ import main
from vigym.assets.cube import MASS, SIDE
from vigym.benchmarks.tosses.convert import convert
from vigym.benchmarks.tosses.cube import DESCRIBED
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
from vigym.benchmarks.tosses.measure import measured
from vigym.benchmarks.tosses.report import QUICK
from vigym.benchmarks.tosses.study import in_flight, other_face
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, to_rotation_vector


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
