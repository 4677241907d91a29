"""Steps of a dialogue as values: what this end does, and what the implementation has to do within which time.

A case is a tuple of steps. `conformance.suites.sessions.playing` plays it; nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from conformance.judge.dialogues.machine import Says
from conformance.judge.dialogues.packets import Message, Values
from conformance.spec.catalogue import requirement_id

AT_ONCE_MS: Final = 2_000
"""How long an answer that nothing puts off may take on its way."""
LOCAL_MS: Final = 60_000
"""The longest timer that a test waits for."""
TURN: Final = requirement_id("MQQB-2.1.1.initialization")
WORDS: Final = "words"
"""In place of a link: the session on which the newest message of the implementation has come, whoever opened it."""


@dataclass(frozen=True, slots=True)
class Connect:
    """Connect; nothing is sent."""

    link: str = "a"


@dataclass(frozen=True, slots=True)
class Establish:
    """Send an EstablishConnection request. server: `null`, `own` or `stranger`. pieces: lengths of the writes."""

    link: str = "a"
    server: str = "null"
    values: Values = field(default_factory=dict)
    pieces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameters:
    """Send a ConnectionParameters request."""

    link: str = "a"
    values: Values = field(default_factory=dict)
    pieces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """A packet of this kind must come on the link. values: what its fields must be, each with its requirement.

    requirement: broken if it does not come.
    """

    kind: str
    requirement: str = TURN
    values: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    within_ms: int = AT_ONCE_MS
    link: str = "a"


@dataclass(frozen=True, slots=True)
class Say:
    """Send a packet of a kind of the state machine. values: of an OrderAck or FinalAck, by key."""

    says: Says
    link: str = "a"
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tell:
    """Send messages. acknowledging: each has a SessionHeader; miscounted: which counts one message too many."""

    messages: tuple[Message, ...]
    link: str = "a"
    acknowledging: bool = False
    miscounted: bool = False
    pieces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A session acknowledgment must count this many messages, by default all that were sent on the link.

    requirement: broken if none comes in time. read: a reading, the alternative by which the count holds, and the one by
    which all that was sent is counted. least: more may be counted.
    """

    requirement: str
    within_ms: int
    count: int | None = None
    link: str = "a"
    read: tuple[str, str, str] | None = None
    least: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """The recoverable messages sent on the link must all have been acknowledged by number, once.

    within_ms: how much longer that may take. unless: a reading and its alternative by which this is not demanded.
    """

    requirement: str
    link: str = "a"
    within_ms: int = 0
    unless: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Agree:
    """Send a SessionAck with the counts of this end as they are, whether anything is owed or not.

    less: so many messages that came last are not counted.
    """

    link: str = "a"
    less: int = 0


@dataclass(frozen=True, slots=True)
class Comes:
    """A message of this class must come from the implementation, about a message of the dialogue, on any session.

    of: `OrderAck`, `FinalAck` or `UserMessage`. about: the name of the message: by correlation, by MessageID of a
    FinalAck, by sequence and number of an OrderAck (a number at least as high). requirements: broken if it does not
    come. insecure: it may be switched off (MS-MQQB 3.1.1.3, SendInsecureNacks). may: a reason why it may not come at
    all. unless: what the owner can declare to take that reason away. read: a reading and the alternative of it by which
    it does not come. times: so many must have come since the
    dialogue began. exact: no rule on its fields tells more than `values`.
    """

    of: str
    about: str
    requirements: tuple[str, ...]
    message_class: int | None = None
    within_ms: int = AT_ONCE_MS
    insecure: bool = False
    may: str | None = None
    unless: str = ""
    read: tuple[str, str] | None = None
    values: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    times: int = 1
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Never:
    """No such message may come in this time. most: so many may."""

    of: str
    about: str
    requirements: tuple[str, ...]
    message_class: int | None = None
    for_ms: int = 1_500
    most: int = 0


@dataclass(frozen=True, slots=True)
class Closes:
    """The implementation must end the connection. timer: added to the time, `periods` times."""

    requirement: str
    within_ms: int = AT_ONCE_MS
    link: str = "a"
    timer: str | None = None
    periods: int = 1


