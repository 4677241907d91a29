"""What a capture lacks never becomes a fail; readings decide what the documents leave open; any bytes are judged."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cases import all_of
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer
from session_edits import beginning_missing

from conformance.capture import Closed, Frame, Opened
from conformance.judge.dialogues.packets import session_values
from conformance.judge.sessions.flow_steps import after
from conformance.judge.sessions.judge import SessionJudge, judge_sessions
from conformance.judge.sessions.mutations import (
    ALPHA,
    BETA,
    SEQUENCE,
    bytes_of,
    captured,
    copy,
    failed,
    flip,
    lost,
    numbered,
    on,
    put,
)
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome
from conformance.wire import dissect, encode, rebuild


def consistent():
    return captured("consistent-session")


def verdicts(events, readings="windows"):
    return list(judge_sessions(numbered(events), readings=assignment(readings)))


NUMBERS = [event.number for event in consistent() if isinstance(event, Frame)]
CLEAN = ("consistent-session", "resending-session", "reconnecting-session")
PLACES = [(name, event.number) for name in CLEAN for event in captured(name) if isinstance(event, Frame)]
FEW = settings(max_examples=fewer(60), deadline=None, derandomize=True, database=None)


@all_of(("name", "number"), PLACES)
def test_a_lost_packet_makes_no_fail(name, number):
    assert not failed(lost(number)(captured(name)))


@FEW
@given(st.sets(st.sampled_from(PLACES), min_size=2, max_size=24))
def test_lost_packets_make_no_fail(places):
    for name in CLEAN:
        events = captured(name)
        for number in sorted((number for of, number in places if of == name), reverse=True):
            events = lost(number)(events)
        assert not failed(events)


@all_of(("name", "number"), PLACES)
def test_a_missing_beginning_makes_no_fail(name, number):
    assert not failed(beginning_missing(number)(captured(name)))


@all_of(("name", "number"), PLACES)
def test_a_missing_end_makes_no_fail(name, number):
    events = captured(name)
    at = next(at for at, one in enumerate(events) if isinstance(one, Frame) and one.number == number)
    open_ = {event.connection for event in events[:at] if isinstance(event, Opened)}
    ends = [Closed(one, 0, None, "end") for one in sorted(open_)]
    assert not failed([*events[:at], *ends])


def test_what_is_lost_is_said_once():
    said = [one for one in verdicts(lost(7)(consistent())) if one.outcome is Outcome.INCONCLUSIVE]
    assert said and len({(one.requirement) for one in said}) == len(said)
    assert all(one.reason for one in said)


@FEW
@given(st.sampled_from(NUMBERS), st.data())
def test_any_bytes_are_judged(number, data):
    events = consistent()
    at = next(at for at, one in enumerate(events) if isinstance(one, Frame) and one.number == number)
    raw = bytearray(events[at].data)
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    events[at] = replace(events[at], data=bytes(raw[:cut] if data.draw(st.booleans()) else raw))
    for verdict in verdicts(events):
        assert verdict.to_json()


@pytest.mark.parametrize(
    ("later", "earlier", "expected"), [(1, 0, 1), (0, 65535, 1), (65535, 0, -1), (5, 5, 0), (32767, 0, 32767)]
)
def test_counts_wrap_at_16_bits(later, earlier, expected):
    assert after(later, earlier) == expected


# --- Readings ---------------------------------------------------------------------------------------------------


def outcomes(events, requirement, readings):
    return [(one.outcome, dict(one.readings)) for one in verdicts(events, readings) if one.requirement == requirement]


def test_a_recoverable_order_ack_is_a_reading():
    events = flip(20, "UserHeader.Flags", 0x20)(consistent())
    name, reading = "MQQB-2.2.4.delivery", "R-MQQB-order-ack-delivery"
    assert outcomes(events, name, "windows")[0] == (Outcome.READING, {reading: "recoverable"})
    assert outcomes(events, name, "permissive")[0] == (Outcome.READING, {reading: "recoverable"})
    assert outcomes(events, name, "strict")[0] == (Outcome.FAIL, {reading: "recoverable"})
    assert outcomes(events, name, "strict")[1] == (Outcome.PASS, {reading: "express"})


@pytest.mark.parametrize(
    ("number", "section", "name"), [(20, "2.2.4", "consistent-session"), (24, "2.2.5", "resending-session")]
)
def test_a_session_header_of_an_acknowledgment_is_a_reading(number, section, name):
    requirement, reading = f"MQQB-{section}.base-flags", "R-MQQB-acknowledgment-session-header"

    def with_header(old):
        return replace(old, data=rebuild(dissect(old.data), session_values(0, 0, 0)))

    events = on(number, with_header)(captured(name))
    judged = {readings: outcomes(events, requirement, readings) for readings in ("windows", "strict")}
    assert (Outcome.READING, {reading: "late"}) in judged["windows"]
    assert (Outcome.FAIL, {reading: "late"}) in judged["strict"]
    more = flip(number, "BaseHeader.Flags", 0x100)(events)
    assert Outcome.FAIL in {outcome for outcome, _ in outcomes(more, requirement, "windows")}


def test_a_null_server_guid_may_be_refused_under_the_permissive_readings_only():
    events = flip(4, "InternalHeader.Flags", 0x10)(consistent())
    name, reading = "MQQB-3.1.5.3.1.cs", "R-MQQB-null-server-guid"
    assert outcomes(events, name, "permissive")[0] == (Outcome.READING, {reading: "refused"})
    assert outcomes(events, name, "windows")[0][0] is Outcome.INCONCLUSIVE


def test_one_sequence_over_two_queues_and_one_for_each_are_both_accepted_and_told_apart():
    """The second transactional message goes to another queue, numbered on from the first, or anew."""
    name = "UserHeader.DestinationQueue.DirectFormatName"
    other = "OS:beta\\private$\\ledgex\0".encode("utf-16-le")
    shared = put(10, name, other)(consistent())
    assert not failed(shared, "windows") and not failed(shared, "strict")
    followed = {dict(one.readings).get("R-MQQB-transactional-sequence-scope") for one in verdicts(shared)}
    assert "session" in followed
    own = shared
    for edit in (
        put(10, "TransactionHeader.TxSequenceID", SEQUENCE + 7),
        put(10, "TransactionHeader.TxSequenceNumber", 1),
        put(10, "TransactionHeader.PreviousTxSequenceNumber", 0),
        put(11, "TransactionHeader.TxSequenceNumber", 2),
        put(11, "TransactionHeader.PreviousTxSequenceNumber", 1),
        put(20, "OrderAckBody.TxSequenceNumber", 2),
        put(20, "OrderAckBody.TxPreviousSequenceNumber", 1),
    ):
        own = edit(own)
    assert not failed(own, "windows")
    assert {"MQQB-3.1.1.5.next-sequence", "MQQB-3.1.1.5.older-sequence"} <= failed(own, "strict")


def test_an_order_ack_of_the_own_sequence_is_accepted_only_where_that_reading_is():
    """Beta also sends on a transactional sequence of its own, and names that one in its OrderAck."""
    own = SEQUENCE + 99
    data = encode(
        "UserMessage",
        {
            "UserHeader.SourceQueueManager": str(BETA),
            "UserHeader.MessageID": 7990,
            "UserHeader.DestinationQueue.DirectFormatName": "OS:beta\\private$\\ledger",
            "TransactionHeader.TxSequenceID": own,
            "TransactionHeader.TxSequenceNumber": 1,
        },
    )
    events = copy(19, 19, bytes_of(-1, data))(consistent())
    events = put(20, "OrderAckBody.TxSequenceID", own)(events)
    name = "MQQB-2.2.4.1.sequence"
    assert outcomes(events, name, "windows")[0][0] is Outcome.FAIL
    assert outcomes(events, name, "permissive")[0] == (Outcome.READING, {"R-MQQB-order-ack-sequence": "own-outgoing"})


# --- Lookalikes that are no faults ------------------------------------------------------------------------------


def test_a_ping_captured_twice_is_one_ping():
    assert not failed(copy(1, 1)(consistent()))


def test_a_message_sent_again_on_another_connection_may_be_numbered_anew():
    events = copy(9, 22, put(-1, "TransactionHeader.TxSequenceID", SEQUENCE + 1))(consistent())
    moved = [
        replace(one, connection=2, side="acceptor") if isinstance(one, Frame) and one.number == 22.5 else one
        for one in events
    ]
    assert "MQQB-3.1.7.1.3.resent-number" not in failed(moved)


def test_messages_a_router_passes_on_are_not_its_own():
    """The source queue manager is not the one that opened the connection: its sequence is not judged here."""
    events = consistent()
    for number in (9, 10, 11, 22):
        events = put(number, "UserHeader.SourceQueueManager", bytes(range(16)))(events)
        events = flip(number, "UserHeader.Flags", 1)(events)  # One hop.
    events = put(10, "TransactionHeader.TxSequenceNumber", 77)(events)
    assert not failed(events)


# --- Who sent it ------------------------------------------------------------------------------------------------


def senders(events):
    judge = SessionJudge(assignment("windows"))
    found = {}
    for event in events:
        if isinstance(event, Frame):
            packet = dissect(event.data, transport=event.transport)
            judge.feed(event, packet)
            found[event.number] = judge.sender(event, packet)
        else:
            judge.feed(event)
    return found


def test_a_sender_is_its_queue_manager_from_its_first_packet_on():
    found = senders(consistent())
    assert set(found.values()) == {str(ALPHA), str(BETA)}
    assert (found[1], found[2], found[3], found[4]) == (str(ALPHA), str(BETA), str(ALPHA), str(BETA))


def test_without_the_beginning_a_message_tells_its_sender_and_other_packets_their_address():
    found = senders(beginning_missing(7)(consistent()))
    assert found[7] == str(ALPHA)
    assert found[12] == "192.0.2.32"


def test_two_queue_managers_may_read_the_scope_of_a_sequence_differently():
    """Alpha has one sequence for both its queues, Beta one for each."""
    name = "UserHeader.DestinationQueue.DirectFormatName"
    events = put(10, name, "OS:beta\\private$\\ledgex\0".encode("utf-16-le"))(consistent())
    sent = ((1, "bills", 50), (1, "gifts", 40), (2, "bills", 50))
    for at, (number, queue, sequence) in reversed(list(enumerate(sent))):
        data = encode(
            "UserMessage",
            {
                "UserHeader.SourceQueueManager": str(BETA),
                "UserHeader.MessageID": 310 + at,
                "UserHeader.SentTime": 1_700_000_001,
                name: f"OS:alpha\\private$\\{queue}",
                "TransactionHeader.TxSequenceID": SEQUENCE + sequence,
                "TransactionHeader.TxSequenceNumber": number,
                "TransactionHeader.PreviousTxSequenceNumber": number - 1,
            },
        )
        events = copy(19, 19, bytes_of(-1, data))(events)
    assert not failed(events)
    assert failed(events, "strict")
