"""Judges a walk by what both ends have said and done: what must be counted, told of once, put in order, closed.

Pure: a walk in, verdicts out. What a packet says by itself, and that an acknowledgment counts no more than was sent as
a whole by its time, the rules of captures judge; here is what they leave open, because a capture does not show what
this end had to expect.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from conformance.judge.dialogues.conversation import REACHED, Conversation, Said, class_of, correlates
from conformance.judge.dialogues.packets import Ends
from conformance.judge.sessions.context import MESSAGES
from conformance.judge.sessions.opening import STATE_CLOSES
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.verdict import Json, Outcome, Verdict

LISTENS: Final = requirement_id("MQQB-2.1.1.acceptor-port")
CONNECTS: Final = requirement_id("MQQB-2.1.1.initiator-port")
TURN: Final = requirement_id("MQQB-2.1.1.initialization")
DISCONNECT: Final = requirement_id("MQQB-3.1.7.3.disconnect-closes")
COUNTED: Final = requirement_id("MQQB-3.1.5.8.2.acknowledged-in-time")
DUPLICATE: Final = requirement_id("MQQB-3.1.5.8.1.duplicate")
ACCEPTED: Final = requirement_id("MQQB-3.1.5.8.6.accepted")
ARRIVED: Final = requirement_id("MQDMPR-3.1.1.12.class-ack-reach-queue")
TOLD: Final = requirement_id("MQMQ-2.2.18.1.6.ack-reach-queue")
ORDERED: Final = requirement_id("MQQB-3.1.6.9.sent")
REPEATED: Final = reading_id("R-MQQB-repeated-count")
_NUMBER: Final = "TransactionHeader.TxSequenceNumber"
_SUBJECT: Final = "walk"


class What(Enum):
    """An event on a connection: what is sent or answered, and how it begins and ends."""

    CONNECTED = "connected"
    REFUSED = "refused"  # this end could not connect
    WHOLE = "whole"  # the last byte of a packet was sent
    PART = "part"  # a packet was sent up to a byte, and not further yet
    ANSWERED = "answered"
    UNANSWERED = "unanswered"
    LIVES = "lives"  # the connection was looked at, behind a packet that the implementation has taken
    ENDED = "ended"  # by the implementation
    OURS = "ours"  # by this end, both directions
    DUE = "due"  # the implementation has to end it, and was given the time to
    SETTLED = "settled"  # the time of each acknowledgment and word was over
    AWAITED = "awaited"  # the implementation had to connect, and was given the time to


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. at_ms: by the clock of this end. packet: of WHOLE.

    kind: of the packet in PART and ANSWERED. requirement, held: of DUE, what demands the end and whether it came; held
    of AWAITED: whether it connected.
    """

    what: What
    connection: int
    at_ms: int
    packet: Said | None = None
    kind: str = ""
    requirement: str = ""
    held: bool = True


@dataclass(slots=True)
class Walked:
    """A walk that was played. told: the implementation tells of messages to a null address (see the reading).
    strict: the number of a message that was not accepted is never acknowledged (see R-MQQB-rejected-number).
    repeated: the accepted alternatives of R-MQQB-repeated-count.
    forgets_ms: after so long identifiers may be forgotten, None where nobody has declared it. idle_ms: after so long a
    session without messages may be closed. finished: everything was sent to the end, and given its time.
    """

    conversation: Conversation
    ends: Ends
    told: bool = True
    strict: bool = True
    repeated: tuple[str, ...] = ("uncounted",)
    forgets_ms: int | None = None
    idle_ms: int | None = None
    finished: bool = False
    events: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class Copy:
    """The knowledge of one message. came: None as long as it may have come or not. first: when it was sent as a whole.

    accepted_ms: the earliest time at which a transactional one can have been accepted.
    """

    number: int
    place: int
    first_ms: int
    last_ms: int
    came: bool | None = None
    accepted_ms: int | None = None
    forgotten: bool = False
    recoverable: bool = True


