"""The structures of MS-MQMQ 2.2 by their names, and CACTransferBufferV1 in NDR (MS-MQMP 2.2.3.2) by its members."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from conformance.embedded import ndr as given
from conformance.embedded.ndr import NdrReader, NdrWriter, refuse
from conformance.embedded.structures_ndr import ELEMENT_SIZES, NdrStructures


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

Json = Any
Values = dict[str, Json]
_SEND_MEMBERS = ("p_admin_queue_format", "p_response_queue_format")
_ARMS = {
    SEND: _SEND_MEMBERS,
    RECEIVE: tuple(member.name for member in RECEIVE_MEMBERS),
    CREATE_CURSOR: tuple(member.name for member in CURSOR_MEMBERS),
}
_NAMES = ("u_transfer_type", *ARMS.values(), *(member.name for member in MEMBERS))
_IN_PLACE = (Kind.NUMBER, Kind.POINTER)
_WIDE = (Kind.WIDE, Kind.VARYING_WIDE)
_VARYING = (Kind.VARYING_BYTES, Kind.VARYING_WIDE)


class TransferBuffers(NdrStructures):
    """The codec of CACTransferBufferV1."""

    def write_transfer_buffer(self, out: NdrWriter, value: Json) -> None:
        given.members(value, _NAMES, ("u_transfer_type",))
        kind = self.transfer_type(value["u_transfer_type"])
        if any(arm in value for other, arm in ARMS.items() if other != kind):
            raise refuse()
        arm = given.members(value.get(ARMS[kind], {}), _ARMS[kind])
        out.number(kind, 4)
        self.union_tag(out, kind, 4)
        if kind == SEND:
            for name in _SEND_MEMBERS:
                self._queue_format_pointer_to(out, arm.get(name))
        else:
            self._members_to(out, RECEIVE_MEMBERS if kind == RECEIVE else CURSOR_MEMBERS, arm)
        self.check_sender(value.get("pul_sender_id_type"), value.get("pp_sender_id"))
        self._members_to(out, MEMBERS, value)

    def transfer_type(self, value: Json) -> int:
        """Return uTransferType; refuse all but its three values."""
        return given.one_of(value, ARMS)

    def check_number(self, member: Member, value: int) -> int:
        """Return a number; refuse one outside its table or range."""
        if (member.values and value not in member.values) or (member.most is not None and value > member.most):
            raise refuse()
        return value

    def check_class(self, value: int) -> int:
        """Return pClass for writing; refuse one with reserved bits set."""
        if value & CLASS_RESERVED:
            raise refuse()
        return value

    def check_sender(self, kind: Json, sender: Json) -> None:
        """Refuse a sender that does not fit its type."""
        if kind is None or sender is None:
            return
        raw = given.data(sender)
        fits = {SENDER_SID: given.is_sid(raw), SENDER_MANAGER: len(raw) == 16}
        if not fits.get(kind, False):
            raise refuse()

    def check_certificate(self, data: bytes) -> None:
        """Refuse to write a certificate that is not one encoded SEQUENCE of exactly this size (X.690 8.1.3)."""
        if len(data) < 2 or data[0] != 0x30:
            raise refuse()
        head, length = 2, data[1]
        if length > 0x80:
            head += length & 0x7F
            length = int.from_bytes(data[2:head], "big")
        if head + length != len(data):
            raise refuse()

    def check_body(self, values: Values) -> None:
        """Refuse a body that is longer than its allocated size."""
        room = values["ul_alloc_body_buffer_in_bytes"]
        if values["ul_body_buffer_size_in_bytes"] > room or (values["p_body_size"] or 0) > room:
            raise refuse()

    def body_counts(self, room: int, length: int) -> tuple[int, int]:
        """Return maximum and actual count of a varying buffer."""
        return room, length

    def unit(self, member: Member) -> int:
        """Return the size of an element of a buffer in bytes."""
        return 2 if member.kind in _WIDE else 1

    # Writing.

    def _queue_format_pointer_to(self, out: NdrWriter, value: Json) -> None:
        out.pointer(None if value is None else lambda: self.write_queue_format(out, value))

    def _members_to(self, out: NdrWriter, members: tuple[Member, ...], value: Values) -> None:
        buffers, sizes = self._buffers(members, value)
        if "ul_alloc_body_buffer_in_bytes" in sizes:
            size = value.get("p_body_size")
            self.check_body({**sizes, "p_body_size": None if size is None else given.number(size)})
        for member in members:
            if member.kind is Kind.NUMBER:
                number = sizes[member.name] if member.name in sizes else self._in_range(member, value)
                out.number(self.check_number(member, number), member.size, signed=member.signed)
            elif member.kind is Kind.POINTER:
                self._number_pointer_to(out, member, value.get(member.name))
            elif member.name in buffers:
                room = sizes.get(member.room or member.length or "", member.fixed or 0)
                self._buffer_to(out, member, buffers[member.name], room)
            elif member.kind in (Kind.OBJECT, Kind.GUID, Kind.UNIT_OF_WORK) and value.get(member.name) is not None:
                self._object_to(out, member.kind, value[member.name])
            else:
                out.pointer(None)

    def _in_range(self, member: Member, value: Values) -> int:
        most = (1 << 8 * member.size - member.signed) - 1
        return given.number(value.get(member.name, 0), most, -most - 1 if member.signed else 0)

    def _number_pointer_to(self, out: NdrWriter, member: Member, value: Json) -> None:
        if value is None:
            out.pointer(None)
            return
        number = self.check_number(member, given.number(value, (1 << 8 * member.size) - 1))
        if member.name == "p_class":
            number = self.check_class(number)
        out.pointer(lambda: out.number(number, member.size))

    def _buffers(self, members: tuple[Member, ...], value: Values) -> tuple[dict[str, bytes], dict[str, int]]:
        """Return the buffers that are not null, padded to their sizes, and the values of all size members."""
        buffers: dict[str, bytes] = {}
        sizes: dict[str, int] = {}
        for member in members:
            if member.kind in _IN_PLACE or not (member.length or member.fixed):
                continue
            content = value.get(member.name)
            data = b"" if content is None else self._content(member, content)
            unit = self.unit(member)
            length = len(data) // unit
            if member.length:
                length = given.number(value.get(member.length, length))
            room = given.number(value.get(member.room, length)) if member.room else member.fixed or length
            if content is not None:
                if member.room and length != len(data) // unit:
                    raise refuse()
                if length > room or len(data) > length * unit or (member.fixed and len(data) != member.fixed):
                    raise refuse()
                if length * unit > given.MOST_BYTES:
                    raise refuse()
                buffers[member.name] = data.ljust(length * unit, b"\0")
                self.check_end(member, buffers[member.name])
                if member.name == "pp_sender_cert":
                    self.check_certificate(buffers[member.name])
            if member.length:
                sizes[member.length] = length
            if member.room:
                sizes[member.room] = room
        return buffers, sizes

    def _content(self, member: Member, content: Json) -> bytes:
        if member.kind not in _WIDE:
            return given.data(content)
        if not isinstance(content, str):
            raise refuse()
        return content.encode("utf-16-le", "surrogatepass")

    def check_end(self, member: Member, data: bytes) -> None:
        """Refuse a name without a terminating null."""
        if member.must_end and data and "\0" not in data.decode("utf-16-le", "surrogatepass"):
            raise refuse()

    def _buffer_to(self, out: NdrWriter, member: Member, data: bytes, room: int) -> None:
        def buffer() -> None:
            maximum, actual = self.body_counts(room, len(data) // self.unit(member))
            out.maximum(maximum)
            if member.kind in _VARYING:
                out.variance(actual)
            out.raw(data)

        out.pointer(lambda: out.pointer(buffer))

    def _object_to(self, out: NdrWriter, kind: Kind, value: Json) -> None:
        if kind is Kind.UNIT_OF_WORK:
            raw = self.write_unit_of_work(value)
            out.pointer(lambda: out.raw(raw))
            return
        raw = self.write_object_id(value) if kind is Kind.OBJECT else self.guid_bytes(value)

        def referent() -> None:
            out.align(4)
            out.raw(raw)

        out.pointer(lambda: out.pointer(referent))

    # Reading.

    def read_transfer_buffer(self, source: NdrReader) -> Json:
        kind = self.transfer_type(source.number(4))
        if source.number(4) != kind:
            raise refuse()
        arm: Values = {}
        value: Values = {"u_transfer_type": kind, ARMS[kind]: arm}
        if kind == SEND:
            for name in _SEND_MEMBERS:
                self._queue_format_pointer_from(source, arm, name)
        else:
            self._members_from(source, RECEIVE_MEMBERS if kind == RECEIVE else CURSOR_MEMBERS, arm)
        self._members_from(source, MEMBERS, value)
        return value

    def check_transfer_buffer(self, value: Values) -> None:
        """Refuse conflicts between members."""
        self.check_sender(value["pul_sender_id_type"], value["pp_sender_id"])
        self.check_body(value)

    def _queue_format_pointer_from(self, source: NdrReader, arm: Values, name: str) -> None:
        arm[name] = None

        def referent() -> None:
            arm[name] = self.read_queue_format(source)

        source.pointer(referent)

    def _members_from(self, source: NdrReader, members: tuple[Member, ...], value: Values) -> None:
        for member in members:
            if member.kind is Kind.NUMBER:
                number = source.number(member.size, signed=member.signed)
                value[member.name] = self.check_number(member, number)
                continue
            value[member.name] = None
            if member.kind is Kind.POINTER:
                self._number_pointer_from(source, member, value)
            elif member.kind in (Kind.OBJECT, Kind.GUID, Kind.UNIT_OF_WORK):
                self._object_from(source, member, value)
            else:
                self._buffer_from(source, member, value)

    def _number_pointer_from(self, source: NdrReader, member: Member, value: Values) -> None:
        def referent() -> None:
            value[member.name] = self.check_number(member, source.number(member.size))

        source.pointer(referent)

    def _object_from(self, source: NdrReader, member: Member, value: Values) -> None:
        def referent() -> None:
            if member.kind is Kind.UNIT_OF_WORK:
                value[member.name] = self.read_unit_of_work(source)
            elif member.kind is Kind.GUID:
                value[member.name] = self.guid_from(source)
            else:
                source.align(4)
                value[member.name] = self.read_object_id(source)

        if member.kind is Kind.UNIT_OF_WORK:
            source.pointer(referent)
        else:
            source.pointer(lambda: _ignore(source.pointer(referent)))

    def _buffer_from(self, source: NdrReader, member: Member, value: Values) -> None:
        def buffer() -> None:
            length = member.fixed or value[member.length or ""]
            room = value[member.room] if member.room else length
            source.maximum(room)
            if member.kind in _VARYING:
                length = source.variance(room, exactly=None if member.fixed else length)
            data = source.raw(length * self.unit(member))
            self.check_end(member, data)
            wide = member.kind in _WIDE
            value[member.name] = data.decode("utf-16-le", "surrogatepass") if wide else given.base64_text(data)

        source.pointer(lambda: _ignore(source.pointer(buffer)))


def _ignore(_: bool) -> None:
    """Treat a null pointer behind a pointer as a null pointer."""


class Structures(TransferBuffers):
    """The codec a manager has. Malformed data raises MqError(MQ_ERROR_INVALID_PARAMETER)."""

    def encode(self, structure: str, value: Json) -> str:
        """Return the bytes of a structure in base64."""
        if structure in _PLAIN:
            return given.base64_text(_PLAIN[structure][0](self, value))
        out = NdrWriter()
        if structure in ELEMENT_SIZES:
            out.construct(lambda: self.write_array(out, structure, value))
        else:
            out.construct(lambda: _NDR[structure][0](self, out, value))
        return given.base64_text(bytes(out.out))

    def decode(self, structure: str, data: str) -> Json:
        """Return the value of a structure, given in base64; bytes left over are refused too."""
        source = NdrReader(given.data(data))
        if structure in _PLAIN:
            value = _PLAIN[structure][1](self, source)
        elif structure in ELEMENT_SIZES:
            value = source.construct(lambda: self.read_array(source, structure))
        else:
            value = source.construct(lambda: _NDR[structure][1](self, source))
        source.end()
        if structure == "CACTransferBufferV1":
            self.check_transfer_buffer(value)
        return value


_Plain = tuple[Callable[[Structures, Json], bytes], Callable[[Structures, NdrReader], Json]]
_Ndr = tuple[Callable[[Structures, NdrWriter, Json], None], Callable[[Structures, NdrReader], Json]]
_PLAIN: Mapping[str, _Plain] = {
    "MQDSPUBLICKEY": (lambda to, value: to.write_public_key(value), lambda to, source: to.read_public_key(source)),
    "MQDSPUBLICKEYS": (lambda to, value: to.write_public_keys(value), lambda to, source: to.read_public_keys(source)),
    "SECURITY_INFORMATION": (
        lambda to, value: to.write_security_information(value),
        lambda to, source: to.read_security_information(source),
    ),
    "TA_ADDRESS": (lambda to, value: to.write_address(value), lambda to, source: to.read_address(source)),
    "SEQUENCE_INFO": (
        lambda to, value: to.write_sequence_info(value),
        lambda to, source: to.read_sequence_info(source),
    ),
    "OBJECTID": (lambda to, value: to.write_object_id(value), lambda to, source: to.read_object_id(source)),
    "MULTICAST_ID": (lambda to, value: to.write_multicast_id(value), lambda to, source: to.read_multicast_id(source)),
    "VARIANT_BOOL": (lambda to, value: to.write_variant_bool(value), lambda to, source: to.read_variant_bool(source)),
    "ULARGE_INTEGER": (
        lambda to, value: to.write_large_integer(value),
        lambda to, source: to.read_large_integer(source),
    ),
    "TxSequenceID": (lambda to, value: to.write_sequence_id(value), lambda to, source: to.read_sequence_id(source)),
    "MessageIdentifier": (
        lambda to, value: to.write_message_identifier(value),
        lambda to, source: to.read_message_identifier(source),
    ),
    "XACTUOW": (lambda to, value: to.write_unit_of_work(value), lambda to, source: to.read_unit_of_work(source)),
    "MQUSERSIGNCERT": (lambda to, value: to.write_certificate(value), lambda to, source: to.read_certificate(source)),
    "MQUSERSIGNCERTS": (
        lambda to, value: to.write_certificates(value),
        lambda to, source: to.read_certificates(source),
    ),
}
_NDR: Mapping[str, _Ndr] = {
    "QUEUE_FORMAT": (
        lambda to, out, value: to.write_queue_format(out, value),
        lambda to, source: to.read_queue_format(source),
    ),
    "DL_ID": (lambda to, out, value: to.write_list(out, value), lambda to, source: to.read_list(source)),
    "BLOB": (lambda to, out, value: to.write_blob(out, value), lambda to, source: to.read_blob(source)),
    "PROPVARIANT": (lambda to, out, value: to.write_variant(out, value), lambda to, source: to.read_variant(source)),
    "CACTransferBufferV1": (
        lambda to, out, value: to.write_transfer_buffer(out, value),
        lambda to, source: to.read_transfer_buffer(source),
    ),
}
STRUCTURES = frozenset({*_PLAIN, *_NDR, *ELEMENT_SIZES})
