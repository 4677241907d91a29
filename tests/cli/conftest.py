"""One run of every suite, for all tests that look at what such a run leaves."""

from __future__ import annotations

import pytest
from nightly import amount
from tests_cli import WholeRun, mqconform


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    """Every suite, with few examples at a push and more at night."""
    folder = tmp_path_factory.mktemp("whole")
    size = ("--max-examples", str(amount("cli.examples-of-a-whole-run")))
    return WholeRun(mqconform("run", "--out", str(folder), "--json", *size), folder)
