"""Dialogues about counts and marks that a message carries, and about timers of a session in a stream of messages.

Features: what waits {express, recoverable, both}; what carries the acknowledgment {a SessionAck, a message}; windows.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from conformance.judge.dialogues.groups import ACKS, ADMIN, IN_TIME, KEPT, KEPT_MS, kept, reaches, told
from conformance.judge.dialogues.packets import PA, PLAIN, Message
from conformance.judge.dialogues.steps import (
    Acknowledged,
    Case,
    Counted,
    Stays,
    Step,
    Tell,
    Wait,
    handshake,
)

_OPEN: Final = "MQQB-3.1.5.8.state-closes"
_TOLD, _HEARD = "a", "in-1"
_SHORT_MS: Final = 1_000
"""The longest Session Ack Send Timer that a stream of messages outlasts."""


def _stream(link: str, count: int, every_ms: int, *, asks: int = 0, recoverable: bool = False) -> tuple[Step, ...]:
    """Return steps that send a message again and again, while `link` is read."""
    each = (
        (Tell((Message(f"stream {at}", asks=asks, recoverable=recoverable),)), Stays(_OPEN, every_ms, link))
        for at in range(count)
    )
    return tuple(chain.from_iterable(each))


def _carried(name: str, waiting: tuple[Message, ...], later: tuple[Message, ...]) -> Case:
    """Messages wait on the session on which word of others is sent, so that one of these carries the acknowledgment."""
    return Case(
        f"carried-{name}",
        (
            *told(Message("opens", recoverable=True, asks=PA)),
            reaches("opens"),
            Tell(waiting, link=_HEARD),
            *_stream(_HEARD, 12, 50, asks=PA),
            reaches("stream 11"),
            Tell(later, link=_HEARD),
            Acknowledged(IN_TIME, KEPT_MS, link=_HEARD),
        ),
        (*ACKS, *KEPT, *ADMIN, "MQQB-3.1.7.11.header-included"),
        queues=(PLAIN,),
    )


def _windows(size: int) -> Case:
    return Case(
        f"window-of-{size}",
        (
            *handshake(parameters={"ConnectionParametersHeader.WindowSize": size}),
            Tell(kept(1, 2)),
            Acknowledged(IN_TIME, KEPT_MS),
        ),
        (*ACKS, *KEPT),
        queues=(PLAIN,),
    )


CARRIED: Final[tuple[Case, ...]] = (
    _carried("first", kept(1, 1), kept(2, 1)),
    _carried("several", kept(1, 3), kept(4, 2)),
    _carried("behind-express", (Message("express"), *kept(1, 2)), (Message("more"), *kept(3, 1))),
    *map(_windows, (65, 1_000, 0xFFFF)),
    Case(
        "recoverable-behind-express",
        (*told(Message("one"), Message("two")), Wait(100), Tell(kept(1, 2)), Acknowledged(IN_TIME, KEPT_MS)),
        (*ACKS, *KEPT),
        queues=(PLAIN,),
    ),
    *(
        Case(
            f"a-stream-of-{'recoverable' if recoverable else 'express'}-messages",
            (*handshake(), *_stream("a", 16, 150, recoverable=recoverable), Counted(IN_TIME, 1)),
            ACKS,
            {} if recoverable else {"session-ack-send": _SHORT_MS},
            queues=(PLAIN,),
        )
        for recoverable in (False, True)
    ),
    Case(
        "quiet-when-all-is-acknowledged",
        (
            *told(Message("asked", recoverable=True, asks=PA)),
            reaches("asked"),
            Wait(100),
            Stays("MQQB-3.1.6.3.closes", 0, _HEARD, timer="session-ack-wait"),
            Stays("MQQB-3.1.6.3.closes", 800, _HEARD, timer="session-ack-wait"),
        ),
        ADMIN,
        {"session-ack-wait": 10_000},
        queues=(PLAIN,),
        shorter=("session-ack-wait", "session-cleanup"),
    ),
)
