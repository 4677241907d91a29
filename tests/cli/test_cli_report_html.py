"""report and matrix as HTML from the command line: one run, several, and what cannot be made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_cli import mqconform, one_sentence

from conformance.report.coverage import selftest_json
from conformance.runlog import Header, RunWriter
from conformance.verdict import ExitCode, Outcome, Verdict

FIRST, SECOND = "MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.4.5.receives-return"


@pytest.fixture
def records(tmp_path: Path) -> list[str]:
    folders = []
    for name, outcome in (("good", Outcome.PASS), ("bad", Outcome.FAIL)):
        with RunWriter(tmp_path / name) as writer:
            writer.header(Header(run_id=name, connector="embedded", profile="msmq-4.0", level="must"))
            writer.verdict(Verdict(FIRST, Outcome.PASS, "receive"), suite="transactions", test="t.py::t")
            writer.verdict(Verdict(SECOND, outcome, "receive"), suite="transactions", test="t.py::t")
            writer.footer("completed")
        folders.append(str(tmp_path / name))
    return folders


def test_several_runs_are_one_page(records: list[str], tmp_path: Path) -> None:
    page = tmp_path / "out" / "page.html"
    done = mqconform("report", *records, "--html", str(page))
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    assert done.stdout.strip() == str(page)
    assert "2 runs compared" in page.read_text(encoding="utf-8")
    told = json.loads(mqconform("report", *records, "--html", str(page), "--json").stdout)
    assert told["written"] == {"html": str(page)}


def test_a_selftest_counts_as_discriminated(records: list[str], tmp_path: Path) -> None:
    page, selftest = tmp_path / "page.html", tmp_path / "selftest.json"
    trial = {"fault": "f", "ok": True, "caught": [FIRST]}
    selftest.write_text(json.dumps(selftest_json([trial], "0")), encoding="utf-8")
    assert mqconform("report", records[0], "--html", str(page), "--selftest", str(selftest)).returncode == 0
    assert "by the given selftest" in page.read_text(encoding="utf-8")
    selftest.write_text("{", encoding="utf-8")
    done = mqconform("report", records[0], "--html", str(page), "--selftest", str(selftest))
    assert "is not JSON" in one_sentence(done, ExitCode.BAD_INPUT)


def test_what_has_no_page_is_one_sentence(records: list[str], tmp_path: Path) -> None:
    page = str(tmp_path / "page.html")
    done = mqconform("report", *records, "--html", page, "--junit", page)
    assert "name the same file" in one_sentence(done, ExitCode.BAD_INPUT)
    done = mqconform("report", *(records * 5), "--html", page)
    assert "room for 8 runs" in one_sentence(done, ExitCode.BAD_INPUT)
    done = mqconform("report", records[0], str(tmp_path / "none"), "--html", page)
    assert "none" in one_sentence(done, ExitCode.BAD_INPUT)
    assert not Path(page).exists()
