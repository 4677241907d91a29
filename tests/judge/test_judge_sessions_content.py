"""What a conversation names is judged by its content: acknowledgments of what cannot be meant, answers gone astray."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.capture import Event, Frame
from conformance.judge.sessions.judge import judge_sessions
from conformance.judge.sessions.mutations import (
    ALPHA,
    BETA,
    SEQUENCE,
    Edit,
    captured,
    copy,
    drop,
    failed,
    frame,
    lost,
    on,
    put,
)
from conformance.spec.catalogue import assignment
from conformance.wire import dissect

CONSISTENT, RESENDING = "consistent-session", "resending-session"
CORRELATION, BODY = "MessagePropertiesHeader.CorrelationID", "OrderAckBody.TxSequenceID"
NAMES, ANSWERS, ORDER = "MQQB-3.1.7.15.correlation", "MQQB-2.1.2.response-address", "MQQB-2.2.4.1.sequence"
COOKIES, FINAL = "MQQB-2.2.7.response-cookie", "MQQB-2.2.5.1.sequence"
ADDRESS, QUEUE = "MQQB-2.2.4.address", "UserHeader.DestinationQueue.DirectFormatName"
ELSEWHERE = "TCP:192.0.2.77".encode("utf-16-le")


def correlated(number: int, change) -> Edit:
    """Change the CorrelationID of an acknowledgment. change: GUID and number in, 20 bytes out."""

    def edit(old: Frame) -> Frame:
        packet = dissect(old.data)
        offset, length = packet.spans[CORRELATION]
        raw = bytes(packet.fields[CORRELATION])
        made = change(raw[:16], int.from_bytes(raw[16:], "little"))
        return replace(old, data=old.data[:offset] + made + old.data[offset + length :])

    return on(number, edit)


def word(number: int) -> bytes:
    """Encode a number."""
    return number.to_bytes(4, "little")


def to(number: int, port: int | None = None, address: str | None = None) -> Edit:
    """Send a packet to another place."""

    def change(old: Frame) -> Frame:
        there = old.destination
        return replace(old, destination=replace(there, port=port or there.port, address=address or there.address))

    return on(number, change)


EXCHANGED = (SEQUENCE & 0xFFFFFFFF) << 32 | SEQUENCE >> 32
BROKEN: dict[str, tuple[str, str, list[Edit]]] = {
    "number before the GUID": (NAMES, CONSISTENT, [correlated(19, lambda guid, number: word(number) + guid)]),
    "the acknowledging manager": (
        NAMES, CONSISTENT, [correlated(19, lambda guid, number: BETA.bytes_le + word(number))],
    ),
    "a number not reached": (NAMES, CONSISTENT, [correlated(19, lambda guid, number: guid + word(number + 900))]),
    "no sequence": (ORDER, CONSISTENT, [put(25, BODY, 0)]),
    "a sequence with its halves exchanged": (ORDER, CONSISTENT, [put(20, BODY, EXCHANGED)]),
    "an address that no other acknowledgment names": (ADDRESS, CONSISTENT, [put(20, QUEUE, ELSEWHERE)]),
    "an address that none before has named": (ADDRESS, CONSISTENT, [put(25, QUEUE, ELSEWHERE)]),
    "a ping answered to its own port": (ANSWERS, CONSISTENT, [to(2, port=3527)]),
    "a ping answered to another host": (ANSWERS, CONSISTENT, [to(2, address="192.0.2.99")]),
}  # fmt: skip
PERMITTED: dict[str, tuple[str, str, list[Edit]]] = {
    "a message before the capture": (
        NAMES, CONSISTENT, [correlated(19, lambda guid, number: guid + word(number - 900))],
    ),
    "a message that the capture lost": (
        NAMES, CONSISTENT, [lost(8), correlated(19, lambda guid, number: guid + word(number + 900))],
    ),
    "a message of a queue manager not seen": (
        NAMES, CONSISTENT, [correlated(19, lambda guid, number: bytes(range(16)) + word(number))],
    ),
    "a request of that host": (ANSWERS, CONSISTENT, [drop(1), to(2, address="192.0.2.99")]),
    "a response to a ping that the capture lacks": (
        COOKIES, CONSISTENT,
        [copy(1, 2, put(-1, "Ping.Cookie", 2)), copy(2, 2.5, put(-1, "Ping.Cookie", 2)), drop(2.5)],
    ),
    "a transactional acknowledgment of a message not seen, in place of one of its sender's": (
        FINAL, RESENDING,
        [
            put(24, "UserHeader.SourceQueueManager", ALPHA.bytes_le), put(24, "FinalAckBody.SourceGUID", BETA.bytes_le),
            put(24, "FinalAckBody.MessageID", 7999),
        ],
    ),
    "an address translated on the way": (ADDRESS, CONSISTENT, [put(n, QUEUE, ELSEWHERE) for n in (20, 25)]),
}  # fmt: skip


def edited(capture: str, edits: list[Edit]) -> list[Event]:
    """Return the events of a capture after edits."""
    events = captured(capture)
    for edit in edits:
        events = edit(events)
    return events


@pytest.mark.parametrize("capture", [CONSISTENT, RESENDING])
def test_a_ping_that_repeats_who_asked_is_blamed_and_nothing_else(capture: str) -> None:
    events = edited(capture, [put(2, "Ping.QMGuid", ALPHA.bytes_le)])
    assert failed(events) == {"MQQB-2.2.7.response-qm-guid"}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_meant_is_blamed(name: str) -> None:
    requirement, capture, edits = BROKEN[name]
    assert requirement in failed(edited(capture, edits))


@pytest.mark.parametrize("name", PERMITTED)
def test_what_the_capture_may_lack_is_not_blamed(name: str) -> None:
    requirement, capture, edits = PERMITTED[name]
    events = edited(capture, edits)
    assert requirement not in failed(events)
    assert frame(events, 3) and list(judge_sessions(events, readings=assignment("windows")))
