"""The public interface is typed: a user's program passes `mypy --strict`, and a mistake in it is found."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def strict(program: Path, cache: Path) -> str:
    """Run mypy on a program as its user would; errors within vigym itself are not his."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={cache}"]
    told = subprocess.run([*command, str(program)], cwd=ROOT, capture_output=True, text=True, check=False)
    return told.stdout + told.stderr


@pytest.mark.skipif(not (ROOT / ".typecheck" / "vigym").is_dir(), reason="the clone does not keep symbolic links")
def test_a_program_of_a_user_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    assert "Success" in strict(HERE / "typed_sample.py", tmp_path)
    wrong = tmp_path / "wrong.py"
    shutil.copy(HERE / "typed_sample.py", wrong)
    with wrong.open("a") as file:
        file.write("\nvigym.Simulator(build(0.2), dt='fast')\n")
    assert 'Argument "dt" to "Simulator" has incompatible type "str"' in strict(wrong, tmp_path)


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "py.typed").is_file()
    assert 'vigym = ["py.typed"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