@dataclass(slots=True)
class Account:
    """The count that a connection must have: between `least` and `most`; `whole` messages were sent on it."""

    least: int = 0
    most: int = 0
    whole: int = 0
    here: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Received:
    """The messages that the implementation must have by now (MS-MQQB 3.1.5.8.1, 3.1.5.8.2, 3.1.5.8.6).

    placed: identifiers of transactional messages by number, and `last` the highest number that can have been accepted.
    disordered: one was sent that must not be accepted.
    """

    walked: Walked
    copies: dict[int, Copy] = field(default_factory=dict)
    accounts: dict[int, Account] = field(default_factory=lambda: defaultdict(Account))
    placed: dict[int, int] = field(default_factory=dict)
    last: int = 0
    disordered: bool = False

    def take(self, event: Event) -> None:
        """Take over one event."""
        account = self.accounts[event.connection]
        if event.what is What.WHOLE and event.packet is not None and event.packet.kind in MESSAGES:
            account.whole += 1
            if event.packet.kind == "UserMessage":
                self._message(event, event.packet, account)
            else:
                account.most += 1  # The text counts UserMessage packets, of which these are kinds (2.2.4, 2.2.5).
        elif event.what is What.SETTLED:
            self._known(account, came=True)
        elif event.what in (What.OURS, What.ENDED, What.DUE):
            all_came = counted(self.walked.conversation, event.connection) >= account.whole > 0
            self._known(account, came=all_came)

    def sure(self, copy: Copy) -> bool:
        """Tell whether a message must be accepted once. By one reading of 3.1.5.8.6 a message that is not accepted
        moves the number on or back, and later ones are lost or come twice."""
        return self.walked.strict or not self.disordered or not copy.place

    def must_tell(self, copy: Copy) -> bool:
        """Tell whether word of a message must come in the end.

        That of an express one may be lost with a session of this end, where it goes over these (1.3.5.2).
        """
        return self.sure(copy) and (copy.recoverable or not self.walked.conversation.inward)

    def _known(self, account: Account, *, came: bool) -> None:
        for number in account.here:
            if came:
                self.copies[number].came = True

    def _message(self, event: Event, said: Said, account: Account) -> None:
        number, place = said.number("UserHeader.MessageID") or 0, said.number(_NUMBER) or 0
        copy = self.copies.get(number)
        sure = copy is not None and (copy.came is True or number in account.here)
        if copy is not None and self._forgotten(copy, event.at_ms) and not place:
            copy.forgotten, sure = True, False
        if place or copy is None:
            account.least += 1
            account.most += 1
        elif not sure:
            account.most += 1
        if copy is None:
            recoverable = bool(said.number("UserHeader.Flags.DM"))
            copy = self.copies[number] = Copy(number, place, said.at_ms, event.at_ms, recoverable=recoverable)
        copy.last_ms = event.at_ms
        account.here.add(number)
        if place:
            self._place(copy, said)

    def _place(self, copy: Copy, said: Said) -> None:
        """Note when a transactional message may have been accepted: with all before it, at the earliest."""
        self.placed[copy.place] = copy.number
        before = said.number("TransactionHeader.PreviousTxSequenceNumber") or 0
        self.disordered = self.disordered or before > self.last or copy.place <= self.last
        if copy.accepted_ms is None and before <= self.last:
            copy.accepted_ms = said.at_ms
            self.last = max(self.last, copy.place)

    def _forgotten(self, copy: Copy, now_ms: int) -> bool:
        most = self.walked.forgets_ms
        return most is not None and now_ms - copy.last_ms >= most


def counted(conversation: Conversation, connection: int) -> int:
    """Return the most messages that the implementation has counted on a connection."""
    found = (
        one.number("SessionHeader.AckSequenceNumber")
        for one in conversation.said
        if not one.ours and one.frame.connection == connection
    )
    return max((count for count in found if count is not None), default=0)


def received(walked: Walked, events: Iterable[Event] | None = None) -> Received:
    """Return what the implementation must have after these events, by default all."""
    state = Received(walked)
    for event in walked.events if events is None else events:
        state.take(event)
    return state


def words(walked: Walked) -> dict[int, dict[tuple[str | None, int | None], int]]:
    """Return the words of arrival by the message that they are about: when each came first, by its identifier.

    One that is sent again after a cut has the identifier of the first.
    """
    found: dict[int, dict[tuple[str | None, int | None], int]] = defaultdict(dict)
    for one in walked.conversation.said:
        about = None if one.ours or class_of(one) != REACHED else correlates(one, walked.ends)
        if about is not None:
            name = one.text("UserHeader.SourceQueueManager"), one.number("UserHeader.MessageID")
            found[about].setdefault(name, one.at_ms)
    return found


def orders(walked: Walked) -> list[tuple[int, int]]:
    """Return the OrderAcks of the walk's sequence: when each came, and the number that it acknowledges."""
    body, place = "OrderAckBody.", (walked.ends.sequence_ordinal(1), walked.ends.sequence_stamp)
    return [
        (one.at_ms, one.number(f"{body}TxSequenceNumber") or 0)
        for one in walked.conversation.said
        if not one.ours
        and one.kind == "OrderAck"
        and (one.number(f"{body}TxSequenceID.Ordinal"), one.number(f"{body}TxSequenceID.TimeStamp")) == place
    ]


def _ordered(walked: Walked) -> int:
    return max((number for _, number in orders(walked)), default=0)


def settled(walked: Walked, connection: int) -> bool:
    """Tell whether all has come that must, with what was sent on a connection: nothing more is to be waited for."""
    state = received(walked)
    account, said = state.accounts[connection], words(walked)
    all_told = not walked.told or all(
        said.get(number) for number, copy in state.copies.items() if state.must_tell(copy)
    )
    in_order = (
        not walked.told or (state.disordered and not walked.strict) or _ordered(walked) >= max(state.placed, default=0)
    )
    return counted(walked.conversation, connection) >= account.least and all_told and in_order


