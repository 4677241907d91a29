"""Planned dialogues: a message meets an event in a session, by features of both, in all pairs and the core's triples.

What must come follows from the features alone: `_demands` has a line for each that the text makes a difference of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cache
from itertools import combinations, product
from typing import Final

from conformance.judge.dialogues.cases_fates import headers
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
from conformance.judge.dialogues.packets import ABSENT, NA, NR, PA, PLAIN, PR, TRANSACTIONAL, Message, Values
from conformance.judge.dialogues.steps import (
    WORDS,
    Acknowledged,
    Case,
    Close,
    Comes,
    Never,
    Quiet,
    Stays,
    Step,
    Tell,
    Wait,
    handshake,
)

_REQUESTED: Final = "MQQB-3.1.7.15.requested"
_COUNTS: Final = "MQQB-3.1.5.5.5.counts-closes"
_NEXT_SESSION_MS: Final = 15_000
_LOST: Final = "word of an express message is express, and may be lost with the session that ends"
_JOURNALED: Final[Values] = {"UserHeader.Flags.JN": 1, "UserHeader.Flags.JP": 1}


@dataclass(frozen=True, slots=True)
class Exchange:
    """A row of features.

    opens: who has opened the session. beside: another session of this end. window: that of this end, and whether
    word of an earlier message fills it. before: a message in flight as the other one comes. kind, queue, asks,
    priority, journal, header, answer: of the message; counts: whether it carries a SessionHeader. event: it comes
    alone, or a second time: on its session, or on another one after a close or a reset. settled: what came first is
    acknowledged before the event.
    """

    opens: str
    beside: str
    window: str
    before: str
    kind: str
    queue: str
    asks: str
    priority: str
    journal: str
    counts: str
    header: str
    answer: str
    event: str
    settled: str

    @property
    def name(self) -> str:
        """The kind, and what else is not the plainest: `meets-narrow-express-settled`."""
        pairs = zip(FEATURES.items(), astuple(self), strict=True)
        return "-".join(("meets", *(one for (name, some), one in pairs if name == "kind" or one != some[0])))


_KINDS: Final = ("express", "recoverable", "transactional")
_MORE: Final[Mapping[str, Values]] = {name: values for name, _, values in headers()}
FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "opens": ("from-here", "from-there"),
    "beside": ("single", "beside-another"),
    "window": ("wide", "narrow", "full"),
    "before": ("alone", *(f"behind-{kind}" for kind in _KINDS)),
    "kind": _KINDS,
    "queue": ("fitting", "absent", "unfitting"),
    "asks": ("nothing", "arrival", "failure", "both", "receipt"),
    "priority": ("level", "urgent"),
    "journal": ("unrecorded", "journaled"),
    "counts": ("bare", "counting"),
    "header": ("headless", *(f"with-{name}" for name in _MORE)),
    "answer": ("unanswered", "answerable"),
    "event": ("once", "again", "again-after-close", "again-after-reset"),
    "settled": ("under-way", "settled"),
}
"""The values of each feature, the plainest first."""
CORE: Final = ("opens", "window", "before", "kind", "queue", "asks", "event", "settled")
"""The features whose triples are complete."""
_REFUSED: Final = ("absent", "unfitting")
EXCLUDED: Final[tuple[tuple[str, Mapping[str, tuple[str, ...]]], ...]] = (
    ("nothing follows what is acknowledged", {"event": ("once",), "settled": ("settled",)}),
    (
        "a refused message of a sequence leaves open what an OrderAck counts",
        {"kind": ("transactional",), "before": ("behind-transactional",), "queue": _REFUSED},
    ),
    (
        "how many FinalAcks the copies of a refused transactional message get is not said",
        {"kind": ("transactional",), "queue": _REFUSED, "event": FEATURES["event"][1:]},
    ),
    ("a transactional message has no priority", {"kind": ("transactional",), "priority": ("urgent",)}),
    (
        "somebody may answer it in a sequence, which goes on in later dialogues: other cases have it",
        {"kind": ("transactional",), "queue": ("fitting",), "answer": ("answerable",)},
    ),
)
"""No dialogue has these rows, with one of the values of each feature that is named; and why."""
_REFUSALS: Final = {
    ("absent", kind): (BAD_QUEUE, ("MQQB-3.1.5.8.2.no-such-queue", f"{CLASS}nack-bad-dst-q")) for kind in _KINDS
} | {
    ("unfitting", "express"): (NOT_TRANSACTIONAL_MSG, ("MQQB-3.1.5.8.2.not-transactional-message",)),
    ("unfitting", "recoverable"): (NOT_TRANSACTIONAL_MSG, ("MQQB-3.1.5.8.2.not-transactional-message",)),
    ("unfitting", "transactional"): (NOT_TRANSACTIONAL_Q, ("MQQB-3.1.5.8.2.not-transactional-queue",)),
}
_ASKS: Final = {"nothing": 0, "arrival": PA, "failure": NA, "both": PA | NA, "receipt": PR | NR}
_NAMES: Final = tuple(FEATURES)
_TOGETHER: Final = (*combinations(_NAMES, 2), *combinations(CORE, 3))


def excluded(values: Mapping[str, str]) -> str | None:
    """Return why no dialogue has these values of features together; None if one may. The first reason that holds."""
    return next((why for why, those in EXCLUDED if all(values.get(name) in some for name, some in those.items())), None)


def completed(values: Mapping[str, str]) -> dict[str, str] | None:
    """Return the plainest row that has these values; None if none has."""
    if excluded(values) is not None:
        return None
    name = next((one for one in _NAMES if one not in values), None)
    if name is None:
        return dict(values)
    found = (completed({**values, name: value}) for value in FEATURES[name])
    return next((row for row in found if row is not None), None)


@cache
def together() -> tuple[dict[str, str], ...]:
    """Return all pairs of values, and all triples of the core's, that any row has."""
    some = (
        dict(zip(names, values, strict=True))
        for names in _TOGETHER
        for values in product(*(FEATURES[name] for name in names))
    )
    return tuple(one for one in some if completed(one) is not None)


