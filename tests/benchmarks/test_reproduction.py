"""`vigym reproduce`: every experiment in its quick form, what its parts rest on, and a report that hides nothing."""

import subprocess
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from vigym import Mechanism, Simulator
from vigym.__main__ import main
from vigym.benchmarks.reproduction import catalogue, report, run
from vigym.benchmarks.reproduction.baumgarte import Baumgarte
from vigym.benchmarks.reproduction.dense import Dense, Errors
from vigym.benchmarks.reproduction.elimination import Graph, chain, eliminate
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Result, load, write_csv
from vigym.benchmarks.scenes import build
from vigym.engine.shapes import Cylinder
from vigym.engine.state import State

# Claims that differ, and are meant to: one of the paper's, and all errors of its published code.
EXPECTED = {"structure": 1, "corrections": 5}
COMMITTED = Path(__file__).parents[2] / "docs" / "reproduction"


@pytest.mark.parametrize("name", catalogue.EXPERIMENTS)
def test_quick_form(name, tmp_path):
    pytest.importorskip("matplotlib")
    result = run.apart(name, tmp_path, "quick")
    assert result.status == "ok", result.error
    differing = [claim for claim in result.claims if claim.verdict == DIFFERS]
    # times of a busy machine are not judged here: test_linear_time.py does that with the patience that it takes
    if name not in ("disc", "chain"):
        assert len(differing) == EXPECTED.get(name, 0), differing
    assert sum(claim.verdict == AGREES for claim in result.claims) > 0 or name in ("disc", "chain", "corrections")
    assert result.pictures
    assert result.files
    for picture in result.pictures:
        assert (tmp_path / picture.file).read_bytes().startswith(b"\x89PNG")
    for file in result.files:
        lines = (tmp_path / file).read_text().splitlines()
        assert len(lines) > 2
        assert len({line.count(",") for line in lines if '"' not in line}) == 1


def test_command_keeps_what_has_ended(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    asked = []

    def fake(name, folder, form):
        asked.append(name)
        result = Result(name, catalogue.EXPERIMENTS[name][1], form, machine=run.machine.describe())
        result.save(folder)
        return result

    monkeypatch.setattr("vigym.benchmarks.reproduction.reproduce.apart", fake)
    main(["reproduce", "hopper", "drift", "--quick", "--out", str(tmp_path)])
    assert asked == ["hopper", "drift"]
    main(["reproduce", "hopper", "energy", "--quick", "--out", str(tmp_path)])
    assert asked == ["hopper", "drift", "energy"]
    assert "hopper: kept from an earlier run" in capsys.readouterr().out
    main(["reproduce", "hopper", "--quick", "--fresh", "--out", str(tmp_path)])
    assert asked[3:] == ["hopper"]
    text = (tmp_path / "quick" / "report.md").read_text()
    assert "not run" in text
    assert all(f"(`{name}`)" in text for name in catalogue.EXPERIMENTS)
    main(["reproduce", "hopper", "--out", str(tmp_path)])  # the full form is another one
    assert asked[4:] == ["hopper"]


def test_an_experiment_that_raises_is_in_the_report(tmp_path, monkeypatch, capsys):
    def broken(folder, quick):
        raise ValueError("no <good> | at all")

    monkeypatch.setattr(run, "function", lambda name: broken)
    result = run.run("drift", tmp_path, "quick")
    assert result.status == "failed"
    report.write(tmp_path)
    for file in ("report.md", "report.html"):
        text = (tmp_path / file).read_text()
        assert "FAILED" in text
        assert "ValueError" in text
    assert "&lt;good&gt;" in (tmp_path / "report.html").read_text()
    assert "ValueError" in capsys.readouterr().err  # and its traceback is shown


def test_an_experiment_that_dies_is_in_the_report(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    Result("energy", "from before", "quick").save(tmp_path / "quick")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: SimpleNamespace(returncode=-11))
    with pytest.raises(SystemExit, match="failed: energy"):
        main(["reproduce", "energy", "--quick", "--fresh", "--out", str(tmp_path)])
    assert "ended with -11" in (tmp_path / "quick" / "report.md").read_text()


def test_an_unknown_experiment_is_an_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "no-such-experiment"])
    assert stop.value.code == 2


