"""The sink that adds to a replay what compiled code has counted, with the result that `sinks.ToReplay` would have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.capture import Cut, Event
from conformance.captures.engine import OnPacket, judged
from conformance.captures.followed import Key
from conformance.captures.in_place import Counted, Decoded
from conformance.captures.judge import PACKET, SESSION, Managers, Told
from conformance.captures.meanings import Meaning
from conformance.captures.packet_rules import PacketRules
from conformance.captures.verdict_counts import BEHIND, Sums
from conformance.judge.packets.judged import Judged
from conformance.judge.sessions.context import Seen
from conformance.verdict import Outcome, Verdict


def _deviating(said: Sequence[Verdict | Key]) -> list[Verdict]:
    if isinstance(said, Judged):
        return said.deviating
    return [one for one in said if isinstance(one, Verdict) and one.outcome is not Outcome.PASS]


@dataclass(slots=True)
class CountedReplay:
    """Counts the verdicts of a range. on_packet: gets each packet that has a verdict other than pass of its own."""

    sums: Sums
    rules: PacketRules
    on_packet: OnPacket | None = None
    keys: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        """Return True once no further verdict is stored singly."""
        return self.on_packet is None and self.sums.full

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Count the verdicts on a packet."""
        sums, number, alone, more = self.sums, seen.frame_number, told[PACKET], told[SESSION]
        enough = counted and sums.show(number, _deviating(alone))
        if isinstance(alone, Judged) and not counted and not more:
            sums.by(sender, number, alone)
        elif more or not counted:
            sums.by(sender, number, [*(() if counted else alone), *more], BEHIND if counted else 0)
        if not counted:
            sums.add(number, alone, PACKET)
        sums.add(number, more, SESSION, BEHIND)
        if self.on_packet is not None and (_deviating(alone) or _deviating(more)):
            behind = [one for one in more if isinstance(one, Verdict)]
            verdicts: Sequence[Verdict]
            if isinstance(alone, Judged):
                verdicts = alone.followed_by(behind) if behind else alone
            else:
                verdicts = [*(one for one in alone if isinstance(one, Verdict)), *behind]
            self.on_packet(judged(self.sums.path, seen, verdicts))
        return enough

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Count the verdicts that an event allows."""
        if not isinstance(event, Cut):
            self.sums.add(before, verdicts, SESSION, -BEHIND)

    def enough(self, meaning: Meaning) -> bool:
        """Tell whether packets with this meaning need not be looked at."""
        return self.sums.enough(meaning)

    def decoded(self, found: Decoded) -> None:
        """Do nothing: the counts have it all."""

    def judged(self, found: Decoded) -> None:
        """Do nothing: the counts have it all."""

    def many(self, counted: Iterable[Counted]) -> None:
        """Add packets that compiled code has counted."""
        for one in counted:
            self.sums.count(one.sender, one.meaning, one.count, one.first, one.last)
            if one.session:
                self.sums.more(one.sender, one.session, one.count, one.first, one.last, SESSION, BEHIND)

    def end(self) -> None:
        """Give the counts to the replay, and judge each sender as a whole."""
        self.sums.conclude(self.rules.readings, self.rules.level)
