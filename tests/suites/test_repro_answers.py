"""What `repro` may say: FIXED only where nothing but a mending explains it. Nobody is run because a file says so."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from repro_contents import PEEK, TWO, content

from conformance.harness.repro_files import without_secrets
from conformance.report.findings import repro_command
from conformance.repro import ERROR, FAILED, FIXED, NOT_REPRODUCED, ReproError, again, repro, stored, write_tests
from conformance.verdict import ExitCode

FAKES = Path(__file__).parents[1] / "adapter" / "fakes"
BEFORE = {"starts": 0, "examples": []}


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FAKES))
    monkeypatch.setenv("PYTHONPATH", f"{FAKES}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def changed(**members: Any) -> dict[str, Any]:
    """The content of a file, with other members; those of `verdict` one by one."""
    whole = content(*TWO)
    return {**whole, **members, "verdict": {**whole["verdict"], **members.get("verdict", {})}}


@pytest.mark.parametrize(
    ("members", "doubt"),
    [
        ({}, None),
        ({"before": {**BEFORE, "starts": 1}}, None),
        ({"alone": False}, "nor is it known to have come"),
        ({"verdict": {"outcome": "timeout"}}, "a timeout need not come"),
        ({"verdict": {"outcome": "crash"}}, "a crash need not come"),
        ({"verdict": {"outcome": "flaky", "reason": "flaky(2/5)"}}, "a flaky need not come"),
        ({"asked": {}}, "does not say whose"),
        ({"asked": {"connector": "embedded", "name": "another"}}, "the deviation is of embedded (another)"),
        ({"asked": {"connector": "stdio:./driver", "name": "embedded"}}, "the deviation is of stdio:./driver"),
        ({"verdict": {"requirement": "MQDMPR-3.1.7.1.15.keeps"}}, "was not judged again"),
    ],
)
def test_fixed_is_said_only_without_a_doubt(members: dict[str, Any], doubt: str | None) -> None:
    answer = again(changed(**members), adapter="embedded", in_process=True)
    assert answer.answer == (FIXED if doubt is None else NOT_REPRODUCED), answer.text
    assert answer.exit_code == (ExitCode.CONFORMS if doubt is None else ExitCode.NOTHING_JUDGED)
    assert doubt is None or doubt in answer.text
    assert (answer.asked.connector, answer.asked.name) == ("embedded", "embedded") and answer.asked.version


def test_other_readings_mend_nothing() -> None:
    turned = {"R-MQDMPR-zero-timeout-status": "by-kind"}
    assert again(content(*TWO), adapter="embedded", in_process=True, chosen=turned).answer == NOT_REPRODUCED


def test_a_file_of_an_earlier_version_is_never_fixed() -> None:
    old = {name: value for name, value in content(*TWO).items() if name not in ("asked", "before")}
    assert again(old, adapter="embedded", in_process=True).answer == NOT_REPRODUCED


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        ({**BEFORE, "starts": 1}, FAILED),
        ({**BEFORE, "starts": 4_000}, FAILED),
        (BEFORE, NOT_REPRODUCED),
    ],
)
def test_what_went_before_is_brought_about(before: dict[str, Any], answer: str) -> None:
    connector = "python:deviates_after_restart:DeviatesAfterRestart"
    stored_file = changed(alone=False, before=before, asked={"connector": connector, "name": "embedded"})
    assert again(stored_file, adapter=connector, in_process=True).answer == answer


def test_an_example_before_it_is_brought_about() -> None:
    connector = "python:deviates_after_restart:DeviatesAfterRestart"
    calls = [*content(PEEK)["repro"]["calls"][:4], {"method": "restart", "kill": True}]
    earlier = {"suite": "restart", "repro": {"kind": "calls", "format": 1, "calls": calls}}
    stored_file = changed(before={**BEFORE, "examples": [earlier]}, asked={"connector": connector, "name": "embedded"})
    assert again(stored_file, adapter=connector, in_process=True).answer == FAILED


def test_a_hang_that_needs_a_restart_is_told_and_hangs_again(tmp_path: Path) -> None:
    connector = "python:hangs_after_restart:HangsAfterRestart"
    out = tmp_path / "out"

    def mqconform(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "conformance", *words, "--adapter", connector, "--deadline-ms", "2000"]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    done = mqconform("run", "--suite", "restart", "--max-failures", "2", "--label", "nightly", "--out", str(out))
    assert done.returncode == ExitCode.DEVIATES and "\nTIMEOUT " in done.stdout, done.stdout + done.stderr
    assert "the driver was started again on the same state folder" in done.stdout
    files = [json.loads(path.read_text()) for path in sorted((out / "repros").glob("*.json"))]
    for one in files:
        assert one["asked"]["connector"] == connector and one["asked"]["label"] == "nightly"
        assert any("start" in line and " again" in line for line in one["story"])
    assert any(one["before"]["starts"] for one in files)
    played = mqconform("repro", str(out))
    assert played.returncode == ExitCode.DEVIATES and played.stdout.count("FAILED  ") == len(files) == 2, played.stdout
    assert f"asked: {connector} (embedded " in played.stdout and "label nightly" in played.stdout


@pytest.mark.parametrize("connector", ["stdio:touch {made}", "tcp:127.0.0.1:1", "python:os:x", "embedded:x", None])
def test_nobody_is_asked_because_a_file_names_him(connector: str | None, tmp_path: Path) -> None:
    made = tmp_path / "made"
    named = connector and connector.format(made=made)
    path = tmp_path / "it's $(here).json"
    path.write_text(json.dumps(changed(asked={"connector": named, "name": "embedded"})))
    (answer,) = repro(path)
    assert (answer.answer, answer.exit_code) == (ERROR, ExitCode.BAD_INPUT)
    command = answer.text.partition(": ")[2]
    assert shlex.split(command) == ["mqconform", "repro", str(path), "--adapter", named or "CONNECTOR"]
    assert not made.exists()


def test_a_connector_that_hides_text_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(changed(asked={"connector": "stdio:ls\r\x1b[2Kmqconform", "name": "x"})))
    (answer,) = repro(path)
    assert answer.text.endswith("--adapter CONNECTOR")


def test_the_embedded_implementation_is_asked_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(content(*TWO)))
    (answer,) = repro(path, in_process=True)
    assert answer.answer == FAILED and answer.asked.connector == "embedded+receive-returns-second-message"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("tcp:mq1:1801?token-file=/home/me/token", "tcp:mq1:1801?***"),
        ("--mq-adapter=tcp:mq1:1801?word", "--mq-adapter=tcp:mq1:1801?***"),
        ("stdio:./driver --token abc --queues", "stdio:./driver --token *** --queues"),
        ("stdio:./driver --api-key=abc", "stdio:./driver --api-key=***"),
        ("stdio:./driver s3cret-word", "stdio:./driver ***"),
        ("wire:mq1?qm=1801", "wire:mq1?qm=1801"),
        ("embedded+ignores-priority", "embedded+ignores-priority"),
    ],
)
def test_no_token_is_kept(given: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MQCONFORM_TOKEN", "s3cret-word")
    assert without_secrets(given) == kept


def test_no_record_and_no_command_has_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that takes its token as an argument, and one that is not there at all: both are told without it."""
    monkeypatch.setenv("MQCONFORM_TOKEN", "s3cret-word")
    for way in ("run", "soak"):
        out = tmp_path / way
        driver = f"python:named:{way} --token s3cret-word"
        command = ["-m", "conformance", way, "--adapter", f"stdio:{sys.executable} -c pass s3cret-word {driver}"]
        limits = ["--suite", "cursors"] if way == "run" else ["--budget", "5s"]
        done = subprocess.run(
            [sys.executable, *command, *limits, "--out", str(out)], capture_output=True, text=True, check=False
        )
        records = [path.read_text(encoding="utf-8", errors="replace") for path in out.rglob("*") if path.is_file()]
        assert records and not [text for text in (done.stdout, *records) if "s3cret-word" in text], done.stdout
    assert "s3cret-word" not in repro_command("a.json", "stdio:./driver s3cret-word")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": ' + "9" * 5_000 + "}", "\xff"])
