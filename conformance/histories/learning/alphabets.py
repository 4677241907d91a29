"""The alphabets: what is asked of cursors, transactions and a message, which calls a driver offers, names of states."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.histories.examples import EXPIRY_MS
from conformance.histories.learning.machine import Alphabet, Letter, Look, Machine, Memory, Part
from conformance.histories.learning.sides import Playing, Specification
from conformance.histories.operations.operation import Manner, Offer
from conformance.histories.operations.table import OPERATIONS, needed_features, takes
from conformance.histories.walk import offer_of
from conformance.model import Call, State
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, is_kept, journal_of, plain_name
from conformance.model.state import PARKED, START, Cursor, Queue
from conformance.model.tables import CursorState, PositionState
from conformance.model.values import replace

if TYPE_CHECKING:
    from conformance.harness.port import Port

QUEUE: Final = "q1"
SUBQUEUE: Final = "q1;one"
KILL: Final = "kill"
"""The letter that is asked on demand only: a start takes as long as a hundred calls."""
LIVE_S: Final = 60


def _by_cursor(method: str, *, waits: bool = False) -> Callable[[Memory], tuple[Call, ...]]:
    def calls(memory: Memory) -> tuple[Call, ...]:
        if memory.cursor is None:
            return ()
        name = memory.fresh("w") if waits else None
        wait = EXPIRY_MS if waits else 0
        return (Call(method, name=name, handle=memory.reader, cursor=memory.cursor, timeout_ms=wait),)

    return calls


def _open_cursor(memory: Memory) -> tuple[Call, ...]:
    return (Call("cursors.open", name=memory.fresh("c"), handle=memory.reader),) if memory.closed else ()


def _close_cursor(memory: Memory) -> tuple[Call, ...]:
    return () if memory.cursor is None else (Call("cursors.close", cursor=memory.cursor),)


def _received(memory: Memory) -> tuple[Call, ...]:
    return (Call("messages.receive", handle=memory.reader),)


def _sent(message: str, priority: int | None) -> Callable[[Memory], tuple[Call, ...]]:
    def calls(memory: Memory) -> tuple[Call, ...]:
        if len(memory.sent) > 1:
            return ()
        return (Call("messages.send", message=message, handle=memory.sender, priority=priority),)

    return calls


_SEND = Call("messages.send", message="a", handle="s")
_RECEIVE = Call("messages.receive", handle="r")
_PEEK = Call("messages.peek", handle="r")
_CURSOR = Call("cursors.open", name="c", handle="r")

CURSOR: Final = (
    Part(
        "cursor",
        (
            Letter("open", _open_cursor, (_CURSOR,)),
            Letter("peek", _by_cursor("messages.peek"), (_CURSOR, _PEEK)),
            Letter("peek next", _by_cursor("messages.peek_next"), (_CURSOR, Call("messages.peek_next", handle="r"))),
            Letter("receive", _by_cursor("messages.receive"), (_CURSOR, _RECEIVE)),
            Letter("wait", _by_cursor("messages.receive", waits=True), (_CURSOR, _RECEIVE)),
            Letter("another receives", _received, (_RECEIVE,)),
            Letter("send", _sent("b", None), (_SEND,)),
            Letter("send higher", _sent("h", 7), (Call("messages.send", message="h", handle="s", priority=7),)),
            Letter("close", _close_cursor, (Call("cursors.close", cursor="c"),)),
        ),
        begins=lambda options: (_SEND, Call("cursors.open", name="c0", handle="r")),
    ),
)


def _begun(memory: Memory) -> tuple[Call, ...]:
    return () if memory.open else (Call("transactions.begin", name=memory.fresh("t")),)


def _ended(method: str) -> Callable[[Memory], tuple[Call, ...]]:
    def calls(memory: Memory) -> tuple[Call, ...]:
        return (Call(method, transaction=memory.transaction),) if memory.transaction is not None else ()

    return calls


def _sent_in(memory: Memory) -> tuple[Call, ...]:
    if memory.transaction is None or "b" in memory.sent:
        return ()
    return (Call("messages.send", message="b", handle=memory.sender, transaction=memory.transaction),)


def _received_in(memory: Memory) -> tuple[Call, ...]:
    if memory.transaction is None:
        return ()
    return (Call("messages.receive", handle=memory.reader, transaction=memory.transaction),)


def _peeked(memory: Memory) -> tuple[Call, ...]:
    return (Call("messages.peek", handle=memory.reader),)


def _purged(memory: Memory) -> tuple[Call, ...]:
    return (Call("queues.purge", handle=memory.reader),)


def _killed(memory: Memory) -> tuple[Call, ...]:
    memory.sender, memory.reader = memory.fresh("s"), memory.fresh("r")
    return (
        Call("restart", kill=True),
        Call("queues.open", name=memory.sender, queue=QUEUE, access="send"),
        Call("queues.open", name=memory.reader, queue=QUEUE, access="receive"),
    )


_PURGE = Call("queues.purge", handle="r")
_BEGIN = Call("transactions.begin", name="t")
_COMMIT = Call("transactions.commit", transaction="t")
_ABORT = Call("transactions.abort", transaction="t")
_SENT_IN = Call("messages.send", message="a", handle="s", transaction="t")
_FIRST = (
    Call("transactions.begin", name="t0"),
    Call("messages.send", message="a", handle="s", transaction="t0"),
    Call("transactions.commit", transaction="t0"),
)

TRANSACTION: Final = (
    Part(
        "transaction",
        (
            Letter("begin", _begun, (_BEGIN,)),
            Letter("send in it", _sent_in, (_SENT_IN,)),
            Letter("receive in it", _received_in, (_RECEIVE,)),
            Letter("commit", _ended("transactions.commit"), (_COMMIT,)),
            Letter("abort", _ended("transactions.abort"), (_ABORT,)),
            Letter("peek outside", _peeked, (_PEEK,)),
            Letter("receive outside", _received, (_RECEIVE,)),
        ),
        ("transactional",),
        begins=lambda options: _FIRST,
    ),
    Part(
        "prepare",
        (Letter("prepare", _ended("transactions.prepare"), (Call("transactions.prepare", transaction="t"),)),),
    ),
    Part("purge", (Letter("purge", _purged, (_PURGE,)),)),
    Part("kill", (Letter(KILL, _killed, (Call("restart", kill=True),), slow=True),)),
)


def _sent_once(memory: Memory) -> tuple[Call, ...]:
    if memory.sent or memory.open:  # it is sent in a transaction of its own
        return ()
    limited = "limited" in memory.options
    send = Call("messages.send", message="m", handle="s", live_s=LIVE_S if limited else None, dead_letter=limited)
    if "transactional" not in memory.options:
        return (send,)
    name = memory.fresh("t")
    begin, commit = Call("transactions.begin", name=name), Call("transactions.commit", transaction=name)
    return begin, replace(send, transaction=name), commit


def _begun_receive(memory: Memory) -> tuple[Call, ...]:
    return (Call("messages.receive_begin", name=memory.fresh("b"), handle="r"),)


def _ended_receive(acknowledge: bool) -> Callable[[Memory], tuple[Call, ...]]:
    def calls(memory: Memory) -> tuple[Call, ...]:
        if memory.begun is None or (memory.open and not memory.reading):
            return ()  # nor what a second end does while a transaction holds the message
        return (Call("messages.receive_end", read=memory.begun, acknowledge=acknowledge),)

    return calls


def _taken_in(memory: Memory) -> tuple[Call, ...]:
    if memory.open:
        return ()
    name = memory.fresh("t")
    return Call("transactions.begin", name=name), Call("messages.receive", handle="r", transaction=name)


def _ended_if_open(method: str) -> Callable[[Memory], tuple[Call, ...]]:
    def calls(memory: Memory) -> tuple[Call, ...]:
        return (Call(method, transaction=memory.transaction),) if memory.open else ()

    return calls


def _moved(source: str, target: str) -> Callable[[Memory], tuple[Call, ...]]:
    def calls(memory: Memory) -> tuple[Call, ...]:
        if source not in memory.seen or memory.reading:  # no section says what moving a message does that is begun
            return ()
        return (Call("messages.move", message="m", handle=source, destination=target),)

    return calls


def _always(*calls: Call) -> Callable[[Memory], tuple[Call, ...]]:
    return lambda memory: calls


def _passed(memory: Memory) -> tuple[Call, ...]:
    return () if memory.reading else (_PASS,)  # no section says whether a message expires while its receive has begun


def _open_dead_letters(options: frozenset[str]) -> tuple[Call, ...]:
    queue = DEAD_LETTER_TRANSACTIONAL if "transactional" in options else DEAD_LETTER
    return Call("clock.now"), Call("queues.open", name="d", queue=queue, access="receive")


_PASS = Call("clock.advance", by_ms=(LIVE_S + 2) * 1000)
_READ_JOURNAL = Call("messages.receive", handle="j")
_BEGIN_RECEIVE = Call("messages.receive_begin", name="b", handle="r")
_END_RECEIVE = Call("messages.receive_end", read="b")
_MOVE = Call("messages.move", message="m", handle="r", destination="ms")
_OPEN_JOURNAL = Call("queues.open", name="j", queue=journal_of(QUEUE), access="receive")
_OPEN_SUBQUEUE = (
    Call("queues.open", name="ms", queue=SUBQUEUE, access="move"),
    Call("queues.open", name="rs", queue=SUBQUEUE, access="receive"),
    Call("queues.open", name="mq", queue=QUEUE, access="move"),
)

_TWO_PHASES: Final = Part(
    "two phases",
    (
        Letter("begin receive", _begun_receive, (_BEGIN_RECEIVE,)),
        Letter("end deleting", _ended_receive(True), (_END_RECEIVE,)),
        Letter("end keeping", _ended_receive(False), (_END_RECEIVE,)),
    ),
)
_IN_TRANSACTION: Final = Part(
    "transaction",
    (
        Letter("receive in transaction", _taken_in, (_BEGIN, _RECEIVE), tells=1),
        Letter("commit", _ended_if_open("transactions.commit"), (_COMMIT,)),
        Letter("abort", _ended_if_open("transactions.abort"), (_ABORT,)),
    ),
    ("transactional",),
)
_ONE_MESSAGE: Final = (Letter("send", _sent_once, (_SEND,)), Letter("receive", _received, (_RECEIVE,)))

MESSAGE: Final = (
    Part("message", _ONE_MESSAGE, looks=(Look("in the queue", "r"),)),
    _TWO_PHASES,
    _IN_TRANSACTION,
    Part("purge", (Letter("purge", _purged, (_PURGE,)),)),
    Part(
        "move",
        (
            Letter("move", _moved("r", "ms"), (_MOVE,)),
            Letter("move back", _moved("rs", "mq"), (_MOVE,)),
        ),
        begins=lambda options: _OPEN_SUBQUEUE,
        looks=(Look("in the subqueue", "rs"),),
    ),
)

# Apart from MESSAGE: no section says what is kept of a message that was moved, and a purged one may be kept or not.
JOURNAL: Final = (
    Part("message", _ONE_MESSAGE, looks=(Look("in the queue", "r"),)),
    Part(
        "journal",
        (Letter("read journal", _always(_READ_JOURNAL), (_RECEIVE,)),),
        ("journaling",),
        begins=lambda options: (_OPEN_JOURNAL,),
        looks=(Look("in the journal", "j"),),
    ),
    _TWO_PHASES,
    _IN_TRANSACTION,
    Part(
        "expiry",
        (Letter("time passes", _passed, (_PASS, Call("messages.send", message="m", handle="s", live_s=1))),),
        ("limited",),
        begins=_open_dead_letters,
        looks=(Look("in the dead-letter queue", "d"),),
    ),
)

ALPHABETS: Final[Mapping[str, tuple[Part, ...]]] = MappingProxyType(
    {"cursor": CURSOR, "transaction": TRANSACTION, "message": MESSAGE, "journal": JOURNAL}
)
"""The parts of each alphabet. What the first part needs, every word does."""


class CannotLearn(Exception):
    """The driver lacks what every word of this alphabet needs. lacking: its method or feature."""

    def __init__(self, what: str, lacking: str) -> None:
        self.lacking = lacking
        super().__init__(f"nothing of {what}s can be learned: the driver does not offer {lacking}")


def letter_names(what: str) -> tuple[str, ...]:
    """Return the names of all letters of an alphabet."""
    return tuple(letter.name for part in ALPHABETS[what] for letter in part.letters)


def choose(what: str, client: Port, without: Collection[str] = ()) -> Alphabet:
    """Return the alphabet of what this driver offers. without: names of letters to leave out. Raises CannotLearn."""
    offer = offer_of(client)
    parts, missing = [], []
    for number, part in enumerate(ALPHABETS[what]):
        fitting, lacking = _fitting(part, offer, client.keeps_state)
        if number == 0 and lacking is not None:
            raise CannotLearn(what, lacking)
        missing += [letter.name for letter in part.letters if letter not in fitting]
        left = tuple(letter for letter in fitting if letter.name not in without)
        if left:
            parts.append((part, left))
    options = frozenset(option for part, _ in parts for option in part.options)
    return Alphabet(
        what,
        tuple(letter for _, letters in parts for letter in letters),
        (*_opening(options), *(call for part, _ in parts for call in part.begins(options))),
        tuple(look for part, _ in parts for look in part.looks),
        options,
        tuple(missing),
    )


def _opening(options: frozenset[str]) -> tuple[Call, ...]:
    return (
        Call(
            "queues.create", queue=QUEUE, transactional="transactional" in options, journaling="journaling" in options
        ),
        Call("queues.open", name="s", queue=QUEUE, access="send"),
        Call("queues.open", name="r", queue=QUEUE, access="receive"),
    )


def _fitting(part: Part, offer: Offer, restarts: bool) -> tuple[tuple[Letter, ...], str | None]:
    """Return the letters of a part that the driver offers, and what the part itself lacks, if anything."""
    options = frozenset(part.options)
    for call in (*_opening(options), *part.begins(options), *part.letters[0].needs):
        lacking = _lacking(call, offer, restarts)
        if lacking is not None:
            return (), lacking
    return tuple(
        letter for letter in part.letters if all(_lacking(call, offer, restarts) is None for call in letter.needs)
    ), None


def _lacking(call: Call, offer: Offer, restarts: bool) -> str | None:
    """Return what of a call the driver does not offer, in a few words."""
    operation = OPERATIONS[call.method]
    if operation.manner is Manner.RESTART:
        return None if restarts else "a restart that keeps its state"
    if operation.manner is Manner.TIME:
        return None if offer.virtual else "a virtual clock"
    if not offer.has(*operation.needs):
        return call.method
    if takes(offer, call):
        return None
    refused = next(
        name for kind, name in needed_features(call) if kind in offer.accepts and name not in offer.accepts[kind]
    )
    return f"{call.method} with {refused}"


_HOLDS = {
    PositionState.SENDING: "{} sent in it",
    PositionState.LOCKED: "{} received in it",
    PositionState.BEGUN: "{} begun",
    PositionState.MOVING: "{} moving",
    PositionState.PURGE_PENDING: "{} received, purged",
    PositionState.BEGUN_PURGED: "{} begun, purged",
    PositionState.MOVING_PURGED: "{} moving, purged",
}


@dataclass(frozen=True, slots=True)
class Name:
    """A state in words. there: the messages that reads can see. how: what the letters are about."""

    there: str
    how: str

    def __str__(self) -> str:
        return f"{self.there}; {self.how}" if self.how else self.there


def names(alphabet: Alphabet, machine: Machine, choice: Mapping[str, str]) -> tuple[Name, ...]:
    """Return the name of each state of the specification's machine. Several states may have the same one."""
    found = []
    for access in machine.access:
        playing = Playing(alphabet, Specification(choice))
        playing.word(access)
        memory, state = playing.mark()
        assert state is not None
        found.append(_name(alphabet, state, memory))
    return tuple(found)


