"""`mqconform repro`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.cli.output import console, emit_json, fail, progress_bar
from conformance.verdict import ExitCode

# Worst first: what the whole command ends with when files differ.
_ORDER = (
    ExitCode.DEVIATES,
    ExitCode.UNUSABLE,
    ExitCode.BAD_INPUT,
    ExitCode.NOTHING_JUDGED,
    ExitCode.CONFORMS,
)


def command(path: Path, *, adapter: str, deadline_ms: int, chosen: Sequence[str], in_process: bool, json: bool) -> None:
    """Run the repro files again and print one line each."""
    from conformance.adapter.errors import ConnectorError
    from conformance.repro import ReproError, repro
    from conformance.run import BadInput, check_chosen

    try:
        with progress_bar("repro", quiet=True if json else path.is_file()) as show:
            answers = repro(
                path,
                adapter=adapter,
                deadline_ms=deadline_ms,
                in_process=in_process,
                chosen=check_chosen(chosen),
                on_progress=lambda done, total: show(done, total, f"{total} files"),
            )
    except (ReproError, BadInput) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except ConnectorError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    code = next(code for code in _ORDER if any(answer.exit_code is code for answer in answers))
    if json:
        emit_json(
            {
                "exit_code": int(code),
                "answers": [
                    {
                        "file": str(answer.path),
                        "requirement": answer.requirement,
                        "answer": answer.answer,
                        "text": answer.text,
                        "verdicts": [verdict.to_json() for verdict in answer.verdicts],
                    }
                    for answer in answers
                ],
            }
        )
    else:
        out = console()
        for answer in answers:
            what = answer.requirement or answer.path.name
            out.print(f"{answer.answer:<6}  {what}  {answer.text}", markup=False, soft_wrap=True)
    sys.exit(int(code))