@dataclass(frozen=True, slots=True)
class Stays:
    """The connection must not end in this time. timer: added to `for_ms`, by its name."""

    requirement: str
    for_ms: int = 150
    link: str = "a"
    timer: str | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """A message for another queue manager must be passed on, `times` times since the dialogue began; at 0 it must not.

    requirement: broken if it comes although it must not, or more than `most` times so far. values: what its fields must
    be, each with its requirement. may: why it may not come; the requirements of `values`, and `requirement`,
    are skipped then.
    """

    about: str
    requirement: str
    times: int = 1
    most: int | None = None
    values: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    may: str = "no way to another queue manager is known here"
    within_ms: int = AT_ONCE_MS


@dataclass(frozen=True, slots=True)
class Counted:
    """A session acknowledgment must have counted so many messages at least by now."""

    requirement: str
    least: int
    link: str = "a"


@dataclass(frozen=True, slots=True)
class Replies:
    """So many transactional answers must have been sent by the implementation, on any session."""

    requirement: str
    count: int
    within_ms: int = AT_ONCE_MS


@dataclass(frozen=True, slots=True)
class Order:
    """Send an OrderAck for the answer of this place (1 is the first), and so for all before it in its sequence.

    apart: added to the ordinal of the sequence, so that it is for another one.
    """

    place: int
    link: str = "a"
    apart: int = 0


@dataclass(frozen=True, slots=True)
class Resent:
    """The answers of these places, and none of the others, must be sent again while the timer of resending runs once.

    Counts what is sent again from this step on. requirements: broken if one of them is not. never: broken if one that
    has its OrderAck is.
    """

    places: tuple[int, ...]
    requirements: tuple[str, ...]
    timer: str = "transactional-ack-wait"
    never: str | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass. timer, percent: and this share of a declared timer. deaf: no connection is taken meanwhile."""

    ms: int
    timer: str | None = None
    percent: int = 100
    deaf: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """End a connection; `*` is each that the implementation has made, or has sent messages on."""

    link: str = "a"
    how: str = "close"


@dataclass(frozen=True, slots=True)
class Quiet:
    """From here on, this end acknowledges nothing, or does again."""

    on: bool = True


@dataclass(frozen=True, slots=True)
class Reconnects:
    """The implementation must connect; `says` and what must follow instead of a handshake, if given.

    answer: further values of the packet that it gets in the situation. ignored: broken, instead of the requirement of
    the situation, if they make a difference.
    """

    requirement: str
    timer: str | None = None
    situation: str | None = None
    answer: Values = field(default_factory=dict)
    ignored: str | None = None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The implementation must connect, gets no answer, and must end the connection in this time. timer: added to it."""

    requirement: str
    within_ms: int
    timer: str


@dataclass(frozen=True, slots=True)
class Ping:
    """Send a ping. answered: requirement that is broken by no answer (False) or by any (True).

    values: of the request. wanted: what the fields of the answer must be, each with its requirement.
    """

    values: Values = field(default_factory=dict)
    wanted: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    ignored: str | None = None
    control: bool = False


Step = (
    Connect | Establish | Parameters | Answered | Say | Tell | Acknowledged | Stored | Comes | Never | Closes | Stays
    | Wait | Close | Quiet | Reconnects | Ping | Passed | Counted | Replies | Order | Resent | Unanswered | Agree
)  # fmt: skip


