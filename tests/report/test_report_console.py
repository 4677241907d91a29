"""The console: the table, the stories, and no line wider than the terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from conformance.report import print_summary
from conformance.runlog import Run, RunWriter
from conformance.verdict import Outcome, Verdict

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def printed(run: Run, width: int | None = None, paths: dict[str, Path] | None = None) -> str:
    """What a terminal of this width is sent, or a log for None."""
    out = io.StringIO()
    if width is None:
        console = Console(file=out, highlight=False, width=80)
    else:
        console = Console(file=out, highlight=False, width=width, force_terminal=True, color_system="standard")
    print_summary(run, console, paths)
    return out.getvalue()


def test_a_log_gets_plain_whole_lines(typical: Run, tmp_path: Path) -> None:
    path = tmp_path / ("deep" * 20) / "report.html"
    text = printed(typical, paths={"report": path})
    assert "\x1b" not in text and text.isprintable() is False
    for expected in (
        "3.2.7.3     Get Next Message For Peek",
        f"FAIL {BROKEN}",
        "   5. peek next with c1, without waiting -> message 'a' (priority 3)\n",
        "repro: mqconform repro reports/out/first/repros/0f3a9b2c11d04e55.json --adapter embedded\n",
        "1 fail, 1 crash, 1 warn, 112 pass; beside them 1 inconclusive, 6 skip\n",
        "1,200 stateful steps (310 steps per second)\n",
        "Does not conform.\n",
        f"{path}\n",
    ):
        assert expected in text
    assert text.index("Section") < text.index("FAIL") < text.index("verdicts:") < text.index("report:")


@pytest.mark.parametrize("width", [20, 40, 63, 64, 80, 132, 300])
def test_nothing_is_wider_than_the_terminal(typical: Run, hostile: Run, width: int, tmp_path: Path) -> None:
    for run in (typical, hostile):
        text = ESCAPES.sub("", printed(run, width, {"run record": tmp_path / ("x" * 150)}))
        assert max(map(cell_len, text.splitlines())) <= width


def test_the_table_keeps_one_row_a_section(typical: Run) -> None:
    for width in (48, 80, 120):
        lines = ESCAPES.sub("", printed(typical, width)).splitlines()
        row = next(line for line in lines if line.startswith("  3.2.7.3 "))
        assert row.split()[-1] == "fail" and re.search(r"\b[1-9]\d*/\d+\b", row)


def test_labels_cannot_colour_or_move_a_terminal(hostile: Run) -> None:
    text = printed(hostile, 80)
    assert "\x1b" not in ESCAPES.sub("", text)
    assert "\x1b[31m\\x00" not in text and "\u202e" not in text and "\x00" not in text
    plain = ESCAPES.sub("", text).replace("\n", "").replace(" ", "")
    assert "\\u202egnp.\\x1b[31m\\x00" in plain


def test_markup_in_a_label_is_text(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, Outcome.FAIL, "[bold]x[/bold] :smile: [/]"), suite="cursors", test="t")

    assert "subject: [bold]x[/bold] :smile: [/]\n" in printed(make_run(fill))


def test_what_is_missing_is_said(make_run: Callable[..., Run]) -> None:
    text = printed(make_run(footer=None))
    assert "Incomplete record: run-main.ndjson has no footer" in text
    assert "Nothing was judged." in text
    assert "The run ended early: budget." in printed(make_run(footer="budget"))


def test_no_color_means_no_color(typical: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    print_summary(typical, Console(file=out, highlight=False, width=80, force_terminal=True))
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", out.getvalue())