def _name(alphabet: Alphabet, state: State, memory: Memory) -> Name:
    there = []
    held = []
    for queue in state.queues.values():
        seen = " ".join(plain_name(one.message) for one in queue.positions if one.available)
        if seen:
            there.append(seen if queue.name == QUEUE else f"{seen} in the {_place(queue)}")
        held += [_HOLDS[one.state].format(one.message) for one in queue.positions if one.state in _HOLDS]
    how = [*held]
    if alphabet.what == "cursor":
        cursor = state.cursors.get(memory.cursor or "")
        how.append(_cursor(cursor, state.queues[QUEUE]) if cursor is not None else "no cursor")
    elif alphabet.what == "transaction":
        how.insert(0, _transaction(state, memory.transaction) if memory.transaction is not None else "none")
    else:
        there = there if memory.sent else ["not sent"]
        how.insert(0, "open" if memory.open else "")
        how.append("once begun" if memory.begun is not None and not memory.reading else "")
        how.append("once moved" if "rs" in memory.seen and SUBQUEUE not in _busy(state) else "")
    return Name(", ".join(there) or "nothing to see", ", ".join(filter(None, how)))


def _busy(state: State) -> set[str]:
    return {queue.name for queue in state.queues.values() if any(one.available for one in queue.positions)}


def _place(queue: Queue) -> str:
    if is_kept(queue.name):
        return "journal" if queue.name.endswith("JOURNAL") else "dead-letter queue"
    return "subqueue"


def _transaction(state: State, name: str) -> str:
    transaction = state.transactions[name]
    if transaction.ended is not None:
        return {"commit": "committed", "abort": "aborted"}.get(transaction.ended, transaction.ended)
    return "prepared" if transaction.prepared else "open"


def _cursor(cursor: Cursor, queue: Queue) -> str:
    if cursor.state is CursorState.CLOSED:
        return "cursor closed"
    if cursor.ended is not None or cursor.at == PARKED:
        return "cursor at the end"
    if cursor.state is CursorState.READ:
        found = queue.find(cursor.message or "")
        return f"cursor at {cursor.message}" + ("" if found is not None and found.available else ", which is gone")
    if cursor.at == START:
        return "cursor at the start"
    passed = [one.message for one in queue.positions if one.rank <= cursor.at]
    return f"cursor where {passed[-1]} was" if passed else "cursor at the start"
