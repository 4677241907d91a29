"""Judge captures: each packet by itself and each session as a whole. This is the engine of `mqconform replay`."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.capture import Frame, Trouble
from conformance.captures.defects import DEFECT, Defect
from conformance.captures.onlookers import hints_on
from conformance.captures.summary import CaptureSummary, Further
from conformance.judge.packets.packet_verdicts import deviating
from conformance.judge.sessions.context import Seen
from conformance.runlog import Incomplete, PacketLine, RunWriter, Tally
from conformance.spec.followed_readings import FollowedReadings
from conformance.verdict import ExitCode, Outcome, Verdict, exit_code, worst, worst_code
from conformance.wire import Packet

if TYPE_CHECKING:
    pass

MAX_KEPT = 10_000  # Verdicts other than pass that are stored singly; further ones are counted with the first like them.

MAX_APART, MAX_NAMED = 8, 100
"""So many captures of one replay have counts of their own; so many, and as many odd ones, are kept by their names."""
FURTHER = "further captures"
"""The place of a capture's name in counts of those beyond `MAX_APART`."""
MAX_SENDERS = 4_096  # Senders of all captures whose readings are in memory at once.

SUITE = "replay"
"""The name of a replay's verdicts in the place of a suite in a run record."""

OnPacket = Callable[["JudgedPacket"], None]
OnProgress = Callable[[str, int, int], None]
OnVerdict = Callable[[str, Verdict], object]


