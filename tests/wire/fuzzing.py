"""What is fuzzed: each reader of foreign bytes, as a function that raises nothing for any bytes but what is a defect.

`test_wire_fuzz.py` gives them the corpus and mixtures of it, `fuzz_wire.py` what atheris makes up.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bounded import read_buffer, read_packet, read_structure

from conformance.capture import CaptureError
from conformance.capture.framing import Framer
from conformance.captures import replay
from conformance.files import resource
from conformance.judge.structures.judge import judge_structure
from conformance.judge.structures.transfer_buffer import judge_transfer_buffer
from conformance.report.hexdump import annotated
from conformance.spec.catalogue import assignment
from conformance.wire import EncodeError, dissect, rebuild
from conformance.wire.certificates import read_certificate
from conformance.wire.elements import READINGS as WAYS
from conformance.wire.elements import facts
from conformance.wire.headers import MULTI_QUEUE_FORMAT_HEADER
from conformance.wire.layers import LAYER, BaseHeader
from conformance.wire.layout import Blob, steps_of
from conformance.wire.structures import STRUCTURES
from conformance.wire.transfer_buffer import value_of

CORPUS = resource("fixtures/fuzz")
READINGS = assignment("windows")
NAMES = sorted(STRUCTURES)
LISTS = [step.elements for step in steps_of(MULTI_QUEUE_FORMAT_HEADER) if isinstance(step, Blob) and step.elements]
SECTIONS = sorted(LAYER)


def packet(data: bytes) -> None:
    """Decoded, judged, shown as hex; what was decoded whole is written again as the same bytes."""
    found = read_packet(data)
    annotated(found, [])
    if found.whole and not found.fields.get("Packet.Unexplained"):
        try:
            again = dissect(rebuild(found), transport="buffer")
        except EncodeError:
            return  # a word made of bits whose parts contradict each other cannot be written from them
        assert again.kind == found.kind


def datagram(data: bytes) -> None:
    """As a Ping."""
    assert dissect(data, transport="udp").kind in ("Ping", "Malformed")


def layer(data: bytes) -> None:
    """The scapy layers: read, described, written as they were read. Of no bytes scapy builds a packet: not that."""
    data = data or b"\0"
    for kind in (BaseHeader, LAYER[SECTIONS[data[0] % len(SECTIONS)]]):
        found = kind(data)
        found.summary()
        found.show(dump=True)
        assert bytes(found) == data


def stream(data: bytes) -> None:
    """One direction of a connection in pieces: no byte is lost or told twice."""
    framer = Framer(bool(data[:1] and data[0] & 1))
    step = 1 + (data[1] if len(data) > 1 else 0)
    pieces = [piece for at in range(0, len(data), step) for piece in framer.feed(data[at : at + step])]
    pieces += framer.finish("ended")
    assert sum(len(piece.data) + piece.gap_before for piece in pieces) + framer.gap == len(data)


def names(data: bytes) -> None:
    """A list of format names, read in every way."""
    count = data[0] if data else 0
    found, spans = facts("L", data[1:], 0, 0, count, LISTS[0])
    assert found["L.Way"] in (*WAYS, "none")
    assert all(at >= 0 and at + length <= len(data) for at, length in spans.values())


def structure(data: bytes) -> None:
    """The structure its first byte chooses."""
    name = NAMES[data[0] % len(NAMES)] if data else NAMES[0]
    read_structure(name)(data[1:])
    judge_structure(name, data[1:])


def buffer(data: bytes) -> None:
    """CACTransferBufferV1, its value told where it is whole."""
    found = read_buffer(data)
    if found.whole:
        value_of(found)
    judge_transfer_buffer(data, profile="msmq-4.0", level="may")


def certificate(data: bytes) -> None:
    """A sender certificate, whatever it is."""
    read_certificate(data)


def capture(data: bytes) -> None:
    """A capture file, replayed: packets judged, sessions followed."""
    handle, path = tempfile.mkstemp(prefix="mq-fuzz-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        found = replay([path], profile="msmq-4.0", readings=READINGS, level="may")
        assert found.packets >= 0 and len(found.captures) == 1
    except CaptureError:
        return
    finally:
        Path(path).unlink()


TARGETS: dict[str, Callable[[bytes], Any]] = {
    "packets": packet,
    "datagrams": datagram,
    "layers": layer,
    "streams": stream,
    "names": names,
    "structures": structure,
    "transfer-buffers": buffer,
    "certificates": certificate,
    "captures": capture,
}


def corpus(target: str) -> dict[str, bytes]:
    """The inputs kept for a target, by file name."""
    folder = CORPUS / target
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}


def told(data: bytes) -> str:
    """An input as base64, to keep it by."""
    return base64.b64encode(data).decode("ascii")
