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
from conformance.cli.bounds import seconds as seconds_option
from conformance.cli.output import emit_json, fail
from conformance.cli.pipeline_failing import failing
from conformance.cli.waiting import begin
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.pipeline.engine import Engine
    from conformance.pipeline.lake import Lake
    from conformance.report.corpus import Corpus

app = typer.Typer(rich_markup_mode=None)

Lakes = Annotated[str, typer.Argument(metavar="LAKE", help="The folder of the tables, or s3://...")]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master: local[N], spark://HOST:PORT, ... (default: all local cores)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
MANY = 64
"""Number of run records from which all cores read them: starting processes takes as long as reading some."""
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
    master: Master = None,
    json: Json = False,
) -> None:
    """Put run records into a lake; runs that are already in it are skipped."""
    with failing():
        from conformance.pipeline.footers import require_arrow

        require_arrow()  # The modules below import what it asks for.
        from conformance.pipeline.records import found, ingest_runs
        from conformance.report.text import label

        paths = list(found(records))
        lake = to_add(out)
        begin("pipeline runs", "reading the records", quiet=json)
        with _readers(master, len(paths)) as workers:
            done = ingest_runs(paths, lake, workers)
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
    with failing():
        from conformance.pipeline.footers import require_arrow

        require_arrow()
        from conformance.pipeline import footers
        from conformance.pipeline.lake import Lake, damaged
        from conformance.pipeline.report_queries import gather
        from conformance.pipeline.untrusted_files import UnfitError, memory
        from conformance.report.corpus_page import render_corpus, summary

        opened = Lake.open(lake)
        footers.located(opened)  # Report a damaged lake first.
        begin("pipeline report", "reading the lake", quiet=json)
        try:
            with memory(1 << 30):
                corpus = gather(opened)
        except UnfitError as problem:
            raise damaged(opened.place, problem) from None
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
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One query, in the SQL of the engine.")],
    rows: Annotated[int, number_option("--rows", 1, 1_000_000, "Largest number of rows to print.")] = 1_000,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all rows to this file: .csv, or .parquet with types.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(help="duckdb; spark; auto: duckdb up to 4 GiB of tables, in a store or without Java, else spark."),
    ] = "auto",
    timeout: Annotated[float, seconds_option("--timeout", 0.1, 86_400, "Longest time of a query in duckdb.")] = 600.0,
    master: Master = None,
    json: Json = False,
) -> None:
    """Query the tables of a lake: captures, packets, sessions, verdicts, rejected, runs and results."""
    if out is not None and out.suffix not in (".csv", ".parquet"):
        fail(f"Invalid name {out}: give a name that ends in .csv or .parquet.", ExitCode.BAD_INPUT)
    with failing():
        from conformance.pipeline.footers import require_arrow

        require_arrow()
        from conformance.pipeline import footers
        from conformance.pipeline import query as answers
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.spark import check_master, require_spark

        wanted = next((one for one in answers.ENGINES if one == engine), None)
        if wanted is None:
            fail(f"Invalid --engine {engine}: give {', '.join(answers.ENGINES)}.", ExitCode.BAD_INPUT)
        check_master(master)
        if wanted == "duckdb" and master is not None:
            fail("--master is Spark's: give it with --engine spark.", ExitCode.BAD_INPUT)
        if wanted == "spark":
            require_spark()
        opened = Lake.open(lake)
        footers.located(opened)  # Report a damaged lake before anything starts.
        used = answers.chosen(wanted, opened, master)
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
                emit_json({"rows": count, "file": str(out)}) if json else print(f"{count:,} rows: {out}")
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
        print(f"mqconform: only the first {rows:,} rows are shown; use --rows or --out for more.", file=sys.stderr)


def to_add(out: str) -> Lake:
    """Open the lake to which a command adds rows, or make it. Raises PipelineError."""
    from conformance.pipeline.lake import Lake

    return Lake.open(out, create=True)


@contextmanager
def _readers(master: str | None, records: int) -> Iterator[Engine | None]:
    """Choose who reads the records: Spark if a master is named; processes of this machine if there are many."""
    from conformance.pipeline.engine import Local, Spark

    if master is None:
        here = Local.all() if records >= MANY else None
        try:
            yield here
        finally:
            if here is not None:
                here.end()
        return
    from conformance.pipeline.spark import session

    with session(master) as spark:
        yield Spark(spark)


def _tell(corpus: Corpus) -> None:
    from conformance.report.corpus_page import told
    from conformance.report.text import label

    for line in told(corpus):
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
