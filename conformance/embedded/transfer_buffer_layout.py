"""The members of CACTransferBufferV1 (MS-MQMP 2.2.3.2) in the order of its declaration, and the tables of their values.

A member has its name in the adapter protocol, its kind, and a detail: the allowed values or the member with the size.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kind of a member."""

    NUMBER = "number"  # in place
    POINTER = "pointer to a number"
    BYTES = "pointer to a pointer to bytes, sized"
    VARYING_BYTES = "pointer to a pointer to bytes, sized and varying"
    WIDE = "pointer to a pointer to WCHARs, sized"
    VARYING_WIDE = "pointer to a pointer to WCHARs, sized and varying"
    OBJECT = "pointer to a pointer to an OBJECTID"
    GUID = "pointer to a pointer to a GUID"
    UNIT_OF_WORK = "pointer to an XACTUOW"


@dataclass(frozen=True, slots=True)
class Member:
    """size: bytes of a number. values: those allowed for a number. most: its maximum. length: the member with the
    size of a buffer. room: for a varying buffer, the member with the allocated size. fixed: a constant size.
    """

    name: str
    kind: Kind
    size: int = 4
    values: Collection[int] = ()
    most: int | None = None
    signed: bool = False
    length: str | None = None
    room: str | None = None
    fixed: int | None = None
    must_end: bool = False


SEND, RECEIVE, CREATE_CURSOR = range(3)
ARMS = {SEND: "send", RECEIVE: "receive", CREATE_CURSOR: "create_cursor"}
ACTIONS = (0x00000000, 0x80000000, 0x80000001)
MAX_FORMAT_NAME = 1024
MAX_TITLE = 250
CORRELATION_BYTES = 20
CLASS_RESERVED = 0x1F00
ACKNOWLEDGEMENTS = (0x00, 0x01, 0x02, 0x04, 0x05, 0x08, 0x0C, 0x0E)
SENDER_NONE, SENDER_SID, SENDER_MANAGER = range(3)
PRIVACY_LEVELS = (0, 1, 3, 5)  # 128 bits as in MC-MQAC, and AES
AUTHENTICATIONS = (0, 1, 3, 5, 9)
HASH_ALGORITHMS = (0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E)
ENCRYPTION_ALGORITHMS = (0x6602, 0x6801, 0x660E, 0x660F, 0x6610)
BODY_TYPES = (0, 1, 2, 3, 11, 12, 16, 17, 18, 19, 20, 21, 31, 65, 72)
VECTOR = 0x1000


def _number(name: str, size: int = 4, *, values: Collection[int] = (), most: int | None = None) -> Member:
    return Member(name, Kind.NUMBER, size, values, most)


def _pointer(name: str, size: int = 4, *, values: Collection[int] = (), most: int | None = None) -> Member:
    return Member(name, Kind.POINTER, size, values, most)


def _format_name(which: str) -> tuple[Member, ...]:
    length = f"ul_{which}_format_name_len"
    return (
        _number(length, most=MAX_FORMAT_NAME),
        Member(f"pp_{which}_format_name", Kind.WIDE, length=length, must_end=True),
        _pointer(f"pul_{which}_format_name_len_prop"),
    )


RECEIVE_MEMBERS: tuple[Member, ...] = (
    _number("request_timeout"),
    _number("action", values=ACTIONS),
    _number("asynchronous"),
    _number("cursor"),
    *_format_name("response"),
    *_format_name("admin"),
    *_format_name("dest"),
    *_format_name("ordering"),
)
CURSOR_MEMBERS: tuple[Member, ...] = (_number("h_cursor"), _number("srv_h_ac_queue"), _number("cli_p_qm_queue"))

MEMBERS: tuple[Member, ...] = (
    _pointer("p_class", 2),
    Member("pp_message_id", Kind.OBJECT),
    Member("pp_correlation_id", Kind.VARYING_BYTES, fixed=CORRELATION_BYTES),
    _pointer("p_sent_time"),
    _pointer("p_arrived_time"),
    _pointer("p_priority", 1, most=7),
    _pointer("p_delivery", 1, values=(0, 1)),
    _pointer("p_acknowledge", 1, values=ACKNOWLEDGEMENTS),
    _pointer("p_auditing", 1, most=3),
    _pointer("p_application_tag"),
    Member("pp_body", Kind.VARYING_BYTES, length="ul_body_buffer_size_in_bytes", room="ul_alloc_body_buffer_in_bytes"),
    _number("ul_body_buffer_size_in_bytes"),
    _number("ul_alloc_body_buffer_in_bytes"),
    _pointer("p_body_size"),
    Member("pp_title", Kind.VARYING_WIDE, length="ul_title_buffer_size_in_wchars"),
    _number("ul_title_buffer_size_in_wchars", most=MAX_TITLE),
    _pointer("pul_title_buffer_size_in_wchars"),
    _number("ul_absolute_time_to_queue"),
    _pointer("pul_relative_time_to_queue"),
    _number("ul_relative_time_to_live"),
    _pointer("pul_relative_time_to_live"),
    _pointer("p_trace", 1, values=(0, 1)),
    _pointer("pul_sender_id_type", values=(SENDER_NONE, SENDER_SID, SENDER_MANAGER)),
    Member("pp_sender_id", Kind.BYTES, length="u_sender_id_len"),
    _pointer("pul_sender_id_len_prop"),
    _pointer("pul_priv_level", values=PRIVACY_LEVELS),
    _number("ul_auth_level"),
    _pointer("p_authenticated", 1, values=AUTHENTICATIONS),
    _pointer("pul_hash_alg", values=HASH_ALGORITHMS),
    _pointer("pul_encrypt_alg", values=ENCRYPTION_ALGORITHMS),
    Member("pp_sender_cert", Kind.BYTES, length="ul_sender_cert_len"),
    _number("ul_sender_cert_len"),
    _pointer("pul_sender_cert_len_prop"),
    Member("ppwcs_prov_name", Kind.WIDE, length="ul_prov_name_len"),
    _number("ul_prov_name_len"),
    _pointer("pul_auth_prov_name_len_prop"),
    _pointer("pul_prov_type"),
    Member("f_default_provider", Kind.NUMBER, signed=True),
    Member("pp_symm_keys", Kind.BYTES, length="ul_symm_keys_size"),
    _number("ul_symm_keys_size"),
    _pointer("pul_symm_keys_size_prop"),
    _number("b_encrypted", 1),
    _number("b_authenticated", 1),
    _number("u_sender_id_len", 2),
    Member("pp_signature", Kind.BYTES, length="ul_signature_size"),
    _number("ul_signature_size"),
    _pointer("pul_signature_size_prop"),
    Member("pp_src_qmid", Kind.GUID),
    Member("p_uow", Kind.UNIT_OF_WORK),
    Member("pp_msg_extension", Kind.VARYING_BYTES, length="ul_msg_extension_buffer_in_bytes"),
    _number("ul_msg_extension_buffer_in_bytes"),
    _pointer("p_msg_extension_size"),
    Member("pp_connector_type", Kind.GUID),
    _pointer("pul_body_type", values=(*BODY_TYPES, *(VECTOR | kind for kind in BODY_TYPES if kind > 1))),
    _pointer("pul_version"),
)
