"""Commands on a run record: `mqconform judge`, `repro` and `diagnose`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from conformance.cli.output import console, emit_json, fail, json_wanted, progress_bar
from conformance.cli.shared_options import AllowIncomplete, alternatives, reading_set
from conformance.files import write_text
from conformance.report.text import label
from conformance.runlog.counts import counted
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.rejudge import Rejudged
    from conformance.repro import Answer

MAX_TOLD = 40

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Example: mqconform judge out --reading strict --out judged")
def judge(
    record: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")],
    profile: Annotated[str | None, typer.Option(help="MSMQ version (default: the run's own).")] = None,
    level: Annotated[str | None, typer.Option(help="must, should or may (default: the run's own).")] = None,
    reading: Annotated[
        list[str] | None,
        typer.Option(
            "--reading",
            metavar="SET|ID=ALTERNATIVE",
            help="windows, strict or permissive (default: the run's own), or alternatives (a|b) of a reading.",
        ),
    ] = None,
    allow_incomplete: AllowIncomplete = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the new run record and the report.")] = None,
) -> None:
    """Judge the data stored by a run again, by today's rules or other readings, without the implementation."""
    from conformance.api import BadInput, judge_again
    from conformance.cli.run import finish

    try:
        with progress_bar("judge", quiet=not sys.stderr.isatty()) as show:
            show(0, 1, "reading the record")
            found = judge_again(
                record,
                profile=profile,
                level=level,
                readings=reading_set(reading),
                chosen=alternatives(reading),
                allow_incomplete=allow_incomplete,
                out=out,
                on_progress=show,
            )
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if not json_wanted():
        for line in result_lines(found):
            print(line)
    finish(found.record, found.folder, found.exit_code, found.sentence, extra={"judged_again": _json(found)})


def result_lines(found: Rejudged) -> list[str]:
    """Return the lines of the result: changes, and what could not be judged again."""
    from conformance.report.table import UNSEALED
    from conformance.report.text import label

    lines = [] if found.sealed else [UNSEALED]
    lines += [f"{found.again} judged again; requirements with another outcome: {len(found.changes):,}"]
    for change in found.changes[:MAX_TOLD]:
        was, now = (each.value if each is not None else "nothing" for each in (change.before, change.now))
        lines.append(f"  {label(change.requirement)}: {was} -> {now}")
    if len(found.changes) > MAX_TOLD:
        lines.append(f"  and {len(found.changes) - MAX_TOLD} more")
    lines += [f"not stored: {label(why)}" + (f" ({count} times)" if count > 1 else "") for why, count in _few(found)]
    for what, names in (
        ("stands as recorded, its example is not stored", found.standing),
        (
            "stands as recorded, nothing of it is stored"
            if found.as_before
            else "not known any more, no example of it is stored",
            found.lost,
        ),
    ):
        if names:
            more = f" and {len(names) - MAX_TOLD} more" if len(names) > MAX_TOLD else ""
            lines.append(f"{what}: {', '.join(map(label, names[:MAX_TOLD]))}{more}")
    return lines


def _few(found: Rejudged) -> list[tuple[str, int]]:
    return sorted(found.left_out.items(), key=lambda each: -each[1])[:MAX_TOLD]


def _json(found: Rejudged) -> dict[str, Any]:
    return {
        "again": found.again,
        "changes": [
            {
                "requirement": each.requirement,
                "before": each.before.value if each.before else None,
                "now": each.now.value if each.now else None,
            }
            for each in found.changes
        ],
        "standing": list(found.standing),
        "lost": list(found.lost),
        "left_out": dict(found.left_out),
        "sealed": found.sealed,
        "as_before": found.as_before,
    }


# Worst first: the exit code of the command is the worst of all files.
_ORDER = (ExitCode.DEVIATES, ExitCode.UNUSABLE, ExitCode.BAD_INPUT, ExitCode.NOTHING_JUDGED, ExitCode.CONFORMS)