def test_results_survive_the_file(tmp_path):
    result = Result("disc", "A title", method=["one"], notes=["two"])
    result.claim("what", "paper", "measured", NEW)
    with pytest.raises(ValueError, match="verdict"):
        result.claim("what", "paper", "measured", "perhaps")
    result.save(tmp_path)
    assert load(tmp_path, "disc") == result
    assert load(tmp_path, "chain") is None
    (tmp_path / "chain.json").write_text('{"name": "ch')  # a disk that was full
    assert load(tmp_path, "chain") is None
    assert write_csv(tmp_path, "a.csv", ["x", "y"], [(1, 1 / 3)]) == "a.csv"
    assert (tmp_path / "a.csv").read_text().split() == ["x,y", "1,0.333333"]


def test_both_reports_say_the_same(tmp_path):
    result = Result("disc", "A title", files=["disc.csv"])
    result.claim("a < b", "yes | no", "`code`", AGREES)
    result.save(tmp_path)
    markdown, page = (path.read_text() for path in report.write(tmp_path))
    assert "| a < b | yes \\| no | `code` | agrees |" in markdown
    assert '<td>a &lt; b</td><td>yes | no</td><td><code>code</code></td><td class="agrees">agrees</td>' in page
    assert '<a href="disc.csv">disc.csv</a>' in page


def test_the_committed_report_is_whole(tmp_path):
    """All experiments in full, all went well, and both reports are what their results say."""
    results = [load(COMMITTED, name) for name in catalogue.EXPERIMENTS]
    assert [(result.status, result.form) for result in results] == [("ok", "full")] * len(results)
    for result in results:
        assert len([claim for claim in result.claims if claim.verdict == DIFFERS]) == EXPECTED.get(result.name, 0)
        assert all((COMMITTED / file).is_file() for file in result.files)
        assert all((COMMITTED / picture.file).is_file() for picture in result.pictures)
        result.save(tmp_path)
    for path in report.write(tmp_path):
        assert path.read_text(encoding="utf-8") == (COMMITTED / path.name).read_text(encoding="utf-8")


# ---------------------------------------------------------------------------------------------------- its parts
def rod() -> tuple[Mechanism, State]:
    m = Mechanism()
    m.add_body("rod", mass=1.0, shapes=[Cylinder(0.05, 0.8)])
    for k, z in enumerate((-0.4, 0.4)):
        m.add_contact(f"end {k}", "rod", (0, 0, z), radius=0.05 * k, friction=0.3, normal=(0.1, 0.2, 1.0))
    q = np.array([[0.8, 0.1, 0.5, -0.3]])
    q /= np.linalg.norm(q)
    w, v = np.array([[2.0, -3.0, 1.0]]), np.array([[1.0, -0.5, -0.5]])
    state = State(np.zeros((1, 3)), q, v, w)
    state.x[0, 2] = 0.01 - Dense(m, 0.01).gaps(state.x, q).min() * np.linalg.norm([0.1, 0.2, 1.0])
    return m, state


def apart(m: Mechanism, state: State, h: float, steps: int) -> tuple[float, Simulator]:
    """Largest difference of engine and dense equations, in all of x, q, v, w and all steps."""
    sim = Simulator(m, dt=h, cone="pyramid")
    sim.set_state(*state)
    most = 0.0
    for solved in Dense(m, h).run(state, steps, tolerance=1e-9):
        sim.step()
        assert solved.converged
        most = max(most, *(np.abs(a[0] - b).max() for a, b in zip(sim.state, solved.state, strict=True)))
    return most, sim


def test_the_dense_equations_are_those_of_the_engine():
    # Two independent ways to solve the same equations, but for the paper's rotation map in one and the engine's in the
    # other. Both are of second order, so they approach each other with h^2.
    m, state = rod()
    (coarse, sim), (fine, _) = (apart(m, state, h, round(0.12 / h)) for h in (0.01, 0.005))
    assert sim.contact_gaps().min() < 1e-4  # it has landed
    assert coarse < 0.005  # of w, 4 rad/s
    np.testing.assert_allclose(coarse / fine, 4.0, rtol=0.1)


def test_dense_joints_are_those_of_the_engine():
    # as above
    scene = build("flying-chain", links=3, dt=0.01)
    coarse, fine = (apart(scene.mechanism, scene.start, h, round(0.08 / h))[0] for h in (0.02, 0.01))
    assert coarse < 1e-4
    np.testing.assert_allclose(coarse / fine, 4.0, rtol=0.1)


