"""Scapy fields whose bytes the layout tables read and write, and the element of a list of names as a scapy packet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from scapy.fields import ConditionalField, Field
from scapy.layers.inet import TCP, UDP
from scapy.packet import Packet, Padding, Raw, bind_layers
from scapy.volatile import RandBin, RandNum, RandUUID

from conformance.wire import elements as lists
from conformance.wire.decode import dissect, read_section
from conformance.wire.display import CLASSES, field_text, readable
from conformance.wire.encode import write_section
from conformance.wire.framing import BASE_SIZE, frame_length, is_head
from conformance.wire.headers import (
    ALL_SECTIONS,
    BASE_HEADER,
    EXTENSION_HEADER,
    EXTENSION_SECTIONS,
    EXTENSION_SIZE,
    INTERNAL_HEADER,
    INTERNAL_PACKETS,
    MULTI_QUEUE_FORMAT_HEADER,
    SESSION_HEADER,
    SESSION_HEADER_SIZE,
    SOAP_PACKED,
    SOAP_UNPADDED,
    SRMP_BYTES,
    SRMP_PACKED,
    USER_HEADER,
    USER_MESSAGE_SECTIONS,
)
from conformance.wire.layout import (
    Blob,
    Condition,
    Elements,
    Guid,
    Item,
    Octets,
    Pad,
    Section,
    UInt,
    Value,
    leaves,
    steps_of,
)

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
        return field_text(key, x) if words is None else words

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
                return f"{keyword}={field_text('', values[field])}"
        if "SourceQueueManager" in values:
            number = int(values.get("PrivateQueueIdentifier", 0))
            return f"PRIVATE={field_text('', values['SourceQueueManager'])}\\{number:08x}"
        return f"FormatType {field_text(TABLE.selector, values.get(TABLE.selector))}"

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


TCP_PORT = 1801
PING_PORT = 3527
_TELLING = 8  # bytes behind a packet that show whether another begins there


class SectionLayer(Packet):  # type: ignore[misc]
    """The base of every layer that is made from a table."""

    section: ClassVar[Section]
    keys: ClassVar[dict[str, str]]  # scapy name to full key
    raw_packet_cache: bytes | None

    def do_dissect(self, s: bytes) -> bytes:
        """Read the section; bytes it does not take, or cannot read, belong to the payload."""
        under = self._under()
        fields, taken = read_section(self.section, bytes(s), under)
        for name, key in self.keys.items():
            if key in fields:
                self.fields[name] = elements_of(key, fields) or fields[key]
        for path, item in leaves(self.section):
            if isinstance(item, Pad) and item.not_under in under:
                self.fields[path.replace(".", "_")] = b""
        self.raw_packet_cache = bytes(s[:taken])
        self.explicit = 1
        return bytes(s[taken:])

    def self_build(self) -> bytes:
        """Return the section's bytes, flags by the layers above; the bytes read if no field was set since."""
        if self.raw_packet_cache is not None and not self._touched():
            return bytes(self.raw_packet_cache)
        return self._write({})

    def _under(self) -> frozenset[str]:
        """Return the alternative layouts of the packet around this layer, which only the whole packet shows."""
        bottom: Any = self
        while isinstance(bottom.underlayer, SectionLayer):
            bottom = bottom.underlayer
        if self.section.name not in _OPEN or bottom.section is not BASE_HEADER:
            return frozenset()
        fields = dissect(bytes(bottom.original)).fields
        found = frozenset(name for name, (key, value) in _ALTERNATIVES.items() if fields.get(key) == value)
        unpadded = SOAP_PACKED in found and "SoapHeader.BodyPadding" not in fields
        return found | {SOAP_UNPADDED} if unpadded else found

    def _touched(self) -> bool:
        """Return True when an element of a list was changed."""
        lists = (value for value in self.fields.values() if isinstance(value, list))
        return any(one.raw_packet_cache is None for value in lists for one in value)

    def _write(self, extra: dict[str, Value]) -> bytes:
        values = self._presence() | extra
        for name, key in self.keys.items():
            value = self.getfieldval(name)
            if isinstance(value, list | MQFFormatNameElement):
                for index, one in enumerate(value if isinstance(value, list) else [value]):
                    values |= {f"{key}.{index}.{inner}": each for inner, each in one.values().items()}
            elif value is not None:
                values[key] = plain(value)
        return write_section(self.section, values)

    def _presence(self) -> dict[str, Value]:
        """Return the values that follow from the layers stacked on this one."""
        out: dict[str, Value] = {}
        above = {type(layer) for layer in self.iterpayloads()}
        for section, condition in _PRESENCE:
            if condition.key.startswith(f"{self.section.name}."):
                out[condition.key] = int(LAYER[section.name] in above)
        if self.section is BASE_HEADER:
            internal = LAYER[INTERNAL_HEADER.name] in above
            out["BaseHeader.Flags.IN"] = int(internal)
            out["BaseHeader.Flags.PR"] = 0 if LAYER["TransactionHeader"] in above else 3
        elif self.section is USER_HEADER:
            out["UserHeader.Flags.DM"] = int(LAYER["TransactionHeader"] in above)
        elif self.section is INTERNAL_HEADER:
            for code, (_, section) in INTERNAL_PACKETS.items():
                if type(self.payload) is LAYER[section.name]:
                    out["InternalHeader.Flags.PT"] = code
        elif self.section.name == "MessagePropertiesHeader":
            body = self.getfieldval("MessageBody")
            out["MessagePropertiesHeader.AllocationBodySize"] = len(body) if isinstance(body, bytes) else 0
        return out

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        """Set BaseHeader's PacketSize, which excludes a UserMessage's SessionHeader (MS-MQMQ 2.2.19.1)."""
        if self.section is BASE_HEADER and self.getfieldval("PacketSize") is None:
            size = len(pkt) + len(pay)
            above = {type(layer) for layer in self.iterpayloads()}
            if LAYER[SESSION_HEADER.name] in above and LAYER[INTERNAL_HEADER.name] not in above:
                size -= SESSION_HEADER_SIZE
            pkt = self._write({"BaseHeader.PacketSize": size})
        elif self.section is EXTENSION_HEADER and self.getfieldval("RemainingHeadersSize") is None:
            behind = (
                SESSION_HEADER_SIZE if any(type(x) is LAYER[SESSION_HEADER.name] for x in self.iterpayloads()) else 0
            )
            pkt = self._write({"ExtensionHeader.RemainingHeadersSize": len(pay) - behind})
        return pkt + pay

    def guess_payload_class(self, payload: bytes) -> Any:
        """Return the layer of the section that follows, by the flags read so far."""
        following = self._following(bytes(payload))
        return Raw if following is None else LAYER[following.name]

    def _following(self, payload: bytes) -> Section | None:
        if self.section is BASE_HEADER:
            return INTERNAL_HEADER if self.getfieldval("IN") else USER_HEADER
        if self.section is INTERNAL_HEADER:
            found = INTERNAL_PACKETS.get(self.getfieldval("PT") or 0)
            return found[1] if found else None
        for sections in (USER_MESSAGE_SECTIONS, EXTENSION_SECTIONS):
            order = [section for section, _ in sections]
            if self.section in order:
                for section, condition in sections[order.index(self.section) + 1 :]:
                    if condition is not None and self._set(condition):
                        return section
                return self._last(payload)
        return None

    def _last(self, payload: bytes) -> Section | None:
        """Return the section behind the headers that flags announce."""
        session = self._set(Condition("BaseHeader.Flags.SH"))
        behind = SESSION_HEADER_SIZE if session else 0
        extended = self.section not in (section for section, _ in EXTENSION_SECTIONS)
        begins = int.from_bytes(payload[:4], "little") == EXTENSION_SIZE
        if extended and begins and len(payload) >= EXTENSION_SIZE + behind:
            return EXTENSION_HEADER
        return SESSION_HEADER if session and len(payload) >= SESSION_HEADER_SIZE else None

    def _set(self, condition: Condition) -> bool:
        section, _, path = condition.key.partition(".")
        layer: Any = self
        while layer is not None and not (isinstance(layer, SectionLayer) and layer.section.name == section):
            layer = layer.underlayer
        return layer is not None and layer.getfieldval(path.rpartition(".")[2]) in condition.values

    def mysummary(self) -> tuple[str, list[type[Packet]]]:
        """Return a one-line summary of this header, whatever follows it."""
        say = _SUMMARIES.get(self.section.name)
        return say(self) if say else self.section.name, list(LAYER.values())

    @classmethod
    def tcp_reassemble(cls, data: bytes, metadata: dict[str, Any], session: dict[str, Any]) -> Any:
        """Stack the packets at the head of a stream on each other, for scapy's TCPSession; None while none is whole.

        All of them are returned at once, with the following bytes as padding: the session loses its position when it
        gets two packets in turn.
        """
        found: list[Any] = []
        at = 0
        while (length := _length(data, at)) is not None:
            found.append(cls(data[at : at + length]))
            at += length
        if not found:
            return None
        packet = found[-1] / Padding(data[at:]) if at < len(data) else found[-1]
        for before in reversed(found[:-1]):
            before.add_payload(packet)
            packet = before
        return packet