def command(path: Path, *, adapter: str | None, deadline_ms: int, chosen: Sequence[str]) -> None:
    """Run repro files again and print a table of the answers. Ends the command."""
    from conformance.adapter.errors import ConnectorError, DriverUnusable
    from conformance.command_options import BadInput, check_chosen
    from conformance.repro import ReproError, repro

    try:
        with progress_bar("repro", quiet=True if json_wanted() else path.is_file()) as show:
            answers = repro(
                path,
                adapter=adapter,
                deadline_ms=deadline_ms,
                chosen=check_chosen(chosen),
                on_progress=lambda done, total: show(done, total, f"{total} files"),
            )
    except (ReproError, BadInput) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except ConnectorError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    except DriverUnusable as error:
        fail(error.sentence, ExitCode.UNUSABLE)
    code = next(code for code in _ORDER if any(answer.exit_code is code for answer in answers))
    if json_wanted():
        emit_json(
            {
                "exit_code": int(code),
                "answers": [
                    {
                        "file": str(answer.path),
                        "requirement": answer.requirement,
                        "answer": answer.answer,
                        "text": answer.text,
                        "asked": answer.asked._asdict(),
                        "recorded": answer.recorded._asdict(),
                        "verdicts": [verdict.to_json() for verdict in answer.verdicts],
                    }
                    for answer in answers
                ],
            }
        )
    else:
        out = console()
        for line in table(answers):
            out.print(line, markup=False, soft_wrap=True)
    sys.exit(int(code))


def table(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a line for each file, in columns, and the number of each answer."""
    said = max(6, *(len(answer.answer) for answer in answers))
    wide = max(9, *(len(answer.requirement) for answer in answers))
    for answer in answers:
        yield f"{answer.answer:<{said}}  {answer.requirement or 'not known':<{wide}}  {answer.path.name}  {answer.text}"
    for asked, recorded in dict.fromkeys((answer.asked, answer.recorded) for answer in answers):
        yield f"asked: {label(str(asked))}; deviation of: {label(str(recorded))}"
    if len(answers) > 1:
        seen = Counter(answer.answer for answer in answers)
        yield f"{counted(len(answers), 'file')}: " + ", ".join(
            f"{seen[word]} {word}" for word in ("FAILED", "ERROR", "not reproduced", "FIXED") if seen[word]
        )


def write_command(path: Path) -> NoReturn:
    """Write a pytest file and a diagram beside each repro file, print their paths, and end the command."""
    from conformance.repro import ReproError, write_tests

    try:
        written = write_tests(path)
    except ReproError as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if json_wanted():
        emit_json({"written": [str(file) for file in written]})
    else:
        out = console()
        for file in written:
            out.print(str(file), markup=False, soft_wrap=True)
    sys.exit(int(ExitCode.CONFORMS))


def diagnose_command(record: Path, *, faults: Sequence[str], jobs: int, budget_s: float | None) -> NoReturn:
    """Look for common causes, keep them beside the record, and print the record's summary with them."""
    from conformance.diagnose import SECONDS, diagnose
    from conformance.explaining.causes import UnknownFault
    from conformance.report.findings import NotDiagnosed, keep
    from conformance.report.records import read_run
    from conformance.runlog import RunRecordError

    try:
        with progress_bar("diagnose", quiet=json_wanted() and not sys.stderr.isatty()) as show:
            show(0, 1, "reading the record")
            run = read_run(record)
            found = diagnose(
                run,
                faults=faults,
                seconds=budget_s or SECONDS,
                jobs=jobs,
                on_progress=lambda done, total: show(done, total, f"trying {total} faults"),
            )
    except NotDiagnosed as error:
        fail(str(error), ExitCode.NOTHING_JUDGED)
    except (UnknownFault, RunRecordError) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    written: dict[str, Path] = {}
    if record.is_dir():
        from conformance.report.html import render_html

        try:
            written["diagnosis"] = keep(found, record)
            written["report"] = record / "report.html"
            write_text(written["report"], render_html(run))
        except OSError as error:
            fail(f"Nothing can be written into {record} ({error.strerror}).", ExitCode.BAD_INPUT)
    if json_wanted():
        emit_json({**found.to_json(), "exit_code": 0, "written": {name: str(path) for name, path in written.items()}})
    else:
        from conformance.report.findings import cause_sentences

        target = console()
        for line in cause_sentences(found):
            target.print(line, markup=False, soft_wrap=True)
        for cause in found.causes:
            target.print(f"  {cause.names[0]}: {cause.story}", markup=False, soft_wrap=True)
            for requirement in cause.requirements:
                target.print(f"    {requirement}", markup=False, soft_wrap=True)
        for name, path in written.items():
            target.print(f"{name}: {path}", markup=False, soft_wrap=True)
    sys.exit(int(ExitCode.CONFORMS))
