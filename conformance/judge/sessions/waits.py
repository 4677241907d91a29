"""Judges what had to come on a connection and did not, when the connection or the capture ends (MS-MQQB 3.1.2, 3.1.6).

A rule is a tree over registers: what the state of a connection and of its two ends is at that moment. Times are in ns.
Whoever is not known to have lived after the time was over is not blamed: a machine may have stopped, or the network.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.capture import Closed, Side
from conformance.judge.rules import Const, Expr, Field, Plus, Value, at_most, both, compiled, eq
from conformance.judge.sessions.acknowledgments import LOOKED_AT, Message, Queue, queue
from conformance.judge.sessions.context import MAX_HOSTS, Notes, Seen
from conformance.judge.sessions.flow_steps import due, has_room
from conformance.judge.sessions.opening import OPEN, Opening
from conformance.judge.sessions.registers import NONE, Connection, End
from conformance.judge.sessions.reports import ACKNOWLEDGED_IN_TIME, ORDER_SENT
from conformance.judge.sessions.sequences import RESENT, RESENT_NS, Hosts
from conformance.judge.sessions.transactions import LASTING_S, Transactions
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome, Verdict, of_frame

if TYPE_CHECKING:
    from conformance.judge.sessions.message_memory import Memory

_S, _MS = 1_000_000_000, 1_000_000
_LATE_NS: Final = 5 * _S
"""An acknowledgment may be under way, or wait for its turn, this long: more than where one comes (`flow`)."""
_ORDER_NS: Final = 60 * _S
"""OrderAckTimeout, MaximumOrderAckDelay (10 s), and the time for another session that takes the OrderAck."""
_ALONE_NS: Final = 20 * _S
"""The same where no other session between the two hosts has been tried."""
_CLOSE_NS: Final = 30 * _S
"""A session may take this long to end."""
_PERIODS: Final = 4
"""The Session Ack Wait Timer is at most twice AckTimeout, and closes the session when it ends the second time."""
_RETRY_NS: Final = 180 * _S
"""The Session Retry Connect Timer is 5 seconds, and may be longer (MS-MQQB, product note 45)."""
_DIRECT = 7  # UserHeader.Flags.DQ of a direct format name.
_MOST_PAST = 8  # Ended connections between two hosts that are remembered.
_READING_ADDRESS = "R-MQQB-null-queue-manager-address"
_CLOSES = requirement_id("MQQB-3.1.6.3.closes")
_STORED = requirement_id("MQMQ-2.2.20.4.recoverable-ack-flags")
_DISCARDED = requirement_id("MQQB-3.1.1.6.1.discarded")
_RETRANSMITTED = requirement_id("MQQB-3.1.6.1.retransmitted")
_RETRIED = requirement_id("MQQB-3.1.5.9.retried")
_MOST_LEFT = 256  # Messages between two hosts that a session has left unacknowledged.
_OTHER: Final[Mapping[Side, Side]] = {"initiator": "acceptor", "acceptor": "initiator"}

Registers = dict[str, Value]


@dataclass(frozen=True, slots=True)
class WaitRule:
    """One check of what a connection leaves behind.

    id: of the requirement. applies, holds: trees over registers. subject: the register with the last packet of whoever
    has to do something, or with what it has to do again. waits, since: those with the message that waits, and with the
    time from which it does. expected: what had to come.
    """

    id: str
    applies: Expr
    holds: Expr
    subject: str
    waits: str
    since: str
    expected: str


_ORDERED: Final = both(
    eq("Order.Here", True), eq("Order.Final", True), eq("Order.Refused", False), eq("Order.Expires", False)
)
WAITS: Final = (
    WaitRule(
        requirement_id("MQQB-2.1.1.initialization"),
        both(eq("Opening.Waiting", True), eq("Sender.Initiates", True)),
        at_most("Receiver.Latest", Plus(Field("Opening.Latest"), Const(_CLOSE_NS))),
        "Receiver.Frame",
        "Sender.Frame",
        "Opening.Latest",
        "a response",
    ),
    WaitRule(
        ACKNOWLEDGED_IN_TIME,
        both(eq("Messages.New", True), eq("Receiver.Paused", False)),
        at_most("Receiver.Latest", Plus(Field("Messages.Due"), Const(_LATE_NS))),
        "Receiver.Frame",
        "Messages.Frame",
        "Messages.First",
        "an acknowledgment",
    ),
    WaitRule(
        _STORED,
        eq("Stored.Waiting", True),
        at_most("Receiver.Latest", Plus(Field("Stored.Due"), Const(_LATE_NS))),
        "Receiver.Frame",
        "Stored.Frame",
        "Stored.First",
        "each recoverable message that is counted, by its number",
    ),
    WaitRule(
        _CLOSES,
        eq("Messages.New", True),
        at_most("Sender.Latest", Plus(Field("Messages.Closing"), Const(_CLOSE_NS))),
        "Messages.Frame",
        "Messages.Frame",
        "Messages.First",
        "the end of a session on which nothing is acknowledged",
    ),
    WaitRule(
        ORDER_SENT,
        both(_ORDERED, eq("Answers.Room", True)),
        at_most("Receiver.Latest", Field("Order.Due")),
        "Receiver.Frame",
        "Order.Frame",
        "Order.First",
        "an OrderAck",
    ),
    WaitRule(
        RESENT,
        both(_ORDERED, eq("Order.Acknowledged", 0), eq("Messages.Room", True)),
        at_most("Sender.Latest", Plus(Field("Order.Sent"), Const(RESENT_NS))),
        "Order.Frame",
        "Order.Frame",
        "Order.Sent",
        "the message again",
    ),
)
"""The rules of what never comes."""
_DECIDED: Final = tuple((rule, compiled(rule.applies), compiled(rule.holds)) for rule in WAITS)


class Past(NamedTuple):
    """A connection that has ended, from one host to another.

    began, ended: the numbers of the packets before it and at its end. waiting: the frame of the first message that was
    not acknowledged, None for none. recoverable: each recoverable message was acknowledged as such. known: the capture
    has all of it, its ends have closed it in turn, and neither had to. sure: the sender has received acknowledgments of
    all messages before this frame; 0 where nothing shows that.
    """

    began: int
    ended: int
    waiting: int | None
    recoverable: bool
    known: bool
    sure: int = 0


@dataclass(slots=True)
class Pasts:
    """The connections that have ended, by the hosts from and to which they carried messages.

    left: the frames of messages of the initiator that ended connections have not acknowledged; True: it came again.
    retries: by its initiator, the time of a closed session with a message to send again, and its frame. lives: when a
    host is known to have lived last.
    """

    ended: OrderedDict[Hosts, deque[Past]] = field(default_factory=OrderedDict)
    left: OrderedDict[Hosts, dict[int, bool]] = field(default_factory=OrderedDict)

    retries: OrderedDict[str, tuple[int, int]] = field(default_factory=OrderedDict)
    lives: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def retry(self, ending: Ending, closed: Closed, known: Memory) -> None:
        """Take notice that the initiator of a session that was closed to it has to make another one (3.1.5.9)."""
        opened = ending.opening.opened
        for side in _OTHER:
            host = (opened.initiator if side == "initiator" else opened.acceptor).address
            self.lives[host] = max(self.lives.get(host, 0), ending.connection.end(side).latest_ns or 0)
            while len(self.lives) > MAX_HOSTS:
                self.lives.popitem(last=False)
        initiator = ending.connection.end("initiator")
        usual = closed.by == "acceptor" and closed.how in ("fin", "rst") and ending.connection.whole
        if not usual or initiator.paused_ns or len(known) > LOOKED_AT:
            return
        frames = {frame for _, frame, _ in initiator.messages()}
        lasting = [one.frame for _, one in known.items() if one.frame in frames and _lasts(one)] if frames else []
        if lasting:
            self.retries.setdefault(opened.initiator.address, (closed.time_ns, lasting[0]))
            while len(self.retries) > MAX_HOSTS:
                self.retries.popitem(last=False)

    def retried(self, host: str, lived_ns: int, notes: Notes) -> None:
        """Judge that another session was tried in time by an initiator. lived_ns: when it does so, or lived last."""
        closed_ns, frame = self.retries.pop(host, (0, 0))
        if frame and lived_ns - closed_ns > _RETRY_NS and notes.timeless(closed_ns, lived_ns) is None:
            actual = {"none in, s": (lived_ns - closed_ns) // _S}
            notes.tell(Verdict(_RETRIED, Outcome.FAIL, of_frame(frame), "another session", actual, frame=frame))

    def end(self, notes: Notes) -> None:
        """Judge the end of the capture."""
        for host in tuple(self.retries):
            self.retried(host, self.lives.get(host, 0), notes)

    def add(self, hosts: Hosts, past: Past) -> None:
        """Remember a connection."""
        self.ended.setdefault(hosts, deque(maxlen=_MOST_PAST)).append(past)
        self.ended.move_to_end(hosts)
        while len(self.ended) > MAX_HOSTS:
            self.ended.popitem(last=False)

    def leave(self, hosts: Hosts, frames: Iterable[int]) -> None:
        """Remember messages that a connection from one host to another has not acknowledged."""
        left = self.left.setdefault(hosts, {})
        left.update(dict.fromkeys(islice(frames, max(0, _MOST_LEFT - len(left))), False))
        while len(self.left) > MAX_HOSTS:
            self.left.popitem(last=False)

    def retransmit(self, ending: Ending, hosts: Hosts, notes: Notes, known: Memory, lived_ns: int) -> None:
        """Judge that what earlier connections have left was sent again on one that ends, or on another one since.

        Sessions may be those of a queue, so that only what goes where later messages of its queue manager went counts,
        or where one came again that was sent after it. lived_ns: when the initiator lived last.
        """
        left, began = self.left.get(hosts), ending.opening.began
        initiator, opened_ns = ending.connection.end("initiator"), ending.opening.opened.time_ns
        busy = not (ending.connection.whole and _has_room(initiator)) or lived_ns - opened_ns <= _LATE_NS
        if not left or busy or len(known) > LOOKED_AT or notes.timeless(opened_ns, lived_ns) is not None:
            return
        later: dict[tuple[str, Queue | None], int] = {}
        lacking: dict[int, tuple[str, Queue | None]] = {}
        for (source, _), message in known.items():
            place, new = (source, queue(message, "DestinationQueue", "DQ")), message.frame > began
            if left.get(message.frame) or (new and lived_ns - opened_ns > _ORDER_NS):
                later[place] = max(message.frame, later.get(place, 0))
            elif message.frame in left and _lasts(message):
                lacking[message.frame] = place
        for frame in [frame for frame, again in left.items() if again]:
            del left[frame]
        for frame, place in lacking.items():
            if later.get(place, 0) > frame:
                del left[frame]
                actual = {"none for packet": frame, "in, s": (lived_ns - opened_ns) // _S}
                expected = "the message again on the next session"
                notes.tell(Verdict(_RETRANSMITTED, Outcome.FAIL, of_frame(frame), expected, actual, frame=frame))

    def covers(self, hosts: Hosts, frame: int) -> bool:
        """Tell whether an ended connection has acknowledged the message in this frame."""
        found = [one for one in self.ended.get(hosts, ()) if one.began < frame <= one.ended]
        if len(found) != 1:
            return False
        one = found[0]
        return frame < one.sure or (one.known and (one.waiting is None or one.waiting > frame))

    def sent_again(self, seen: Seen, notes: Notes, first: int) -> None:
        """Judge a message that is sent again on another connection. first: the frame of its first transmission.

        Transactional ones wait for an OrderAck, too, and may be sent again without one.
        """
        if seen.number("UserHeader.Flags.TH"):
            return
        if not (left := self.left.get(seen.hosts, {})).get(first, True):
            left[first] = True
            notes.judge(_RETRANSMITTED, True, seen, f"packet {first} again", "it")
        found = [one for one in self.ended.get(seen.hosts, ()) if one.began < first <= one.ended]
        if len(found) != 1:
            return
        one = found[0]
        recoverable = seen.number("UserHeader.Flags.DM") == 1
        if first >= one.sure and (not one.known or (recoverable and not one.recoverable)):
            return
        discarded = first >= one.sure and one.waiting is not None and one.waiting <= first
        expected = f"no message again that was acknowledged: packet {first}"
        notes.judge(_DISCARDED, discarded, seen, expected, "not acknowledged" if discarded else "acknowledged")


def _lasts(message: Message) -> bool:
    """Tell whether a message is no transactional one, and its time is not over while a capture lasts."""
    time_s = message.number("BaseHeader.TimeToReachQueue") or 0
    return not message.number("UserHeader.Flags.TH") and time_s >= LASTING_S


class Ending(NamedTuple):
    """A connection at its end. alone: tells whether no other one between its hosts is open."""

    opening: Opening
    connection: Connection
    alone: Callable[[], bool]


def judge_waits(
    ending: Ending, closed: Closed, notes: Notes, transactions: Transactions, known: Memory, pasts: Pasts, now: int
) -> None:
    """Judge what had to come on a connection that ends. known: the messages seen. now: the last packet's number."""
    ends = (ending.opening.opened.initiator.address, ending.opening.opened.acceptor.address)
    both_ways: tuple[tuple[Side, Hosts], ...] = (("initiator", ends), ("acceptor", (ends[1], ends[0])))
    pasts.retry(ending, closed, known)
    for side, hosts in both_ways:
        registers = _ends(ending, closed, side) | _messages(ending, notes, side) | _stored(ending, notes, side)
        whole = ending.connection.whole
        if whole:
            registers |= _order(ending, notes, side, hosts, transactions, known, registers, pasts)
        for rule, applies, holds in _DECIDED:
            if applies(registers) is True and holds(registers) is False:
                _tell(rule, notes, registers)
        if side == "initiator":
            pasts.retransmit(ending, hosts, notes, known, int(registers["Sender.Latest"]))
            if whole:
                pasts.leave(hosts, (frame for _, frame, _ in ending.connection.end(side).messages()))
        waiting = int(registers["Messages.Frame"]) if "Messages.Frame" in registers else None
        usual = whole and closed.both and not ending.opening.duty
        sure = (ending.connection.end(side).sure or 0) if whole else 0
        pasts.add(hosts, Past(ending.opening.began, now, waiting, _all_recoverable(ending, side), usual, sure))
        if waiting is not None and closed.by == side and closed.time_ns >= int(registers["Messages.Patience"]):
            _pass(_CLOSES, notes, waiting)
        if registers.get("Stored.Waiting") is False:
            _pass(_STORED, notes, int(registers["Receiver.Frame"]))


