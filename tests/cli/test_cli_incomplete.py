"""A capture that lacks something: every command and every report says so, and none takes it for conformance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import in_process
from tests_cli import mqconform, one_sentence

from conformance.capture.files import Stop
from conformance.captures import replay, replay_captures
from conformance.files import resource
from conformance.report.html import render_html
from conformance.report.markdown import message, render_markdown
from conformance.report.sarif import azure, github, render_junit, sarif
from conformance.report.summary import summary
from conformance.runlog import Incomplete, Run, read_run
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode

CAPTURES = resource("fixtures/captures")
CUT, GAP = CAPTURES / "cut-record.pcap", CAPTURES / "lost-segment.pcapng"
WORDS = "1 gap in TCP streams (268 bytes)"
SAID = "Incomplete: no deviation found in what could be read"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gap") / "run"
    replay_captures([GAP], out=out)
    return out


@pytest.fixture(scope="module")
def record(folder: Path) -> Run:
    return read_run(folder)


def command(*arguments: str | Path) -> tuple[int, str]:
    done = in_process(*arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_replay_ends_with_2_and_says_why(tmp_path: Path) -> None:
    done = mqconform("replay", str(CUT), "--out", str(tmp_path))
    assert "1 file cut at the end; --allow-incomplete accepts that." in one_sentence(done, ExitCode.BAD_INPUT)
    assert f"{SAID}." in done.stdout and "No deviation found." not in done.stdout
    assert "cut-record.pcap: connections that go on after the capture: 2" in done.stdout


@pytest.mark.parametrize("more", [["--columns"], ["--against", "embedded"]])
def test_allowed_it_ends_with_0_and_still_says_so(tmp_path: Path, more: list[str]) -> None:
    for option, code in (([], ExitCode.BAD_INPUT), (["--allow-incomplete"], ExitCode.CONFORMS)):
        out = tmp_path / f"out{code.value}"
        found, text = command("replay", GAP, "--json", "--out", out, *more, *option)
        told = json.loads(text[text.index("{") : text.rindex("}") + 1])
        assert found == told["exit_code"] == code
        assert told["conclusion"] == "incomplete"
        assert told["incomplete"] == Incomplete(gaps=1, gap_bytes=268).to_json()
        assert told["captures"][0]["incomplete"] == told["incomplete"]


def test_a_deviation_outweighs_what_is_missing() -> None:
    found = replay([GAP, CAPTURES / "mqqb-4.1.pcapng"], profile="msmq-4.0", readings=assignment("windows"))
    assert found.incomplete and found.exit_code() is ExitCode.DEVIATES


def test_nothing_judged_of_what_is_missing_is_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "short.pcap"
    path.write_bytes(CUT.read_bytes()[:50])
    found = replay([path], profile="msmq-4.0", readings=assignment("windows"))
    assert found.exit_code() is ExitCode.BAD_INPUT
    assert found.exit_code(allow_incomplete=True) is ExitCode.NOTHING_JUDGED


def test_a_reader_that_is_told_to_stop_has_missed_nothing() -> None:
    """What is written of the last record goes on behind it."""
    found = replay([CUT], profile="msmq-4.0", readings=assignment("windows"), follow=Stop(0.0))
    assert found.captures[0].cut is not None and not found.incomplete
    assert found.exit_code() is ExitCode.CONFORMS


def test_every_report_says_it_with_its_counts(record: Run) -> None:
    assert record.complete and record.incomplete == Incomplete(gaps=1, gap_bytes=268)
    html, markdown, junit = render_html(record), render_markdown(record), render_junit(record)
    for text in (html, markdown):
        assert SAID in text and "268 bytes" in text
    assert 'name="captures-complete"' in junit and WORDS in junit and 'errors="1"' in junit
    allowed = render_junit(record, allow_incomplete=True)
    assert WORDS in allowed and 'errors="1"' not in allowed
    (invocation,) = sarif(record)["runs"][0]["invocations"]
    assert invocation["exitCode"] == 2 and invocation["executionSuccessful"]
    assert WORDS in str(invocation["toolExecutionNotifications"])
    assert WORDS in github(record) and WORDS in azure(record) and message(record) == "incomplete captures"
    told = summary(record)
    assert (told["exit_code"], told["conclusion"]) == (2, "incomplete")


def test_gate_and_judge_of_such_a_record(folder: Path, tmp_path: Path) -> None:
    code, text = command("gate", folder)
    assert code == ExitCode.BAD_INPUT and f"gate: shut: the captures are incomplete: {WORDS}" in text
    code, text = command("gate", folder, "--allow-incomplete")
    assert code == ExitCode.CONFORMS and WORDS in text
    assert command("judge", folder, "--out", tmp_path / "one")[0] == ExitCode.BAD_INPUT
    assert command("judge", folder, "--allow-incomplete", "--out", tmp_path / "two")[0] == ExitCode.CONFORMS
    assert read_run(tmp_path / "one").incomplete == read_run(folder).incomplete


def test_judge_of_captures_that_are_gone_keeps_what_they_lacked(tmp_path: Path) -> None:
    path = tmp_path / "gone.pcapng"
    path.write_bytes((CAPTURES / "mqqb-4.1-truncated.pcapng").read_bytes())
    replay_captures([path], out=tmp_path / "run")
    path.unlink()
    assert command("judge", tmp_path / "run", "--out", tmp_path / "again")[0] == ExitCode.DEVIATES
    assert read_run(tmp_path / "again").incomplete == Incomplete(unfinished=1)


@pytest.mark.parametrize("name", ["ingest", "watch"])
def test_pipeline_commands(tmp_path: Path, name: str) -> None:
    (tmp_path / "spool").mkdir()
    copied = tmp_path / "spool" / GAP.name
    copied.write_bytes(GAP.read_bytes())
    what = [str(GAP)] if name == "ingest" else [str(tmp_path / "spool"), "--once", "--settle", "0"]
    for option, code in (([], ExitCode.BAD_INPUT), (["--allow-incomplete"], ExitCode.CONFORMS)):
        found, text = command("pipeline", name, *what, "--out", tmp_path / f"lake{code.value}", *option)
        assert found == code and f"Incomplete: {WORDS}." in text
