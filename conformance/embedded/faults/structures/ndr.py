"""Faults of structures in NDR (MS-MQMQ 2.2.7 to 2.2.16)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.faults.base import Fault
from conformance.embedded.ndr import FIRST_REFERENT, NdrWriter, refuse, wide
from conformance.embedded.structures import Structures
from conformance.embedded.structures_ndr import DIRECT, EMPTY, NULL, SUBQUEUE, VARIANT, VECTOR

Json = Any


class _Untagged(Structures):
    def union_tag(self, out: NdrWriter, kind: int, size: int) -> None:
        if size != 1:
            super().union_tag(out, kind, size)


class QueueFormatUnionWithoutTag(Fault):
    """The union of QUEUE_FORMAT is written without repeating m_qft in front of it, as a C structure would be."""

    name = "queue-format-union-without-tag"
    breaks = (
        "MQMQ-2.2.7.declaration",
        "MQMQ-2.2.7.union",
    )
    replaces = ("structures", _Untagged)


class _SwappedHalves(Structures):
    def suffix_and_flags(self, value: int) -> int:
        return value >> 4 | (value & 0x0F) << 4


class QueueFormatHalvesSwapped(Fault):
    """m_SuffixAndFlags has the suffix type in its upper half, as its diagram can be misread."""

    name = "queue-format-halves-swapped"
    breaks = ("MQMQ-2.2.7.m-suffix-and-flags",)
    replaces = ("structures", _SwappedHalves)


class _SubqueueAsDirect(Structures):
    def format_type(self, kind: int) -> int:
        return DIRECT if kind == SUBQUEUE else kind


class SubqueueAsDirect(Fault):
    """A subqueue is written as m_qft 3, as it was before MSMQ 4.0 had a type for it."""

    name = "subqueue-as-direct"
    breaks = (
        "MQMQ-2.2.6.queue-format-type-subqueue",
        "MQMQ-2.2.7.m-p-direct-subqueue-id",
    )
    replaces = ("structures", _SubqueueAsDirect)


class _AnySuffix(Structures):
    def check_queue_format(self, kind: int, suffix: int) -> None:
        if kind > SUBQUEUE:
            raise refuse()


class AcceptsAnySuffix(Fault):
    """Every suffix type is taken, with any flags and any m_qft."""

    name = "accepts-any-suffix"
    breaks = (
        "MQMQ-2.2.7.suffix-journal-flags",
        "MQMQ-2.2.7.suffix-none-type",
        "MQMQ-2.2.7.suffix-xactonly-type",
        "MQMQ-2.2.11.declaration",
        "MQMQ-2.2.7.suffix-none-flags",
    )
    replaces = ("structures", _AnySuffix)


class _Particular(Structures):
    def ignore(self, reserved: bytes) -> None:
        if any(reserved):
            raise refuse()


class ReservedMembersChecked(Fault):
    """A QUEUE_FORMAT or PROPVARIANT whose reserved members are not zero is refused."""

    name = "reserved-members-checked"
    breaks = (
        "MQMQ-2.2.7.m-reserved-receiver",
        "MQMQ-2.2.13.1.w-reserved1-receiver",
        "MQMQ-2.2.13.1.w-reserved2-receiver",
        "MQMQ-2.2.13.1.w-reserved3-receiver",
    )
    replaces = ("structures", _Particular)


class _NoNull(Structures):
    def text_to(self, out: NdrWriter, text: str) -> None:
        data = wide(text)
        out.maximum(len(data) // 2)
        out.variance(len(data) // 2)
        out.raw(data)


class TextWithoutNull(Fault):
    """Texts are written and counted without the null at their end."""

    name = "text-without-null"
    breaks = (
        "MQMQ-2.2.12.vt-lpwstr-value",
        "MQMQ-2.2.9.m-pwz-domain-text",
    )
    replaces = ("structures", _NoNull)


class _CountOfBytes(Structures):
    def element_count(self, name: str, count: int) -> int:
        return count * {"CAUI": 2, "CAL": 4, "CAUL": 4, "CAUH": 8, "CACLSID": 16}.get(name, 1)


class CountedArrayInBytes(Fault):
    """cElems of an array of numbers or GUIDs is the number of its bytes."""

    name = "counted-array-in-bytes"
    breaks = (
        "MQMQ-2.2.16.2.c-elems",
        "MQMQ-2.2.16.3.c-elems",
        "MQMQ-2.2.16.4.c-elems",
        "MQMQ-2.2.16.5.c-elems",
        "MQMQ-2.2.16.6.c-elems",
    )
    replaces = ("structures", _CountOfBytes)


class _AnyVariant(Structures):
    def check_variant_type(self, kind: int) -> int:
        return kind if kind in (VARIANT, VECTOR) else super().check_variant_type(kind)


class AcceptsHalfAVariantType(Fault):
    """A PROPVARIANT of VT_VECTOR without a type of elements, or of VT_VARIANT without VT_VECTOR, is taken for empty."""

    name = "accepts-half-a-variant-type"
    breaks = (
        "MQMQ-2.2.12.vt-vector-combined",
        "MQMQ-2.2.12.vt-variant-vector",
        "MQMQ-2.2.13.1.vt",
    )
    replaces = ("structures", _AnyVariant)


class _ValueOfNothing(Structures):
    def variant_value_to(self, out: NdrWriter, kind: int, value: Json) -> None:
        if kind in (EMPTY, NULL):
            out.number(0, 4)
        else:
            super().variant_value_to(out, kind, value)


class EmptyVariantWithValue(Fault):
    """A PROPVARIANT of VT_EMPTY or VT_NULL carries four bytes of zero."""

    name = "empty-variant-with-value"
    breaks = (
        "MQMQ-2.2.12.vt-empty-value",
        "MQMQ-2.2.12.vt-null-value",
        "MQMQ-2.2.13.1.declaration",
    )
    replaces = ("structures", _ValueOfNothing)


class _TextsInPlace(Structures):
    def element_to(self, out: NdrWriter, name: str, element: Json) -> None:
        super().element_to(out, name, None if name == "CALPWSTR" else element)
        if name == "CALPWSTR" and element is not None:
            out.out[-4:] = FIRST_REFERENT.to_bytes(4, "little")
            self.text_to(out, element)


class TextsBetweenTheirPointers(Fault):
    """The texts of a CALPWSTR stand each behind its pointer, not all of them behind the array."""

    name = "texts-between-their-pointers"
    breaks = (
        "MQMQ-2.2.16.7.p-elems",
        "MQMQ-2.2.16.7.declaration",
    )
    replaces = ("structures", _TextsInPlace)


class _ShortPort(Structures):
    def write_multicast_id(self, value: Json) -> bytes:
        raw = super().write_multicast_id(value)
        return raw[:4] + raw[4:6][::-1] + raw[6:]


class MulticastPortNetworkOrder(Fault):
    """m_port of a MULTICAST_ID is written as sockets want it, its two lower bytes swapped."""

    name = "multicast-port-network-order"
    breaks = ("MQMQ-2.2.10.m-port",)
    replaces = ("structures", _ShortPort)
