"""Dialogues about the beginning of a session, its states and its end (MS-MQQB 2.2.1 to 2.2.3, 3.1.5.1 to 3.1.5.5)."""

from __future__ import annotations

from typing import Final

from conformance.judge.dialogues.conversation import ruled
from conformance.judge.dialogues.machine import Says, Situation, State, Then, of_acceptor, of_initiator
from conformance.judge.dialogues.packets import PA, Message, Values, parameters
from conformance.judge.dialogues.steps import (
    Answered,
    Case,
    Close,
    Closes,
    Comes,
    Connect,
    Establish,
    Ping,
    Reconnects,
    Say,
    Stays,
    Step,
    Tell,
    handshake,
)

_E, _P, _I = "EstablishConnectionHeader.", "ConnectionParametersHeader.", "InternalHeader."
_OF_BOTH: Final = ("internal-flag", "packet-type", "size")
OPENING: Final = (
    *(f"MQQB-{section}.{word}" for section in ("2.2.2", "2.2.3") for word in _OF_BOTH),
    *(f"MQQB-2.2.1.{word}" for word in ("present", "reserved", "unused-bits")),
    *(f"MQQB-2.2.2.1.{word}" for word in ("ack-timeout", "recoverable-ack-timeout", "reserved")),
    *(f"MQQB-2.2.3.1.{word}" for word in ("re", "reserved", "unused-bits", "padding")),
    *(f"MQQB-3.1.5.3.1.{word}" for word in ("client-guid", "server-guid", "time-stamp", "se", "cs")),
    *(f"MQQB-3.1.5.4.1.{word}" for word in ("cs", "recoverable-ack-timeout", "ack-timeout")),
    *ruled(parameters()),
    *("MQQB-2.1.1.initialization", "MQQB-3.1.3.2.window-size", "MQQB-2.1.1.acceptor-port", "MQQB-2.2.1.packet-type"),
)
"""What the rules of captures judge of the answers of an acceptor."""
CONNECTING: Final = (
    *(f"MQQB-3.1.5.2.3.{word}" for word in ("cs", "client-guid", "server-guid")),
    *("MQQB-3.1.5.3.2.cs", "MQQB-3.1.5.3.2.round-trip", "MQQB-2.2.3.1.se", "MQQB-2.1.1.initiator-port"),
    *(f"MQQB-2.2.3.1.{word}" for word in ("re", "reserved", "unused-bits")),
    *(f"MQQB-2.2.2.1.{word}" for word in ("ack-timeout", "recoverable-ack-timeout", "reserved")),
)
"""What they judge of the requests of an initiator."""
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