def _length(data: bytes, at: int) -> int | None:
    """Return the length of the packet at `at`; None while it is not whole, or its SessionHeader undecided."""
    lengths = frame_length(data[at : at + BASE_SIZE]).lengths
    left = len(data) - at
    if not lengths or left < min(lengths):
        return None
    if len(lengths) == 1:
        return lengths[0]
    short, long = min(lengths), max(lengths)
    if left == short:
        return short if dissect(data[at:]).fields.get("Packet.SessionHeaderPlacement") == "inside" else None
    if left < short + _TELLING:
        return None
    length = short if is_head(data, at + short) else long
    return length if left >= length else None


def _layer(section: Section) -> type[SectionLayer]:
    keys: dict[str, str] = {}
    fields: list[Any] = []
    always = _always(section)
    for path, item in leaves(section):
        parts: list[tuple[str, str, Item | None, int]] = []
        if isinstance(item, UInt) and item.bits:
            parts = [(one.name, f"{path}.{one.name}", None, one.width) for one in item.bits]
        else:
            parts = [(path.replace(".", "_"), path, item, 8 * item.width if isinstance(item, UInt) else 0)]
        for name, key, kind, width in parts:
            if name in keys:
                continue  # the same field in another option of a choice
            keys[name] = section.key(key)
            field = field_of(name, kind, width)
            fields.append(field if path in always else ConditionalField(field, _given(name)))
    body = {
        "name": section.name,
        "section": section,
        "keys": keys,
        "fields_desc": fields,
        "__doc__": f"{section.name} ({section.source}).",
        "__module__": __name__,
    }
    return type(section.name, (SectionLayer,), body)


