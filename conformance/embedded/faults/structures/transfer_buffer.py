"""Faults of CACTransferBufferV1 (MS-MQMP 2.2.3.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.faults.base import Fault
from conformance.embedded.ndr import NdrWriter
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


class _AnyTitle(_Lenient):
    unchecked = ("ul_title_buffer_size_in_wchars",)


class AcceptsLongTitle(Fault):
    """ppTitle may have more than 250 WCHARs."""

    name = "accepts-long-title"
    breaks = ("MQMP-2.2.3.2.title-buffer-size-maximum",)
    replaces = ("structures", _AnyTitle)


class _AnyPriority(_Lenient):
    unchecked = ("p_priority",)


class AcceptsPriorityOver7(Fault):
    """pPriority may have any value of a byte."""

    name = "accepts-priority-over-7"
    breaks = ("MQMP-2.2.3.2.priority-range",)
    replaces = ("structures", _AnyPriority)


class _AnyAcknowledgement(_Lenient):
    unchecked = ("p_acknowledge",)


class AcceptsAnyAcknowledgement(Fault):
    """pAcknowledge may be any combination of bits, also those the list leaves out."""

    name = "accepts-any-acknowledgement"
    breaks = ("MQMP-2.2.3.2.acknowledge-values",)
    replaces = ("structures", _AnyAcknowledgement)


class _AnyHash(_Lenient):
    unchecked = ("pul_hash_alg", "pul_encrypt_alg")


class AcceptsAnyAlgorithm(Fault):
    """pulHashAlg and pulEncryptAlg may be any number."""

    name = "accepts-any-algorithm"
    breaks = (
        "MQMP-2.2.3.2.hash-alg-values",
        "MQMP-2.2.3.2.encrypt-alg-values",
    )
    replaces = ("structures", _AnyHash)


class _AnyNameLength(_Lenient):
    unchecked = tuple(f"ul_{name}_format_name_len" for name in ("response", "admin", "dest", "ordering"))


class AcceptsLongFormatNames(Fault):
    """The rooms of the four format names may be greater than 1024 WCHARs."""

    name = "accepts-long-format-names"
    breaks = (
        "MQMP-2.2.3.2.response-format-name-length-range",
        "MQMP-2.2.3.2.admin-format-name-length-range",
        "MQMP-2.2.3.2.dest-format-name-length-range",
        "MQMP-2.2.3.2.ordering-format-name-length-range",
    )
    replaces = ("structures", _AnyNameLength)


class _FourthTransfer(Structures):
    def transfer_type(self, value: Json) -> int:
        return super().transfer_type(2 if value == 3 else value)


class AcceptsFourthTransferType(Fault):
    """uTransferType 3 is taken for 2."""

    name = "accepts-fourth-transfer-type"
    breaks = ("MQMP-2.2.3.2.transfer-type-values",)
    replaces = ("structures", _FourthTransfer)


class _RoomIsLength(Structures):
    def body_counts(self, room: int, length: int) -> tuple[int, int]:
        return length, length


class BodyRoomForgotten(Fault):
    """The maximum count of ppBody is its length, whatever ulAllocBodyBufferInBytes says."""

    name = "body-room-forgotten"
    breaks = (
        "MQMP-2.2.3.2.alloc-body-buffer",
        "MQMP-2.2.3.2.cac-transfer-buffer-v1",
    )
    replaces = ("structures", _RoomIsLength)


class _AnyBody(Structures):
    def check_body(self, values: dict[str, Json]) -> None:
        super().check_body({**values, "p_body_size": None})


class AcceptsBodySizeOverRoom(Fault):
    """pBodySize may be greater than the room of the body."""

    name = "accepts-body-size-over-room"
    breaks = ("MQMP-2.2.3.2.body-size-maximum",)
    replaces = ("structures", _AnyBody)


class _AnySender(Structures):
    def check_sender(self, kind: Json, sender: Json) -> None:
        pass


class AcceptsAnySender(Fault):
    """ppSenderID may be there for a sender of type none, and hold anything for the others."""

    name = "accepts-any-sender"
    breaks = (
        "MQMP-2.2.3.2.sender-id-none",
        "MQMP-2.2.3.2.sender-id-sid",
        "MQMP-2.2.3.2.sender-id-guid",
    )
    replaces = ("structures", _AnySender)


class _MarkedClass(Structures):
    def check_class(self, value: int) -> int:
        return super().check_class(value) | 0x0100


class TransferClassReservedBit(Fault):
    """A reserved bit of pClass is set."""

    name = "transfer-class-reserved-bit"
    breaks = ("MQMP-2.2.3.2.class-reserved-zero",)
    replaces = ("structures", _MarkedClass)


class _SwappedAuditing(Structures):
    def _number_pointer_to(self, out: NdrWriter, member: Member, value: Json) -> None:
        if member.name == "p_auditing" and value in (1, 2):
            value = 3 - value
        super()._number_pointer_to(out, member, value)


class AuditingBitsSwapped(Fault):
    """pAuditing asks for the journal where the dead-letter queue is meant, and the other way round."""

    name = "auditing-bits-swapped"
    breaks = (
        "MQMP-2.2.3.2.auditing-deadletter",
        "MQMP-2.2.3.2.auditing-journal",
        "MQMP-2.2.3.2.p-auditing",
    )
    replaces = ("structures", _SwappedAuditing)


class _UnendedNames(Structures):
    def check_end(self, member: Member, data: bytes) -> None:
        pass


class AcceptsUnendedFormatNames(Fault):
    """A format name of Receive may fill its room without a null."""

    name = "accepts-unended-format-names"
    breaks = (
        "MQMP-2.2.3.2.pp-response-format-name",
        "MQMP-2.2.3.2.pp-admin-format-name",
        "MQMP-2.2.3.2.pp-dest-format-name",
        "MQMP-2.2.3.2.pp-ordering-format-name",
    )
    replaces = ("structures", _UnendedNames)
