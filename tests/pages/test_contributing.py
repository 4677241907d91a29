"""docs/contributing.md, done as it says: each recipe is applied to a copy of the checkout, and its commands are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nightly import NIGHTLY

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "contributing.md"
COPIED = ("conformance", "tests", "tools", "fixtures", "docs", "grammars", "pyproject.toml", "README.md")
RECIPES = (
    "Add a packet rule",
    "Add a session rule",
    "Add a reading",
    "Add a protocol method",
    "Add a fault",
    "Add a cursor transition",
    "Add a feature of an operation",
    "Add a call of an object's member",
    "Add a dialogue",
    "Add a column of a lake's table",
    "Add a report format",
    "Add an MSMQ version",
    "Add a suite",
    "Add a link type",
    "Change a verdict's wording",
)
_BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. kind: its language; `console` is run. words: the path, and `at the end` for what is added."""

    kind: str
    words: str
    text: str

    @property
    def path(self) -> str:
        return self.words.partition(" ")[0]


def recipes() -> dict[str, str]:
    """The sections of the page that are recipes, by their headings."""
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading: text for heading, text in zip(parts[1::2], parts[2::2], strict=True) if "\nFiles: " in text}


def blocks(text: str) -> list[Block]:
    return [Block(*found.groups()) for found in _BLOCK.finditer(text)]


def apply(block: Block, folder: Path) -> None:
    """Write a new file, add to the end of one, or edit one as a diff says."""
    path = folder / block.path
    if block.kind == "diff":
        path.write_text(edited(path.read_text(encoding="utf-8"), block.text), encoding="utf-8")
    elif block.words.endswith("at the end"):
        path.write_text(f"{path.read_text(encoding='utf-8').rstrip()}\n\n{block.text}", encoding="utf-8")
    else:
        assert not path.exists(), f"{block.path} is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")


def edited(text: str, diff: str) -> str:
    """The text after each hunk; `...` stands between two."""
    at = 0
    for hunk in re.split(r"^\.\.\.\n", diff, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        before, after = ("".join(line[1:] or "\n" for line in lines if line[0] != left_out) for left_out in "+-")
        if before.count("\n") == 1 and before not in text:  # the beginning of a long line
            before, after = before.rstrip("\n"), after.rstrip("\n")
        assert text.count(before, at) == 1, f"the diff does not fit once:\n{before}"
        at = text.index(before, at)
        text = text[:at] + after + text[at + len(before) :]
    return text


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, and what each promises to print."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *promised = part.splitlines()
        yield command, promised


def run(command: str, folder: Path, programs: Path) -> str:
    """What a command prints in the copy. Fails where it does not end with 0, or as its remark says."""
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "NO_COLOR": "1",
        "COLUMNS": "200",
        "PYTEST_ADDOPTS": "-p no:xdist -p no:cacheprovider",
    }
    done = subprocess.run(
        ["bash", "-c", command.replace("ORIGINAL", str(ROOT))],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    said = done.stdout + done.stderr
    remark = re.search(r"# ends with (\d)$", command)
    assert done.returncode == (int(remark[1]) if remark else 0), f"{command}\n{said[-3000:]}"
    assert "Traceback" not in said and "defect of mqconform" not in said, f"{command}\n{said[-3000:]}"
    return said


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PATH with mqconform and python."""
    folder = tmp_path_factory.mktemp("programs")
    for name, arguments in (("mqconform", "-m conformance"), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_does_what_it_says(name: str, tmp_path: Path, programs: Path) -> None:
    text = recipes()[name]
    for part in COPIED:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("node_modules"))
        else:
            shutil.copyfile(ROOT / part, tmp_path / part)
    touched, promised = [], 0
    for block in blocks(text):
        if block.kind != "console":
            apply(block, tmp_path)
            touched.append(block.path)
        elif NIGHTLY or block.words != "nightly":
            for command, lines in commands(block):
                said, at = run(command, tmp_path, programs), 0
                for line in lines:
                    assert line in said[at:], f"{command}\ndoes not print {line!r}:\n{said[-3000:]}"
                    at = said.index(line, at)
                    promised += 1
    files = re.findall(r"`([^`]+)`", text.partition("Files: ")[2].partition("\n\n")[0])
    assert sorted(files) == sorted(set(touched)), "the recipe names other files than it touches"
    assert promised and "*Must not change*: " in text


def test_the_recipes_are_there() -> None:
    assert sorted(recipes()) == sorted(RECIPES)


def test_every_program_of_tools_is_listed() -> None:
    """A program is a module that does something when it is run."""
    page = PAGE.read_text(encoding="utf-8").partition("## Generated files")[2].partition("\n## ")[0]
    found = {
        f"python -m {'.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__main__')}"
        for path in (ROOT / "tools").rglob("*.py")
        if "__main__" in path.read_text(encoding="utf-8")
    }
    assert found == set(re.findall(r"python -m tools\.[a-z_.]+", page))
