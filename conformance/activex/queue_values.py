"""Values of a queue that the getters of MSMQQueueInfo show, where a plan alone does not tell the value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from uuid import NAMESPACE_OID, uuid5

from conformance.activex.choices import Shape
from conformance.activex.queue_store import NULL_GUID, Store, Stored
from conformance.activex.values import Variant, hollow, long, same, short, text, truth

GUID: Final = re.compile(r"\{?[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}\}?", re.IGNORECASE)
EPOCH_DAYS: Final = 25569.0
"""1970-01-01 as an OLE date."""
_SLACK: Final = 300 / 86400
_SOME_GUID: Final = "{01234567-89ab-cdef-0123-456789abcdef}"


def plain_guid(value: Variant) -> str | None:
    """Return a GUID without braces in small letters, None for what is none."""
    if value.vt != "BSTR" or not value.value or GUID.fullmatch(value.value) is None:
        return None
    return str(value.value).strip("{}").casefold()


def guid(key: str, first: Variant | None, others: Mapping[str, Variant], manager: str) -> Shape:
    """Return the shape of a queue's identifier. first: as it was seen before. others: identifiers of other queues."""
    sample = text(f"{{{uuid5(NAMESPACE_OID, key)}}}")
    wanted = None if first is None else plain_guid(first)

    def holds(value: Variant) -> bool:
        shown = plain_guid(value)
        if shown is None or shown in (NULL_GUID.strip("{}"), manager.casefold()):
            return False
        return shown == wanted if wanted is not None else shown not in {plain_guid(one) for one in others.values()}

    return Shape(first or sample, holds, "the GUID of this queue")


def service_type(value: Variant) -> Shape:
    """Return the shape of a service type: the GUID that was put, in any spelling."""
    wanted = plain_guid(value)
    return Shape(value, lambda shown: wanted is not None and plain_guid(shown) == wanted, "the GUID that was put")


def null_text() -> Shape:
    """Return the shape of a text that is NULL."""
    return Shape(Variant("BSTR"), hollow, "any form of NULL")


def path_name(full: str, put: str | None) -> Shape:
    """Return the shape of a path name. full: with the computer's name. put: as the client has spelled it."""
    allowed = {full.casefold(), (put or full).casefold()}
    return Shape(text(full), lambda shown: shown.vt == "BSTR" and str(shown.value or "").casefold() in allowed, full)


def date(first: Variant | None, now: float | None, not_before: float | None = None) -> Shape:
    """Return the shape of a moment: as it was seen before, otherwise about now."""

    def holds(value: Variant) -> bool:
        if value.vt != "DATE":
            return False
        if first is not None:
            return same(value, first)
        days = float(value.value)
        if not_before is not None and days < not_before:
            return False
        return now is None or abs(days - now) <= _SLACK

    return Shape(first or Variant("DATE", str(now or EPOCH_DAYS)), holds, "a DATE in UTC, the moment of the change")


def world_readable(member: str, argument: bool | None, first: Variant | None) -> Shape:
    """Return the shape of IsWorldReadable. argument: what it must be, None for any that fits what was seen first."""
    wanted = argument if argument is not None else (None if first is None else bool(first.value))
    sample = truth(bool(wanted)) if member == "IsWorldReadable2" else short(int(bool(wanted)))

    def holds(value: Variant) -> bool:
        return value.vt == sample.vt and value.value in (0, 1, -1) and wanted in (None, bool(value.value))

    return Shape(sample, holds, "a truth value that fits the queue")


def transactional(member: str, is_so: bool) -> Variant:
    """Return what IsTransactional or IsTransactional2 shows."""
    return truth(is_so) if member == "IsTransactional2" else short(int(is_so))


def format_name(store: Store, queue: Stored, kind: str) -> Shape:
    """Return the shape of a format name that a method works out. kind: private, direct or public."""
    patterns = {
        "private": rf"PRIVATE={re.escape(store.manager)}\\[0-9A-F]{{1,8}}",
        "direct": rf"DIRECT=OS:{re.escape(queue.path)}",
        "public": rf"PUBLIC={GUID.pattern}",
    }
    number = next(at for at, one in enumerate(store.queues.values(), 1) if one is queue)
    samples = {
        "private": f"PRIVATE={store.manager}\\{number:x}",
        "direct": f"DIRECT=OS:{queue.path}",
        "public": f"PUBLIC={_SOME_GUID.strip('{}')}",
    }
    known = {one for one, key in store.formats.items() if store.queues.get(key) is queue}
    of_others = set(store.formats) - known
    pattern = re.compile(patterns[kind], re.IGNORECASE)

    def holds(value: Variant) -> bool:
        return (
            value.vt == "BSTR"
            and pattern.fullmatch(value.value or "") is not None
            and value.value.casefold() not in of_others
        )

    return Shape(text(samples[kind]), holds, f"a {kind} format name of {queue.path}")


def of_machine(attribute: str) -> Variant | Shape | None:
    """Return what a getter shows of a queue that is no application queue; None where no section says."""
    table: dict[str, Variant | Shape] = {
        "Identifier": null_text(),
        "PrivacyLevel": long(1),
        "Journaling": long(0),
        "Quota": long(0xFFFFFFFF),
        "BasePriority": long(0),
        "ModifyTime": Variant("DATE", str(EPOCH_DAYS)),
        "Authentication": long(0),
        "JournalQuota": long(0xFFFFFFFF),
    }
    return table.get(attribute)
