"""`mqconform replay`."""

from __future__ import annotations

import signal
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.cli.output import console, fail, progress_bar
from conformance.verdict import ExitCode, Outcome

if TYPE_CHECKING:
    from conformance.capture.following import Stop
    from conformance.replay import JudgedPacket, Replay
    from conformance.replay.against import Against

MAX_JSON_PACKETS = 10_000  # the run record has all of them
_COLOURS = {Outcome.FAIL: "31", Outcome.WARN: "33", Outcome.READING: "33", Outcome.INCONCLUSIVE: "33"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says of captures: which, which packets of them, how long, and whom to give them to."""

    captures: Sequence[str]
    filter: str | None
    follow: bool
    budget: str | None
    against: str | None
    in_process: bool
    deadline_ms: int


@dataclass(slots=True)
class _Shown:
    """What of the packets is still needed when all were judged."""

    json: list[dict[str, Any]]
    failed: JudgedPacket | None = None


def command(
    asked: Asked,
    *,
    profile: str | None,
    level: str,
    readings: str,
    chosen: Sequence[str],
    out: Path | None,
    json: bool,
) -> None:
    """Judge captures, print a line a packet, the first that fails byte by byte and the summary; end with the code."""
    from conformance.capture import CaptureError
    from conformance.capture.inputs import STDIN, expand
    from conformance.cli.run import finish, seconds
    from conformance.replay import replay
    from conformance.replay.selection import SelectionError, parse
    from conformance.run import BadInput, check_chosen, check_words, prepare_folder
    from conformance.runlog import Header, RunWriter, read_run
    from conformance.spec.catalogue import assignment
    from conformance.spec.versions import DEFAULT_PROFILE

    budget_s = seconds(asked.budget)
    try:
        check_words(profile=profile, level=level, readings=readings)
        accepted = assignment(readings, check_chosen(chosen))
        captures = expand(asked.captures)
        selection = None if asked.filter is None else parse(asked.filter)
        if asked.follow and (len(captures) > 1 or captures == [STDIN]):
            raise BadInput("--follow takes one file; stdin is followed as it is.")
        if budget_s is not None and not asked.follow and STDIN not in captures:
            raise BadInput("--budget bounds --follow and stdin; a file is read to its end.")
        folder = prepare_folder(out, kind="replay")
    except (BadInput, CaptureError, SelectionError) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    target = console()
    colour = target.is_terminal and not target.no_color
    shown = _Shown([])
    with (
        RunWriter(folder) as writer,
        progress_bar("replay", quiet=not sys.stderr.isatty()) as bar,
        _implementation(asked, accepted, profile) as against,
        _stopping(asked.follow or STDIN in captures, budget_s) as stop,
    ):
        writer.header(
            Header(
                run_id=uuid.uuid4().hex,
                command=tuple(sys.argv[1:]),
                profile=profile or DEFAULT_PROFILE,
                level=level,
                reading_set=readings,
                readings=accepted,
                captures=tuple(captures),
            )
        )

        def on_packet(packet: JudgedPacket) -> None:
            writer.packet(packet.line())
            if shown.failed is None and packet.worst is Outcome.FAIL:
                shown.failed = packet
            if not json:
                print(line(packet, colour=colour), flush=asked.follow)
            elif len(shown.json) < MAX_JSON_PACKETS:
                shown.json.append(as_json(packet))

        started = time.monotonic()
        result = replay(
            captures,
            profile=profile or DEFAULT_PROFILE,
            readings=accepted,
            level=level,
            on_packet=on_packet,
            on_progress=lambda path, done, total: bar(done, total, Path(path).name),
            on_verdict=lambda capture, verdict: writer.verdict(verdict, suite="replay", test=capture),
            selection=selection,
            follow=stop,
            against=against,
        )
        result.record_rest(writer)
        writer.footer("interrupted" if result.interrupted else "completed")
    code = result.exit_code(strict=readings == "strict")
    said = sentence(result, code)
    if against is not None and not against.read + against.delivered and code in (ExitCode.CONFORMS, ExitCode.DEVIATES):
        code = ExitCode.NOTHING_JUDGED if code is ExitCode.CONFORMS else code
        said = f"No message of the captures was given to {asked.against}{_because(against)}."
    extra = {**totals(result, time.monotonic() - started), "packets": shown.json} if json else {}
    if json:
        extra |= {"first_failure": dump(shown.failed), "against": given(against)}
    else:
        for text in [*dump(shown.failed), *notes(result), *told(against)]:
            print(text)
    finish(read_run(folder), folder, code, said, json=json, extra=extra)


@contextmanager
def _stopping(wanted: bool, budget_s: float | None) -> Iterator[Stop | None]:
    """While something is followed the first Ctrl-C ends the reading, not the judging; the second is as usual."""
    from conformance.capture.following import GRACE_S, Stop

    if not wanted:
        yield None
        return
    stop = Stop(budget_s)

    def on_interrupt(number: int, frame: object) -> None:
        stop.tell(GRACE_S)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _implementation(
    asked: Asked, accepted: Mapping[str, tuple[str, ...]], profile: str | None
) -> Iterator[Against | None]:
    if asked.against is None:
        yield None
        return
    from conformance.adapter.errors import AdapterError, ConnectorError
    from conformance.replay.against import NotDeliverable, implementation
    from conformance.suites.connecting import check_connector

    with ExitStack() as stack:
        try:
            check_connector(asked.against, in_process=asked.in_process)
            against = stack.enter_context(
                implementation(
                    asked.against,
                    readings=accepted,
                    profile=profile,
                    deadline_ms=asked.deadline_ms,
                    in_process=asked.in_process,
                )
            )
        except ConnectorError as error:
            fail(error.sentence, ExitCode.BAD_INPUT)
        except AdapterError as error:
            fail(error.sentence, ExitCode.UNUSABLE)
        except NotDeliverable as error:
            fail(f"Nothing can be given to {asked.against}: {error.reason}", ExitCode.NOTHING_JUDGED)
        yield against


def dump(packet: JudgedPacket | None) -> list[str]:
    """The packet byte by byte, with what it breaks; nothing when there is none."""
    if packet is None:
        return []
    from conformance.report.hexdump import annotated

    return ["", f"{packet.capture}: packet {packet.number}", *annotated(packet.packet, packet.verdicts), ""]


def told(against: Against | None) -> list[str]:
    """What an implementation was given, and what not."""
    if against is None:
        return []
    return [
        f"{against.read} messages read and {against.delivered} delivered",
        *(f"{count} messages {why}" for why, count in sorted(against.left_out.items())),
    ]


def given(against: Against | None) -> dict[str, Any] | None:
    """The same as `--json` prints it."""
    if against is None:
        return None
    return {"read": against.read, "delivered": against.delivered, "left_out": dict(against.left_out)}


def _because(against: Against) -> str:
    reasons = ", ".join(f"{count} {why}" for why, count in sorted(against.left_out.items()))
    return f" ({reasons})" if reasons else ""


def line(packet: JudgedPacket, *, colour: bool = False) -> str:
    """One packet on one line: time, direction, kind, queue, verdicts."""
    from conformance.report.text import label

    when = datetime.fromtimestamp(packet.time, UTC).strftime("%H:%M:%S.%f")[:-3]
    said = verdicts(packet)
    code = _COLOURS.get(packet.worst) if packet.worst is not None and colour else None
    said = f"\x1b[{code}m{said}\x1b[0m" if code else said
    queue = label(packet.queue) if packet.queue else "-"
    return f"{packet.number:>5}  {when}  {packet.direction}  {packet.kind}  {queue}  {said}"


def verdicts(packet: JudgedPacket) -> str:
    """What was said about a packet: how much holds, and the ids of all that does not."""
    good = sum(verdict.outcome is Outcome.PASS for verdict in packet.verdicts)
    parts = [f"{good} pass"] if good else []
    for outcome in Outcome:
        ids = dict.fromkeys(
            verdict.requirement for verdict in packet.verdicts if verdict.outcome is outcome is not Outcome.PASS
        )
        if ids:
            parts.append(f"{outcome.value} {', '.join(ids)}")
    if packet.trouble is not None:
        parts.append(packet.trouble.text)
    return "; ".join(parts) or "nothing to judge"


def as_json(packet: JudgedPacket) -> dict[str, Any]:
    """A packet as `--json` prints it."""
    return {
        "capture": packet.capture,
        "number": packet.number,
        "time": packet.time,
        "direction": packet.direction,
        "kind": packet.kind,
        "queue": packet.queue,
        "length": packet.length,
        "trouble": packet.trouble.text if packet.trouble else None,
        "worst": packet.worst.value if packet.worst else None,
        "verdicts": [verdict.to_json() for verdict in packet.verdicts if verdict.outcome is not Outcome.PASS],
    }


def notes(result: Replay) -> list[str]:
    """A line for everything a capture held that is not a judged packet."""
    out = []
    for capture in result.captures:
        if capture.cut:
            out.append(f"{capture.path}: {capture.cut}")
        if capture.lost:
            out.append(f"{capture.path}: {capture.lost} bytes of the streams are part of no packet")
        out += [f"{capture.path}: {count} records skipped: {why}" for why, count in sorted(capture.skipped.items())]
    return out


def totals(result: Replay, seconds: float) -> dict[str, Any]:
    """The captures read, as `--json` prints them."""
    return {
        "captures": [
            {
                "path": capture.path,
                "records": capture.records,
                "packets": capture.packets,
                "selected": capture.selected,
                "lost_bytes": capture.lost,
                "skipped": dict(capture.skipped),
                "cut": capture.cut,
                "error": capture.error,
            }
            for capture in result.captures
        ],
        "seconds": round(seconds, 3),
    }


def sentence(result: Replay, code: ExitCode) -> str | None:
    """Why the exit code is not 0, where the verdicts don't say it."""
    if code is ExitCode.INTERRUPTED:
        return "The replay was interrupted; what was judged is kept."
    if result.errors:
        return " ".join(result.errors)
    if code is ExitCode.NOTHING_JUDGED:
        cuts = "".join(f" {capture.path}: {capture.cut}." for capture in result.captures if capture.cut)
        if result.packets:
            return f"Nothing was judged: none of the {result.packets} packets is meant by the filter.{cuts}"
        return f"Nothing was judged: no MSMQ packet was found in what was read.{cuts}"
    return None
