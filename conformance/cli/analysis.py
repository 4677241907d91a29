"""`mqconform pipeline runs`, `report` and `sql`: run records into a lake, and what a lake says."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.output import emit_json, fail
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.pipeline.corpus import Corpus
    from conformance.pipeline.work import Workers

app = typer.Typer(rich_markup_mode=None)

Lakes = Annotated[Path, typer.Argument(metavar="LAKE", help="The folder of the tables.")]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master: local[N], spark://HOST:PORT, ... (default: all cores here)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
MANY = 64
"""Run records from which on Spark reads them: starting it takes as long as reading some dozens."""
_WIDE = 80
"""Characters of one cell of a table that is printed."""


@app.command(epilog="Example: mqconform pipeline runs nightly/ reports/mine --out lake")
def runs(
    records: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders with run folders in them.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="LAKE", help="The folder of the tables; made when it is not there.")
    ],
    master: Master = None,
    json: Json = False,
) -> None:
    """Put run records into a lake; what is in it already is left alone."""
    with _failing():
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.records import found, ingest_runs
        from conformance.pipeline.scan import require_arrow
        from conformance.report.text import label

        require_arrow()
        paths = list(found(records))
        lake = Lake.open(out, create=True)
        with _readers(master, len(paths)) as workers:
            done = ingest_runs(paths, lake, workers=workers)
    if json:
        emit_json(done.to_json())
    else:
        print(f"{done.runs:,} run{'' if done.runs == 1 else 's'}, {done.verdicts:,} verdicts")
        if done.known:
            print(f"{done.known:,} were in the lake already")
    for _, reason in done.rejected:
        print(f"mqconform: rejected: {label(reason)}", file=sys.stderr)
    sys.exit(int(ExitCode.BAD_INPUT if done.rejected else ExitCode.CONFORMS))


@app.command(epilog="Example: mqconform pipeline report lake --html corpus.html")
def report(
    lake: Lakes,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json: Json = False,
) -> None:
    """What changed, by whom, on which day and to which queues; needs no Spark."""
    with _failing():
        from conformance.pipeline.gather import gather
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.page import render_corpus, summary

        corpus = gather(Lake.open(lake))
        if html is not None:
            with _writing(html):
                html.write_text(render_corpus(corpus), encoding="utf-8")
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
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One query, as Spark SQL has it.")],
    rows: Annotated[int, typer.Option(min=1, max=1_000_000, help="Most rows printed.")] = 1_000,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all rows here: .csv, or .parquet with their types.")
    ] = None,
    master: Master = None,
    json: Json = False,
) -> None:
    """Ask the tables of a lake: captures, packets, sessions, verdicts, rejected, runs and results."""
    if out is not None and out.suffix not in (".csv", ".parquet"):
        fail(f"{out} is neither .csv nor .parquet: the name says how the rows are written.", ExitCode.BAD_INPUT)
    with _failing():
        from conformance.pipeline import views
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.spark import session

        opened = Lake.open(lake)
        with session(master) as spark:
            views.open_views(spark, opened)
            frame = views.ask(spark, query)
            if out is not None:
                with _writing(out):
                    if out.suffix == ".parquet":
                        count = views.write_parquet(frame, out)
                    else:
                        with out.open("w", encoding="utf-8", newline="") as stream:
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
        print(f"mqconform: only the first {rows:,} rows; --rows or --out takes more.", file=sys.stderr)


@contextmanager
def _readers(master: str | None, records: int) -> Iterator[Workers | None]:
    """Who reads the records: Spark where it was asked for or there are many, and this process where it is missing."""
    from conformance.pipeline.errors import PipelineError
    from conformance.pipeline.spark import SparkWorkers, find_java, require_spark, session

    if master is None and records >= MANY:
        try:
            require_spark()
            find_java()
        except PipelineError as error:
            print(f"mqconform: the records are read one after the other: {error.sentence}", file=sys.stderr)
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
    """A mistake, or something that is missing: one sentence and its exit code."""
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
