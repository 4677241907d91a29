"""Inputs that grow, of shapes a careless reader takes quadratic time for: name to (what reads it, how it is made)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from bounded import read_buffer, read_packet, read_structure

from conformance.capture.framing import Framer, Stream
from conformance.judge.structures.transfer_buffer_rules import plain
from conformance.wire import encode
from conformance.wire.structures import encode as encode_structure
from conformance.wire.transfer_buffer_layers import write_transfer_buffer

Make = Callable[[int], Any]
NAMED = {"UserHeader.DestinationQueue.DirectFormatName": "OS:h\\q"}
LIST = "MultiQueueFormatHeader.Destination.FormatNameList"
GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"


def _message(**values: Any) -> Make:
    def make(size: int) -> bytes:
        given = {key.replace("__", "."): value(size) for key, value in values.items()}
        return encode("UserMessage", {**NAMED, **given})

    return make


def _list(element: bytes) -> Make:
    """A list of names with the same element again and again, as many as fit."""

    def make(size: int) -> bytes:
        count = max(1, size // len(element))
        given = {LIST: element * count, "MultiQueueFormatHeader.Destination.ElementCount": count}
        return encode("UserMessage", {**NAMED, **given})

    return make


def _variants(size: int) -> bytes:
    return encode_structure("CAPROPVARIANT", {"p_elems": [{"vt": 31, "value": "a"}] * (size // 30)})


def _keys(size: int) -> bytes:
    key = {"ul_provider_type": 1, "s_provider_name": "p", "a_buf": "AAEC"}
    return encode_structure("MQDSPUBLICKEYS", {"a_public_keys": [key] * (size // 20)})


def _buffer(size: int) -> bytes:
    return write_transfer_buffer(
        plain(given={"pp_title": "x" * (size // 2), "ul_title_buffer_size_in_wchars": size // 2})
    )


def _framed(data: bytes) -> None:
    framer = Framer(True)
    for at in range(0, len(data), 1460):
        framer.feed(data[at : at + 1460])
    framer.finish("ended")


def _reassembled(order: list[tuple[int, bytes]]) -> None:
    stream = Stream()
    stream.add(1, b"x")
    for sequence, payload in order:
        stream.add(sequence, payload)
        while stream.overfull:
            stream.skip()
    while stream.skip()[0]:
        pass


def _backwards(size: int) -> list[tuple[int, bytes]]:
    """Every second byte is lost, and what comes comes backwards."""
    return [(1 + at, b"x") for at in range(size // 16 * 2, 2, -2)]


_SMALLEST = struct.pack("<BBH4sII", 0x10, 0, 0, b"LIOR", 16, 0xFFFFFFFF)

SHAPES: dict[str, tuple[Callable[[Any], Any], Make]] = {
    "list of empty names": (read_packet, _list(b"\3\0\0\0")),
    "list of unaligned names": (read_packet, _list(b"\3\0a\0\0\0")),
    "list of public names": (read_packet, _list(b"\1\0" + bytes(16))),
    "list of private names": (read_packet, _list(b"\2\0" + bytes(20))),
    "list of a name without an end": (read_packet, lambda size: _list(b"\3\0" + b"\1\0\0\1" * (size // 4))(1)),
    "list that changes its mind": (read_packet, _list(b"\3\0\0\0\6\0" + bytes(16))),
    "soap text": (read_packet, _message(SoapHeader__Header=lambda size: "x" * (size // 2))),
    "soap text of NULs": (read_packet, _message(SoapHeader__Header=lambda size: "\0" * (size // 2))),
    "http text": (read_packet, _message(SRMPEnvelopeHeader__Data=lambda size: "x" * (size // 2))),
    "body": (read_packet, _message(MessagePropertiesHeader__MessageBody=bytes)),
    "extension": (read_packet, _message(MessagePropertiesHeader__ExtensionData=bytes)),
    "certificate of zeros": (
        read_packet,
        _message(SecurityHeader__SecurityData__SenderCert=lambda n: bytes(n % 65536)),
    ),
    "certificate of sequences": (
        read_packet,
        _message(SecurityHeader__SecurityData__SenderCert=lambda n: b"\x30\x80" * (n // 2)),
    ),
    "variants": (read_structure("CAPROPVARIANT"), _variants),
    "keys": (read_structure("MQDSPUBLICKEYS"), _keys),
    "title": (read_buffer, _buffer),
    "junk in a stream": (_framed, bytes),
    "almost headers in a stream": (_framed, lambda size: b"\x10xxxLIOR" * (size // 8)),
    "half marks in a stream": (_framed, lambda size: b"\x10\0\0\0LIO" * (size // 7)),
    "smallest packets in a stream": (_framed, lambda size: _SMALLEST * (size // 16)),
    "segments backwards": (_reassembled, _backwards),
}
