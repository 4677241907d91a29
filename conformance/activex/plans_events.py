"""Plans about MSMQEvent: sinks that come and go, and notifications of a queue at each time and with each argument."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from conformance.activex.further_world import PEEK, RECEIVE, SEND
from conformance.activex.library import interfaces
from conformance.activex.plans import Act, Plan, create, on, passes
from conformance.activex.plans_further import opened, queue
from conformance.activex.scene_events import CURRENT, FIRST, INFINITE, NEXT, SINK
from conformance.activex.tables_further import EVENT
from conformance.activex.values import MISSING, Variant, long, text

Plans = Mapping[str, tuple[Plan, ...]]

NONE: Final = long(0)
SOON: Final = long(1_000)
_OTHER_POINT: Final = interfaces()["IMSMQEvent"].iid
_CURSORS: Final = (MISSING, long(FIRST), long(CURRENT), long(NEXT))
_CODE: Final = Variant("ERROR", 0xC00E001B)


def advise(event: str = "e", gives: str = "$cookie", *, sink: str = "events", iid: str = SINK) -> Act:
    return on(event, "Advise", text(sink), text(iid), gives=gives)


def unadvise(cookie: str | int = "$cookie", event: str = "e", *, iid: str = SINK) -> Act:
    return on(event, "Unadvise", Variant("UI4", cookie), text(iid))


def notify(reader: str = "q", cursor: Variant = MISSING, timeout: Variant = MISSING, event: str | None = "e") -> Act:
    return on(reader, "EnableNotification", Variant("DISPATCH", event), cursor, timeout)


def fire(event: str = "e", reader: str = "q", cursor: int = FIRST) -> Plan:
    """Return acts in which the client itself has an event object tell of an arrival and of an error."""
    queue_object = Variant("DISPATCH", reader)
    return (
        on(event, "FireArrivedEvent", queue_object, long(cursor)),
        on(event, "FireArrivedErrorEvent", queue_object, _CODE, long(cursor)),
    )


SENT: Final = on("m", "Send", Variant("DISPATCH", "s"), NONE)
RECEIVED: Final = on("r", "Receive", NONE, MISSING, MISSING, NONE)


def scene(access: int = PEEK, *, transactional: bool = False) -> Plan:
    """Return a queue, open as `s`, `r` and `q`, a message, and an event object."""
    made = (*queue("i", transactional=transactional), opened("i", SEND, "s"), opened("i", RECEIVE, "r"))
    return (*made, opened("i", access, "q"), create("MSMQMessage", "m"), create(EVENT, "e"))


def sinks() -> Iterator[Plan]:
    """Yield plans about Advise and Unadvise."""
    start = (*scene(), create(EVENT, "f"))
    yield (create(EVENT, "e"), on("e", "Properties", kind="get"), on("e", "Hwnd", kind="get"))
    yield (*start, *fire(), advise(), *fire(), *fire(cursor=NEXT), unadvise(), *fire())
    yield (*start, advise(), advise(gives="$second"), *fire(), unadvise("$second"), *fire(), unadvise(), *fire())
    yield (*start, advise(), advise(gives="$second"), unadvise(), *fire(), unadvise(), unadvise("$second"), *fire())
    yield (*start, advise(), advise("f", "$other"), *fire(), *fire("f"), unadvise(), *fire(), *fire("f"))
    yield (*start, advise(), unadvise(), unadvise(), advise(gives="$second"), *fire(), unadvise(0x7FFFFFFF), *fire())
    yield (*start, unadvise(1), unadvise(0), advise(), unadvise(0xFFFFFFFF), *fire())
    for before in ((), (advise(gives="$first"),)):
        wrong = (
            advise(sink="null"),
            advise(sink="other"),
            advise(iid=_OTHER_POINT),
            advise(sink="null", iid=_OTHER_POINT),
        )
        yield (*start, *before, *(act for one in wrong for act in (one, *fire())), advise(), *fire())
    yield (*start, advise(), unadvise(iid=_OTHER_POINT), *fire())


def arrivals() -> Iterator[Plan]:
    """Yield plans in which a message is there, or comes in time, or never."""
    quiet = (SENT, passes(5_000), SENT)
    for access, cursor, timeout in product(
        (PEEK, RECEIVE), (MISSING, long(FIRST)), (MISSING, NONE, SOON, long(INFINITE))
    ):
        start = (*scene(access), advise())
        yield (*start, SENT, notify("q", cursor, timeout), *quiet)
        yield (*start, notify("q", cursor, timeout), passes(999), *quiet, notify("q", cursor, timeout), *quiet)
        yield (*start, notify("q", cursor, timeout), passes(999), passes(1), *quiet)
    start = (*scene(), advise())
    yield (*start, SENT, notify(), notify(), RECEIVED, notify(), SENT, notify(timeout=NONE))
    yield (*start, notify(timeout=SOON), notify(timeout=long(3_000)), passes(1_000), SENT, passes(5_000))
    yield (*start, notify(timeout=SOON), notify(), passes(500), notify(timeout=SOON), passes(600), passes(5_000), SENT)
    yield (*start, notify(timeout=SOON), SENT, RECEIVED, notify(timeout=SOON), passes(999), SENT, passes(5_000))


def two_objects() -> Iterator[Plan]:
    """Yield plans with two event objects, two queue objects, and sinks that come and go while one waits."""
    start = (*scene(), create(EVENT, "f"), opened("i", PEEK, "p"), advise(), advise("f", "$other"))
    yield (*start, notify(), notify("p", event="f"), SENT, SENT)
    yield (*start, notify(), notify("p"), SENT, SENT, notify("p", timeout=SOON, event="f"))
    yield (
        *start,
        notify("q", timeout=SOON),
        notify("p", timeout=long(2_000), event="f"),
        passes(1_000),
        passes(1_000),
        SENT,
    )
    yield (*start, notify(), unadvise(), SENT, advise(), SENT, notify())
    yield (*start, notify(timeout=SOON), unadvise(), passes(1_000), advise(), notify(timeout=SOON), passes(1_000))
    yield (*start, notify(), advise(gives="$second"), SENT, unadvise(), notify(), unadvise("$second"), notify())
    yield (*scene(), notify(), SENT, advise(), SENT, notify())
    yield (*scene(), SENT, notify(), advise(), notify(), SENT)


def at_the_cursor() -> Iterator[Plan]:
    """Yield plans in which a registration looks at the queue object's own cursor."""
    first = on("q", "PeekCurrent", MISSING, MISSING, NONE)
    for access, timeout in product((PEEK, RECEIVE), (MISSING, NONE, SOON)):
        start = (*scene(access), advise())
        yield (*start, SENT, SENT, first, notify("q", long(CURRENT), timeout), SENT)
        yield (*start, SENT, SENT, first, notify("q", long(NEXT), timeout), SENT)
        yield (*start, SENT, first, notify("q", long(NEXT), timeout), passes(999), SENT, first, passes(1), SENT)
        yield (*start, SENT, first, notify("q", long(NEXT), timeout), passes(1_000), SENT)
        yield (*start, notify("q", long(CURRENT), timeout), passes(999), passes(1), SENT)
    start = (*scene(transactional=True), advise(), create("MSMQTransactionDispenser", "d"))
    sent = on("m", "Send", Variant("DISPATCH", "s"), long(3))
    held = on("r", "ReceiveCurrent", Variant("DISPATCH", "t"), MISSING, MISSING, NONE)
    begin = on("d", "BeginTransaction", gives="t")
    yield (*start, sent, begin, held, notify("q", MISSING, NONE), on("t", "Abort"), notify("q", MISSING, NONE))
    yield (*start, sent, begin, held, notify("q", MISSING, SOON), passes(500), on("t", "Abort"), passes(5_000))
    yield (*start, sent, begin, held, notify("q", MISSING, SOON), passes(500), on("t", "Commit"), passes(5_000))


