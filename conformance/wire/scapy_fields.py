"""Scapy fields whose bytes the layout tables read and write, and the element of a list of names as a scapy packet."""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.fields import ConditionalField, Field
from scapy.packet import Packet
from scapy.volatile import RandBin, RandNum, RandUUID

from conformance.wire import elements as lists
from conformance.wire.display import shown
from conformance.wire.layout import Elements, Guid, Item, Octets, UInt, Value
from conformance.wire.multi_queue_format_header import MULTI_QUEUE_FORMAT_HEADER
from conformance.wire.readable_security import readable
from conformance.wire.steps import Blob, steps_of

_SECURITY = "SecurityHeader.SecurityData."


class TableField(Field):  # type: ignore[misc]
    """A field whose bytes the table reads and writes; it only has a name, a representation and random values."""

    __slots__ = ("item", "width")

    def __init__(self, name: str, item: Item | None, width: int) -> None:
        super().__init__(name, None)
        self.item = item
        self.width = width

    def any2i(self, pkt: Any, x: Any) -> Any:
        return x

    def i2repr(self, pkt: Any, x: Any) -> str:
        key = str(getattr(pkt, "keys", {}).get(self.name, self.name))
        words = readable(key, x, pkt.getfieldval("ST")) if key.startswith(_SECURITY) else None
        return shown(key, x) if words is None else words

    def randval(self) -> Any:
        if isinstance(self.item, Guid):
            return RandUUID()
        if self.item is None or isinstance(self.item, UInt):
            return RandNum(0, (1 << self.width) - 1)
        return RandBin(RandNum(0, 64))


class ElementsField(TableField):
    """A list of elements, each a packet; bytes where they cannot be read as elements."""

    islist = 1
    holds_packets = 1

    def i2repr(self, pkt: Any, x: Any) -> str:
        if isinstance(x, list):
            return f"[{', '.join(one.queue_name() for one in x)}]"
        return super().i2repr(pkt, x)

    def do_copy(self, x: Any) -> Any:
        return [one.copy() for one in x] if isinstance(x, list) else x


def field_of(name: str, item: Item | None, width: int) -> TableField:
    """Return the scapy field of a field of a table."""
    if isinstance(item, Octets) and item.elements is not None:
        return ElementsField(name, item, width)
    return TableField(name, item, width)


TABLE: Elements = next(
    step.elements for step in steps_of(MULTI_QUEUE_FORMAT_HEADER) if isinstance(step, Blob) and step.elements
)


def _given(name: str) -> Any:
    return lambda pkt: name in pkt.fields


def _element_fields() -> list[Any]:
    kinds: dict[str, UInt | Guid | None] = {}
    for items in TABLE.options.values():
        for item in items:
            if isinstance(item, UInt | Guid):
                kinds.setdefault(item.name, item)
        kinds |= dict.fromkeys(name for name in lists.names_of(items) if name not in kinds)
    fields = [TableField(TABLE.selector, UInt(TABLE.selector, 2), 16)]
    for name, kind in {"Padding": None, **kinds}.items():
        width = 8 * kind.width if isinstance(kind, UInt) else 0
        fields.append(ConditionalField(TableField(name, kind or Octets(name, _NO_LENGTH), width), _given(name)))
    return fields


_NO_LENGTH = lists.NO_LENGTH


class MQFFormatNameElement(Packet):  # type: ignore[misc]
    """A queue name in a MultiQueueFormatHeader (MS-MQMQ 2.2.18.1.4). FormatType follows from the field that is set.

    Alone it is read and written as the first of a list.
    """

    name = "MQFFormatNameElement"
    keys: ClassVar[dict[str, str]] = {}
    fields_desc: ClassVar[list[Any]] = _element_fields()
    raw_packet_cache: bytes | None

    def values(self) -> dict[str, Value]:
        """Return the fields that are set, by name."""
        found = {field.name: self.getfieldval(field.name) for field in self.fields_desc}
        return {name: plain(value) for name, value in found.items() if value is not None}

    def do_dissect(self, s: bytes) -> bytes:
        """Read one element; the bytes behind it belong to the payload."""
        fields, spans = lists.facts("L", bytes(s), 0, 0, 1, TABLE)
        end = max((at + length for key, (at, length) in spans.items() if key.startswith("L.0.")), default=0)
        self.fields.update((key.removeprefix("L.0."), value) for key, value in fields.items() if key.startswith("L.0."))
        self.raw_packet_cache = bytes(s[:end])
        self.explicit = 1
        return bytes(s[end:])

    def self_build(self) -> bytes:
        """Return the element's bytes; the bytes read, when no field was set since."""
        if self.raw_packet_cache is not None:
            return bytes(self.raw_packet_cache)
        values = {f"L.0.{name}": value for name, value in self.values().items()}
        return lists.build("L", values, 0, TABLE)[0] if values else b""

    def queue_name(self) -> str:
        """Return the element's format name."""
        values = self.values()
        for field, keyword in (
            ("DirectFormatName", "DIRECT"),
            ("PublicQueueIdentifier", "PUBLIC"),
            ("DistributionListIdentifier", "DL"),
        ):
            if field in values:
                return f"{keyword}={shown('', values[field])}"
        if "SourceQueueManager" in values:
            number = int(values.get("PrivateQueueIdentifier", 0))
            return f"PRIVATE={shown('', values['SourceQueueManager'])}\\{number:08x}"
        return f"FormatType {shown(TABLE.selector, values.get(TABLE.selector))}"

    def mysummary(self) -> str:
        return self.queue_name()


def plain(value: Any) -> Value:
    """Convert a value for the tables: scapy's random values are drawn here, a layer in place of bytes is built."""
    if isinstance(value, Packet):
        return bytes(value)
    fixed = value._fix() if hasattr(value, "_fix") else value
    return fixed if isinstance(fixed, int | str | bytes) else str(fixed)


def elements_of(key: str, fields: dict[str, Value]) -> list[MQFFormatNameElement] | None:
    """Return the elements of a list that was read; None when it does not consist of elements alone."""
    count = fields.get(f"{key}.Elements")
    if not isinstance(count, int) or fields[f"{key}.Stopped"] or not 0 < count <= lists.MAX_SHOWN:
        return None
    out = [MQFFormatNameElement() for _ in range(count)]
    for full in lists.names_in(key, TABLE, fields):
        index, _, name = full[len(key) + 1 :].partition(".")
        out[int(index)].fields[name] = fields[full]
    for one in out:
        if fields[f"{key}.Way"] != lists.READINGS[0]:
            one.fields.setdefault("Padding", b"")  # another alignment than the one it would be written in
        one.raw_packet_cache = lists.build("L", {f"L.0.{k}": v for k, v in one.fields.items()}, 0, TABLE)[0]
        one.explicit = 1
    return out
