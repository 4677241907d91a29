"""The run record: what is written is what is read, whatever happens to its writer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conformance.runlog import (
    CaptureLine,
    Header,
    Incomplete,
    PacketLine,
    RunRecordError,
    RunWriter,
    StoryStep,
    Tally,
    read_run,
    schema,
)
from conformance.runlog.writer import Chain
from conformance.verdict import Evidence, Outcome, Verdict

HEADER = Header(
    run_id="r1",
    command=("mqconform", "run"),
    connector="embedded",
    seed=7,
    profile="msmq-4.0",
    level="must",
    reading_set="windows",
    readings={"R-MQDMPR-seek-from-head": ("head", "tail")},
    suites=("cursors",),
)
FAIL = Verdict(
    "MQDMPR-3.2.7.3.illegal-cursor-action",
    Outcome.FAIL,
    "peek_next",
    expected={"status": 0xC00E001C},
    actual={"status": 0},
    readings=(("R-MQDMPR-seek-from-head", "head"),),
    evidence=Evidence("call", "frame 7", {"method": "messages.peek_next"}),
)
RULE = "MQMQ-2.2.19.1.signature/word"
PASS = Verdict("MQMQ-2.2.19.1.signature", Outcome.PASS, "frame 1")


def write_everything(folder: Path, worker: str = "main") -> str:
    with RunWriter(folder, worker) as writer:
        writer.header(HEADER)
        writer.hello({"name": "embedded", "version": "1"}, epoch=1)
        writer.verdict(PASS, suite="packets", test="t::one", count=41)
        failed = writer.verdict(FAIL, suite="cursors", test="t::two", epoch=1)
        writer.evidence("call", {"method": "messages.peek_next", "body": b"\x00\xff"}, ref="frame 7")
        writer.story(failed, [StoryStep("open q1"), StoryStep("peek", {"method": "m"}, {"status": 1})], "repros/a.json")
        writer.packet(PacketLine(1, 12.5, "a -> b", "user message", "q1", Outcome.PASS, capture="x.pcapng"))
        writer.capture(CaptureLine("x.pcapng", 9, 2, 40, 1, 1, Incomplete(gaps=1, gap_bytes=40), "in record 9"))
        writer.packet(PacketLine(2, None, "b -> a", "unknown", None, None, ("MQQB-2.1.x",)))
        writer.progress("half")
        writer.note("the body was cut \ud800 \u202e")
        writer.driver("crash", "exited with 1", epoch=1, returncode=1, stderr="boom")
        tally = Tally()
        tally.count([replace(PASS, rule=RULE)], "packets", "encode", 41)
        tally.count([FAIL], "cursors", "calls")
        tally.count([replace(PASS, outcome=Outcome.SKIP, reason="not offered")], "packets", "decode")
        writer.tally(tally)
        writer.tally(tally)
        writer.took({"t::one": 1200, "t::two": 0})
        writer.footer("completed", stateful_steps=10, steps_per_second=5.0, examples=3)
    return failed


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("run-*.ndjson")) for line in path.open("rb")]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    failed = write_everything(tmp_path)
    run = read_run(tmp_path)
    assert run.complete and run.problems == ()
    assert run.header == HEADER
    assert run.hello == {"name": "embedded", "version": "1"}
    assert [recorded.verdict for recorded in run.verdicts] == [PASS, FAIL]
    assert run.counts == {Outcome.FAIL: 1, Outcome.PASS: 41}
    assert run.worst is Outcome.FAIL
    assert run.stories[0].verdict == failed == run.verdicts[1].id
    assert run.stories[0].steps == (StoryStep("open q1"), StoryStep("peek", {"method": "m"}, {"status": 1}))
    assert run.evidence["frame 7"].data["body"] == {"base64": "AP8="}
    assert [packet.worst for packet in run.packets] == [Outcome.PASS, None]
    assert run.captures[0].cut == "in record 9" and run.incomplete == Incomplete(gaps=1, gap_bytes=40)
    assert run.driver[0].returncode == 1 and run.driver[0].stderr == "boom"
    assert [note.kind for note in run.notes] == ["progress", "note"]
    assert run.took == {"t::one": 1200, "t::two": 0}
    assert run.tally == Tally(Counter({RULE: 82}), Counter({("packets", "encode"): 82, ("cursors", "calls"): 2}))
    assert run.footer is not None
    assert run.footer.counts == {"fail": 1, "pass": 41}
    assert (run.footer.requirements_judged, run.footer.stateful_steps, run.footer.examples) == (2, 10, 3)


def test_a_file_reads_like_its_folder(tmp_path: Path) -> None:
    write_everything(tmp_path)
    assert read_run(tmp_path / "run-main.ndjson") == read_run(tmp_path)


def test_every_event_is_valid_against_the_published_schema(tmp_path: Path) -> None:
    write_everything(tmp_path)
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())
    seen = lines(tmp_path)
    for event in seen:
        validator.validate(event)
    described = {branch["properties"]["event"]["const"] for branch in schema()["oneOf"]}
    assert {event["event"] for event in seen} == described - {"captures"}


@pytest.mark.parametrize(
    "change",
    [{"event": "verdikt"}, {"outcome": "good"}, {"count": 0}, {"surprise": 1}, {"requirement": None}],
    ids=["unknown-event", "unknown-outcome", "seen-never", "unknown-member", "no-requirement"],
)
def test_the_schema_refuses_what_is_not_an_event(tmp_path: Path, change: dict[str, Any]) -> None:
    write_everything(tmp_path)
    verdict = next(event for event in lines(tmp_path) if event["event"] == "verdict")
    assert not jsonschema.Draft202012Validator(schema()).is_valid({**verdict, **change})


def test_parts_of_workers_merge_and_their_footers_add_up(tmp_path: Path) -> None:
    for worker, reason in (("main", "completed"), ("gw0", "budget"), ("gw1", "completed")):
        with RunWriter(tmp_path, worker) as writer:
            writer.header(HEADER)
            writer.verdict(PASS, suite="packets", test=worker, count=2)
            writer.footer(reason, stateful_steps=100, steps_per_second=50.0)
    run = read_run(tmp_path)
    assert [part.name for part in run.parts] == ["run-gw0.ndjson", "run-gw1.ndjson", "run-main.ndjson"]
    assert len({recorded.id for recorded in run.verdicts}) == 3
    assert run.footer is not None
    assert run.footer.stop_reason == "budget"
    assert run.footer.counts == {"pass": 6}
    assert run.footer.requirements_judged == 1
    assert (run.footer.stateful_steps, run.footer.steps_per_second) == (300, 150.0)


def test_a_record_without_a_tally_says_so(tmp_path: Path) -> None:
    """As those that were made before there was one."""
    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)
        writer.verdict(PASS, suite="packets", test="t::one")
        writer.footer("completed")
    assert read_run(tmp_path).tally is None and read_run(tmp_path).took == {}


@pytest.mark.parametrize(
    "members",
    ['"rules":{"a":0},"phases":{}', '"rules":{"a":true},"phases":{}', '"rules":{},"phases":{"a":1}', '"rules":{}'],
)
def test_a_damaged_tally_is_refused(tmp_path: Path, members: str) -> None:
    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)
    part = tmp_path / "run-main.ndjson"
    body = f'{{"event":"tally",{members}}}'.encode()
    part.write_bytes(part.read_bytes() + Chain().checked(part.read_bytes()).after(body).sealed(body))
    with pytest.raises(RunRecordError, match="damaged in line 2"):
        read_run(tmp_path)


def test_a_provisional_failure_stands_until_the_final_one_comes(tmp_path: Path) -> None:
    for worker, ends in (("main", True), ("gw0", False)):
        with RunWriter(tmp_path, worker) as writer:
            writer.header(HEADER)
            ref = writer.verdict(FAIL, suite="cursors", test="t::two", provisional=True)
            writer.story(ref, [StoryStep("long"), StoryStep("story")])
            if ends:
                ref = writer.verdict(FAIL, suite="cursors", test="t::two")
                writer.story(ref, [StoryStep("short")])
            writer.footer("completed")
            assert writer.counts == {"fail": 1}
    run = read_run(tmp_path)
    assert [recorded.provisional for recorded in run.verdicts] == [True, False]
    assert run.footer is not None and run.footer.counts == {"fail": 2}
    assert run.counts == {Outcome.FAIL: 2}
    assert [len(story.steps) for story in run.stories] == [2, 1]
    for event in lines(tmp_path):
        jsonschema.Draft202012Validator(schema()).validate(event)


def test_a_failure_that_was_first_blamed_otherwise_takes_the_place_of_that_one(tmp_path: Path) -> None:
    before = Verdict("MQDMPR-3.1.4.4.durable", Outcome.FAIL, "s")
    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)
        for test in ("t::two", "t::other"):
            writer.verdict(before, suite="cursors", test=test, provisional=True)
        writer.verdict(FAIL, suite="cursors", test="t::two", replaces=before.requirement)
        writer.footer("completed")
        assert writer.counts == {"fail": 2}
    run = read_run(tmp_path)
    assert [(one.verdict.requirement, one.test) for one in run.verdicts] == [
        (before.requirement, "t::other"),
        (FAIL.requirement, "t::two"),
    ]
    for event in lines(tmp_path):
        jsonschema.Draft202012Validator(schema()).validate(event)


def test_a_pass_does_not_take_the_place_of_a_provisional_failure(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)
        writer.verdict(FAIL, suite="cursors", test="t::two", provisional=True)
        writer.verdict(Verdict(FAIL.requirement, Outcome.PASS, "s"), suite="cursors", test="t::two", count=5)
        writer.footer("completed")
    assert read_run(tmp_path).counts == {Outcome.FAIL: 1, Outcome.PASS: 5}


def test_a_record_cut_anywhere_in_its_last_line_is_readable_and_incomplete(tmp_path: Path) -> None:
    write_everything(tmp_path / "whole")
    content = (tmp_path / "whole" / "run-main.ndjson").read_bytes()
    footer = content.rstrip(b"\n").rfind(b"\n") + 1
    for at in (footer, footer + 1, footer + 40, len(content) - 2):
        part = tmp_path / "cut.ndjson"
        part.write_bytes(content[:at])
        run = read_run(part)
        assert not run.complete and run.footer is None and len(run.problems) == 1
        assert len(run.verdicts) == 2


def test_a_worker_killed_in_its_first_line_makes_the_run_incomplete(tmp_path: Path) -> None:
    write_everything(tmp_path)
    (tmp_path / "run-gw0.ndjson").write_bytes(b"")
    (tmp_path / "run-gw1.ndjson").write_bytes((tmp_path / "run-main.ndjson").read_bytes()[:30])
    run = read_run(tmp_path)
    assert not run.complete and len(run.problems) == 2 and len(run.verdicts) == 2


WRITES_UNTIL_KILLED = """
import sys
from pathlib import Path
from conformance.runlog import Header, RunWriter
from conformance.verdict import Outcome, Verdict
writer = RunWriter(Path(sys.argv[1]))
writer.header(Header(run_id="killed"))
number = 0
while True:
    writer.verdict(Verdict("MQMQ-2.2.19.1.signature", Outcome.PASS, f"frame {number}"), suite="packets", test="t")
    print(number, flush=True)
    number += 1