@dataclass(frozen=True, slots=True)
class JudgedPacket:
    """One packet of a capture with the verdicts on it.

    capture: the file. number: from 1 within it. time: seconds since 1970. direction: `source -> destination`. kind: as
    `conformance.wire.Packet.kind`. queue: the destination of a message. trouble: why it is not a whole packet. packet:
    the decoded bytes. frame: its place in the capture. hints: ids of publicly documented malformations that it looks
    like. Verdicts that need a later event (the end of a connection) are only in `Replay.counted`.
    """

    capture: str
    number: int
    time: float
    direction: str
    kind: str
    queue: str | None
    length: int
    trouble: Trouble | None
    verdicts: Sequence[Verdict]
    packet: Packet
    frame: Frame
    hints: tuple[str, ...] = ()

    @property
    def worst(self) -> Outcome | None:
        """The roll-up of its verdicts, None if there are none."""
        others = worst(verdict.outcome for verdict in self.deviating)
        return others or (Outcome.PASS if self.verdicts else None)

    @property
    def deviating(self) -> list[Verdict]:
        """The verdicts other than pass."""
        return deviating(self.verdicts)

    def line(self) -> PacketLine:
        """Return the packet as a run record stores it."""
        names = dict.fromkeys(one.requirement for one in self.deviating)
        return PacketLine(
            self.number, self.time, self.direction, self.kind, self.queue, self.worst, tuple(names), self.capture,
            self.frame.record, self.frame.stream, self.hints,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Counted:
    """A verdict of a capture and how often it occurred: passes of one requirement are counted together."""

    capture: str
    verdict: Verdict
    count: int


@dataclass(slots=True)
class Replay:
    """The result of judging captures. interrupted: stopped from outside; it holds everything before that.

    followed: by capture and sender, how that sender reads the documents. tally: judgements by rule and by phase: on
    single packets, on sessions, on an implementation's treatment of messages, and on each sender as a whole.
    on_capture: gets the result of each capture. Then only the first of many are kept, the others are in `further`.
    """

    captures: list[CaptureSummary] = field(default_factory=list)
    interrupted: bool = False
    on_verdict: OnVerdict | None = None
    on_capture: Callable[[CaptureSummary], object] | None = None
    further: Further = field(default_factory=Further)
    followed: OrderedDict[tuple[str, str], FollowedReadings] = field(default_factory=OrderedDict)
    tally: Tally = field(default_factory=Tally)
    _counts: dict[tuple[str, str, Outcome, tuple[tuple[str, str], ...]], Counted] = field(default_factory=dict)
    _settled: int = 0
    _single: list[Counted] = field(default_factory=list)

    @property
    def counted(self) -> Sequence[Counted]:
        """All verdicts: other than pass first, in the order they were made, then passes by requirement."""
        return [*self._single, *self._counts.values()]

    @property
    def outcomes(self) -> Mapping[Outcome, int]:
        """The number of verdicts by outcome, worst first."""
        found: Counter[Outcome] = Counter()
        for one in self.counted:
            found[one.verdict.outcome] += one.count
        return {outcome: found[outcome] for outcome in Outcome if found[outcome]}

    @property
    def requirements(self) -> frozenset[str]:
        """The requirements judged, without those that are only inconclusive or skipped."""
        return frozenset(one.verdict.requirement for one in self.counted if one.verdict.outcome not in _UNJUDGED)

    @property
    def packets(self) -> int:
        """Packets over all captures."""
        return sum(capture.packets for capture in self.captures) + self.further.packets

    @property
    def unselected(self) -> tuple[int, int]:
        """How many packets no filter selects, of how many."""
        selected = sum(capture.selected for capture in self.captures) + self.further.selected
        return self.packets - selected, self.packets

    @property
    def errors(self) -> tuple[str, ...]:
        """One sentence for each file that could not be read."""
        return tuple(capture.error for capture in self.captures if capture.error)

    @property
    def defects(self) -> tuple[Defect, ...]:
        """The defects because of which captures were judged only in part."""
        return tuple(capture.defect for capture in self.captures if capture.defect is not None)

    @property
    def incomplete(self) -> Incomplete:
        """The missing data of all captures, summed."""
        return Incomplete.sum([*(capture.incomplete for capture in self.captures), self.further.incomplete])

    def exit_code(self, *, strict: bool = False, allow_incomplete: bool = False) -> ExitCode:
        """Return the exit code of the worst result.

        The order is: a deviation, a defect of the harness, an unreadable file, all else, and last incomplete captures.
        """
        codes = [exit_code(self.outcomes, strict=strict)]
        if self.interrupted:
            codes.append(ExitCode.INTERRUPTED)
        if self.defects or self.further.defects:
            codes.append(ExitCode.HARNESS_ERROR)
        if self.errors or self.further.errors:
            codes.append(ExitCode.BAD_INPUT)
        return self.incomplete.exit_code(worst_code(codes), allowed=allow_incomplete)

    def add(self, capture: str, verdict: Verdict, phase: str, times: int = 1) -> None:
        """Count a verdict. phase: the part of the replay that made it, for the tally. times: of a pass."""
        self.tally.count((verdict,), SUITE, phase, times)
        if verdict.outcome is not Outcome.PASS and len(self._single) < MAX_KEPT:
            self._single.append(Counted(capture, verdict, 1))
            if self.on_verdict is not None:
                self.on_verdict(capture, verdict)
            return
        self._count(capture, Counted(capture, verdict, times))

    def _count(self, capture: str, one: Counted) -> None:
        key = (capture, one.verdict.requirement, one.verdict.outcome, one.verdict.readings)
        before = self._counts.get(key)
        first = before.verdict if before else one.verdict
        self._counts[key] = Counted(capture, first, one.count + (before.count if before else 0))

    def follow(self, capture: str, sender: str, verdicts: Sequence[Verdict]) -> tuple[str, FollowedReadings] | None:
        """Add the readings that the verdicts on a sender's packet assumed.

        If there are too many senders, the one that was silent longest is removed and returned, to be concluded.
        """
        if not any(verdict.readings for verdict in verdicts):
            return None
        whole = self.followed.setdefault((capture, sender), FollowedReadings())
        self.followed.move_to_end((capture, sender))
        for verdict in verdicts:
            whole.add(verdict, f"{capture}, {sender}")
        if len(self.followed) <= MAX_SENDERS:
            return None
        (_, silent), given_up = self.followed.popitem(last=False)
        return silent, given_up

    def conclude(self, capture: str, readings: Mapping[str, tuple[str, ...]], level: str) -> None:
        """Judge each sender of a capture as a whole: everything it sent must fit one assignment of readings."""
        for (path, sender), whole in self.followed.items():
            if path == capture:
                self.conclude_sender(capture, sender, whole, readings, level)

    def conclude_sender(
        self, capture: str, sender: str, whole: FollowedReadings, readings: Mapping[str, tuple[str, ...]], level: str
    ) -> None:
        """Judge one sender as a whole."""
        self.tally.phases[SUITE, "senders"] += 1
        for verdict in whole.conclude(readings, level=level, subject=f"all packets of {sender}"):
            self.add(capture, verdict, "senders")

    def settle(self) -> None:
        """Close the capture that was judged last. Beyond the first ones, what is counted of it goes into one sum."""
        if len(self.captures) + self.further.captures == self._settled:
            return
        self._settled += 1
        one = self.captures[-1]
        if self._settled > MAX_APART:
            for key in [key for key in self._counts if key[0] == one.path]:
                self._count(FURTHER, self._counts.pop(key))
            for place in [place for place in self.followed if place[0] == one.path]:
                del self.followed[place]
        if self.on_capture is not None:
            self.on_capture(one)
            if len(self.captures) > (2 if one.odd else 1) * MAX_NAMED:
                self.further.add(self.captures.pop())

    @staticmethod
    def record_capture(writer: RunWriter, capture: CaptureSummary) -> None:
        """Write the result of a capture."""
        writer.capture(capture.line())
        for text in (capture.error, capture.cut, capture.own_sentence, capture.timeless_sentence):
            if text:
                writer.note(f"{capture.path}: {text}")
        for text in (*capture.unheard_sentences, *capture.unread_sentences):
            writer.note(f"{capture.path}: {text}")
        if capture.unsearched:
            writer.note(f"{capture.path}: odd packets without a search for what explains them: {capture.unsearched}")
        if capture.defect is not None:
            writer.note(capture.defect.sentence)
            writer.evidence(DEFECT, capture.defect.to_json())

    def record_rest(self, writer: RunWriter) -> None:
        """Write the verdicts that `on_verdict` did not receive, the tally, and what `on_capture` did not receive."""
        for capture in self.captures if self.on_capture is None else ():
            self.record_capture(writer, capture)
        for one in self._counts.values():
            writer.verdict(one.verdict, suite=SUITE, test=one.capture, count=one.count)
        writer.tally(self.tally)


_UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.SKIP})


