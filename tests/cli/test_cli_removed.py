"""A command or option that is gone names what takes its place, also with an option of its own or --help."""

from __future__ import annotations

import pytest
from tests_cli import mqconform, one_sentence

from conformance.cli.ending import REMOVED, successor
from conformance.verdict import ExitCode


@pytest.mark.parametrize("old", REMOVED)
def test_it_names_its_successor(old: str) -> None:
    assert REMOVED[old] in (successor(old.split()) or "")
    assert f"`mqconform {old}` is gone" in one_sentence(mqconform(*old.split(), "--help"), ExitCode.BAD_INPUT)


def test_what_is_still_there_has_none() -> None:
    assert successor(["selftest", "--fault=x"]) == successor(["selftest", "x", "--fault", "y"]) is not None
    for line in (
        ["report", "diff"],
        ["grammar", "parse", "build"],
        ["run", "--", "--jobs"],
        ["selftest", "--", "--jobs"],
        [],
    ):
        assert successor(line) is None
    for old in REMOVED:
        command = [word for word in old.split() if not word.startswith("--")]
        if not command:  # an option of any command
            continue
        known = mqconform(*command[:-1], "--help").stdout
        listed = {line.split()[0] for line in known.splitlines() if line.startswith("  ") and line.split()}
        assert (command[-1] in listed) is (len(command) < len(old.split()))
