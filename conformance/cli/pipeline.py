"""`mqconform pipeline`: corpora on Spark."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.analysis import app as analysis_app
from conformance.cli.output import emit_json, fail
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.pipeline.ingest import Ingested, Options

app = typer.Typer(
    help="Corpora of captures and runs as tables, judged on Spark.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(analysis_app)

Out = Annotated[
    Path, typer.Option("--out", metavar="LAKE", help="The folder of the tables; made when it is not there.")
]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master: local[N], spark://HOST:PORT, ... (default: all cores here)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Profile = Annotated[str | None, typer.Option(help="MSMQ version: msmq-1.0 to msmq-6.0 (default msmq-4.0).")]
Level = Annotated[str, typer.Option(help="must, should or may: what is weaker only warns.")]
Readings = Annotated[str, typer.Option(help="How disputed text is read: windows, strict or permissive.")]
Reading = Annotated[
    list[str] | None,
    typer.Option("--reading", metavar="ID=ALTERNATIVE", help="Accept this alternative alone (or either, as a|b)."),
]
Packets = Annotated[bool, typer.Option("--packets", help="A row for every packet, not only for those that deviate.")]
Sessions = Annotated[
    bool,
    typer.Option(
        "--sessions/--no-sessions",
        help="Judge connections too, or packets alone, which compiled code does much faster.",
    ),
]
Stream = Annotated[
    str, typer.Option(help="auto: the files of a rotated set are one capture; file: each is one by itself.")
]


@app.command(epilog="Example: mqconform pipeline ingest /var/captures 'more/*.pcap.gz' --out lake")
def ingest(
    captures: Annotated[list[str], typer.Argument(metavar="CAPTURE...", help="Files, folders of them or patterns.")],
    out: Out,
    packets: Packets = False,
    sessions: Sessions = True,
    profile: Profile = None,
    level: Level = "must",
    readings: Readings = "windows",
    reading: Reading = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="Largest byte range of a pcap file: 64M (default: by the cores)."),
    ] = None,
    stream: Stream = "auto",
    master: Master = None,
    json: Json = False,
) -> None:
    """Judge captures into a lake; what is in it already is left alone."""
    asked = _options(packets, sessions, profile, level, readings, reading, split, stream)
    with _failing():
        from conformance.pipeline.ingest import files_of, how, ingest
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.spark import SparkWorkers, require_spark, session

        require_spark()
        how(asked, "")
        files = files_of(captures)
        lake = Lake.open(out, create=True)
        with session(master) as spark:
            began = time.monotonic()
            done = ingest(lake, files, asked, SparkWorkers(spark))
            seconds = time.monotonic() - began
    _tell(done, seconds, json=json)
    sys.exit(int(done.code(strict=readings == "strict")))


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
        float, typer.Option(min=0, help="Seconds for which the newest file of a set must be left alone.")
    ] = 60.0,
    every: Annotated[float, typer.Option(min=0.1, help="Look at the folder this often, in seconds.")] = 10.0,
    once: Annotated[bool, typer.Option("--once", help="Ingest what is finished now, and end.")] = False,
    master: Master = None,
    json: Json = False,
) -> None:
    """Ingest rotating captures as they are finished, each exactly once, until Ctrl-C."""
    asked = _options(packets, sessions, profile, level, readings, reading, None, stream)
    code = ExitCode.CONFORMS
    stopped = False
    with _failing():
        from conformance.pipeline import watch as watching
        from conformance.pipeline.ingest import how
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.spark import require_spark, session

        require_spark()
        how(asked, "")
        lake = Lake.open(out, create=True)

        def told(done: Ingested) -> None:
            nonlocal code
            code = max(code, done.code(strict=readings == "strict"), key=_ORDER.index)
            _tell(done, None, json=json)

        with session(master) as spark, _stopping() as ended:  # Spark takes Ctrl-C for itself when it starts.
            watching.watch(
                spark, folder, lake, asked, settle_s=settle, every_s=every, once=once, on_batch=told, ended=ended
            )
            stopped = ended()
    if stopped:
        print("mqconform: stopped watching; what was finished is in the lake.", file=sys.stderr)
    sys.exit(int(code))


_ORDER = [ExitCode.CONFORMS, ExitCode.NOTHING_JUDGED, ExitCode.BAD_INPUT, ExitCode.DEVIATES]
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _options(
    packets: bool,
    sessions: bool,
    profile: str | None,
    level: str,
    readings: str,
    reading: list[str] | None,
    split: str | None,
    stream: str,
) -> Options:
    from conformance.pipeline.ingest import Options

    if stream not in ("auto", "file"):
        fail(f"--stream {stream} is neither auto nor file.", ExitCode.BAD_INPUT)
    return Options(
        profile,
        level,
        readings,
        reading or (),
        packets,
        _bytes(split),
        "file" if stream == "file" else "auto",
        sessions,
    )


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in _UNITS and text[-1:] else (text, "")
    if not (number.isascii() and number.isdigit()) or len(number) > 15:
        fail(f"--split {text} is no number of bytes; write 64M for example.", ExitCode.BAD_INPUT)
    return int(number) * _UNITS[unit]


@contextmanager
def _failing() -> Iterator[None]:
    """A mistake, or something that is missing: one sentence and its exit code."""
    from conformance.asking import BadInput
    from conformance.pipeline.errors import PipelineError

    try:
        yield
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except PipelineError as error:
        fail(error.sentence, error.code)
    except KeyboardInterrupt:
        fail("Interrupted; what was not finished is not in the lake.", ExitCode.INTERRUPTED)


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C or SIGTERM asks a watch to stop; the second is as usual. Gives whether it was asked."""
    asked: list[int] = []

    def on_signal(number: int, frame: object) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    before = [signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)


def _tell(done: Ingested, seconds: float | None, *, json: bool) -> None:
    if json:
        emit_json(_json(done, seconds))
        return
    speed = f" in {seconds:.1f} s ({done.packets / max(seconds, 1e-3):,.0f} packets/s)" if seconds else ""
    print(
        f"{done.captures} captures of {done.streams} streams: {done.records:,} records, {done.packets:,} packets{speed}"
    )
    if done.known:
        print(f"{done.known} were in the lake already")
    for one in done.rejected:
        print(f"rejected: {one.error}")
    if done.outcomes:
        print("verdicts: " + ", ".join(f"{count:,} {outcome.value}" for outcome, count in done.outcomes.items()))
    sys.stdout.flush()  # A watch says what it did when it did it.


def _json(done: Ingested, seconds: float | None) -> dict[str, Any]:
    return {
        "version": done.version,
        "captures": done.captures,
        "known": done.known,
        "streams": done.streams,
        "ranges": done.ranges,
        "records": done.records,
        "packets": done.packets,
        "bytes": done.bytes,
        "outcomes": {outcome.value: count for outcome, count in done.outcomes.items()},
        "rejected": [{"path": one.path, "reason": one.error} for one in done.rejected],
        "seconds": None if seconds is None else round(seconds, 3),
    }
