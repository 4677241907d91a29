"""QUEUE_FORMAT, by which calls name a queue (MS-MQMQ 2.2.7)."""

from __future__ import annotations

from typing import Final

from conformance.net.rpc.ndr import Writer

DIRECT: Final = 3
SUBQUEUE: Final = 8
_SYSTEM: Final = 0x80
_SUFFIXES: Final = {"journal": 1, "deadletter": 2, "deadxact": 3}
_PREFIX: Final = "direct="


class UnnamedError(Exception):
    """A format name has no form here; the message is a sentence."""


def write_queue(writer: Writer, format_name: str) -> None:
    """Write the QUEUE_FORMAT of a direct format name, of a queue, its journal or a subqueue. Raises UnnamedError."""
    if not format_name.lower().startswith(_PREFIX):
        raise UnnamedError("only direct format names are sent to a server that is judged by its address")
    suffix = format_name.partition(";")[2]
    kind, flags = DIRECT, 0
    if suffix.lower() in _SUFFIXES:
        flags = _SYSTEM | _SUFFIXES[suffix.lower()]
    elif suffix:
        kind, flags = SUBQUEUE, 5
    with writer.structure():
        writer.number(1, kind)
        writer.number(1, flags)
        writer.short(0)
        writer.number(1, kind)  # The tag of the union comes once more before its arm (C706 14.3.8).
        writer.pointer(lambda: writer.wide(format_name[len(_PREFIX) :]))
