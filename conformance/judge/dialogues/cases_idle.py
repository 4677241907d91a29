"""Dialogues about sessions on which nothing goes on: timers that the owner of the implementation has declared short.

Features: {before, after} the session is open; who has connected; a message {never, before the timer expires}.
"""

from __future__ import annotations

from typing import Final

from conformance.judge.dialogues.packets import PA, PLAIN, Message
from conformance.judge.dialogues.steps import (
    Answered,
    Case,
    Closes,
    Connect,
    Establish,
    Stays,
    Step,
    Tell,
    Unanswered,
    handshake,
)

_CLEANUP, _INITIALIZATION = "session-cleanup", "session-initialization"
_IDLE, _ACTIVE, _TIMES_OUT = (
    "MQQB-3.1.6.2.idle-session",
    "MQQB-3.1.6.2.active-session",
    "MQQB-3.1.6.6.times-out",
)
_SLACK_MS: Final = 2_000
_BEYOND_MS: Final = 500
_MOST_MS: Final = 20_000


def _opening(name: str, *steps: Step, queues: tuple[str, ...] = ()) -> Case:
    return Case(name, (*handshake("control"), *steps), timers={_INITIALIZATION: _MOST_MS}, queues=queues)


IDLE: Final[tuple[Case, ...]] = (
    Case(
        "an-idle-session",
        (*handshake(), Closes(_IDLE, _SLACK_MS, timer=_CLEANUP)),
        timers={_CLEANUP: _MOST_MS},
    ),
    Case(
        "a-session-with-a-message",
        (
            *handshake(),
            Tell((Message("active"),)),
            Stays(_ACTIVE, _BEYOND_MS, timer=_CLEANUP),  # The timer expires once in this time.
            Closes(_IDLE, _SLACK_MS, timer=_CLEANUP),
        ),
        timers={_CLEANUP: _MOST_MS},
        queues=(PLAIN,),
    ),
)
UNANSWERED: Final[tuple[Case, ...]] = (
    _opening(
        "no-parameters",
        Connect(),
        Establish(),
        Answered("EstablishConnection"),
        Closes(_TIMES_OUT, _SLACK_MS, timer=_INITIALIZATION),
        *handshake("alive"),
    ),
    _opening(
        "no-answer-to-its-request",
        *handshake(),
        Tell((Message("asked", recoverable=True, asks=PA),)),
        Unanswered(_TIMES_OUT, _SLACK_MS, timer=_INITIALIZATION),
        queues=(PLAIN,),
    ),
)
