"""Conversations that look wrong and are not: restarts, moved clocks, packets seen late, messages that come back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from conformance.capture import Closed, Event, Frame, Opened
from conformance.judge.sessions.context import BODY
from conformance.judge.sessions.mutations import (
    BETA,
    STRANGER,
    Edit,
    captured,
    copy,
    delayed,
    drop,
    failed,
    flip,
    frame,
    later,
    put,
    rebuilt,
)
from conformance.wire import dissect

LABEL = "MessagePropertiesHeader.Label"
COOKIE, STAMP, SENT = "Ping.Cookie", "EstablishConnectionHeader.TimeStamp", "UserHeader.SentTime"
SESSION, TX, RESTORED = "SessionHeader", "TransactionHeader", (0x65535000 + 500) << 32 | 1
SOURCE = "UserHeader.SourceQueueManager"


def moved_to(connection: int, number: float) -> Edit:
    """Put a frame on another connection of the same hosts."""

    def change(events: list[Event]) -> list[Event]:
        return [
            replace(one, connection=connection) if isinstance(one, Frame) and one.number == number else one
            for one in events
        ]

    return change


def closed_before(connection: int, number: float) -> Edit:
    """End a connection before a frame."""

    def change(events: list[Event]) -> list[Event]:
        at = events.index(frame(events, number))
        end = next(one for one in events if isinstance(one, Closed) and one.connection == connection)
        rest = [one for one in events[at:] if one is not end]
        return [*events[:at], replace(end, time_ns=frame(events, number).time_ns), *rest]

    return change


def bracketed(number: float) -> Edit:
    """Name another target queue in a report of a message that was not seen."""

    def change(events: list[Event]) -> list[Event]:
        packet = dissect(frame(events, number).data)
        body = bytes(packet.fields[BODY]).decode("utf-16-le")  # type: ignore[arg-type]
        name = re.sub("<TARGET QUEUE>.*</TARGET", r"<TARGET QUEUE>DIRECT=OS:h\\a<b</TARGET", body)
        unseen = name.replace("1C21", "1C2F"), str(packet.fields[LABEL]).replace("1C21", "1C2F")
        return rebuilt(number, {BODY: unseen[0].encode("utf-16-le"), LABEL: unseen[1]})(events)

    return change


def opened(milliseconds: int) -> Edit:
    """Move the beginnings of all connections in time."""
    shift = milliseconds * 1_000_000
    return lambda events: [
        replace(one, time_ns=one.time_ns + shift) if isinstance(one, Opened) else one for one in events
    ]


PERMITTED: dict[str, tuple[str, list[Edit]]] = {
    "cookies begin with 1 again after a restart": ("resending-session", [put(n, COOKIE, 1) for n in (1, 2, 62, 63)]),
    "a request is seen after one that was made later": (
        "reconnecting-session", [put(n, STAMP, 4_999_990) for n in (19, 20)],
    ),
    "messages reach the disk in another order": (
        "consistent-session",
        [
            put(12, f"{SESSION}.RecoverableMsgAckFlags", 0b1101),
            put(23, f"{SESSION}.RecoverableMsgAckSeqNumber", 2),
            put(23, f"{SESSION}.RecoverableMsgAckFlags", 0b1001),
        ],
    ),
    "a restored queue manager begins a new sequence": (
        "reconnecting-session",
        [
            copy(
                6, 24, put(-1, "UserHeader.MessageID", 7204), put(-1, f"{TX}.TxSequenceID", RESTORED),
                flip(-1, f"{TX}.Flags", 0b11 << 4),
            ),
            moved_to(3, 24.5),
        ],
    ),
    "one SentTime lies in the future": ("resending-session", [put(7, SENT, 1_700_000_600)]),
    "the clock of a sender is set back": ("resending-session", [put(n, SENT, 1_700_000_600) for n in (7, 8)]),
    "a message comes back to its queue manager on its way": ("reconnecting-session", [flip(5, "UserHeader.Flags", 2)]),
    "a report names a queue whose name has a bracket": ("reconnecting-session", [bracketed(17)]),
    "a FinalAck tells of too many hops": (
        "resending-session", [put(24, "MessagePropertiesHeader.MessageClass", 0x8005)],
    ),
    "a connection is tried again soon after a ping without an answer": (
        "consistent-session",
        [drop(2), flip(3, "EstablishConnectionHeader.OperatingSystem", 0x100),
         flip(4, "EstablishConnectionHeader.OperatingSystem", 0x100), later(3, 2_500)],
    ),
    "the request is lost before the recorder and sent again": (
        "consistent-session",
        [*(delayed(n, -3_000) for n in (1, 2)), opened(-3_000),
         *(put(n, "ConnectionParametersHeader.RecoverableAckTimeout", 24_000) for n in (5, 6)), drop(23, 24)],
    ),
    "another queue manager takes over an address": (
        "resending-session", [closed_before(1, 62), closed_before(2, 62), put(63, "Ping.QMGuid", STRANGER.bytes_le)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PERMITTED)
def test_what_is_permitted_is_not_accused(case: str) -> None:
    capture, edits = PERMITTED[case]
    events = captured(capture)
    for edit in edits:
        events = edit(events)
    assert not failed(events)


@pytest.mark.parametrize("number", [7, 8])
def test_a_message_that_names_no_maker_blames_neither_its_hops_nor_the_opening(number: int) -> None:
    found = failed(put(number, SOURCE, bytes(16))(captured("consistent-session")))
    assert not found & {"MQQB-3.1.5.8.2.hop-count", "MQQB-3.1.5.2.3.client-guid"}


def test_a_message_stored_and_acknowledged_twice_is_accused_whatever_the_order() -> None:
    events = put(12, f"{SESSION}.RecoverableMsgAckFlags", 0b1101)(captured("consistent-session"))
    events = put(23, f"{SESSION}.RecoverableMsgAckSeqNumber", 2)(events)
    events = put(23, f"{SESSION}.RecoverableMsgAckFlags", 0b1101)(events)
    assert failed(events) == {"MQQB-3.1.6.4.recoverable-once"}


def test_a_takeover_during_a_session_is_accused() -> None:
    events = put(63, "Ping.QMGuid", STRANGER.bytes_le)(captured("resending-session"))
    assert failed(events) == {"MQQB-2.2.7.response-qm-guid"}
    assert not failed(put(63, "Ping.QMGuid", BETA.bytes_le)(events))