def test_a_file_is_bounded_before_it_is_parsed(text: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ReproError, match="is not a repro file"):
        stored(path)


def test_a_pipe_is_no_repro_file(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    os.mkfifo(path)
    with pytest.raises(ReproError, match="is not a file"):
        stored(path)


BREAKS = 'x"\nCreateObject("WScript.Shell").Run "calc"\n\'"""\r\nimport os; os.system("id")\n#\u2028'
ACTS: list[dict[str, Any]] = [
    {"object": "i", "class": "MSMQQueueInfo"},
    {"object": "i", "member": "Label", "kind": "put", "arguments": [{"vt": "BSTR", "value": BREAKS}]},
    {"object": "i", "member": "Priority", "kind": "put", "arguments": [{"vt": "I8", "value": f"$lookup {BREAKS}"}]},
    {"object": "i", "member": "Open", "kind": "method", "arguments": [{"vt": "I4", "value": 1}], "gives": "q"},
]
ODD = (
    {"object": BREAKS},
    {"member": BREAKS},
    {"gives": BREAKS},
    {"gives": "import"},
    {"arguments": [{"vt": BREAKS, "value": 1}]},
    {"arguments": [{"vt": "ARRAY", "of": BREAKS, "value": []}]},
    {"arguments": [{"vt": "CY", "value": BREAKS}]},
    {"arguments": [{"vt": "DISPATCH", "value": BREAKS}]},
    {"arguments": [{"vt": "BSTR", "value": "$os"}]},
)


def hostile(path: Path, acts: list[dict[str, Any]]) -> None:
    whole = changed(
        suite="objects", story=[BREAKS, '"""', "\\"], test=BREAKS, asked={"connector": BREAKS, "label": BREAKS}
    )
    path.write_text(json.dumps({**whole, "repro": {"kind": "objects", "acts": acts, BREAKS: BREAKS}}))


def test_nothing_of_a_stranger_is_code(tmp_path: Path) -> None:
    hostile(tmp_path / "r.json", ACTS)
    write_tests(tmp_path)
    test = ast.parse((tmp_path / "test_r.py").read_bytes())
    kinds = [type(node).__name__ for node in test.body]
    assert kinds == ["Expr", "Import", "Import", "ImportFrom", "Assign", "FunctionDef"]
    program = ast.parse((tmp_path / "r-pywin32.py").read_bytes())
    names = {node.id for node in ast.walk(program) if isinstance(node, ast.Name)}
    known = {"os", "pythoncom", "VARIANT", "Dispatch", "do", "refer", "computer", "queue", "path", "direct", "i", "q"}
    inside = {"call", "code", "error", "value", "what", "hex", "print", "repr", "setattr", "target", "name", "dispid"}
    assert names <= known | inside, names - known - inside
    assert [type(node).__name__ for node in program.body if isinstance(node, ast.Import)] == ["Import", "Import"]
    basic = (tmp_path / "r.vbs").read_bytes().decode()
    code = [re.sub(r'"(?:[^"\r\n]|"")*"', "TEXT", line).partition("'")[0] for line in re.split("[\r\n\u2028]", basic)]
    assert not [line for line in code if '"' in line]
    assert not [line for line in code if re.search(r"Shell|\.Run|import|system", line)]
    assert sum("CreateObject" in line for line in code) == 2  # the network's name, and the plan's own


@pytest.mark.parametrize("odd", ODD)
def test_a_plan_of_other_things_than_names_is_no_program(odd: dict[str, Any], tmp_path: Path) -> None:
    hostile(tmp_path / "r.json", [ACTS[0], {**ACTS[3], **odd}])
    write_tests(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", "test_r.py", "r.mmd"}


@pytest.mark.parametrize("members", [{"parts": [[1], []]}, {"parts": 5}, {"story": None}, {"story": 7}])
def test_a_file_that_cannot_be_drawn_is_refused(members: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(changed(**members)))
    with pytest.raises(ReproError):
        write_tests(tmp_path)
