"""A run record judged again without the implementation: as it was judged then, and otherwise where it has to be."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import fewer
from shared import shared

from conformance.command_options import BadInput
from conformance.harness.playback import judge_example
from conformance.harness.recorder import RunOptions
from conformance.harness.repro_files import NotRepeatable
from conformance.harness.run_session import EXAMPLE
from conformance.harness.tape import unpacked
from conformance.rejudge import judge_again
from conformance.report.summary import summary
from conformance.report.table import headline
from conformance.runlog import Run, read_run
from conformance.verdict import ExitCode, Outcome

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
WAITS = "R-MQDMPR-zero-timeout-status"


def run(out: Path, adapter: str, suites: str, *more: str) -> int:
    words = ("run", "--adapter", adapter, "--suite", suites, "--out", str(out), "--max-examples", "2", "--steps", "12")
    return command(*words, *more).returncode


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chosen = (
        "2_1_2 or label or open_queue or 3_2_cursor or 2_2_7 or defaults or spelling or with_properties or at_the_same"
    )
    suites = "names,structures,cursors,properties,concurrency"

    def make(out: Path) -> None:
        assert run(out, "embedded", suites, "--", "-k", chosen) == ExitCode.CONFORMS

    return shared(tmp_path_factory, "judged-good", make)


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    faults = "embedded+loses-message-on-abort,accepts-plus-in-queue-name"

    def make(out: Path) -> None:
        assert run(out, faults, "names,transactions", "--", "-k", "2_1_2 or abort or everything") == ExitCode.DEVIATES

    return shared(tmp_path_factory, "judged-bad", make)


def options(folder: Path, **other: Any) -> RunOptions:
    header = read_run(folder).header
    assert header.profile and header.level and header.reading_set
    wanted: dict[str, Any] = {
        "profile": header.profile,
        "level": header.level,
        "readings": header.readings,
        "reading_set": header.reading_set,
        "seed": 0,
        "max_examples": 1,
        "stateful_steps": 1,
        **other,
    }
    return RunOptions(**wanted)


def said_then(data: Mapping[str, Any]) -> set[Any]:
    return {(each["requirement"], each["outcome"], tuple(each["readings"].items())) for each in data["verdicts"]}


def said_now(data: Mapping[str, Any], hello: Any, how: RunOptions) -> set[Any]:
    return {(one.requirement, one.outcome.value, one.readings) for one in judge_example(data, hello, how)}


@pytest.fixture(scope="module")
def stored(good: Path) -> tuple[list[Any], Any, RunOptions]:
    """The examples of a run, what the implementation said of itself, and how it was judged."""
    found = read_run(good)
    return [unpacked(each.data) for each in found.evidence.values() if each.kind == EXAMPLE], found.hello, options(good)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver with no clock to advance, which takes little: reads wait for real, some histories are skipped."""
    driver = shlex.join([sys.executable, str(Path(__file__).parents[2] / "adapters" / "python" / "driver.py")])

    def make(out: Path) -> None:
        assert run(out, f"stdio:{driver}", "cursors,journals") == ExitCode.CONFORMS

    return shared(tmp_path_factory, "judged-plain", make)


