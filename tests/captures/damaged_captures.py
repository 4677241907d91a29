"""Captures with one thing missing or wrong, each in both formats and compressed, and what must be said of them."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import build_captures
from backports import zstd

from conformance.runlog import Incomplete

FIN, ACK, RST = 1, 16, 4
AT_TCP = 34  # In an Ethernet record without options.
JUNK = bytes(range(1, 252)) * 2


@dataclass(frozen=True)
class One:
    """A record as it is written. length: bytes on the wire."""

    time_ns: int
    data: bytes
    length: int

    @property
    def payload(self) -> int:
        return len(self.data) - AT_TCP - 20


@dataclass(frozen=True)
class Case:
    """A kind of damage. build: the file of a format. missing: what it lacks. code: of a replay. packets: read of it."""

    name: str
    build: Callable[[str], bytes]
    missing: dict[str, dict[str, int]]
    code: int

    def incomplete(self, form: str) -> Incomplete:
        return Incomplete(**self.missing.get(form, self.missing.get("", {})))


def session() -> list[One]:
    """A session without a fault."""
    return [One(time, data, len(data)) for time, data in build_captures.consistent_session().records]


def written(form: str, records: Sequence[One], junk: tuple[int, bytes] = (-1, b"")) -> bytes:
    """The file; junk stands before the record of its number."""
    pcap = form.startswith("pcap.") or form == "pcap"
    out = [_head(pcap)]
    for number, one in enumerate(records):
        out.append(junk[1] if number == junk[0] else b"")
        out.append(_record(pcap, one))
    return b"".join(out)


def _head(pcap: bool) -> bytes:
    if pcap:
        return struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    options = struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0)
    return _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + _block(
        1, struct.pack("<HHI", 1, 0, 0) + options
    )


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def _record(pcap: bool, one: One) -> bytes:
    kept = len(one.data)
    if pcap:
        seconds, rest = divmod(one.time_ns, 1_000_000_000)
        return struct.pack("<IIII", seconds, rest, kept, one.length) + one.data
    head = struct.pack("<IIIII", 0, one.time_ns >> 32, one.time_ns & 0xFFFFFFFF, kept, one.length)
    return _block(6, head + one.data + bytes(-kept % 4))


def _size(form: str, one: One) -> int:
    return len(_record(form.startswith("pcap.") or form == "pcap", one))


def _data_at(records: Sequence[One], least: int = 200) -> int:
    """A segment in the middle with a whole packet."""
    return next(at for at, one in enumerate(records) if at > 15 and one.payload >= least)


def _length_damaged(form: str) -> bytes:
    records = session()
    at = _data_at(records)
    data = bytearray(written(form, records))
    place = len(written(form, records[:at])) + (8 if form == "pcap" else 4)
    data[place : place + 4] = struct.pack("<I", 0xFFFFFFF0)
    return bytes(data)


def _cut(form: str) -> bytes:
    return written(form, session())[:-20]


def _short(form: str) -> bytes:
    records = session()
    at = _data_at(records)
    one = records[at]
    records[at] = One(one.time_ns, one.data[:-30], one.length)
    return written(form, records)


def _too_short(form: str) -> bytes:
    """A record that ends within its TCP header: nobody knows whether it is one of MSMQ."""
    records = session()
    one = records[3]  # The acknowledgment of a handshake: nothing else is missing.
    records[3] = One(one.time_ns, one.data[: AT_TCP + 6], one.length)
    return written(form, records)


def _gap(form: str) -> bytes:
    records = session()
    del records[_data_at(records)]
    return written(form, records)


def _ended(form: str, flags: int) -> bytes:
    """The connection ends within a packet, by the side that sends it."""
    records = session()
    at = _data_at(records)
    one = records[at]
    head, kept = bytearray(one.data[: AT_TCP + 20]), one.data[AT_TCP + 20 : -30]
    struct.pack_into(">H", head, 16, len(one.data) - 14 - 30)
    end = bytearray(head)
    struct.pack_into(">H", end, 16, 40)
    struct.pack_into(">I", end, AT_TCP + 4, struct.unpack_from(">I", head, AT_TCP + 4)[0] + len(kept))
    end[AT_TCP + 13] = flags
    cut = bytes(head) + kept
    last = [One(one.time_ns, cut, len(cut)), One(one.time_ns, bytes(end), len(end))]
    return written(form, [*records[:at], *last])


def _gap_before_the_end(form: str) -> bytes:
    """A connection that was closed, whose last data was not captured; nobody has acknowledged it yet."""
    records = session()
    at = _data_at(records)
    one = records[at]
    end = bytearray(one.data[: AT_TCP + 20])
    struct.pack_into(">H", end, 16, 40)
    struct.pack_into(">I", end, AT_TCP + 4, struct.unpack_from(">I", end, AT_TCP + 4)[0] + one.payload)
    end[AT_TCP + 13] = FIN | ACK
    return written(form, [*records[:at], One(one.time_ns, bytes(end), len(end))])


def _goes_on(form: str) -> bytes:
    """The capture stops within a packet, between two records."""
    records = session()
    at = _data_at(records)
    one = records[at]
    head, kept = bytearray(one.data[: AT_TCP + 20]), one.data[AT_TCP + 20 : -30]
    struct.pack_into(">H", head, 16, len(one.data) - 14 - 30)
    cut = bytes(head) + kept
    return written(form, [*records[:at], One(one.time_ns, cut, len(cut))])


def _began_before(form: str) -> bytes:
    records = session()
    return written(form, records[_data_at(records) :])


def cases() -> Iterator[Case]:
    """All of them."""
    records = session()
    at = _data_at(records)
    one = records[at]
    lost = {"gaps": 1, "gap_bytes": one.payload}
    yield Case("whole", lambda form: written(form, session()), {}, 0)
    yield Case(
        "length", _length_damaged, {form: {"passed_over": _size(form, one), **lost} for form in ("pcap", "pcapng")}, 2
    )
    yield Case("junk", lambda form: written(form, session(), (at, JUNK)), {"": {"passed_over": len(JUNK)}}, 2)
    yield Case("zeros", lambda form: written(form, session(), (at, bytes(70_000))), {"": {"passed_over": 70_000}}, 2)
    yield Case("cut", _cut, {"": {"cut": 1}}, 2)
    yield Case("short", _short, {"": {"short": 1, "short_bytes": 30}}, 2)
    yield Case("too-short", _too_short, {"": {"short": 1, "short_bytes": len(records[3].data) - AT_TCP - 6}}, 2)
    yield Case("gap", _gap, {"": lost}, 2)
    yield Case("gap-before-the-end", _gap_before_the_end, {"": lost}, 2)
    yield Case("closed-within", lambda form: _ended(form, FIN | ACK), {"": {"unfinished": 1}}, 1)
    yield Case("reset-within", lambda form: _ended(form, RST), {"": {"unfinished": 1}}, 2)
    yield Case("goes-on", _goes_on, {}, 0)
    yield Case("began-before", _began_before, {}, 0)


def files(folder: Path) -> Iterator[tuple[Path, Case, str]]:
    """The files of all cases: path, case, and the format without its compression."""
    for case in cases():
        for form in ("pcap", "pcapng"):
            content = case.build(form)
            for ending, data in (("", content), (".gz", gzip.compress(content)), (".zst", zstd.compress(content))):
                path = folder / f"{case.name}.{form}{ending}"
                path.write_bytes(data)
                yield path, case, form
    for form in ("pcap", "pcapng"):
        for ending, compress in ((".gz", gzip.compress), (".zst", _in_parts)):
            packed = compress(written(form, session()))
            path = folder / f"packed-cut.{form}{ending}"
            path.write_bytes(packed[: len(packed) * 2 // 3])
            yield path, Case("packed-cut", lambda form: b"", {"": {"cut": 1}}, 2), form


def _in_parts(content: bytes) -> bytes:
    """Compressed in frames of 512 bytes: of a frame that is cut nothing can be unpacked."""
    return b"".join(zstd.compress(content[at : at + 512]) for at in range(0, len(content), 512))
