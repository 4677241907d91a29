"""Structures in NDR: QUEUE_FORMAT, PROPVARIANT, BLOB and the counted arrays (MS-MQMQ 2.2.7 to 2.2.16)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded import ndr as given
from conformance.embedded.entities import MqError
from conformance.embedded.names import NameParser
from conformance.embedded.ndr import NdrReader, NdrWriter, refuse
from conformance.embedded.structures_plain import PlainStructures

Json = Any
Write = Callable[[NdrWriter, Json], None]
Read = Callable[[NdrReader], Json]

# QUEUE_FORMAT (2.2.6, 2.2.7, 2.2.11)
UNKNOWN, PUBLIC, PRIVATE, DIRECT, MACHINE, CONNECTOR, LIST, MULTICAST, SUBQUEUE = range(9)
SYSTEM = 0x80
SUFFIX_BITS = 0x0F
# Suffix type to the flags and the format types it combines with; none, journal, deadletter, deadxact,
# xactonly, subqueue.
SUFFIXES: dict[int, tuple[tuple[int, ...], frozenset[int]]] = {
    0: ((0,), frozenset(range(9)) - {MACHINE}),
    1: ((SYSTEM,), frozenset(range(9)) - {CONNECTOR, LIST, MULTICAST}),
    2: ((SYSTEM,), frozenset({UNKNOWN, DIRECT, MACHINE, SUBQUEUE})),
    3: ((SYSTEM,), frozenset({DIRECT, MACHINE})),
    4: ((0, SYSTEM), frozenset({CONNECTOR})),  # the document gives no flags for this type
    5: ((0,), frozenset({SUBQUEUE})),
}
UNION_MEMBERS = {
    PUBLIC: "m_g_public_id",
    PRIVATE: "m_o_private_id",
    DIRECT: "m_p_direct_id",
    MACHINE: "m_g_machine_id",
    CONNECTOR: "m_g_connector_id",
    LIST: "m_dl_id",
    MULTICAST: "m_multicast_id",
    SUBQUEUE: "m_p_direct_subqueue_id",
}

# PROPVARIANT (2.2.12, 2.2.13)
EMPTY, NULL, BOOL, LPWSTR, BLOB, CLSID, VARIANT, VECTOR = 0, 1, 11, 31, 65, 72, 12, 0x1000
NUMBERS = {2: (2, True), 3: (4, True), 16: (1, True), 17: (1, False), 18: (2, False), 19: (4, False)}
LARGE_NUMBERS = {20: True, 21: False}
ARRAYS = {
    VECTOR | 17: "CAUB",
    VECTOR | 18: "CAUI",
    VECTOR | 3: "CAL",
    VECTOR | 19: "CAUL",
    VECTOR | 21: "CAUH",
    VECTOR | CLSID: "CACLSID",
    VECTOR | LPWSTR: "CALPWSTR",
    VECTOR | VARIANT: "CAPROPVARIANT",
}
# Minimum size of an element in bytes.
ELEMENT_SIZES = {
    "CAUB": 1,
    "CAUI": 2,
    "CAL": 4,
    "CAUL": 4,
    "CAUH": 8,
    "CACLSID": 16,
    "CALPWSTR": 4,
    "CAPROPVARIANT": 10,
}


class NdrStructures(PlainStructures):
    """The codec of structures in NDR."""

    def __init__(self, names: NameParser) -> None:
        self._names = names

    def ignore(self, reserved: bytes) -> None:
        """Ignore the content of reserved members, which can be anything."""

    def guid_to(self, out: NdrWriter, value: Json) -> None:
        """Write a GUID, which is aligned like its first member."""
        out.align(4)
        out.raw(self.guid_bytes(value))

    def guid_from(self, source: NdrReader) -> str:
        """The inverse of `guid_to`."""
        source.align(4)
        return self.guid_text(source.raw(16))

    def union_tag(self, out: NdrWriter, kind: int, size: int) -> None:
        """Write the tag of a union, which NDR repeats in front of the union."""
        out.number(kind, size)

    def text_pointer_to(self, out: NdrWriter, value: Json) -> None:
        """Write a pointer to a [string]; null for None."""
        if value is None:
            out.pointer(None)
        else:
            text = given.text(value)
            out.pointer(lambda: self.text_to(out, text))

    def text_to(self, out: NdrWriter, text: str) -> None:
        """Write a null-terminated [string]."""
        out.text(text)

    # QUEUE_FORMAT

    def write_queue_format(self, out: NdrWriter, value: Json) -> None:
        names = ("m_qft", "m_suffix_and_flags")
        given.members(value, (*names, "m_reserved", *UNION_MEMBERS.values()), names)
        kind, suffix = given.number(value["m_qft"], given.U8), given.number(value["m_suffix_and_flags"], given.U8)
        self.check_queue_format(kind, suffix)
        selected = UNION_MEMBERS.get(kind)
        if [name for name in UNION_MEMBERS.values() if name in value] != ([selected] if selected else []):
            raise refuse()
        out.align(4)
        out.number(self.format_type(kind), 1)
        out.number(self.suffix_and_flags(suffix), 1)
        out.number(given.number(value.get("m_reserved", 0), given.U16), 2)
        self.union_tag(out, self.format_type(kind), 1)
        if selected:
            self.write_queue_name(out, kind, value[selected])

    def format_type(self, kind: int) -> int:
        """m_qft."""
        return kind

    def suffix_and_flags(self, value: int) -> int:
        """m_SuffixAndFlags: the suffix type in its lower half, the flags in the upper one."""
        return value

    def write_queue_name(self, out: NdrWriter, kind: int, name: Json) -> None:
        """The member of the union."""
        if kind in (PUBLIC, MACHINE, CONNECTOR):
            self.guid_to(out, name)
        elif kind == PRIVATE:
            out.align(4)
            out.raw(self.write_object_id(name))
        elif kind == LIST:
            self.write_list(out, name)
        elif kind == MULTICAST:
            out.align(4)
            out.raw(self.write_multicast_id(name))
        else:
            self.check_direct(kind, name)
            self.text_pointer_to(out, name)

    def check_queue_format(self, kind: int, suffix: int) -> None:
        """Refuse an unknown type, and a suffix that does not combine with the flags or the type."""
        flags, kinds = SUFFIXES.get(suffix & SUFFIX_BITS, ((), frozenset()))
        if suffix & ~SUFFIX_BITS not in flags or kind not in kinds:
            raise refuse()

    def check_direct(self, kind: int, text: Json) -> None:
        """Refuse text that is no direct format name (without `DIRECT=`), or names no subqueue where the type does."""
        if text is None:
            return
        try:
            name = self._names.format_name("DIRECT=" + given.text(text))
        except MqError:
            raise refuse() from None
        if kind == SUBQUEUE and "subqueue" not in name.parts:
            raise refuse()

    def read_queue_format(self, source: NdrReader) -> Json:
        source.align(4)
        kind, suffix = source.number(1), source.number(1)
        self.check_queue_format(kind, suffix)
        reserved = source.raw(2)
        self.ignore(reserved)
        if source.number(1) != kind:
            raise refuse()
        told = int.from_bytes(reserved, "little")
        value: dict[str, Json] = {"m_qft": kind, "m_suffix_and_flags": suffix, "m_reserved": told}
        if kind != UNKNOWN:
            self.read_queue_name(source, kind, value)
        return value

    def read_queue_name(self, source: NdrReader, kind: int, value: dict[str, Json]) -> None:
        """Read the member of the union into the value."""
        member = UNION_MEMBERS[kind]
        if kind in (PUBLIC, MACHINE, CONNECTOR):
            value[member] = self.guid_from(source)
        elif kind == PRIVATE:
            source.align(4)
            value[member] = self.read_object_id(source)
        elif kind == LIST:
            value[member] = self.read_list(source)
        elif kind == MULTICAST:
            source.align(4)
            value[member] = self.read_multicast_id(source)
        else:
            value[member] = None

            def referent() -> None:
                value[member] = source.text()
                self.check_direct(kind, value[member])

            source.pointer(referent)

    # DL_ID (2.2.9)

    def write_list(self, out: NdrWriter, value: Json) -> None:
        given.members(value, ("m_dl_guid", "m_pwz_domain"), ("m_dl_guid", "m_pwz_domain"))
        self.guid_to(out, value["m_dl_guid"])
        self.text_pointer_to(out, value["m_pwz_domain"])

    def read_list(self, source: NdrReader) -> Json:
        value: dict[str, Json] = {"m_dl_guid": self.guid_from(source), "m_pwz_domain": None}

        def referent() -> None:
            value["m_pwz_domain"] = source.text()

        source.pointer(referent)
        return value

    # BLOB (2.2.15)

    def write_blob(self, out: NdrWriter, value: Json) -> None:
        given.members(value, ("cb_size", "p_blob_data"), ("p_blob_data",))
        self.blob_to(out, given.data(value["p_blob_data"]))

    def blob_to(self, out: NdrWriter, data: bytes) -> None:
        """Write a count and a pointer to bytes."""

        def referent() -> None:
            out.maximum(len(data))
            out.raw(data)

        out.number(self.element_count("BLOB", len(data)), 4)
        out.pointer(referent)

    def element_count(self, name: str, count: int) -> int:
        """cElems or cbSize."""
        return count

    def read_blob(self, source: NdrReader) -> Json:
        value: dict[str, Json] = {"cb_size": source.number(4), "p_blob_data": ""}

        def put(data: bytes) -> None:
            value["p_blob_data"] = given.base64_text(data)

        self.bytes_from(source, value["cb_size"], put)
        return value

    def bytes_from(self, source: NdrReader, count: int, put: Callable[[bytes], None]) -> None:
        """A pointer to so many bytes."""

        def referent() -> None:
            source.maximum(count)
            put(source.raw(count))

        if not source.pointer(referent) and count:
            raise refuse()

    # Counted arrays (2.2.16)

    def write_array(self, out: NdrWriter, name: str, value: Json) -> None:
        given.members(value, ("c_elems", "p_elems"), ("p_elems",))
        self.elements_to(out, name, value["p_elems"])

    def elements_to(self, out: NdrWriter, name: str, value: Json) -> None:
        """Write a count and a pointer to elements."""
        if name == "CAUB":
            self.blob_to(out, given.data(value))
            return
        elements = given.array(value)

        def referent() -> None:
            out.maximum(len(elements))
            for element in elements:
                self.element_to(out, name, element)

        out.number(self.element_count(name, len(elements)), 4)
        out.pointer(referent)

    def element_to(self, out: NdrWriter, name: str, element: Json) -> None:
        """Write one element of an array that is not of bytes."""
        if name == "CAUI":
            out.number(given.number(element, given.U16), 2)
        elif name == "CAL":
            out.number(given.number(element, 0x7FFFFFFF, -0x80000000), 4, signed=True)
        elif name == "CAUL":
            out.number(given.number(element), 4)
        elif name == "CAUH":
            out.number(given.decimal(element, 0, given.U64), 8)
        elif name == "CACLSID":
            self.guid_to(out, element)
        elif name == "CALPWSTR":
            self.text_pointer_to(out, element)
        else:
            self.write_variant(out, element)

    def read_array(self, source: NdrReader, name: str) -> Json:
        value: dict[str, Json] = {"c_elems": source.number(4), "p_elems": "" if name == "CAUB" else []}

        def put(elements: Json) -> None:
            value["p_elems"] = elements

        self.elements_from(source, name, value["c_elems"], put)
        return value

    def elements_from(self, source: NdrReader, name: str, count: int, put: Callable[[Json], None]) -> None:
        """A pointer to so many elements."""
        if name == "CAUB":
            self.bytes_from(source, count, lambda data: put(given.base64_text(data)))
            return

        def referent() -> None:
            source.maximum(count)
            source.room(count, ELEMENT_SIZES[name])
            elements: list[Json] = []
            put(elements)
            for _ in range(count):
                self.element_from(source, name, elements)

        if not source.pointer(referent) and count:
            raise refuse()

    def element_from(self, source: NdrReader, name: str, elements: list[Json]) -> None:
        """Append one element."""
        if name == "CAUI":
            elements.append(source.number(2))
        elif name == "CAL":
            elements.append(source.number(4, signed=True))
        elif name == "CAUL":
            elements.append(source.number(4))
        elif name == "CAUH":
            elements.append(str(source.number(8)))
        elif name == "CACLSID":
            elements.append(self.guid_from(source))
        elif name == "CALPWSTR":
            at = len(elements)
            elements.append(None)

            def referent() -> None:
                elements[at] = source.text()

            source.pointer(referent)
        else:
            elements.append(self.read_variant(source))

    # PROPVARIANT

    def write_variant(self, out: NdrWriter, value: Json) -> None:
        given.members(value, ("vt", "value"), ("vt",))
        kind = self.check_variant_type(given.number(value["vt"], given.U16))
        if ("value" in value) != (kind not in (EMPTY, NULL)):
            raise refuse()
        out.align(8)  # the alignment of the 8-byte members of the union
        out.number(kind, 2)
        out.raw(bytes(6))  # reserved
        self.union_tag(out, kind, 2)
        self.variant_value_to(out, kind, value.get("value"))

    def check_variant_type(self, kind: int) -> int:
        """Return the type; refuse a type that has no value."""
        known = kind in (EMPTY, NULL, BOOL, LPWSTR, BLOB, CLSID)
        if not (known or kind in NUMBERS or kind in LARGE_NUMBERS or kind in ARRAYS):
            raise refuse()
        return kind

    def variant_value_to(self, out: NdrWriter, kind: int, value: Json) -> None:
        """The member of the union."""
        if kind in NUMBERS:
            size, signed = NUMBERS[kind]
            given.number(value, (1 << 8 * size - signed) - 1, -(1 << 8 * size - 1) if signed else 0)
            out.number(value, size, signed=signed)
        elif kind in LARGE_NUMBERS:
            signed = LARGE_NUMBERS[kind]
            least = -(1 << 63) if signed else 0
            out.number(given.decimal(value, least, (1 << 64 - signed) - 1), 8, signed=signed)
        elif kind == BOOL:
            out.number(self.truth(given.flag(value)), 2)
        elif kind == CLSID:
            given.guid(value)
            out.pointer(lambda: self.guid_to(out, value))
        elif kind == BLOB:
            out.align(4)
            self.blob_to(out, given.data(value))
        elif kind == LPWSTR:
            self.text_pointer_to(out, value)
        elif kind in ARRAYS:
            self.elements_to(out, ARRAYS[kind], value)

    def read_variant(self, source: NdrReader) -> Json:
        source.align(8)
        kind = self.check_variant_type(source.number(2))
        self.ignore(source.raw(6))
        if source.number(2) != kind:
            raise refuse()
        value: dict[str, Json] = {"vt": kind}
        self.variant_value_from(source, kind, value)
        return value

    def variant_value_from(self, source: NdrReader, kind: int, value: dict[str, Json]) -> None:
        """Read the member of the union into the value."""

        def put(read: Json) -> None:
            value["value"] = read

        if kind in NUMBERS:
            size, signed = NUMBERS[kind]
            put(source.number(size, signed=signed))
        elif kind in LARGE_NUMBERS:
            put(str(source.number(8, signed=LARGE_NUMBERS[kind])))
        elif kind == BOOL:
            source.align(2)
            put(self.read_variant_bool(source))
        elif kind == CLSID:
            if not source.pointer(lambda: put(self.guid_from(source))):
                raise refuse()
        elif kind == LPWSTR:
            put(None)
            source.pointer(lambda: put(source.text()))
        elif kind == BLOB:
            put("")
            self.bytes_from(source, source.number(4), lambda data: put(given.base64_text(data)))
        elif kind in ARRAYS:
            put("" if kind == VECTOR | 17 else [])
            self.elements_from(source, ARRAYS[kind], source.number(4), put)
