"""Counts the contents of a capture and tells how far it was judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from threading import Event as threading_Event
from threading import Thread
from typing import Any

from conformance.capture import Closed, Cut, Ended, Event, Frame, Lost, Renewed
from conformance.capture.encapsulation import NO_IP
from conformance.capture.events import Lacking
from conformance.capture.network import BROKEN_TCP, CUT_SHORT, INCOMPLETE, NEITHER
from conformance.capture.recording_mark import OwnEnd
from conformance.capture.records import SECRETS
from conformance.captures.defects import Defect
from conformance.runlog import CaptureLine, Incomplete
from conformance.runlog.counts import COMPLETE, counted

PLAIN = frozenset({
    NO_IP, NEITHER, CUT_SHORT, INCOMPLETE, BROKEN_TCP, "broken UDP header", "other ports", "not a packet", SECRETS,
})  # fmt: skip
"""Reasons of records in which there is no MSMQ, or too little to tell."""
MAX_PAIRS = 1_000
"""Pairs of hosts whose attempts or pings are counted; those that come later are left out."""


@dataclass(slots=True)
class CaptureSummary:
    """The result of one file. selected: packets that a filter selects, else all.

    lost: stream bytes that are part of no packet. skipped: records without MSMQ, by reason. lacking: announced but
    missing data. cut: where and how it ends within a record. error: why it could not be read, or not to its end.
    defect: why it was judged only in part. unsearched: odd packets that came when the search for causes had
    no tries left. own: the mark of a recording of which the program itself was an end, with the number of packets that
    it sent, which are not judged. timeless: why some intervals are not judged, a clause. renewed: the
    records at which the followed file began anew, of the first times. attempts: connections without a byte, by the two
    hosts and what came of them. pings: by sender and receiver. services: as of `Ended`. tls: packets that begin as TLS
    does.
    """

    path: str
    records: int = 0
    packets: int = 0
    selected: int = 0
    lost: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    cut: str | None = None
    error: str | None = None
    lacking: Lacking = field(default_factory=Lacking)
    defect: Defect | None = None
    unsearched: int = 0
    own: OwnEnd | None = None
    own_packets: int = 0
    timeless: str | None = None
    renewed: list[int] = field(default_factory=list)
    attempts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    pings: Counter[tuple[str, str]] = field(default_factory=Counter)
    services: tuple[tuple[str, int, int, int], ...] = ()
    tls: int = 0

    def see(self, event: Event) -> None:
        """Count an event."""
        self.lacking.see(event)
        if isinstance(event, Frame):
            self.packets += 1
            self.lost += event.gap_before
            self.tls += event.trouble is not None and event.data[:2] == b"\x16\3"
            if event.transport == "udp":
                _count(self.pings, (event.source.address, str(event.destination)))
        elif isinstance(event, Lost):
            self.lost += event.length
        elif isinstance(event, Closed):
            if (one := event.attempt) is not None:
                _count(self.attempts, (one.source.address, str(one.destination), one.came))
        elif isinstance(event, Renewed):
            self.renewed = [*self.renewed, event.record][:100]
        elif isinstance(event, Cut):
            self.cut = event.text
        elif isinstance(event, Ended):
            self.records, self.skipped, self.services = event.records, dict(event.skipped), event.services

    def unreadable(self, sentence: str) -> None:
        """Note why the file cannot be read."""
        self.error = self.error or sentence

    def broken(self, defect: Defect) -> None:
        """Note a defect of the harness; the first one counts."""
        self.defect = self.defect or defect
        self.records = self.records or self.defect.record or 0

    @property
    def odd(self) -> bool:
        """True if there is something to say beside the counts."""
        problems = (self.cut, self.error, self.defect, self.own, self.timeless, self.incomplete)
        return any(problems) or bool(self.unsearched)

    @property
    def incomplete(self) -> Incomplete:
        """The data that the file announces but does not contain."""
        return self.lacking.incomplete

    @property
    def own_sentence(self) -> str | None:
        """A sentence about packets that the program itself has sent, which are left out; None for none."""
        if self.own is None:
            return None
        return f"{self.own.sentence}; {self.own_packets:,} packets of mqconform are not"

    @property
    def timeless_sentence(self) -> str | None:
        """Why some intervals are not judged; None when all are."""
        return None if self.timeless is None else f"{self.timeless}: intervals that this leaves open are not judged"

    @property
    def unheard(self) -> list[tuple[str, str, str, int]]:
        """The attempts in vain, by hosts: from, to, what came of it, how often; pings without any answer, too."""
        asked = {(one, other.rpartition(":")[0].strip("[]")) for one, other in self.pings}
        silent = [(*ends, "ping", count) for ends, count in self.pings.items() if _turned(ends) not in asked]
        return [(*one, count) for one, count in self.attempts.most_common()] + silent

    @property
    def unheard_sentences(self) -> list[str]:
        """The same, as a clause for each."""
        return [attempts_words(*one) for one in self.unheard]

    @property
    def unread_sentences(self) -> list[str]:
        """A clause for each thing that is there and not judged: encapsulations, and other services of MSMQ."""
        tls = [f"{counted(self.tls, 'packet')} on port 1801 {_be(self.tls)} TLS, which cannot be judged"] * bool(
            self.tls
        )
        named = [skipped_words(*one) for one in sorted(self.skipped.items()) if one[0] not in PLAIN]
        return tls + named + [service_words(*one) for one in self.services]

    def line(self) -> CaptureLine:
        """Return the capture as a run record stores it."""
        lacking = self.lacking
        return CaptureLine(
            self.path, self.records, self.packets, self.lost, lacking.began_before, lacking.go_on, self.incomplete,
            self.cut, self.error,
        )  # fmt: skip


def _turned(ends: tuple[str, str]) -> tuple[str, str]:
    return ends[1].rpartition(":")[0].strip("[]"), ends[0]


def _count(counts: Counter[Any], key: tuple[str, ...]) -> None:
    if key in counts or len(counts) < MAX_PAIRS:
        counts[key] += 1


def attempts_words(source: str, destination: str, came: str, count: int) -> str:
    """Return a clause about what one host tried at another. came: as of `Attempt`, or `ping`."""
    what, be = ("s", "were") if count > 1 else ("", "was")
    if came == "ping":
        return f"{count:,} ping{what} of {source} to {destination} {be} not answered"
    return f"{count:,} attempt{what} of {source} to connect to {destination} {be} {_CAME[came]}"


def skipped_words(why: str, count: int) -> str:
    """Return a clause about records without MSMQ, or of what may have MSMQ inside."""
    if why in PLAIN:
        return f"{counted(count, 'record')} skipped: {why}"
    return f"{counted(count, 'record')} of {why} {_be(count)} not looked into"


def service_words(name: str, connections: int, records: int, size: int) -> str:
    """Return a clause about one of `Ended.services`."""
    begun = f"{counted(connections, 'connection')} begun, " if name.startswith("TCP") else ""
    return f"{name} was seen and not judged: {begun}{counted(records, 'record')}, {counted(size, 'byte')}"


def _be(count: int) -> str:
    return "was" if count == 1 else "were"


_CAME = {
    "refused": "refused",
    "unanswered": "not answered",
    "reset": "accepted, and reset without a byte",
    "closed": "accepted, and closed without a byte",
    "open": "accepted, and carried no byte",
}


@dataclass(slots=True)
class Further:
    """The captures of which only sums are kept."""

    captures: int = 0
    packets: int = 0
    selected: int = 0
    errors: int = 0
    defects: int = 0
    incomplete: Incomplete = COMPLETE

    def add(self, one: CaptureSummary) -> None:
        """Add a capture."""
        self.captures += 1
        self.packets += one.packets
        self.selected += one.selected
        self.errors += one.error is not None
        self.defects += one.defect is not None
        self.incomplete = Incomplete.sum((self.incomplete, one.incomplete))


_PIECE = 1 << 20


def size_of(path: str | Path) -> int | None:
    """Return the size of a file in bytes; None if it does not exist or is not a regular file."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_size if S_ISREG(found.st_mode) else None


