"""Tokens: answers without what differs from history to history. The same words for implementation and specification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.model import Answer
from conformance.model.expected import Blocks, Either, Expected, Fails, Result, Succeeds
from conformance.model.journals import plain_name
from conformance.spec.constants.codes import status_text

OK: Final = "ok"
FAILS: Final = "fails"
"""A failure of which nobody can tell or demand the code."""
OPEN: Final = "left open"
"""The specification allows success and failure."""
UNDESCRIBED: Final = "not described"
"""No section describes the call: whatever comes is right, and so is whatever follows."""
_OR: Final = " or "


@dataclass(frozen=True, slots=True)
class Made:
    """The answer to one call. message: the name of the message that came."""

    token: str
    failed: bool = False
    message: str | None = None


def of_answer(answer: Answer) -> Made:
    """Return what an implementation has answered."""
    if answer.failed:
        return Made(FAILS if answer.status is None else f"{FAILS}: {_name(answer.status)}", True)
    name = None if answer.message is None else answer.message.name
    token = OK if name is None else name
    return Made(f"{token} ({_name(answer.status)})" if answer.status else token, False, name)


def of_result(result: Result, chosen: str | None) -> Made:
    """Return what the specification demands. chosen: the alternative of the reading that decides a failure's code."""
    if isinstance(result, Fails):
        if result.reading is not None:
            code = dict(result.by_reading)[chosen if chosen is not None else result.by_reading[0][0]]
            codes: tuple[int, ...] = () if code is None else (code,)
        else:
            codes = result.codes
        return Made(f"{FAILS}: {_OR.join(map(_name, codes))}" if codes else FAILS, True)
    if isinstance(result, Succeeds):
        name = None if result.message is None else plain_name(result.message)
        return Made(OK if name is None else name, False, name)
    return Made(OPEN if isinstance(result, Either) else "waits")


def agree(demanded: str, came: str) -> bool:
    """Tell whether an answer is one that the specification's answer includes."""
    if demanded == came or demanded in (OPEN, UNDESCRIBED):
        return True
    if not demanded.startswith(FAILS) or not came.startswith(FAILS):
        return False
    if FAILS in (demanded, came):
        return True
    return came.removeprefix(f"{FAILS}: ") in demanded.removeprefix(f"{FAILS}: ").split(_OR)


def waits(outcome: Expected) -> bool:
    """Tell whether a call waits."""
    return isinstance(outcome.result, Blocks)


def _name(status: int) -> str:
    return status_text(status).partition(" (")[0]