def judged(path: str, seen: Seen, verdicts: Sequence[Verdict]) -> JudgedPacket:
    """Return a packet with the verdicts on it."""
    frame, packet = seen.frame, seen.packet
    return JudgedPacket(
        path,
        frame.number,
        frame.time,
        f"{frame.source} -> {frame.destination}",
        packet.kind,
        destination(packet),
        len(frame.data),
        frame.trouble,
        verdicts,
        packet,
        frame,
        hints_on(frame, packet, verdicts),
    )


def destination(packet: Packet) -> str | None:
    """Return the destination queue of a message as a format name, as far as the packet has it."""
    return destination_of(*map(packet.fields.get, DESTINATION))


DESTINATION = (
    "UserHeader.DestinationQueue.DirectFormatName",
    "UserHeader.DestinationQueue.PublicQueueIdentifier",
    "UserHeader.DestinationQueue.PrivateQueueIdentifier",
    "UserHeader.QueueManagerAddress",
)
"""The fields that name the destination queue."""


def destination_of(direct: object, public: object, private: object, address: object) -> str | None:
    """Return the destination queue from the values of `DESTINATION`."""
    if isinstance(direct, str):
        return f"DIRECT={direct}"
    if isinstance(public, str):
        return f"PUBLIC={public}"
    if isinstance(private, int):
        return f"PRIVATE={address!s}\\{private:08x}"
    return None
