"""`mqconform pipeline runs`, `report` and `sql`: put run records into a lake, and query a lake."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.aside import aside, write_text
from conformance.cli.bounds import number as number_option
from conformance.cli.output import emit_json, fail
from conformance.cli.waiting import begin
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.pipeline.corpus import Corpus
    from conformance.pipeline.lake import Format
    from conformance.pipeline.work import Workers

app = typer.Typer(rich_markup_mode=None)

Lakes = Annotated[str, typer.Argument(metavar="LAKE", help="The folder of the tables, or s3://...")]
TableFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Of a new lake: delta (Delta tables), iceberg (Iceberg tables) or folder (Parquet files and a log of their own).",
        show_default="delta",
    ),
]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master: local[N], spark://HOST:PORT, ... (default: all local cores)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
MANY = 64
"""Number of run records from which Spark reads them: starting it takes as long as reading some dozens."""
_WIDE = 80
"""Characters per cell of a printed table."""


@app.command(epilog="Example: mqconform pipeline runs nightly/ reports/mine --out lake")
def runs(
    records: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders with run folders in them.")
    ],
    out: Annotated[
        str, typer.Option("--out", metavar="LAKE", help="The folder of the tables, or s3://...; made if missing.")
    ],
    format: TableFormat = None,
    master: Master = None,
    json: Json = False,
) -> None:
    """Put run records into a lake; runs that are already in it are skipped."""
    with _failing():
        from conformance.pipeline.scan import require_arrow

        require_arrow()  # The modules below import what it asks for.
        from conformance.pipeline import footers
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.records import found, ingest_runs
        from conformance.report.text import label

        paths = list(found(records))
        lake = Lake.open(out, create=True, format=in_format(format))
        footers.located(lake)  # Nothing is added to what is damaged.
        begin("pipeline runs", "reading the records", quiet=json)
        with _readers(master, len(paths)) as workers:
            done = ingest_runs(paths, lake, workers=workers)
    if json:
        emit_json(done.to_json())
    else:
        print(f"{done.runs:,} run{'' if done.runs == 1 else 's'}, {done.verdicts:,} verdicts")
        if done.known:
            print(f"{done.known:,} were already in the lake")
    for _, reason in done.rejected:
        print(f"mqconform: rejected: {label(reason)}", file=sys.stderr)
    sys.exit(int(done.code))


@app.command(epilog="Example: mqconform pipeline report lake --html corpus.html")
def report(
    lake: Lakes,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json: Json = False,
) -> None:
    """Summarize a lake: deviations by implementation, day and queue. Needs no Spark."""
    with _failing():
        from conformance.pipeline.scan import require_arrow

        require_arrow()
        from conformance.pipeline import footers
        from conformance.pipeline.gather import gather
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.page import render_corpus, summary

        opened = Lake.open(lake)
        footers.located(opened)  # Report a damaged lake first.
        begin("pipeline report", "reading the lake", quiet=json)
        corpus = gather(opened)
        if html is not None:
            with _writing(html):
                write_text(html, render_corpus(corpus))
    if json:
        emit_json(summary(corpus))
    else:
        _tell(corpus)
        if html is not None:
            print(f"report: {html}")
    if not corpus.verdicts:
        fail(f"The lake {lake} holds no verdict: nothing was judged.", ExitCode.NOTHING_JUDGED)


@app.command(
    epilog="""Example: mqconform pipeline sql lake "select requirement, sum(count) from verdicts group by 1" """.strip()
)
def sql(
    lake: Lakes,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One query in Spark SQL.")],
    rows: Annotated[int, number_option("--rows", 1, 1_000_000, "Largest number of rows to print.")] = 1_000,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all rows to this file: .csv, or .parquet with types.")
    ] = None,
    master: Master = None,
    json: Json = False,
) -> None:
    """Query the tables of a lake: captures, packets, sessions, verdicts, rejected, runs and results."""
    if out is not None and out.suffix not in (".csv", ".parquet"):
        fail(f"Invalid name {out}: give a name that ends in .csv or .parquet.", ExitCode.BAD_INPUT)
    with _failing():
        from conformance.pipeline import footers, views
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.spark import check_master, require_spark, session

        require_spark()
        check_master(master)
        opened = Lake.open(lake)
        footers.located(opened)  # Report a damaged lake before Spark starts.
        begin("pipeline sql", "starting Spark", quiet=json)
        with session(master, queries=True) as spark:
            views.open_views(spark, opened)
            frame = views.ask(spark, query)
            if out is not None:
                with _writing(out):
                    if out.suffix == ".parquet":
                        count = views.write_parquet(frame, out)
                    else:
                        with aside(out) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
                            count = views.write_csv(frame.columns, views.rows(frame), stream)
                emit_json({"rows": count, "file": str(out)}) if json else print(f"{count:,} rows: {out}")
                return
            found = list(views.rows(frame, rows + 1))
            names = list(frame.columns)
            shown = found[:rows]
            if json:
                values = [[views.plain(value) for value in row] for row in shown]
                emit_json({"columns": names, "rows": values, "more": len(found) > rows})
            else:
                _print_table(names, [[views.cell(value) for value in row] for row in shown], frame.dtypes)
    if len(found) > rows and not json:
        print(f"mqconform: only the first {rows:,} rows are shown; use --rows or --out for more.", file=sys.stderr)


def in_format(name: str | None) -> Format:
    """Return the format of a new lake that a user has named. Raises PipelineError."""
    from conformance.pipeline.errors import PipelineError

    formats: dict[str | None, Format] = {None: "delta", "delta": "delta", "iceberg": "iceberg", "folder": "folder"}
    if name in formats:
        return formats[name]
    raise PipelineError(f"Invalid --format {name}: give delta, iceberg or folder.")


@contextmanager
def _readers(master: str | None, records: int) -> Iterator[Workers | None]:
    """Choose who reads the records: Spark if requested or if there are many; this process if Spark is missing."""
    from conformance.pipeline.errors import PipelineError
    from conformance.pipeline.spark import SparkWorkers, find_java, require_spark, session

    if master is None and records >= MANY:
        try:
            require_spark()
            find_java()
        except PipelineError as error:
            print(f"mqconform: the records are read one by one, without Spark: {error.sentence}", file=sys.stderr)
            records = 0
    if master is None and records < MANY:
        yield None
        return
    with session(master) as spark:
        yield SparkWorkers(spark)


def _tell(corpus: Corpus) -> None:
    from conformance.pipeline.page import told
    from conformance.report.text import label

    for line in told(corpus):
        print(label(line, 200))


def _print_table(names: Sequence[str], rows: Sequence[Sequence[str]], types: Sequence[tuple[str, str]]) -> None:
    lines = [[_short(text) for text in row] for row in [list(names), *rows]]
    widths = [max(len(line[at]) for line in lines) for at in range(len(names))]
    right = [kind in ("int", "bigint", "double", "float") or kind.startswith("decimal") for _, kind in types]
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
def _failing() -> Iterator[None]:
    """Report an error as one message and end the command with its exit code."""
    from conformance.pipeline.errors import PipelineError

    try:
        yield
    except PipelineError as error:
        fail(error.sentence, error.code)


@contextmanager
def _writing(path: Path) -> Iterator[Any]:
    try:
        yield
    except OSError as error:
        fail(f"{path} cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)
