"""`vigym bench gradients`: figures are those of what they name; what they should be is judged on a quiet machine."""

import pytest

from vigym.benchmarks import gradients


def test_figures_of_one_robot(tmp_path):
    figures, doing = gradients.of_vigym(1, 1)
    assert [figure.what.split(",")[0] for figure in figures] == [
        *("step", "VJP", "Jacobian", "Jacobian"),
        "rollout of 100 and its backward pass",
    ]
    assert all(figure.microseconds > 0 for figure in figures)
    assert figures[4].steps > 1  # a rollout alone is a part of it
    assert "1 A1: 7." in doing  # Newton iterations: it does not stand still
    pytest.importorskip("mujoco")
    peers = gradients.of_mujoco(1)
    assert peers[1].steps > 20  # as many steps as there are coordinates and velocities, and more
    table, page = gradients.write([*figures, *peers], [doing], tmp_path, "somewhere")
    assert len(table.read_text().splitlines()) == 9
    assert "| MuJoCo | 1 | step |" in page.read_text()
