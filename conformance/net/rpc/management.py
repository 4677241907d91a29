"""The calls of qmmgmt (MS-MQMR 3.1.4), each as it is sent; what comes back is read, and not judged."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.net.rpc.binding import Association, asked
from conformance.net.rpc.names import write_queue
from conformance.net.rpc.ndr import CountError, NdrError, Reader, Writer
from conformance.spec.rpc_interfaces import MANAGEMENT

MACHINE, QUEUE, SESSION = 1, 2, 3
"""MgmtObjectType (MS-MQMR 2.2.2.1)."""
_NULL, _VECTOR = 0x0001, 0x1000
_MOST_LEVELS: Final = 4  # The connection history has three.

Variant = dict[str, Any]
"""`vt` and `value` as the adapter protocol has them."""


@dataclass(frozen=True, slots=True)
class Managed:
    """The object of a call (MS-MQMR 2.2.1.2). format_name: of a queue; None makes the pointer null."""

    type: int
    format_name: str | None = None


@dataclass(frozen=True, slots=True)
class Management:
    """The interface of one host."""

    association: Association

    def get_info(self, managed: Managed, properties: Sequence[int]) -> tuple[int, list[Variant]]:
        """R_QMMgmtGetInfo: the status, and a value for each property in their order."""
        body = Writer()
        _write_managed(body, managed)
        body.long(len(properties))
        body.long(len(properties))
        for number in properties:
            body.long(number)
        body.long(len(properties))
        for _ in properties:
            body.align(8)
            body.short(_NULL)
            body.raw(bytes(6))
            body.short(_NULL)

        def answer(reader: Reader) -> tuple[int, list[Variant]]:
            count = reader.count()
            if count != len(properties):
                raise CountError(f"{len(properties)} values were asked for, and {count} are named", "length")
            values = _variants(reader, count)
            return reader.long(), values

        return asked(self.association, MANAGEMENT, "R_QMMgmtGetInfo", body, answer)

    def action(self, managed: Managed, action: str) -> int:
        """R_QMMgmtAction: the status."""
        body = Writer()
        _write_managed(body, managed)
        body.align(4)
        body.wide(action)  # The IDL leaves out [string], without which one character is all that is sent.
        return asked(self.association, MANAGEMENT, "R_QMMgmtAction", body, Reader.long)


def _write_managed(writer: Writer, managed: Managed) -> None:
    name = managed.format_name
    with writer.structure():
        writer.short(managed.type)
        writer.short(managed.type)
        if managed.type == QUEUE:
            writer.pointer(None if name is None else lambda: write_queue(writer, name))
        else:
            writer.long(0)


Pointee = Callable[[], None]


def _variants(reader: Reader, count: int, level: int = 0) -> list[Variant]:
    """Read an array of PROPVARIANT (MS-MQMQ 2.2.13): the elements, then what their pointers mean, in their order."""
    if level >= _MOST_LEVELS:
        raise NdrError(f"vectors are nested more than {_MOST_LEVELS} deep")
    values: list[Variant] = []
    deferred: list[Pointee] = []
    for _ in range(count):
        value: Variant = {}
        values.append(value)
        reader.align(8)
        kind = reader.short()
        reader.raw(6)
        tag = reader.short()
        if tag != kind:
            raise NdrError(f"a value of type {kind} has the arm of type {tag}")
        value["vt"] = kind
        _read_arm(reader, kind, value, deferred, level)
    for pointee in deferred:
        pointee()
    return values


def _signed(size: int) -> Callable[[Reader], int]:
    bits = 8 * size
    return lambda reader: (reader.number(size) ^ 1 << bits - 1) - (1 << bits - 1)


def _unsigned(size: int) -> Callable[[Reader], int]:
    return lambda reader: reader.number(size)


_SCALARS: Final[dict[int, tuple[int, Callable[[Reader], Any]]]] = {
    2: (2, _signed(2)),
    3: (4, _signed(4)),
    11: (2, lambda reader: bool(reader.number(2))),
    16: (1, _signed(1)),
    17: (1, _unsigned(1)),
    18: (2, _unsigned(2)),
    19: (4, _unsigned(4)),
    20: (8, lambda reader: str(_signed(8)(reader))),
    21: (8, lambda reader: str(reader.hyper())),
}
"""By variant type (MS-MQMQ 2.2.12): octets, and how it is read; 64 bits are text, as the adapter protocol has them."""
TEXT: Final = 31
"""VT_LPWSTR."""
_BLOB, _GUID, _VARIANT = 65, 72, 12


def _read_arm(reader: Reader, kind: int, value: Variant, deferred: list[Pointee], level: int) -> None:
    """Read the arm of a value; a pointee is read later, and put into `value` then."""
    if kind in (0, _NULL):
        return
    if kind in _SCALARS:
        value["value"] = _SCALARS[kind][1](reader)
        return
    size = reader.long() if kind == _BLOB or kind & _VECTOR else 0
    if not reader.long():
        value["value"] = [] if kind & _VECTOR else ""
        return

    def pointee() -> None:
        value["value"] = _pointee(reader, kind, size, level)

    deferred.append(pointee)


def _pointee(reader: Reader, kind: int, size: int, level: int) -> Any:
    if kind == TEXT:
        return reader.wide()
    if kind == _GUID:
        return str(reader.guid())
    if kind == _BLOB:
        return b64encode(reader.octets(size)).decode("ascii")
    element = kind & ~_VECTOR
    count = reader.count()
    if count != size:
        raise NdrError(f"a vector of {size} elements has {count}")
    if element == _VARIANT:
        return _variants(reader, count, level + 1)
    if element == TEXT:
        pointers = [reader.long() for _ in range(count)]
        return [reader.wide() if pointer else "" for pointer in pointers]
    if element == _GUID:
        return [str(reader.guid()) for _ in range(count)]
    if element not in _SCALARS:
        raise NdrError(f"a value has the type {kind:#06x}, which MS-MQMQ 2.2.13 does not have")
    return [_SCALARS[element][1](reader) for _ in range(count)]
