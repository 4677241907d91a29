"""Judges captures packet by packet, event by event as they are read, and the sinks that this needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.capture import Event, read_capture
from conformance.capture.files import Stop
from conformance.capture.records import RecordWalk
from conformance.captures.compare_implementation import Against
from conformance.captures.defects import Outside
from conformance.captures.engine import OnPacket, OnProgress, OnVerdict, Replay, destination, judged
from conformance.captures.judge import (
    IMPLEMENTATION,
    PACKET,
    SESSION,
    BySessions,
    CaptureJudge,
    CountingSink,
    Managers,
    NotOurs,
    OneSide,
    SessionRules,
    Sink,
    Told,
    as_noticed,
)
from conformance.captures.judge import clients_of as of_clients
from conformance.captures.onlookers import NotWrittenError, Onlooker, Watched
from conformance.captures.packet_rules import PacketRules
from conformance.captures.selection import Selection
from conformance.captures.sender_readings import VerdictKind
from conformance.captures.summary import CaptureSummary
from conformance.judge.packets.diagnosis import Search
from conformance.judge.packets.packet_verdicts import Judged, Pattern
from conformance.judge.sessions.context import Seen
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.captures.batch_judge import Counted, Decoded
    from conformance.captures.meanings import Meaning


def _tells(verdict: Verdict) -> bool:
    """Tell whether a verdict may show how the sender reads the documents."""
    return bool(verdict.readings) or verdict.outcome is not Outcome.PASS


@dataclass(slots=True)
class ToReplay:
    """Adds every verdict to a replay, in its order; passes of a pattern that came before are counted at the end."""

    result: Replay
    summary: CaptureSummary
    rules: PacketRules
    on_packet: OnPacket | None = None
    keys: tuple[str, ...] = ()
    again: dict[Pattern, tuple[Judged, int]] = field(default_factory=dict)
    """By pattern, the first packet and how many more there were."""
    passed: dict[VerdictKind, tuple[Verdict, int]] = field(default_factory=dict)
    """By kind of a pass of the session rules, the first and how many more there were."""

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Add the verdicts on a packet."""
        alone = told[PACKET]
        more = [one for one in told[SESSION] if isinstance(one, Verdict)]
        given = [one for one in told.get(IMPLEMENTATION, ()) if isinstance(one, Verdict)]
        packet = alone if isinstance(alone, Judged) else None
        verdicts = packet.telling if packet is not None else [one for one in alone if isinstance(one, Verdict)]
        path = self.summary.path
        self.summary.selected += 1
        given_up = self.result.follow(path, sender, [*verdicts, *filter(_tells, more)])
        if given_up is not None:
            self.result.conclude_sender(path, *given_up, self.rules.readings, self.rules.level)
        if self.on_packet is not None:
            behind = (*more, *given)
            whole = packet.followed_by(behind) if packet is not None else (*verdicts, *behind)
            self.on_packet(judged(path, seen, whole))
        for verdict in verdicts if packet is None else self._new(packet):
            self.result.add(path, verdict, PACKET)
        for verdict in more:
            self._session(verdict)
        for verdict in given:
            self.result.add(path, verdict, IMPLEMENTATION)
        return False

    def _session(self, verdict: Verdict) -> None:
        """Count a verdict of the session rules."""
        if verdict.outcome is Outcome.PASS and verdict.rule is None and verdict.phase is None:
            key = (verdict.requirement, verdict.outcome, verdict.readings)
            known = self.passed.get(key)
            if known is not None:
                self.passed[key] = known[0], known[1] + 1
                return
            self.passed[key] = verdict, 0
        self.result.add(self.summary.path, verdict, SESSION)

    def _new(self, packet: Judged) -> Iterable[Verdict]:
        """Return the verdicts to add now: after the first packet of a pattern, those other than pass."""
        first, count = self.again.get(packet.pattern, (packet, -1))
        self.again[packet.pattern] = first, count + 1
        return packet if count < 0 else packet.others.values()

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Add the verdicts that an event allows."""
        for verdict in verdicts:
            self._session(verdict)

    def end(self) -> None:
        """Count what came again, and judge each sender as a whole."""
        for packet, count in self.again.values():
            for verdict in packet.passes if count else ():
                self.result.add(self.summary.path, verdict, PACKET, count)
        for verdict, count in self.passed.values():
            if count:
                self.result.add(self.summary.path, verdict, SESSION, count)
        self.again.clear()
        self.passed.clear()
        self.result.conclude(self.summary.path, self.rules.readings, self.rules.level)


@dataclass(slots=True)
class Selected:
    """Hands on what a selection means: neither other packets nor any connection as a whole get verdicts."""

    sink: Sink
    selection: Selection
    keys: tuple[str, ...] = ()

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Hand on a selected packet."""
        if self.selection.means(seen.frame, seen.kind, destination(seen.packet)):
            return self.sink.packet(seen, sender, told, counted=counted)
        return False

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Hand on the event alone."""
        self.sink.event(event, (), managers, before)

    def end(self) -> None:
        """End the sink."""
        self.sink.end()


@dataclass(slots=True)
class Given:
    """Gives each message to an implementation, and hands on the verdicts on its treatment beside the others."""

    sink: Sink
    against: Against
    keys: tuple[str, ...] = ()

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Give a packet to the implementation."""
        broken = any(one.outcome is Outcome.FAIL for said in told.values() for one in said if isinstance(one, Verdict))
        found = list(self.against.surely(self.against.give(seen.packet, broken=broken)))
        return self.sink.packet(seen, sender, {**told, IMPLEMENTATION: found}, counted=counted)

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Hand on the event."""
        self.sink.event(event, verdicts, managers, before)

    def end(self) -> None:
        """End the sink."""
        self.sink.end()


@dataclass(slots=True)
class Several:
    """Several counting sinks at once: each is told everything, and a packet is looked at if one of them wants that."""

    sinks: Sequence[CountingSink]

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that any of them reads."""
        return tuple(dict.fromkeys(key for sink in self.sinks for key in sink.keys))

    @property
    def full(self) -> bool:
        """Return True once none of the sinks gives a further verdict a place of its own."""
        return all(sink.full for sink in self.sinks)

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Hand on a packet."""
        fewer = [sink.packet(seen, sender, told, counted=counted) for sink in self.sinks]
        return any(fewer)

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Hand on an event."""
        for sink in self.sinks:
            sink.event(event, verdicts, managers, before)

    def end(self) -> None:
        """End them all."""
        for sink in self.sinks:
            sink.end()

    def enough(self, meaning: Meaning) -> bool:
        """Tell whether none of them needs to look."""
        return all(sink.enough(meaning) for sink in self.sinks)

    def decoded(self, found: Decoded) -> None:
        """Hand on a batch."""
        for sink in self.sinks:
            sink.decoded(found)

    def judged(self, found: Decoded) -> None:
        """Hand on a batch."""
        for sink in self.sinks:
            sink.judged(found)

    def many(self, counted: Iterable[Counted]) -> None:
        """Hand on counts."""
        together = list(counted)
        for sink in self.sinks:
            sink.many(together)


