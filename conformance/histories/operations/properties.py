"""Queue properties: example values, creating queues with them, setting and getting them, and the walks about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as replaced
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.histories.operations.operation import (
    NEEDED,
    Action,
    Manner,
    Member,
    Offer,
    Operation,
    action,
    refers,
    value,
)
from conformance.histories.operations.operation import Kind as ArgumentKind
from conformance.model import Answer, Call, State
from conformance.model.properties import LONGEST_QUEUE_LABEL, NO_GUID, OF_DIRECTORY, ROWS, UNLIMITED, Kind, PropertyRow
from conformance.model.property_refusals import CREATE, GET, SET
from conformance.model.state import Properties
from conformance.model.values import replace
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.histories.operations.operation import Handles

UNKNOWN = ("PROPID_Q_NONE", "PROPID_Q_", "", "propid_q_label", "PROPID_M_LABEL", "PROPID_QM_QUOTA")
"""Names of no queue property."""
GUID = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
_NUMBERS: Mapping[Kind, tuple[int, ...]] = {
    Kind.UI4: (0, 1, 0x7FFFFFFF, 0x80000000, UNLIMITED - 1, UNLIMITED),
    Kind.I2: (1, -1, 0x7FFF, -0x8000, 0),
    Kind.I4: (0, 1, 0x7FFFFFFF),
}
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "PROPID_Q_LABEL": (
        *("orders", "", " two  spaces ", "Жук \U0001f600", "q\"'\\;,=", "x" * LONGEST_QUEUE_LABEL),
        *(letter * LONGEST_QUEUE_LABEL for letter in "Ж漢"),  # of 2 and 3 bytes in UTF-8
        "\U0001f600" * (LONGEST_QUEUE_LABEL // 2),
    ),
    "PROPID_Q_MULTICAST_ADDRESS": ("234.1.1.1:1801", "224.0.1.88:1", "239.255.255.255:65535"),
}


def good(row: PropertyRow) -> tuple[Json, ...]:
    """Return values that a property can have; the first is not its default, if it can have another."""
    if row.values:
        return tuple(sorted(row.values, key=lambda value: row.default is not None and value == row.default[0]))
    if row.kind is Kind.GUID:
        return (GUID, GUID.lower(), NO_GUID)
    return _TEXTS.get(row.name, ("text",)) if row.kind is Kind.TEXT else _NUMBERS.get(row.kind, (1, 0))


def bad(row: PropertyRow) -> tuple[Json, ...]:
    """Return values a property cannot have: out of range or of another type. Private queues take any base priority."""
    if row.name == "PROPID_Q_BASEPRIORITY":
        return ()
    if row.values:
        return (max(row.values) + 1, 0xFF, 0x100, -1, "1", None)
    if row.kind is Kind.GUID:
        return ("", "orders", GUID[:-1], 5, None)
    if row.name == "PROPID_Q_MULTICAST_ADDRESS":
        return ("orders", "10.0.0.1:1801", "234.1.1.1", 5)
    if row.kind is Kind.TEXT:
        return ("x" * (2 * LONGEST_QUEUE_LABEL + 1), 5, None)
    return (-1, UNLIMITED + 1, "7", None)


def plausible(row: PropertyRow) -> Json:
    """Return a value of the right type for a property that cannot be written, different from its own."""
    values: dict[str, Json] = {"PROPID_Q_SCOPE": 0, "PROPID_Q_TRANSACTION": 1, "PROPID_Q_PATHNAME": "HOST\\private$\\z"}
    return values.get(row.name, good(row)[0])


def of_directory(name: str) -> Json:
    """Return a value of the right type for a property that only a directory has; bytes are base64."""
    examples: dict[str, Json] = {"VT_CLSID": GUID, "VT_UI4": 1, "VT_LPWSTR": "text"}
    return examples.get(OF_DIRECTORY[name], "AQIDBA==")


def writable(row: PropertyRow, method: str) -> bool:
    """Return True if the method (CREATE or SET) can write a property."""
    return (row.given if method == CREATE else row.kept) is not None


QUEUES: Final = ("pq1", "pq2", "pq3")
"""The queues of walks about properties."""
_MOST_TOLD = 3
Values: TypeAlias = tuple[tuple[str, Json], ...]


def look(state: State, queue: str) -> Call:
    """Return the call that reads every property of a queue."""
    assert state.properties is not None
    return Call("queues.get", queue=queue, names=state.properties.shown)


def looks(state: State) -> list[Call]:
    """Read the queue that must be read before any other call."""
    properties = state.properties
    return [look(state, properties.unread[0])] if properties is not None and properties.unread else []


def creations(state: State) -> list[Call]:
    """Create an absent queue with properties."""
    return [call for name in _absent(state) for call in _writing(CREATE, name, _settled(state).shown, wrong=False)]


def wrong_creations(state: State) -> list[Call]:
    """Create an absent queue with a property that creation must refuse."""
    return [call for name in _absent(state) for call in _writing(CREATE, name, _settled(state).shown, wrong=True)]


def settings(state: State) -> list[Call]:
    """Set properties of a queue."""
    return [call for name in _there(state) for call in _writing(SET, name, _settled(state).shown, wrong=False)]


def wrong_settings(state: State) -> list[Call]:
    """Set a property that the call must refuse."""
    return [call for name in _there(state) for call in _writing(SET, name, _settled(state).shown, wrong=True)]


def mistakes(state: State, offer: Offer) -> list[Call]:
    """Create an existing queue, get or set properties of an absent one, or get a property that no queue has."""
    there, absent = _there(state), _absent(state)
    calls = [Call(CREATE, queue=name, values=(("PROPID_Q_LABEL", "again"),)) for name in there]
    calls += [Call("queues.get", queue=name, names=("PROPID_Q_LABEL", other)) for name in there for other in UNKNOWN]
    calls += [Call("queues.get", queue=name, names=("PROPID_Q_LABEL",)) for name in absent]
    if offer.has(SET):
        calls += [Call(SET, queue=name, values=(("PROPID_Q_LABEL", "orders"),)) for name in absent]
    return calls


def uses(state: State) -> list[Call]:
    """Send a message to a queue and receive it."""
    return [Call("use", queue=name) for name in _there(state)]


def deletions(state: State) -> list[Call]:
    """Delete a queue."""
    return [Call("queues.delete", queue=name) for name in _there(state)]


def passing(state: State) -> list[Call]:
    """Let time pass, so that the times of queues differ."""
    return [Call("clock.advance", by_ms=by) for by in (1, 999, 1000, 61_000)] if _there(state) else []


def restarts(state: State) -> list[Call]:
    """Restart the manager once in a history, when all queues exist and could be lost."""
    enough = not state.restarts and len(_there(state)) == len(QUEUES)
    return [Call("restart", kill=kill) for kill in (True, False)] if enough else []


def _settled(state: State) -> Properties:
    """Return the properties if every queue was read since its last possible change; otherwise empty ones."""
    found = state.properties
    return found if found is not None and not found.unread else Properties()


def _there(state: State) -> list[str]:
    return [name for name in QUEUES if name in _settled(state).queues]


def _absent(state: State) -> list[str]:
    found = _settled(state)
    return [name for name in QUEUES if name not in found.queues] if found.shown else []


@lru_cache(64)
def _writing(method: str, queue: str, shown: tuple[str, ...], *, wrong: bool) -> tuple[Call, ...]:
    values = _wrong_values(method, shown) if wrong else _good_values(method, shown)
    return tuple(Call(method, queue=queue, values=each or None) for each in values)


def _good_values(method: str, shown: tuple[str, ...]) -> list[Values]:
    """Return lists of one property and of two and three neighbours in the table, with values they can have."""
    rows = [ROWS[name] for name in shown if writable(ROWS[name], method)]
    found: list[Values] = [()] if method == CREATE else []
    for at, row in enumerate(rows):
        for number, given in enumerate(good(row)):
            first = (row.name, given)
            second, third = (
                (other.name, values[number % len(values)])
                for other in (rows[(at + 1) % len(rows)], rows[(at + 2) % len(rows)])
                if (values := good(other))
            )
            found += [(first,), (first, second), (third, second, first)]
    return found


def _wrong_values(method: str, shown: tuple[str, ...]) -> list[Values]:
    """Return lists with a property to refuse: alone, and before and after one to accept."""
    rows = [ROWS[name] for name in shown]
    wrong: list[tuple[str, Json]] = [(name, 1) for name in UNKNOWN]
    wrong += [(name, of_directory(name)) for name in OF_DIRECTORY]
    for row in rows:
        if writable(row, method):
            wrong += [(row.name, given) for given in bad(row)]
        elif method != CREATE or row.name != "PROPID_Q_PATHNAME":  # a creation names the path apart
            wrong.append((row.name, plausible(row)))
    fine = [(row.name, good(row)[0]) for row in rows if writable(row, method)]
    found: list[Values] = []
    for number, each in enumerate(wrong):
        found.append((each,))
        beside = fine[number % len(fine)] if fine else each
        if beside[0] != each[0]:
            found += [(beside, each), (each, beside)]
    return found


def written() -> Member:
    """Return the member for the properties that a call writes."""
    return value(
        parameter="properties",
        sent=lambda values, *_: dict(values),
        accepted=lambda pair: ("properties", pair[0]),
        each=True,
    )


def in_words(call: Call) -> list[str]:
    """Describe the properties that a call writes."""
    return [f"{name} = {given!r:.80}" for name, given in call.values or ()]


def few(values: Mapping[str, Json]) -> list[str]:
    """Describe the properties of an answer; empty for more than _MOST_TOLD, which nobody wants to read."""
    read = values.get("properties")
    return (
        [f"{name} = {given!r:.80}" for name, given in read.items()]
        if isinstance(read, dict) and len(read) <= _MOST_TOLD
        else []
    )


def _reading(call: Call, state: State) -> str:
    names = call.names or ()
    known = [name.removeprefix("PROPID_Q_") for name in names if name in ROWS]
    what = "all properties" if len(known) == len(names) > 1 else ", ".join(names)
    return f"read {what} of {call.queue}"


def _read(answer: Answer, call: Call, values: Mapping[str, Any], handles: Handles) -> Answer:
    read = values.get("properties")
    return answer if answer.failed or read is None else replace(answer, values={**answer.values, "properties": read})


def _watched(client: Port, call: Call, handles: Handles) -> Answer:
    return Answer(values={"queue_manager": client.hello.queue_manager or None})


def _used(client: Port, call: Call, handles: Handles) -> Answer:
    opened: list[Any] = []
    for access in ("send", "receive"):
        result = client.call("queues.open", format_name=handles.format(call.queue or ""), access=access)
        opened.append(result.values["queue"] if result.ok else None)
    if opened[0] is not None:
        client.call("messages.send", queue=opened[0], message={"label": "used"})
    if opened[1] is not None:
        client.call("messages.receive", queue=opened[1], timeout_ms=0)
    for handle in opened:
        if handle is not None:
            client.call("queues.close", queue=handle)
    return Answer()


OPERATIONS = (
    Operation(
        "queues.set",
        {"queue": refers(ArgumentKind.QUEUE, "format_name"), "values": replaced(written(), plain=NEEDED)},
        lambda call, state: f"set {', '.join(in_words(call))} of {call.queue}",
        (action("set", settings, SET), action("set_wrong", wrong_settings, SET)),
        timed=True,
    ),
    Operation(
        "queues.get",
        {
            "queue": refers(ArgumentKind.QUEUE, "format_name"),
            "names": value(
                NEEDED,
                parameter="properties",
                sent=lambda names, *_: list(names),
                accepted=lambda name: ("properties", name),
                each=True,
            ),
        },
        _reading,
        (action("look", looks, GET), Action("property_mistake", mistakes, (GET,))),
        answer=_read,
        timed=True,
    ),
    Operation(
        "watch",
        {"names": value(each=True)},
        lambda call, state: "from now on the properties of queues are read",
        (
            action("create_with", creations, CREATE),
            action("create_wrong", wrong_creations, CREATE),
            action("delete_read", deletions, "queues.delete"),
            action("pass_some", passing, virtual=True),
            action("restart_once", restarts),
        ),
        Manner.OWN,
        performed=_watched,
    ),
    Operation(
        "use",
        {"queue": refers(ArgumentKind.QUEUE)},
        lambda call, state: f"send a message to {call.queue} and receive it",
        (action("use", uses, "queues.open", "messages.send", "messages.receive"),),
        Manner.OWN,
        performed=_used,
    ),
)
ACTIONS: Final = frozenset(each.name for operation in OPERATIONS for each in operation.choices)
"""The actions of walks about properties."""
