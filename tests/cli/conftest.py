"""One run of every suite, for all tests that look at what such a run leaves."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from commands import command
from nightly import amount
from shared import shared
from tests_cli import WholeRun

from conformance.cli.output import want_json


@pytest.fixture(autouse=True)
def text_is_wanted() -> None:
    """What a command of an earlier test was asked for does not last."""
    want_json(False)


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    """Every suite, with few examples and situations at a push and more at night."""
    examples = ("--max-examples", str(amount("cli.examples-of-a-whole-run")))
    situations = ("--situations", str(amount("cli.situations-of-a-whole-run")))

    def make(folder: Path) -> None:
        done = command("run", "--out", str(folder / "out"), "--json", *examples, *situations, timeout=3_600)
        told = {"args": done.args, "returncode": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
        (folder / "done.json").write_text(json.dumps(told), encoding="utf-8")

    folder = shared(tmp_path_factory, "whole-run", make)
    told = json.loads((folder / "done.json").read_text(encoding="utf-8"))
    return WholeRun(subprocess.CompletedProcess(**told), folder / "out")