def _tell(rule: WaitRule, notes: Notes, registers: Registers) -> None:
    number, waits, since_ns = (int(registers[key]) for key in (rule.subject, rule.waits, rule.since))
    latest = max(int(registers["Receiver.Latest"]), int(registers["Sender.Latest"]))
    actual = {"none for packet": waits, "in, s": (latest - since_ns) // _S}
    notes.tell(Verdict(rule.id, Outcome.FAIL, of_frame(number), rule.expected, actual, frame=number))


def _pass(requirement: str, notes: Notes, number: int) -> None:
    notes.tell(Verdict(requirement, Outcome.PASS, of_frame(number), frame=number))


def _all_recoverable(ending: Ending, side: Side) -> bool:
    acknowledged = ending.connection.end(_OTHER[side]).acknowledged_recoverable
    return bool(acknowledged == ending.connection.end(side).recoverable & 0xFFFF)


def _ends(ending: Ending, closed: Closed, side: Side) -> Registers:
    """Return when both ends lived last: an end that closes lives."""
    sides, opening = {one: ending.connection.end(one) for one in _OTHER}, ending.opening

    other = _OTHER[side]
    return {
        "Sender.Latest": life_ns(closed, side, sides[side]),
        "Receiver.Latest": life_ns(closed, other, sides[other]),
        "Receiver.Frame": sides[other].latest,
        "Sender.Frame": sides[side].latest,
        "Sender.Initiates": side == "initiator",
        "Opening.Latest": max(one.latest_ns for one in sides.values()),
        "Opening.Waiting": opening.known and opening.stage == OPEN - 1 and not opening.derailed,
        "Receiver.Paused": sides[other].paused_ns != 0,
    }


def life_ns(closed: Closed, side: Side, end: End) -> int:
    """Return when a side of a connection that ends lived last: one that closes it lives."""
    alive = closed.both or (closed.by == side and closed.how in ("fin", "rst"))
    return int(closed.time_ns if alive else end.latest_ns)


def _has_room(side: End) -> bool:
    return has_room(side.block.rows, side.base)


def _messages(ending: Ending, notes: Notes, side: Side) -> Registers:
    """Return what is known of the messages of a side that are not acknowledged; nothing without any."""
    timers = ending.connection
    mine, other = timers.end(side), timers.end(_OTHER[side])
    waiting = list(mine.messages())
    room: Registers = {"Messages.Room": _has_room(mine), "Answers.Room": _has_room(other)}
    if not waiting or timers.express_ms is None or timers.recoverable_ms is None:
        return room
    first_ns, frame, _ = waiting[0]
    recoverable = next((time_ns for time_ns, _, one in waiting if one), NONE)
    heard_ns = max(first_ns, other.latest_ns)
    timely = notes.timeless(first_ns, heard_ns) is None
    return room | {
        "Messages.Frame": frame,
        "Messages.First": first_ns,
        "Messages.Due": due(first_ns, recoverable, timers.express_ms, timers.recoverable_ms),
        "Messages.Patience": heard_ns + timers.express_ms * _MS,
        "Messages.Closing": heard_ns + _PERIODS * timers.express_ms * _MS,
        "Messages.New": timely and ending.connection.whole and len(waiting) > mine.old,
    }


def _stored(ending: Ending, notes: Notes, side: Side) -> Registers:
    """Return what is known of recoverable messages that are counted, and not acknowledged as such."""
    connection = ending.connection
    mine, misses = connection.end(side), connection.end(_OTHER[side]).misses
    counted = mine.recoverable and connection.settled(_OTHER[side])
    if not (counted and connection.whole) or connection.recoverable_ms is None or misses is None:
        return {}
    last_ns = mine.latest_ns
    lacks = bool(misses) or not _all_recoverable(ending, side)
    return {
        "Stored.Waiting": lacks and notes.timeless(last_ns, last_ns) is None,
        "Stored.Due": last_ns + connection.recoverable_ms * _MS,
        "Stored.First": last_ns,
        "Stored.Frame": mine.latest,
    }


def _order(
    ending: Ending,
    notes: Notes,
    side: Side,
    hosts: Hosts,
    transactions: Transactions,
    known: Memory,
    registers: Registers,
    pasts: Pasts,
) -> Registers:
    """Return what is known of transactional messages without an OrderAck; nothing without any that wait for long."""
    path, back = transactions.paths.get(hosts), transactions.paths.get(hosts[::-1])
    progress = None if path is None or path.newest is None else path.progress(path.newest)
    if path is None or progress is None or progress.first_ns is None or progress.acknowledged >= progress.highest:
        return {}
    first_ns = max(progress.first_ns, path.answered_ns, path.again_ns)
    lived_ns = max(int(registers["Sender.Latest"]), int(registers["Receiver.Latest"])) - first_ns
    if lived_ns <= _ALONE_NS:
        return {}
    wait_ns = _ORDER_NS if hosts in pasts.ended or not ending.alone() else _ALONE_NS
    lost = path.generation or (back is not None and back.generation)
    if lost or first_ns < ending.opening.opened.time_ns or notes.timeless(first_ns, path.latest_ns) is not None:
        return {}
    places = range(progress.acknowledged + 1, progress.highest + 1)
    found = [
        (one.number, one.frame, one.connection, key)
        for key, one in transactions.sent.items()
        if one.sequence == path.newest and one.number in places
    ]
    if not found:
        return {}
    _, frame, connection, key = min(found)
    message = known.get(key)
    if message is None:
        return {}
    final = message.text("UserHeader.QueueManagerAddress") == ending.opening.manager(_OTHER[side])
    if message.number("UserHeader.Flags.DQ") == _DIRECT:
        final = "letter" not in notes.accepted(_READING_ADDRESS)
    return {
        "Order.First": first_ns,
        "Order.Due": first_ns + wait_ns,
        "Order.Sent": path.latest_ns,
        "Order.Frame": frame,
        "Order.Here": connection == ending.opening.opened.connection,
        "Order.Final": final,
        "Order.Refused": path.refusal,
        "Order.Expires": (message.number("BaseHeader.TimeToReachQueue") or 0) < LASTING_S,
        "Order.Acknowledged": progress.acknowledged,
    }
