"""Planned dialogues: a message meets an event in a session, by features of both, in all pairs and the core's triples.

What must come follows from the features alone: `_demands` has a line for each that the text makes a difference of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields, replace
from functools import cache
from itertools import combinations, product
from typing import Final

from conformance.judge.dialogues.groups import (
    ACKS,
    ADMIN,
    BAD_QUEUE,
    CLASS,
    DUPLICATE,
    FINAL,
    IN_TIME,
    KEPT,
    KEPT_MS,
    NOT_TRANSACTIONAL_MSG,
    NOT_TRANSACTIONAL_Q,
    ORDERED,
    REACHED,
    order,
    reaches,
)
from conformance.judge.dialogues.packets import ABSENT, NA, PA, PLAIN, TRANSACTIONAL, Message, Values
from conformance.judge.dialogues.steps import Acknowledged, Case, Close, Comes, Never, Step, Tell, handshake

_REQUESTED: Final = "MQQB-3.1.7.15.requested"
_NEXT_SESSION_MS: Final = 15_000
_WINDOW: Final[Values] = {"ConnectionParametersHeader.WindowSize": 1}


@dataclass(frozen=True, slots=True)
class Exchange:
    """A row of features.

    beside: another session of this end. window: that of this end. before: a message in flight as the other one comes.
    kind, queue, asks: of the message. event: it comes alone, or a second time: on its session, or on another one after
    a close or a reset. settled: what came first is acknowledged before the event.
    """

    beside: str
    window: str
    before: str
    kind: str
    queue: str
    asks: str
    event: str
    settled: str

    @property
    def name(self) -> str:
        """The features in words."""
        return "-".join(astuple(self)[: -1 if self.event == "once" else None])


_KINDS: Final = ("express", "recoverable", "transactional")
FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "beside": ("single", "beside-another"),
    "window": ("wide", "narrow"),
    "before": ("alone", *(f"behind-{kind}" for kind in _KINDS)),
    "kind": _KINDS,
    "queue": ("fitting", "absent", "unfitting"),
    "asks": ("nothing", "arrival", "failure", "both"),
    "event": ("once", "again", "again-after-close", "again-after-reset"),
    "settled": ("under-way", "settled"),
}
"""The values of each feature."""
CORE: Final = ("kind", "queue", "asks", "event")
"""The features whose triples are complete."""
_AT: Final = {field.name: at for at, field in enumerate(fields(Exchange))}
_REFUSALS: Final = {
    ("absent", kind): (BAD_QUEUE, ("MQQB-3.1.5.8.2.no-such-queue", f"{CLASS}nack-bad-dst-q")) for kind in _KINDS
} | {
    ("unfitting", "express"): (NOT_TRANSACTIONAL_MSG, ("MQQB-3.1.5.8.2.not-transactional-message",)),
    ("unfitting", "recoverable"): (NOT_TRANSACTIONAL_MSG, ("MQQB-3.1.5.8.2.not-transactional-message",)),
    ("unfitting", "transactional"): (NOT_TRANSACTIONAL_Q, ("MQQB-3.1.5.8.2.not-transactional-queue",)),
}
_ASKS: Final = {"nothing": 0, "arrival": PA, "failure": NA, "both": PA | NA}


def excluded(one: Exchange) -> str | None:
    """Return why no dialogue has a row; None if one has it. The first reason that holds."""
    if one.event == "once" and one.settled == "settled":
        return "nothing follows what is acknowledged"
    if one.kind == one.before.removeprefix("behind-") == "transactional" and one.queue != "fitting":
        return "a refused message of a sequence leaves open what an OrderAck counts"
    if one.kind == "transactional" and one.queue != "fitting" and one.event != "once":
        return "how many FinalAcks the copies of a refused transactional message get is not said"
    return None


@cache
def exchanges() -> tuple[Exchange, ...]:
    """Return rows that have together all pairs of values, and all triples of the core's, that any row has."""
    rows = [one for values in product(*FEATURES.values()) if excluded(one := Exchange(*values)) is None]
    numbers: dict[tuple[tuple[str, str], ...], int] = {}
    masks = [sum(1 << numbers.setdefault(some, len(numbers)) for some in _combined(one)) for one in rows]
    left, chosen, uses = (1 << len(numbers)) - 1, [], Counter[str]()
    while left:
        most = max((mask & left).bit_count() for mask in masks)
        ties = [at for at, mask in enumerate(masks) if (mask & left).bit_count() == most]
        best = min(ties, key=lambda at: sum(uses[value] for value in astuple(rows[at])))
        chosen.append(rows[best])
        uses.update(astuple(rows[best]))
        left &= ~masks[best]
    return tuple(chosen)


