"""The properties of MSMQQueueInfo that are copies of a queue's (MC-MQAC 3.10.4.1): how each is kept and told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import INFINITE
from conformance.embedded.objects.dispatch import GET, LONG, PUT, TEXT, Kind, Signature
from conformance.embedded.objects.variants import Variant, braced, date, flag, long, short, text

if TYPE_CHECKING:
    from conformance.embedded.objects.queue_info import QueueInfoObject

Tell = Callable[[Any], Variant]
UNIX_ZERO, OPTIONAL_PRIVACY = 0, 1


def _guid(value: Any) -> Variant:
    return text(braced(str(value)) if value else value)


@dataclass(frozen=True, slots=True)
class Property:
    """A property. stored: its name in the copy. taken: the type of the argument of put, None without put.

    otherwise: its value for a queue that is no ApplicationQueue. keep: makes the value to keep of what is put.
    allowed: tells whether a value can be put. refreshes: a getter asks the queue first.
    """

    name: str
    stored: str
    tell: Tell
    taken: Kind | None = None
    otherwise: Any = None
    has_otherwise: bool = False
    keep: Callable[[Any], Any] = lambda value: value
    allowed: Callable[[QueueInfoObject, Any], bool] | None = None
    of_queue: Callable[[QueueInfoObject, Any], Any] = lambda info, value: value
    refreshes: bool = True

    def value(self, info: QueueInfoObject) -> Any:
        """Return the value that a getter tells."""
        if self.has_otherwise and not info.is_application_queue and self.stored not in info.put:
            return self.otherwise
        return self.of_queue(info, info.ref.get(self.stored))


def _public(info: QueueInfoObject) -> bool:
    return (info.format_name or "").upper().startswith("PUBLIC=")


def _priority_allowed(info: QueueInfoObject, value: int) -> bool:
    return -32768 <= value <= 32767 and _public(info)


def _unsigned(value: int) -> int:
    return value & INFINITE


def _transactional(info: QueueInfoObject, value: Any) -> int:
    return int(bool(value) and (info.is_refreshed or info.is_queue_created))


PROPERTIES: tuple[Property, ...] = (
    Property("QueueGuid", "PROPID_Q_INSTANCE", _guid, has_otherwise=True),
    Property("ServiceTypeGuid", "PROPID_Q_TYPE", _guid, TEXT),
    Property("Label", "PROPID_Q_LABEL", text, TEXT),
    Property("PathName", "PROPID_Q_PATHNAME", text),
    Property("IsTransactional", "PROPID_Q_TRANSACTION", short, of_queue=_transactional),
    Property("IsTransactional2", "PROPID_Q_TRANSACTION", flag),
    Property("PrivLevel", "PROPID_Q_PRIV_LEVEL", long, LONG, OPTIONAL_PRIVACY, True),
    Property("Journal", "PROPID_Q_JOURNAL", long, LONG, 0, True, keep=lambda value: int(value != 0)),
    Property("Quota", "PROPID_Q_QUOTA", long, LONG, INFINITE, True, keep=_unsigned),
    Property(
        "BasePriority", "PROPID_Q_BASEPRIORITY", long, LONG, allowed=_priority_allowed,
        of_queue=lambda info, value: value if _public(info) else 0,
    ),
    Property("CreateTime", "PROPID_Q_CREATE_TIME", lambda value: date(value or UNIX_ZERO)),
    Property("ModifyTime", "PROPID_Q_MODIFY_TIME", lambda value: date(value or UNIX_ZERO), None, UNIX_ZERO, True),
    Property("Authenticate", "PROPID_Q_AUTHENTICATE", long, LONG, 0, True, keep=lambda value: int(value != 0)),
    Property("JournalQuota", "PROPID_Q_JOURNAL_QUOTA", long, LONG, INFINITE, True, keep=_unsigned),
    Property("MulticastAddress", "PROPID_Q_MULTICAST_ADDRESS", text, TEXT, keep=lambda value: value or None),
)  # fmt: skip


def signatures(properties: tuple[Property, ...]) -> tuple[Signature, ...]:
    """Return the members of a table of properties: a getter each, and a putter where there is one."""
    found = []
    for row in properties:
        found.append(Signature(row.name, GET, {}, "", row))
        if row.taken is not None:
            found.append(Signature(row.name, PUT, {row.name: row.taken}, "", row))
    return tuple(found)


SIGNATURES = signatures(PROPERTIES)
