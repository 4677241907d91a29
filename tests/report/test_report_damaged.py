"""A record whose members have been tampered with is refused in one sentence or reported: never a traceback.

Without checksums, which would refuse every one of these.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conformance.report import print_summary, render_html, render_junit, summary
from conformance.runlog import Run, RunRecordError, read_run

WEIRD: tuple[Any, ...] = (None, True, -1, 2**70, 1e308, "x", "\ud800", [], {"a": 1}, [None])


def first_of_each_kind(path: Path) -> list[dict[str, Any]]:
    kinds: dict[str, dict[str, Any]] = {}
    for line in path.read_bytes().splitlines():
        event = {name: value for name, value in json.loads(line).items() if name not in ("seal", "sealed")}
        # The richest verdict is the failing one: it has expected, actual, readings and evidence.
        if event["event"] not in kinds or len(event) > len(kinds[event["event"]]):
            kinds[event["event"]] = event
    return list(kinds.values())


KINDS = ("header", "hello", "verdict", "evidence", "story", "packet", "note", "driver", "footer")


@pytest.mark.parametrize("kind", KINDS)
def test_any_member_may_be_anything(typical: Run, tmp_path: Path, kind: str) -> None:
    events = first_of_each_kind(typical.parts[0])
    at = next(number for number, event in enumerate(events) if event["event"] == kind)
    part = tmp_path / "run-main.ndjson"
    refused = reported = 0
    for member in events[at]:
        for value in WEIRD:
            changed = [*events]
            changed[at] = {**events[at], member: value}
            part.write_text("".join(json.dumps(event) + "\n" for event in changed))
            try:
                run = read_run(part)
            except RunRecordError as error:
                refused += 1
                assert "\n" not in str(error) and str(error).endswith(".")
                continue
            reported += 1
            if reported % 5 == 1:
                report_everything(run)
    assert refused and reported


def report_everything(run: Run) -> None:
    render_html(run).encode("utf-8")
    render_junit(run).encode("utf-8")
    json.dumps(summary(run))
    print_summary(run, Console(file=io.StringIO(), width=80))


def test_every_line_may_be_missing(typical: Run, tmp_path: Path) -> None:
    events = first_of_each_kind(typical.parts[0])
    part = tmp_path / "run-main.ndjson"
    for at in range(1, len(events)):
        part.write_text("".join(json.dumps(event) + "\n" for event in events[:at] + events[at + 1 :]))
        report_everything(read_run(part))