def judged(walked: Walked) -> Iterator[Verdict]:
    """Yield the verdicts: what the implementation does at all, then what it closes, counts, tells of and orders."""
    yield from _reached(walked)
    yield from _ends(walked)
    yield from _counts(walked)
    if walked.told:
        yield from _words(walked)
        yield from _orders(walked)


def _reached(walked: Walked) -> Iterator[Verdict]:
    for event in walked.events:
        if event.what in (What.CONNECTED, What.REFUSED):
            yield _verdict(LISTENS, event.what is What.CONNECTED, "a connection", "none")
        elif event.what in (What.ANSWERED, What.UNANSWERED):
            yield _verdict(TURN, event.what is What.ANSWERED, event.kind, "none")
        elif event.what is What.AWAITED:
            yield _verdict(CONNECTS, event.held, "a connection for what waits to be delivered", "none")


def _ends(walked: Walked) -> Iterator[Verdict]:
    """Judge the end of each connection: what must close it does, and nothing else."""
    last: dict[int, str] = {}
    began: dict[int, int] = {}
    over: set[int] = set()
    for event in walked.events:
        at = event.connection
        if event.what in (What.CONNECTED, What.WHOLE, What.PART):
            began[at] = event.at_ms
            last[at] = event.packet.kind if event.packet is not None else event.kind
        elif event.what is What.DUE:
            over.add(at)
            yield _verdict(event.requirement, event.held, "the connection is closed", "it stays open")
        elif event.what is What.ENDED and at not in over:
            over.add(at)
            idle = event.at_ms - began.get(at, event.at_ms)
            if walked.idle_ms is None or idle < walked.idle_ms:
                yield _verdict(
                    STATE_CLOSES.get(last.get(at, ""), TURN), False, "the connection stays open", "it is closed"
                )
        elif event.what is What.LIVES and last.get(at, "") in STATE_CLOSES:
            yield _verdict(STATE_CLOSES[last[at]], True, "the connection stays open", "it is closed")


def _counts(walked: Walked) -> Iterator[Verdict]:
    """Judge what was counted where there was the time to: all that came as a whole, and nothing twice."""
    for at, event in enumerate(walked.events):
        if event.what is not What.SETTLED:
            continue
        account = received(walked, walked.events[:at]).accounts[event.connection]
        count = counted(walked.conversation, event.connection)
        yield _verdict(COUNTED, count >= account.least, {"at least": account.least}, count)
        if count <= account.whole:  # a rule of captures judges one that is higher still
            alternative = "uncounted" if count <= account.most else "counted"
            yield _verdict(DUPLICATE, alternative in walked.repeated, f"at most {account.most} counted", f"{count}")
            if account.most < account.whole and count >= account.least and alternative in walked.repeated:
                outcome = Outcome.PASS if alternative == walked.repeated[0] else Outcome.READING
                yield Verdict(DUPLICATE, outcome, _SUBJECT, readings=((REPEATED, alternative),))


def _words(walked: Walked) -> Iterator[Verdict]:
    """Judge the words of arrival: none before a message has come and can be accepted, then one, and no other."""
    state, said = received(walked), words(walked)
    came = {number: sorted(said.get(number, {}).values()) for number in state.copies}
    for number, copy in state.copies.items():
        early = came[number] and came[number][0] < copy.first_ms
        yield _verdict(ARRIVED, not early, "no word before the last byte of the message", "a word")
        if copy.place and came[number] and not early:
            in_turn = copy.accepted_ms is not None and came[number][0] >= copy.accepted_ms
            yield _verdict(ACCEPTED, in_turn, "no word before all messages in front of it", "a word")
    for number, copy in state.copies.items():
        if not state.sure(copy):
            continue
        once, many = ACCEPTED if copy.place else DUPLICATE, len(came[number])
        yield _verdict(once, many <= 1 + copy.forgotten, {"words": 1}, {"words": many})
        if walked.finished and (many or state.must_tell(copy)):
            yield _verdict(TOLD, many > 0, {"words": 1}, {"words": 0})


def _orders(walked: Walked) -> Iterator[Verdict]:
    """Judge the OrderAcks: none for more than can have been accepted by then, and one for all in the end."""
    state = received(walked)
    for at_ms, number in orders(walked) if walked.strict else ():
        taken = (one for one in state.copies.values() if one.accepted_ms is not None and one.accepted_ms <= at_ms)
        most = max((one.place for one in taken), default=0)
        yield _verdict(ACCEPTED, number <= most, {"at most": most}, number)
    most = max(state.placed, default=0)
    if most and walked.finished and (walked.strict or not state.disordered):
        number = _ordered(walked)
        yield _verdict(ORDERED, number >= most, {"number": most}, {"number": number})


def _verdict(requirement: str, holds: bool, expected: Json, actual: Json) -> Verdict:
    if holds:
        return Verdict(requirement, Outcome.PASS, _SUBJECT)
    return Verdict(requirement, Outcome.FAIL, _SUBJECT, expected, actual)