def replay(
    paths: Sequence[str | Path],
    *,
    profile: str,
    readings: Mapping[str, tuple[str, ...]],
    level: str = "must",
    on_packet: OnPacket | None = None,
    on_progress: OnProgress | None = None,
    on_verdict: OnVerdict | None = None,
    on_capture: Callable[[CaptureSummary], object] | None = None,
    selection: Selection | None = None,
    follow: Stop | None = None,
    against: Against | None = None,
    onlookers: Sequence[Onlooker] = (),
    clients_of: str | None = None,
) -> Replay:
    """Judge captures, one after the other, each by itself.

    paths: files; `-` is standard input. selection: the packets to judge; the others are read only for their sessions,
    and neither they nor any connection as a whole get verdicts. follow: at the end of each file, wait for more until it
    says stop. clients_of: judge only what the clients of the server with this address sent. against: an implementation
    that is given each message. onlookers: they see what is judged. readings: reading id to accepted alternatives, the
    default first. level: a broken requirement below it is a warning. A
    requirement that does not bind the profile is not judged. on_packet is called with each packet as soon as it is
    judged; on_progress with (path, bytes read, bytes in all); on_verdict with each verdict other than pass, so that a
    replay that is killed has lost none (passes are counted and written at the end, by `Replay.record_rest`).

    on_capture is called with the result of each file.

    If a file cannot be read, or hits a defect of the harness, its summary tells, together with what was judged of it,
    and the others are judged. Ctrl-C ends the replay early and keeps what was judged.
    """
    outside = Outside()
    result = Replay(on_verdict=on_verdict and outside.calls(on_verdict), on_capture=on_capture)
    rules = PacketRules(profile, readings, level)
    on_packet = on_packet and outside.calls(on_packet)
    on_progress = on_progress and outside.calls(on_progress)
    try:
        if against is not None:
            for verdict in against.surely(against.control()):
                result.add("control", verdict, "control")
        for path in map(str, paths):
            judge_file(
                result, path, rules, on_packet, on_progress, selection, follow, against, outside, onlookers, clients_of
            )
            if against is not None:
                for verdict in against.surely(against.empty()):
                    result.add(path, verdict, IMPLEMENTATION)
            result.settle()
    except KeyboardInterrupt:
        result.interrupted = True
        result.settle()
    return result


def judge_file(
    result: Replay,
    path: str,
    rules: PacketRules,
    on_packet: OnPacket | None,
    on_progress: OnProgress | None,
    selection: Selection | None,
    follow: Stop | None,
    against: Against | None,
    outside: Outside,
    onlookers: Sequence[Onlooker] = (),
    clients_of: str | None = None,
    *,
    whole_sessions: bool = True,
) -> None:
    """Judge a file and add the result to a replay; the arguments are those of `replay`.

    whole_sessions: False leaves out what the rules of connections say.
    """
    rules, summary = replace(rules, search=Search()), CaptureSummary(path)
    result.captures.append(summary)
    sessions = replace(SessionRules.of(rules.readings), speak=whole_sessions)
    sink: Sink = ToReplay(result, summary, rules, on_packet)
    through: tuple[type[Exception], ...] = ()
    if onlookers:
        sink, through = Watched(sink, path, onlookers), (NotWrittenError,)
    if against is not None:
        from conformance.adapter.errors import AdapterError

        sink, through = Given(sink, against), (*through, AdapterError)
    if selection is not None:
        sink = Selected(sink, selection)
    walk = RecordWalk()
    if clients_of is not None:
        sink = OneSide(sink, of_clients(clients_of))
    else:
        not_ours = NotOurs(walk, summary)
        sink = OneSide(sink, not_ours, others=True, whole=not_ours.none)

    def progress(read: int, size: int) -> None:
        if on_progress is not None:
            on_progress(path, read, size)

    reader = as_noticed(read_capture(path, on_progress=progress, follow=follow, walk=walk), walk)
    CaptureJudge(
        reader, rules, sessions, BySessions(sessions.judge), sink, summary, outside=outside, through=through
    ).run()
