"""What is too long is cut when it is written, says so, and is always read back; counts are never cut."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conformance.runlog import Header, PacketLine, RunWriter, StoryStep, Tally, read_run, schema
from conformance.runlog.cutting import MAX_EVENT, MAX_TEXT
from conformance.verdict import Evidence, Outcome, Verdict

LONG = "é\u202e" * 40_000
NAME = "MQMQ-2.2.19.1.signature"


def lines(folder: Path) -> list[bytes]:
    return [line for path in sorted(folder.glob("run-*.ndjson")) for line in path.open("rb")]


def texts(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, at)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield at, name
            yield from texts(member, f"{at}/{name}")


def check_bounds(folder: Path) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    for line in lines(folder):
        assert len(line) <= MAX_EVENT + 32
        event = json.loads(line)
        validator.validate(event)
        for at, text in texts(event):
            if not at.startswith(("/data", "/evidence")):  # evidence is whole or cut, by its event
                assert len(text.encode("utf-8", "surrogatepass")) <= MAX_TEXT


def test_a_long_text_keeps_its_beginning_its_length_and_its_digest(tmp_path: Path) -> None:
    data = LONG.encode()
    with RunWriter(tmp_path) as writer:
        writer.header(Header(run_id="r"))
        ref = writer.verdict(Verdict(NAME, Outcome.FAIL, "s", actual={"text": LONG}), suite="s", test="t")
        writer.story(ref, [StoryStep("peek", {"method": "m"}, {"body": LONG})])
        writer.driver("crash", "died", stderr=LONG + "the cause")
        writer.footer("completed")
    check_bounds(tmp_path)
    run = read_run(tmp_path)
    (cut,) = run.verdicts[0].cut
    assert (cut.at, cut.length, cut.sha256) == ("/actual/text", len(data), hashlib.sha256(data).hexdigest())
    text = run.verdicts[0].verdict.actual["text"]
    assert text.startswith(LONG[:10_000]) and f"{len(data):,} bytes in all" in text and cut.sha256[:16] in text
    assert [each.at for each in run.stories[0].cut] == ["/steps/0/answer/body"]
    stderr = run.driver[0].stderr
    assert stderr is not None and stderr.endswith("the cause") and "bytes in all" in stderr


@pytest.mark.parametrize(
    "value",
    [
        ["x" * 1000] * 2_000,
        {f"name {number}": number for number in range(60_000)},
        {"n" * 900_000: 1, "m" * 200_000: LONG},
        [[[LONG] * 2] * 2],
        list(range(200_000)),
        LONG * 4,
    ],
    ids=["items", "members", "names", "nested", "numbers", "text"],
)
def test_whatever_is_written_is_short_enough_and_is_read(tmp_path: Path, value: Any) -> None:
    data = value if isinstance(value, dict) else {"value": value}
    with RunWriter(tmp_path) as writer:
        writer.header(Header(run_id="r", command=("mqconform", *["x" * 100] * 12_000), hello=data))
        writer.hello(data)
        evidence = Evidence("call", "frame 1", data)
        ref = writer.verdict(
            Verdict(NAME, Outcome.FAIL, LONG, value, value, evidence=evidence), suite="s", test=LONG, count=3
        )
        writer.evidence("call", data, ref="frame 1")
        writer.story(ref, [StoryStep(f"step {number}", data, data) for number in range(2)])
        writer.story(ref, [StoryStep("x" * 50, {"method": "m"}) for _ in range(24_000)])
        writer.packet(PacketLine(1, 0.0, LONG, LONG, LONG, None, tuple(["X"] * 300_000)))
        writer.note(LONG)
        writer.footer("completed")
    check_bounds(tmp_path)
    run = read_run(tmp_path)
    assert run.complete and run.sealed and run.hello_cut
    (recorded,) = run.verdicts
    assert (recorded.verdict.requirement, recorded.verdict.outcome, recorded.count) == (NAME, Outcome.FAIL, 3)
    assert recorded.cut and recorded.verdict.evidence is not None and recorded.verdict.evidence.cut
    assert run.evidence["frame 1"].cut and all(story.cut for story in run.stories)
    steps = run.stories[1].steps
    assert steps[0].text == steps[-1].text == "x" * 50 and any("24,000 items" in step.text for step in steps)


def test_evidence_is_whole_as_long_as_its_event_fits(tmp_path: Path) -> None:
    whole = {"base64": "A" * 900_000}
    with RunWriter(tmp_path) as writer:
        writer.header(Header(run_id="r"))
        writer.evidence("packet", whole, ref="frame 1")
        verdict = Verdict(NAME, Outcome.FAIL, "s", evidence=Evidence("packet", "frame 1", whole))
        writer.verdict(verdict, suite="s", test="t")
    run = read_run(tmp_path)
    assert run.evidence["frame 1"] == Evidence("packet", "frame 1", whole)
    assert run.verdicts[0].verdict == verdict and not run.verdicts[0].cut


def test_counts_and_captures_are_never_cut(tmp_path: Path) -> None:
    tally = Tally(
        Counter({f"rule {number}/{'x' * 60}": number + 1 for number in range(13_000)}),
        Counter({("suite", f"phase {number} {'x' * 60}"): 1 for number in range(13_000)}),
    )
    took = {f"tests/{'x' * 60}::{number}": number for number in range(13_000)}
    captures = tuple(f"/captures/{'x' * 60}/{number}.pcapng" for number in range(13_000))
    with RunWriter(tmp_path) as writer:
        writer.header(Header(run_id="r", captures=captures))
        writer.tally(tally)
        writer.took(took)
        writer.footer("completed")
    check_bounds(tmp_path)
    run = read_run(tmp_path)
    assert run.tally == tally and run.took == took and run.header.captures == captures
    assert not any(b'"cut"' in line for line in lines(tmp_path))
