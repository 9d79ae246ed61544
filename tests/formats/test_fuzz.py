"""Spoilt files of every format are read, or refused by an InputError that names the file: nothing else is raised."""

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from fuzz import mutated, robots, spoilt
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from vigym.benchmarks.soak.formats import FORMATS
from vigym.benchmarks.soak.fuzzing import fuzz, outcome
from vigym.benchmarks.soak.mutations import EDITS
from vigym.benchmarks.soak.result import Result

CORPUS = Path(__file__).parents[1] / "corpus"  # FORMAT-WHAT.ENDING: files that once failed, and others of their kind
GOOD = ("read", "refused")
# Recordings have tests of their own, tests/unit/test_recording.py.
SOURCES: dict[str, tuple[str, st.SearchStrategy[bytes]]] = {
    **{name: (name, spoilt(name)) for name in ("urdf", "obj", "stl", "policy")},
    "robots": ("urdf", robots()),
}
FEW, MANY = 150, 10_000


def search(source: str, examples: int) -> Counter[str]:
    """Outcomes of so many files; the first one that fails is shrunk and told."""
    name, files = SOURCES[source]
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:

        @settings(max_examples=examples, suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink])
        @given(files)
        def each(data: bytes) -> None:
            verdict = outcome(name, data, Path(folder))
            found[verdict] += 1
            assert verdict in GOOD

        each()
    print(source, dict(found))
    return found


@pytest.mark.parametrize("source", SOURCES)
def test_spoilt_files(source: str) -> None:
    assert set(search(source, FEW)) == set(GOOD)


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_ten_thousand_spoilt_files(source: str) -> None:
    assert set(search(source, MANY)) == set(GOOD)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*-*")), ids=lambda path: path.name)
def test_files_that_failed_once(tmp_path: Path, path: Path) -> None:
    assert outcome(path.name.partition("-")[0], path.read_bytes(), tmp_path) in GOOD


@pytest.mark.parametrize("name", FORMATS)
def test_whole_files_are_read(tmp_path: Path, name: str) -> None:
    assert [outcome(name, data, tmp_path) for data in FORMATS[name].samples()] == ["read"] * len(
        FORMATS[name].samples()
    )


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_edits_change_files_and_repeat(edit: Callable[[bytes, Random], bytes]) -> None:
    data = FORMATS["urdf"].samples()[0]
    changed = [edit(data, Random(seed)) for seed in range(20)]
    assert len(set(changed) - {data}) > 10
    assert changed == [edit(data, Random(seed)) for seed in range(20)]
    assert all(len(edit(b"x", Random(seed))) < 10_000 for seed in range(20))


@settings(max_examples=20)
@given(mutated(b"any bytes of a program"))
def test_any_bytes_can_be_spoilt(data: bytes) -> None:
    assert isinstance(data, bytes)


def test_a_fault_is_found_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that raises something else is told, with the file that made it do so."""

    def careless(path: Path) -> object:
        return path.read_bytes().decode("ascii")

    monkeypatch.setitem(FORMATS, "urdf", FORMATS["urdf"]._replace(read=careless))
    result = Result(tmp_path, {})
    result.begin("files")
    for seed in range(100):
        fuzz(result, 0.0, seed)
    failed = [line for line in result.failures if "urdf-" in line]
    assert failed
    assert all("UnicodeDecodeError" in line for line in failed)
    kept = list((tmp_path / "failed").glob("urdf-*"))
    assert kept
    with pytest.raises(UnicodeDecodeError):
        careless(kept[0])