@cache
def exchanges() -> tuple[Exchange, ...]:
    """Return rows that have together what any row has: each begins with what is left, and takes in most of the rest."""
    left = dict.fromkeys(tuple(one.items()) for one in together())
    chosen, uses = [], Counter[tuple[str, str]]()
    while left:
        pinned = dict(next(iter(left)))
        row = completed(pinned)
        assert row is not None
        for name in 2 * [one for one in _NAMES if one not in pinned]:
            rows = [{**row, name: value} for value in FEATURES[name]]
            allowed = [one for one in rows if excluded(one) is None]
            row = max(
                allowed, key=lambda one: (sum(some in left for some in _having(one, name)), -uses[name, one[name]])
            )
        chosen.append(Exchange(**row))
        uses.update(row.items())
        for some in _having(row):
            left.pop(some, None)
    return tuple(chosen)


def _having(row: Mapping[str, str], name: str | None = None) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield what a row has together. name: of one of the features in it."""
    for names in _TOGETHER if name is None else _WITH[name]:
        yield tuple((one, row[one]) for one in names)


_WITH: Final = {name: tuple(names for names in _TOGETHER if name in names) for name in _NAMES}


def _message(one: Exchange) -> Message:
    transactional = one.kind == "transactional"
    fitting, other = (TRANSACTIONAL, PLAIN) if transactional else (PLAIN, TRANSACTIONAL)
    queue = {"fitting": fitting, "absent": ABSENT, "unfitting": other}[one.queue]
    number = (2 if one.before == "behind-transactional" else 1) if transactional else None
    more = {**_MORE.get(one.header.removeprefix("with-"), {}), **(_JOURNALED if one.journal == "journaled" else {})}
    more |= {"BaseHeader.Flags.PR": 7} if one.priority == "urgent" else {}
    return Message(
        "it", queue, recoverable=one.kind == "recoverable", number=number, asks=_ASKS[one.asks],
        answer=one.answer == "answerable", more=more,
    )  # fmt: skip


def _before(one: Exchange, again: str | None = None) -> Message:
    kind = one.before.removeprefix("behind-")
    name = "before" if again is None else "before again"
    if kind == "transactional":
        return Message(name, TRANSACTIONAL, number=1, again=again)
    return Message(name, recoverable=kind == "recoverable", again=again)


def _window(one: Exchange) -> Values | None:
    return {"ConnectionParametersHeader.WindowSize": 1} if one.window == "narrow" else None


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
        yield Never("UserMessage", "it", (_REQUESTED,), REACHED, for_ms=100)


def _again(one: Exchange, link: str) -> Iterator[Step]:
    """Yield the event, and that it makes no difference (MS-MQQB 3.1.5.8.1, 3.1.5.8.6)."""
    message = _message(one)
    if one.event != "again":
        yield Close(link, one.event.removeprefix("again-after-"))
        link = "b"
        yield from handshake(link, parameters=_window(one))
        if (
            one.settled != "settled" and one.before == "behind-transactional"
        ):  # All of a sequence comes again (3.1.6.1).
            yield Tell((_before(one, again="before"),), link)
    copy = Message("copy", message.queue, message.recoverable, number=message.number, again="it")
    yield Tell((copy,), link, acknowledging=one.counts == "counting")
    yield Tell((Message("behind", recoverable=True, asks=PA),), link)
    yield reaches("behind")
    if message.asks:
        its_class = REACHED if one.queue == "fitting" else _REFUSALS[one.queue, one.kind][0]
        yield Never("UserMessage", "it", (DUPLICATE,), its_class, for_ms=100, most=1)


def _opening(one: Exchange, link: str) -> Iterator[Step]:
    """Yield what comes before the messages: sessions, and word of a message that fills the window."""
    if one.beside != "single":
        yield from handshake("beside", parameters=_window(one))
        yield Tell((Message("aside", recoverable=True),), "beside")
    yield from handshake(parameters=_window(one))
    if link == WORDS:
        yield Tell((Message("knock", recoverable=True, asks=PA),))
        yield reaches("knock")
    if one.window == "full":
        yield Quiet()
        yield Tell((*(Message(f"fill {at}", asks=PA) for at in range(40)), Message("kept", recoverable=True)), link)
        yield Acknowledged(IN_TIME, KEPT_MS, link=link)  # The implementation has a window, too.
        yield Tell(tuple(Message(f"fill {at}", asks=PA) for at in range(40, 70)), link)
        yield reaches("fill 0")


def _case(one: Exchange) -> Case:
    message, first = _message(one), _before(one)
    link = "a" if one.opens == "from-here" else WORDS
    told = [*(() if one.before == "alone" else (Tell((first,), link),))]
    told.append(Tell((message,), link, acknowledging=one.counts == "counting"))
    if one.window == "full":
        told += [Wait(100), Quiet(on=False)]
    demands = tuple(_demands(one))
    if one.event.startswith("again-after"):  # What went out on the session that ended comes on the next one (3.1.6.1).
        may = _LOST if one.kind == "express" else None
        late = tuple(
            replace(step, within_ms=_NEXT_SESSION_MS, may=may) if isinstance(step, Comes) else step for step in demands
        )
        demands = demands if one.settled == "settled" else late
    probe: tuple[Step, ...] = (
        Tell((Message("probe", recoverable=True),), link),
        Acknowledged(IN_TIME, KEPT_MS, link=link),
    )
    if one.counts == "counting":
        probe = (Stays(_COUNTS, link=link), *probe)
    steps: Iterable[Step]
    if one.event == "once":
        steps = (*demands, *probe)
    elif one.settled == "settled":
        steps = (*demands, *probe, *_again(one, link))
    else:
        steps = (*_again(one, link), *demands)
    ending: tuple[Step, ...] = ()
    if one.beside != "single" and (link != WORDS or not one.event.startswith("again-after")):
        # Words may come on that session, too, which gets the messages then, or ends.
        ending = (Acknowledged(IN_TIME, KEPT_MS, count=1, link="beside", least=True),)
    queues = tuple(dict.fromkeys(one.queue for one in (first, message, Message("")) if one.queue not in (None, ABSENT)))
    groups = {
        ADMIN: bool(message.asks & (PA | NA)),
        ORDERED: one.kind == "transactional" and one.queue == "fitting",
        FINAL: one.kind == "transactional" and one.queue != "fitting",
        ACKS: True,
        KEPT: one.settled == "settled" or one.event == "once",
        ("MQQB-3.1.7.1.window",): one.window == "full",
    }
    judged = (name for group, holds in groups.items() if holds for name in group)
    return Case(one.name, (*_opening(one, link), *told, *steps, *ending), tuple(judged), queues=queues)


@cache
def planned() -> tuple[Case, ...]:
    """Return the dialogues of all rows."""
    return tuple(map(_case, exchanges()))
