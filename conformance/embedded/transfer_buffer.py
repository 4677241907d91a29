"""CACTransferBufferV1 in NDR (MS-MQMP 2.2.3.2), driven by the table of its members.

The member with the size of a buffer may be left out: the size is then that of the given data. Data smaller than the
given size is padded with zeros, unless another member has the length in use.
"""

from __future__ import annotations

from typing import Any

from conformance.embedded import structure_values as given
from conformance.embedded import transfer_buffer_layout as lay
from conformance.embedded.ndr import NdrReader, NdrWriter, refuse
from conformance.embedded.structures_ndr import NdrStructures
from conformance.embedded.transfer_buffer_layout import Kind, Member

Json = Any
Values = dict[str, Json]
_SEND_MEMBERS = ("p_admin_queue_format", "p_response_queue_format")
_ARMS = {
    lay.SEND: _SEND_MEMBERS,
    lay.RECEIVE: tuple(member.name for member in lay.RECEIVE_MEMBERS),
    lay.CREATE_CURSOR: tuple(member.name for member in lay.CURSOR_MEMBERS),
}
_NAMES = ("u_transfer_type", *lay.ARMS.values(), *(member.name for member in lay.MEMBERS))
_IN_PLACE = (Kind.NUMBER, Kind.POINTER)
_WIDE = (Kind.WIDE, Kind.VARYING_WIDE)
_VARYING = (Kind.VARYING_BYTES, Kind.VARYING_WIDE)


class TransferBuffers(NdrStructures):
    """The codec of CACTransferBufferV1."""

    def write_transfer_buffer(self, out: NdrWriter, value: Json) -> None:
        given.members(value, _NAMES, ("u_transfer_type",))
        kind = self.transfer_type(value["u_transfer_type"])
        if any(arm in value for other, arm in lay.ARMS.items() if other != kind):
            raise refuse()
        arm = given.members(value.get(lay.ARMS[kind], {}), _ARMS[kind])
        out.number(kind, 4)
        self.union_tag(out, kind, 4)
        if kind == lay.SEND:
            for name in _SEND_MEMBERS:
                self._queue_format_pointer_to(out, arm.get(name))
        else:
            self._members_to(out, lay.RECEIVE_MEMBERS if kind == lay.RECEIVE else lay.CURSOR_MEMBERS, arm)
        self.check_sender(value.get("pul_sender_id_type"), value.get("pp_sender_id"))
        self._members_to(out, lay.MEMBERS, value)

    def transfer_type(self, value: Json) -> int:
        """Return uTransferType; refuse all but its three values."""
        return given.one_of(value, lay.ARMS)

    def check_number(self, member: Member, value: int) -> int:
        """Return a number; refuse one outside its table or range."""
        if (member.values and value not in member.values) or (member.most is not None and value > member.most):
            raise refuse()
        return value

    def check_class(self, value: int) -> int:
        """Return pClass for writing; refuse one with reserved bits set."""
        if value & lay.CLASS_RESERVED:
            raise refuse()
        return value

    def check_sender(self, kind: Json, sender: Json) -> None:
        """Refuse a sender that does not fit its type."""
        if kind is None or sender is None:
            return
        raw = given.data(sender)
        fits = {lay.SENDER_SID: given.is_sid(raw), lay.SENDER_MANAGER: len(raw) == 16}
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
        value: Values = {"u_transfer_type": kind, lay.ARMS[kind]: arm}
        if kind == lay.SEND:
            for name in _SEND_MEMBERS:
                self._queue_format_pointer_from(source, arm, name)
        else:
            self._members_from(source, lay.RECEIVE_MEMBERS if kind == lay.RECEIVE else lay.CURSOR_MEMBERS, arm)
        self._members_from(source, lay.MEMBERS, value)
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
