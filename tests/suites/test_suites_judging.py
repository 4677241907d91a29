"""The recorder of verdicts: what is counted, what stops a test, what a switched-off check does."""

import pytest

from conformance.harness.recorder import MAX_STORY_STEPS, ConformanceFailure, Recorder, RunOptions, failure_type
from conformance.spec.catalogue import catalogue
from conformance.verdict import Outcome, Verdict

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
