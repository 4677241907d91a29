"""A capture that the harness has a defect with is named, with its place; what was judged counts, and the others are."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from defect_captures import BAD_PACKET, FAKE, asking, plant

from conformance.captures import Replayed, replay_captures
from conformance.captures import packet_rules as one_by_one
from conformance.captures.defects import DEFECT, MAX_TRACE, offset_of
from conformance.rejudge import judge_again
from conformance.runlog import read_run
from conformance.verdict import CODES_WORST_FIRST, ExitCode, Outcome, worst_code

MARK = "divides by zero"
WAYS = pytest.mark.parametrize("columns", [False, True], ids=["one by one", "columns"])


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)


def counts(done: Replayed, path: Path) -> dict[tuple[str, Outcome], int]:
    found: dict[tuple[str, Outcome], int] = {}
    for one in done.replay.counted:
        if one.capture == str(path):
            key = (one.verdict.requirement, one.verdict.outcome)
            found[key] = found.get(key, 0) + one.count
    return found


@WAYS
def test_the_others_are_judged_and_the_bad_one_is_named(planted: None, tmp_path: Path, columns: bool) -> None:
    first, bad, last = asking(tmp_path / "first.pcap"), asking(tmp_path / "bad.pcap", MARK), tmp_path / "last.pcap"
    asking(last)
    (tmp_path / "none.pcap").symlink_to("gone.pcap")
    done = replay_captures([first, bad, last, tmp_path / "none.pcap"], out=tmp_path / "out", columns=columns)
    assert done.exit_code is ExitCode.HARNESS_ERROR
    assert counts(done, last) == counts(done, first) != {}
    (defect,) = done.replay.defects
    assert (defect.path, defect.error, defect.packet) == (str(bad), "ZeroDivisionError", BAD_PACKET)
    assert any(line.endswith("in _zero") for line in defect.trace) and len(defect.trace) <= MAX_TRACE
    assert defect.record is not None and defect.offset is not None
    at = defect.offset + 16
    assert MARK.encode() in bad.read_bytes()[at : at + struct.unpack_from("<I", bad.read_bytes(), defect.offset + 8)[0]]
    assert done.sentence is not None and f"{bad} was judged up to packet {BAD_PACKET}" in done.sentence
    assert "There is no file" in done.sentence
    # What was judged of it counts: the packets before.
    before = counts(done, bad)[("MQMQ-2.2.19.1.signature", Outcome.PASS)]
    assert before == BAD_PACKET - 1 < counts(done, first)[("MQMQ-2.2.19.1.signature", Outcome.PASS)]


@WAYS
def test_the_record_has_what_a_report_of_the_defect_needs(planted: None, tmp_path: Path, columns: bool) -> None:
    replay_captures(
        [asking(tmp_path / "bad.pcap", MARK), asking(tmp_path / "good.pcap")], out=tmp_path / "out", columns=columns
    )
    record = read_run(tmp_path / "out")
    assert record.complete and record.footer is not None and record.footer.stop_reason == "error"
    (told,) = [one.data for one in record.evidence.values() if one.kind == DEFECT]
    assert told["path"].endswith("bad.pcap") and told["packet"] == BAD_PACKET
    assert told["says"] == "division by zero" and told["trace"]
    assert not any(str(Path(one_by_one.__file__).parents[2]) in line for line in told["trace"]), "no folders of ours"
    assert any("bad.pcap was judged up to" in note.text for note in record.notes)


@WAYS
@pytest.mark.parametrize(
    ("mark", "error"), [("asks for all memory", "MemoryError"), ("calls itself", "RecursionError")]
)
def test_memory_and_depth_are_contained_as_well(
    planted: None, tmp_path: Path, columns: bool, mark: str, error: str
) -> None:
    bad, good = asking(tmp_path / "bad.pcap", mark), asking(tmp_path / "good.pcap")
    done = replay_captures([bad, good], out=tmp_path / "out", columns=columns)
    assert [(one.path, one.error) for one in done.replay.defects] == [(str(bad), error)]
    assert len(done.replay.defects[0].trace) <= MAX_TRACE
    assert counts(done, good)


@WAYS
def test_a_deviation_outweighs_a_defect(planted: None, tmp_path: Path, columns: bool) -> None:
    captures = [asking(tmp_path / "bad.pcap", MARK), asking(tmp_path / "fails.pcap", fails=True)]
    assert replay_captures(captures, out=tmp_path / "out", columns=columns).exit_code is ExitCode.DEVIATES
    # Also one that stands before the defect, in the same capture.
    captures = [asking(tmp_path / "both.pcap", MARK, fails=True)]
    assert replay_captures(captures, out=tmp_path / "both", columns=columns).exit_code is ExitCode.DEVIATES


def test_codes_roll_up_as_outcomes_do() -> None:
    assert set(CODES_WORST_FIRST) == set(ExitCode)
    codes = [ExitCode.BAD_INPUT, ExitCode.HARNESS_ERROR, ExitCode.CONFORMS]
    assert worst_code(codes) is ExitCode.HARNESS_ERROR
    assert worst_code([*codes, ExitCode.DEVIATES]) is ExitCode.DEVIATES


@WAYS
def test_who_listens_is_not_taken_for_a_defect(tmp_path: Path, columns: bool) -> None:
    def on_packet(packet: object) -> None:
        raise LookupError("the listener's own")

    with pytest.raises(LookupError, match="the listener's own"):
        replay_captures(asking(tmp_path / "good.pcap"), out=tmp_path / "out", columns=columns, on_packet=on_packet)


@WAYS
def test_ctrl_c_is_not_contained(tmp_path: Path, columns: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **more: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(one_by_one, "judge_dissected", interrupted)
    done = replay_captures(
        [asking(tmp_path / "one.pcap"), asking(tmp_path / "two.pcap")], out=tmp_path / "out", columns=columns
    )
    assert done.exit_code is ExitCode.INTERRUPTED and len(done.replay.captures) == 1


def test_where_a_record_is(tmp_path: Path) -> None:
    capture = asking(tmp_path / "one.pcap")
    assert offset_of(str(capture), 1) == 24
    assert offset_of(str(capture), 10_000) is None
    other = tmp_path / "other"
    other.write_bytes(b"\x1f\x8b")
    assert offset_of(str(other), 1) is None


@WAYS
def test_the_command_says_it_in_one_sentence(tmp_path: Path, columns: bool) -> None:
    (tmp_path / "in").mkdir()
    asking(tmp_path / "in" / "bad.pcap", MARK)
    asking(tmp_path / "in" / "good.pcap")
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "replay", tmp_path / "in", "--json", "--out", tmp_path / "out",
         *(["--columns"] if columns else [])],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FAKE), *sys.path])},
    )  # fmt: skip
    assert done.returncode == ExitCode.HARNESS_ERROR, done.stderr
    assert "Traceback" not in done.stderr
    assert "bad.pcap was judged up to packet 7" in done.stderr.splitlines()[-1]
    told = {Path(one["path"]).name: one["defect"] for one in json.loads(done.stdout)["captures"]}
    assert told["good.pcap"] is None and told["bad.pcap"]["error"] == "ZeroDivisionError"


def test_judged_again_it_is_told_again(planted: None, tmp_path: Path) -> None:
    captures = [asking(tmp_path / "bad.pcap", MARK), asking(tmp_path / "good.pcap")]
    replay_captures(captures, out=tmp_path / "out")
    again = judge_again(tmp_path / "out", out=tmp_path / "again")
    assert again.exit_code is ExitCode.HARNESS_ERROR
    assert again.sentence is not None and "bad.pcap was judged up to packet 7" in again.sentence
    assert again.record is not None and again.record.footer is not None
    assert again.record.footer.stop_reason == "error"
