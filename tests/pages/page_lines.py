"""The lines of the pages that a reader types: of README.md and docs/*.md, and the examples of `--help`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.cli.app import app
from conformance.cli.shared_options import command_of

ROOT = Path(__file__).parents[2]
HELP = "--help"
"""Stands where the name of a page does, for the examples of the commands' own help."""
PROGRAMS = (
    "mqconform",
    "./mq",
    "python",
    "python3",
    "pip",
    "pytest",
    "tox",
    "git",
    "tcpdump",
    "tshark",
    "duckdb",
    "cp",
)
_BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_TYPED = ("", "console", "sh", "bash", "shell")


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is printed, its prompt left out. page: the file's path in the checkout, or HELP."""

    page: str
    text: str


def pages() -> list[str]:
    """README.md and every page of docs/, and HELP."""
    return ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))), HELP]


def lines(page: str) -> list[Line]:
    """What is typed on a page, from its top to its end."""
    if page == HELP:
        return [Line(HELP, text) for _, command in tree() for text in examples(command)]
    found = []
    for block in _BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        if block["kind"].strip() in _TYPED:
            typed = (text.removeprefix("$ ") for text in block["text"].replace("\\\n", " ").splitlines())
            found += [Line(page, text.strip()) for text in typed if program(text) in PROGRAMS]
    return found


def program(text: str) -> str:
    """The first word that is no assignment to a variable."""
    return next((word for word in text.split() if not re.match(r"[A-Z_]+=", word)), "")


def tree() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that name it."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), command_of(app))]
    while waiting:
        words, command = waiting.pop(0)
        members = getattr(command, "commands", None)
        if members is None:
            yield words, command
        else:
            waiting += [((*words, name), one) for name, one in members.items()]


def examples(command: Any) -> list[str]:
    """The lines under `Example:` in a command's help."""
    text = str(command.epilog or "")
    return [each.strip() for each in text.removeprefix("Example: ").split("; ") if each.strip()]
