"""`vigym bench envs` in small: every figure is there and can be right; how fast things are is not asserted."""

import csv

import pytest

from vigym.benchmarks import environments
from vigym.envs.registration import ENVIRONMENTS

pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def figures() -> list[environments.Figure]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environments, "BATCH", 8)
        patch.setattr(environments, "PEER_BATCH", 2)
        batches = environments.batches(1, 4)
        return batches + environments.singles(1, 4) + environments.overheads(1, 4) + environments.pictures(1)


def test_ratios_are_those_of_the_figures(figures):
    values = [figure.measured for figure in figures]
    assert values[2] == pytest.approx(values[0] / values[1])
    assert values[5] == pytest.approx(values[3] / values[4])
    assert min(values) > 0


def test_every_environment_has_a_share_of_its_own(figures):
    shares = {figure.name.split(",")[0]: figure.measured for figure in figures if "outside" in figure.name}
    assert list(shares) == list(ENVIRONMENTS)
    assert all(0 < share < 1 for share in shares.values())


def test_goals_are_judged(figures):
    judged = [figure for figure in figures if figure.goal]
    assert len(judged) == 4
    ratio = next(figure for figure in judged if "Ant-v5" in figure.name)
    assert ratio.reached == (ratio.measured >= environments.LEAST_GAIN)


def test_files(figures, tmp_path):
    table, page = environments.write(figures, tmp_path, "a machine")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["measured"]) for row in rows] == [figure.measured for figure in figures]
    text = page.read_text()
    assert text.startswith("# a machine")
    assert all(figure.name in text for figure in figures)
