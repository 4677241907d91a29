"""Queues as objects see them: their names, their properties and values, and what a store of them holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from uuid import NAMESPACE_OID, uuid5

from conformance.activex.step import Shape
from conformance.activex.values import Variant, hollow, long, same, short, text, truth


class QueueKind(Enum):
    """The meaning of a name. OTHER: something of which the sections of MSMQQueueInfo say nothing."""

    UNNAMED = "no name"
    UNPARSED = "no name that can be parsed"
    NO_COMPUTER = "a path name without computer"
    SEVERAL = "several queues, HTTP or multicast"
    ELSEWHERE = "a private queue of another computer"
    MACHINE = "a system queue of this computer"
    HERE = "a queue of this computer"
    SUBQUEUE = "a subqueue of a queue of this computer"
    OTHER = "something else"


@dataclass(frozen=True, slots=True)
class Target:
    """The queue that a name means. key: of a queue here, its path name behind the computer, in small letters."""

    kind: QueueKind
    key: str = ""
    public: bool = False


_PATH: Final = re.compile(
    r"(?P<computer>[^\\;,]*)\\(?P<key>(?P<scope>private\$\\)?(?P<name>[^\\;,\"]+))", re.IGNORECASE
)
_SYSTEM: Final = re.compile(r"system\$;(deadletter|deadxact)", re.IGNORECASE)
LONGEST: Final = 124


def by_path(text: str, computer: str) -> Target:
    """Return what a path name means on a computer of that name."""
    whole, _, subqueue = text.partition(";")
    if subqueue:
        target = by_path(whole, computer)
        single = ";" not in subqueue and target.kind is QueueKind.HERE
        return Target(QueueKind.SUBQUEUE if single else QueueKind.OTHER, target.key)
    match = _PATH.fullmatch(text)
    if match is None:
        return Target(QueueKind.UNPARSED)
    if not match["computer"]:
        return Target(QueueKind.NO_COMPUTER)
    if len(match["name"]) > LONGEST:
        return Target(QueueKind.UNPARSED)
    public = match["scope"] is None
    if public and match["computer"].casefold() == "private$":
        return Target(QueueKind.UNPARSED)
    if match["computer"] != "." and match["computer"].casefold() != computer.casefold():
        return Target(QueueKind.OTHER if public else QueueKind.ELSEWHERE)
    return Target(QueueKind.HERE, match["key"].casefold(), public)


def by_format(text: str, computer: str, known: Mapping[str, str]) -> Target:
    """Return what a format name means. known: format names that were handed out, in small letters, to their keys."""
    small = text.casefold()
    if small in known:
        return Target(QueueKind.HERE, known[small], small.startswith("public="))
    if "," in text or small.startswith(("direct=http", "multicast=", "dl=")):
        return Target(QueueKind.SEVERAL)
    if small.startswith("direct=os:"):
        address, _, rest = text[len("direct=os:") :].partition("\\")
        if _SYSTEM.fullmatch(rest):
            return Target(
                QueueKind.MACHINE if address == "." or address.casefold() == computer.casefold() else QueueKind.OTHER
            )
        return by_path(f"{address}\\{rest}", computer)
    if "=" not in text:
        return Target(QueueKind.UNPARSED)
    return Target(QueueKind.OTHER, public=small.startswith("public="))


Names = tuple[str, ...]

NULL_GUID: Final = "{00000000-0000-0000-0000-000000000000}"
DEFAULTS: Final[Mapping[str, Variant]] = {
    "Type": text(NULL_GUID),
    "Label": text(""),
    "PrivacyLevel": long(1),
    "Journaling": long(0),
    "Quota": long(0xFFFFFFFF),
    "BasePriority": long(0),
    "Authentication": long(0),
    "JournalQuota": long(0xFFFFFFFF),
    "MulticastAddress": text(""),
}
"""The values that Set Queue Defaults leaves in a queue (MS-MQDMPR 3.1.7.1.33), by attribute."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A queue. path: its path name. shows: attribute to the requirements that its value shows. readable: the argument
    of Create. opened: name of the queue object, access and share mode of each descriptor. doubtful: attributes whose
    value no section tells.
    """

    path: str
    public: bool
    transactional: bool = False
    readable: bool = False
    values: Mapping[str, Variant] = field(default_factory=dict)
    shows: Mapping[str, Names] = field(default_factory=dict)
    opened: tuple[tuple[str, int, int], ...] = ()
    doubtful: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Info:
    """An MSMQQueueInfo. path, format: the names that the client put. resolved: a method has worked the format name out.
    system: refreshed from a system queue.

    values, shows: as in Stored. unsaved: attributes put since the queue had the object's values. refusal: what the last
    Refresh by this name answered, if it failed. because: the requirements that the object's lack of a name shows.
    forgets: those that a look at the queue shows, because a new name made the object forget what it had.
    named: those that its format name shows, because a message has handed the object out. had_format: those that it
    shows because a new path name took the place of a format name. forgetful: a new name has made it look again.
    perhaps: a getter may have worked the format name out before it showed what was put.
    """

    path: str | None = None
    format: str | None = None
    refreshed: bool = False
    created: bool = False
    resolved: bool = False
    system: bool = False
    values: Mapping[str, Variant] = field(default_factory=lambda: dict(DEFAULTS))
    shows: Mapping[str, Names] = field(default_factory=dict)
    unsaved: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    refusal: int | None = None
    because: Names = ()
    forgets: Names = ()
    named: Names = ()
    had_format: Names = ()
    forgetful: bool = False
    perhaps: bool = False


@dataclass(frozen=True, slots=True)
class Store:
    """The queues of a computer. formats: format names that were handed out, in small letters, to keys. seen: what was
    first shown of a queue, by key and attribute. gone: key of a deleted queue to the requirements that its lack shows.
    """

    computer: str
    manager: str
    now: float | None = None
    queues: Mapping[str, Stored] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[tuple[str, str], Variant] = field(default_factory=dict)
    gone: Mapping[str, Names] = field(default_factory=dict)

    def target(self, info: Info) -> Target:
        """Return what the name of an object means."""
        if info.format is not None:
            return by_format(info.format, self.computer, self.formats)
        return Target(QueueKind.UNNAMED) if info.path is None else by_path(info.path, self.computer)

    def queue(self, target: Target) -> Stored | None:
        """Return the queue that is there under a name."""
        return self.queues.get(target.key) if target.kind is QueueKind.HERE else None

    def parent(self, target: Target) -> Stored | None:
        """Return the queue whose subqueue a name means, if it is there."""
        return self.queues.get(target.key) if target.kind is QueueKind.SUBQUEUE else None


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
