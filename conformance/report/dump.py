"""An annotated hex dump of the bytes that a verdict refers to, made from the evidence in a record."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.report.text import label
from conformance.verdict import Evidence, Outcome, Verdict

MAX_BYTES = 64 << 10
"""Longer evidence is not dumped: the record has the bytes, and `mqconform replay` prints them."""
MAX_LINES = 120
"""Lines of one dump: the marked ones, with the lines around them."""
AROUND = 4
"""Lines kept before and after a marked one if the dump is cut."""
_WIDTH = 16
_MEMBERS = ("packet", "base64", "data")


@dataclass(frozen=True, slots=True)
class DumpLine:
    """One line. marked: a broken rule refers to its bytes."""

    text: str
    marked: bool = False


def bytes_of(evidence: Evidence) -> bytes | None:
    """Return the bytes of this evidence; None if it has none, too many, or invalid base64."""
    if evidence.kind not in ("packet", "structure"):
        return None
    text = next((evidence.data[name] for name in _MEMBERS if isinstance(evidence.data.get(name), str)), None)
    if text is None or len(text) > MAX_BYTES * 4 // 3 + 4:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def dump_of(verdict: Verdict, evidence: Evidence) -> tuple[DumpLine, ...]:
    """Return the dump: a packet's by field, a structure's plain; empty for evidence without bytes."""
    data = bytes_of(evidence)
    if not data:
        return ()
    if evidence.kind == "structure":
        return _kept([DumpLine(line) for line in _plain(data)])
    from conformance.report.hexdump import dumped
    from conformance.spec.catalogue import catalogue
    from conformance.wire import dissect

    # Mark what this verdict blames, whatever its outcome is at this level; an id of another version marks nothing.
    known = verdict.requirement in catalogue().requirements
    verdicts = [replace(verdict, outcome=Outcome.FAIL)] if known else []
    return _kept([DumpLine(label(text, 240), marked) for text, marked in dumped(dissect(data), verdicts)])


def _plain(data: bytes) -> Iterator[str]:
    for at in range(0, len(data), _WIDTH):
        row = data[at : at + _WIDTH]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield f"  {at:08x}  {row.hex(' '):<{3 * _WIDTH - 1}}  {text}"


def _kept(lines: Sequence[DumpLine]) -> tuple[DumpLine, ...]:
    """Return about MAX_LINES lines at most: the marked ones with those around them, or the first if none is marked."""
    if len(lines) <= MAX_LINES:
        return tuple(lines)
    marked = [at for at, line in enumerate(lines) if line.marked]
    near = {at + step for at in marked for step in range(-AROUND, AROUND + 1)} if marked else set(range(MAX_LINES))
    chosen = sorted(at for at in near if 0 <= at < len(lines))[:MAX_LINES]
    out: list[DumpLine] = []
    last = -1
    for at in chosen:
        if at > last + 1:
            out.append(DumpLine(f"  ...       {at - last - 1:,} lines left out"))
        out.append(lines[at])
        last = at
    if last < len(lines) - 1:
        out.append(DumpLine(f"  ...       {len(lines) - 1 - last:,} lines left out"))
    return tuple(out)