@pytest.mark.parametrize("record", ["good", "bad", "plain"])
def test_every_stored_example_is_judged_as_it_was(record: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(record)
    found, how = read_run(folder), options(folder)
    examples = [unpacked(each.data) for each in found.evidence.values() if each.kind == EXAMPLE]
    assert len(examples) > 5
    failing = 0
    for data in examples:
        assert said_now(data, found.hello, how) == said_then(data), data["test"]
        failing += any(each["outcome"] == "fail" for each in data["verdicts"])
    assert bool(failing) == (record == "bad")


def test_a_run_is_judged_as_it_was(good: Path, tmp_path: Path) -> None:
    again = judge_again(good, out=tmp_path)
    assert again.exit_code is ExitCode.CONFORMS, again.sentence
    assert again.as_before and again.again > 20
    assert not again.changes and not again.standing and not again.left_out
    assert again.record is not None
    assert every(again.record) == every(read_run(good))
    # What clients do at once, and a queue opened by another spelling, are in no example: that stands, and is told.
    assert "MQDMPR-3.1.7.1.5.format-name-matches" in again.lost
    assert any(note.text.startswith(f"{len(again.lost)} requirements stand as recorded") for note in again.record.notes)
    assert headline(again.record).endswith(f"; {len(again.lost)} requirements stand as recorded")
    assert "stand" not in headline(read_run(good)) and summary(again.record)["as_recorded"] == len(again.lost)
    once_more = judge_again(tmp_path, out=tmp_path / "once more")
    assert once_more.record is not None and every(once_more.record) == every(again.record)


def every(found: Run) -> set[Any]:
    """All that was said, and by which test if it is no pass: a run counts passes of several tests together."""
    return {
        (
            each.suite,
            "" if each.verdict.outcome is Outcome.PASS else each.test,
            each.verdict.requirement,
            each.verdict.outcome,
            each.verdict.readings,
        )
        for each in found.verdicts
    }


def test_what_is_not_stored_is_not_known_by_other_readings(good: Path, tmp_path: Path) -> None:
    again = judge_again(good, readings="strict", out=tmp_path)
    assert again.record is not None and not again.as_before
    said = {each.verdict.requirement: each.verdict.outcome for each in again.record.verdicts}
    assert again.lost and {said[name] for name in again.lost} == {Outcome.INCONCLUSIVE}


def test_a_deviation_is_found_again_with_its_story(bad: Path, tmp_path: Path) -> None:
    again = judge_again(bad, out=tmp_path)
    assert again.exit_code is ExitCode.DEVIATES
    assert not again.changes and not again.standing
    assert again.record is not None
    before = {each.requirement for each in _failing(bad)}
    assert {verdict.requirement for verdict in again.deviations} == before
    assert {story.steps[0].text for story in again.record.stories if story.steps}
    # What was judged again can be judged again.
    third = judge_again(tmp_path, out=tmp_path / "third")
    assert third.exit_code is ExitCode.DEVIATES and not third.changes
    assert third.again == again.again


def _failing(folder: Path) -> list[Any]:
    return [each.verdict for each in read_run(folder).verdicts if each.verdict.outcome is Outcome.FAIL]


def test_another_reading_is_another_judgement(good: Path, tmp_path: Path) -> None:
    followed = {dict(each.verdict.readings).get(WAITS) for each in read_run(good).verdicts} - {None}
    assert followed, "the run followed no alternative of the reading this test is about"
    again = judge_again(good, chosen=[f"{WAITS}=message-not-found"], out=tmp_path)
    assert again.exit_code is ExitCode.DEVIATES
    broken = {verdict.requirement for verdict in again.deviations}
    assert "MQDMPR-3.1.7.1.10.no-wait-code" in broken


def test_another_profile(bad: Path, tmp_path: Path) -> None:
    """What a profile does not demand is neither lost nor standing."""
    again = judge_again(bad, profile="msmq-1.0", out=tmp_path)
    assert again.record is not None
    assert again.record.header.profile == "msmq-1.0"
    bound = {each.verdict.requirement for each in again.record.verdicts}
    assert not {change.requirement for change in again.changes if change.now is None} & bound


def edited(folder: Path, to: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Path:
    """A copy of a record with each event changed, or left out for None; without checksums, which tell of it."""
    to.mkdir()
    lines = (folder / "run-main.ndjson").read_text().splitlines()
    kept = [event for line in lines if (event := change(json.loads(line))) is not None]
    bare = [{name: value for name, value in event.items() if name not in ("seal", "sealed")} for event in kept]
    (to / "run-main.ndjson").write_text("".join(json.dumps(event) + "\n" for event in bare))
    return to


def test_another_answer_is_another_judgement(good: Path, tmp_path: Path) -> None:
    """The oracle looks at the answers, not at what was said of them: one answer of one example is made wrong."""
    spoiled: list[str] = []

    def change(event: dict[str, Any]) -> dict[str, Any]:
        if (
            event["event"] == "evidence"
            and event["kind"] == EXAMPLE
            and event["data"]["suite"] == "cursors"
            and "spelling" not in event["data"]["test"]  # this test compares a body itself: that stands as recorded
            and not spoiled
        ):
            event["data"] = dict(unpacked(event["data"]))
            for op in event["data"]["ops"]:
                message = op.get("result", {}).get("message", {}) if op.get("method") == "messages.receive" else {}
                if message.get("body"):
                    message["body"] = "AAAA"
                    spoiled.append(event["data"]["test"])
                    break
        return event

    again = judge_again(edited(good, tmp_path / "run", change), out=tmp_path / "out")
    assert spoiled
    assert again.exit_code is ExitCode.DEVIATES
    assert again.record is not None
    assert {each.test for each in again.record.verdicts if each.verdict.outcome is Outcome.FAIL} == set(spoiled)


def test_what_is_not_stored_is_not_taken_to_hold(good: Path, tmp_path: Path) -> None:
    bare = edited(good, tmp_path / "run", lambda event: None if event.get("kind") == EXAMPLE else event)
    again = judge_again(bare, out=tmp_path / "out")
    assert again.exit_code is ExitCode.NOTHING_JUDGED
    assert "stores no example" in (again.sentence or "")
    assert set(again.counts) == {Outcome.INCONCLUSIVE}
    assert len(again.lost) > 50


def test_a_failure_that_cannot_be_judged_stands(bad: Path, tmp_path: Path) -> None:
    """Some example of the same test still passes: that must not hide the one that failed."""

    def change(event: dict[str, Any]) -> dict[str, Any] | None:
        return None if event.get("kind") == EXAMPLE and "verdict" in event["data"] else event

    again = judge_again(edited(bad, tmp_path / "run", change), out=tmp_path / "out")
    assert again.exit_code is ExitCode.DEVIATES
    assert set(again.standing) == {each.requirement for each in _failing(bad)}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=fewer(60), deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_damaged_example_is_told_in_one_sentence(stored: Any, data: st.DataObject) -> None:
    examples, hello, how = stored
    example = json.loads(json.dumps(data.draw(st.sampled_from(examples[::7]))))
    place: Any = example
    for _ in range(data.draw(st.integers(0, 3))):
        members = place.values() if isinstance(place, dict) else place
        inner = [each for each in members if isinstance(each, dict | list)]
        place = data.draw(st.sampled_from(inner)) if inner else place
    if place:
        name = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        place[name] = data.draw(_JSON)
    try:
        judge_example(example, hello, how)
    except NotRepeatable as why:
        assert "\n" not in str(why)


def test_captures_are_judged_again(tmp_path: Path) -> None:
    from conformance.captures import replay_captures

    captures = [tmp_path / name for name in ("mqqb-4.1.pcapng", "other.pcapng")]
    for capture in captures:
        shutil.copy(CAPTURES / "mqqb-4.1.pcapng", capture)
    live = replay_captures(captures, filter="kind=*", out=tmp_path / "live")
    again = judge_again(tmp_path / "live", out=tmp_path / "again")
    assert (again.again, again.changes, again.exit_code, again.counts) == (2, (), live.exit_code, live.counts)
    # One is gone and one is another file: the packets of what was found wrong are stored, the rest is not.
    captures[0].unlink()
    captures[1].write_bytes((CAPTURES / "mqqb-4.1.pcapng").read_bytes() + b"\0" * 8)
    less = judge_again(tmp_path / "live", out=tmp_path / "less")
    assert less.exit_code is ExitCode.DEVIATES
    assert any("not there" in why for why in less.left_out)
    assert any("another one now" in why for why in less.left_out)
    assert {verdict.requirement for verdict in less.deviations} == {verdict.requirement for verdict in live.deviations}
    assert less.lost


def test_what_is_no_record(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no run record"):
        judge_again(tmp_path / "nothing")
    with pytest.raises(BadInput, match="did you mean"):
        judge_again(tmp_path, readings="window")
