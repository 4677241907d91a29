"""A table of the conversations in captures: who talked to whom, how long, how much, and what deviated.

A conversation is a TCP connection, or the pings between two ends.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.capture import Event, Frame, Opened
from conformance.judge.sessions.context import Seen
from conformance.verdict import Json, Outcome, Verdict

MAX_CONVERSATIONS = 10_000
"""Conversations with a row of their own; those that come later are one row together."""
_MAX_FRAMES = 1 << 16  # Packets back that a late verdict can be on.
_MESSAGE = "UserMessage"
Key = tuple[str, int | str]


@dataclass(slots=True)
class Conversation:
    """One row. Pairs: what the first end sent, and the second; the first opened the connection, or was seen first.

    connection: its number in the capture, None for pings. stream: as in `Frame`. ends: addresses with ports. who: the
    senders, where packets name them. messages: packets with a message of an application. deviations: failed verdicts on
    its packets.
    """

    capture: str
    connection: int | None
    stream: int | None
    ends: tuple[str, str]
    first_ns: int
    last_ns: int
    who: list[str | None] = field(default_factory=lambda: [None, None])
    packets: list[int] = field(default_factory=lambda: [0, 0])
    bytes: list[int] = field(default_factory=lambda: [0, 0])
    messages: list[int] = field(default_factory=lambda: [0, 0])
    deviations: int = 0

    def add(self, seen: Seen, sender: str, side: int) -> None:
        """Count a packet."""
        frame = seen.frame
        self.packets[side] += 1
        self.bytes[side] += len(frame.data)
        self.messages[side] += seen.kind == _MESSAGE
        if sender not in ("", frame.source.address):
            self.who[side] = sender
        if self.stream is None:
            self.stream = frame.stream
        self.first_ns, self.last_ns = min(self.first_ns, frame.time_ns), max(self.last_ns, frame.time_ns)

    @property
    def seconds(self) -> float:
        """The time from its first packet to its last."""
        return (self.last_ns - self.first_ns) / 1e9

    def to_json(self) -> dict[str, Json]:
        """Return the row as `--json` prints it."""
        return {
            "capture": self.capture,
            "connection": self.connection,
            "stream": self.stream,
            "from": self.ends[0],
            "to": self.ends[1],
            "who": list(self.who),
            "packets": list(self.packets),
            "bytes": list(self.bytes),
            "messages": list(self.messages),
            "deviations": self.deviations,
            "began": self.first_ns / 1e9,
            "seconds": round(self.seconds, 6),
        }


@dataclass(slots=True)
class Conversations:
    """An onlooker that makes the table. more: the conversations that have no row: their number, packets and bytes.

    elsewhere: failed verdicts on packets that have no row, or are too long ago to tell.
    """

    rows: list[Conversation] = field(default_factory=list)
    more: dict[str, int] = field(default_factory=lambda: {"conversations": 0, "packets": 0, "bytes": 0})
    elsewhere: int = 0
    _open: dict[Key, Conversation] = field(default_factory=dict)
    _frames: OrderedDict[tuple[str, int], Key] = field(default_factory=OrderedDict)

    def packet(self, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict]) -> None:
        """Count a packet and what its turn has shown."""
        frame = seen.frame
        key, ends, side = _place(path, frame)
        found = self._open.get(key)
        if found is None and len(self.rows) < MAX_CONVERSATIONS:
            first, last = ends[0], ends[1]
            found = Conversation(path, frame.connection, frame.stream, (first, last), frame.time_ns, frame.time_ns)
            self._open[key] = found
            self.rows.append(found)
        if found is None:
            self.more["conversations"] += frame.connection is None  # Connections are counted as they open.
            self.more["packets"] += 1
            self.more["bytes"] += len(frame.data)
        else:
            found.add(seen, sender, side if ends == found.ends else 1 - side)
        self._frames[path, frame.number] = key
        if len(self._frames) > _MAX_FRAMES:
            self._frames.popitem(last=False)
        self._deviate(path, key, verdicts)

    def event(self, path: str, event: Event, verdicts: Sequence[Verdict]) -> None:
        """Count a connection without a row, and late verdicts."""
        if isinstance(event, Opened) and len(self.rows) >= MAX_CONVERSATIONS:
            self.more["conversations"] += 1
        number = getattr(event, "connection", None)
        self._deviate(path, None if number is None else (path, number), verdicts)

    def to_json(self) -> dict[str, Json]:
        """Return the table as `--json` prints it."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "more": dict(self.more),
            "deviations_elsewhere": self.elsewhere,
        }

    def _deviate(self, path: str, key: Key | None, verdicts: Sequence[Verdict]) -> None:
        for verdict in verdicts:
            if verdict.outcome is not Outcome.FAIL:
                continue
            of = key if verdict.frame is None else self._frames.get((path, verdict.frame), key)
            found = None if of is None else self._open.get(of)
            if found is None:
                self.elsewhere += 1
            else:
                found.deviations += 1


def _place(path: str, frame: Frame) -> tuple[Key, tuple[str, str], int]:
    """Return the key of a packet's conversation, its ends, and which of them sent it."""
    source, destination = str(frame.source), str(frame.destination)
    if frame.connection is not None:
        side = int(frame.side == "acceptor")
        return (path, frame.connection), ((source, destination), (destination, source))[side], side
    turned = destination < source
    ends = (destination, source) if turned else (source, destination)
    return (path, " ".join(ends)), ends, int(turned)
