"""Pairs of a message's stage and an event, each a history: local queues, other computers, and calls of management."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.histories.examples import (
    ADDRESS,
    GET,
    REMOTE,
    acting,
    connected,
    final,
    in_order,
    step,
    stored,
    transfer,
    within,
)
from conformance.histories.features.table import FEATURES
from conformance.histories.history import History
from conformance.histories.operations.table import stored_call
from conformance.histories.switch_cover import Looking
from conformance.model import BadCall, Call, State
from conformance.model.journals import SYSTEM_QUEUES, journal_of
from conformance.model.management_rows import MACHINE, QUEUE

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


def following(number: int, turn: int, events: int) -> int:
    """Return the number of the event that follows an event, at the stage of number `turn`."""
    return (number + turn) % events


def at(
    stage: Sequence[Call],
    events: Mapping[str, Sequence[Call]],
    mq: Port,
    judge: Recorder,
    *,
    opening: Sequence[Call],
    behind: Sequence[Call],
    shown: Iterable[str],
    turn: int = 0,
) -> None:
    """Run a history for each event that can happen at a stage.

    opening: calls that begin it. behind: calls that end it, after the look. shown: the properties to look at. turn:
    number of the stage, which decides what follows each event.
    """
    names = tuple(shown)
    happening = tuple(events.values())
    for number, event in enumerate(happening):
        history = History(mq, judge)
        history.run(*opening)
        looking = Looking(names)
        _some(history, stage)
        if number == 0:
            history.run(*looking(history.state))
        if not _some(history, event):
            continue
        history.run(*looking(history.state))
        if _some(history, happening[following(number, turn, len(happening))]):
            history.run(*looking(history.state))
        _some(history, behind)


def played(calls: Sequence[Call], mq: Port, judge: Recorder, *, opening: Sequence[Call], shown: Iterable[str]) -> None:
    """Run a written history, with a look behind each call that changes a session, the machine or who has what open."""
    history = History(mq, judge)
    history.run(*opening)
    looking = Looking(shown)
    for call in calls:
        before = history.state
        done = _done(history, call)
        if done and (history.state.management, history.state.handles) != (before.management, before.handles):
            history.run(*looking(history.state))


def beside(
    stage: Sequence[Call],
    events: Mapping[str, Sequence[Call]],
    mq: Port,
    judge: Recorder,
    *,
    other: str,
    shown: Iterable[str],
) -> None:
    """Run a history for each event at a stage, and look behind it at another queue, which it is not about."""
    names = tuple(name for name in shown if name.startswith(QUEUE))
    look, go_on = Call(GET, queue=other, names=names), Call("management.transfer", queue=other)
    for event in events.values():
        history = History(mq, judge)
        history.run(*stage, look)
        if _some(history, event):
            history.run(look)
            _some(history, (go_on, look))


def _some(history: History, calls: Sequence[Call]) -> bool:
    """Make the calls that make sense now; return False where none does."""
    return sum(_done(history, call) for call in calls) > 0


def _done(history: History, call: Call) -> bool:
    """Make a call that makes sense now; return False for another."""
    if history.over:
        return False
    try:
        history.model.allowed(history.state, call)
        history.attempt(call)
    except BadCall:
        return False
    return True


def _put(**values: int) -> Call:
    return Call("queues.set", queue="q1", values=tuple((f"PROPID_Q_{name}", value) for name, value in values.items()))


def _send(message: str, **how: object) -> Call:
    return Call("messages.send", message=message, handle="s1", **how)  # type: ignore[arg-type]


def _receive(handle: str = "r1", **how: object) -> Call:
    return Call("messages.receive", handle=handle, **how)  # type: ignore[arg-type]


def _begin(read: str) -> Call:
    return Call("messages.receive_begin", name=read, handle="r1")


def _end(read: str, acknowledge: bool) -> Call:
    return Call("messages.receive_end", read=read, acknowledge=acknowledge)


_OPEN: Final = tuple(Call("queues.open", name=f"{name[0]}1", queue="q1", access=name) for name in ("send", "receive"))
_DELETE: Final = Call("queues.delete", queue="q1")
_SUBQUEUE: Final = (
    Call("queues.open", name="m1", queue="q1;one", access="move"),
    Call("queues.open", name="u1", queue="q1;one", access="receive"),
)
_MOVED: Final = (
    *_SUBQUEUE,
    Call("messages.peek", handle="r1"),
    Call("messages.move", handle="r1", message="a", destination="m1"),
)
_SEND_OPTIONS: Final = {"journal": True, "dead_letter": True, "live_s": 5, "delivery": "recoverable"}

LOCAL_STAGES: Final[Mapping[str, tuple[Call, ...]]] = MappingProxyType(
    {
        "empty": (),
        "sent": (_send("a"), _send("b", delivery="recoverable")),
        "journaled": (_put(JOURNAL=1), _send("a"), _send("b"), _receive()),
        "journal switched off": (_put(JOURNAL=1), _send("a"), _send("b"), _receive(), _put(JOURNAL=0)),
        "journal switched on": (_send("a"), _send("b"), _put(JOURNAL=1)),
        "begun": (_send("a"), _send("b"), _begin("b1")),
        "begun and purged": (_send("a"), _send("b"), _begin("b1"), Call("queues.purge", handle="r1")),
        "moved": (_send("a", delivery="recoverable"), _send("b"), *_MOVED),
        "subqueue": _SUBQUEUE,
        "subqueue emptied": (_send("a"), *_MOVED, _receive("u1"), Call("queues.close", handle="m1")),
        "kept": (_send("a", **_SEND_OPTIONS), _send("b", journal=True)),
        "kept and received": (_send("a", **_SEND_OPTIONS), _receive(), _send("b", dead_letter=True)),
        "expired": (_send("a", **_SEND_OPTIONS), Call("clock.advance", by_ms=7000)),
        "closed": (_send("a"), Call("queues.close", handle="s1"), Call("queues.close", handle="r1")),
        "several": (
            Call("queues.open", name="w1", queue="q1,q3", access="send"),
            Call("messages.send", message="a", handle="w1"),
            Call("queues.close", handle="s1"),
            Call("queues.close", handle="r1"),
        ),
        "offline": (_send("a"), acting("DISCONNECT")),
        "made again": (
            _send("a"),
            *_MOVED,
            Call("queues.delete", queue="q1"),
            Call("queues.create", queue="q1"),
            *_OPEN,
        ),
    }
)
"""Events so far, by name."""

LOCAL_EVENTS: Final[Mapping[str, tuple[Call, ...]]] = MappingProxyType(
    {
        "receive": (_receive(), _receive("u1")),
        "begin, and delete": (
            Call("messages.receive_begin", name="b2", handle="r1"),
            _end("b2", True),
            _end("b1", True),
        ),
        "begin, and keep": (
            Call("messages.receive_begin", name="b2", handle="r1"),
            _end("b2", False),
            _end("b1", False),
        ),
        "purge": (Call("queues.purge", handle="r1"), Call("queues.purge", handle="u1")),
        "journaling": (_put(JOURNAL=1), _receive()),
        "no journaling": (_put(JOURNAL=0), _receive()),
        "move back": (
            Call("queues.open", name="m2", queue="q1", access="move"),
            Call("messages.peek", handle="u1"),
            Call("messages.move", handle="u1", message="a", destination="m2"),
        ),
        "later": (Call("clock.advance", by_ms=9000),),
        "delete": (_DELETE,),
        "close all": (
            _end("b1", True),  # no section says how a begun read ends whose handle is closed
            *(Call("queues.close", handle=name) for name in ("s1", "r1", "m1", "u1", "w1")),
        ),
        "open again": (
            Call("queues.open", name="s2", queue="q1", access="send"),
            Call("queues.open", name="w2", queue="q1,q3", access="send"),
            Call("messages.send", message="x", handle="w2"),
        ),
        "tidy": (acting("TIDY"),),
        "online": (acting("CONNECT"), acting("tidy")),
        "read the journal": (Call("queues.open", name="j9", queue=journal_of("q1"), access="receive"), _receive("j9")),
        "purge the journals": (
            Call("queues.open", name="j9", queue=journal_of("q1"), access="receive"),
            *(Call("queues.purge", handle=f"j{at}") for at in (9, 0, 1, 2)),
        ),
    }
)
"""Events that follow, by name."""
LOCAL_OPENING: Final = (
    Call("clock.now"),
    Call(GET, names=(f"{MACHINE}BYTES_IN_ALL_QUEUES",)),
    Call("queues.create", queue="q1"),
    Call("queues.create", queue="q3", transactional=False),
    *_OPEN,
    *(Call("queues.open", name=f"j{at}", queue=queue, access="receive") for at, queue in enumerate(SYSTEM_QUEUES)),
)
BEHIND: Final = (_send("z"), _receive())

_RECEIVED, _REJECTED = 0x4000, 0x8004  # MS-MQMQ 2.2.18.1.6
_TWO: Final = within("t1", "a", "b")
_JOURNALED: Final = within("t1", "a", journal=True, dead_letter=True)
_PLAIN: Final = (Call("messages.send", message="a", handle="s1"),)
_PLAIN_KEPT: Final = (Call("messages.send", message="a", handle="s1", journal=True, dead_letter=True),)
_FOUR: Final = within("t1", "a", "b", "c", "d", journal=True, dead_letter=True)
_PLAIN_BEHIND: Final = (Call("messages.send", message="c", handle="s1", delivery="recoverable"),)
_CLOSE: Final = Call("queues.close", handle="s1")
_LIMITED: Final = {"dead_letter": True, "journal": True}

REMOTE_STAGES: Final[Mapping[str, tuple[Call, ...]]] = MappingProxyType(
    {
        "nothing": (),
        "plain": _PLAIN,
        "plain transferred": (*_PLAIN_KEPT, *connected(), transfer()),
        "plain stored": (*_PLAIN_KEPT, *connected(), transfer(), stored(1)),
        "uncommitted": (*connected(), *_TWO[:-1]),
        "committed": (*_TWO, *connected()),
        "transferred": (*_TWO, *connected(), transfer()),
        "stored": (*_TWO, *connected(), transfer(), stored(1)),
        "in order": (*_TWO, *connected(), transfer(), stored(2), in_order(1)),
        "all in order": (*_JOURNALED, *connected(), transfer(), stored(1), in_order(1)),
        "received": (*_JOURNALED, *connected(), transfer(), stored(1), in_order(1), final("a", _RECEIVED)),
        "both kinds": (*_PLAIN, *within("t1", "b"), *connected(), transfer()),
        "limited": (
            *within("t1", "a", live_s=5, **_LIMITED),  # type: ignore[arg-type]
            Call("messages.send", message="b", handle="s1", reach_s=5, **_LIMITED),  # type: ignore[arg-type]
        ),
        "limited to reach": (
            *within("t1", "a", reach_s=5, live_s=20, **_LIMITED),  # type: ignore[arg-type]
            Call("messages.send", message="b", handle="s1", live_s=5, **_LIMITED),  # type: ignore[arg-type]
        ),
        "unconnected": (*_PLAIN, step("in_process", ADDRESS), step("socket_connect_failure", error=0x8007274D)),
        "nobody has it open": (_CLOSE,),
        "sent again": (*_TWO, *connected(), transfer(), acting("EOD_RESEND", REMOTE), transfer()),
        "second sequence": (
            *_JOURNALED,
            *connected(),
            transfer(),
            stored(1),
            in_order(1),
            *within("t2", "b"),
            transfer(),
        ),
        "three of four": (*_FOUR, *connected(), transfer(), stored(4), in_order(3)),
        "two of four": (*within("t1", "a", "b", "c", "d"), *connected(), transfer(), stored(2), in_order(2)),
        "more behind four": (*_FOUR, *connected(), transfer(), stored(4), in_order(3), *within("t2", "e"), transfer()),
        "plain behind a sequence": (
            *(*_JOURNALED, *connected(), transfer(), stored(1), in_order(1)),
            *(*_PLAIN_BEHIND, transfer()),
        ),
        "one of four": (*_FOUR, *connected(), transfer(), stored(3), in_order(1)),
        "on hold": (*_TWO, *_PLAIN_BEHIND, *connected(), acting("PAUSE", REMOTE)),
        "closing": (*_TWO, *connected(), transfer(), step("closing")),
        "unresolved": (*_PLAIN, step("dns_failure", error=0x80072AF9)),
    }
)
"""Events so far, by name."""

REMOTE_EVENTS: Final[Mapping[str, tuple[Call, ...]]] = MappingProxyType(
    {
        "pause": (acting("PAUSE", REMOTE),),
        "pause and resume": (acting("PAUSE", REMOTE), acting("RESUME", REMOTE), *connected()),
        "resend": (acting("EOD_RESEND", REMOTE),),
        "resend, and more": (acting("EOD_RESEND", REMOTE), transfer(), *within("t8", "w"), transfer()),
        "offline": (acting("DISCONNECT"),),
        "offline and tidied": (acting("DISCONNECT"), acting("TIDY")),
        "offline and online": (acting("DISCONNECT"), acting("CONNECT")),
        "closed": (step("closing"), step("closed")),
        "connected again": (step("closed"), *connected()),
        "later": (Call("clock.advance", by_ms=4000),),
        "too late": (Call("clock.advance", by_ms=7000), Call("clock.advance", by_ms=60_000)),
        "handle closed": (_CLOSE,),
        "tidied": (acting("TIDY"),),
        "opened again": (
            Call("queues.open", name="s9", queue=REMOTE, access="send"),
            Call("messages.send", message="z", handle="s9"),
        ),
        "transferred": (transfer(),),
        "one more": (Call("messages.send", message="x", handle="s1"), *within("t9", "y")),
        "stored": (stored(1), stored(9)),
        "in order": (stored(9), Call("clock.advance", by_ms=3000), in_order(1), in_order(1)),
        "all in order": (stored(9), in_order(2), *within("t9", "y")),
        "late": (stored(9), in_order(2), in_order(1)),
        "rejected": (final("a", _REJECTED),),
    }
)
"""Events that follow, by name."""

BOTH: Final = (
    Call("clock.now"),
    *(Call("queues.open", name=f"s{queue[-1]}", queue=queue, access="send") for queue in (REMOTE, "remote2")),
    *(Call(GET, queue=queue, names=(f"{QUEUE}EOD_RESEND_INTERVAL",)) for queue in (REMOTE, "remote2")),
    *within("t1", "a", "b"),
    *within("t2", "c", "d", to="s2"),
    *(call for queue in (REMOTE, "remote2") for call in (*connected(queue), transfer(queue=queue))),
    stored(1),
    stored(1, queue="remote2"),
)
"""Two queues at the same stage."""
REMOTE_OPENING: Final = (
    Call("clock.now"),
    Call(GET, names=(f"{MACHINE}BYTES_IN_ALL_QUEUES",)),
    Call("queues.open", name="s1", queue=REMOTE, access="send"),
    Call(GET, queue=REMOTE, names=(f"{QUEUE}EOD_RESEND_INTERVAL",)),
    *(Call("queues.open", name=f"j{at}", queue=queue, access="receive") for at, queue in enumerate(SYSTEM_QUEUES)),
)

Pair: TypeAlias = tuple[str, str, str, str, str]
"""A method, and the names and values of two of its features."""
DATA: Final = Path(__file__).with_name("management_plan.json")
PLAYED: Final = ("management.act", "management.connection", "management.transfer", "management.acknowledge")
LOCAL: Final = "q1"
BEGINNING: Final = (*REMOTE_OPENING, Call("queues.create", queue=LOCAL))
"""Calls that begin each history."""
_ACT, _TRANSFER, _ACKNOWLEDGE = "management.act", "management.transfer", "management.acknowledge"
_BEHIND: Final = ("stored=in_part", "stored=all", "under_way=some", "sequence=in_part", "sequence=complete")
_UNDER_WAY: Final = ("under_way=some", "under_way=again")
_UNACKNOWLEDGED: Final = ("sequence=pending", "sequence=in_part", "stored=in_part", "stored=all")
_ELSEWHERE: Final = ("target=absent", "target=local", "target=session")
_OF_SESSION: Final = ("state", "under_way", "sequence", "stored", "unread", "opened")
LEFT: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = MappingProxyType(
    {
        "the call is about no outgoing queue": tuple(
            (_ACT, target, f"{name}=*") for target in _ELSEWHERE for name in _OF_SESSION
        ),
        "nothing is sent to the local queue, and a queue that is not there holds nothing": (
            *((_ACT, "target=local", f"content={content}") for content in ("messages", "held")),
            *((_ACT, target, "content=*") for target in ("target=absent", "target=session")),
        ),
        "a message stays in its queue until it is acknowledged": tuple(
            ("*", "content=nothing", other) for other in (*_UNACKNOWLEDGED, *_UNDER_WAY)
        ),
        "what has a number or is stored was transferred": tuple(
            ("*", "under_way=none", other) for other in _UNACKNOWLEDGED
        ),
        "an end of the session ends what was stored and acknowledged in it": (
            *(("*", "state=DISCONNECTED", other) for other in _BEHIND),
            ("*", "under_way=again", "sequence=complete"),
        ),
        "a message that is stored leaves the queue, or has a number": tuple(
            ("*", f"sequence={sequence}", f"stored={stored}")
            for sequence in ("none", "complete")
            for stored in ("in_part", "all")
        ),
        "an acknowledgment comes on a connection": tuple(
            (_ACKNOWLEDGE, f"state={state}", "*")
            for state in ("INACTIVE", "WAITING", "DISCONNECTING", "DISCONNECTED", "NEED VALIDATION", "ONHOLD")
        ),
        "an order acknowledgment is for a number of the present sequence": tuple(
            (_ACKNOWLEDGE, f"kind={kind}", other)
            for kind in ("order", "order_again", "order_late")
            for other in ("content=nothing", "sequence=none", "sequence=complete", "under_way=none")
        ),
        "one that is late has another one before it": ((_ACKNOWLEDGE, "kind=order_late", "sequence=pending"),),
        "a final acknowledgment is awaited": tuple(
            (_ACKNOWLEDGE, f"kind={kind}", "unread=none") for kind in ("received", "rejected")
        ),
        "which messages go after a resumption, or beside another session, is not said": (
            *((_TRANSFER, "state=INACTIVE", other) for other in (*_UNACKNOWLEDGED, *_UNDER_WAY)),
            *((_TRANSFER, "state=ONHOLD", other) for other in (*_UNACKNOWLEDGED[1:], "under_way=some")),
            (_TRANSFER, "state=WAITING", "under_way=some"),
        ),
    }
)
"""Reason to the pairs that no history meets: method and two values, each of which may be any."""


def pairs_of(state: State, call: Call) -> Iterator[Pair]:
    """Yield the pairs of features that a call meets in a state."""
    found = [(feature.name, value) for feature in FEATURES[call.method] if (value := feature.of(state, call))]
    for (one, its), (other, others) in combinations(found, 2):
        yield call.method, one, its, other, others


def all_pairs() -> frozenset[Pair]:
    """Return every pair of values of two features of the calls that are played."""
    return frozenset(
        (method, one.name, its, other.name, others)
        for method in PLAYED
        for one, other in combinations(FEATURES[method], 2)
        for its in one.values
        for others in other.values
    )


def why_left(pair: Pair) -> str | None:
    """Return the reason why no history meets a pair; None for one that can be met."""
    method, one, its, other, others = pair
    values = (f"{one}={its}", f"{other}={others}")
    return next((why for why, rows in LEFT.items() if any(_fits(row, method, values) for row in rows)), None)


def _fits(row: tuple[str, ...], method: str, values: tuple[str, str]) -> bool:
    of, first, second = row
    if of not in ("*", method):
        return False
    return any(_is(first, one) and _is(second, other) for one, other in (values, values[::-1]))


def _is(wanted: str, value: str) -> bool:
    return wanted in ("*", value) or (wanted.endswith("=*") and value.startswith(wanted[:-1]))


def pair_texts(pairs: Iterable[Pair]) -> list[str]:
    """Return pairs in words, sorted."""
    return sorted(f"{method}: {one}={its}, {other}={others}" for method, one, its, other, others in pairs)


@lru_cache(1)
def planned() -> tuple[tuple[Call, ...], ...]:
    """Return the histories, each without its beginning."""
    raw = json.loads(DATA.read_text(encoding="utf-8"))
    return tuple(tuple(map(stored_call, calls)) for calls in raw)
