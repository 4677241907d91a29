"""Runs the real command in a process of its own."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from commands import command

from conformance.verdict import ExitCode

FAKES = Path(__file__).parents[1] / "adapter" / "fakes"
PATIENCE_S = 600
"""How long a command may take to come to where a test meets it: machines are busy."""


@dataclass(frozen=True, slots=True)
class WholeRun:
    """What `mqconform run --json` said of the embedded implementation. folder: its record and report."""

    done: subprocess.CompletedProcess[str]
    folder: Path


FEW = ("--suite", "names", "--max-examples", "1", "--", "-k", "create_queue")
"""Options of a run of few tests, with pytest's at the end."""


def mqconform(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`mqconform` with these arguments, to its end."""
    return command(*arguments)


def stdio(*command: str | Path) -> str:
    """The connector of a command; this checkout may lie in a folder with spaces in its name."""
    return f"stdio:{shlex.join(map(str, command))}"


def one_sentence(done: subprocess.CompletedProcess[str], code: ExitCode) -> str:
    """The sentence the command ended with; it must have this exit code, and no traceback."""
    said = [line for line in done.stderr.splitlines() if line.startswith("mqconform: ") and ": run: " not in line]
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout
    assert said, done.stderr
    return said[-1]
