"""`mqconform report` in the machine formats: every file at once, and what it says when one cannot be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_cli import mqconform

from conformance.cli.app import app
from conformance.cli.shared_options import command_of
from conformance.runlog import Header, RunWriter, StoryStep
from conformance.verdict import ExitCode, Outcome, Verdict

BROKEN = "MQDMPR-3.1.4.5.receives-return"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    with RunWriter(folder) as writer:
        writer.header(Header(run_id="r", connector="embedded", profile="msmq-4.0", level="must"))
        name = writer.verdict(Verdict(BROKEN, Outcome.FAIL, "receive"), suite="transactions", test="t.py::t")
        writer.story(name, [StoryStep("a step")], repro=str(folder / "repros" / "1.json"))
        writer.footer("completed")
    return folder


def test_every_format_in_one_call(record: Path, tmp_path: Path) -> None:
    names = {
        "html": "a/report.html",
        "junit": "a/junit.xml",
        "sarif": "a/b/mqconform.sarif",
        "allure": "a/allure",
        "markdown": "a/summary.md",
        "badge": "a/badge.svg",
        "csv": "a/verdicts.csv",
    }
    wanted = {name: tmp_path / path for name, path in names.items()}
    options = [text for name, path in wanted.items() for text in (f"--{name}", str(path))]
    done = mqconform("report", str(record), *options, "--json")
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    assert json.loads(done.stdout)["written"] == {name: str(path) for name, path in wanted.items()}
    assert all(path.exists() for path in wanted.values())
    assert wanted["badge"].read_text().startswith("<svg ")
    assert BROKEN in wanted["sarif"].read_text() and BROKEN in wanted["markdown"].read_text()
    assert len(list(wanted["allure"].glob("*-result.json"))) == 1


def test_a_badge_in_json_and_annotations_alone_on_stdout(record: Path, tmp_path: Path) -> None:
    badge = tmp_path / "badge.json"
    done = mqconform("report", str(record), "--badge", str(badge), "--annotations", "github")
    assert done.returncode == ExitCode.CONFORMS and done.stdout.startswith(f"::error title=fail {BROKEN}::")
    assert len(done.stdout.splitlines()) == 1
    assert json.loads(badge.read_text())["message"].startswith("1 deviate, 1 of ")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--sarif", "file/x"], "cannot be written"),
        (["--allure", "file/x"], "cannot be written"),
        (["--csv", "."], "cannot be written"),
        (["--annotations", "gitlub"], "did you mean gitlab?"),
        (["--annotations", "gitlab", "--json"], "ask for one of them"),
    ],
)
def test_mistakes_are_one_sentence(
    options: list[str],
    sentence: str,
    record: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    with pytest.raises(SystemExit) as ended:
        command_of(app)(["report", str(record), *options], prog_name="mqconform", standalone_mode=False)
    told = capsys.readouterr()
    assert ended.value.code == ExitCode.BAD_INPUT and told.out == ""
    assert told.err.startswith("mqconform: ") and sentence in told.err and len(told.err.splitlines()) == 1
