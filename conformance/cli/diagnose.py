"""`mqconform diagnose`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from conformance.cli.output import console, emit_json, fail, json_wanted, progress_bar
from conformance.files import write_text
from conformance.verdict import ExitCode


def command(record: Path, *, faults: Sequence[str], jobs: int, budget_s: float | None) -> NoReturn:
    """Look for common causes, keep them beside the record, and print the record's summary with them."""
    from conformance.diagnose import SECONDS, diagnose
    from conformance.explaining.dictionary import UnknownFault
    from conformance.report.causes import NotDiagnosed, keep
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
        from conformance.report.causes import cause_sentences

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
