"""gate, baseline and reports of several runs: exit codes, one closing line, bad input in one sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests_cli import mqconform, one_sentence

from conformance.runlog import Header, RunWriter
from conformance.verdict import ExitCode, Outcome, Verdict

FIRST, SECOND = "MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.4.5.receives-return"


def record(folder: Path, outcomes: dict[str, Outcome], footer: str = "completed") -> Path:
    with RunWriter(folder) as writer:
        writer.header(Header(run_id=folder.name, connector="embedded", profile="msmq-4.0", level="must"))
        for requirement, outcome in outcomes.items():
            writer.verdict(Verdict(requirement, outcome, "receive"), suite="transactions", test="t.py::t")
        writer.footer(footer)
    return folder


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return record(tmp_path / "good", {FIRST: Outcome.PASS, SECOND: Outcome.PASS})


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return record(tmp_path / "bad", {FIRST: Outcome.PASS, SECOND: Outcome.FAIL})


def test_the_gate_opens_and_shuts_with_one_closing_line(good: Path, bad: Path) -> None:
    done = mqconform("gate", str(good), "--against", str(bad))
    assert done.returncode == ExitCode.CONFORMS
    assert re.match(r"gate: open: 2 of \d,\d{3} requirements judged", done.stdout.splitlines()[-1])
    done = mqconform("gate", str(bad), "--against", str(good))
    assert done.returncode == ExitCode.DEVIATES
    assert done.stdout.splitlines()[-1] == f"gate: shut: 1 deviation ({SECOND})"
    assert mqconform("gate", str(bad), "--against", str(bad)).returncode == ExitCode.CONFORMS
    told = json.loads(mqconform("gate", str(bad), "--json").stdout)
    assert told["open"] is False and told["exit_code"] == 1
    assert [one["what"] for one in told["objections"]] == [SECOND]


def test_a_baseline_is_shown_and_then_written(bad: Path, good: Path, tmp_path: Path) -> None:
    path = tmp_path / "baseline.toml"
    arguments = ("baseline", "update", str(bad), "--baseline", str(path))
    assert "give --reason and --link" in one_sentence(mqconform(*arguments), ExitCode.BAD_INPUT)
    why = ("--reason", "known since spring", "--link", "https://example.org/7")
    done = mqconform(*arguments, *why)
    assert done.returncode == ExitCode.DEVIATES and not path.exists()
    assert f'+requirement = "{SECOND}"' in done.stdout and "--yes writes it" in done.stderr
    done = mqconform(*arguments, *why, "--yes", "--expires", "2999-01-31")
    assert done.returncode == ExitCode.CONFORMS and "2999-01-31" in path.read_text()
    assert mqconform("gate", str(bad), "--baseline", str(path)).returncode == ExitCode.CONFORMS
    needless = mqconform("gate", str(good), "--baseline", str(path))
    assert needless.returncode == ExitCode.DEVIATES and f"needless   {SECOND}" in needless.stdout
    assert "is up to date" in mqconform(*arguments).stdout
    over = mqconform(*arguments, *why, "--expires", "2020-01-31")
    assert "2020-01-31 has passed" in one_sentence(over, ExitCode.BAD_INPUT)
    assert mqconform("baseline", "update", str(good), "--baseline", str(path), "--yes").returncode == ExitCode.CONFORMS
    assert SECOND not in path.read_text()


def test_a_baseline_that_the_gate_refuses_is_not_as_it_should_be(bad: Path, tmp_path: Path) -> None:
    path = tmp_path / "baseline.toml"
    arguments = ("baseline", "update", str(bad), "--baseline", str(path), "--yes")
    members = 'reason = "known"\nlink = "https://example.org/7"\n'
    unseen = "MQDMPR-3.1.7.1.3.invalid-path-name"
    for requirement, until, told in (
        (SECOND, "2020-01-31", f"entries have expired: --renew extends them ({SECOND})"),
        (
            unseen,
            "2999-01-31",
            f"entries were not judged by this run: update with a run that judges them, or remove them ({unseen})",
        ),
    ):
        entries = {SECOND: "2999-01-31", requirement: until}
        lines = [f'[[known]]\nrequirement = "{name}"\n{members}expires = {day}\n' for name, day in entries.items()]
        path.write_text("\n".join(lines), encoding="utf-8")
        assert mqconform("gate", str(bad), "--baseline", str(path)).returncode == ExitCode.DEVIATES
        assert mqconform(*arguments).returncode == ExitCode.DEVIATES  # it writes the floor
        done = mqconform(*arguments)
        assert done.returncode == ExitCode.DEVIATES
        assert "up to date" not in done.stdout and done.stdout == f"{path} stays unchanged\n"
        assert told in done.stderr
    over = f'[[known]]\nrequirement = "{SECOND}"\n{members}expires = 2020-01-31\n'
    path.write_text(over, encoding="utf-8")
    assert mqconform(*arguments, "--renew").returncode == ExitCode.CONFORMS


def test_reports_of_a_run_know_the_baseline(bad: Path, good: Path, tmp_path: Path) -> None:
    path, page = tmp_path / "baseline.toml", tmp_path / "page.html"
    why = ("--reason", "known since spring", "--link", "https://example.org/7")
    assert mqconform("baseline", "update", str(bad), "--baseline", str(path), *why, "--yes").returncode == 0
    for run, other, excused in ((bad, good, ("--baseline", str(path))), (bad, bad, ("--against", str(bad)))):
        written = ("--html", str(page), "--junit", str(tmp_path / "j.xml"), "--badge", str(tmp_path / "b.json"))
        done = mqconform("report", str(run), *excused, *written, "--json")
        told = json.loads(done.stdout)
        assert (told["exit_code"], told["gate"]["open"], told["conclusion"]) == (0, True, "conforms")
        assert "Conforms but for 1 known deviation" in page.read_text(encoding="utf-8")
        assert "<failure" not in (tmp_path / "j.xml").read_text(encoding="utf-8")
        assert json.loads((tmp_path / "b.json").read_text())["color"] == "success"
        compared = mqconform("report", str(run), str(other), *excused, "--html", str(page))
        assert compared.returncode == 0 and "Conforms but for 1 known deviation" in page.read_text(encoding="utf-8")
    text = tmp_path / "table.md"
    mqconform("report", str(bad), str(good), "--baseline", str(path), "--markdown", str(text))
    table = text.read_text(encoding="utf-8")
    (conclusions,) = [line for line in table.splitlines() if line.startswith("| conclusion")]
    assert (
        "Conforms but for 1 known deviation" in conclusions and "baseline entries that no longer fail: 1" in conclusions
    )
    first = mqconform("report", str(bad), "--baseline", str(path)).stdout.splitlines()[0]
    assert first == "Conforms but for 1 known deviation."
    missing = mqconform("report", str(bad), "--baseline", "no-such.toml", "--html", str(tmp_path / "none.html"))
    assert "no-such.toml" in one_sentence(missing, ExitCode.BAD_INPUT) and not (tmp_path / "none.html").exists()


def test_columns_have_the_labels_they_are_given(bad: Path, good: Path, tmp_path: Path) -> None:
    told = json.loads(mqconform("report", str(bad), str(good), "--label", "old", "--label", "new", "--json").stdout)
    assert told["columns"] == ["old", "new"] and len(told["unjudged"]) > 1_000
    page = tmp_path / "page.html"
    done = mqconform("report", str(bad), str(good), "--label", "<b>old</b>", "--label", "new", "--html", str(page))
    assert done.returncode == 0 and "&lt;b&gt;old&lt;/b&gt;" in page.read_text() and "<b>old" not in page.read_text()
    for labels, why in (
        (["one"], "1 label for 2 runs"),
        (["a", "\u202e"], "Invalid label"),
        (["a", " "], "Invalid label"),
    ):
        given = [word for text in labels for word in ("--label", text)]
        done = mqconform("report", str(bad), str(good), *given)
        assert why in one_sentence(done, ExitCode.BAD_INPUT)


def test_no_baseline_is_made_of_a_run_cut_short(tmp_path: Path) -> None:
    cut = record(tmp_path / "cut", {SECOND: Outcome.FAIL}, footer="interrupted")
    done = mqconform("baseline", "update", str(cut), "--baseline", str(tmp_path / "b.toml"), "--yes")
    assert "interrupted" in one_sentence(done, ExitCode.BAD_INPUT)


def test_a_difference_is_told_three_ways(good: Path, bad: Path, tmp_path: Path) -> None:
    done = mqconform("report", str(good), str(bad))
    assert done.returncode == ExitCode.DEVIATES
    assert done.stdout.splitlines()[-2:] == [f"broken  {SECOND}: pass -> fail", "1 broken, 1 the same"]
    text = tmp_path / "both.md"
    fixed = mqconform("report", str(bad), str(good), "--markdown", str(text))
    assert fixed.returncode == ExitCode.CONFORMS
    assert f"| {SECOND} | must | fail | pass |" in text.read_text(encoding="utf-8")
    done = mqconform("report", str(good), str(bad), str(good), "--json")
    told = json.loads(done.stdout)
    assert told["exit_code"] == done.returncode == ExitCode.DEVIATES
    counts = [one["counts"] for one in told["differences"]]
    assert counts[0] == {"broken": 1, "gone": 0, "fixed": 0, "new": 0, "changed": 0, "same": 1}
    assert counts[1] == {"broken": 0, "gone": 0, "fixed": 0, "new": 0, "changed": 0, "same": 2}


def test_implementations_stand_side_by_side(good: Path, bad: Path, tmp_path: Path) -> None:
    told = json.loads(mqconform("report", str(good), str(bad), "--json").stdout)
    assert told["columns"] == ["embedded", "embedded (2)"]
    assert [one["outcome"] for one in told["totals"]] == ["pass", "fail"]
    text = mqconform("report", str(good), str(bad)).stdout
    assert "3.1.4.5" in text and "fail 0/1" in text
    page = tmp_path / "both.md"
    mqconform("report", str(good), str(bad), "--markdown", str(page))
    assert "| all | pass 2/2 | fail 1/2 |" in page.read_text(encoding="utf-8")
    alone = mqconform("report", str(good), str(bad), "--junit", str(tmp_path / "j.xml"))
    assert "name one run for other formats" in one_sentence(alone, ExitCode.BAD_INPUT)


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        (("gate", "no-such-run"), "no-such-run", ExitCode.BAD_INPUT),
        (("gate", "{good}", "--baseline", "no-such.toml"), "no-such.toml", ExitCode.BAD_INPUT),
        (("gate", "{empty}"), "nothing was judged", ExitCode.NOTHING_JUDGED),
        (("report", "{good}", "no-such-run"), "no-such-run", ExitCode.BAD_INPUT),
        (("report", "{good}", "{empty}"), "nothing was judged", ExitCode.NOTHING_JUDGED),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], told: str, code: ExitCode, good: Path, tmp_path: Path
) -> None:
    empty = record(tmp_path / "empty", {})
    words = [word.format(good=good, empty=empty) for word in arguments]
    assert told in one_sentence(mqconform(*words), code)


def test_what_excuses_is_looked_at_before_the_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for option in ("--baseline", "--against"):
        done = mqconform("run", "--out", str(out), option, str(tmp_path / "no-such"))
        assert "no-such" in one_sentence(done, ExitCode.BAD_INPUT)
    assert not out.exists()


def test_a_run_ends_as_its_gate_says(tmp_path: Path) -> None:
    wrong = ("run", "--adapter", "embedded+loses-message-on-abort", "--suite", "transactions", "--in-process")
    none = tmp_path / "none.toml"
    none.touch()
    first = mqconform(*wrong, "--baseline", str(none), "--out", str(tmp_path / "first"))
    assert first.returncode == ExitCode.DEVIATES
    assert first.stdout.splitlines()[-1].startswith("gate: shut:")
    again = mqconform(*wrong, "--against", str(tmp_path / "first"), "--json", "--out", str(tmp_path / "again"))
    assert again.returncode == ExitCode.CONFORMS, again.stdout[-2000:]
    told = json.loads(again.stdout)
    assert told["gate"]["open"] is True and told["gate"]["known"]


def test_a_floor_that_is_not_reached_is_a_regression(good: Path) -> None:
    done = mqconform("gate", str(good), "--floor", "3")
    assert done.returncode == ExitCode.DEVIATES
    assert "2 requirements were judged, and the floor is 3 (--floor)" in done.stdout
    assert mqconform("gate", str(good), "--floor", "2").returncode == ExitCode.CONFORMS
