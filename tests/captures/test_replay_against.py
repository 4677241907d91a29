"""Messages of captures given to an implementation: the embedded one, right and with faults."""

from __future__ import annotations

import base64
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.captures import Replay, replay
from conformance.captures.compare_implementation import NotDeliverable, implementation, judge_queue
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode, Outcome
from conformance.wire import Packet, dissect, encode

FAKES = Path(__file__).parent / "fakes"
READINGS = assignment("windows")
SESSION = Path(__file__).parents[2] / "fixtures" / "captures" / "consistent-session.pcapng"


def given(connector: str, *, in_process: bool = True) -> tuple[Replay, Any]:
    with implementation(connector, readings=READINGS, in_process=in_process) as against:
        return replay([SESSION], profile="msmq-4.0", readings=READINGS, against=against), against


def failing(result: Replay) -> set[str]:
    return {one.verdict.requirement for one in result.counted if one.verdict.outcome is Outcome.FAIL}


def test_the_embedded_implementation_reads_and_queues_a_session() -> None:
    result, against = given("embedded")
    assert result.exit_code() is ExitCode.CONFORMS
    assert against.read > 5 and against.delivered > 5
    judged = {one.verdict.requirement for one in result.counted if one.verdict.subject.endswith("delivered")}
    assert {"MQDMPR-3.1.1.2.arrival-order", "MQDMPR-3.1.1.12.body-unchanged", "MQDMPR-3.1.7.1.9.available"} <= judged


@pytest.mark.parametrize(
    ("fault", "requirement"),
    [
        ("peek-removes-message", None),
        ("receive-returns-second-message", "MQDMPR-3.1.1.2.arrival-order"),
        ("receive-keeps-message", "MQDMPR-3.1.7.1.9.available"),
    ],
)
def test_what_a_fault_shows(fault: str, requirement: str | None) -> None:
    result, _ = given(f"embedded+{fault}")
    assert (requirement in failing(result)) if requirement else not failing(result)


def packet(body: bytes, priority: int = 3, label: str = "") -> Packet:
    return dissect(
        encode(
            "UserMessage",
            {
                "UserHeader.DestinationQueue.DirectFormatName": "OS:h\\q",
                "BaseHeader.Flags.PR": priority,
                "MessagePropertiesHeader.Label": label,
                "MessagePropertiesHeader.MessageBody": body,
            },
        )
    )


def message(body: bytes, priority: int = 3, **more: Any) -> dict[str, Any]:
    return {"body": base64.b64encode(body).decode(), "priority": priority, "label": "", **more}


SENT = [packet(b"1"), packet(b"2", 7), packet(b"3")]
RIGHT = [message(b"2", 7), message(b"1"), message(b"3")]


@pytest.mark.parametrize(
    ("found", "requirements"),
    [
        (RIGHT, set()),
        (RIGHT[:2], {"MQDMPR-3.1.7.1.9.available"}),
        ([*RIGHT, RIGHT[0]], {"MQDMPR-3.1.7.1.9.available"}),
        ([RIGHT[1], RIGHT[0], RIGHT[2]], {"MQDMPR-3.1.1.2.priority-before-arrival"}),
        ([RIGHT[0], RIGHT[2], RIGHT[1]], {"MQDMPR-3.1.1.2.arrival-order"}),
        ([RIGHT[0], RIGHT[1], message(b"4")], {"MQDMPR-3.1.1.12.body-unchanged"}),
        ([RIGHT[0], RIGHT[1], message(b"3", label="x")], {"MQDMPR-3.1.1.12.label-unchanged"}),
        ([RIGHT[0], RIGHT[1], message(b"3", 2)], {"MQDMPR-3.1.1.12.priority-unchanged"}),
        ([], {"MQDMPR-3.1.7.1.9.available"}),
    ],
)
def test_each_way_a_queue_can_be_wrong(found: list[dict[str, Any]], requirements: set[str]) -> None:
    verdicts = list(judge_queue(SENT, found, transactional=False))
    assert {one.requirement for one in verdicts if one.outcome is Outcome.FAIL} == requirements


def test_a_driver_that_dies_is_a_verdict_and_the_capture_is_judged_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(FAKES), os.environ.get("PYTHONPATH", "")]))
    result, against = given("python:dies_at_the_third_packet:Driver", in_process=False)
    assert against.over and against.read == 1  # the control was the first of three
    assert result.captures[0].packets == 26
    crashes = [one.verdict for one in result.counted if one.verdict.outcome is Outcome.CRASH]
    assert [one.requirement for one in crashes] == ["MQDMPR-3.1.7.1.31.reads"]
    assert result.exit_code() is ExitCode.DEVIATES


def test_a_driver_without_either_facet_is_given_nothing() -> None:
    honest = f"stdio:{shlex.join([sys.executable, str(FAKES.parents[1] / 'adapter' / 'fakes' / 'honest.py')])}"
    with (
        pytest.raises(NotDeliverable, match=r"neither packets\.decode nor packets\.deliver"),
        implementation(honest, readings=READINGS),
    ):
        pass
