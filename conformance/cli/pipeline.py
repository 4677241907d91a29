"""`mqconform pipeline ingest` and `watch`: judge corpora of captures on Spark."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.bounds import number as number_option
from conformance.cli.bounds import seconds as seconds_option
from conformance.cli.output import emit_json, fail
from conformance.cli.pipeline_analysis import app as analysis_app
from conformance.cli.pipeline_analysis import to_add
from conformance.cli.pipeline_failing import failing
from conformance.cli.pipeline_progress import shown
from conformance.cli.shared_options import AllowIncomplete, Level, Profile, Readings
from conformance.cli.waiting import begin
from conformance.interrupts import SIGNALS
from conformance.verdict import ExitCode, worst_code

if TYPE_CHECKING:
    from conformance.captures.selection import NotJudged
    from conformance.pipeline.ingest import Ingested, Options

LEFT = "what was not finished is not in the lake"
"""How an interrupted command leaves the lake."""
app = typer.Typer(
    help="Judge corpora of captures on Spark, and keep captures and runs as tables.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(analysis_app)

Out = Annotated[
    str, typer.Option("--out", metavar="LAKE", help="The folder of the tables, or s3://...; made if missing.")
]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master: local[N], spark://HOST:PORT, ... (default: all local cores)."),
]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        help="local: processes of this machine; spark; auto: Spark with --master or for 8 GiB.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Reading = Annotated[
    list[str] | None,
    typer.Option("--reading", metavar="ID=ALTERNATIVE", help="Accept only this alternative (or several, as a|b)."),
]
Packets = Annotated[
    bool, typer.Option("--packets", help="Write a row for every packet, not only for those that deviate.")
]
Sessions = Annotated[
    bool,
    typer.Option(
        "--sessions/--no-sessions",
        help="Judge connections too, or only packets, which is much faster with compiled code.",
    ),
]
Stream = Annotated[
    str, typer.Option(help="auto: the files of a rotated set are one capture; file: each file is its own capture.")
]


@app.command(epilog="Example: mqconform pipeline ingest /var/captures 'more/*.pcap.gz' --out lake")
def ingest(
    captures: Annotated[
        list[str],
        typer.Argument(metavar="CAPTURE...", help="Files, folders of them or patterns; also s3://..., abfss://..."),
    ],
    out: Out,
    packets: Packets = False,
    sessions: Sessions = True,
    profile: Profile = None,
    level: Level = "must",
    readings: Readings = "windows",
    reading: Reading = None,
    stream: Stream = "auto",
    allow_incomplete: AllowIncomplete = False,
    engine: EngineName = "auto",
    master: Master = None,
    json: Json = False,
) -> None:
    """Judge captures into a lake; captures that are already in it are skipped."""
    with failing(LEFT):
        from conformance.pipeline.engine import check, chosen, engine_of

        check(engine, master)  # The modules below import what it asks for.
        from conformance.capture.inputs import LeftOut
        from conformance.captures.selection import NotJudged
        from conformance.pipeline.ingest import files_of, how, ingest
        from conformance.pipeline.progress import Progress

        asked = _options(packets, sessions, profile, level, readings, reading, stream)
        how(asked, "")
        files = files_of(captures, others := LeftOut())
        lake = to_add(out)
        used = chosen(engine, master, files)
        begin("pipeline ingest", used.why, quiet=json)
        with engine_of(used) as workers:
            began, progress = time.monotonic(), Progress()
            with shown(progress, "pipeline ingest"):
                done = ingest(lake, files, asked, workers, progress=progress)
            seconds = time.monotonic() - began
    left_out = NotJudged(others, None, None if sessions else "--no-sessions")
    _tell(done, seconds, json=json, left_out=left_out, engine=used.name)
    sys.exit(int(done.code(strict=readings == "strict", allow_incomplete=allow_incomplete)))


@app.command(epilog="Example: mqconform pipeline watch /var/spool/captures --out lake")
def watch(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where captures are written to.")],
    out: Out,
    packets: Packets = False,
    sessions: Sessions = True,
    profile: Profile = None,
    level: Level = "must",
    readings: Readings = "windows",
    reading: Reading = None,
    stream: Stream = "auto",
    settle: Annotated[
        float, seconds_option("--settle", 0, 86_400, "How long the newest file of a set must be unchanged.")
    ] = 60.0,
    every: Annotated[float, seconds_option("--every", 0.1, 86_400, "How often to look at the folder.")] = 10.0,
    max_files: Annotated[
        int, number_option("--max-files", 1, 100_000, "How many files one batch takes, the oldest first.")
    ] = 1_000,
    once: Annotated[bool, typer.Option("--once", help="Ingest the finished captures, and end.")] = False,
    allow_incomplete: AllowIncomplete = False,
    engine: EngineName = "auto",
    master: Master = None,
    json: Json = False,
) -> None:
    """Ingest rotating captures when they are finished, each exactly once, until Ctrl-C."""
    code = ExitCode.CONFORMS
    stopped = False
    with failing(LEFT):
        from conformance.pipeline.engine import check, chosen, engine_of

        check(engine, master)  # The modules below import what it asks for.
        from conformance.pipeline import ingest as watching
        from conformance.pipeline.ingest import how

        asked = _options(packets, sessions, profile, level, readings, reading, stream)
        how(asked, "")
        folder = watching.watched(folder)
        lake = to_add(out)
        used = chosen(engine, master, [])

        def told(done: Ingested) -> None:
            nonlocal code
            found = done.code(strict=readings == "strict", allow_incomplete=allow_incomplete)
            code = worst_code([code, found])
            _tell(done, None, json=json, engine=used.name)

        begin("pipeline watch", used.why, quiet=json)
        # Spark takes Ctrl-C for itself when it starts.
        with engine_of(used) as workers, _stopping() as ended:
            watching.watch(
                folder, lake, asked, workers, settle_s=settle, every_s=every, once=once, max_files=max_files,
                on_batch=told, ended=ended, showing=lambda progress: shown(progress, "pipeline watch"),
            )  # fmt: skip
            stopped = ended()
    if stopped:
        print("mqconform: stopped watching; what was finished is in the lake.", file=sys.stderr)
    sys.exit(int(code))


def _options(
    packets: bool,
    sessions: bool,
    profile: str | None,
    level: str,
    readings: str,
    reading: list[str] | None,
    stream: str,
) -> Options:
    from conformance.pipeline.ingest import Options

    if stream not in ("auto", "file"):
        fail(f"Invalid --stream {stream}: give auto or file.", ExitCode.BAD_INPUT)
    return Options(
        profile,
        level,
        readings,
        reading or (),
        packets,
        "file" if stream == "file" else "auto",
        sessions,
    )


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Make the first Ctrl-C, SIGTERM or SIGHUP stop a watch; the second acts as usual. Yields: was a stop requested?"""
    asked: list[int] = []

    def on_signal(number: int, frame: object) -> None:
        asked.append(number)
        as_before()

    def as_before() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, on_signal)
    try:
        yield lambda: bool(asked)
    finally:
        as_before()