def interrupted() -> Iterator[Plan]:
    """Yield plans in which what a registration waits for goes away: told or not, nothing hangs."""
    start = (*scene(), create(EVENT, "f"), opened("i", PEEK, "p"), advise(), advise("f", "$other"))
    waits = (notify(timeout=SOON), notify("p", event="f"))
    for act in (on("q", "Close"), on("e", "Release"), on("q", "Release"), on("i", "Release")):
        yield (*start, *waits, act, SENT, passes(5_000), SENT)
    yield (*start, *waits, on("q", "Purge"), SENT, passes(5_000))
    yield (*start, *waits, on("q", "Reset"), SENT, passes(5_000))


def refused() -> Iterator[Plan]:
    """Yield plans in which a registration breaks each precondition alone, and with those after it."""
    made = (*scene(), opened("i", SEND, "o"), opened("i", PEEK, "c"), on("c", "Close"), create("MSMQQueue", "b"))
    start = (*made, opened("i", SEND, "x"), on("x", "Close"), advise())
    bad = (long(3), long(-1), long(7))
    for reader, cursor, event in product(("b", "c", "o", "x"), (MISSING, *bad), ("e", None)):
        yield (*start, notify(reader, cursor, SOON, event), SENT, passes(1_000))
    yield (
        *start,
        *(notify("q", cursor, SOON) for cursor in bad),
        notify("q", MISSING, SOON, None),
        SENT,
        passes(5_000),
    )


def groups() -> Plans:
    """Return all plans by name."""
    return {
        "arrivals": tuple(arrivals()),
        "sinks": tuple(sinks()),
        "two-objects": tuple(two_objects()),
        "at-the-cursor": tuple(at_the_cursor()),
        "interrupted": tuple(interrupted()),
        "refused": tuple(refused()),
    }
