"""Properties of a received message: the values that it was sent with, and nothing of what the read did not want."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.activex.cells import requirements
from conformance.activex.events import Known, argument, wanted
from conformance.activex.expected import Demand, Invoke, Readings, Seen, demands
from conformance.activex.members import Member
from conformance.activex.refusals import accepted
from conformance.activex.statuses import S_OK, failed
from conformance.activex.tables import CLASSES
from conformance.activex.tables_message import NULL_GUID
from conformance.activex.values import hollow
from conformance.spec.catalogue import reading_id

UNWANTED: Final = reading_id("R-MQAC-property-not-wanted")
WANTS: Final = {
    "Body": "WantBody",
    "DestinationQueueInfo": "WantDestinationQueue",
    "ConnectorTypeGuid": "WantConnectorType",
}
"""Properties of a message to the argument by which a read asks for them."""
SHOWN: Final = ("Label", "Body", "LookupId", "Priority", "AppSpecific")
"""Properties that are got from each message that a read gives: they tell which message it is."""


def got(known: Known, name: str, call: Invoke, seen: Seen, readings: Readings) -> Iterator[Demand]:
    """Yield the demands on a property that a client gets from a received message."""
    link, held = known.link(name), known.held[name]
    want = WANTS.get(call.member)
    if link.read is None or want is None:
        found = tuple(demands(held, call, seen, readings))
        if link.read is not None and call.member in known.right and found:
            row = CLASSES[held.coclass][call.member]  # it shows what is there: what is there is wrong
            holds = seen.status != S_OK or all(one.holds for one in found)
            yield Demand(requirements(row, "get", "initial"), holds, found[-1].expected)
        yield from found
        return
    reader = CLASSES["MSMQQueue"][link.read.member]
    if not any(one.name == want for one in reader.slots[0].arguments):
        return
    asked = wanted(reader, link.read, want)
    names = requirements(reader, "method", *columns(reader, link.read, want, asked=asked))
    if not asked:
        yield from _nothing(names, seen, readings)
    elif call.member == "DestinationQueueInfo":
        yield Demand(names, seen.gives, {"status": S_OK, "value": "an MSMQQueueInfo"})
    else:
        found = tuple(demands(held, call, seen, readings))
        if found:
            holds = all(one.holds for one in found) or not _is_empty(seen)
            yield Demand(names, holds, found[-1].expected)
        yield from found


def columns(reader: Member, read: Invoke, want: str, *, asked: bool) -> tuple[str, ...]:
    """Return the columns of a read that say whether it shows a property."""
    left = argument(reader, read, want) is None
    return (*((f"default:{want}",) if left else ()), f"want:{want}:{'true' if asked else 'false'}")


def _is_empty(seen: Seen) -> bool:
    """Tell whether a getter has shown nothing: a property that is there and wrong is the getter's fault."""
    value = seen.value
    return value is None or hollow(value) or value.value == 0 or value.value in (NULL_GUID, f"{{{NULL_GUID}}}")


def _nothing(names: tuple[str, ...], seen: Seen, readings: Readings) -> Iterator[Demand]:
    known = accepted(readings, UNWANTED)
    which = "fails" if failed(seen.status) else "empty"
    holds = which in known and (which == "fails" or (seen.status == S_OK and _is_empty(seen)))
    assumed = ((UNWANTED, which),) if holds and len(known) > 1 else ()
    yield Demand(names, holds, {"value": "nothing, because the read did not ask for it"}, assumed)
