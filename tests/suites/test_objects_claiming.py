"""What plans judge is found once, and found again where the cache does not have it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from conformance.suites.objects.playing import claimed
def find():
    print("found")
    return ("A", "B")
print(claimed(("plan", 1), find), claimed(("plan", 1), find))
"""


def said(home: Path, program: str = PROGRAM) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "XDG_CACHE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.splitlines()


def test_it_is_found_once(tmp_path: Path) -> None:
    both = "('A', 'B') ('A', 'B')"
    assert said(tmp_path) == ["found", both]
    assert said(tmp_path) == [both]
    assert (
        said(tmp_path, PROGRAM.replace("('plan', 1)", "('plan', 2)").replace('("plan", 1)', '("plan", 2)'))[0]
        == "found"
    )
    assert said(tmp_path) == [both]


def test_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    said(tmp_path)
    (file,) = (tmp_path / "mqconform").glob("object-claims-*.json")
    for content in (b"", b"{", b"\xff", b"[]", b'{"a": 1}'):
        file.write_bytes(content)
        assert said(tmp_path)[0] == "found"


def test_nothing_is_kept_where_nothing_can_be(tmp_path: Path) -> None:
    (tmp_path / "mqconform").write_text("a file where the folder would be")
    assert said(tmp_path)[0] == "found"
    assert said(tmp_path)[0] == "found"
