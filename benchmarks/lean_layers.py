"""The least that scapy can do with a message: few wide fields, GUIDs as bytes, flags as words, no text decoded.

Our own layers (`conformance.wire.layers`) know every field; these are the best case for scapy, to compare with.
"""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.fields import (
    ByteField,
    ConditionalField,
    LEFieldLenField,
    LEIntField,
    LELongField,
    LEShortField,
    StrFixedLenField,
    StrLenField,
)
from scapy.packet import Packet


def _queue(name: str, selector: Any, private: int) -> list[Any]:
    """A queue in UserHeader, whose form three bits of Flags tell."""
    return [
        ConditionalField(LEIntField(f"{name}_private", 0), lambda packet: selector(packet) == private),
        ConditionalField(StrFixedLenField(f"{name}_public", b"", 16), lambda packet: selector(packet) == 5),
        ConditionalField(StrFixedLenField(f"{name}_other", b"", 20), lambda packet: selector(packet) == 6),
        ConditionalField(LEFieldLenField(f"{name}_size", 0, fmt="<H"), lambda packet: selector(packet) == 7),
        ConditionalField(
            StrLenField(
                f"{name}_direct",
                b"",
                length_from=lambda packet: getattr(packet, f"{name}_size") + -(getattr(packet, f"{name}_size") + 2) % 4,
            ),
            lambda packet: selector(packet) == 7,
        ),
    ]


class LeanProperties(Packet):
    fields_desc: ClassVar[list[Any]] = [
        ByteField("flags", 0), ByteField("label_length", 0), LEShortField("class_", 0),
        StrFixedLenField("correlation", b"", 20), LEIntField("body_type", 0), LEIntField("tag", 0),
        LEIntField("size", 0), LEIntField("allocated", 0), LEIntField("privacy", 0), LEIntField("hash_", 0),
        LEIntField("encryption", 0), LEIntField("extension_size", 0),
        StrLenField("label", b"", length_from=lambda packet: 2 * packet.label_length),
        StrLenField("extension", b"", length_from=lambda packet: packet.extension_size),
        StrLenField("body", b"", length_from=lambda packet: packet.size),
    ]  # fmt: skip


class LeanSecurity(Packet):
    fields_desc: ClassVar[list[Any]] = [
        LEShortField("flags", 0), LEShortField("id_size", 0), LEShortField("key_size", 0),
        LEShortField("signature_size", 0), LEIntField("certificate_size", 0), LEIntField("provider_size", 0),
        StrLenField("data", b"", length_from=lambda packet: sum(
            size + -size % 4 for size in (packet.id_size, packet.key_size, packet.signature_size,
                                          packet.certificate_size, packet.provider_size))),
    ]  # fmt: skip

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return LeanProperties


class LeanTransaction(Packet):
    fields_desc: ClassVar[list[Any]] = [
        LEIntField("flags", 0), LELongField("sequence", 0), LEIntField("number", 0), LEIntField("previous", 0),
        ConditionalField(StrFixedLenField("connector", b"", 16), lambda packet: packet.flags & 1),
    ]  # fmt: skip

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return LeanSecurity if self.underlayer.flags >> 19 & 1 else LeanProperties


class LeanUser(Packet):
    fields_desc: ClassVar[list[Any]] = [
        StrFixedLenField("source", b"", 16), StrFixedLenField("address", b"", 16), LEIntField("expires", 0),
        LEIntField("sent", 0), LEIntField("number", 0), LEIntField("flags", 0),
        *_queue("destination", lambda packet: packet.flags >> 10 & 7, 3),
        *_queue("admin", lambda packet: packet.flags >> 13 & 7, 2),
        *_queue("response", lambda packet: packet.flags >> 16 & 7, 4),
        ConditionalField(StrFixedLenField("connector", b"", 16), lambda packet: packet.flags >> 22 & 1),
    ]  # fmt: skip

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        if self.flags >> 20 & 1:
            return LeanTransaction
        return LeanSecurity if self.flags >> 19 & 1 else LeanProperties


class LeanBase(Packet):
    fields_desc: ClassVar[list[Any]] = [
        ByteField("version", 0), ByteField("reserved", 0), LEShortField("flags", 0), LEIntField("signature", 0),
        LEIntField("size", 0), LEIntField("expires", 0),
    ]  # fmt: skip

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return super().guess_payload_class(payload) if self.flags & 8 else LeanUser
