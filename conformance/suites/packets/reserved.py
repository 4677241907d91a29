"""The bits and bytes of a packet that a reader must ignore, found in the layout tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.spec.catalogue import requirement_id
from conformance.suites.packets.building import packet_of
from conformance.suites.packets.combinations import FACTORS, OPTIONS, message_of
from conformance.wire import dissect, patch
from conformance.wire.headers import SECTION
from conformance.wire.layout import Pad, Section, UInt, Value, bit_fields, leaves

# One option of each factor, to have every header, and padding wherever it can be.
_FULL = {
    "destination": "direct-odd",
    "administration": "direct-odd",
    "response": "direct-odd",
    "connector": "some",
    "transaction": "last",
    "sender": "sid-certificate",
    "signature": "provider",
    "trace": "queue",
    "soap": "both",
    "lists": "all",
    "session": "recoverable",
    "body": "3",
}
_ANY = "MQDMPR-3.1.7.1.31.reads"  # no sentence names these bytes; a readable packet must be read
# Section to the demands that a reader breaks by not ignoring its reserved bits, reserved fields and padding, by name.
_IDS: dict[str, dict[str, str]] = {
    "BaseHeader": {"": "MQMQ-2.2.19.1.flags-reserved-ignored", "Reserved": "MQMQ-2.2.19.1.reserved-ignored"},
    "UserHeader": {
        "": "MQMQ-2.2.19.2.flags-reserved-ignored",
        **{f"{name}Queue.Padding": "MQMQ-2.2.18.1.5.2.padding-any" for name in ("Destination", "Admin", "Response")},
    },
    "SecurityHeader": {
        "": "MQMQ-2.2.20.6.flags-reserved-ignored",
        **{
            f"SecurityData.{item}.Padding": _ANY
            for item in ("SecurityID", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo")
        },
    },
    "MessagePropertiesHeader": {
        "": "MQMQ-2.2.19.3.flags-unused-ignored",
        "Padding": "MQMQ-2.2.19.3.padding-ignored",
    },
    "DebugHeader": {"": "MQMQ-2.2.20.8.flags-reserved-ignored", "Reserved": "MQMQ-2.2.20.8.reserved-ignored"},
    "SoapHeader": {"Reserved": "MQMQ-2.2.20.7.reserved-ignored", "Reserved1": "MQMQ-2.2.20.7.reserved1-ignored"},
    "MultiQueueFormatHeader": {
        **{f"{name}.Reserved": "MQMQ-2.2.20.2.reserved-ignored" for name in ("Destination", "Administration")},
        "Response.Reserved": "MQMQ-2.2.20.2.reserved-ignored",
        "Signature.Reserved": "MQMQ-2.2.20.3.reserved-ignored",
        "Destination.Padding": "MQMQ-2.2.20.1.destination-padding-any",
        "Administration.Padding": "MQMQ-2.2.20.1.administration-padding-any",
        "Response.Padding": "MQMQ-2.2.20.1.response-padding-any",
        "Signature.Padding": _ANY,
    },
    "SessionHeader": {"Reserved": "MQMQ-2.2.20.4.reserved-ignored"},
}
# Reserved bits of TransactionHeader may also be refused (R-MQMQ-transaction-reserved-bits); they have their own test.
# Readings differ on padding in SoapHeader, so its texts here need none.
APART = ("TransactionHeader", "SoapHeader.HeaderPadding", "SoapHeader.BodyPadding")


@dataclass(frozen=True, slots=True)
class Change:
    """A field with a changed value. requirement: demands that the change has no effect."""

    key: str
    value: Value
    requirement: str


@cache
def full_message() -> dict[str, Any]:
    """Return a message with every header."""
    row = {factor: _FULL.get(factor, options[0]) for factor, options in OPTIONS.items()}
    assert row.keys() == FACTORS.keys()
    return message_of(row, readable=True)


@cache
def changes() -> tuple[Change, ...]:
    """Return a change for each reserved bit, reserved field and padding in the packet of `full_message`."""
    packet = dissect(packet_of(full_message()))
    out: list[Change] = []
    for name, section in SECTION.items():
        if name not in packet.spans or name not in _IDS:
            continue
        for path in _reserved(section):
            key = f"{name}.{path}"
            if key not in packet.fields or key in APART:
                continue
            sort = "" if path.startswith("Flags.") else path
            value = packet.fields[key]
            if isinstance(value, bytes):
                changed: Value = b"\xde" * len(value)
            else:
                changed = (1 << _width(section, path)) - 1
            out.append(Change(key, changed, requirement_id(_IDS[name][sort])))
    return tuple(out)


def packet_with(these: Sequence[Change]) -> bytes:
    """Return the packet of `full_message` with these changes."""
    return patch(dissect(packet_of(full_message())), {change.key: change.value for change in these})


def _reserved(section: Section) -> Iterator[str]:
    yield from (path for path, bit in bit_fields(section) if bit.reserved)
    for path, item in dict(leaves(section)).items():
        if isinstance(item, Pad) or path.rpartition(".")[2].startswith("Reserved"):
            yield path


def _width(section: Section, path: str) -> int:
    for inner, bit in bit_fields(section):
        if inner == path:
            return bit.width
    item = dict(leaves(section))[path]
    return 8 * item.width if isinstance(item, UInt) else 0