def _always(section: Section) -> set[str]:
    """Return the fields that are present whatever the others say, so that they are shown even when not set."""
    return {item.name for item in section.items if isinstance(item, UInt | Guid)}


def _say_base(layer: Any) -> str:
    names = [name for name in ("IN", "SH", "DH", "TR") if layer.getfieldval(name)]
    size = layer.getfieldval("PacketSize")
    return " ".join(["BaseHeader", *names, *([] if size is None else [f"{size} bytes"])])


def _say_user(layer: Any) -> str:
    fields = layer.fields
    direct, public = (
        fields.get("DestinationQueue_DirectFormatName"),
        fields.get("DestinationQueue_PublicQueueIdentifier"),
    )
    private = fields.get("DestinationQueue_PrivateQueueIdentifier")
    if direct is not None:
        return f"UserHeader to DIRECT={direct}"
    if public is not None:
        return f"UserHeader to PUBLIC={public}"
    if private is not None:
        return f"UserHeader to PRIVATE={fields.get('QueueManagerAddress')}\\{private:08x}"
    return "UserHeader"


def _say_properties(layer: Any) -> str:
    fields = layer.fields
    number = fields.get("MessageClass")
    name = CLASSES.get(number, field_text("", number)) if number is not None else ""
    label = fields.get("Label")
    return " ".join(["MessagePropertiesHeader", *([name] if name else []), *([repr(label)] if label else [])])


