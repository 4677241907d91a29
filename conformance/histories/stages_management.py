"""Stages of the way of a message to another computer, and what can happen at each: every pair of both is a history.

MS-MQDMPR 3.1.1.3, 3.1.1.4, 3.1.1.12, 3.1.4.12 to 3.1.4.15, MS-MQQB 3.1.5.5 to 3.1.5.9. After each pair the connection
goes on, so that it shows what is transferred and what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.histories.examples_management import (
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
from conformance.model import Call
from conformance.model.journals import SYSTEM_QUEUES
from conformance.model.management_rows import MACHINE, QUEUE

_RECEIVED, _REJECTED = 0x4000, 0x8004  # MS-MQMQ 2.2.18.1.6
_TWO: Final = within("t1", "a", "b")
_KEPT: Final = within("t1", "a", journal=True, dead_letter=True)
_PLAIN: Final = (Call("messages.send", message="a", handle="s1"),)
_PLAIN_KEPT: Final = (Call("messages.send", message="a", handle="s1", journal=True, dead_letter=True),)
_FOUR: Final = within("t1", "a", "b", "c", "d", journal=True, dead_letter=True)
_PLAIN_BEHIND: Final = (Call("messages.send", message="c", handle="s1", delivery="recoverable"),)
_CLOSE: Final = Call("queues.close", handle="s1")
_LIMITED: Final = {"dead_letter": True, "journal": True}

STAGES: Final[Mapping[str, tuple[Call, ...]]] = MappingProxyType(
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
        "all in order": (*_KEPT, *connected(), transfer(), stored(1), in_order(1)),
        "received": (*_KEPT, *connected(), transfer(), stored(1), in_order(1), final("a", _RECEIVED)),
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
        "second sequence": (*_KEPT, *connected(), transfer(), stored(1), in_order(1), *within("t2", "b"), transfer()),
        "three of four": (*_FOUR, *connected(), transfer(), stored(4), in_order(3)),
        "two of four": (*within("t1", "a", "b", "c", "d"), *connected(), transfer(), stored(2), in_order(2)),
        "more behind four": (*_FOUR, *connected(), transfer(), stored(4), in_order(3), *within("t2", "e"), transfer()),
        "plain behind a sequence": (
            *(*_KEPT, *connected(), transfer(), stored(1), in_order(1)),
            *(*_PLAIN_BEHIND, transfer()),
        ),
        "one of four": (*_FOUR, *connected(), transfer(), stored(3), in_order(1)),
        "on hold": (*_TWO, *_PLAIN_BEHIND, *connected(), acting("PAUSE", REMOTE)),
        "closing": (*_TWO, *connected(), transfer(), step("closing")),
        "unresolved": (*_PLAIN, step("dns_failure", error=0x80072AF9)),
    }
)
"""What has happened so far, by name."""

EVENTS: Final[Mapping[str, tuple[Call, ...]]] = MappingProxyType(
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
"""What happens then, by name."""


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
OPENING: Final = (
    Call("clock.now"),
    Call(GET, names=(f"{MACHINE}BYTES_IN_ALL_QUEUES",)),
    Call("queues.open", name="s1", queue=REMOTE, access="send"),
    Call(GET, queue=REMOTE, names=(f"{QUEUE}EOD_RESEND_INTERVAL",)),
    *(Call("queues.open", name=f"j{at}", queue=queue, access="receive") for at, queue in enumerate(SYSTEM_QUEUES)),
)
