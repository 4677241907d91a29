"""The alphabets: what is asked of cursors, of transactions and of one message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from conformance.histories.examples import EXPIRY_MS
from conformance.histories.learning.letters import Letter, Look, Memory, Part
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, journal_of
from conformance.model.values import replace

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