"""


def test_sigkill_of_the_writer_loses_nothing_already_written(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WRITES_UNTIL_KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    said = [int(child.stdout.readline()) for _ in range(200)]
    os.kill(child.pid, signal.SIGKILL)
    said += [int(line) for line in child.stdout if line.endswith("\n")]
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    run = read_run(tmp_path)
    subjects = [recorded.verdict.subject for recorded in run.verdicts]
    assert subjects[: len(said)] == [f"frame {number}" for number in said]
    assert not run.complete


def test_threads_do_not_tear_lines(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)

        def work(name: str) -> None:
            for _ in range(50):
                writer.verdict(PASS, suite=name * 500, test="t")

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.footer("completed")
    run = read_run(tmp_path)
    assert run.complete and sorted(recorded.count for recorded in run.verdicts) == [50] * 4


def test_what_is_far_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)
        writer.evidence("packet", {"bytes": "A" * (17 << 20)}, ref="big")
        writer.verdict(Verdict("X", Outcome.FAIL, "s" * (9 << 20), actual="B" * (9 << 20)), suite="packets", test="t")
        writer.footer("completed")
    run = read_run(tmp_path)
    assert run.complete
    assert run.evidence["big"].cut and len(run.evidence["big"].data["bytes"]) < 64 << 10
    assert run.verdicts[0].verdict.outcome is Outcome.FAIL
    assert {cut.at: cut.length for cut in run.verdicts[0].cut} == {"/subject": 9 << 20, "/actual": 9 << 20}
    for event in lines(tmp_path):
        jsonschema.Draft202012Validator(schema()).validate(event)


def test_a_value_nested_too_deep_costs_its_detail_and_not_the_verdict(tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"in": deep}
    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)
        ref = writer.verdict(
            Verdict("X", Outcome.FAIL, "s", actual=deep, evidence=Evidence("call", "1", deep)), suite="p", test="t"
        )
        writer.evidence("call", deep, ref="1")
        writer.story(ref, [StoryStep("send", {"params": deep})])
        writer.footer("completed")
    run = read_run(tmp_path)
    assert run.verdicts[0].verdict.outcome is Outcome.FAIL and run.stories[0].steps[0].text == "send"
    for event in lines(tmp_path):
        jsonschema.Draft202012Validator(schema()).validate(event)


def test_numbers_json_does_not_have_become_text(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)
        writer.verdict(Verdict("X", Outcome.FAIL, "s", actual={"delay": [float("nan")]}), suite="p", test="t")
    assert read_run(tmp_path).verdicts[0].verdict.actual == {"delay": ["nan"]}


def test_the_header_comes_first_and_the_footer_last(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        with pytest.raises(ValueError, match="header"):
            writer.note("too early")
        writer.header(HEADER)
        with pytest.raises(ValueError, match="header"):
            writer.header(HEADER)
        writer.footer("completed")
        with pytest.raises(ValueError, match="footer"):
            writer.note("too late")
    assert read_run(tmp_path).complete


def test_folders_that_cannot_take_a_record(tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    write_everything(tmp_path / "taken")
    before = (tmp_path / "taken" / "run-main.ndjson").read_bytes()
    for folder in ("a-file", "a-file/below", "taken", "nul\0", "x" * 300):
        with pytest.raises(RunRecordError) as caught:
            RunWriter(tmp_path / folder)
        assert "\n" not in str(caught.value) and str(caught.value).endswith(".")
    assert (tmp_path / "taken" / "run-main.ndjson").read_bytes() == before


def test_a_full_disk_is_one_sentence() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    writer = RunWriter.__new__(RunWriter)
    RunWriter._begin(writer, Path("/dev/full"), "main", os.open("/dev/full", os.O_WRONLY))
    with writer, pytest.raises(RunRecordError, match="No space left"):
        writer.header(HEADER)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"\x00\xff\x00\xff",
        b"PK\x03\x04",
        b"[]\n",
        b"{}\n",
        b'{"event":"verdict"}\n',
        b'{"event":"header","format":2,"worker":"main"}\n',
        b'{"event":"header","format":1,"worker":"main"}\n',
        b"[" * 100_000,
    ],
    ids=["empty", "blank", "binary", "zip", "array", "object", "no-header", "later-format", "bare-header", "nested"],
)
def test_what_is_no_record_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    part = tmp_path / "run-main.ndjson"
    part.write_bytes(content)
    for path in (part, tmp_path):
        with pytest.raises(RunRecordError) as caught:
            read_run(path)
        assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_missing_and_empty_folders_and_mixed_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunRecordError, match="no run record at"):
        read_run(tmp_path / "missing")
    with pytest.raises(RunRecordError, match="holds no run record"):
        read_run(tmp_path)
    write_everything(tmp_path)
    with RunWriter(tmp_path, "gw0") as writer:
        writer.header(Header(run_id="another"))
    with pytest.raises(RunRecordError, match="different runs"):
        read_run(tmp_path)


@pytest.mark.parametrize("damage", [b"garbage\n", b'{"event":"verdict","id":"x"}\n', b"[]\n", b'"text"\n'], ids=repr)
def test_damage_in_the_middle_is_refused_and_located(tmp_path: Path, damage: bytes) -> None:
    write_everything(tmp_path)
    part = tmp_path / "run-main.ndjson"
    whole = part.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join([*whole[:3], damage, *whole[3:]]))
    with pytest.raises(RunRecordError, match="damaged in line 4"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        ("verdict", {"count": "x"}, "Expected `int`, got `str` - at `$.count`"),
        ("verdict", {"evidence": {"kind": "call", "ref": 5}}, "Expected `str`, got `int` - at `$.evidence.ref`"),
        ("verdict", {"outcome": "good\n" * 999}, "Invalid enum value"),
        ("packet", {"time": 10**400}, "Number out of range - at `$.time`"),
        ("packet", {"worst": "\ud800"}, "surrogates not allowed"),
        ("driver", {"\ud800": 1}, "surrogates not allowed"),
        ("took", {"tests": {"t": -1}}, "Expected `int` >= 0 - at `$.tests[...]`"),
        ("capture", {"ends": 1}, "Expected `str | null`, got `int` - at `$.ends`"),
        ("footer", {"stop_reason": "bored\n\x1b[0m"}, "is not a stop reason"),
        ("footer", {"counts": {"good": 1}}, "unknown outcome"),
        ("footer", {"ended": None}, "Expected `str`, got `null` - at `$.ended`"),
        ("story", {"steps": [{"text": True}]}, "Expected `str`, got `bool` - at `$.text`"),
    ],
)
def test_a_line_of_another_shape_is_refused_and_its_member_named(
    tmp_path: Path, kind: str, change: dict[str, Any], sentence: str
) -> None:
    write_everything(tmp_path)
    part, chain, content, at = tmp_path / "run-main.ndjson", Chain(), b"", 0
    for number, event in enumerate(lines(tmp_path), 1):
        at = number if event["event"] == kind and not at else at
        found = {**event, **(change if number == at else {})}
        body = json.dumps({name: value for name, value in found.items() if name != "seal"}).encode()
        chain = chain.after(body)
        content += chain.sealed(body)
    part.write_bytes(content)
    with pytest.raises(RunRecordError) as caught:
        read_run(tmp_path)
    assert f"damaged in line {at} (" in str(caught.value) and sentence in str(caught.value)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 600


@pytest.mark.parametrize("member", ["seed", "versions", "started"])
def test_what_a_header_lacks_is_not_made_up(tmp_path: Path, member: str) -> None:
    header = {name: value for name, value in HEADER.to_json().items() if name != member}
    (tmp_path / "run-main.ndjson").write_text(json.dumps({"event": "header", "format": 1, "worker": "main", **header}))
    with pytest.raises(RunRecordError, match="not a run record"):
        read_run(tmp_path)


def test_events_of_a_later_version_are_passed_over(tmp_path: Path) -> None:
    write_everything(tmp_path)
    part = tmp_path / "run-main.ndjson"
    events = lines(tmp_path)
    events[-1]["lines"] += 1
    chain, content = Chain(), b""
    for event in [*events[:3], {"event": "smell"}, *events[3:]]:
        body = json.dumps({name: value for name, value in event.items() if name != "seal"}).encode()
        chain = chain.after(body)
        content += chain.sealed(body)
    part.write_bytes(content)
    run = read_run(tmp_path)
    assert len(run.verdicts) == 2 and run.sealed and run.complete


def test_a_line_longer_than_any_record_holds_is_refused(tmp_path: Path) -> None:
    part = tmp_path / "run-main.ndjson"
    with part.open("wb") as stream:
        stream.truncate(40 << 20)  # sparse zeros, no line end
    with pytest.raises(RunRecordError, match="longer than any"):
        read_run(tmp_path)


def test_how_often_a_writer_wrote_what_it_counted_does_not_show(tmp_path: Path) -> None:
    """One line or several of the same verdict: the run is the same, but for what fails."""
    failed = replace(PASS, outcome=Outcome.FAIL, expected=1, actual=2)
    runs = []
    for name, counts in (("once", (5,)), ("often", (2, 1, 2))):
        with RunWriter(tmp_path / name) as writer:
            writer.header(HEADER)
            for count in counts:
                writer.verdict(PASS, suite="s", test="t", count=count)
            writer.verdict(PASS, suite="s", test="another")
            writer.verdict(failed, suite="s", test="t")
            writer.footer("completed")
        found = read_run(tmp_path / name)
        runs.append([(item.verdict, item.test, item.count) for item in found.verdicts])
    assert runs[0] == runs[1] == [(PASS, "t", 5), (PASS, "another", 1), (failed, "t", 1)]


def test_a_record_of_many_parts_is_read_with_few_open_files(tmp_path: Path) -> None:
    """More than a process may usually have open, and what does not fit into memory is looked at again."""
    for number in range(70):
        with RunWriter(tmp_path, f"gw{number}") as writer:
            writer.header(HEADER)
            ref = writer.verdict(FAIL, suite="cursors", test=f"t::{number}")
            writer.story(ref, [StoryStep("x" * 60_000)] * 4)
            writer.footer("completed")
    write_everything(tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    run = read_run(tmp_path)
    if before:
        assert len(list(Path("/proc/self/fd").iterdir())) - before <= 64
    assert run.complete and len(run.verdicts) == 72
    for recorded in run.verdicts:
        story = run.story(recorded.id)
        assert (story is not None) == (recorded.verdict.outcome is Outcome.FAIL)
        assert story is None or story.verdict == recorded.id
