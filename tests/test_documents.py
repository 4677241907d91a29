"""What is skipped for want of the documents is counted, and every test that reads them can be selected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from documents import VARIABLE, WITHOUT, folder, summary

TESTS = Path(__file__).parent


def test_only_one_place_reads_the_variable() -> None:
    readers = {path.name for path in TESTS.rglob("*.py") if f'"{VARIABLE}"' in path.read_text(encoding="utf-8")}
    assert readers == {"documents.py"}


def test_a_test_without_the_documents_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for value in ("", str(tmp_path)):
        monkeypatch.setenv(VARIABLE, value)
        with pytest.raises(pytest.skip.Exception, match=WITHOUT):
            folder()


def test_the_last_line_counts_them(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = documents: reads them\n", encoding="utf-8")
    module = "def test_one(documents): pass\ndef test_two(documents): pass\ndef test_three(): pass\n"
    (tmp_path / "test_it.py").write_text(module, encoding="utf-8")
    ours = (VARIABLE, "PYTEST_")  # and those of the process that runs this test
    variables = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    variables["PYTHONPATH"] = os.pathsep.join((str(TESTS), str(TESTS.parent)))

    def lines(*options: str) -> list[str]:
        line = [sys.executable, "-m", "pytest", "-ra", "-p", "no:xdist", *options]
        done = subprocess.run(
            line, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    *_, counted, last = lines()
    assert counted.startswith("2 tests skipped for want of the documents") and "1 passed, 2 skipped" in last
    assert "2 skipped, 1 deselected" in lines("-m", "documents")[-1]


def test_nothing_is_said_where_nothing_is_skipped() -> None:
    assert summary([]) is None
