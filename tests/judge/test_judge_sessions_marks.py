"""Marks of transactions, acknowledged places and names of managers: what they break, and what they leave open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from conformance.capture import Event
from conformance.judge.sessions.mutations import (
    BETA,
    FM,
    LM,
    NO_RECOVERABLE,
    SEQUENCE,
    STRANGER,
    TO_QUEUE_4,
    Edit,
    captured,
    copy,
    delayed,
    drop,
    failed,
    flip,
    frame,
    later,
    lost,
    on,
    put,
    rebuilt,
)
from conformance.spec.catalogue import assignment
from conformance.wire import dissect
from conformance.wire.security_items import simple_blob

CONSISTENT, RESENDING, RECONNECTING = "consistent-session", "resending-session", "reconnecting-session"
PROPERTIES_CLASS = "MessagePropertiesHeader.MessageClass"
FLAGS, SESSION, ESTABLISH = "TransactionHeader.Flags", "SessionHeader", "EstablishConnectionHeader"
FIRST, LAST, UNIQUE, IDENTIFIER = (
    f"MQMQ-2.2.20.5.{name}"
    for name in (
        "first-in-transaction", "last-in-transaction", "transaction-identifier-unique", "transaction-identifier",
    )
)  # fmt: skip
TIMEOUT = "ConnectionParametersHeader.RecoverableAckTimeout"


def to_another_queue(number: float) -> Edit:
    """Send a transactional message to another queue."""
    old, new = ("ledger".encode("utf-16-le"), "ledges".encode("utf-16-le"))
    return on(number, lambda frame: replace(frame, data=frame.data.replace(old, new)))


PUBLIC: dict[str, int | str | bytes] = {
    "UserHeader.Flags.DQ": 5, "UserHeader.DestinationQueue.PublicQueueIdentifier": str(UUID(int=7)),
    "UserHeader.QueueManagerAddress": str(BETA),
}  # fmt: skip
ENCRYPTED: dict[str, int | str | bytes] = {
    "SecurityHeader.Flags.EB": 1, "SecurityHeader.SecurityData.EncryptionKey": simple_blob(0x6801, bytes(64)),
}  # fmt: skip

OWN_SEQUENCE = SEQUENCE + (5 << 32)
OF_A_SEQUENCE: dict[str, int | str | bytes] = {
    "TransactionHeader.TxSequenceID": OWN_SEQUENCE, "TransactionHeader.TxSequenceNumber": 1, FLAGS: FM | LM | 7 << 4,
}  # fmt: skip
ITS_FIRST = {"TxSequenceID": OWN_SEQUENCE, "TxSequenceNumber": 1, "TxPreviousSequenceNumber": 0}


def named_itself(events: list[Event]) -> list[Event]:
    """Let an administration acknowledgment acknowledge itself."""
    fields = dissect(frame(events, 23).data).fields
    lineage = UUID(str(fields["UserHeader.SourceQueueManager"])).bytes_le
    own = lineage + int(str(fields["UserHeader.MessageID"])).to_bytes(4, "little")
    return put(23, "MessagePropertiesHeader.CorrelationID", own)(events)


# No message goes to a direct name but those of the acceptor, which answer on a session of their own.
NOT_DIRECT = [
    *(rebuilt(number, PUBLIC) for number in (7, 8, 9, 10, 11, 22)),
    *(put(number, f"{ESTABLISH}.ServerGuid", BETA.bytes_le) for number in (3, 4)),
    rebuilt(19, {"UserHeader.Flags.RQ": 5, "UserHeader.ResponseQueue.PublicQueueIdentifier": str(UUID(int=7))}),
]
# Two transactions to two queues share a sequence, which is then one of the session.
OF_THE_SESSION = [flip(10, FLAGS, LM), flip(11, FLAGS, FM | 0b10 << 4), to_another_queue(11)]

BROKEN: dict[str, tuple[str, list[Edit], set[str]]] = {
    "the first message of a sequence has no FM": (CONSISTENT, [flip(9, FLAGS, FM)], {FIRST}),
    "the only message of a transaction has no FM": (CONSISTENT, [flip(22, FLAGS, FM)], {FIRST}),
    "a message within a sequence begins a transaction without FM": (RESENDING, [flip(12, FLAGS, FM)], {FIRST}),
    "the second message of a transaction has another identifier": (
        CONSISTENT, [flip(10, FLAGS, 0b100 << 4)], {IDENTIFIER},
    ),
    "the last message has the identifier of the transaction before": (
        CONSISTENT, [flip(9, FLAGS, LM), flip(10, FLAGS, FM | 0b10 << 4)], {IDENTIFIER},
    ),
    "a transaction has no LM and the next one of its sequence follows": (
        CONSISTENT, [flip(10, FLAGS, FM | 0b10 << 4), flip(11, FLAGS, 0b10 << 4)], {LAST},
    ),
    "a message sent again has no FM any more": (RESENDING, [flip(14, FLAGS, FM)], {FIRST}),
    "a message sent again has another LM": (RESENDING, [flip(14, FLAGS, LM)], {LAST}),
    "a message sent again has another identifier": (RESENDING, [flip(14, FLAGS, 0b100 << 4)], {IDENTIFIER}),
    "an acknowledgment goes to a public queue, not to the private one": (
        RESENDING, [rebuilt(23, PUBLIC)], {"MQQB-3.1.7.15.destination"},
    ),
    "an acknowledgment names itself": (RESENDING, [named_itself], {"MQQB-3.1.7.15.correlation"}),
    "an acknowledgment returns a body that is encrypted": (
        RESENDING, [rebuilt(7, ENCRYPTED)], {"MQQB-3.1.7.15.body"},
    ),
    "a final acknowledgment has the place of another message than it names": (
        RESENDING, [put(24, "FinalAckBody.MessageID", 7104)], {"MQQB-2.2.5.1.message-id"},
    ),
    "an order acknowledgment names a sequence of its own sender": (
        CONSISTENT,
        [rebuilt(19, OF_A_SEQUENCE), *(put(25, f"OrderAckBody.{name}", value) for name, value in ITS_FIRST.items())],
        {"MQQB-2.2.4.1.sequence"},
    ),
    "an order acknowledgment goes to the order queue of a stranger": (
        CONSISTENT,
        [*NOT_DIRECT, rebuilt(20, {**TO_QUEUE_4, "UserHeader.QueueManagerAddress": str(STRANGER)})],
        {"MQQB-3.1.7.17.private-name", "MQQB-3.1.7.17.destination-form"},  # The second one still has a direct name.
    ),
    "the cookies of pings fall": (
        RESENDING,
        [*(put(n, "Ping.Cookie", 9) for n in (1, 2)), *(put(n, "Ping.Cookie", 8) for n in (62, 63)),
         copy(62, 63, put(-1, "Ping.Cookie", 7))],
        {"MQQB-3.1.7.6.cookie"},
    ),
    "the last message of a sequence has no LM": (CONSISTENT, [flip(11, FLAGS, LM)], {LAST}),
    "a later transaction alone has its last mark": (
        CONSISTENT, [flip(9, FLAGS, FM), flip(11, FLAGS, LM), flip(22, FLAGS, FM)], {FIRST},
    ),
    "an identifier comes again in another queue": (
        CONSISTENT, [*OF_THE_SESSION, flip(22, FLAGS, 0b11 << 4), to_another_queue(22)], {UNIQUE},
    ),
    "a recoverable message is acknowledged that is not counted": (
        CONSISTENT, [put(12, f"{SESSION}.AckSequenceNumber", 4)], {"MQMQ-2.2.20.4.ack-sequence-number"},
    ),
    "a count is too low and the session goes on": (
        CONSISTENT, [put(23, f"{SESSION}.UserMsgSequenceNumber", 0), delayed(24, 1_500)],
        {"MQQB-3.1.7.1.3.user-messages-sent", "MQQB-3.1.5.5.5.counts-closes", "MQQB-3.1.6.4.expired"},
    ),
    "TimeStamp falls between two connections": (
        "reconnecting-session", [put(n, f"{ESTABLISH}.TimeStamp", 4_999_990) for n in (19, 20)],
        {"MQQB-3.1.5.2.3.time-stamp"},
    ),
    "two connections have one TimeStamp": (
        "reconnecting-session", [put(n, f"{ESTABLISH}.TimeStamp", 5_000_000) for n in (19, 20)],
        {"MQQB-3.1.5.2.3.time-stamp"},
    ),
    "a message is sent behind the pause of its queue": (
        CONSISTENT,
        [copy(12, 22, put(-1, f"{SESSION}.WindowSize", 1), *NO_RECOVERABLE), put(23, PROPERTIES_CLASS, 0)],
        {"MQQB-3.1.7.13.paused"},
    ),
    "an order queue is named directly although no message was": (
        CONSISTENT, NOT_DIRECT, {"MQQB-3.1.7.17.destination-form"},
    ),
    "a ping response names another queue manager than request and response": (
        CONSISTENT, [*NOT_DIRECT, put(2, "Ping.QMGuid", STRANGER.bytes_le)],
        {"MQQB-2.2.7.response-qm-guid", "MQQB-3.1.7.17.destination-form"},
    ),
    "TimeStamp grows by seven seconds too much": (
        RECONNECTING, [put(n, f"{ESTABLISH}.TimeStamp", 5_016_043) for n in (19, 20)],
        {"MQQB-3.1.5.2.3.time-stamp"},
    ),
    "RecoverableAckTimeout is that of a round trip twenty times as long": (
        CONSISTENT, [*(put(n, TIMEOUT, 1_600) for n in (5, 6)), later(12, 1_100), drop(23, 24)],
        {"MQQB-3.1.5.3.2.round-trip"},
    ),
    "the first message of a later queue has not the number before as its previous": (
        CONSISTENT,
        [*OF_THE_SESSION, put(11, "TransactionHeader.PreviousTxSequenceNumber", 1)],
        {"MQQB-3.1.7.1.3.previous-number"},
    ),
}  # fmt: skip

PERMITTED: dict[str, tuple[str, list[Edit]]] = {
    "a transaction is marked once over two queues": (CONSISTENT, [to_another_queue(10)]),
    "the first message comes later, in another queue": (
        CONSISTENT, [flip(9, FLAGS, FM), flip(10, FLAGS, FM), to_another_queue(10)],
    ),
    "the message before may have been the first": (CONSISTENT, [lost(8), flip(9, FLAGS, FM)]),
    "a transaction goes on in the next sequence": (
        CONSISTENT, [flip(11, FLAGS, LM), flip(22, FLAGS, FM | 0b11 << 4)],
    ),
    "a queue manager marks no messages, like that of Windows NT": (
        CONSISTENT, [flip(9, FLAGS, FM), flip(11, FLAGS, LM), flip(22, FLAGS, FM | LM)],
    ),
    "TimeStamp grows by three seconds too much": (
        RECONNECTING, [put(n, f"{ESTABLISH}.TimeStamp", 5_012_043) for n in (19, 20)],
    ),
}  # fmt: skip
EVERY = {name: (capture, edits) for name, (capture, edits, _) in BROKEN.items()} | PERMITTED


def edited(capture: str, edits: list[Edit]) -> list[Event]:
    events = captured(capture)
    for edit in edits:
        events = edit(events)
    return events


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_broken_is_named(case: str) -> None:
    capture, edits, wanted = BROKEN[case]
    assert failed(edited(capture, edits)) == wanted


@pytest.mark.parametrize("case", PERMITTED)
def test_what_another_part_may_explain_is_not_accused(case: str) -> None:
    assert not failed(edited(*PERMITTED[case]))


@pytest.mark.parametrize("case", EVERY)
def test_compiled_code_says_the_same(case: str, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    from session_captures import capture_of
    from session_columns_beside import compare

    path = tmp_path / "edited.pcap"
    path.write_bytes(capture_of(edited(*EVERY[case])))
    compare(path, assignment("windows"), lambda count: [count // 2])
