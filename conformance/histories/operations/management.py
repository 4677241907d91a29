"""Management and outgoing queues: read properties, act, play a network, and take and judge transferred packets."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from conformance.histories.operations.operation import NEEDED, Handles, Kind, Operation, action, refers, value
from conformance.histories.operations.state_queries import listed
from conformance.judge.packets.judge import judge_dissected
from conformance.judge.packets.user_messages import plain_of_packet
from conformance.model import Answer, Call, SeenMessage, State
from conformance.model.journals import is_kept
from conformance.model.management import SESSION, number_of
from conformance.model.management_rows import MACHINE, QUEUE, ROWS
from conformance.model.message_properties import BITS, name_without_body
from conformance.model.outgoing import CONNECTED, session_of, sure
from conformance.model.tables import OutgoingState, PositionState
from conformance.model.values import replace
from conformance.verdict import Evidence, Json, Verdict
from conformance.wire import dissect

if TYPE_CHECKING:
    from conformance.harness.recorder import Recorder
    from conformance.wire import Packet


@lru_cache(256)
def _dissected(raw: str) -> Packet:
    return dissect(binascii.a2b_base64(raw), transport="buffer")


def packet_message(raw: str, name_of: Callable[[str], str]) -> SeenMessage:
    """Return the message of a packet in base64. name_of: maps a format name to the harness's name of the queue.

    An unreadable packet has no body, hence no name, and so matches no sent message.
    """
    plain = plain_of_packet(_dissected(raw))
    body, priority, destination = plain["body"], plain["priority"], plain["destination"]
    shown = {name: value for name in BITS if (value := _as_sent(name, plain[name])) is not None}
    found = SeenMessage(
        body=bytes.fromhex(body) if isinstance(body, str) else b"",
        label=plain["label"] if isinstance(plain["label"], str) else None,
        priority=priority if isinstance(priority, int) else None,
        delivery=plain["delivery"],
        destination=name_of(destination) if isinstance(destination, str) else "no queue",
        shown=shown,
    )
    return found if found.name else replace(found, name=name_without_body({**shown, "label": plain["label"]}))


def numbered(raw: str) -> tuple[dict[str, Json] | None, dict[str, Json] | None]:
    """Return the identifier of a packet's message, and of a transactional one sequence, number and number before."""
    plain = plain_of_packet(_dissected(raw))
    source, transaction = plain.get("source"), plain.get("transaction")
    identifier = {"source": source, "ordinal": plain.get("ordinal")} if isinstance(source, str) else None
    if not isinstance(transaction, dict):
        return identifier, None
    place = transaction["sequence_identifier"]
    if not all(isinstance(one, int) for one in (place["ordinal"], place["timestamp"])):
        return identifier, None
    return identifier, {
        "sequence": str(place["timestamp"] << 32 | place["ordinal"]),
        "number": transaction["sequence_number"],
        "previous": transaction["previous_sequence_number"],
    }


def _as_sent(member: str, value: Json) -> Json:
    """Return a value of a packet as the protocol's message has it; None for one that could not be decoded."""
    if member in ("extension", "correlation_identifier") and isinstance(value, str):
        return binascii.b2a_base64(bytes.fromhex(value), newline=False).decode("ascii")
    return value


def judged(packets: Iterable[str], judge: Recorder) -> Iterator[Verdict]:
    """Yield the verdicts of the packet rules on each packet."""
    for raw in packets:
        yield from judge_dissected(
            _dissected(raw),
            profile=judge.profile,
            readings=judge.readings,
            transport="buffer",
            level="may",
            subject="outgoing.take",
            evidence=Evidence("packet", "taken", {"packet": raw}),
        )


def pauses(state: State) -> list[Call]:
    """Pause an outgoing queue; those not on hold first."""
    return _each("outgoing.pause", state, on_hold_first=False)


def resumptions(state: State) -> list[Call]:
    """Resume an outgoing queue; those on hold first."""
    return _each("outgoing.resume", state, on_hold_first=True)


def takes(state: State) -> list[Call]:
    """Take the packets of an outgoing queue; those on hold first."""
    return _each("outgoing.take", state, on_hold_first=True)


def _each(method: str, state: State, *, on_hold_first: bool) -> list[Call]:
    found = [queue for queue in state.queues.values() if queue.outgoing is not None]
    found.sort(
        key=lambda queue: (queue.outgoing is None or queue.outgoing.state is not OutgoingState.ON_HOLD) is on_hold_first
    )
    return [listed(method, queue=queue.name) for queue in found]


def _with_messages(answer: Answer, call: Call, values: Mapping[str, Any], handles: Handles) -> Answer:
    """Return the answer with the messages that its packets hold."""
    if answer.failed or "packets" not in values:
        return answer

    return replace(answer, messages=tuple(packet_message(raw, handles.remote_named) for raw in values["packets"]))


_ONE = {"queue": refers(Kind.QUEUE, "format_name")}

