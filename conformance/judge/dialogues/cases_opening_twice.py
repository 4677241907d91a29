"""Dialogues in which a session is opened after, or beside, another beginning (MS-MQQB 2.2.1 to 2.2.3).

Tables are crossed: each way into a state meets each kind of packet, each kind of session meets each form of a request,
and each answer that an initiator gets comes with and without bits that mean nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from conformance.judge.dialogues.cases_opening import CONNECTING, OPENING, needed, reaction
from conformance.judge.dialogues.machine import Says, Situation, State, of_acceptor
from conformance.judge.dialogues.packets import PA, Message, Values
from conformance.judge.dialogues.steps import (
    Answered,
    Case,
    Close,
    Comes,
    Connect,
    Establish,
    Parameters,
    Reconnects,
    Step,
    Tell,
    handshake,
)
from conformance.judge.dialogues.steps import Say as SayPacket

_E, _P, _I = "EstablishConnectionHeader.", "ConnectionParametersHeader.", "InternalHeader."
_SYSTEM: Final = _E + "OperatingSystem."
_INITIALIZATION: Final = "MQQB-2.1.1.initialization"


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
        bits = {_SYSTEM + "SE": self.session, _SYSTEM + "OS": self.server_class, _SYSTEM + "QS": self.quality}
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
_UNUSED_SYSTEM: Final[Values] = {_SYSTEM + f"X{bit}": 1 for bit in range(11, 16)}
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


_OTHER: Final[Values] = {_SYSTEM + "SE": 1, _SYSTEM + "OS": 1, _E + "TimeStamp": 0x12345678}
_OTHER_TIMES: Final[Values] = dict(zip(_TIMES, (7_777, 77_777), strict=True))
_CONVERSE: Final[Values] = {_SYSTEM + "SE": 0, _SYSTEM + "OS": 0, _E + "TimeStamp": 0x7654321}
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
        _SYSTEM + "SE": (form.session, "MQQB-3.1.5.3.1.se"),
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
_MOST_RETRY_MS: Final = 2_000


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
            Tell((Message("two", recoverable=True, asks=PA),)),
            Comes("UserMessage", "two", ("MQQB-2.1.1.initiator-port",), 0x0002),
        ),
        (*CONNECTING[:3], "MQQB-2.2.3.1.se"),
        {"session-retry-connect": _MOST_RETRY_MS},
        queues=("mqconform-plain",),
    ),
)
"""Every answer to a connection of the implementation beside unused bits, and on the first try as on the next."""
