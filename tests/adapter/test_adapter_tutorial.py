"""docs/write-a-driver.md, done as it says: its code is written, its commands are run, its promises looked for."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nightly import NIGHTLY, amount, sample

from conformance.files import resource

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "write-a-driver.md"
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCES = {"python": "driver.py", "javascript": "driver.js"}
_MARK = "@@ the next command @@"


@dataclass(frozen=True)
class Block:
    """A fenced block. step: the heading it stands under, counted from 0. words: those after the first."""

    step: int
    kind: str
    words: str
    text: str


def blocks() -> list[Block]:
    text = PAGE.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        kind, _, words = match[1].partition(" ")
        step = len(re.findall(r"^## ", text[: match.start()], re.MULTILINE))
        found.append(Block(step, kind, words, match[2]))
    return found


def language(block: Block) -> str | None:
    """The language a block is for, None for both."""
    file = block.words.partition(" ")[0]
    return next((name for name, one in (("python", "driver.py"), ("node", "driver.js")) if file == one), None)


def edited(text: str, block: Block) -> str:
    """A driver's text after what a block says."""
    if block.kind == "diff":
        for hunk in block.text.split("...\n"):
            lines = hunk.splitlines(keepends=True)
            before = "".join(line[1:] if line[0] != "\n" else line for line in lines if line[0] != "+")
            after = "".join(line[1:] if line[0] != "\n" else line for line in lines if line[0] != "-")
            assert text.count(before) == 1, f"the diff does not fit:\n{before}"
            text = text.replace(before, after)
        return text
    if block.words.endswith("above the last line"):
        head, last = text.rstrip("\n").rsplit("\n", 1)
        gap = "\n\n" if block.kind == "python" else "\n"
        return f"{head.rstrip()}\n{gap}{block.text.rstrip()}\n{gap}{last}\n"
    return block.text


def built(name: str) -> str:
    """The driver the page ends with."""
    text = ""
    for block in blocks():
        if language(block) == name:
            text = edited(text, block)
    return text


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, and the lines each promises."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        yield command, lines


def played(command: str) -> str:
    """The command; a run of every suite plays fewer examples and planned histories than it is printed to.

    By day no run looks for known faults that do what an unfinished driver does, which takes longer than all suites,
    and a run of every suite is one of those that a finished driver offers most for.
    """
    if command.startswith("mqconform run") and not NIGHTLY:
        command += " --no-quirks"
    if not command.startswith("mqconform run") or "--suite" in command:
        return command
    examples, situations = (amount(f"cli.{name}-of-a-whole-run") for name in ("examples", "situations"))
    suites = "" if NIGHTLY else " --suite situations,cursors,properties,restart"
    return f"{command} --max-examples {examples} --situations {situations}{suites}"


def run(pairs: list[tuple[str, list[str]]], folder: Path, tools: Path) -> list[str]:
    """What each command prints; `$?` is the exit code of the one before."""
    script = "".join(f"(exit $last); {played(command)} 2>&1; last=$?; echo; echo '{_MARK}'\n" for command, _ in pairs)
    done = subprocess.run(
        ["bash", "-c", "last=0\n" + script],
        cwd=folder,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.stdout.split(_MARK)[:-1]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH with this project's mqconform and this Python in it."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, arguments in (("mqconform", "-m conformance"), ("python3", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


def need(name: str) -> None:
    """Skip where a language is not installed; in CI it has to be."""
    program = {"python": sys.executable, "node": "node"}[name]
    if shutil.which(program) is None:
        if os.environ.get("CI"):
            pytest.fail(f"{program} is not installed", pytrace=False)
        pytest.skip(f"{program} is not installed")


@pytest.mark.parametrize("name", sample("docs.languages-of-the-tutorial", ["python", "node"], ["python"]))
def test_the_page_keeps_what_it_promises(name: str, tmp_path: Path, tools: Path) -> None:
    need(name)
    folder = tmp_path / "work"
    folder.mkdir()
    file = folder / {"python": "driver.py", "node": "driver.js"}[name]
    text = ""
    promised = 0
    for block in blocks():
        if block.kind == "console" and block.words in ("", name):
            pairs = [(command if name == "python" else as_node(command), lines) for command, lines in commands(block)]
            for (command, lines), printed in zip(pairs, run(pairs, folder, tools), strict=True):
                at = 0
                for line in lines:
                    wanted = line if name == "python" else as_node(line)
                    assert wanted in printed[at:].splitlines(), f"step {block.step}: {command}\n{printed[-3000:]}"
                    at = printed.index(wanted, at)
                    promised += 1
        elif language(block) == name:
            text = edited(text, block)
            file.write_text(text, encoding="utf-8")
        elif block.words == "directory.py":
            (folder / block.words).write_text(block.text, encoding="utf-8")
    assert promised > 20, "the page promises something at every step"


def as_node(text: str) -> str:
    """A command of the page as it is for Node.js."""
    return (
        text.replace("python3 driver.py", "node driver.js")
        .replace("--lang python", "--lang node")
        .replace(".py", ".js")
    )


@pytest.mark.parametrize("name", ["python", "node"])
def test_the_template_is_what_the_page_ends_with(name: str) -> None:
    file = resource(f"adapters/{name}") / {"python": "driver.py", "node": "driver.js"}[name]
    assert file.read_text(encoding="utf-8") == built(name)


def test_the_directory_of_the_template_is_that_of_the_page() -> None:
    [block] = [each for each in blocks() if each.words == "directory.py"]
    assert (resource("adapters/python") / "directory.py").read_text(encoding="utf-8") == block.text
