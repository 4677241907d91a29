"""The bytes a verdict speaks of, as lines of an annotated hex dump, from the evidence a record keeps."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.report.text import label
from conformance.verdict import Evidence, Outcome, Verdict

MAX_BYTES = 64 << 10
"""Of longer bytes nothing is dumped: the record has them, and `mqconform replay` prints them."""
MAX_LINES = 120
"""Lines kept of one dump: those that are marked, with what stands around them."""
AROUND = 4
"""Lines kept before and after a marked one when not all are."""
_WIDTH = 16
_MEMBERS = ("packet", "base64", "data")


@dataclass(frozen=True, slots=True)
class DumpLine:
    """One line. marked: its bytes are those a broken rule speaks of."""

    text: str
    marked: bool = False


def bytes_of(evidence: Evidence) -> bytes | None:
    """The bytes this evidence holds, None when it holds none, too many, or what is no base64."""
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
    """The dump: a packet's by field, a structure's plain; empty where the evidence has no bytes."""
    data = bytes_of(evidence)
    if not data:
        return ()
    if evidence.kind == "structure":
        return _kept([DumpLine(line) for line in _plain(data)])
    from conformance.report.hexdump import annotated
    from conformance.spec.catalogue import catalogue
    from conformance.wire import dissect

    # Marked is what this verdict blames, whatever it is called at this level; an id of another version says nothing.
    known = verdict.requirement in catalogue().requirements
    verdicts = [replace(verdict, outcome=Outcome.FAIL)] if known else []
    lines = annotated(dissect(data), verdicts)
    # What annotated says below the bytes stands beside the dump already.
    upto = next((at for at, line in enumerate(lines) if line.startswith("fail ")), len(lines))
    return _kept([DumpLine(label(line, 240), line.startswith((">", "!"))) for line in lines[:upto]])


def _plain(data: bytes) -> Iterator[str]:
    for at in range(0, len(data), _WIDTH):
        row = data[at : at + _WIDTH]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield f"  {at:08x}  {row.hex(' '):<{3 * _WIDTH - 1}}  {text}"


def _kept(lines: Sequence[DumpLine]) -> tuple[DumpLine, ...]:
    """At most about MAX_LINES: marked ones with what is around them, or the first ones when nothing is marked."""
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
