"""`mqconform repro`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from conformance.cli.output import console, emit_json, fail, json_wanted, progress_bar
from conformance.report.text import label
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.repro import Answer

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
        yield f"{len(answers)} files: " + ", ".join(
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
