"""What a run keeps of what a driver says, and what it does when its time is spent in the midst of a test."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.adapter.session import Result
from conformance.harness import text_bounds
from conformance.harness.guarded_client import OUT_OF_TIME, GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.tape import MAX_EXAMPLE, Example, Tape
from conformance.harness.text_bounds import cut, cut_story, cut_verdict
from conformance.run import run
from conformance.runlog.events import StoryStep
from conformance.verdict import Outcome, Verdict

MUST = "MQMQ-2.2.19.1.signature"
FAKES = Path(__file__).parent / "fakes"
OPTIONS = RunOptions("msmq-4.0", "must", {}, "windows", 0, 10, 10)


def test_long_texts_are_cut_and_say_so() -> None:
    text = "x" * 8_000_000
    short = cut({"status": 0, "message": {"body": text, "label": "l"}, "list": [text, 1]})
    assert short["message"]["label"] == "l"
    assert short["list"][1] == 1
    for each in (short["message"]["body"], short["list"][0]):
        assert each.startswith("xxx")
        assert "8,000,000 bytes in all, sha256 " in each
        assert len(each) < text_bounds.MAX_TEXT + 200
    assert len(cut([0] * 1_000_000)) < 3_000
    assert len(cut({str(number): 0 for number in range(1_000_000)})) < 3_000


def test_what_is_short_stays_the_same_object() -> None:
    for value in ("text", {"a": [1, {"b": "c"}]}, [1, 2.5, None], ("a", b"b")):
        assert cut(value) is value
    verdict = Verdict(MUST, Outcome.PASS, "receive", {"body": "a"}, {"body": "b"})
    assert cut_verdict(verdict) is verdict


def test_a_long_story_is_told_in_short() -> None:
    step = StoryStep("receive", {"method": "messages.receive"}, {"message": {"body": "x" * 60_000}})
    told = cut_story((step,) * 400)
    assert len(told) == 400
    assert told[0] is step
    assert sum(len(str(each)) for each in told) < 2 * text_bounds.MAX_STORY


def test_a_failure_keeps_little_of_large_answers() -> None:
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    judge.begin_example()
    for number in range(20):
        answer = {"message": {"body": f"{number}" * 3_000_000}}
        judge.heard(3_000_000)
        judge.step_told(lambda answer=answer: StoryStep("receive", None, answer))  # type: ignore[misc]
    assert all(isinstance(line, StoryStep) and len(str(line)) < 1_000 for line in judge._story)
    with pytest.raises(ConformanceFailure) as caught:
        judge.record(Verdict(MUST, Outcome.FAIL, "receive", "a", "b" * 6_000_000))
    assert judge.first_failures[0].__traceback__ is None  # whose frames hold the answers
    assert len(str(caught.value)) + len(str(caught.value.story)) + len(str(caught.value.verdict)) < 1 << 20
    judge.begin_example()
    judge.heard(10)
    judge.step_told(line := lambda: StoryStep("send"))
    assert judge._story == [line]  # an honest example is told when somebody wants it


def test_a_tape_lets_go_of_what_is_too_long_to_be_stored() -> None:
    kept: list[Example] = []
    tape = Tape(set(), kept.append)
    tape.begin("calls", {"calls": []})
    for _ in range(5):
        result = Result(0, {"message": {"body": "x" * 400_000}}, None, 400_000)
        assert tape.taking("call", "messages.receive", {"queue": "h"}, lambda result=result: result) is result
    tape.said(Verdict(MUST, Outcome.PASS, "receive"))
    tape.end()
    assert not kept
    assert sum(len(str(op.to_json())) for op in tape.example.ops) < MAX_EXAMPLE
    assert [op.result.status for op in tape.example.ops] == [0] * 5


def test_no_call_is_made_once_the_time_is_spent() -> None:
    made: list[str] = []
    client: Any = SimpleNamespace(call=lambda method, **params: made.append(method))
    GuardedClient(client, until=time.monotonic() + 1000).call("reset")
    with pytest.raises(pytest.skip.Exception, match=OUT_OF_TIME):
        GuardedClient(client, until=time.monotonic() - 1).call("reset")
    assert made == ["reset"]


class Answering:
    """A client whose driver answers at once. clock: that it declares."""

    def __init__(self, clock: str) -> None:
        self.hello = SimpleNamespace(clock=clock)
        self.asked: list[str] = []

    def call(self, method: str, **params: Any) -> SimpleNamespace:
        self.asked.append(method)
        return SimpleNamespace(size=0)

    def wait_done(self, call: Any, within_ms: int) -> bool:
        self.asked.append("wait")
        return True


@pytest.mark.parametrize(("clock", "left_out"), [("real", True), ("virtual", False)])
def test_no_wait_begins_that_would_last_beyond_the_budget(clock: str, left_out: bool) -> None:
    """A driver may declare a `settle_ms` of a minute, and a read waits so long for what must be there."""
    inner = Answering(clock)
    client = GuardedClient(inner, until=time.monotonic() + 30)  # type: ignore[arg-type]
    begun = SimpleNamespace(method="messages.receive", _call=None)
    client.call("messages.receive", timeout_ms=1_000)
    client.call("messages.receive", timeout_ms=0xFFFFFFFF)
    client.wait_done(begun, 1_000)  # type: ignore[arg-type]
    assert len(inner.asked) == 3
    waits = (lambda: client.call("messages.receive", timeout_ms=60_000), lambda: client.wait_done(begun, 60_000))  # type: ignore[arg-type]
    for wait in waits:
        if left_out:
            with pytest.raises(pytest.skip.Exception, match=OUT_OF_TIME):
                wait()
        else:
            wait()
    assert len(inner.asked) == (3 if left_out else 5)


def test_a_slow_driver_ends_with_the_budget_and_keeps_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test of thirty examples begins within the budget, and would go on for minutes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "adapter" / "fakes"))  # of the driver
    calls = tmp_path / "calls"
    command = shlex.join([sys.executable, str(FAKES / "answers_slowly.py"), str(calls)])
    result = run(
        adapter=f"stdio:{command}", suites="cursors", out=tmp_path / "out", budget_s=4, pytest_args=["-k", "walk"]
    )
    assert result.record is not None and result.record.footer is not None
    assert result.record.footer.stop_reason == "budget"
    assert 3 < len(calls.read_text().split()) < 30
    assert Outcome.FAIL in {verdict.outcome for verdict in result.verdicts}
    assert not any(verdict.outcome in (Outcome.ERROR, Outcome.CRASH) for verdict in result.verdicts)


def test_a_wait_that_a_driver_declares_ends_with_the_time_of_the_run() -> None:
    client = GuardedClient(None, until=time.monotonic() + 0.01)  # type: ignore[arg-type]  # it is not called
    with pytest.raises(pytest.skip.Exception, match="time budget"):
        client.time.sleep(3_600)
    GuardedClient(None).time.sleep(0)  # type: ignore[arg-type]
