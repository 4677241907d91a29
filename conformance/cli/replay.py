"""`mqconform replay`."""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.cli.output import console, fail, progress_bar
from conformance.verdict import ExitCode, Outcome

if TYPE_CHECKING:
    from conformance.replay import JudgedPacket, Replay

MAX_JSON_PACKETS = 10_000  # the run record has all of them
_COLOURS = {Outcome.FAIL: "31", Outcome.WARN: "33", Outcome.READING: "33", Outcome.INCONCLUSIVE: "33"}


def command(
    captures: list[Path],
    *,
    profile: str | None,
    level: str,
    readings: str,
    chosen: Sequence[str],
    out: Path | None,
    json: bool,
) -> None:
    """Judge captures, print a line a packet and the summary, end with the exit code."""
    from conformance.replay import replay
    from conformance.run import BadInput, check_chosen, check_words, prepare_folder
    from conformance.runlog import Header, RunWriter, read_run
    from conformance.spec.catalogue import assignment
    from conformance.spec.versions import DEFAULT_PROFILE

    try:
        check_words(profile=profile, level=level, readings=readings)
        accepted = assignment(readings, check_chosen(chosen))
        folder = prepare_folder(out, kind="replay")
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    target = console()
    colour = target.is_terminal and not target.no_color
    shown: list[dict[str, Any]] = []
    with RunWriter(folder) as writer, progress_bar("replay", quiet=not sys.stderr.isatty()) as bar:
        writer.header(
            Header(
                run_id=uuid.uuid4().hex,
                command=tuple(sys.argv[1:]),
                profile=profile or DEFAULT_PROFILE,
                level=level,
                reading_set=readings,
                readings=accepted,
                captures=tuple(map(str, captures)),
            )
        )

        def on_packet(packet: JudgedPacket) -> None:
            writer.packet(packet.line())
            if not json:
                print(line(packet, colour=colour))
            elif len(shown) < MAX_JSON_PACKETS:
                shown.append(as_json(packet))

        started = time.monotonic()
        result = replay(
            captures,
            profile=profile or DEFAULT_PROFILE,
            readings=accepted,
            level=level,
            on_packet=on_packet,
            on_progress=lambda path, done, total: bar(done, total, Path(path).name),
            on_verdict=lambda capture, verdict: writer.verdict(verdict, suite="replay", test=capture),
        )
        result.record_rest(writer)
        writer.footer("interrupted" if result.interrupted else "completed")
    code = result.exit_code(strict=readings == "strict")
    from conformance.cli.run import finish

    extra = {**totals(result, time.monotonic() - started), "packets": shown} if json else {}
    if not json:
        for text in notes(result):
            print(text)
    finish(read_run(folder), folder, code, sentence(result, code), json=json, extra=extra)


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
        return f"Nothing was judged: no MSMQ packet was found in what was read.{cuts}"
    return None
