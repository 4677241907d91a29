"""Makes a failing history short: calls are left out, and what remains made plain, as long as the same demand is broken.

Done on the calls and not on hypothesis's choices: leaving out one call never changes what another one means.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.model import BadCall, Call, Model
from conformance.suites.guard import DriverGone
from conformance.suites.judging import ConformanceFailure, Judge
from conformance.suites.stateful.history import History

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import RunOptions

MAX_RUNS = 400  # histories run again; a walk's failure rarely needs a hundred
MAX_SECONDS = 20.0  # a slow implementation keeps a longer story rather than its user waiting


def run(client: Client, judge: Judge, calls: Sequence[Call]) -> tuple[tuple[Call, ...], ConformanceFailure | None]:
    """Run calls, leaving out those that make no sense any more: the ones made, and the failure they ended with."""
    history = History(client, judge, Model(judge.readings))
    made: list[Call] = []
    for call in calls:
        try:
            history.do(call)
        except BadCall:
            continue
        except ConformanceFailure as failure:
            return (*made, call), failure
        made.append(call)
    return tuple(made), None


def shortened(
    client: Client,
    options: RunOptions,
    failure: ConformanceFailure,
    calls: Sequence[Call],
    *,
    disabled: frozenset[str] = frozenset(),
    seconds: float = MAX_SECONDS,
) -> tuple[Call, ...]:
    """The fewest and plainest calls found that break the same requirement; `calls` itself when none do.

    disabled: requirements whose check is switched off. seconds: to be spent at most.
    """
    until = time.monotonic() + seconds
    best = tuple(calls)
    runs = 0
    try:
        progress = True
        while progress:
            progress = False
            for candidate, plain in _candidates(best):
                if runs >= MAX_RUNS or time.monotonic() > until:
                    return best
                runs += 1
                made, broken = run(client, Judge(options, lambda verdict, count: None, disabled=disabled), candidate)
                same = broken is not None and (plain or broken.verdict.requirement == failure.verdict.requirement)
                if same and _cost(made) < _cost(best):
                    assert broken is not None
                    best, failure, progress = made, broken, True
                    break
    except DriverGone:
        return best
    return best


def _cost(calls: Sequence[Call]) -> tuple[int, int, str]:
    """Fewer calls first, then fewer and smaller members, then earlier names."""
    texts = [repr(sorted(call.to_json().items())) for call in calls]
    return len(calls), sum(map(len, texts)), "".join(texts)


def _candidates(calls: tuple[Call, ...]) -> Iterator[tuple[tuple[Call, ...], bool]]:
    """Shorter or plainer histories, and whether one may break another requirement: a message sent without a priority
    tells more about what is wrong than one sent with it, if the history fails either way."""
    size = len(calls) // 2
    while size >= 1:  # the end of a history matters most: leave out from the front
        for start in range(0, len(calls) - size, max(1, size)):
            yield calls[:start] + calls[start + size :], False
        size //= 2
    yield renamed(calls), False
    for at, call in enumerate(calls):
        for plainer in _plainer(call):
            yield (*calls[:at], plainer, *calls[at + 1 :]), call.priority != plainer.priority


def _plainer(call: Call) -> Iterator[Call]:
    if call.priority is not None:
        yield replace(call, priority=None)
    if call.delivery is not None:
        yield replace(call, delivery=None)
    if call.timeout_ms:
        yield replace(call, timeout_ms=0, name=None)
    if call.method in ("messages.receive", "messages.peek") and call.cursor is not None:
        yield replace(call, cursor=None)
    if call.method == "messages.receive" and call.transaction is not None:
        yield replace(call, transaction=None)
    if call.share is not None:
        yield replace(call, share=None)


def renamed(calls: Sequence[Call]) -> tuple[Call, ...]:
    """The same calls, with names counted from the first again."""
    new: dict[str, str] = {}
    counts: dict[str, int] = {}
    for call in calls:
        if call.method == "messages.send" and call.message is not None and call.message not in new:
            number = counts["message"] = counts.get("message", 0) + 1
            new[call.message] = chr(ord("a") + (number - 1) % 26) + (str(number // 26) if number > 26 else "")
        elif call.name is not None and call.name not in new:
            prefix = call.name.rstrip("0123456789")
            counts[prefix] = counts.get(prefix, 0) + 1
            new[call.name] = f"{prefix}{counts[prefix]}"

    def other(name: str | None) -> str | None:
        return new.get(name, name) if name is not None else None

    return tuple(
        replace(
            call,
            name=other(call.name),
            handle=other(call.handle),
            cursor=other(call.cursor),
            transaction=other(call.transaction),
            message=other(call.message),
            request=other(call.request),
        )
        for call in calls
    )
