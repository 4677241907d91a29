"""What users have of version 0.1 is read, reported, judged, repeated and gone on with in every later version."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from expecting import changes, differences, expected, in_changelog
from observing import OLD, SECTIONS, copied

WRITABLE = frozenset({"README.md", "changes.toml"})
"""The only files of the folder that may be written to."""
DIGEST = "665e1e52a14e04edf0f3f14d53d82dd726f65b16930d7979aff66472a71c8f8b"


@pytest.mark.parametrize("name", SECTIONS)
def test_an_old_thing_comes_to_what_it_came_to(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied(tmp_path)
    monkeypatch.chdir(folder)
    wrong = differences(expected(name), SECTIONS[name](folder))
    assert not wrong, f"{name}: see fixtures/old/0.1/README.md before you change this: {wrong[:10]}"


def test_the_old_things_are_as_version_0_1_left_them() -> None:
    """So that no test is made to hold by making the things again."""
    sums = (OLD / "SHA256SUMS").read_bytes()
    assert hashlib.sha256(sums).hexdigest() == DIGEST
    told = dict(line.split("  ", 1)[::-1] for line in sums.decode().splitlines())
    here = {path.relative_to(OLD).as_posix(): path for path in OLD.rglob("*") if path.is_file()}
    assert set(here) - set(told) == {*WRITABLE, "SHA256SUMS"}
    assert {name: hashlib.sha256(here[name].read_bytes()).hexdigest() for name in told} == told


def test_what_was_changed_on_purpose_is_told_to_users() -> None:
    for change in changes():
        assert change.section in SECTIONS and change.name in expected(change.section, made=[])
        assert in_changelog(change.why), f"CHANGELOG.md has to say: {change.why}"


def test_a_difference_is_seen() -> None:
    wanted = {"a": "fail", "b": "pass", "c": "pass"}
    assert not differences(wanted, {**wanted, "d": "pass 3"})
    assert differences(wanted, {"a": "pass", "b": "pass", "d": "fail 1 pass 3"}) == [
        "a: 'fail', and now 'pass'",
        "c: 'pass', and now None",
        "d: nothing, and now 'fail 1 pass 3'",
    ]
    assert not in_changelog("A sentence that nobody has written there.")
