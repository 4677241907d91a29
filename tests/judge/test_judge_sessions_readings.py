"""Where the documents can be read two ways, and where the clocks cannot be compared, a session is not failed for it."""

from __future__ import annotations

import pytest

from conformance.judge.sessions.judge import judge_sessions
from conformance.judge.sessions.mutations import MUTATIONS, captured, failed, later, put
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome

INITIATOR = ((5, "ConnectionParametersHeader"),)
ACCEPTOR = ((6, "ConnectionParametersHeader"), *((n, "SessionHeader") for n in (9, 13, 16, 59, 61)))


def said(events, requirement, readings):
    verdicts = judge_sessions(events, readings=assignment(readings))
    return {
        (one.outcome, dict(one.readings).get("R-MQQB-window")) for one in verdicts if one.requirement == requirement
    }


def with_window(places):
    events = captured("resending-session")
    for number, section in places:
        events = put(number, f"{section}.WindowSize", 2)(events)
    return events


def test_the_window_of_either_side_may_be_the_limit():
    name = "MQQB-3.1.7.1.window"
    events = with_window(INITIATOR)
    assert name not in failed(events, "windows") and name in failed(events, "strict")
    assert (Outcome.READING, "received") in said(events, name, "windows")
    assert (Outcome.PASS, "own|received") in said(events, name, "windows")
    assert name not in failed(with_window(ACCEPTOR), "strict")
    assert name in failed(with_window(INITIATOR + ACCEPTOR), "permissive")


def test_an_acknowledged_number_that_was_not_accepted_is_a_reading_under_the_permissive_set():
    name = "MQQB-3.1.5.8.6.accepted"
    events = MUTATIONS[name].broken()
    assert name in failed(events, "windows") and name in failed(events, "strict")
    assert name not in failed(events, "permissive")


@pytest.mark.parametrize("days", [-10, 10])
def test_a_capture_with_another_clock_fails_nothing(days):
    events = later(1, days * 86_400_000)(captured("resending-session"))
    assert not failed(events)
    outcomes = {
        one.outcome
        for one in judge_sessions(events, readings=assignment("windows"))
        if one.requirement == "MQQB-3.1.7.1.2.expired"
    }
    assert outcomes == ({Outcome.PASS} if days < 0 else {Outcome.INCONCLUSIVE})


def test_an_expired_message_is_found_whatever_the_clock_of_the_capture():
    for days in (-10, 10):
        events = later(1, days * 86_400_000)(MUTATIONS["MQQB-3.1.7.1.2.expired"].broken())
        assert failed(events) == {"MQQB-3.1.7.1.2.expired"}


@pytest.mark.parametrize("own", [0x0100, 0x4001, 0x800C, 0xE1FF])
def test_a_class_an_application_made_up_is_no_administration_acknowledgment(own):
    """It expires, asks for journaling and correlates as the application likes (MS-MQMQ 2.2.18.1.6)."""
    events = put(7, "MessagePropertiesHeader.MessageClass", own)(captured("consistent-session"))
    found = failed(put(7, "BaseHeader.TimeToReachQueue", 60)(events))
    assert {name for name in found if name.startswith("MQQB-3.1.7.15.")} == set()
