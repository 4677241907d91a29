"""Properties of an MSMQQueue that was opened, and those left when it is closed (MC-MQAC 3.11.4.1.1-6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from conformance.activex.cells import requirements
from conformance.activex.events import ACCESS, SHARE, Link
from conformance.activex.expected import Demand, Readings, Seen
from conformance.activex.members import Kind, Member
from conformance.activex.refusals import accepted
from conformance.activex.statuses import OLE_E_BLANK, S_OK
from conformance.activex.tables import CLASSES
from conformance.activex.values import Variant, long, same, short, truth
from conformance.spec.catalogue import reading_id
from conformance.spec.constants import hresults

CLOSED_OBJECT: Final = reading_id("R-MQAC-closed-object")
_ACCESS: Final = {word: number for number, word in ACCESS.items()}
_SHARE: Final = {word: number for number, word in SHARE.items()}
VALUES: Final[Mapping[str, Callable[[Link], Variant]]] = {
    "Access": lambda link: long(_ACCESS[link.access]),
    "ShareMode": lambda link: long(_SHARE[link.share]),
    "QueueInfo": lambda link: Variant("DISPATCH", link.info),
    "IsOpen": lambda link: short(1),
    "IsOpen2": lambda link: truth(True),
}
"""Getters to what they give while the queue is open."""
CLOSED: Final = {"IsOpen": short(0), "IsOpen2": truth(False)}
HANDLES: Final = {"Handle": "I4", "Handle2": "I8"}


def of_open(member: Member, link: Link, seen: Seen, others: Collection[object] = ()) -> Iterator[Demand]:
    """Yield the demands on a getter of an open queue. others: what it has shown of other open queue objects."""
    opened = requirements(CLASSES[member.coclass]["Access"], "get", "opened")
    yield Demand(opened, seen.status != OLE_E_BLANK, {"status": S_OK})
    not_closed = requirements(CLASSES[member.coclass]["IsOpen"], "get", "opened")
    yield Demand(not_closed, seen.status != hresults.MQ_ERROR_INVALID_HANDLE, {"status": S_OK})
    if seen.status in (OLE_E_BLANK, hresults.MQ_ERROR_INVALID_HANDLE):
        return
    yield Demand(requirements(member, "get", "success"), seen.status == S_OK, {"status": S_OK})
    if seen.status != S_OK:
        return
    vt = HANDLES.get(member.name)
    if vt is not None:
        number = seen.value.value if seen.value is not None and seen.value.vt == vt else None
        holds = bool(number) and number not in others
        yield Demand(requirements(member, "get", "gives"), holds, {"value": f"a handle, VT_{vt}"})
    elif member.name in VALUES:
        yield _gives(member, VALUES[member.name](link), seen)


def _gives(member: Member, value: Variant, seen: Seen) -> Demand:
    holds = seen.value is not None and same(seen.value, value)
    column = "gives:true" if value.value else "gives:false"
    return Demand(requirements(member, "get", "gives", column), holds, {"value": value.to_json()})


def of_closed(member: Member, seen: Seen, readings: Readings) -> Iterator[Demand]:
    """Yield the demands on a getter of a closed queue, and on a second Close."""
    if member.name in CLOSED:
        opened = requirements(CLASSES[member.coclass]["Access"], "get", "opened")
        yield Demand(opened, seen.status != OLE_E_BLANK, {"status": S_OK})
        yield Demand(requirements(member, "get", "success"), seen.status == S_OK, {"status": S_OK})
        if seen.status == S_OK:
            yield _gives(member, CLOSED[member.name], seen)
        return
    known = accepted(readings, CLOSED_OBJECT)
    which = "as-listed" if seen.status == S_OK else "invalid-handle"
    holds = which in known and seen.status in (S_OK, hresults.MQ_ERROR_INVALID_HANDLE)
    assumed = ((CLOSED_OBJECT, which),) if holds and len(known) > 1 else ()
    kind: Kind = "method" if member.name == "Close" else "get"
    expected = {"status": S_OK if known[0] == "as-listed" else hresults.MQ_ERROR_INVALID_HANDLE}
    yield Demand(requirements(member, kind, "check:closed"), holds, expected, assumed)
