"""What takes long says so before it has a result, on a terminal and in a log; the order is tested, and no time."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

FAKE = """
import sys
{fakes}
from conformance.cli import main
sys.argv[1:] = {words!r}
main()
"""
RESULT = "the-result-of-it"
"""What each piece of work that is faked here ends with."""
FAKES = {
    "requirements coverage": (
        "import conformance.report.coverage as room\n"
        f"def covered():\n    print('{RESULT}')\n    raise SystemExit(0)\n"
        "room.covered = covered"
    ),
    "requirements list --unclaimed": (
        "import conformance.suites.claims_index as room\n"
        f"def claims(): raise room.IndexFailed('{RESULT}')\n"
        "room.claims = claims"
    ),
    "selftest": (
        "import conformance.selftest as room\n"
        f"def selftest(*_, **__): raise room.UnknownFault('{RESULT}')\n"
        "room.selftest = selftest"
    ),
    "readings infer": (
        "import conformance.infer as room, conformance.run\n"
        f"def infer(**_): raise conformance.run.BadInput('{RESULT}')\n"
        "room.infer = infer"
    ),
    "soak": (
        "import conformance.soak as room, conformance.run\n"
        f"def soak(**_): raise conformance.run.BadInput('{RESULT}')\n"
        "room.soak = soak"
    ),
    "run": (f"import conformance.run as room\ndef run(_): raise room.BadInput('{RESULT}')\nroom.run_request = run"),
    "run --list": (
        "import conformance.harness.test_selection as room\n"
        f"def collected(*_): raise room.NotCollected('{RESULT}', refused=True)\n"
        "room.collected = collected"
    ),
    "judge out": (
        "import conformance.api as room\n"
        f"def judge_again(*_, **__): raise room.BadInput('{RESULT}')\n"
        "room.judge_again = judge_again"
    ),
    "report out": (
        "import conformance.report.records as room, conformance.runlog as log\n"
        f"def read_run(*_): raise log.RunRecordError('{RESULT}')\n"
        "room.read_run = read_run"
    ),
    "report out out": (
        "import conformance.report.records as room, conformance.runlog as log\n"
        f"def read_run(*_): raise log.RunRecordError('{RESULT}')\n"
        "room.read_run = read_run"
    ),
    "pipeline report lake": (
        "import conformance.pipeline.lake as room, conformance.pipeline.report_queries as gathering\n"
        "from conformance.pipeline.untrusted_files import PipelineError\n"
        "from conformance.verdict import ExitCode\n"
        "room.Lake.open = classmethod(lambda *_, **__: None)\n"
        f"def gather(lake, timeout_s): raise PipelineError('{RESULT}', ExitCode.BAD_INPUT)\n"
        "gathering.gather = gather"
    ),
}
SAYS = {
    "run --list": "reading the tests",
    "run": "reading the tests",
    "readings infer": "starting the driver",
    "soak": "starting the driver",
    "requirements coverage": "reading what the checks claim",
    "requirements list --unclaimed": "reading the suites",
    "selftest": "beginning",
    "judge out": "reading the record",
    "report out": "reading out",
    "report out out": "reading 2 records",
    "pipeline report lake": "reading the lake",
}
TERMINAL_ALONE = {"judge out", "report out", "report out out"}
"""In a log these say something only of large records, or nothing."""


def program(command: str, *more: str) -> list[str]:
    return [sys.executable, "-c", FAKE.format(fakes=FAKES[command], words=[*command.split(), *more])]


@pytest.mark.parametrize("command", FAKES)
def test_on_a_terminal_it_says_that_it_is_at_work(command: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        program(command), cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # nobody has the other end any more
            break
        if not chunk:
            break
        said += chunk
    os.close(ours)
    process.wait(timeout=120)
    text = said.decode()
    assert SAYS[command] in text, text
    assert text.index(SAYS[command]) < text.rindex(RESULT), text


@pytest.mark.parametrize("command", [each for each in FAKES if each not in TERMINAL_ALONE])
def test_in_a_log_it_says_so_on_stderr_and_not_with_json(command: str, tmp_path: Path) -> None:
    quiet = [(("--json",), False)] if command == "run" else []
    for more, says in (((), True), *quiet):
        done = subprocess.run(
            program(command, *more), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert (SAYS[command] in done.stderr) is says, done.stderr
        assert RESULT in done.stdout + done.stderr
        assert SAYS[command] not in done.stdout
