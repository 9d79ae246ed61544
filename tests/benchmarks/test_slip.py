"""A cube in a grasp slips in engines whose contacts give way, and not in this one."""

import pytest

pytest.importorskip("mujoco", reason='pip install "vigym[compare]"')
pytest.importorskip("pybullet", reason='pip install "vigym[compare]"')

from vigym.benchmarks import slip


@pytest.mark.filterwarnings("ignore:body 'cube' will fall")
def test_a_cube_slips_elsewhere():
    found = slip.measure(seconds=0.9)  # up, and half the way down
    assert set(found) == set(slip.ENGINES)
    for way, lift in found.values():
        assert 0.05 < lift < 0.11
        assert way < 0.01
    assert found["vigym"][0] < 1e-9
    assert all(way > 1e-6 for name, (way, _) in found.items() if name != "vigym")
