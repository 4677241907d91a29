"""NDR of calls (C706 chapter 14) in the byte order of their sender, and the structures of MS-MQMQ in it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from conformance.embedded.entities import MqError
from conformance.embedded.ndr import NdrReader, NdrWriter, refuse
from conformance.embedded.structures_ndr import (
    DIRECT,
    MACHINE,
    PRIVATE,
    PUBLIC,
    SUBQUEUE,
    SUFFIX_BITS,
    UNION_MEMBERS,
    NdrStructures,
)

Json = Any
Order = Literal["little", "big"]
_Value = TypeVar("_Value")

# Statuses of a call whose parameters cannot be read (C706 appendix E, MS-ERREF 2.2).
BAD_STUB_DATA = 0x000006F7
INVALID_TAG = 0x1C000006
INVALID_BOUND = 0x1C000007

HANDLE_SIZE = 20
NULL_HANDLE = bytes(HANDLE_SIZE)
_SUFFIXES = {1: "JOURNAL", 2: "DEADLETTER", 3: "DEADXACT"}


class Damaged(Exception):
    """Bytes of a stranger that break their layout. status: of the fault that answers them."""

    def __init__(self, status: int = BAD_STUB_DATA) -> None:
        super().__init__(f"0x{status:08X}")
        self.status = status


class Reader(NdrReader):
    """Reads in a byte order. Only `decoded` turns what it raises into Damaged."""

    def __init__(self, data: bytes, order: Order = "little") -> None:
        super().__init__(data)
        self.order: Order = order

    def number(self, size: int, *, signed: bool = False) -> int:
        self.align(size)
        return int.from_bytes(self.raw(size), self.order, signed=signed)

    def numbers(self, count: int, size: int = 4) -> list[int]:
        """Read so many numbers of one size."""
        self.room(count, size)
        return [self.number(size) for _ in range(count)]

    def ranged(self, least: int, most: int) -> int:
        """Read a DWORD with a [range]."""
        found = self.number(4)
        if not least <= found <= most:
            raise Damaged(INVALID_BOUND)
        return found

    def guid(self) -> str:
        """Read a GUID or UUID, whose first three parts have the byte order of the sender."""
        self.align(4)
        data = self.raw(16)
        return str(uuid.UUID(bytes=data) if self.order == "big" else uuid.UUID(bytes_le=data))

    def handle(self) -> bytes:
        """Read a context handle as it was written: its attributes, 0, and a UUID."""
        attributes, identifier = self.number(4), self.guid()
        return attributes.to_bytes(4, "little") + uuid.UUID(identifier).bytes_le

    def text(self) -> str:
        most = self.number(4)
        count = self.variance(most)
        text = self.raw(2 * count).decode(f"utf-16-{self.order[0]}e", "surrogatepass")
        if text.find("\0") != len(text) - 1 or not text:
            raise refuse()
        return text[:-1]


class Writer(NdrWriter):
    """Writes in little-endian order, whatever the caller's is (C706 14.1)."""

    def guid(self, text: str) -> None:
        """Write a GUID or UUID."""
        self.align(4)
        self.raw(uuid.UUID(text).bytes_le)

    def handle(self, handle: bytes) -> None:
        """Write a context handle."""
        self.align(4)
        self.raw(handle)


def decoded(data: bytes, order: Order, read: Callable[[Reader], _Value], at: int = 0) -> _Value:
    """Read a value, from an offset. Raises Damaged."""
    source = Reader(data, order)
    source.at = at
    try:
        return read(source)
    except MqError:
        raise Damaged from None


def encoded(write: Callable[[Writer], None]) -> bytes:
    """Return what `write` writes."""
    out = Writer()
    out.construct(lambda: write(out))
    return bytes(out.out)


def with_status(data: bytes, status: int = 0) -> bytes:
    """Return output parameters with an HRESULT behind them, at its alignment."""
    return data + bytes(-len(data) % 4) + status_only(status)


def status_only(status: int) -> bytes:
    """Return the parameters of an answer that is nothing but an HRESULT."""
    return status.to_bytes(4, "little")


class CallStructures(NdrStructures):
    """QUEUE_FORMAT and PROPVARIANT as parameters. What they mean is checked apart from how they are laid out."""

    def guid_from(self, source: NdrReader) -> str:
        assert isinstance(source, Reader)
        return source.guid()

    def read_object_id(self, source: NdrReader) -> Json:
        return {"lineage": self.guid_from(source), "uniquifier": source.number(4)}

    def read_multicast_id(self, source: NdrReader) -> Json:
        return {"m_address": source.number(4), "m_port": source.number(4)}

    def check_queue_format(self, kind: int, suffix: int) -> None:
        if kind and kind not in UNION_MEMBERS:
            raise Damaged(INVALID_TAG)

    def check_direct(self, kind: int, text: Json) -> None:
        """Take any text: `format_name` refuses it."""

    def check_variant_type(self, kind: int) -> int:
        try:
            return super().check_variant_type(kind)
        except MqError:
            raise Damaged(INVALID_TAG) from None

    def format_name(self, given: Json) -> str:
        """Return the format name of the queue here that a QUEUE_FORMAT means. Raises MqError for one of no reader.

        Only the types of MS-MQRR 2.2.3 are left, and of direct names the protocols TCP and OS.
        """
        if given is None:
            raise refuse()
        kind, suffix = given["m_qft"], given["m_suffix_and_flags"]
        NdrStructures.check_queue_format(self, kind, suffix)
        value = given.get(UNION_MEMBERS.get(kind, ""))
        name = _SUFFIXES.get(suffix & SUFFIX_BITS)
        end = f";{name}" if name else ""
        if kind in (DIRECT, SUBQUEUE) and value is not None:
            NdrStructures.check_direct(self, kind, value)
            protocol, _, rest = str(value).partition(":")
            if protocol.upper() in ("TCP", "OS"):
                return "DIRECT=OS:.\\" + rest.partition("\\")[2]  # whatever this host was called
        elif kind == PUBLIC:
            return f"PUBLIC={value}{end}"
        elif kind == PRIVATE:
            return f"PRIVATE={value['lineage']}\\{value['uniquifier']:08x}{end}"
        elif kind == MACHINE:
            return f"MACHINE={value}{end}"
        raise refuse()