OUTGOING = (
    Operation(
        "outgoing.pause",
        _ONE,
        lambda call, state: f"pause {call.queue}",
        (action("pause", pauses, "outgoing.pause", "outgoing.resume"),),
    ),
    Operation(
        "outgoing.resume",
        _ONE,
        lambda call, state: f"resume {call.queue}",
        (action("resume", resumptions, "outgoing.resume"),),
    ),
    Operation(
        "outgoing.take",
        _ONE,
        lambda call, state: f"let {call.queue} transfer what it has",
        (action("take", takes, "outgoing.take"),),
        answer=_with_messages,
    ),
)

_NAMES: Final = (f"{MACHINE}ACTIVEQUEUES", f"{QUEUE}FORMATNAME")
_ACKNOWLEDGE: Final = "management.acknowledge"
_SHORT: Final = 256  # characters of a text whose derivation is kept in mind
_MOST_NAMES: Final = 2_000  # of an answer that are looked at: each takes a while, and an answer may have very many
_ADDRESS: Final = "192.0.2.7"  # RFC 5737
_MOST_STEPS: Final = 12  # entries of a connection history that a walk makes
_ACK_NAMES: Final = {"session": "a session acknowledgment", "order": "an order acknowledgment", "final": "a final one"}


def _target(queue: str | None, call: Call, handles: Handles) -> dict[str, Json]:
    if call.target == SESSION:
        return {"type": SESSION}
    return {"type": "machine"} if call.queue is None else {"type": "queue", "format_name": handles.format(call.queue)}


def _of(call: Call) -> str:
    return "a session" if call.target == SESSION else call.queue or "the machine"


def _in_words(call: Call, state: State) -> str:
    names = [name.removeprefix("PROPID_MGMT_") for name in call.names or ()]
    return f"read {', '.join(names) if len(names) < 4 else f'{len(names)} management properties'} of {_of(call)}"


def _read(answer: Answer, call: Call, values: Mapping[str, Any], handles: Handles) -> Answer:
    """Return the answer with the values by name, and what the harness knows of the names in them."""
    given = values.get("values")
    if answer.failed or given is None:
        return answer
    told = dict(zip(call.names or (), given, strict=False))
    texts = [text for one in told.values() for text in _texts(one.get("value"))]
    known = handles.designated()
    found = {text: known[text.casefold()] for text in texts if text.casefold() in known}
    named = (one for name in _NAMES for one in _texts(told.get(name, {}).get("value")))
    wrong: list[Json] = list(_no_format_names(islice(named, _MOST_NAMES)))
    more: dict[str, Json] = {
        "told": told,
        "designates": dict(found),
        "played": handles.played,
        "number": len(given),
        "no_format_names": wrong,
    }
    if call.queue is not None:
        more["path_name"] = handles.path(call.queue)
    return replace(answer, values={**answer.values, **more})


