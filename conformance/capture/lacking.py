"""Counts the bytes and packets that a capture lacks, by the events of its reading."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from conformance.capture.events import Closed, Cut, Event, Frame, Hole, Lost, Opened, Passed, Short
from conformance.runlog.incomplete import Incomplete

_UNFINISHED = frozenset({"ended", "aborted", "replaced"})


@dataclass(slots=True)
class Lacking:
    """Counts what a capture announces but lacks; events about nothing missing may be left out.

    began_before, go_on: connections that began before the capture, and those that go on behind it. They lack nothing
    that was announced, so they do not make a capture incomplete; neither does the packet in which the capture ends.
    """

    began_before: int = 0
    go_on: int = 0
    _counts: Counter[str] = field(default_factory=Counter)

    def see(self, event: Event) -> None:
        """Count an event."""
        counts = self._counts
        match event:
            case Frame():
                counts["stray"] += event.stray
                counts["unfinished"] += event.trouble is not None and event.trouble.kind in _UNFINISHED
            case Hole(short=False):
                counts["gaps"] += 1
                counts["gap_bytes"] += event.length
            case Lost():
                counts["stray"] += event.stray
            case Passed():
                counts["passed_over"] += event.length
            case Short():
                counts["short"] += 1
                counts["short_bytes"] += event.length
            case Cut(stopped=False):
                counts["cut"] += 1
            case Opened(complete=False):
                self.began_before += 1
            case Closed(how="end"):
                self.go_on += 1

    def meant(self, frame: Frame) -> None:
        """Take back that a packet has no end: the program itself has cut it, to see what the other end does."""
        self._counts["unfinished"] -= frame.trouble is not None and frame.trouble.kind in _UNFINISHED

    def count(self, more: Incomplete) -> None:
        """Add counts from elsewhere."""
        self._counts.update({name: int(count) for name, count in more.to_json().items()})

    @property
    def incomplete(self) -> Incomplete:
        """The counts so far."""
        return Incomplete(**self._counts)
