"""Faults of where members of structures stand and of the values of enumerations (MS-MQMQ 2.2.1 to 2.2.14)."""

from __future__ import annotations

import struct
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
    suite = "structures"
    breaks = ("MQMQ-2.2.1.ul-provider-type-place",)
    replaces = ("structures", _KindBehind)


class _CountLast(Structures):
    def write_public_keys(self, value: Json) -> bytes:
        keys = super().write_public_keys(value)
        return keys[:4] + keys[8:] + keys[4:8]


class NumberOfKeysLast(Fault):
    """cNumofKeys is written behind the keys."""

    name = "number-of-keys-last"
    suite = "structures"
    breaks = ("MQMQ-2.2.2.c-numof-keys-place",)
    replaces = ("structures", _CountLast)


class _HalvesSwapped(Structures):
    def write_sequence_info(self, value: Json) -> bytes:
        info = super().write_sequence_info(value)
        return info[4:8] + info[:4] + info[8:]

    def read_sequence_info(self, source: NdrReader) -> Json:
        value = super().read_sequence_info(source)
        told = struct.pack("<q", int(value["seq_id"]))
        return {**value, "seq_id": str(struct.unpack("<q", told[4:] + told[:4])[0])}


class SequenceHalvesSwapped(Fault):
    """The halves of SeqID are written the higher one first."""

    name = "sequence-halves-swapped"
    suite = "structures"
    breaks = ("MQMQ-2.2.5.seq-id",)
    replaces = ("structures", _HalvesSwapped)


class _OrdinalFirst(Structures):
    def write_message_identifier(self, value: Json) -> bytes:
        identifier = super().write_message_identifier(value)
        return identifier[16:] + identifier[:16]


class MessageIdentifierOrdinalFirst(Fault):
    """Ordinal is written in front of QueueManagerGuid."""

    name = "message-identifier-ordinal-first"
    suite = "structures"
    breaks = ("MQMQ-2.2.18.1.3.queue-manager-guid",)
    replaces = ("structures", _OrdinalFirst)


class _ShortReserved(Structures):
    """Leaves out bytes of the reserved members of a PROPVARIANT. gone: their offsets behind vt."""

    gone: tuple[int, ...]

    def write_variant(self, out: NdrWriter, value: Json) -> None:
        inner = NdrWriter()
        inner.construct(lambda: super(_ShortReserved, self).write_variant(inner, value))
        written = bytes(inner.out)
        out.align(8)
        out.raw(bytes(byte for at, byte in enumerate(written) if at - 2 not in self.gone))


class _NoFirst(_ShortReserved):
    gone = (0,)


class VariantWithoutFirstReserved(Fault):
    """wReserved1 has no byte in a PROPVARIANT."""

    name = "variant-without-first-reserved"
    suite = "structures"
    breaks = ("MQMQ-2.2.13.1.w-reserved1-place",)
    replaces = ("structures", _NoFirst)


class _NoThird(_ShortReserved):
    gone = (2, 3, 4, 5)


class VariantWithoutThirdReserved(Fault):
    """wReserved3 has no bytes in a PROPVARIANT."""

    name = "variant-without-third-reserved"
    suite = "structures"
    breaks = ("MQMQ-2.2.13.1.w-reserved3-place",)
    replaces = ("structures", _NoThird)


class _LongType(Structures):
    def write_variant(self, out: NdrWriter, value: Json) -> None:
        inner = NdrWriter()
        inner.construct(lambda: super(_LongType, self).write_variant(inner, value))
        written = bytes(inner.out)
        out.align(8)
        out.raw(written[:2] + bytes(2) + written[2:])


class VariantTypeOfFourBytes(Fault):
    """The vt of a PROPVARIANT has 4 bytes."""

    name = "variant-type-of-four-bytes"
    suite = "structures"
    breaks = ("MQMQ-2.2.12.1.declaration",)
    replaces = ("structures", _LongType)


class _NeverFalse(Structures):
    def read_variant_bool(self, source: NdrReader) -> Json:
        super().read_variant_bool(source)
        return True


class FalseReadAsTrue(Fault):
    """A VARIANT_BOOL of VARIANT_FALSE is read as true."""

    name = "false-read-as-true"
    suite = "structures"
    breaks = ("MQMQ-2.2.14.variant-false-meaning",)
    replaces = ("structures", _NeverFalse)


class _NoLargeNumbers(Structures):
    def check_variant_type(self, kind: int) -> int:
        return super().check_variant_type(0xFFFF if kind == 20 else kind)


class LargeIntegerRefused(Fault):
    """A PROPVARIANT of type VT_I8 is refused."""

    name = "large-integer-refused"
    suite = "structures"
    breaks = ("MQMQ-2.2.12.declaration",)
    replaces = ("structures", _NoLargeNumbers)


PLACE_FAULTS: tuple[type[Fault], ...] = (
    ProviderTypeBehindName,
    NumberOfKeysLast,
    SequenceHalvesSwapped,
    MessageIdentifierOrdinalFirst,
    VariantWithoutFirstReserved,
    VariantWithoutThirdReserved,
    VariantTypeOfFourBytes,
    FalseReadAsTrue,
    LargeIntegerRefused,
)
