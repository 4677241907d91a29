"""Judging histories, also cut ones, and the findings of a run."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conformance import rejudge
from conformance.captures.replay_run import CAPTURE
from conformance.cli.judge import result_lines
from conformance.harness.recorder import MAX_STORY_STEPS, ConformanceFailure, Recorder, RunOptions, failure_type
from conformance.harness.run_session import EXAMPLE
from conformance.rejudge import judge_again
from conformance.report import print_summary, render_html, summary
from conformance.report.table import UNSEALED
from conformance.runlog import Header, RunWriter, read_run
from conformance.spec.catalogue import catalogue
from conformance.verdict import Evidence, Outcome, Verdict

MUST, OTHER = [
    entry.id for entry in catalogue() if entry.level == "must" and entry.since is None and entry.until is None
][:2]
SHOULD = next(entry.id for entry in catalogue() if entry.level == "should" and entry.since is None)
SINCE = next(entry for entry in catalogue() if entry.since == "msmq-3.0")


def options(level: str = "must", profile: str = "msmq-4.0") -> RunOptions:
    return RunOptions(profile, level, {}, "windows", 0, 10, 10)


def judge(seen: list[tuple[Verdict, int]], **kwargs: object) -> Recorder:
    wanted = {"options": options(), "sink": lambda verdict, count: seen.append((verdict, count)), **kwargs}
    return Recorder(**wanted)  # type: ignore[arg-type]


def good(name: str = MUST) -> Verdict:
    return Verdict(name, Outcome.PASS, "it")


def bad(name: str = MUST) -> Verdict:
    return Verdict(name, Outcome.FAIL, "it", 1, 2)


def test_passes_are_counted_and_flushed_once() -> None:
    seen: list[tuple[Verdict, int]] = []
    recorder = judge(seen)
    for _ in range(3):
        recorder.record(good())
    recorder.flush()
    recorder.flush()
    assert seen == [(good(), 3)]


def test_counts_reach_the_sink_while_a_test_goes_on() -> None:
    seen: list[tuple[Verdict, int]] = []
    times = iter([0.0, 0.1, 5.0, 5.0])
    recorder = judge(seen, clock=lambda: next(times))
    recorder.record(good())
    assert not seen
    recorder.record(good())
    assert seen == [(good(), 2)]


def test_the_first_failure_raises_with_its_story() -> None:
    recorder = judge([])
    recorder.begin_example("calls", {"calls": [1]})
    recorder.step("create q")
    with pytest.raises(ConformanceFailure) as raised:
        recorder.record(good(), bad())
    assert raised.value.verdict == bad()
    assert [step.text for step in raised.value.story] == ["create q"]
    assert raised.value.repro == {"kind": "calls", "calls": [1]}


def test_a_new_example_forgets_the_story() -> None:
    recorder = judge([])
    recorder.step("old")
    recorder.begin_example()
    assert recorder.story == ()


def test_failures_of_different_requirements_are_different_types() -> None:
    assert failure_type(MUST) is failure_type(MUST)
    assert failure_type(MUST) is not failure_type(OTHER)


def test_a_weaker_demand_only_warns_until_its_level_is_asked_for() -> None:
    seen: list[tuple[Verdict, int]] = []
    recorder = judge(seen)
    recorder.record(bad(SHOULD))
    recorder.flush()
    assert [verdict.outcome for verdict, _ in seen] == [Outcome.WARN]
    with pytest.raises(ConformanceFailure):
        judge([], options=options("should")).record(bad(SHOULD))


def test_a_demand_that_does_not_bind_the_profile_is_not_judged() -> None:
    seen: list[tuple[Verdict, int]] = []
    recorder = judge(seen, options=options("may", "msmq-1.0"))
    recorder.record(bad(SINCE.id))
    recorder.flush()
    assert seen == []
    with pytest.raises(ConformanceFailure):
        judge([], options=options("may", "msmq-3.0")).record(bad(SINCE.id))


def test_a_switched_off_check_mutes_the_rest_of_the_example() -> None:
    seen: list[tuple[Verdict, int]] = []
    recorder = judge(seen, disabled=frozenset({MUST}))
    recorder.record(bad(MUST), bad(OTHER))
    recorder.record(bad(OTHER))
    recorder.flush()
    assert seen == []
    recorder.begin_example()
    with pytest.raises(ConformanceFailure):
        recorder.record(bad(OTHER))


def test_a_failure_is_announced_before_the_search_for_a_shorter_one() -> None:
    announced: list[Verdict] = []
    recorder = judge([], on_first_failure=announced.append)
    for _ in range(2):
        with pytest.raises(ConformanceFailure):
            recorder.record(bad())
    assert announced == [bad()]


def test_a_story_is_bounded_and_says_what_it_leaves_out() -> None:
    recorder = judge([])
    for number in range(MAX_STORY_STEPS + 5):
        recorder.step(str(number))
    story = [step.text for step in recorder.story]
    assert len(story) == MAX_STORY_STEPS + 1
    assert story[0] == "0"
    assert story[-1] == str(MAX_STORY_STEPS + 4)
    assert "(5 steps left out)" in story


def test_claimed_and_never_judged() -> None:
    recorder = judge([], claimed=frozenset({MUST, OTHER}))
    recorder.record(good(MUST), Verdict(OTHER, Outcome.SKIP, "it", reason="not offered"))
    assert recorder.unjudged() == {OTHER}


def test_what_is_counted_is_told_as_it_was_first_seen_whenever_it_is_written() -> None:
    """Else a run would tell of one call or another, by how long its calls took."""
    seen: list[tuple[Verdict, int]] = []
    recorder = judge(seen)
    for subject in ("messages.peek", "messages.receive", "messages.peek"):
        recorder.record(Verdict(MUST, Outcome.PASS, subject))
        recorder.flush()
    assert [(verdict.subject, count) for verdict, count in seen] == [("messages.peek", 1)] * 3


NAME = "MQMQ-2.2.19.1.signature"
FIXTURES = Path(__file__).parents[2] / "fixtures"
LONG = b64encode(bytes(2 << 20)).decode()


def packet(number: int, base64: str) -> Verdict:
    data = {"base64": base64, "transport": "tcp"}
    return Verdict(NAME, Outcome.FAIL, f"frame {number}", 1, 2, evidence=Evidence("packet", f"frame {number}", data))


def test_a_packet_that_was_cut_is_not_judged_and_its_deviation_stands(tmp_path: Path) -> None:
    """Also where another packet that breaks the same requirement is judged, and breaks nothing now."""
    vector = json.loads((FIXTURES / "vectors" / "mqqb_frame7_usermessage.json").read_text())
    whole = b64encode(bytes.fromhex(vector["hex"])).decode()
    gone = str(tmp_path / "gone.pcapng")
    with RunWriter(tmp_path / "run") as writer:
        writer.header(Header(run_id="r", captures=(gone,)))
        for number, data in ((1, LONG), (2, whole)):
            writer.verdict(packet(number, data), suite="replay", test=gone)
        writer.footer("completed")
    again = judge_again(tmp_path / "run", out=tmp_path / "again")
    assert again.again == 1 and again.standing == (NAME,)
    assert [why for why in again.left_out if why.endswith("too long to be recorded, and part of it cannot be judged")]
    failed = [each for each in again.record.verdicts if each.verdict.outcome is Outcome.FAIL] if again.record else []
    assert [each.verdict.subject for each in failed] == ["frame 1"]


@pytest.mark.parametrize("what", ["example", "hello"])
def test_an_example_that_was_cut_is_not_gone_through(tmp_path: Path, what: str) -> None:
    long = {"what": "call", "method": "names.parse", "params": {"name": LONG}}
    with RunWriter(tmp_path / "run") as writer:
        writer.header(Header(run_id="r", connector="embedded", suites=("names",)))
        writer.hello({"name": "x", "limits": {f"limit {number}": LONG[:300] for number in range(5_000)}})
        ref = writer.verdict(Verdict(NAME, Outcome.FAIL, "s", 1, 2), suite="names", test="t")
        ops = [long] if what == "example" else []
        example: dict[str, Any] = {"repro": {"kind": "name"}, "before": [], "ops": ops, "verdicts": []}
        writer.evidence(EXAMPLE, {"suite": "names", "test": "t", "verdict": ref, **example})
        writer.footer("completed")
    again = judge_again(tmp_path / "run", out=tmp_path / "again")
    reason = rejudge.CUT if what == "example" else rejudge.HELLO_CUT
    assert dict(again.left_out) == {f"names: {reason}": 1}
    assert again.again == 0 and again.standing == (NAME,)


def test_a_file_of_another_size_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two terabytes of nothing, which take hours to read."""
    sparse = tmp_path / "sparse.pcapng"
    with sparse.open("wb") as file:
        file.truncate(2 << 40)
    with RunWriter(tmp_path / "run") as writer:
        writer.header(Header(run_id="r", captures=(str(sparse),)))
        writer.verdict(Verdict(NAME, Outcome.FAIL, "frame 1", 1, 2), suite="replay", test=str(sparse))
        writer.evidence(
            CAPTURE, {"path": str(sparse), "bytes": 100, "sha256": "0" * 64, "filter": None, "against": None}
        )
        writer.footer("completed")

    def read(path: object) -> None:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr(rejudge, "fingerprint", read)
    again = judge_again(tmp_path / "run", out=tmp_path / "again")
    assert dict(again.left_out) == {f"{sparse}: the file is another one now": 1}


def test_a_record_without_checksums_is_told_everywhere(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run") as writer:
        writer.header(Header(run_id="r", connector="embedded"))
        writer.verdict(Verdict(NAME, Outcome.FAIL, "s", 1, 2), suite="names", test="t")
        writer.footer("completed")
    part = writer.path
    for sealed in (True, False):
        run = read_run(tmp_path / "run")
        out = io.StringIO()
        print_summary(run, Console(file=out, width=200))
        again = judge_again(tmp_path / "run", out=tmp_path / f"again-{sealed}")
        assert run.sealed is sealed is summary(run)["sealed"] is again.sealed
        for text in (render_html(run), out.getvalue(), "\n".join(result_lines(again))):
            assert (UNSEALED in text) is not sealed
        events = [json.loads(line) for line in part.read_bytes().splitlines()]
        bare = [{name: each for name, each in event.items() if name not in ("seal", "sealed")} for event in events]
        part.write_text("".join(json.dumps(event) + "\n" for event in bare))
