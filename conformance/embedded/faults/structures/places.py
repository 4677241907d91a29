"""Faults of the offsets of structure members (MS-MQMQ 2.2.1 to 2.2.18)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.faults.base import fault
from conformance.embedded.ndr import NdrWriter
from conformance.embedded.structures import Structures

Json = Any


@fault(
    "provider-type-behind-name", "structures.write_public_key", "MQMQ-2.2.1.ul-provider-type-place",
    "MQMQ-2.2.1.s-provider-name", "MQMQ-2.2.1.ul-provider-type",
)  # fmt: skip
def provider_type_behind_name(plain, self, value):
    """ulProviderType is written behind sProviderName."""
    key = plain(value)
    name = int.from_bytes(key[4:8], "little")
    return key[:8] + key[12 : 12 + name] + key[8:12] + key[12 + name :]


@fault(
    "message-identifier-ordinal-first", "structures.write_message_identifier", "MQMQ-2.2.18.1.3.queue-manager-guid",
    "MQMQ-2.2.18.1.3.ordinal",
)  # fmt: skip
def message_identifier_ordinal_first(plain, self, value):
    """Ordinal is written in front of QueueManagerGuid."""
    identifier = plain(value)
    return identifier[16:] + identifier[:16]


@fault("variant-without-third-reserved", "structures", "MQMQ-2.2.13.1.w-reserved3-place", "MQMQ-2.2.13.1.declaration")
class VariantWithoutThirdReserved(Structures):
    """wReserved3 has no bytes in a PROPVARIANT."""

    def write_variant(self, out: NdrWriter, value: Json) -> None:
        inner = NdrWriter()
        inner.construct(lambda: super(VariantWithoutThirdReserved, self).write_variant(inner, value))
        written = bytes(inner.out)
        out.align(8)
        out.raw(written[:4] + written[8:])


@fault("false-read-as-true", "structures.read_variant_bool", "MQMQ-2.2.14.variant-false-meaning")
def false_read_as_true(plain, self, source):
    """A VARIANT_BOOL of VARIANT_FALSE is read as true."""
    plain(source)
    return True
