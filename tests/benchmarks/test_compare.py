"""`vigym compare`: figures by the same formulas for all engines, tables, pictures, in its quick form."""

from dataclasses import replace

import numpy as np
import pytest

from vigym.__main__ import main
from vigym.benchmarks.compare import scenes
from vigym.benchmarks.compare.cases import CASES, EXACT, MUJOCO, PYRAMID
from vigym.benchmarks.compare.command import Name
from vigym.benchmarks.compare.record import Recording, derive, figures, in_stance, record
from vigym.benchmarks.scenes.incline import SLIP, STICK, slid


def test_names_of_the_command_are_the_cases():
    assert set(Name.__args__) == {*CASES, "tosses"}


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.exact is not None])
def test_exact_ends_are_those_of_vigym(name):
    """With fine steps, vigym's bodies end where a formula says, if there is one: first order, h v t at 1 ms."""
    case = CASES[name]
    scene = case.build()
    recording = record(EXACT, scene, 0.001, case.seconds, timed=False)
    found = figures(case, scene, recording, derive(case, scene, recording), None)
    assert found.exact is not None
    assert found.exact < 2e-3
    assert found.failures == 0


def test_figures_of_a_block_on_a_slope():
    """It has slid by the formula, so that each of its four contacts, in one stance each, has slipped as far."""
    for friction in (SLIP, STICK):
        case = replace(CASES["incline-slip"], parameters={"friction": friction})
        scene = case.build()
        recording = record(PYRAMID, scene, 0.002, 0.5)
        derived = derive(case, scene, recording)
        row = figures(case, scene, recording, derived, recording)
        assert derived.stances == 4
        assert row.slip == pytest.approx(slid(friction, 0.5), abs=0.002 * 1.7)  # h v
        assert row.deepest == pytest.approx(0.0, abs=1e-9)
        assert row.gained == pytest.approx(0.0, abs=1e-9)
        assert row.limit == 0.0
        assert row.cost is not None
        assert row.separation is None


def made_up(heights: np.ndarray, speed: float = 0.5, step: float = 0.001) -> Recording:
    """A disc that slides along x at a constant speed, with its contacts at these heights (T,), m."""
    x, q, _, _ = CASES["disc"].build().start
    times = step * np.arange(len(heights))
    along = np.stack([speed * times, 0 * times, heights], -1)[:, None]
    velocities = np.zeros((2, len(times), 1, 3))
    velocities[0, ..., 0] = speed
    return Recording(PYRAMID, step, times, x + along, np.repeat(q[None], len(times), 0), *velocities, 0.0, 0)


@pytest.mark.parametrize(("hop", "stances"), [(0.0, 1), (0.0015, 1), (0.004, 1), (0.006, 50)])
def test_a_contact_that_chatters_slips_as_far_as_one_that_stays_down(hop, stances):
    """Down for a look, up for a look, 50 times at 0.5 m/s: 49.5 mm in one stance, up to the last touch; or, if it
    leaves the ground, 0.5 mm in each."""
    case = CASES["disc"]
    scene = case.build()
    recording = made_up(hop * (np.arange(100) % 2))
    derived = derive(case, scene, recording)
    row = figures(case, scene, recording, derived, None)
    assert derived.stances == 10 * stances
    looks = 1 if stances > 1 else 100 if hop == 0.0 else 99
    assert row.slip == pytest.approx(0.5 * 0.001 * looks)


def test_a_stance_ends_at_its_last_touch():
    gaps = 1e-3 * np.array([[9.0, 3.0, 0.5, 3.0, 0.0, 2.0, 4.0, 6.0, 2.0, 0.9, 2.0]]).T
    assert in_stance(gaps)[:, 0].tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0]


def test_a_run_that_diverged_has_dashes():
    case = CASES["disc"]
    scene = case.build()
    recording = made_up(np.zeros(1001))
    for part in (recording.x, recording.q, recording.v, recording.omega):
        part[500:] = np.nan
    row = figures(case, scene, recording, derive(case, scene, recording), recording)
    assert row.diverged
    assert (row.slip, row.gained, row.limit, row.exact) == (None, None, None, None)
    assert row.deepest == pytest.approx(0.0, abs=1e-9)  # until then
    assert "nan" not in scenes.text([row])
    assert "| - |" in scenes.text([row, replace(row, diverged=False, slip=0.1)])


def test_energy_and_momentum_are_the_simulators():
    case = CASES["top"]
    scene = case.build()
    recording = record(PYRAMID, scene, 0.001, 0.02, timed=False)
    derived = derive(case, scene, recording)
    engine = PYRAMID.runner(scene, 0.001, 0.02)
    engine.reset()
    np.testing.assert_allclose(derived.energy[0], engine.energy(), rtol=1e-12)
    # the simulator's is that of the integrator, which differs by (h w)^2 / 12 or so of 0.12 rad
    np.testing.assert_allclose(derived.pole[0], engine.sim.momentum()[0, 5], rtol=5e-3)


def test_a_cube_in_flight_keeps_its_momenta_in_all_engines():
    pytest.importorskip("mujoco")
    case = CASES["toss"]
    scene = case.build()
    for mode in (PYRAMID, MUJOCO):
        recording = record(mode, scene, 0.002, 0.1, timed=False)
        row = figures(case, scene, recording, derive(case, scene, recording), None)
        assert row.momentum is not None
        assert row.momentum < 1e-8


@pytest.mark.parametrize("names", [["incline-stick", "top"], pytest.param([], marks=pytest.mark.slow)])
def test_the_command_in_its_quick_form(tmp_path, capsys, names):
    for name in ("mujoco", "pybullet", "matplotlib"):
        pytest.importorskip(name)
    assert main(["compare", "--quick", *names, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for name in names or CASES:
        table = scenes.read(tmp_path / f"{name}.csv")
        assert {row.label for row in table} == {mode.label for mode in CASES[name].modes}
        assert {row.dt for row in table} == {0.005, 0.01}
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        ours = [row for row in table if row.label.startswith("vigym")]
        assert max(row.deepest or 0.0 for row in ours) < 1e-9
        assert max(row.failures for row in ours) == 0
        assert scenes.text(table).strip() in said
    page = (tmp_path / f"{'-'.join(names) or 'scenes'}.md").read_text(encoding="utf-8")
    assert f"Made by `vigym compare {' '.join([*names, '--quick'])}`." in page


def test_tosses_need_data(tmp_path):
    with pytest.raises(SystemExit, match="--data"):
        main(["compare", "tosses"])
    with pytest.raises(SystemExit, match="no tosses at"):  # before any scene is run
        main(["compare", "--data", str(tmp_path / "absent.npz"), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()
    with pytest.raises(SystemExit, match="--data is for the tosses"):
        main(["compare", "top", "--data", str(tmp_path / "absent.npz")])


def test_feet_that_are_drawn_exist():
    feet = {name: case.foot for name, case in CASES.items() if case.foot}
    assert set(feet) == {"flip", "a1-stand", "a1-trot"}
    for name, foot in feet.items():
        assert foot in [contact.name for contact in CASES[name].build().mechanism.contacts]
