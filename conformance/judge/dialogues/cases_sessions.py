"""Dialogues about the beginning, the states and the end of a session, about pings and about messages for others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from conformance.judge.dialogues.conversation import ruled
from conformance.judge.dialogues.groups import ADMIN, opening_with, reaches
from conformance.judge.dialogues.machine import Says, Situation, State, Then, of_acceptor, of_initiator
from conformance.judge.dialogues.packets import PA, PLAIN, STRANGER, Message, Values, parameters
from conformance.judge.dialogues.steps import (
    Answered,
    Case,
    Close,
    Closes,
    Comes,
    Connect,
    Establish,
    Never,
    Parameters,
    Passed,
    Ping,
    Quiet,
    Reconnects,
    Say,
    Stays,
    Step,
    Tell,
    Unanswered,
    Wait,
    handshake,
)
from conformance.judge.dialogues.steps import Say as SayPacket

_E, _P, _I = "EstablishConnectionHeader.", "ConnectionParametersHeader.", "InternalHeader."
_OF_BOTH: Final = ("internal-flag", "packet-type", "size")
OPENING: Final = (
    *(f"MQQB-{section}.{word}" for section in ("2.2.2", "2.2.3") for word in _OF_BOTH),
    *(f"MQQB-2.2.1.{word}" for word in ("present", "reserved", "unused-bits")),
    *(f"MQQB-2.2.2.1.{word}" for word in ("ack-timeout", "recoverable-ack-timeout", "reserved")),
    *(f"MQQB-2.2.3.1.{word}" for word in ("re", "reserved", "unused-bits", "padding")),
    *(f"MQQB-3.1.5.3.1.{word}" for word in ("client-guid", "server-guid", "time-stamp", "se", "cs")),
    *(f"MQQB-3.1.5.4.1.{word}" for word in ("cs", "recoverable-ack-timeout", "ack-timeout", "window-size")),
    *ruled(parameters()),
    *("MQQB-2.1.1.initialization", "MQQB-3.1.3.2.window-size", "MQQB-2.1.1.acceptor-port", "MQQB-2.2.1.packet-type"),
)
"""The entries of the answers of an acceptor that the rules of captures judge."""
CONNECTING: Final = (
    *(f"MQQB-3.1.5.2.3.{word}" for word in ("cs", "client-guid", "server-guid")),
    *(f"MQQB-3.1.5.3.2.{word}" for word in ("cs", "round-trip", "ack-timeout", "window-size")),
    *("MQQB-2.2.3.1.se", "MQQB-2.1.1.initiator-port", "MQQB-2.2.7.request-rc"),
    *(f"MQQB-2.2.3.1.{word}" for word in ("re", "reserved", "unused-bits")),
    *(f"MQQB-2.2.2.1.{word}" for word in ("ack-timeout", "recoverable-ack-timeout", "reserved")),
)
"""The entries of the requests of an initiator that they judge."""
_SYSTEM = _E + "OperatingSystem."
_SHORTEST_MS: Final = 500
"""RecoverableAckTimeout of all sessions with short ways (MS-MQQB 3.1.5.3.2)."""


def _opened(
    name: str, request: Values | None = None, proposed: Values | None = None, *, packets: str = "correct"
) -> Case:
    return Case(name, handshake(request=request, parameters=proposed), OPENING, packets=packets)


def _times(recoverable: int, express: int) -> Values:
    return {_P + "RecoverableAckTimeout": recoverable, _P + "AckTimeout": express}


def _ignored(name: str, requirement: str, request: Values | None = None, proposed: Values | None = None) -> Case:
    """A session is opened with bits that are to be ignored, after one without."""
    steps = (*handshake("b"), *handshake(request=request, parameters=proposed, requirement=requirement))
    return Case(name, (*steps, Stays(requirement)), packets="odd")


_OWN: Final = (*handshake("b"), *handshake(server="own"))
OPENINGS: Final[tuple[Case, ...]] = (
    _opened("plain"),
    Case("by-identifier", _OWN, OPENING),
    Case(
        "refuses-a-stranger",
        (
            *handshake("b"),
            Connect(),
            Establish(server="stranger"),
            Answered("EstablishConnection", values={_I + "Flags.CS": (1, "MQQB-3.1.5.3.1.cs")}),
            Close(),
            *handshake("c"),
        ),
    ),
    Case("after-a-ping", (Ping(control=True), *handshake(request={_SYSTEM + "SE": 0})), OPENING),
    _opened("of-a-client", {_SYSTEM + "OS": 0}),
    _opened("with-quality-of-service", {_SYSTEM + "QS": 1}),
    _opened("padding-of-ones", {_E + "Padding": b"\xff" * 512}),
    _opened("padding-of-anything", {_E + "Padding": bytes(range(256)) * 2}),
    _opened("time-zero", {_E + "TimeStamp": 0}),
    _opened("time-of-ones", {_E + "TimeStamp": 0xFFFFFFFF}),
    _opened("shortest-times", proposed=_times(500, 20_000)),
    _opened("longest-times", proposed=_times(120_000, 120_000), packets="odd"),
    *(
        _opened(
            f"times-{recoverable}-{express}",
            proposed=_times(recoverable, express),
            packets="correct" if recoverable == _SHORTEST_MS else "odd",  # Eight times a round trip that was not.
        )
        for recoverable, express in ((500, 120_000), (20_001, 20_000), (119_999, 20_000), (120_000, 119_999))
    ),
    _opened("unequal-times", proposed=_times(501, 119_999), packets="odd"),
    _opened("smallest-window", proposed={_P + "WindowSize": 1}),
    _opened("largest-window", proposed={_P + "WindowSize": 0xFFFF}),
    Case("byte-by-byte", handshake(pieces=(1,) * 31), OPENING),
    Case("cut-within-headers", handshake(pieces=(15, 1, 3)), OPENING),
    _ignored("internal-reserved", "MQQB-2.2.1.reserved-ignored", {_I + "Reserved": 0xFFFF}, {_I + "Reserved": 0xFFFF}),
    _ignored(
        "internal-unused-bits",
        "MQQB-2.2.1.unused-bits-ignored",
        *({_I + f"Flags.X{bit}": 1 for bit in range(5, 16)},) * 2,
    ),
    _ignored("parameters-reserved", "MQQB-2.2.2.1.reserved-ignored", None, {_P + "Reserved": 0xFFFF}),
    _ignored("establish-reserved", "MQQB-2.2.3.1.reserved-ignored", {_E + "Reserved": 0xFFFF}),
    _ignored(
        "establish-unused-bits",
        "MQQB-2.2.3.1.unused-bits-ignored",
        {_SYSTEM + f"X{bit}": 1 for bit in range(11, 16)},
    ),
)
_MALFORMED: Final = (Says.UNKNOWN_TYPE, Says.WRONG_SIGNATURE, Says.WRONG_VERSION, Says.MALFORMED)
_ODD: Final = (Says.REFUSED_ESTABLISH, Says.MISCOUNTED_ACK, Says.MISCOUNTED_KEPT)
_NOTHING_TO_SAY: Final = ((Says.SESSION_ACK, State.OPEN),)
"""A SessionAck when nothing has come."""
_INITIALIZATION: Final = "MQQB-2.1.1.initialization"


def _before(state: State) -> tuple[Step, ...]:
    """Return the steps that lead an acceptor into a state."""
    if state is State.WAITING_EC_MSG:
        return (Connect(),)
    if state is State.WAITING_CP_MSG:
        return (Connect(), Establish(), Answered("EstablishConnection"))
    return handshake()


def reaction(one: Situation) -> tuple[Step, ...]:
    """Return the steps that demand what an acceptor does in a situation."""
    if one.then is Then.CLOSES:
        return (Closes(one.requirement),)
    if one.then is Then.STAYS:
        return (Stays(one.requirement),)
    if one.state is State.WAITING_CP_MSG:
        return (Answered("ConnectionParameters", one.requirement),)
    refused = int(one.then is Then.REFUSES)
    return (Answered("EstablishConnection", one.requirement, {_I + "Flags.CS": (refused, "MQQB-3.1.5.3.1.cs")}),)


def needed(one: Situation) -> str:
    """Return which packets must be allowed for the one of a situation, as `Case.packets`."""
    if one.says in _MALFORMED:
        return "malformed"
    out_of_turn = one.then is Then.CLOSES or one.says in _ODD or (one.says, one.state) in _NOTHING_TO_SAY
    return "odd" if out_of_turn else "correct"


def _acceptor(one: Situation) -> Case:
    """A valid session before, and one after, on which the implementation shows that it lives."""
    steps = (*handshake("control"), *_before(one.state), Say(one.says), *reaction(one), *handshake("alive"))
    return Case(one.name, steps, packets=needed(one))


STATES: Final[tuple[Case, ...]] = tuple(map(_acceptor, of_acceptor()))
"""Every state of an acceptor with every kind of packet."""
_MOST_RETRY_MS: Final = 2_000
"""How long the implementation may wait before it connects again, for each of these: there are many."""


def _initiator(one: Situation) -> Case:
    """The implementation connects to deliver an acknowledgment, and finds another end than it expects."""
    steps = (
        *handshake(),
        Tell((Message("asked", recoverable=True, asks=PA),)),
        Reconnects(_INITIALIZATION, situation=one.name),
        Comes("UserMessage", "asked", ("MQQB-2.1.1.initiator-port",), 0x0002),
    )
    timers = {"session-retry-connect": _MOST_RETRY_MS}
    judged = (*CONNECTING[:3], "MQQB-3.1.5.2.3.time-stamp", one.requirement)
    return Case(one.name, steps, judged, timers, queues=("mqconform-plain",), packets=needed(one))


INITIATOR_STATES: Final[tuple[Case, ...]] = tuple(map(_initiator, of_initiator()))
"""Every state of an initiator with every kind of packet."""

_OPERATING_SYSTEM: Final = _E + "OperatingSystem."


def _answer(link: str, *, refuses: bool) -> Answered:
    values = {_I + "Flags.CS": (int(refuses), "MQQB-3.1.5.3.1.cs")}
    return Answered("EstablishConnection", values=values, link=link)


def _refused(link: str, request: Values | None = None) -> tuple[Step, ...]:
    """Return the steps after which a connection has been refused, and is still there."""
    return (Connect(link), Establish(link, "stranger", request or {}), _answer(link, refuses=True))


def _named(link: str = "a") -> tuple[Step, ...]:
    """Return the steps that ask for the implementation by its identifier."""
    return (Connect(link), Establish(link, "own"), _answer(link, refuses=False))


_CUT: Final = (*handshake("b"), Close("b", "reset"))
_AFTER_REFUSAL: Final = (*_refused("b"), Close("b"))
_ASKED: Final = (Connect(), Establish(), Answered("EstablishConnection"))
WAYS: Final[Mapping[str, tuple[State, tuple[Step, ...]]]] = {
    "refused": (State.WAITING_CP_MSG, _refused("a")),
    "by-identifier": (State.WAITING_CP_MSG, (*handshake("b"), *_named())),
    "after-a-cut": (State.WAITING_CP_MSG, (*_CUT, *_ASKED)),
    "connected-after-a-refusal": (State.WAITING_EC_MSG, (*_AFTER_REFUSAL, Connect())),
    "connected-after-a-cut": (State.WAITING_EC_MSG, (*_CUT, Connect())),
    "open-by-identifier": (State.OPEN, (*handshake("b"), *handshake(server="own"))),
    "open-after-a-refusal": (State.OPEN, (*_AFTER_REFUSAL, *handshake())),
}
"""Ways into a state of an acceptor, beside the shortest ones: the state, and the steps to it."""


def _led(way: str, one: Situation) -> Case:
    _, before = WAYS[way]
    steps = (*before, SayPacket(one.says), *reaction(one), *handshake("alive"))
    return Case(f"{way}/{one.says.value}", steps, packets=needed(one))


_OPEN_QUESTIONS: Final = (("refused", Says.PARAMETERS),)
"""Pairs that nothing is demanded of: the refused end has to close (3.1.5.3.2), so that nobody rightly sends its
parameters; by its state alone (3.1.5.3.1) the end that has refused would answer them."""
WAYS_IN: Final[tuple[Case, ...]] = tuple(
    _led(way, one)
    for way, (state, _) in WAYS.items()
    for one in of_acceptor()
    if one.state is state and (way, one.says) not in _OPEN_QUESTIONS
)
"""Every way into a state with every kind of packet."""


@dataclass(frozen=True, slots=True)
class Form:
    """A request as its fields: bits of OperatingSystem, whom it asks for, and the parameters that follow it.

    unused: bits without a meaning are set in both headers, and reserved fields. times: RecoverableAckTimeout and
    AckTimeout, in milliseconds.
    """

    session: int
    server_class: int
    quality: int
    server: str
    stamp: int
    times: tuple[int, int]
    window: int
    unused: bool

    @property
    def name(self) -> str:
        bits = "".join(map(str, (self.session, self.server_class, self.quality)))
        return f"{self.server}-{bits}-{'unused' if self.unused else 'plain'}"

    @property
    def request(self) -> Values:
        """The values of the EstablishConnection packet."""
        bits = {
            _OPERATING_SYSTEM + "SE": self.session,
            _OPERATING_SYSTEM + "OS": self.server_class,
            _OPERATING_SYSTEM + "QS": self.quality,
        }
        more = {**_UNUSED_SYSTEM, **_UNUSED_INTERNAL, _E + "Reserved": 0xFFFF} if self.unused else {}
        return {**bits, _E + "TimeStamp": self.stamp, **more}

    @property
    def proposed(self) -> Values:
        """The values of the ConnectionParameters packet."""
        own: Values = dict(zip(_TIMES, self.times, strict=True))
        more = {**_UNUSED_INTERNAL, _P + "Reserved": 0xFFFF} if self.unused else {}
        return {**own, _P + "WindowSize": self.window, **more}


_TIMES: Final = (_P + "RecoverableAckTimeout", _P + "AckTimeout")
_UNUSED_INTERNAL: Final[Values] = {_I + f"Flags.X{bit}": 1 for bit in range(5, 16)}
_UNUSED_SYSTEM: Final[Values] = {_OPERATING_SYSTEM + f"X{bit}": 1 for bit in range(11, 16)}
_STAMPS: Final = (0, 0xFFFFFFFF, 1, 0x80000000, 0x7FFFFFFF, 0xFFFF, 0x10000, 0xFFFFFFFE)
_ALL_TIMES: Final = ((500, 20_000), (120_000, 120_000), (501, 119_999), (119_999, 20_001))
_WINDOWS: Final = (1, 0xFFFF, 64)
_SERVERS: Final = ("null", "stranger", "own")


def _forms(turn: int) -> tuple[Form, ...]:
    """Return each combination of the three bits, without and with unused ones, beside values that go round with `turn`.

    So each value of a field meets each kind of session, and the bits meet each value in some of them.
    """
    bits = (0, 1)
    return tuple(
        Form(
            *(session, server_class, quality, _SERVERS[(at + turn) % 3], _STAMPS[(at + turn) % 8]),
            *(_ALL_TIMES[(at // 2 + turn) % 4], _WINDOWS[(at + turn) % 3], bool((at + turn) % 2)),
        )
        for at, (session, server_class, quality) in enumerate(product(bits, bits, bits))
    )


_OTHER: Final[Values] = {_OPERATING_SYSTEM + "SE": 1, _OPERATING_SYSTEM + "OS": 1, _E + "TimeStamp": 0x12345678}
_OTHER_TIMES: Final[Values] = dict(zip(_TIMES, (7_777, 77_777), strict=True))
_CONVERSE: Final[Values] = {_OPERATING_SYSTEM + "SE": 0, _OPERATING_SYSTEM + "OS": 0, _E + "TimeStamp": 0x7654321}
_KNOWN: Final = (*handshake("known"), Close("known"))
"""The identifier of the implementation is known from here on."""
_STARTED: Final = (
    *(Connect("b"), Establish("b", "null", _OTHER), Answered("EstablishConnection", link="b"), Close("b", "reset")),
)
KINDS: Final[Mapping[str, tuple[Step, ...]]] = {
    "first": _KNOWN,
    "second": handshake("b", request=_OTHER, parameters=_OTHER_TIMES),
    "second-to-a-client": handshake("b", request=_CONVERSE, parameters=_OTHER_TIMES),
    "after-the-cut": (*handshake("b", request=_CONVERSE, parameters=_OTHER_TIMES), Close("b", "reset")),
    "after-the-refusal": (*_KNOWN, *_refused("b", _OTHER), Close("b")),
    "after-half-a-beginning": (*_KNOWN, *_STARTED),
    "beside-the-refusal": (*_KNOWN, *_refused("b", _CONVERSE)),
}
"""Kinds of session by what was begun before on the same addresses."""


def _opening(form: Form) -> tuple[Step, ...]:
    refuses = form.server == "stranger"
    asked = {
        _I + "Flags.CS": (int(refuses), "MQQB-3.1.5.3.1.cs"),
        _OPERATING_SYSTEM + "SE": (form.session, "MQQB-3.1.5.3.1.se"),
        _E + "TimeStamp": (form.stamp, "MQQB-3.1.5.3.1.time-stamp"),
    }
    steps = (Connect(), Establish("a", form.server, form.request), Answered("EstablishConnection", values=asked))
    if refuses:
        return steps
    names = ("MQQB-3.1.5.4.1.recoverable-ack-timeout", "MQQB-3.1.5.4.1.ack-timeout")
    agreed = {key: (ms, name) for key, ms, name in zip(_TIMES, form.times, names, strict=True)}
    return (*steps, Parameters("a", form.proposed), Answered("ConnectionParameters", values=agreed))


FORMS: Final[tuple[Case, ...]] = tuple(
    Case(f"{kind}/{form.name}", (*before, *_opening(form)), OPENING, packets="odd")
    for turn, (kind, before) in enumerate(KINDS.items())
    for form in _forms(turn)
)
"""Every kind of session with requests in which all bits and values meet: what is repeated is that of this request."""

_GOES_ON: Final = {
    "internal-lowest": ({_I + "Flags.X5": 1}, "MQQB-2.2.1.unused-bits-ignored"),
    "internal-all": (_UNUSED_INTERNAL, "MQQB-2.2.1.unused-bits-ignored"),
    "internal-reserved": ({_I + "Reserved": 0xFFFF}, "MQQB-2.2.1.reserved-ignored"),
}
_OF_ESTABLISH: Final = {
    **_GOES_ON,
    "establish-all": (_UNUSED_SYSTEM, "MQQB-2.2.3.1.unused-bits-ignored"),
    "establish-reserved": ({_E + "Reserved": 0xFFFF}, "MQQB-2.2.3.1.reserved-ignored"),
}
_OF_PARAMETERS: Final = {
    "internal-all": _GOES_ON["internal-all"],
    "parameters-reserved": ({_P + "Reserved": 0xFFFF}, "MQQB-2.2.2.1.reserved-ignored"),
}
_EVERYTHING: Final[Values] = {**_UNUSED_INTERNAL, **_UNUSED_SYSTEM, _E + "Reserved": 0xFFFF}


def _connecting(name: str, *met: Reconnects) -> Case:
    """The implementation connects, meets these answers one after another, and delivers in the end."""
    steps = (
        *handshake(),
        Tell((Message("asked", recoverable=True, asks=PA),)),
        *met,
        Comes("UserMessage", "asked", ("MQQB-2.1.1.initiator-port",), 0x0002),
    )
    judged = (*CONNECTING[:3], "MQQB-2.2.3.1.se", "MQQB-3.1.5.2.3.time-stamp")
    return Case(
        name, steps, judged, {"session-retry-connect": _MOST_RETRY_MS}, queues=("mqconform-plain",), packets="odd"
    )


def _meets(state: State, says: Says, answer: Values | None = None, ignored: str | None = None) -> Reconnects:
    return Reconnects(_INITIALIZATION, situation=f"{state.value}/{says.value}", answer=answer or {}, ignored=ignored)


_ECR, _CPR = State.WAITING_ECR_MSG, State.WAITING_CPR_MSG
_REFUSALS: Final = (Says.REFUSED_ESTABLISH, Says.STRANGE_ESTABLISH)
RETRIES: Final[tuple[Case, ...]] = (
    *(
        _connecting(f"connects/{name}", _meets(_ECR, Says.ESTABLISH, answer, ignored))
        for name, (answer, ignored) in _OF_ESTABLISH.items()
    ),
    *(
        _connecting(f"connects/with-parameters/{name}", _meets(_CPR, Says.PARAMETERS, answer, ignored))
        for name, (answer, ignored) in _OF_PARAMETERS.items()
    ),
    *(_connecting(f"connects/{says.value}/unused", _meets(_ECR, says, _EVERYTHING)) for says in _REFUSALS),
    *(
        _connecting(f"connects-again/{first.value}/{says.value}", _meets(_ECR, first), _meets(state, says))
        for first in _REFUSALS
        for state, says in ((_ECR, first), (_CPR, Says.SESSION_ACK))
    ),
    Case(
        "connects-anew-after-a-cut",
        (
            *handshake(),
            Tell((Message("one", recoverable=True, asks=PA),)),
            Comes("UserMessage", "one", ("MQQB-2.1.1.initiator-port",), 0x0002),
            Close("*"),
            *handshake("b"),
            Tell((Message("two", recoverable=True, asks=PA),), link="b"),
            Comes("UserMessage", "two", ("MQQB-2.1.1.initiator-port",), 0x0002),
        ),
        (*CONNECTING[:3], "MQQB-2.2.3.1.se"),
        {"session-retry-connect": _MOST_RETRY_MS},
        queues=("mqconform-plain",),
    ),
)
"""Every answer to a connection of the implementation beside unused bits, and on the first try as on the next."""

_CLEANUP, _CASES_IDLE_INITIALIZATION = "session-cleanup", "session-initialization"
_IDLE, _ACTIVE, _TIMES_OUT = (
    "MQQB-3.1.6.2.idle-session",
    "MQQB-3.1.6.2.active-session",
    "MQQB-3.1.6.6.times-out",
)
_SLACK_MS: Final = 2_000
_BEYOND_MS: Final = 500
_MOST_MS: Final = 20_000


def _idle_case(name: str, *steps: Step, queues: tuple[str, ...] = ()) -> Case:
    return Case(name, (*handshake("control"), *steps), timers={_CASES_IDLE_INITIALIZATION: _MOST_MS}, queues=queues)


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
    _idle_case(
        "no-parameters",
        Connect(),
        Establish(),
        Answered("EstablishConnection"),
        Closes(_TIMES_OUT, _SLACK_MS, timer=_CASES_IDLE_INITIALIZATION),
        *handshake("alive"),
    ),
    _idle_case(
        "no-answer-to-its-request",
        *handshake(),
        Tell((Message("asked", recoverable=True, asks=PA),)),
        Unanswered(_TIMES_OUT, _SLACK_MS, timer=_CASES_IDLE_INITIALIZATION),
        queues=(PLAIN,),
    ),
)

_HOPS: Final = "MQQB-3.1.5.8.2.hop-count"
_ON: Final = "MQQB-3.1.1.5.passed-on"
_RC: Final = "UserHeader.Flags.RC"
_MOST: Final = 0x1D  # MS-MQMQ 2.2.19.2


def _onwards(
    name: str, hops: int = 0, *, number: int | None = None, reach_s: int = 0xFFFFFFFF, previous: int | None = None
) -> Message:
    """Return a recoverable message for a private queue of this end. number: of a transactional one."""
    there: Values = {
        _RC: hops,
        "UserHeader.Flags.DQ": 3,
        "UserHeader.DestinationQueue.PrivateQueueIdentifier": 7,
    }
    return Message(
        name, None, recoverable=True, number=number, previous=previous, reach_s=reach_s, manager="client", more=there
    )


def _hops(before: int) -> Case:
    return Case(
        f"passed-on-after-{before}-hops",
        (*opening_with(_onwards("onwards", before)), Passed("onwards", _HOPS, values={_RC: (before + 1, _HOPS)})),
    )


_ORDER_ACK: Final = "OrderAck"
LISTED: Final[tuple[Case, ...]] = tuple(
    Case(
        f"a-list-with-the-queue-in-place-{place}-of-{of}",
        (
            *opening_with(
                Message("listed", asks=PA, listed=tuple(PLAIN if at == place else None for at in range(1, of + 1)))
            ),
            reaches("listed"),
        ),
        ADMIN,
        queues=(PLAIN,),
    )
    for place, of in ((1, 1), (1, 2), (2, 2), (3, 3))
)
PASSING: Final[tuple[Case, ...]] = (
    *map(_hops, (0, 2, 12, _MOST - 1)),  # Behind two hops it may have come back to where it began.
    Case(
        "passed-on-in-a-sequence",
        (
            *opening_with(_onwards("first", number=1), _onwards("third", number=3, previous=1)),
            Passed("first", _ON),
            Passed("third", _ON),
            Never(_ORDER_ACK, "first", (_ON,)),
        ),
        (_ON, _HOPS),
        packets="odd",
    ),
    Case(
        "too-late-to-be-passed-on",
        (
            *opening_with(Message("opens", asks=PA)),
            reaches("opens"),
            Wait(100),
            Quiet(),
            Tell((_onwards("late", reach_s=2), _onwards("in time", reach_s=60))),
            Passed("late", "MQQB-3.1.7.1.2.expired"),
            Passed("in time", "MQQB-3.1.7.1.2.expired"),
            Close(how="reset"),
            Wait(5_000, deaf=True),
            Quiet(on=False),
            Passed("in time", "MQQB-3.1.7.1.2.expired", times=2, within_ms=4_000),
            Wait(500),
        ),
        ("MQQB-3.1.7.1.2.expired",),
        queues=(PLAIN,),
    ),
)

_OF_A_CLIENT: Final[Values] = {f"EstablishConnectionHeader.OperatingSystem.{bit}": 0 for bit in ("SE", "OS")}
"""A session behind a ping of a client."""
PINGS: Final[tuple[Case, ...]] = (
    Case(
        "answered",
        (
            *handshake(),
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping(wanted={"Ping.Flags.RC": (0, "MQQB-2.2.7.response-rc")}),
            Ping({"Ping.Flags.RC": 1}, {"Ping.Flags.RC": (1, "MQQB-2.2.7.response-rc")}),
            *handshake("after", request=_OF_A_CLIENT),
        ),
        (
            *(f"MQQB-2.2.7.{word}" for word in ("response-cookie", "response-qm-guid", "signature", "size")),
            "MQQB-2.1.2.response-address",
        ),
    ),
    Case(
        "unused-bits",
        (
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping({"Ping.Flags.X": 0x3FFF}, {"Ping.Flags.RF": (0, "MQQB-2.2.7.flags-ignored")}),
        ),
        packets="odd",
    ),
    Case(
        "another-signature",
        (
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping({"Ping.Signature": 0x4855}, ignored="MQQB-2.2.7.signature-ignored"),
            Ping(wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
        ),
        packets="malformed",
    ),
)

_UNUSED: Final = (0, 0x0001, 0x2000, 0x1555, 0x2AAA, 0x3FFF)
"""Unused bits: none, the lowest, the highest, every other one, all."""
_COOKIES: Final = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_MANAGERS: Final[tuple[Values, ...]] = ({}, {"Ping.QMGuid": STRANGER})


def _pinged(at: int, type_: int, refuses: int, unused: int) -> Ping:
    """Return a ping with these bits. at: its place, by which values of the other fields go round."""
    bits: Values = {"Ping.Flags.RC": type_, "Ping.Flags.RF": refuses, "Ping.Flags.X": unused}
    cookie = _COOKIES[at % len(_COOKIES)]
    accepts = "MQQB-2.2.7.flags-ignored" if unused else "MQQB-2.2.7.response-rf"
    wanted = {
        "Ping.Flags.RF": (0, accepts),
        "Ping.Flags.RC": (type_, "MQQB-2.2.7.response-rc"),
        "Ping.Cookie": (cookie, "MQQB-2.2.7.response-cookie"),
    }
    return Ping({**bits, "Ping.Cookie": cookie, **_MANAGERS[at // 2 % len(_MANAGERS)]}, wanted)


_BITS: Final = tuple(_pinged(at, *bits) for at, bits in enumerate(product((0, 1), (0, 1), _UNUSED)))
_KINDS: Final[Mapping[str, tuple[Step, ...]]] = {
    "first": (),
    "beside-a-session": handshake("b"),
    "after-a-cut": (*handshake("b"), Close("b", "reset")),
    "after-a-refusal": (Connect("b"), Establish("b", "stranger"), Answered("EstablishConnection", link="b")),
}
_CONTROL: Final = Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")})
_BEHIND: Final[Values] = {"EstablishConnectionHeader.OperatingSystem.SE": 0}
PING_BITS: Final[tuple[Case, ...]] = tuple(
    Case(
        f"pings/{kind}",
        (*before, _CONTROL, *_BITS[turn :: len(_KINDS)], *handshake("after", request=_BEHIND)),
        ("MQQB-2.1.2.response-address", "MQQB-2.2.7.response-qm-guid", "MQQB-2.2.7.signature"),
        packets="odd",
    )
    for turn, (kind, before) in enumerate(_KINDS.items())
)
"""Every combination of the bits of a ping, spread over the kinds of session that it comes before."""
