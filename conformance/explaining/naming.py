"""Names and packets of two implementations made comparable: handles, identifiers, times, and members of packets."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from conformance.explaining.stories import Implementation
from conformance.wire import dissect

_SIZES: Final = (".PacketSize", ".Count", "Length", ".HeadersEnd", ".Unexplained")
"""Ends of the names of fields that depend on how long the implementation's own names are."""
_OWN: Final = frozenset(
    {
        "UserHeader.SourceQueueManager",
        "UserHeader.MessageID",
        "UserHeader.SentTime",
        "UserHeader.QueueManagerAddress",
        "MessagePropertiesHeader.CorrelationID",
        "TransactionHeader.TxSequenceID",
    }
)
"""Fields that are told otherwise, or that each implementation counts on its own."""


def members(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer of `outgoing.take` with the fields of each packet in place of its bytes."""
    packets = answer.get("packets")
    if not isinstance(packets, list) or not all(isinstance(raw, str) for raw in packets):
        return answer
    return {**answer, "packets": [_fields(raw) for raw in packets]}


@lru_cache(256)
def _fields(raw: str) -> Any:
    """Return the fields of a packet, named so that identifiers and times are known as such; its text if it is none."""
    try:
        fields = dissect(binascii.a2b_base64(raw), transport="buffer").fields
    except (binascii.Error, ValueError):
        return raw
    told: dict[str, Any] = {
        name: value.hex() if isinstance(value, bytes) else value
        for name, value in fields.items()
        if name not in _OWN and not name.endswith(_SIZES)
    }
    told["identifier"] = {
        "source": str(fields.get("UserHeader.SourceQueueManager")),
        "ordinal": fields.get("UserHeader.MessageID"),
    }
    told["sent_time"] = fields.get("UserHeader.SentTime")
    correlated = fields.get("MessagePropertiesHeader.CorrelationID")
    told["correlation_identifier"] = base64.b64encode(correlated).decode() if isinstance(correlated, bytes) else ""
    return told


_HANDLE: Final = "handle"
KINDS: Final[Mapping[str, str]] = {
    "queue": _HANDLE,
    "destination": _HANDLE,
    "cursor": "cursor",
    "transaction": "transaction",
    "read": "read",
    "format_name": "format name",
    "lookup_identifier": "lookup identifier",
    "PROPID_Q_INSTANCE": "instance",
}
"""Members whose values are names, by the kind of what they name."""
_GIVEN = frozenset({_HANDLE, "cursor", "transaction", "read"})  # an answer gives them out; they may be used again
_INNER = frozenset({"lookup_identifier", "PROPID_Q_INSTANCE"})  # the others are names at the top of an answer only
_PLAIN = frozenset({"names", "packets", "structures"})  # facets whose answers are values, and no names of anything
_SECONDS = frozenset({"sent_time", "arrival_time", "PROPID_Q_CREATE_TIME", "PROPID_Q_MODIFY_TIME"})
_MILLISECONDS = frozenset({"time_ms"})
_IDENTIFIER_BYTES = 20  # MS-MQMQ 2.2.8: a GUID and a number of four bytes
_ABSENT = object()


class AnswerComparer:
    """The names bound so far in one story. ours: of the embedded manager."""

    def __init__(self, theirs: Implementation, ours: Implementation) -> None:
        self._bound: dict[tuple[str, Any], Any] = {}
        self._taken: dict[tuple[str, Any], Any] = {}
        self._texts: dict[str, str] = {}
        self._offsets: dict[str, int] = {}
        self.lacking: set[tuple[str, str]] = set()
        """Method and path of each member that only our answers have."""
        self._method = ""
        self._lookups: list[tuple[int, int]] = []
        self._virtual = theirs.virtual
        for name, other in ((theirs.computer, ours.computer), (theirs.queue_manager, ours.queue_manager)):
            if name and other and name != other:
                self._texts[name] = other

    def asked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with our names in place of theirs."""
        return {name: self._asked(name, value) for name, value in params.items()}

    def _asked(self, member: str, value: Any) -> Any:
        kind = KINDS.get(member) if isinstance(value, str | int) else None
        if kind is not None and (kind, value) in self._bound:
            return self._bound[kind, value]
        if isinstance(value, str):
            if member == "correlation_identifier":
                return self._correlation(value)
            return self._text(value)
        if isinstance(value, Mapping):
            if member == "identifier":
                return self._bound.get(("identifier", _identifier(value)), value)
            return {name: self._asked(name, inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._asked(member, inner) for inner in value]
        return value

    def differing(self, method: str, theirs: Any, ours: Any) -> Iterator[str]:
        """Yield the paths of the members in which two answers differ, and bind the names that are new in them."""
        if method.partition(".")[0] in _PLAIN:
            if theirs != ours and self._plain(theirs) != ours:
                yield "value"
            return
        self._method = method
        if method == "outgoing.take" and isinstance(theirs, Mapping) and isinstance(ours, Mapping):
            theirs, ours = members(theirs), members(ours)
        yield from self._differing("", theirs, ours)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self._plain(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._plain(inner) for inner in value]
        return self._text(value) if isinstance(value, str) else value

    def _differing(self, member: str, theirs: Any, ours: Any) -> Iterator[str]:
        if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
            if member.endswith("identifier") and "ordinal" in theirs:
                if not self._same("identifier", _identifier(theirs), _identifier(ours)):
                    yield member
                return
            for name in dict.fromkeys((*theirs, *ours)):
                path = f"{member}.{name}" if member else name
                left, right = theirs.get(name, _ABSENT), ours.get(name, _ABSENT)
                if left is _ABSENT:
                    self.lacking.add((self._method, path))
                if left is _ABSENT or right is _ABSENT:
                    yield path
                else:
                    yield from self._differing(path, left, right)
            return
        if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
            for left, right in zip(theirs, ours, strict=True):
                yield from self._differing(member, left, right)
            return
        if not self._equal(member, theirs, ours):
            yield member

    def _equal(self, path: str, theirs: Any, ours: Any) -> bool:
        member = path.rpartition(".")[2]
        kind = KINDS.get(member) if path == member or member in _INNER else None
        if kind is not None and isinstance(theirs, str | int) and isinstance(ours, str):
            return self._same(kind, theirs, ours)
        if member in _SECONDS or member in _MILLISECONDS:
            return self._time(member, theirs, ours)
        if member == "correlation_identifier" and isinstance(theirs, str):
            return bool(self._correlation(theirs) == ours)
        if isinstance(theirs, str):
            return ours in (theirs, self._text(theirs))
        return type(theirs) is type(ours) and bool(theirs == ours)

    def _same(self, kind: str, theirs: Any, ours: Any) -> bool:
        """Tell whether two names stand for the same thing; names that are both new are bound.

        Lookup identifiers tell an order too: two must stand to each other as the two they stand for.
        """
        if kind in _GIVEN:
            self._bound[kind, theirs] = ours
            return True
        if (kind, theirs) in self._bound:
            return bool(self._bound[kind, theirs] == ours)
        if (kind, ours) in self._taken:
            return False
        ordered = kind != "lookup identifier" or self._ordered(str(theirs), str(ours))
        self._bound[kind, theirs] = ours
        self._taken[kind, ours] = theirs
        if kind == "format name" and theirs != ours:
            self._texts[theirs] = ours
        return ordered

    def _ordered(self, theirs: str, ours: str) -> bool:
        if not (theirs.isdecimal() and ours.isdecimal()):
            return True
        before = self._lookups
        before.append((int(theirs), int(ours)))
        return all((before[-1][0] < left) == (before[-1][1] < right) for left, right in before[:-1])

    def _time(self, member: str, theirs: Any, ours: Any) -> bool:
        """Tell whether two times are equally far from the first ones of the story. A real clock tells nothing."""
        if type(theirs) is not int or type(ours) is not int:
            return type(theirs) is type(ours)
        if not self._virtual:
            return True
        unit = "s" if member in _SECONDS else "ms"
        offset = self._offsets.setdefault(unit, theirs - ours)
        return abs(theirs - ours - offset) <= (1 if unit == "s" else 0)  # seconds are cut off at different places

    def _correlation(self, text: str) -> str:
        """Return a correlation identifier with our identifier in place of theirs, if it names a message."""
        try:
            value = base64.b64decode(text)
        except (binascii.Error, ValueError):
            return text
        if len(value) != _IDENTIFIER_BYTES or not any(value):
            return text
        named = (str(uuid.UUID(bytes_le=value[:16])), int.from_bytes(value[16:], "little"))
        ours = self._bound.get(("identifier", named))
        if ours is None:
            return text
        try:
            raw = uuid.UUID(ours[0]).bytes_le + int(ours[1]).to_bytes(4, "little")
        except (ValueError, OverflowError):
            return text
        return base64.b64encode(raw).decode()

    def _text(self, text: str) -> str:
        for theirs in sorted(self._texts, key=len, reverse=True) if self._texts else ():
            if theirs in text:
                text = text.replace(theirs, self._texts[theirs])
        return text


def _identifier(value: Any) -> Any:
    """Return a message identifier as a value that can be a key."""
    try:
        return str(value["source"]).lower(), value["ordinal"]
    except (KeyError, TypeError):
        return repr(value)
