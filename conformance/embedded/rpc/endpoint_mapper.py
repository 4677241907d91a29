"""The answer of the endpoint mapper to who asks where an interface is (C706 appendix O: ept_map)."""

from __future__ import annotations

import ipaddress
import struct
import uuid
from collections.abc import Mapping
from typing import ClassVar

from conformance.embedded.rpc.association import Call, Interface, Operation
from conformance.embedded.rpc.ndr import NULL_HANDLE, Reader, Writer, encoded
from conformance.embedded.rpc.pdus import NDR, Syntax

NOT_REGISTERED = 0x16C9A0D6
MOST_TOWERS = 500
_UUID, _CONNECTIONS, _TCP, _IP = 0x0D, 0x0B, 0x07, 0x09
_UUID_FLOOR = struct.Struct("<HB16sHHH")  # both sides of a floor: its identifier, then the minor version


class EndpointMapper(Interface):
    """Tells the port of the interfaces of a manager."""

    syntax: ClassVar[Syntax] = Syntax("e1af8308-5d1f-11c9-91a4-08002b14a0fa", 3)
    for_anybody: ClassVar[frozenset[int]] = frozenset({3})
    operations: ClassVar[Mapping[int, Operation]] = {3: Operation("map", 40)}

    def map(self, call: Call) -> bytes:
        """ept_map: one tower for an interface that is here, none otherwise."""
        tower, most = call.read(self._asked)
        asked = wanted(tower)
        found = asked is not None and self.planes.interface(asked) is not None and most > 0
        towers = [self.tower(asked, call.line.link.local)] if found and asked is not None else []

        def write(out: Writer) -> None:
            out.raw(NULL_HANDLE)
            out.number(len(towers), 4)
            out.maximum(most)
            out.variance(len(towers))
            for _ in towers:
                out.number(out.referent(), 4)
            for each in towers:
                out.maximum(len(each))
                out.number(len(each), 4)
                out.raw(each)
            out.number(0 if towers else NOT_REGISTERED, 4)

        return encoded(write)

    def _asked(self, source: Reader) -> tuple[bytes, int]:
        if source.number(4):
            source.guid()
        tower = b""
        if source.number(4):
            most = source.number(4)
            size = source.number(4)
            source.room(max(most, size), 1)
            tower = source.raw(size)
        source.handle()
        return tower, source.ranged(0, MOST_TOWERS)

    def tower(self, asked: Syntax, host: str) -> bytes:
        """Return the tower of an interface: ncacn_ip_tcp at this port."""
        address = ipaddress.ip_address(host).packed if host.count(".") == 3 else bytes(4)
        floors = [_uuid_floor(asked), _uuid_floor(NDR)]
        floors += [struct.pack("<HBHH", 1, _CONNECTIONS, 2, 0), struct.pack("<HBH", 1, _TCP, 2)]
        floors[-1] += self.port().to_bytes(2, "big")
        floors.append(struct.pack("<HBH", 1, _IP, 4) + address)
        return len(floors).to_bytes(2, "little") + b"".join(floors)

    def port(self) -> int:
        """The port that is told."""
        return self.planes.port


def _uuid_floor(syntax: Syntax) -> bytes:
    identifier = uuid.UUID(syntax.identifier).bytes_le
    return _UUID_FLOOR.pack(19, _UUID, identifier, syntax.version & 0xFFFF, 2, syntax.version >> 16)


def wanted(tower: bytes) -> Syntax | None:
    """Return the interface that a tower asks for; None for bytes that begin with none."""
    if len(tower) < 2 + _UUID_FLOOR.size:
        return None
    size, kind, identifier, major, _, minor = _UUID_FLOOR.unpack_from(tower, 2)
    if (size, kind) != (19, _UUID):
        return None
    return Syntax(str(uuid.UUID(bytes_le=identifier)), minor << 16 | major)
