"""Stages of a message in a queue of this computer, and what can happen at each: every pair of both is a history.

MS-MQDMPR 3.1.1.2, 3.1.1.11 and 3.1.7.1.3 to 3.1.7.1.16, MS-MQMQ 2.3.1.4 and 2.3.12, MS-MQMR 3.1.4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.histories.examples_management import GET, acting
from conformance.model import Call
from conformance.model.journals import SYSTEM_QUEUES, journal_of
from conformance.model.management_rows import MACHINE


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
_KEPT: Final = {"journal": True, "dead_letter": True, "live_s": 5, "delivery": "recoverable"}

STAGES: Final[Mapping[str, tuple[Call, ...]]] = MappingProxyType(
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
        "kept": (_send("a", **_KEPT), _send("b", journal=True)),
        "kept and received": (_send("a", **_KEPT), _receive(), _send("b", dead_letter=True)),
        "expired": (_send("a", **_KEPT), Call("clock.advance", by_ms=7000)),
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
"""What has happened so far, by name."""

EVENTS: Final[Mapping[str, tuple[Call, ...]]] = MappingProxyType(
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
"""What happens then, by name."""
OPENING: Final = (
    Call("clock.now"),
    Call(GET, names=(f"{MACHINE}BYTES_IN_ALL_QUEUES",)),
    Call("queues.create", queue="q1"),
    Call("queues.create", queue="q3", transactional=False),
    *_OPEN,
    *(Call("queues.open", name=f"j{at}", queue=queue, access="receive") for at, queue in enumerate(SYSTEM_QUEUES)),
)
BEHIND: Final = (_send("z"), _receive())
