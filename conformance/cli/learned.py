"""`mqconform learn`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.cli.output import console, emit_json, fail
from conformance.cli.waiting import at_work
from conformance.verdict import ExitCode


def command(
    *, budget: str | None, html: Path | None, svg: Path | None, dot: Path | None, json: bool, **wanted: Any
) -> None:
    """Learn, write the pictures, print the result, and end with its exit code."""
    from conformance.adapter.errors import AdapterError, ConnectorError
    from conformance.cli.run import seconds
    from conformance.command_options import BadInput
    from conformance.learn import BUDGET_S, MissingExtra, learn, need_learn
    from conformance.report.machine_text import as_json, lines

    budget_s = BUDGET_S if budget is None else seconds(budget)
    try:
        need_learn()
        with at_work("learn", "starting the driver", quiet=json) as show:
            found = learn(budget_s=budget_s, on_progress=show, **wanted)
    except (BadInput, MissingExtra) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except ConnectorError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    except AdapterError as error:
        fail(error.sentence, ExitCode.UNUSABLE)
    written = _write(found, html=html, svg=svg, dot=dot)
    if json:
        emit_json(as_json(found))
    else:
        out = console()
        for line in [*lines(found), *map(str, written)]:
            out.print(line, markup=False, soft_wrap=True)
    if found.sentence:
        fail(f"{found.sentence[:1].upper()}{found.sentence[1:]}", found.exit_code)
    sys.exit(int(found.exit_code))


def _write(found: Any, *, html: Path | None, svg: Path | None, dot: Path | None) -> list[Path]:
    """Write the files asked for; no drawing where no machine was learned."""
    from conformance.aside import write_text
    from conformance.report.machine import picture
    from conformance.report.machine_drawing import dot as as_dot
    from conformance.report.machine_drawing import svg as as_svg
    from conformance.report.machine_page import render_machine

    drawn = picture(found)
    texts: list[tuple[Path | None, Callable[[], str]]] = [(html, lambda: render_machine(found))]
    if drawn is not None:
        texts += [(svg, lambda: as_svg(drawn)), (dot, lambda: as_dot(drawn))]
    written = []
    for path, text in texts:
        if path is not None:
            write_text(path, text())
            written.append(path)
    return written
