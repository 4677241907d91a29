"""Judges TimeStamp of EstablishConnection requests by those before it (MS-MQQB 2.2.3.1, 3.1.5.2.3).

It counts milliseconds since the operating system was started: from one request to the next it grows by no more than the
time between them, or it began anew in that time. A small step back is no growth by almost 2**32: the packet may have
been sent again, or the clock of the machine was set back. A request is made when its connection is open, so that what
TCP sent again was made no sooner than that.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.capture import Opened
from conformance.judge.sessions.context import MAX_HOSTS, Notes, Seen
from conformance.spec.catalogue import requirement_id

_CLOCK = requirement_id("MQQB-3.1.5.2.3.time-stamp")
_HEADER = "EstablishConnectionHeader"
_LATE_MS = 30_000  # A request may be lost and sent again by TCP this long after it was made.
_SLACK_MS = 5_000  # The clock of the capture may be set by this much.
_DRIFT = 1_000  # Clocks differ by less than one part in this many.
_MS = 1_000_000
_HALF = 1 << 31


@dataclass(slots=True)
class Clocks:
    """The last TimeStamp of each initiator, by queue manager and host, and the first time in ns it can be of."""

    last: OrderedDict[tuple[str, str], tuple[int, int]] = field(default_factory=OrderedDict)

    def see(self, seen: Seen, notes: Notes, opened: Opened) -> None:
        """Judge an EstablishConnection request. opened: its connection."""
        manager, stamp = seen.text(f"{_HEADER}.ClientGuid"), seen.number(f"{_HEADER}.TimeStamp")
        if manager is None or stamp is None:
            return
        key = manager, seen.hosts[0]
        _, begun_ns = self.last.get(key, (0, 0))
        grown, most = self.take(key, stamp, seen.time_ns, opened)
        if most is None:
            return
        why = notes.timeless(begun_ns, seen.time_ns)
        if why is not None:
            notes.undecided(_CLOCK, seen, why, anywhere=True)
            return
        if grown >= _HALF and stamp > most:
            notes.undecided(_CLOCK, seen, "the request may have been made before the one that was seen last")
            return
        notes.judge(_CLOCK, min(grown, stamp) <= most, seen, {"grows by at most, ms": most}, {"ms": grown})

    def take(self, key: tuple[str, str], stamp: int, time_ns: int, opened: Opened) -> tuple[int, int | None]:
        """Take a request; return by how much its time has grown, in ms, and by how much at most; None for the first.

        key: the queue manager and its host. opened: as for `see`.
        """
        soonest_ns = opened.time_ns if opened.complete else time_ns - _LATE_MS * _MS
        soonest_ns = min(time_ns, max(soonest_ns, time_ns - _LATE_MS * _MS))
        before = self.last.get(key)
        if before is None:
            self.last[key] = (stamp, soonest_ns)
            while len(self.last) > MAX_HOSTS:
                self.last.popitem(last=False)
            return 0, None
        elapsed = max(0, time_ns - before[1]) // _MS
        most = elapsed + elapsed // _DRIFT + _SLACK_MS
        grown = (stamp - before[0]) & 0xFFFFFFFF
        if not (grown >= _HALF and stamp > most):
            self.last[key] = (stamp, soonest_ns)
        return grown, most
