"""Scapy layers made from the layout tables, one a section, and their bindings to TCP 1801 and UDP 3527.

Reading and writing use `decode` and `encode`, so a layer cannot differ from its table. Field names are the table's,
with `_` for the dots inside a section (`DestinationQueue_Count`); a bit field has its own name (`PR`). A field left
None is computed when the packet is built; a field that is set is written unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from scapy.fields import ConditionalField
from scapy.layers.inet import TCP, UDP
from scapy.packet import Packet, Padding, Raw, bind_layers

from conformance.wire.base_header import BASE_HEADER
from conformance.wire.decode import dissect, read_section
from conformance.wire.display import CLASSES, shown
from conformance.wire.encode import write_section
from conformance.wire.extension_headers import EXTENSION_HEADER, EXTENSION_SIZE
from conformance.wire.framing import BASE_SIZE, frame_length, is_head
from conformance.wire.layout import Condition, Guid, Item, Pad, Section, UInt, Value, leaves
from conformance.wire.packet_table import (
    ALL_SECTIONS,
    EXTENSION_SECTIONS,
    INTERNAL_PACKETS,
    USER_MESSAGE_SECTIONS,
)
from conformance.wire.scapy_fields import MQFFormatNameElement, elements_of, field_of, plain
from conformance.wire.session_header import SESSION_HEADER, SESSION_HEADER_SIZE
from conformance.wire.session_packets import INTERNAL_HEADER
from conformance.wire.soap_headers import SOAP_PACKED, SOAP_UNPADDED, SRMP_BYTES, SRMP_PACKED
from conformance.wire.user_header import USER_HEADER

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


def _given(name: str) -> Any:
    return lambda pkt: name in pkt.fields


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
    name = CLASSES.get(number, shown("", number)) if number is not None else ""
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
