"""Compare the catalogue with the documents that it was made from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.output import at_work, console, emit_json, fail
from conformance.cli.shared_options import Json
from conformance.spec.catalogue import DOCUMENTS
from conformance.verdict import ExitCode
from tools.audit import AuditError, AuditReport, audit

MAX_LINES = 50  # per kind of finding; `--json` prints all


def main(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The documents, as text.")],
    json: Json = False,
) -> None:
    """Compare the catalogue with the documents. Exit code 0: no difference; 1: differences; 2: unusable file."""
    try:
        with at_work("audit", f"reading {', '.join(map(str, files))}", quiet=json):
            report: AuditReport = audit(files)
    except AuditError as error:
        fail(f"{error}.", ExitCode.BAD_INPUT)
    code = ExitCode.CONFORMS if report.clean else ExitCode.DEVIATES
    if json:
        emit_json({"exit_code": int(code), **report.to_json()})
        sys.exit(int(code))
    out = console()

    def told(what: str, lines: list[str]) -> None:
        for line in lines[:MAX_LINES]:
            out.print(f"{what}: {line}", markup=False, soft_wrap=True)
        if len(lines) > MAX_LINES:
            out.print(f"{what}: and {len(lines) - MAX_LINES} more", markup=False)

    told("missing", [f"{item.id} ({item.kind}, line {item.line}, {item.source})" for item in report.missing])
    told(
        "changed",
        [
            f"{change.requirement} is bound to {change.source}, now most likely {change.item.source} "
            f"(line {change.item.line})"
            for change in report.changed
        ],
    )
    told("gone", [f"{gone.requirement} is bound to {gone.source}, which is in no document" for gone in report.gone])
    told("steps", list(report.steps))
    told("without a class", list(report.unclassed))
    told("says nothing", list(report.unwritten))
    told("bound to nothing", list(report.unbound))
    for total in report.totals:
        name, revision = DOCUMENTS[total.document], f" {total.revision}" if total.revision else ""
        out.print(
            f"{name}{revision}: {total.claimed} of {total.items} items have an entry, {total.entries} entries",
            markup=False,
            soft_wrap=True,
        )
    out.print(
        f"{len(report.missing)} missing, {len(report.changed)} changed, {len(report.gone)} gone, "
        f"{len(report.steps)} events with other steps",
        markup=False,
    )
    sys.exit(int(code))


if __name__ == "__main__":
    typer.run(main)
