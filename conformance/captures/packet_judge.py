"""Judge a capture event by event, as it is read: the combination behind `mqconform replay`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from conformance.capture import read_capture
from conformance.capture.following import Stop
from conformance.capture.records import RecordWalk
from conformance.captures.compare_implementation import Against
from conformance.captures.defects import Outside
from conformance.captures.engine import OnPacket, OnProgress, OnVerdict, Replay
from conformance.captures.judge import (
    IMPLEMENTATION,
    BySessions,
    CaptureJudge,
    NotOurs,
    OneSide,
    SessionRules,
    Sink,
    as_noticed,
)
from conformance.captures.judge import clients_of as of_clients
from conformance.captures.onlookers import NotWrittenError, Onlooker, Watched
from conformance.captures.packet_rules import PacketRules
from conformance.captures.selection import Selection
from conformance.captures.sinks import Given, Selected, ToReplay
from conformance.captures.summary import CaptureSummary
from conformance.judge.packets.diagnosis import Search


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
