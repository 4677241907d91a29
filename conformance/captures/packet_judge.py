"""Judge a capture event by event, as it is read: the combination behind `mqconform replay`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.capture import read_capture
from conformance.capture.following import Stop
from conformance.capture.records import RecordWalk
from conformance.captures.compare_implementation import Against
from conformance.captures.defects import Outside
from conformance.captures.engine import OnPacket, OnProgress, Replay
from conformance.captures.judge import BySessions, CaptureJudge, NotOurs, OneSide, SessionRules, Sink, as_noticed
from conformance.captures.judge import clients_of as of_clients
from conformance.captures.onlookers import NotWrittenError, Onlooker, Watched
from conformance.captures.packet_rules import PacketRules
from conformance.captures.selection import Selection
from conformance.captures.sinks import Given, Selected, ToReplay
from conformance.captures.summary import CaptureSummary
from conformance.judge.packets.diagnosis import Search


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
    """Judge a file and add the result to a replay; the arguments are those of `engine.replay`.

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
