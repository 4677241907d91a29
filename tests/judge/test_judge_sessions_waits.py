"""What never comes is judged when a connection ends, if whoever had to send it still lived; what is sent again, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.capture import Closed, Event, Frame
from conformance.judge.sessions.acknowledgments import Original
from conformance.judge.sessions.context import MAX_HOSTS, Seen
from conformance.judge.sessions.judge import SessionJudge, judge_sessions
from conformance.judge.sessions.mutations import (
    BETA,
    MUTATIONS,
    ROUTED,
    Edit,
    captured,
    copy,
    delayed,
    drop,
    failed,
    flip,
    frame,
    lasting,
    later,
    lost,
    numbered,
    on,
    outlasting,
    put,
    rebuilt,
    repeated,
    swap,
)
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome
from conformance.wire import dissect

CONSISTENT, RECONNECTING, RESENDING = "consistent-session", "reconnecting-session", "resending-session"
IN_TIME, CLOSES = "MQQB-3.1.5.8.2.acknowledged-in-time", "MQQB-3.1.6.3.closes"
ORDERED, RESENT, DISCARDED = "MQQB-3.1.6.9.sent", "MQQB-3.1.6.5.resent", "MQQB-3.1.1.6.1.discarded"
QUEUE = "UserHeader.DestinationQueue.DirectFormatName"
TX_FLAGS = "TransactionHeader.Flags"
COUNT = "SessionHeader.AckSequenceNumber"
SOURCE = "UserHeader.SourceQueueManager"
ALL_WORDS = Original(1, 0, 15, None, ("direct", "os:a\\q"), b"", False, False, False, None, False, None, None)
"""A message that asks for all words."""


def edited(capture: str, *edits: Edit):
    events = captured(capture)
    for edit in edits:
        events = edit(events)
    return events


def ended(**changes) -> Edit:
    """Let all connections end otherwise."""
    return lambda events: [replace(one, **changes) if isinstance(one, Closed) else one for one in events]


def test_a_message_that_is_never_acknowledged_is_found():
    assert failed(edited(CONSISTENT, drop(26), outlasting(30_000))) == {IN_TIME}
    assert failed(edited(CONSISTENT, drop(26), outlasting(200_000))) == {IN_TIME, CLOSES}


def test_a_session_that_ends_before_the_time_is_over_breaks_nothing():
    assert not failed(edited(CONSISTENT, drop(26), outlasting(9_000)))
    assert not failed(edited(CONSISTENT, drop(25, 26), outlasting(50_000)))


@pytest.mark.parametrize(
    "end",
    [{"how": "end", "by": None, "both": False}, {"how": "rst", "by": "initiator", "both": False},
     {"how": "evicted", "by": None, "both": False}],
)  # fmt: skip
def test_nobody_is_blamed_who_may_have_stopped(end):
    silent = drop(26), outlasting(200_000), ended(**end)
    assert failed(edited(CONSISTENT, *silent)) <= {CLOSES}  # The initiator, which resets the connection, lives.


@pytest.mark.parametrize(
    ("requirement", "number"), [(ORDERED, 7), (ORDERED, 12), (RESENT, 7), (RESENT, 23), (CLOSES, 19), (CLOSES, 21)]
)
def test_nobody_is_blamed_where_packets_are_missing(requirement, number):
    assert requirement not in failed(lost(number)(MUTATIONS[requirement].broken()))


def test_a_refused_message_needs_no_order_ack():
    events = edited(RECONNECTING, drop(13), put(18, COUNT, 4), outlasting(200_000))
    assert not failed(events) & {ORDERED, RESENT}


def test_a_message_that_was_not_acknowledged_may_be_sent_again():
    again = edited(RECONNECTING, repeated(5, 23), put(24, COUNT, 2), drop(8))
    assert DISCARDED not in failed(again)


@pytest.mark.parametrize("end", [{"how": "rst", "both": False}, {"how": "end", "both": False}])
def test_an_acknowledgment_may_be_lost_with_its_connection(end):
    again = edited(RECONNECTING, repeated(5, 23), put(24, COUNT, 2), ended(**end))
    assert DISCARDED not in failed(again)


def test_messages_sent_again_keep_their_order():
    """Message 7203 is new on the third connection, where 7201 comes again behind it."""
    unacknowledged = drop(8), rebuilt(23, {QUEUE: "OS:beta\\private$\\ledger"}), repeated(5, 23), put(24, COUNT, 2)
    assert failed(edited(RECONNECTING, *unacknowledged, swap(22.5, 23))) == {"MQQB-3.1.7.1.1.ordinal"}


CLASS, ASKED, LASTS = (
    "MessagePropertiesHeader.MessageClass",
    "MessagePropertiesHeader.Flags",
    "UserHeader.TimeToBeReceived",
)
RECEIVED = "MQMQ-2.2.18.1.6.ack-receive"
COUNTS = put(21, COUNT, 3), put(21, "SessionHeader.RecoverableMsgAckFlags", 0b11), put(26, COUNT, 4)


def test_a_message_that_was_refused_is_not_received():
    empty = rebuilt(8, {"MessagePropertiesHeader.MessageBody": b"", ASKED: 0b0110})
    again = copy(19, 19, put(-1, "UserHeader.MessageID", 305), put(-1, CLASS, 0x4000))
    assert not failed(edited(CONSISTENT, empty, put(19, CLASS, 0x8003)))
    assert failed(edited(CONSISTENT, empty, put(19, CLASS, 0x8003), again, *COUNTS)) == {RECEIVED}


def test_a_message_is_not_received_after_its_time():
    late = put(8, ASKED, 2), put(8, LASTS, 1), put(19, CLASS, 0x4000)
    assert not failed(edited(CONSISTENT, *late))
    sent = next(one for one in captured(CONSISTENT) if isinstance(one, Frame) and one.number == 8).time_ns // 10**9
    assert RECEIVED in failed(edited(CONSISTENT, *late, put(8, "UserHeader.SentTime", sent - 20)))


@pytest.mark.parametrize(("later_ms", "fails"), [(400, True), (20, False)])
def test_the_timer_of_order_acks_begins_anew_with_each_message(later_ms, fails):
    number, previous = (f"TransactionHeader.{name}TxSequenceNumber" for name in ("", "Previous"))
    second = [put(-1, "UserHeader.MessageID", 7_016), put(-1, number, 2), flip(-1, TX_FLAGS, 0x100)]
    events = edited(
        CONSISTENT,
        copy(22, 22, *second, put(-1, previous, 1), later_ns=later_ms * 1_000_000),
        drop(24),
        put(25, "OrderAckBody.TxSequenceNumber", 2),
        put(25, "OrderAckBody.TxPreviousSequenceNumber", 1),
        delayed(25, 1_266 + 520 - 2_316),
    )
    assert failed(events) == ({"MQQB-3.1.1.6.2.scheduled"} if fails else set())


def test_an_order_acknowledgment_behind_a_repeated_message_may_wait():
    late, again = delayed(25, 1_500), copy(22, 22, later_ns=2_000_000)
    assert failed(edited(CONSISTENT, late)) == {"MQQB-3.1.1.6.2.scheduled"}
    assert failed(edited(CONSISTENT, again, late)) == failed(edited(CONSISTENT, again))


def test_a_refusal_is_told_to_the_administration_queue_too():
    asked = put(6, "MessagePropertiesHeader.Flags", 4)
    assert not failed(edited(RECONNECTING, outlasting(90_000)))
    silent = (drop(15), put(18, COUNT, 4), put(18, "SessionHeader.RecoverableMsgAckFlags", 1))
    assert failed(edited(RECONNECTING, asked, *silent, outlasting(90_000))) == {"MQMQ-2.2.19.3.flags-na"}
    assert not failed(edited(RECONNECTING, asked, *silent, outlasting(20_000)))
    assert not failed(edited(RECONNECTING, put(6, "MessagePropertiesHeader.Flags", 0), *silent, outlasting(90_000)))


def test_a_word_of_arrival_is_remembered_as_long_as_its_message():
    judge = SessionJudge(assignment("windows"))
    word = frame(captured(CONSISTENT), 19)
    arrived = Seen(word, dissect(word.data, transport="tcp"))
    later = frame(edited(CONSISTENT, put(19, "MessagePropertiesHeader.MessageClass", 0x4000)), 19)
    received = Seen(later, dissect(later.data, transport="tcp"))
    fates, notes = judge.tables.messages.fates, judge._notes
    for number in range(MAX_HOSTS + 2):
        fates.acknowledge(arrived, notes, ("a", number), ALL_WORDS)
    fates.acknowledge(received, notes, ("a", 0), ALL_WORDS)
    assert not fates.debts
    fates.acknowledge(received, notes, ("a", -1), ALL_WORDS)
    assert len(fates.debts) == 1


def test_a_message_leaves_its_queue_once():
    again = put(-1, "UserHeader.MessageID", 505)
    counted = put(25, COUNT, 5), put(25, "SessionHeader.RecoverableMsgAckFlags", 3)
    assert failed(edited(RESENDING, copy(24, 24, again), *counted)) == {"MQQB-3.1.7.2.2.wanted"}
    assert not failed(edited(RESENDING, copy(24, 24), *counted))


def test_what_a_session_leaves_unacknowledged_is_sent_again_on_the_next():
    router = (put(23, "UserHeader.SourceQueueManager", ROUTED.bytes_le), flip(23, "UserHeader.Flags", 1))
    left = (put(8, COUNT, 2), lasting(3, 90_000), lasting(2, 90_000))
    assert failed(edited(RECONNECTING, *left, *router)) == {"MQQB-3.1.6.1.retransmitted"}
    again = copy(7, 23, on(-1, lambda old: replace(old, connection=3)))
    assert not failed(edited(RECONNECTING, *left, *router, again, put(24, COUNT, 2)))
    assert not failed(edited(RECONNECTING, *left))
    assert not failed(edited(RECONNECTING, *left[:1], *router))


def test_a_session_whose_opening_is_not_answered_is_found():
    opening = drop(*range(6, 13), 22, 23, 24, *range(15, 22), 25, 26)
    assert "MQQB-2.1.1.initialization" in failed(edited(CONSISTENT, opening, outlasting(40_000)))
    assert "MQQB-2.1.1.initialization" not in failed(edited(CONSISTENT, opening, outlasting(5_000)))


def test_an_acknowledgment_shows_that_a_session_was_not_closed():
    """The acceptor acknowledges message 22 soon after a wrong count, which packet 24 would have had to precede."""
    wrong = put(12, "SessionHeader.UserMsgSequenceNumber", 3)
    said = judge_sessions(edited(CONSISTENT, wrong), readings=assignment("windows"))
    assert [one.frame for one in said if one.requirement.endswith("counts-closes") and one.outcome is Outcome.FAIL]


def test_no_transactional_message_is_left_out_of_those_sent_again():
    """Message 14 goes first; the second one, which packet 11 brought, is over by then."""
    assert RESENT in failed(edited(RESENDING, drop(14)))
    assert RESENT not in failed(edited(RESENDING, drop(14), put(10, "BaseHeader.TimeToReachQueue", 3)))


def test_a_message_may_be_sent_again_right_behind_its_order_ack():
    """The OrderAck and the message pass each other on the way."""
    again = copy(15, 22, later_ns=500_000_000), later(23, 2_000)
    assert "MQQB-3.1.1.6.2.discarded" not in failed(edited(RESENDING, *again))


@pytest.mark.parametrize(("heard", "fails"), [(10_000, True), (0, False)])
def test_an_acknowledgment_was_received_of_which_a_later_packet_of_its_connection_knows(heard, fails):
    """Message 5 comes again on a third connection; the first one is reset after packet 8 acknowledged all of it."""
    later_one = copy(7, 8, put(-1, "UserHeader.MessageID", 7299), lambda events: [replace(events[0], heard=heard)])
    again = repeated(5, 23), put(24, COUNT, 2), ended(how="rst", both=False), later_one
    assert (DISCARDED in failed(edited(RECONNECTING, *again))) == fails


@pytest.mark.parametrize("next_sequence", [True, False])
def test_who_begins_the_next_sequence_knows_that_the_one_before_is_acknowledged(next_sequence):
    """Message 6 comes again on the third connection; packet 13 has acknowledged it, and both sessions were reset."""
    first = frame(captured(RECONNECTING), 6)
    sequence = int(dissect(first.data, transport="tcp").fields["TransactionHeader.TxSequenceID"])
    numbers = (sequence + 1, 1, 0) if next_sequence else (sequence, 2, 1)
    names = ("TxSequenceID", "TxSequenceNumber", "PreviousTxSequenceNumber")
    another = [
        on(23, lambda one: replace(one, data=first.data)),
        put(23, "UserHeader.MessageID", 7299),
        *(put(23, f"TransactionHeader.{name}", number) for name, number in zip(names, numbers, strict=True)),
    ]
    again = copy(23, 23, lambda events: [replace(events[0], data=first.data)])
    found = failed(edited(RECONNECTING, *another, again, ended(how="rst", both=False)))
    assert ("MQQB-3.1.1.6.2.discarded" in found) == next_sequence


def test_a_message_that_is_bridged_may_have_been_removed():
    """Packet 15 names the first message as the one before it, so that nobody expects the second."""
    lasting = put(11, "BaseHeader.TimeToReachQueue", 0xFFFFFFFF)
    assert RESENT not in failed(edited(RESENDING, lasting))
    assert RESENT in failed(edited(RESENDING, lasting, put(15, "TransactionHeader.PreviousTxSequenceNumber", 2)))


def moved(number: float, like: int, **changes) -> Edit:
    """Send a frame on the connection, and from the side, of another one."""

    def change(events: list[Event]) -> list[Event]:
        one = frame(events, like)
        ends = {key: getattr(one, key) for key in ("connection", "side", "source", "destination")}
        return on(number, lambda old: replace(old, **ends, **changes))(events)

    return change


@pytest.mark.parametrize(("waits_ms", "fails"), [(8_700, True), (7_000, False)])
def test_a_message_has_the_acknowledgment_that_is_nearly_due(waits_ms, fails):
    """Message 23 is acknowledged after 10 seconds, and a message goes the other way just before."""
    other = put(-1, SOURCE, BETA.bytes_le), put(-1, "UserHeader.MessageID", 9_001)
    made = copy(23, 23, *other, later_ns=waits_ms * 1_000_000), moved(23.5, 22)
    events = edited(RECONNECTING, *made, put(24, "SessionHeader.UserMsgSequenceNumber", 1))
    assert failed(events) == ({"MQQB-3.1.7.11.header-included"} if fails else set())


@pytest.mark.parametrize("hops", [1, 2])
def test_a_message_that_its_queue_manager_sent_to_one_host_comes_from_there_with_one_hop(hops):
    """The acceptor passes on message 5 over its own connection."""
    made = copy(5, 17, flip(-1, "UserHeader.Flags", hops)), moved(17.5, 17), put(18, COUNT, 6)
    assert ("MQQB-3.1.5.8.2.hop-count" in failed(edited(RECONNECTING, *made))) == (hops == 2)


@pytest.mark.parametrize(("second_ms", "third_ms", "fails"), [(1_900, 3_000, True), (1_000, 1_900, False)])
def test_an_order_ack_that_nothing_puts_off_comes_soon(second_ms, third_ms, fails):
    """Long after the OrderAck before, messages that follow do not begin the timer anew."""
    number, previous = (f"TransactionHeader.{name}TxSequenceNumber" for name in ("", "Previous"))
    events = edited(CONSISTENT, drop(24, 26), moved(25, 23), later(22, 14_000), delayed(25, third_ms - 450))
    for place, after_ms in ((3, third_ms), (2, second_ms)):
        values = put(-1, "UserHeader.MessageID", 7_014 + place), put(-1, number, place), put(-1, previous, place - 1)
        events = numbered(copy(22, 22, *values, flip(-1, TX_FLAGS, 0x100 * place), later_ns=after_ms * 10**6)(events))
    assert (ORDERED in failed(events)) == fails


@pytest.mark.parametrize(("final", "fails"), [(0xC001, True), (0x4000, False)])
@pytest.mark.parametrize("first", [0, 1])
def test_a_message_has_one_end(final, fails, first):
    """A FinalAck and an acknowledgment to the administration queue, in either order."""
    judge = SessionJudge(assignment("windows"))
    fates, notes = judge.tables.messages.fates, judge._notes
    one, other = (
        Seen(word, dissect(word.data, transport="tcp"))
        for word in (
            frame(edited(CONSISTENT, put(19, CLASS, 0x4000)), 19),
            frame(edited(RESENDING, put(24, CLASS, final)), 24),
        )
    )
    steps = [
        lambda: fates.acknowledge(one, notes, ("a", 1), ALL_WORDS),
        lambda: fates.finish(other, notes, ("a", 1), ALL_WORDS),
    ]
    steps[first]()
    steps[1 - first]()
    found = {said.requirement for said in notes.take() if said.outcome is Outcome.FAIL}
    assert found == ({RECEIVED} if fails else set())