def _no_format_names(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts that the grammar of format names does not derive."""
    for text in texts:
        if not (_derived if len(text) <= _SHORT else _derived.__wrapped__)(text):
            yield text


@lru_cache(256)
def _derived(text: str) -> bool:
    from conformance.grammar.names import NameError_, bulk  # takes some time to make, and few calls need it

    try:
        bulk().format_name(text)
    except NameError_:
        return False
    return True


def _texts(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []


def _with_transferred(answer: Answer, call: Call, values: Mapping[str, Any], handles: Handles) -> Answer:
    """Return the answer with the messages that its packets hold, and the numbers of transactional ones."""
    if answer.failed or "packets" not in values:
        return answer

    messages = tuple(packet_message(raw, handles.remote_named) for raw in values["packets"])
    sequences: list[Json] = []
    for message, raw in zip(messages, values["packets"], strict=True):
        identifier, sequence = numbered(raw)
        if identifier is not None:
            handles.identifiers[message.name] = identifier
        if sequence is not None:
            sequences.append({"message": message.name, **sequence})
    return replace(answer, messages=messages, values={**answer.values, "sequences": sequences})


def _identifier(message: str, call: Call, handles: Handles) -> dict[str, Json]:
    return handles.identifiers[message]


def _acknowledged(call: Call, state: State) -> str:
    what = _ACK_NAMES.get(call.action or "", "an acknowledgment")
    about = {"session": f"of {call.count}", "order": f"up to {call.number}"}.get(
        call.action or "", f"of {call.message}"
    )
    return f"the destination of {call.queue} sends {what} {about}"


def looks(state: State) -> list[Call]:
    """Read all properties of the machine, and of each queue."""
    names = [name for name in ROWS if name.startswith(QUEUE)]
    found = [Call("management.get", names=tuple(name for name in ROWS if name.startswith(MACHINE)))]
    for queue in state.queues.values():
        if queue.parent is None and not is_kept(queue.name) and "," not in queue.name and queue.exists:
            found.append(Call("management.get", queue=queue.name, names=tuple(names)))
            if queue.outgoing is not None:
                found += [Call("management.get", queue=queue.name, names=tuple(names))] * 2
    return found


def actions(state: State) -> list[Call]:
    """Perform each action, and some that must be refused."""
    found = [Call("management.act", action=action) for action in ("CONNECT", "DISCONNECT", "connect", "TIDY")]
    for queue in _remote(state):
        found += [Call("management.act", queue=queue, action=action) for action in ("PAUSE", "RESUME", "EOD_RESEND")]
        found += [Call("management.act", queue=queue, action=action) for action in ("resume", "TIDY")]
    local = [queue.name for queue in state.queues.values() if queue.outgoing is None and queue.exists]
    return [*found, *(Call("management.act", queue=name, action="PAUSE") for name in local if not is_kept(name))]


def steps(state: State) -> list[Call]:
    """Take a step of each connection: mostly the one that comes next."""
    found = []
    for queue in _remote(state):
        session = session_of(state, queue)
        usual = {CONNECTED: "closed", "WAITING": "established"}.get(session.state, "in_process")
        usual = "closed" if session.torn else usual
        names = (usual, usual, usual, "closing", "connection_refused", *_unresolved(state, queue))
        found += [
            Call(
                "management.connection",
                queue=queue,
                step=name,
                addresses=(_ADDRESS,) if name in ("in_process", "established") else None,
                error=0xC00E0001 if name.endswith(("refused", "failure")) else 0,
            )
            for name in names
            if len(session.steps) < _MOST_STEPS or name in ("closing", "closed")
        ]
    return found


def _unresolved(state: State, queue: str) -> tuple[str, ...]:
    """Return the failure to find the destination, unless nothing but an uncommitted message waits."""
    sending = any(one.state is PositionState.SENDING for one in state.queues[queue].positions)
    return () if sending else ("dns_failure",)


def transfers(state: State) -> list[Call]:
    """Transfer what each outgoing queue has."""
    return [Call("management.transfer", queue=queue) for queue in _remote(state) if sure(state, queue)]


def acknowledgments(state: State) -> list[Call]:
    """Acknowledge what was transferred."""
    found = []
    for name in _remote(state):
        session, queue = session_of(state, name), state.queues[name]
        held = queue.outgoing is None or queue.outgoing.state is OutgoingState.ON_HOLD
        if held or session.torn or session.state != CONNECTED:
            continue
        if any(one not in session.stored and one not in session.due for one in session.sent):
            found += [Call(_ACKNOWLEDGE, queue=name, action="session", count=count) for count in (1, 2, 50)]
        ready = [number for one, number in session.numbers if one in session.stored]
        lacking = [number for one, number in session.numbers if one not in session.stored]
        most = min(lacking, default=session.following) - 1
        if session.following > 1:
            _, last = session.acked or (None, 0)
            late = {1, last - 1} if last > 1 else set()
            found += [
                Call(_ACKNOWLEDGE, queue=name, action="order", number=number)
                for number in sorted({*ready, most, *late})
                if 0 < number <= most
            ]
    return found


def _remote(state: State) -> list[str]:
    return [queue.name for queue in state.queues.values() if queue.outgoing is not None]


_OUTGOING = {"queue": refers(Kind.QUEUE, "format_name")}
_ABOUT = {"queue": refers(Kind.QUEUE, plain=None), "target": value(parameter="target", default="", sent=_target)}

MANAGEMENT = (
    Operation(
        "management.get",
        {
            **_ABOUT,
            "names": value(
                NEEDED, parameter="properties", sent=lambda names, *_: [number_of(name) for name in names], each=True
            ),
        },
        _in_words,
        (action("manage_look", looks, "management.get"),),
        answer=_read,
    ),
    Operation(
        "management.act",
        {**_ABOUT, "action": value(NEEDED, parameter="action")},
        lambda call, state: f"{call.action} of {_of(call)}",
        (action("manage", actions, "management.act"),),
    ),
    Operation(
        "management.connection",
        {
            **_OUTGOING,
            "step": value(NEEDED, parameter="step"),
            "addresses": value(parameter="addresses", sent=lambda addresses, *_: list(addresses)),
            "error": value(0, parameter="error"),
        },
        lambda call, state: f"the connection of {call.queue}: {(call.step or '').replace('_', ' ')}",
        (action("connect", steps, "management.connection"),),
        timed=True,
    ),
    Operation(
        "management.transfer",
        {**_OUTGOING, "count": value(parameter="count")},
        lambda call, state: f"transfer {'all' if call.count is None else call.count} of {call.queue}",
        (action("transfer", transfers, "management.transfer", "management.connection"),),
        answer=_with_transferred,
        timed=True,
    ),
    Operation(
        "management.acknowledge",
        {
            **_OUTGOING,
            "action": value(NEEDED, parameter="kind"),
            "count": value(parameter="count"),
            "number": value(parameter="sequence_number"),
            "message": refers(Kind.MESSAGE, "identifier", plain=None, sent=_identifier),
            "klass": value(parameter="class"),
        },
        _acknowledged,
        (action("acknowledge", acknowledgments, _ACKNOWLEDGE, "management.connection"),),
        timed=True,
    ),
)
ACTIONS: Final = frozenset(each.name for operation in MANAGEMENT for each in operation.choices)
"""The actions of walks about management."""
