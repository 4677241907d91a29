"""`./mq` makes `.venv` and leaves one that it did not make alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def mq(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    for name in ("mq", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "MQ_PYTHON": sys.executable, "PIP_NO_INDEX": "1"}
    command = ["bash", str(folder / "mq"), *arguments]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("command", ["run", "readings"])
def test_an_environment_of_somebody_else_stays(command: str, tmp_path: Path) -> None:
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    (tmp_path / ".venv" / "precious").write_text("mine", encoding="utf-8")
    done = mq(tmp_path, command)
    assert done.returncode == 3 and "was not made by this script" in done.stderr, done.stderr
    assert (tmp_path / ".venv" / "precious").read_text(encoding="utf-8") == "mine" and own.is_symlink()


def test_an_interrupted_set_up_of_its_own_begins_anew(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".interpreter").touch()
    (tmp_path / ".venv" / "half").touch()
    done = mq(tmp_path, "run")
    assert "was not made by this script" not in done.stderr and not (tmp_path / ".venv" / "half").exists()
    assert (tmp_path / ".venv" / "bin" / "python").exists()