def _say_lists(layer: Any) -> str:
    names = layer.getfieldval("Destination_FormatNameList")
    shown_names = [one.queue_name() for one in names] if isinstance(names, list) else []
    return " ".join(["MultiQueueFormatHeader", *([f"to {', '.join(shown_names)}"] if shown_names else [])])


_SUMMARIES: dict[str, Callable[[Any], str]] = {
    "BaseHeader": _say_base,
    "UserHeader": _say_user,
    "MessagePropertiesHeader": _say_properties,
    "MultiQueueFormatHeader": _say_lists,
}
# Layers whose layout the documents leave open, and the decoded fact for each alternative.
_OPEN = ("SoapHeader", "SRMPEnvelopeHeader", "CompoundMessageHeader")
_ALTERNATIVES = {
    SOAP_PACKED: ("SoapHeader.Layout", "packed"),
    SRMP_PACKED: ("SRMPEnvelopeHeader.Layout", "packed"),
    SRMP_BYTES: ("SRMPEnvelopeHeader.Unit", "bytes"),
}
LAYER: dict[str, type[SectionLayer]] = {section.name: _layer(section) for section in ALL_SECTIONS}
_PRESENCE: tuple[tuple[Section, Condition], ...] = (
    *(
        (section, condition)
        for section, condition in (*USER_MESSAGE_SECTIONS, *EXTENSION_SECTIONS)
        if condition is not None
    ),
    (SESSION_HEADER, Condition("BaseHeader.Flags.SH")),
)
BaseHeader = LAYER["BaseHeader"]
UserHeader = LAYER["UserHeader"]
TransactionHeader = LAYER["TransactionHeader"]
SecurityHeader = LAYER["SecurityHeader"]
MessagePropertiesHeader = LAYER["MessagePropertiesHeader"]
DebugHeader = LAYER["DebugHeader"]
SRMPEnvelopeHeader = LAYER["SRMPEnvelopeHeader"]
CompoundMessageHeader = LAYER["CompoundMessageHeader"]
SoapHeader = LAYER["SoapHeader"]
MultiQueueFormatHeader = LAYER["MultiQueueFormatHeader"]
ExtensionHeader = LAYER["ExtensionHeader"]
SubqueueHeader = LAYER["SubqueueHeader"]
DeadLetterHeader = LAYER["DeadLetterHeader"]
ExtendedAddressHeader = LAYER["ExtendedAddressHeader"]
SessionHeader = LAYER["SessionHeader"]
InternalHeader = LAYER["InternalHeader"]
EstablishConnectionHeader = LAYER["EstablishConnectionHeader"]
ConnectionParametersHeader = LAYER["ConnectionParametersHeader"]
OrderAckBody = LAYER["OrderAckBody"]
FinalAckBody = LAYER["FinalAckBody"]
Ping = LAYER["Ping"]
SID = LAYER["SID"]
SIMPLEBLOB = LAYER["SIMPLEBLOB"]
PUBLICKEYBLOB = LAYER["PUBLICKEYBLOB"]

bind_layers(TCP, BaseHeader, dport=TCP_PORT)
bind_layers(TCP, BaseHeader, sport=TCP_PORT)
bind_layers(UDP, Ping, dport=PING_PORT)
bind_layers(UDP, Ping, sport=PING_PORT)
