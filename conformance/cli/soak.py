"""`mqconform soak`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from conformance.cli.output import fail
from conformance.cli.run import finish, seconds
from conformance.cli.waiting import at_work
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.histories.soak import Soaked


def command(*, budget: str | None, json: bool, **wanted: Any) -> None:
    """Run the soak, write the report, print the result, and end with its exit code."""
    from conformance.run import BadInput
    from conformance.soak import soak

    budget_s = seconds(budget)
    began = time.monotonic()
    try:
        with at_work("soak", "starting the driver", quiet=json) as show:

            def on_progress(soaked: Soaked) -> None:
                spent = time.monotonic() - began
                text = f"{soaked.steps:,} steps" + (f", {soaked.findings} findings" if soaked.findings else "")
                show(round(spent), max(round(budget_s if budget_s is not None else spent), 1), text)

            result = soak(budget_s=budget_s, on_progress=on_progress, **wanted)
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if result.record is None:
        fail(result.sentence or "The soak left no record.", result.exit_code)
    finish(result.record, result.folder, result.exit_code, result.sentence, json=json)
