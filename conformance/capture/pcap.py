"""The classic capture format: a file header, then records with a fixed header each."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from conformance.capture.records import MAX_RECORD, NO_BYTES, CutError, Record, Source

# The first four bytes tell byte order, the unit of the sub-second part, and how many bytes a record header has.
MAGICS: dict[bytes, tuple[str, int, int]] = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000, 16),
    b"\xa1\xb2\xc3\xd4": (">", 1_000, 16),
    b"\x4d\x3c\xb2\xa1": ("<", 1, 16),
    b"\xa1\xb2\x3c\x4d": (">", 1, 16),
    b"\x34\xcd\xb2\xa1": ("<", 1_000, 24),
    b"\xa1\xb2\xcd\x34": (">", 1_000, 24),
}


def records(source: Source, magic: bytes) -> Iterator[Record]:
    """The records after the magic number. Raises CutError where the file stops making sense."""
    order, unit, header_size = MAGICS[magic]
    header = source.exactly(20, "the file header")
    link = struct.unpack_from(f"{order}I", header, 16)[0] & 0xFFFF  # The upper half tells about the checksum only.
    layout = struct.Struct(f"{order}IIII")
    number = 0
    while True:
        raw = source.up_to(header_size)
        if not raw:
            return
        number += 1
        if len(raw) < header_size:
            raise CutError(f"the file ends within the header of record {number}")
        seconds, fraction, kept, length = layout.unpack_from(raw)
        if kept > MAX_RECORD:
            raise CutError(f"record {number} claims {kept} bytes, more than a capture can hold")
        if not kept and not length:
            raise CutError(NO_BYTES.format(number))
        data = source.exactly(kept, f"record {number}")
        yield Record(number, seconds * 1_000_000_000 + fraction * unit, link, data, max(length, kept))
