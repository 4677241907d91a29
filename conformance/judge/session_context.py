"""What every session rule works with: a packet in its place, the accepted readings, and how verdicts are written."""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from conformance.capture import Frame
from conformance.spec.assignment import possible
from conformance.verdict import Evidence, Json, Outcome, Verdict
from conformance.wire import Packet

# What a session counts as its messages (MS-MQQB 3.1.1.4): everything that is not an internal packet.
MESSAGES: Final[frozenset[str]] = frozenset({"UserMessage", "OrderAck", "FinalAck"})
MAX_REMEMBERED = 32_768  # Messages in any table that grows with the traffic; the oldest is forgotten.
MAX_HOSTS = 8_192  # Hosts, pairs of hosts or connections in any table of those: an entry holds far more than a message.

_MAX_SUSPICIONS = 4096
_SETTLED_NS = 1_000_000_000  # After this long, every loss has been noticed.
_EVIDENCE = 65_536  # Bytes of a packet kept with a verdict.

Readings = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A frame and what is in it."""

    frame: Frame
    packet: Packet

    @property
    def subject(self) -> str:
        """How verdicts name it."""
        return f"frame {self.frame.number}"

    def number(self, key: str) -> int | None:
        """A numeric field, None when it was not decoded."""
        value = self.packet.fields.get(key)
        return int(value) if isinstance(value, int) else None

    def text(self, key: str) -> str | None:
        """A text or GUID field, None when it was not decoded."""
        value = self.packet.fields.get(key)
        return value if isinstance(value, str) else None


@dataclass(slots=True)
class Path:
    """What goes from one host to another, over all their connections. generation: grows with every loss."""

    generation: int = 0


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A fail, unless it turns out soon that something on one of `paths` was not captured.

    Connections are put in order one by one: what another one proves may come a moment later.
    """

    verdict: Verdict
    seen: Seen
    paths: tuple[tuple[Path, int], ...]

    @property
    def stands(self) -> bool:
        """Whether nothing has been lost since."""
        return all(path.generation == generation for path, generation in self.paths)


@dataclass(slots=True)
class Notes:
    """The verdicts of one event, and what was already said to be undecidable. Nothing is said to be so twice."""

    readings: Readings
    verdicts: list[Verdict] = field(default_factory=list)
    suspicions: deque[Suspicion] = field(default_factory=deque)
    _said: set[tuple[str, int | None]] = field(default_factory=set)

    def take(self) -> list[Verdict]:
        """The verdicts since the last call."""
        taken, self.verdicts = self.verdicts, []
        return taken

    def merge(self, other: Notes) -> None:
        """Take over what was noted elsewhere; what is undecidable is still said once."""
        for verdict in other.take():
            key = (verdict.requirement, None)
            if verdict.outcome is not Outcome.INCONCLUSIVE or key not in self._said:
                self.verdicts.append(verdict)
            if verdict.outcome is Outcome.INCONCLUSIVE:
                self._said.add(key)
        self.suspicions += other.suspicions

    def suspect(
        self,
        requirement: str,
        seen: Seen,
        expected: Json,
        actual: Json,
        paths: tuple[Path, ...],
        readings: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """Note a fail that stands only if no loss on these paths comes to light."""
        verdict = Verdict(requirement, Outcome.FAIL, seen.subject, expected, actual, readings, evidence=evidence(seen))
        self.suspicions.append(Suspicion(verdict, seen, tuple((path, path.generation) for path in paths)))

    def resolve(self, now_ns: int | None) -> None:
        """Decide the suspicions that have waited long enough; all of them at the end (None)."""
        while self.suspicions:
            first = self.suspicions[0]
            few = len(self.suspicions) <= _MAX_SUSPICIONS
            if few and now_ns is not None and now_ns - first.seen.frame.time_ns < _SETTLED_NS and first.stands:
                return
            self.suspicions.popleft()
            if first.stands:
                self.verdicts.append(first.verdict)
            else:
                self.undecided(first.verdict.requirement, first.seen, "packets of this exchange are not in the capture")

    def judge(
        self,
        requirement: str,
        holds: bool,
        seen: Seen,
        expected: Json,
        actual: Json,
        readings: tuple[tuple[str, str], ...] = (),
    ) -> bool:
        """Note whether a demand holds, by the default of each reading or by another accepted one; returns `holds`."""
        other = any(self.readings[reading][0] not in possible(alternative) for reading, alternative in readings)
        outcome = (Outcome.READING if other else Outcome.PASS) if holds else Outcome.FAIL
        self.verdicts.append(
            Verdict(
                requirement,
                outcome,
                seen.subject,
                expected,
                actual,
                readings,
                evidence=None if holds else evidence(seen),
            )
        )
        return holds

    def same(self, requirement: str, seen: Seen, expected: Json, actual: Json) -> bool:
        """Note whether two values agree."""
        return self.judge(requirement, expected == actual, seen, expected, actual)

    def undecided(self, requirement: str, seen: Seen, reason: str) -> None:
        """Note that nothing can be said, once a connection and requirement."""
        key = (requirement, seen.frame.connection)
        if key not in self._said and len(self._said) < MAX_REMEMBERED:
            self._said.add(key)
            self.verdicts.append(Verdict(requirement, Outcome.INCONCLUSIVE, seen.subject, reason=reason))

    def accepted(self, reading: str) -> tuple[str, ...]:
        """The accepted alternatives of a reading, the default first."""
        return self.readings[reading]


def evidence(seen: Seen) -> Evidence:
    """The packet itself, so that it can be judged again."""
    frame = seen.frame
    return Evidence(
        "packet",
        seen.subject,
        {
            "base64": b64encode(frame.data[:_EVIDENCE]).decode("ascii"),
            "transport": frame.transport,
            "source": str(frame.source),
            "destination": str(frame.destination),
            "time_ns": frame.time_ns,
        },
    )