def _tell(done: Ingested, seconds: float | None, *, json: bool, engine: str, left_out: NotJudged | None = None) -> None:
    from conformance.pipeline.work import DIED

    if json:
        emit_json(
            {**_json(done, seconds), "engine": engine, **({} if left_out is None else {"left_out": left_out.to_json()})}
        )
        return
    speed = f" in {seconds:.1f} s ({done.packets / max(seconds, 1e-3):,.0f} packets/s)" if seconds else ""
    print(
        f"{done.captures} captures of {done.streams} streams: {done.records:,} records, {done.packets:,} packets{speed}"
    )
    if done.known:
        print(f"{done.known} were already in the lake")
    for one in done.rejected:
        whole = one.defect is None or one.defect.error == DIED
        print(f"{'rejected' if whole else 'judged in part'}: {one.error}")
    for line in left_out.lines() if left_out is not None else ():
        print(line)
    if done.incomplete:
        print(done.incomplete.sentence)
    if done.outcomes:
        print("verdicts: " + ", ".join(f"{count:,} {outcome.value}" for outcome, count in done.outcomes.items()))
    sys.stdout.flush()  # A watch reports its work at once.


def _json(done: Ingested, seconds: float | None) -> dict[str, Any]:
    return {
        "batch": done.batch,
        "captures": done.captures,
        "known": done.known,
        "streams": done.streams,
        "records": done.records,
        "packets": done.packets,
        "bytes": done.bytes,
        "outcomes": {outcome.value: count for outcome, count in done.outcomes.items()},
        "incomplete": done.incomplete.to_json() if done.incomplete else None,
        "rejected": [
            {"path": one.path, "reason": one.error, "defect": None if one.defect is None else one.defect.to_json()}
            for one in done.rejected
        ],
        "seconds": None if seconds is None else round(seconds, 3),
    }
