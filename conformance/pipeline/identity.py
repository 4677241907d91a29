"""Identify captures by their content, and the stream a capture is part of by its name and times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from conformance.capture import CaptureError, packed
from conformance.capture.files import CaptureFile, is_regular, open_file
from conformance.capture.inputs import natural, stream_key, whole_name
from conformance.capture.recording_mark import OwnEnd
from conformance.capture.records import RecordWalk, read_records
from conformance.captures.defects import Defect

Grouping = Literal["auto", "file"]
WHOLE = 8 << 20
"""Size up to which the whole file is hashed, in bytes."""
_ENDS, _BLOCK, _BLOCKS = 1 << 20, 4096, 256
_BYTES_OF_ID = 16


@dataclass(frozen=True, slots=True)
class Probe:
    """A file before it is judged. first_ns: time of its first record. error: why it cannot be read.

    defect: why it was judged only in part; `error` has the same in words. version: of the file that was probed, which
    is the one to judge. alias: another identity, of an object by its address and version, known without reading it.
    again: a part was judged of a file that changed, or whose store failed, since; it must not be in the lake.
    ours: its mark tells that the program itself was an end, whose packets are not judged.
    """

    path: str
    size: int | None = None
    capture: str | None = None
    format: str = ""
    first_ns: int | None = None
    error: str | None = None
    defect: Defect | None = None
    version: str | None = None
    alias: str | None = None
    again: bool = False
    ours: bool = False

    def broken(self, defect: Defect) -> Probe:
        """Return the same file, marked with a defect of the harness."""
        return replace(self, error=defect.sentence, defect=defect)


def probe(path: str) -> Probe:
    """Return the identity and first record of a file. Never raises: errors are in `error`."""
    try:
        return _probed(path)
    except Exception as problem:
        return Probe(path).broken(Defect.of(problem, path))


def _probed(path: str) -> Probe:
    try:
        if not is_regular(path):
            return Probe(path, error=f"{path} is not a regular file, which can be read twice; the pipeline needs one.")
        file = open_file(path)
    except OSError as problem:
        return Probe(path, error=f"{path} cannot be read: {problem.strerror}.")
    except ValueError:
        return Probe(path, error=f"{path!r} is not the name of a file.")
    found = Probe(path)
    try:
        found = Probe(path, file.size, identity(file), version=file.version, alias=_alias(file))
        first_ns, ours = _first(path)
        found = replace(found, format=_format(file.read_at(0, 4096)), first_ns=first_ns, ours=ours)
        file.check()
    except CaptureError as error:
        return replace(found, format="", error=str(error))
    except OSError as problem:
        return replace(found, format="", error=f"{path} cannot be read: {problem.strerror}.")
    finally:
        file.close()
    return found


def look(path: str) -> str | None:
    """Return the alias of an object in a store, without reading it; None without one. Never raises."""
    try:
        file = open_file(path)
    except (OSError, ValueError):
        return None
    try:
        return _alias(file)
    finally:
        file.close()


def _alias(file: CaptureFile) -> str | None:
    """Return the identity of an object by its address and its version, where its store keeps one."""
    if not file.lasting:
        return None
    text = f"{file.path}\0{file.version}".encode("utf-8", "surrogateescape")
    return sha256(b"object\n" + text).hexdigest()[: 2 * _BYTES_OF_ID]


def identity(file: CaptureFile) -> str:
    """Return a capture's id: of its size and of all bytes or, in a long file, of blocks; the path does not matter."""
    size = file.size
    digest = sha256(b"%d\n" % size)
    inner = size - 2 * _ENDS - _BLOCK
    between = ((_ENDS + inner * at // _BLOCKS, _BLOCK) for at in range(_BLOCKS))
    blocks = [(0, _ENDS), *between, (size - _ENDS, _ENDS)]
    for data in file.read_each([(0, WHOLE)] if size <= WHOLE else blocks):
        digest.update(data)
    return digest.hexdigest()[: 2 * _BYTES_OF_ID]


def streams(probes: Iterable[Probe], grouping: Grouping) -> list[tuple[str, Sequence[Probe]]]:
    """Group the captures that may be one stream under their key, each group in the order of their records."""
    groups: dict[str, list[Probe]] = {}
    for one in probes:
        alone = grouping == "file" or one.ours  # What the program sent is known only within its recording.
        key = f"{whole_name(one.path)}\0{one.capture}" if alone else stream_key(one.path)[0]
        groups.setdefault(key, []).append(one)
    never = 1 << 63
    for group in groups.values():
        group.sort(key=lambda one: (never if one.first_ns is None else one.first_ns, natural(one.path)))
    return sorted(groups.items())


def _first(path: str) -> tuple[int | None, bool]:
    """Return the time of the first record or, if that is damaged, of the first that can be found; None without any.

    Also tells whether its section has the mark of the program.
    """
    walk = RecordWalk()
    time_ns = next((record.time_ns for record in read_records(path, walk)), None)
    return time_ns, OwnEnd.of(walk.comment) is not None


def _format(head: bytes) -> str:
    inside = "pcapng" if packed.beginning(head, 4) == b"\x0a\x0d\x0d\x0a" else "pcap"
    return inside + packed.compression(head)
