"""Faults of CACTransferBufferV1 (MS-MQMP 2.2.3.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.faults.base import fault
from conformance.embedded.structures import Structures
from conformance.embedded.transfer_buffer_layout import Member

Json = Any


class _Lenient(Structures):
    """Does not look at the tables and ranges of some members."""

    unchecked: ClassVar[tuple[str, ...]] = ()

    def check_number(self, member: Member, value: int) -> int:
        unchecked = {name for kind in type(self).__mro__ for name in kind.__dict__.get("unchecked", ())}
        if member.name in unchecked:
            member = replace(member, values=(), most=None)
        return super().check_number(member, value)


@fault("accepts-long-title", "structures", "MQMP-2.2.3.2.title-buffer-size-maximum")
class AcceptsLongTitle(_Lenient):
    """ppTitle may have more than 250 WCHARs."""

    unchecked = ("ul_title_buffer_size_in_wchars",)


@fault("accepts-priority-over-7", "structures", "MQMP-2.2.3.2.priority-range")
class AcceptsPriorityOver7(_Lenient):
    """pPriority may have any value of a byte."""

    unchecked = ("p_priority",)


@fault("accepts-any-acknowledgement", "structures", "MQMP-2.2.3.2.acknowledge-values")
class AcceptsAnyAcknowledgement(_Lenient):
    """pAcknowledge may be any combination of bits, also those the list leaves out."""

    unchecked = ("p_acknowledge",)


@fault("accepts-any-algorithm", "structures", "MQMP-2.2.3.2.hash-alg-values", "MQMP-2.2.3.2.encrypt-alg-values")
class AcceptsAnyAlgorithm(_Lenient):
    """pulHashAlg and pulEncryptAlg may be any number."""

    unchecked = ("pul_hash_alg", "pul_encrypt_alg")


@fault(
    "accepts-long-format-names", "structures", "MQMP-2.2.3.2.response-format-name-length-range",
    "MQMP-2.2.3.2.admin-format-name-length-range", "MQMP-2.2.3.2.dest-format-name-length-range",
    "MQMP-2.2.3.2.ordering-format-name-length-range",
)  # fmt: skip
class AcceptsLongFormatNames(_Lenient):
    """The rooms of the four format names may be greater than 1024 WCHARs."""

    unchecked = tuple(f"ul_{name}_format_name_len" for name in ("response", "admin", "dest", "ordering"))


@fault("accepts-fourth-transfer-type", "structures.transfer_type", "MQMP-2.2.3.2.transfer-type-values")
def accepts_fourth_transfer_type(plain, self, value):
    """uTransferType 3 is taken for 2."""
    return plain(2 if value == 3 else value)


@fault(
    "body-room-forgotten", "structures.body_counts", "MQMP-2.2.3.2.alloc-body-buffer",
    "MQMP-2.2.3.2.cac-transfer-buffer-v1",
)  # fmt: skip
def body_room_forgotten(plain, self, room, length):
    """The maximum count of ppBody is its length, whatever ulAllocBodyBufferInBytes says."""
    return length, length


@fault("accepts-body-size-over-room", "structures.check_body", "MQMP-2.2.3.2.body-size-maximum")
def accepts_body_size_over_room(plain, self, values):
    """pBodySize may be greater than the room of the body."""
    plain({**values, "p_body_size": None})


@fault(
    "accepts-any-sender", "structures.check_sender", "MQMP-2.2.3.2.sender-id-none", "MQMP-2.2.3.2.sender-id-sid",
    "MQMP-2.2.3.2.sender-id-guid",
)  # fmt: skip
def accepts_any_sender(plain, self, kind, sender):
    """ppSenderID may be there for a sender of type none, and hold anything for the others."""


@fault("transfer-class-reserved-bit", "structures.check_class", "MQMP-2.2.3.2.class-reserved-zero")
def transfer_class_reserved_bit(plain, self, value):
    """A reserved bit of pClass is set."""
    return plain(value) | 0x0100


@fault(
    "auditing-bits-swapped", "structures._number_pointer_to", "MQMP-2.2.3.2.auditing-deadletter",
    "MQMP-2.2.3.2.auditing-journal", "MQMP-2.2.3.2.p-auditing",
)  # fmt: skip
def auditing_bits_swapped(plain, self, out, member, value):
    """pAuditing asks for the journal where the dead-letter queue is meant, and the other way round."""
    if member.name == "p_auditing" and value in (1, 2):
        value = 3 - value
    plain(out, member, value)


@fault(
    "accepts-unended-format-names", "structures.check_end", "MQMP-2.2.3.2.pp-response-format-name",
    "MQMP-2.2.3.2.pp-admin-format-name", "MQMP-2.2.3.2.pp-dest-format-name", "MQMP-2.2.3.2.pp-ordering-format-name",
)  # fmt: skip
def accepts_unended_format_names(plain, self, member, data):
    """A format name of Receive may fill its room without a null."""