def fingerprint(path: str | Path, stop: threading_Event | None = None) -> dict[str, Any] | None:
    """Return size in bytes and SHA-256 of a file; None if it cannot be read, or when told to stop.

    A pipe has neither: bytes that are read here would be missing from the judging.
    """
    total, digest, piece = 0, sha256(), bytearray(_PIECE)
    try:
        if not S_ISREG(Path(path).stat().st_mode):
            return None
        with Path(path).open("rb", buffering=0) as file:
            while count := file.readinto(piece):
                if stop is not None and stop.is_set():
                    return None
                total += count
                digest.update(memoryview(piece)[:count])
    except OSError:
        return None
    return {"bytes": total, "sha256": digest.hexdigest()}


class Fingerprints:
    """The fingerprints of several files, from a thread of its own: hashing releases the interpreter's lock."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._found: dict[str, dict[str, Any] | None] = {}
        self._stop = threading_Event()
        self._thread = Thread(target=self._find, args=(tuple(paths),), name="fingerprints", daemon=True)
        self._thread.start()

    def _find(self, paths: Sequence[str]) -> None:
        for path in paths:
            if self._stop.is_set():
                return
            self._found[path] = fingerprint(path, self._stop)

    def found(self) -> dict[str, dict[str, Any] | None]:
        """Wait for all fingerprints and return them by path."""
        self._thread.join()
        return self._found

    def give_up(self) -> None:
        """Tell the thread to stop, and wait for its end."""
        self._stop.set()
        self._thread.join()
