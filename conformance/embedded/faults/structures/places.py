"""Faults of the offsets of structure members (MS-MQMQ 2.2.1 to 2.2.18)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.faults.base import Fault
from conformance.embedded.ndr import NdrReader, NdrWriter
from conformance.embedded.structures import Structures

Json = Any


class _KindBehind(Structures):
    def write_public_key(self, value: Json) -> bytes:
        key = super().write_public_key(value)
        name = int.from_bytes(key[4:8], "little")
        return key[:8] + key[12 : 12 + name] + key[8:12] + key[12 + name :]


class ProviderTypeBehindName(Fault):
    """ulProviderType is written behind sProviderName."""

    name = "provider-type-behind-name"
    breaks = (
        "MQMQ-2.2.1.ul-provider-type-place",
        "MQMQ-2.2.1.s-provider-name",
        "MQMQ-2.2.1.ul-provider-type",
    )
    replaces = ("structures", _KindBehind)


class _OrdinalFirst(Structures):
    def write_message_identifier(self, value: Json) -> bytes:
        identifier = super().write_message_identifier(value)
        return identifier[16:] + identifier[:16]


class MessageIdentifierOrdinalFirst(Fault):
    """Ordinal is written in front of QueueManagerGuid."""

    name = "message-identifier-ordinal-first"
    breaks = (
        "MQMQ-2.2.18.1.3.queue-manager-guid",
        "MQMQ-2.2.18.1.3.ordinal",
    )
    replaces = ("structures", _OrdinalFirst)


class _NoThird(Structures):
    def write_variant(self, out: NdrWriter, value: Json) -> None:
        inner = NdrWriter()
        inner.construct(lambda: super(_NoThird, self).write_variant(inner, value))
        written = bytes(inner.out)
        out.align(8)
        out.raw(written[:4] + written[8:])


class VariantWithoutThirdReserved(Fault):
    """wReserved3 has no bytes in a PROPVARIANT."""

    name = "variant-without-third-reserved"
    breaks = (
        "MQMQ-2.2.13.1.w-reserved3-place",
        "MQMQ-2.2.13.1.declaration",
    )
    replaces = ("structures", _NoThird)


class _NeverFalse(Structures):
    def read_variant_bool(self, source: NdrReader) -> Json:
        super().read_variant_bool(source)
        return True


class FalseReadAsTrue(Fault):
    """A VARIANT_BOOL of VARIANT_FALSE is read as true."""

    name = "false-read-as-true"
    breaks = ("MQMQ-2.2.14.variant-false-meaning",)
    replaces = ("structures", _NeverFalse)
