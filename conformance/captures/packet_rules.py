"""The rules of single packets, with the profile, the readings and the level they are judged by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from conformance.judge.packets.diagnosis import Search
from conformance.judge.packets.judge import judge_dissected
from conformance.judge.packets.packet_verdicts import Judged
from conformance.judge.sessions.context import Kind, Said, Seen, evidence
from conformance.spec.catalogue import requirement, requirement_id
from conformance.spec.versions import LEVELS
from conformance.verdict import Outcome, Verdict
from conformance.wire.headers import SESSION_HEADER_SIZE

_HEADER_MARKS = frozenset({requirement_id("MQMQ-2.2.19.1.version-number"), requirement_id("MQMQ-2.2.19.1.signature")})
_UNTOLD = requirement_id("MQMQ-2.2.20.session-header-absent")
_WINDOW, _MOST_WINDOW = slice(12, 14), 64


def _is_session_header(data: bytes) -> bool:
    """Tell whether bytes that are no packet are a SessionHeader that no flag has announced."""
    window = int.from_bytes(data[_WINDOW], "little")
    return len(data) == SESSION_HEADER_SIZE and 0 < window <= _MOST_WINDOW


@dataclass(frozen=True, slots=True)
class PacketRules:
    """Judges packets by these settings. readings: reading id to accepted alternatives, the default first.

    level: a broken requirement below it is a warning. A requirement that does not bind the profile is not judged.
    search: what the search for causes may still cost in the capture.
    """

    profile: str
    readings: Mapping[str, tuple[str, ...]]
    level: str = "must"
    search: Search = field(default_factory=Search, compare=False)

    def judge(self, seen: Seen, only: Collection[str] | None = None) -> Sequence[Verdict]:
        """Judge a packet by itself. One whose sender closed within it counts as complete, else as maybe cut.

        only: the requirements to judge, by default all.
        """
        frame = seen.frame
        if frame.transport == "udp":
            return []
        ended = frame.trouble is not None and frame.trouble.kind == "ended"
        whole = frame.trouble is None or ended
        verdicts = judge_dissected(
            seen.packet,
            profile=self.profile,
            readings=self.readings,
            transport="buffer" if whole else "tcp",
            level=self.level,
            frame=seen.frame_number,
            only=only,
            search=self.search,
        )
        if frame.trouble is not None and frame.trouble.kind == "no-header":
            # All that is known of these bytes is that a packet must begin here: only the marks of a header are judged.
            verdicts = [verdict for verdict in verdicts if verdict.requirement in _HEADER_MARKS]
            if _is_session_header(frame.data) and verdicts:
                some = verdicts[0]
                expected, actual = (
                    {"holds": "BaseHeader.Flags.SH of the packet before is set"},
                    {"SessionHeader": "there"},
                )
                verdicts = [
                    replace(
                        some, requirement=_UNTOLD, rule=_UNTOLD, outcome=Outcome.FAIL, expected=expected, actual=actual
                    )
                ]
        if isinstance(verdicts, Judged):
            return verdicts.proven(partial(evidence, seen)) if verdicts.others else verdicts
        return [
            verdict if verdict.outcome is Outcome.PASS else replace(verdict, evidence=evidence(seen))
            for verdict in verdicts
        ]

    def levelled(self, said: Sequence[Said], kinds: Sequence[Kind] = ()) -> list[Verdict | Kind]:
        """Fit what the rules of connections said to the profile and the level.

        Verdicts on requirements that do not bind the profile are removed, and failures below the level become warnings.
        kinds: what the numbers in `said` stand for; each becomes a kind.
        """
        kept: list[Verdict | Kind] = []
        for one in said:
            if not isinstance(one, Verdict):
                if (kind := self.kind(kinds[one])) is not None:
                    kept.append(kind)
                continue
            binds, weak = _demand(one.requirement, self.profile, self.level)
            if binds:
                kept.append(replace(one, outcome=Outcome.WARN) if weak and one.outcome is Outcome.FAIL else one)
        return kept

    def kind(self, kind: Kind) -> Kind | None:
        """Do the same to a kind of verdict; return None if its requirement does not bind."""
        name, outcome, readings = kind
        binds, weak = _demand(name, self.profile, self.level)
        if not binds:
            return None
        return (name, Outcome.WARN, readings) if weak and outcome is Outcome.FAIL else kind


@lru_cache(maxsize=1 << 14)
def _demand(name: str, profile: str, level: str) -> tuple[bool, bool]:
    """Return whether a requirement binds the profile, and whether it is below the level."""
    demand = requirement(name)
    return demand.binds(profile), LEVELS.index(demand.level) > LEVELS.index(level)
