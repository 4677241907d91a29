"""What every session rule works with: a packet in its place, the accepted readings, and how verdicts are written."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.capture import Frame
from conformance.verdict import Evidence, Json, Outcome, Verdict
from conformance.wire import Packet

# What a session counts as its messages (MS-MQQB 3.1.1.4): everything that is not an internal packet.
MESSAGES = frozenset({"UserMessage", "OrderAck", "FinalAck"})
MAX_REMEMBERED = 65_536  # Entries of any table that grows with the traffic; the oldest is forgotten.

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
class Notes:
    """The verdicts of one event, and what was already said to be undecidable. Nothing is said to be so twice."""

    readings: Readings
    verdicts: list[Verdict] = field(default_factory=list)
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
        other = any(alternative != self.readings[reading][0] for reading, alternative in readings)
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