_SENTENCES: Final[Mapping[type, str]] = {
    Connect: "connect: session {link}",
    Establish: "{link}: ask for a session, ServerGuid {server}",
    Parameters: "{link}: propose parameters",
    Answered: "{link}: {kind} must come within {within_ms} ms",
    Say: "{link}: send {says.value}",
    Tell: "{link}: send {names}",
    Acknowledged: "{link}: all messages must be acknowledged within {within_ms} ms",
    Stored: "{link}: each recoverable message must be acknowledged by its number",
    Agree: "{link}: send a SessionAck with the counts of this end",
    Comes: "{of}{class_text} about {about!r} must come within {within_ms} ms",
    Never: "no {of}{class_text} about {about!r} may come in {for_ms} ms, beyond {most}",
    Closes: "{link}: the implementation must close the connection within {within_ms} ms{timer_text}",
    Stays: "{link}: the connection must stay open for {for_ms} ms{timer_text}",
    Passed: "{about!r} must be passed on {times} times within {within_ms} ms",
    Counted: "{link}: at least {least} messages must be acknowledged by now",
    Replies: "{count} transactional answers must have come within {within_ms} ms",
    Order: "{link}: send an OrderAck for answer {place}",
    Resent: "the answers {places} must come again{timer_text}",
    Wait: "wait {ms} ms{timer_text}",
    Close: "{link}: {how} the connection",
    Quiet: "acknowledge nothing from here on: {on}",
    Reconnects: "the implementation must connect{timer_text}, and meets {situation}",
    Unanswered: "the implementation must connect, and close it unanswered within {within_ms} ms{timer_text}",
    Ping: "send a ping",
}
"""Each kind of step in words: what it does or demands."""


def step_sentence(step: Step) -> str:
    """Say what a step does or demands."""
    values = {name: getattr(step, name) for name in step.__dataclass_fields__}
    of_class = values.get("message_class")
    values["names"] = ", ".join(repr(one.name) for one in values.get("messages", ()))
    values["class_text"] = "" if of_class is None else f" of the class {of_class:#06x}"
    values["timer_text"] = f" (and the timer {values['timer']})" if values.get("timer") else ""
    return _SENTENCES[type(step)].format(**values)


@dataclass(frozen=True, slots=True)
class Case:
    """A dialogue. judged: requirements that the rules of captures judge in it, beside the demands of its steps.

    timers: those it waits for, with what their durations may be at most, in milliseconds. queues, consumed: what the
    implementation's owner must have made and declared. packets: what must be allowed to be sent: `correct` what a queue
    manager sends, `odd` also whole packets that it does not send so (reserved bits, out of turn, numbers left out, late
    ones), `malformed` also others. replies: queues whose messages somebody must answer. shorter: a timer that must be
    shorter than another one, if both are declared. unread: queues from which nobody may receive.
    """

    name: str
    steps: tuple[Step, ...]
    judged: tuple[str, ...] = ()
    timers: Mapping[str, int] = field(default_factory=dict)
    queues: tuple[str, ...] = ()
    consumed: tuple[str, ...] = ()
    packets: str = "correct"
    replies: tuple[str, ...] = ()
    shorter: tuple[str, str] | None = None
    unread: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[str, ...]:
        """The requirements that the case judges."""
        return tuple(dict.fromkeys((*demanded(self.steps), *self.judged)))


_TIMER_MS: Final = 20_000
"""A guess at a timer, to tell which dialogues take longest."""


def lasts_ms(steps: Iterable[Step]) -> int:
    """Return about how long steps take, from what they wait for."""
    words = ("ms", "for_ms", "within_ms")
    waits = sum(getattr(step, name, 0) for step in steps for name in words)
    return waits + sum(_TIMER_MS for step in steps if getattr(step, "timer", None))


def demanded(steps: Iterable[Step]) -> Iterator[str]:
    """Yield the requirements of the demands in these steps."""
    for step in steps:
        for name in ("requirement", "ignored", "never"):
            value = getattr(step, name, None)
            if isinstance(value, str):
                yield value
        yield from getattr(step, "requirements", ())
        for name in ("values", "wanted"):
            for each in (getattr(step, name, None) or {}).values():
                if isinstance(each, tuple):
                    yield each[1]


_ACCEPTED: Final = {"InternalHeader.Flags.CS": (0, "MQQB-3.1.5.3.1.cs")}


def handshake(
    link: str = "a", *, server: str = "null", request: Values | None = None, parameters: Values | None = None,
    pieces: tuple[int, ...] = (), requirement: str = TURN,
) -> tuple[Step, ...]:  # fmt: skip
    """Return the steps that open a session. requirement: broken if one of the answers does not come."""
    return (
        Connect(link),
        Establish(link, server, request or {}, pieces),
        Answered("EstablishConnection", requirement, _ACCEPTED if server == "own" else {}, link=link),
        Parameters(link, parameters or {}, pieces),
        Answered("ConnectionParameters", requirement, link=link),
    )
