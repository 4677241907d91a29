"""`mqconform wireshark`, from end to end."""

from __future__ import annotations

import json
from pathlib import Path

from tests_cli import mqconform, one_sentence

from conformance.verdict import ExitCode


def test_the_dissector_goes_to_stdout() -> None:
    done = mqconform("wireshark")
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    assert 'Proto("msmq"' in done.stdout and "MQMQ-2.2.19.1.signature" in done.stdout
    assert done.stderr == ""


def test_out_writes_the_same_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "msmq.lua"
    done = mqconform("wireshark", "--out", str(path), "--json")
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    told = json.loads(done.stdout)
    assert told["path"] == str(path) and told["fields"] > 300 and "MQMQ-2.2.19.1.signature" in told["rules"]
    assert path.read_text(encoding="utf-8") == mqconform("wireshark").stdout


def test_level_and_reading_are_in_it() -> None:
    id_ = "R-MQMQ-encryption-algorithm-unused"
    chosen = mqconform("wireshark", "--level", "may", "--reading", f"{id_}=listed").stdout
    assert f'reading = "{id_}",\n  accepted = {{ "listed" }},' in chosen
    assert 'broken = "warn"' in mqconform("wireshark").stdout and 'broken = "warn"' not in chosen


def test_the_rules_that_are_not_in_it_are_listed_with_the_reason() -> None:
    done = mqconform("wireshark", "--left-out")
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    told = json.loads(mqconform("wireshark", "--left-out", "--json").stdout)
    because = told["left_out_because"]
    assert sorted(name for ids in because.values() for name in ids) == sorted(told["left_out"])
    assert "MQQB-3.1.1.6.2.never-decreases" in told["left_out"] and "MQQB-2.2.1.reserved" in told["rules"]
    assert done.stdout.startswith(f"{len(told['rules'])} rules are in the script, {len(told['left_out'])} are not")
    assert all(f"{len(ids)}: {reason}" in done.stdout for reason, ids in because.items())
    assert all(f"  {name}\n" in done.stdout for name in told["left_out"])
    assert one_sentence(mqconform("wireshark", "--left-out", "--out", "msmq.lua"), ExitCode.BAD_INPUT)


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "msmq.lua"
    for arguments in (("--profile", "msmq-9"), ("--reading", "R-nothing=x"), ("--out", str(missing))):
        done = mqconform("wireshark", *arguments)
        assert one_sentence(done, ExitCode.BAD_INPUT)
        assert done.stdout == ""
