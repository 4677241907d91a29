"""`mqconform pipeline`: judge corpora of captures, put run records into a lake, and query a lake."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain, repeat
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from conformance.cli.output import begin, emit_json, fail, one_line
from conformance.cli.shared_options import AllowIncomplete, Level, Profile, alternatives, reading_set
from conformance.cli.shared_options import number as number_option
from conformance.cli.shared_options import seconds as seconds_option
from conformance.files import aside, write_text
from conformance.interrupts import SIGNALS
from conformance.pipeline.schemas import QUERY_TIMEOUT_S
from conformance.runlog.counts import counted
from conformance.verdict import ExitCode, worst_code

if TYPE_CHECKING:
    from conformance.captures.selection import NotJudged
    from conformance.pipeline.ingest import Ingested
    from conformance.pipeline.lake import Lake
    from conformance.pipeline.progress import Progress
    from conformance.pipeline.streams import How
    from conformance.report.corpus import Corpus


@contextmanager
def failing(left: str | None = None) -> Iterator[None]:
    """Report an error as one message and end the command with its exit code.

    left: how an interrupted command leaves the lake, a clause; None: nothing needs to be said of it.
    """
    from conformance.command_options import BadInput
    from conformance.pipeline.untrusted_files import PipelineError

    try:
        yield
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except PipelineError as error:
        fail(error.sentence, error.code)
    except KeyboardInterrupt:
        if left is None:
            raise
        fail(f"Interrupted; {left}.", ExitCode.INTERRUPTED)


FIRST_S = 0.8
"""Seconds after which work is long enough for a line."""
TERMINAL_S = 0.5
"""Seconds between two lines at a terminal, where each replaces the one before."""
LONGEST_S = 60.0
"""Seconds between two lines elsewhere, at most: the time between them doubles."""


def _width(stream: TextIO) -> int:
    """Return how many characters fit into a line of a terminal: a longer one would not be removed whole."""
    try:
        return max(1, os.get_terminal_size(stream.fileno()).columns - 1)
    except (OSError, ValueError):
        return 79


def _growing(first_s: float, most_s: float) -> Iterator[float]:
    """Yield the seconds between one line and the next: twice as many each time, up to the most."""
    while True:
        yield first_s
        first_s = min(2 * first_s, most_s)


@contextmanager
def _telling(say: Callable[[], None], waits: Iterable[float]) -> Iterator[None]:
    """Call a function now and then, in a thread, while the work within goes on. waits: seconds before each call."""
    over = Event()

    def tell() -> None:
        for wait_s in waits:
            if over.wait(wait_s):
                return
            say()

    teller = Thread(target=tell, name="mqconform-progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


@contextmanager
def progress_line(progress: Progress, what: str) -> Iterator[None]:
    """Show the line while the work within goes on, and where it stands at the end. what: the command."""
    stream = sys.stderr
    terminal = stream.isatty()
    said = ""

    def say() -> None:
        nonlocal said
        line = one_line(progress.line())
        if terminal:
            stream.write(f"\r\x1b[2K{line[: _width(stream)]}")
        elif line != said:
            stream.write(f"mqconform: {what}: {line}\n")
        said = line
        stream.flush()

    try:
        with _telling(say, chain((FIRST_S,), repeat(TERMINAL_S)) if terminal else _growing(FIRST_S, LONGEST_S)):
            yield
    finally:
        if said and terminal:
            stream.write("\r\x1b[2K")
            stream.flush()
        elif said:  # Work that had a line has a last one, of how far it came.
            say()


analysis_app = typer.Typer(rich_markup_mode=None)

Lakes = Annotated[str, typer.Argument(metavar="LAKE", help="The folder of the tables, or s3://...")]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master: local[N], spark://HOST:PORT, ... (default: all local cores)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Timeout = Annotated[float, seconds_option("--timeout", 0.1, 86_400, "Longest time of the queries in duckdb.")]
MANY = 64
"""Number of run records from which all cores read them: starting processes takes as long as reading some."""
_WIDE = 80
"""Characters per cell of a printed table."""


@analysis_app.command(epilog="Example: mqconform pipeline runs nightly/ reports/mine --out lake")
def runs(
    records: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders with run folders in them.")
    ],
    out: Annotated[
        str, typer.Option("--out", metavar="LAKE", help="The folder of the tables, or s3://...; made if missing.")
    ],
    master: Master = None,
    json: Json = False,
) -> None:
    """Put run records into a lake; runs that are already in it are skipped."""
    with failing():
        _require_lake()  # The modules below import what it asks for.
        from conformance.pipeline.engine import engine_of, ingest_engine
        from conformance.pipeline.records import found, ingest_runs
        from conformance.report.text import label

        paths = list(found(records))
        lake = to_add(out)
        begin("pipeline runs", "reading the records", quiet=json)
        many = master is not None or len(paths) >= MANY
        with engine_of(ingest_engine("auto", master, ())) if many else nullcontext() as workers:
            done = ingest_runs(paths, lake, workers)
    if json:
        emit_json(done.to_json())
    else:
        print(f"{counted(done.runs, 'run')}, {counted(done.verdicts, 'verdict')}")
        if done.known:
            print(f"{done.known:,} were already in the lake")
    for _, reason in done.rejected:
        print(f"mqconform: rejected: {label(reason)}", file=sys.stderr)
    sys.exit(int(done.code))


@analysis_app.command(epilog="Example: mqconform pipeline report lake --html corpus.html")
def report(
    lake: Lakes,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    timeout: Timeout = QUERY_TIMEOUT_S,
    json: Json = False,
) -> None:
    """Summarize a lake: deviations by implementation, day and queue. Needs no Spark."""
    with failing():
        _require_lake()
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.report_queries import gather
        from conformance.report.corpus_page import render_corpus, summary

        opened = Lake.open(lake)
        begin("pipeline report", "reading the lake", quiet=json)
        corpus = gather(opened, timeout)
        if html is not None:
            with _writing(html):
                write_text(html, render_corpus(corpus))
    if json:
        emit_json(summary(corpus))
    else:
        _tell_corpus(corpus)
        if html is not None:
            print(f"report: {html}")
    if not corpus.verdicts:
        fail(f"The lake {lake} holds no verdict: nothing was judged.", ExitCode.NOTHING_JUDGED)


@analysis_app.command(
    epilog="""Example: mqconform pipeline sql lake "select requirement, sum(count) from verdicts group by 1" """.strip()
)
def sql(
    lake: Lakes,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One query, in the SQL of the engine.")],
    rows: Annotated[int, number_option("--rows", 1, 1_000_000, "Largest number of rows to print.")] = 1_000,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all rows to this file: .csv, or .parquet with types.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(help="duckdb; spark; auto: spark with --master, else duckdb."),
    ] = "auto",
    timeout: Timeout = QUERY_TIMEOUT_S,
    master: Master = None,
    json: Json = False,
) -> None:
    """Query the tables of a lake: captures, packets, sessions, verdicts, rejected, runs and results."""
    if out is not None and out.suffix not in (".csv", ".parquet"):
        fail(f"Invalid name {out}: give a name that ends in .csv or .parquet.", ExitCode.BAD_INPUT)
    with failing():
        _require_lake()
        from conformance.pipeline import query as answers
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.spark_needs import check_master, require_spark

        wanted = next((one for one in answers.ENGINES if one == engine), None)
        if wanted is None:
            fail(f"Invalid --engine {engine}: give {', '.join(answers.ENGINES)}.", ExitCode.BAD_INPUT)
        check_master(master)
        if wanted == "duckdb" and master is not None:
            fail("--master is Spark's: give it with --engine spark.", ExitCode.BAD_INPUT)
        if wanted == "spark":
            require_spark()
        opened = Lake.open(lake)
        used = answers.query_engine(wanted, master)
        if used == "spark":
            begin("pipeline sql", "starting Spark", quiet=json)

        most = rows + 1 if out is None else None
        with answers.asked(opened, query, used, master, timeout, most) as answer:
            if out is not None:
                with _writing(out):
                    if out.suffix == ".parquet":
                        count = answers.write_parquet(answer, out)
                    else:
                        with aside(out) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
                            count = answers.write_csv(answer, stream)
                emit_json({"rows": count, "file": str(out)}) if json else print(f"{counted(count, 'row')}: {out}")
                return
            names, found = answer.schema.names, list(answers.rows(answer, most))
            shown = found[:rows]
            if json:
                values = [[answers.plain(value) for value in row] for row in shown]
                emit_json({"columns": names, "rows": values, "more": len(found) > rows})
            else:
                cells = [[answers.cell(value) for value in row] for row in shown]
                _print_table(names, cells, answers.numbers(answer.schema))
    if len(found) > rows and not json:
        print(f"mqconform: only the first {counted(rows, 'row')} shown; use --rows or --out for more.", file=sys.stderr)


def _require_lake() -> None:
    from conformance.pipeline.untrusted_files import require

    require("lake", "deltalake", "duckdb", "pyarrow")


def to_add(out: str) -> Lake:
    """Open the lake to which a command adds rows, or make it. Raises PipelineError."""
    from conformance.pipeline.lake import Lake

    return Lake.open(out, create=True)


def _tell_corpus(corpus: Corpus) -> None:
    from conformance.report.corpus_page import corpus_lines
    from conformance.report.text import label

    for line in corpus_lines(corpus):
        print(label(line, 200))


def _print_table(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    lines = [[_short(text) for text in row] for row in [list(names), *rows]]
    widths = [max(len(line[at]) for line in lines) for at in range(len(names))]
    for number, line in enumerate(lines):
        cells = [
            text.rjust(wide) if to else text.ljust(wide) for text, wide, to in zip(line, widths, right, strict=True)
        ]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * wide for wide in widths))


def _short(text: str) -> str:
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"


@contextmanager
def _writing(path: Path) -> Iterator[Any]:
    try:
        yield
    except OSError as error:
        fail(f"{path} cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)


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
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        help="local: processes of this machine; spark; auto: Spark with --master or for 8 GiB.",
    ),
]
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
    reading: Reading = None,
    stream: Stream = "auto",
    allow_incomplete: AllowIncomplete = False,
    engine: EngineName = "auto",
    master: Master = None,
    json: Json = False,
) -> None:
    """Judge captures into a lake; captures that are already in it are skipped."""
    with failing(LEFT):
        from conformance.pipeline.engine import check, engine_of, ingest_engine

        check(engine, master)  # The modules below import what it asks for.
        from conformance.capture.inputs import LeftOut
        from conformance.captures.selection import NotJudged
        from conformance.pipeline.ingest import files_of, ingest
        from conformance.pipeline.progress import Progress

        asked = _options(packets, sessions, profile, level, reading, stream)
        files = files_of(captures, others := LeftOut())
        lake = to_add(out)
        used = ingest_engine(engine, master, files)
        begin("pipeline ingest", used.why, quiet=json)
        with engine_of(used) as workers:
            began, progress = time.monotonic(), Progress()
            with progress_line(progress, "pipeline ingest"):
                done = ingest(lake, files, asked, workers, progress=progress)
            seconds = time.monotonic() - began
    left_out = NotJudged(others, None, None if sessions else "--no-sessions")
    _tell(done, seconds, json=json, left_out=left_out, engine=used.name)
    sys.exit(int(done.code(strict=reading_set(reading) == "strict", allow_incomplete=allow_incomplete)))


@app.command(epilog="Example: mqconform pipeline watch /var/spool/captures --out lake")
def watch(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where captures are written to.")],
    out: Out,
    packets: Packets = False,
    sessions: Sessions = True,
    profile: Profile = None,
    level: Level = "must",
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
        from conformance.pipeline.engine import check, engine_of, ingest_engine

        check(engine, master)  # The modules below import what it asks for.
        from conformance.pipeline import ingest as watching

        asked = _options(packets, sessions, profile, level, reading, stream)
        place = watching.watched(folder)
        lake = to_add(out)
        used = ingest_engine(engine, master, [])

        def told(done: Ingested) -> None:
            nonlocal code
            found = done.code(strict=reading_set(reading) == "strict", allow_incomplete=allow_incomplete)
            code = worst_code([code, found])
            _tell(done, None, json=json, engine=used.name)

        begin("pipeline watch", used.why, quiet=json)
        # Spark takes Ctrl-C for itself when it starts.
        with engine_of(used) as workers, _stopping() as ended:
            watching.watch(
                place, lake, asked, workers, settle_s=settle, every_s=every, once=once, max_files=max_files,
                on_batch=told, ended=ended, showing=lambda progress: progress_line(progress, "pipeline watch"),
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
    reading: list[str] | None,
    stream: str,
) -> How:
    from conformance.pipeline.ingest import how

    if stream not in ("auto", "file"):
        fail(f"Invalid --stream {stream}: give auto or file.", ExitCode.BAD_INPUT)
    return how(
        profile,
        level,
        reading_set(reading) or "windows",
        alternatives(reading),
        packets=packets,
        stream="file" if stream == "file" else "auto",
        sessions=sessions,
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
        f"{counted(done.captures, 'capture')} of {counted(done.streams, 'stream')}: "
        f"{counted(done.records, 'record')}, {counted(done.packets, 'packet')}{speed}"
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
