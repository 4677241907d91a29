"""Faults of structures in NDR (MS-MQMQ 2.2.7 to 2.2.16)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.faults.base import fault
from conformance.embedded.ndr import FIRST_REFERENT, refuse, wide
from conformance.embedded.structures_ndr import DIRECT, EMPTY, NULL, SUBQUEUE, VARIANT, VECTOR

Json = Any


@fault("queue-format-union-without-tag", "structures.union_tag", "MQMQ-2.2.7.declaration", "MQMQ-2.2.7.union")
def queue_format_union_without_tag(plain, self, out, kind, size):
    """The union of QUEUE_FORMAT is written without repeating m_qft in front of it, as a C structure would be."""
    if size != 1:
        plain(out, kind, size)


@fault("queue-format-halves-swapped", "structures.suffix_and_flags", "MQMQ-2.2.7.m-suffix-and-flags")
def queue_format_halves_swapped(plain, self, value):
    """m_SuffixAndFlags has the suffix type in its upper half, as its diagram can be misread."""
    return value >> 4 | (value & 0x0F) << 4


@fault(
    "subqueue-as-direct", "structures.format_type", "MQMQ-2.2.6.queue-format-type-subqueue",
    "MQMQ-2.2.7.m-p-direct-subqueue-id",
)  # fmt: skip
def subqueue_as_direct(plain, self, kind):
    """A subqueue is written as m_qft 3, as it was before MSMQ 4.0 had a type for it."""
    return DIRECT if kind == SUBQUEUE else kind


@fault(
    "accepts-any-suffix", "structures.check_queue_format", "MQMQ-2.2.7.suffix-journal-flags",
    "MQMQ-2.2.7.suffix-none-type", "MQMQ-2.2.7.suffix-xactonly-type", "MQMQ-2.2.11.declaration",
    "MQMQ-2.2.7.suffix-none-flags",
)  # fmt: skip
def accepts_any_suffix(plain, self, kind, suffix):
    """Every suffix type is taken, with any flags and any m_qft."""
    if kind > SUBQUEUE:
        raise refuse()


@fault(
    "reserved-members-checked", "structures.ignore", "MQMQ-2.2.7.m-reserved-receiver",
    "MQMQ-2.2.13.1.w-reserved1-receiver", "MQMQ-2.2.13.1.w-reserved2-receiver", "MQMQ-2.2.13.1.w-reserved3-receiver",
)  # fmt: skip
def reserved_members_checked(plain, self, reserved):
    """A QUEUE_FORMAT or PROPVARIANT whose reserved members are not zero is refused."""
    if any(reserved):
        raise refuse()


@fault("text-without-null", "structures.text_to", "MQMQ-2.2.12.vt-lpwstr-value", "MQMQ-2.2.9.m-pwz-domain-text")
def text_without_null(plain, self, out, text):
    """Texts are written and counted without the null at their end."""
    data = wide(text)
    out.maximum(len(data) // 2)
    out.variance(len(data) // 2)
    out.raw(data)


@fault(
    "counted-array-in-bytes", "structures.element_count", "MQMQ-2.2.16.2.c-elems", "MQMQ-2.2.16.3.c-elems",
    "MQMQ-2.2.16.4.c-elems", "MQMQ-2.2.16.5.c-elems", "MQMQ-2.2.16.6.c-elems",
)  # fmt: skip
def counted_array_in_bytes(plain, self, name, count):
    """cElems of an array of numbers or GUIDs is the number of its bytes."""
    return count * {"CAUI": 2, "CAL": 4, "CAUL": 4, "CAUH": 8, "CACLSID": 16}.get(name, 1)


@fault(
    "accepts-half-a-variant-type", "structures.check_variant_type", "MQMQ-2.2.12.vt-vector-combined",
    "MQMQ-2.2.12.vt-variant-vector", "MQMQ-2.2.13.1.vt",
)  # fmt: skip
def accepts_half_a_variant_type(plain, self, kind):
    """A PROPVARIANT of VT_VECTOR without a type of elements, or of VT_VARIANT without VT_VECTOR, is taken for empty."""
    return kind if kind in (VARIANT, VECTOR) else plain(kind)


@fault(
    "empty-variant-with-value", "structures.variant_value_to", "MQMQ-2.2.12.vt-empty-value",
    "MQMQ-2.2.12.vt-null-value", "MQMQ-2.2.13.1.declaration",
)  # fmt: skip
def empty_variant_with_value(plain, self, out, kind, value):
    """A PROPVARIANT of VT_EMPTY or VT_NULL carries four bytes of zero."""
    if kind in (EMPTY, NULL):
        out.number(0, 4)
    else:
        plain(out, kind, value)


@fault("texts-between-their-pointers", "structures.element_to", "MQMQ-2.2.16.7.p-elems", "MQMQ-2.2.16.7.declaration")
def texts_between_their_pointers(plain, self, out, name, element):
    """The texts of a CALPWSTR stand each behind its pointer, not all of them behind the array."""
    plain(out, name, None if name == "CALPWSTR" else element)
    if name == "CALPWSTR" and element is not None:
        out.out[-4:] = FIRST_REFERENT.to_bytes(4, "little")
        self.text_to(out, element)


@fault("multicast-port-network-order", "structures.write_multicast_id", "MQMQ-2.2.10.m-port")
def multicast_port_network_order(plain, self, value):
    """m_port of a MULTICAST_ID is written as sockets want it, its two lower bytes swapped."""
    raw = plain(value)
    return raw[:4] + raw[4:6][::-1] + raw[6:]