@pytest.mark.parametrize("error", ["gyroscopic", "half_torque", "world_axes"])
def test_every_error_changes_the_motion(error):
    m, state = rod()
    right, wrong = (Dense(m, 0.01, errors).run(state, 8)[-1].state for errors in (Errors(), Errors(**{error: True})))
    assert np.abs(right.w - wrong.w).max() > 1e-3


def test_wrong_step_length_leaves_the_positive_side():
    dense = Dense(rod()[0], 0.01, Errors(step_length=True)), Dense(rod()[0], 0.01)
    for each in dense:
        each.maps(rod()[1])
    y = dense[0].start(rod()[1])
    falls = np.where(dense[0].positive(), -2.0, 0.0)
    assert dense[0].longest(y, falls) == 1.0  # straight through zero
    assert dense[1].longest(y, falls) == pytest.approx(0.95 / 2)


def test_elimination():
    # a tree eliminated from its leaves fills nothing; a cycle of k nodes fills k - 3 chords
    tree = Graph(dict.fromkeys("abdce", 1), {frozenset(pair) for pair in ("ab", "bc", "dc", "ce")})
    assert eliminate(tree).fill == set()
    cycle = Graph(dict.fromkeys("abcdef", 1), {frozenset(pair) for pair in ("ab", "bc", "cd", "de", "ef", "fa")})
    assert len(eliminate(cycle).fill) == 3
    full = Graph(dict.fromkeys("abcdef", 2), {frozenset(pair) for pair in combinations("abcdef", 2)})
    done = eliminate(full)
    assert (done.fill, done.blocks) == (set(), 30)
    # LU of a dense 12 x 12 matrix takes 2/3 n^3 operations, up to lower orders
    assert 2 / 3 * 12**3 < done.operations < 2 / 3 * 12**3 + 8 * 12**2


def test_only_maximal_coordinates_are_linear():
    counts = {
        maximal: [eliminate(chain(n, [0, *range(n)], maximal=maximal)).operations for n in (10, 20, 40)]
        for maximal in (True, False)
    }
    a, b, c = counts[True]
    assert c - b == 2 * (b - a)  # exactly linear
    a, b, c = counts[False]
    assert c > 4 * b > 16 * a / 2


def test_baumgarte_falls_as_a_rod_does():
    # a rod of length l on a pivot, released horizontally: angular acceleration m g (l/2) / (J + m l^2/4)
    scene = build("free-chain", links=1, dt=0.001)
    chains = Baumgarte(scene, 1e-4, [0.0, 10.0])
    inertia = scene.mechanism.bodies[0].inertia[1, 1]
    chains.step()
    np.testing.assert_allclose(chains.om[:, 0, 1], 1e-4 * 9.81 * 0.5 / (inertia + 0.25), rtol=1e-9)
    with pytest.raises(ValueError, match="chains of ball joints"):
        Baumgarte(build("disc"), 0.01, [0.0])


def test_baumgarte_holds_what_drifts_without_it():
    scene = build("free-chain", links=3, dt=0.002)
    openings = []
    for h in (0.004, 0.002):
        chains = Baumgarte(scene, h, [0.0, 20.0])
        for _ in range(round(0.6 / h)):
            chains.step()
        openings.append(chains.separation())
    assert openings[1][0] < 0.7 * openings[0][0]  # the drift is the integrator's, of first order
    assert openings[1][1] < 0.5 * openings[1][0]
    chains.keep(np.array([False, True]))
    assert chains.separation().shape == (1,)


def test_momenta_of_all_engines_are_of_the_same_motion():
    from vigym.benchmarks.runner import Vigym

    pytest.importorskip("mujoco")
    pytest.importorskip("pybullet")
    from vigym.benchmarks.peers.bullet_runner import Bullet
    from vigym.benchmarks.peers.mujoco import Mujoco

    h = 1e-4
    scene = build("flying-chain", links=4, dt=h)
    engines = [kind(scene, h, 10, **options) for kind, options in ((Vigym, {}), (Mujoco, {}), (Bullet, {}))]
    engines.append(Bullet(scene, h, 10, maximal=True))
    for engine in engines:
        engine.reset()
    # ours are means over a step, which differ by a step of the accelerations
    momenta, energies = ([getattr(engine, name)() for engine in engines] for name in ("momentum", "energy"))
    assert np.linalg.norm(momenta[0][:3]) > 0.1
    for other in momenta[1:]:
        np.testing.assert_allclose(other, momenta[0], rtol=0, atol=1e-3 * np.abs(momenta[0]).max())
    np.testing.assert_allclose(energies, energies[0], rtol=1e-3)