def _combined(one: Exchange) -> Iterator[tuple[tuple[str, str], ...]]:
    values = list(zip(_AT, astuple(one), strict=True))
    yield from combinations(values, 2)
    yield from combinations([values[_AT[name]] for name in CORE], 3)


def _message(one: Exchange) -> Message:
    transactional = one.kind == "transactional"
    fitting, other = (TRANSACTIONAL, PLAIN) if transactional else (PLAIN, TRANSACTIONAL)
    queue = {"fitting": fitting, "absent": ABSENT, "unfitting": other}[one.queue]
    number = (2 if one.before == "behind-transactional" else 1) if transactional else None
    return Message("it", queue, recoverable=one.kind == "recoverable", number=number, asks=_ASKS[one.asks])


def _demands(one: Exchange) -> Iterator[Step]:
    """Yield what must come of a message, and what must not."""
    asks = _ASKS[one.asks]
    if one.queue != "fitting":
        message_class, requirements = _REFUSALS[one.queue, one.kind]
        if one.kind == "transactional":
            yield Comes("FinalAck", "it", requirements, message_class)
        if asks & NA:
            asked = (*requirements, "MQMQ-2.2.19.3.flags-na")
            yield Comes("UserMessage", "it", asked, message_class, insecure=one.queue == "absent")
        yield Never("UserMessage", "it", (f"{CLASS}ack-reach-queue",), REACHED, for_ms=100)
        return
    if asks & PA:
        yield reaches("it")
    if one.kind == "transactional":
        yield order("it")
    if not asks & PA:
        yield Never("UserMessage", "it", (_REQUESTED,), for_ms=100)


def _again(one: Exchange) -> Iterator[Step]:
    """Yield the event, and that it makes no difference (MS-MQQB 3.1.5.8.1, 3.1.5.8.6)."""
    message, link = _message(one), "a"
    if one.event != "again":
        link = "b"
        yield Close(how=one.event.removeprefix("again-after-"))
        yield from handshake(link)
    yield Tell((Message("copy", message.queue, message.recoverable, number=message.number, again="it"),), link)
    yield Tell((Message("behind", recoverable=True, asks=PA),), link)
    yield reaches("behind")
    if message.asks:
        its_class = REACHED if one.queue == "fitting" else _REFUSALS[one.queue, one.kind][0]
        yield Never("UserMessage", "it", (DUPLICATE,), its_class, for_ms=100, most=1)


def _case(one: Exchange) -> Case:
    message, before = _message(one), one.before.removeprefix("behind-")
    first = (
        Message("before", TRANSACTIONAL, number=1)
        if before == "transactional"
        else Message("before", recoverable=before == "recoverable")
    )
    told = (message,) if one.before == "alone" else (first, message)
    demands = tuple(_demands(one))
    if one.event.startswith("again-after"):  # What went out on the session that ended comes on the next one (3.1.6.1).
        late = tuple(replace(step, within_ms=_NEXT_SESSION_MS) if isinstance(step, Comes) else step for step in demands)
        demands = demands if one.settled == "settled" else late
    probe = (Tell((Message("probe", recoverable=True),)), Acknowledged(IN_TIME, KEPT_MS, count=len(told) + 1))
    opening = handshake(parameters=_WINDOW if one.window == "narrow" else None)
    ending: tuple[Step, ...] = ()
    if one.beside != "single":
        opening = (*handshake("beside"), Tell((Message("aside", recoverable=True),), "beside"), *opening)
        ending = (Acknowledged(IN_TIME, KEPT_MS, link="beside"),)
    if one.event == "once":
        steps: Iterable[Step] = (*demands, *probe)
    elif one.settled == "settled":
        steps = (*demands, *probe, *_again(one))
    else:
        steps = (*_again(one), *demands)
    queues = tuple(dict.fromkeys(one.queue for one in (*told, Message("")) if one.queue not in (None, ABSENT)))
    groups = {
        ADMIN: bool(message.asks),
        ORDERED: one.kind == "transactional" and one.queue == "fitting",
        FINAL: one.kind == "transactional" and one.queue != "fitting",
        ACKS: True,
        KEPT: one.settled == "settled" or one.event == "once",
    }
    judged = (name for group, holds in groups.items() if holds for name in group)
    return Case(one.name, (*opening, Tell(told), *steps, *ending), tuple(judged), queues=queues)


@cache
def planned() -> tuple[Case, ...]:
    """Return the dialogues of all rows."""
    return tuple(map(_case, exchanges()))
