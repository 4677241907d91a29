"""Format names as QUEUE_FORMATs, the other way round than what is judged."""

from __future__ import annotations

from conformance.grammar import values
from conformance.grammar.queue_format import (
    DIRECT_JOURNAL,
    DOMAIN_ABSENT,
    NOT_SYSTEM,
    SUBQUEUE_PREFIX,
    SYSTEM,
    XACTONLY_FLAGS,
    DlId,
    MulticastId,
    ObjectId,
    Qft,
    QueueFormat,
    QueueFormatError,
    Readings,
    Suffix,
    Union,
)
from conformance.grammar.values import QueueName
from conformance.spec.catalogue import assignment

_JOURNAL = ";journal"
_SUFFIXES = {
    values.JOURNAL: Suffix.JOURNAL,
    values.DEADLETTER: Suffix.DEADLETTER,
    values.DEADXACT: Suffix.DEADXACT,
}
_WHY_SUBQUEUE = "a subqueue has no journal"
_WHY = {
    "path": "a path name is not a format name",
    "multiple_element": "it has one for each element",
    "machine": "without a suffix a machine name is forbidden",
}


def to_queue_format(name: QueueName, readings: Readings | None = None) -> QueueFormat:
    """Return the QUEUE_FORMAT of a format name, by the first accepted alternative of each reading.

    Raises QueueFormatError for a name without one: a path, several elements, a machine without suffix, or a journal of
    a subqueue.
    """
    accepted = readings if readings is not None else assignment("windows")
    match name:
        case values.PublicName():
            return _with_suffix(Qft.PUBLIC, name.suffix, name.guid)
        case values.PrivateName():
            return _with_suffix(Qft.PRIVATE, name.suffix, ObjectId(name.guid, name.identifier))
        case values.MachineName() if name.suffix is not None:
            return _with_suffix(Qft.MACHINE, name.suffix, name.guid)
        case values.DirectName() if name.subqueue is None:
            text = name.text.partition("=")[2]
            if name.suffix == values.JOURNAL and name.queue is not None and accepted[DIRECT_JOURNAL][0] == "dropped":
                text = text[: -len(_JOURNAL)]
            return _with_suffix(Qft.DIRECT, name.suffix, text)
        case values.DirectName() if name.suffix is None:
            text = name.text if accepted[SUBQUEUE_PREFIX][0] == "with" else name.text.partition("=")[2]
            return QueueFormat(Qft.SUBQUEUE, NOT_SYSTEM | Suffix.SUBQUEUE, text)
        case values.ConnectorName() if name.suffix is not None:
            return QueueFormat(
                Qft.CONNECTOR,
                (SYSTEM if accepted[XACTONLY_FLAGS][0] == "system" else NOT_SYSTEM) | Suffix.XACTONLY,
                name.guid,
            )
        case values.ConnectorName():
            return _with_suffix(Qft.CONNECTOR, None, name.guid)
        case values.DistributionListName():
            nothing = "" if accepted[DOMAIN_ABSENT][0] == "empty-text" else None
            return _with_suffix(Qft.DL, None, DlId(name.guid, name.domain if name.domain is not None else nothing))
        case values.MulticastName():
            return _with_suffix(Qft.MULTICAST, None, MulticastId(name.address, name.port))
    raise QueueFormatError(f"No QUEUE_FORMAT holds {name.text!a}: {_WHY.get(name.kind, _WHY_SUBQUEUE)}.")


def _with_suffix(qft: Qft, word: str | None, union: Union) -> QueueFormat:
    if word is None:
        return QueueFormat(qft, NOT_SYSTEM | Suffix.NONE, union)
    return QueueFormat(qft, SYSTEM | _SUFFIXES[word], union)
