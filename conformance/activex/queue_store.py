"""Contents of MSMQQueueInfo objects and of the queues of this computer, as the calls of a plan have left them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from conformance.activex.queue_names import Kind, Target, by_format, by_path
from conformance.activex.values import Variant, long, text

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
        return Target(Kind.UNNAMED) if info.path is None else by_path(info.path, self.computer)

    def queue(self, target: Target) -> Stored | None:
        """Return the queue that is there under a name."""
        return self.queues.get(target.key) if target.kind is Kind.HERE else None

    def parent(self, target: Target) -> Stored | None:
        """Return the queue whose subqueue a name means, if it is there."""
        return self.queues.get(target.key) if target.kind is Kind.SUBQUEUE else None
