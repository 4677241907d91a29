"""Prints how large the project is, beside the figures it has to stay within; `tests/test_tools.py` compares them."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
FOLDERS = ("conformance", "tests", "benchmarks", "tools")
FIGURES: Mapping[str, int] = {
    "lines of conformance": 221_100,
    "files of conformance": 892,
    "longest file of conformance": 900,
    "longest function": 80,
    "most branches of a function": 20,
}
"""A commit may raise one and says why. Functions and branches: of conformance/, where they are not compiled."""


def measure(top: Path = TOP) -> dict[str, tuple[int, str]]:
    """Return each figure, with the place it is measured at."""
    found: dict[str, tuple[int, str]] = {}
    for folder in FOLDERS:
        lines = {file: file.read_bytes().count(b"\n") for file in _files(top, folder)}
        found[f"lines of {folder}"] = sum(lines.values()), ""
        found[f"files of {folder}"] = len(lines), ""
        longest = max(lines, key=lambda file: lines[file])
        found[f"longest file of {folder}"] = lines[longest], str(longest.relative_to(top))
    functions = dict(_functions(top))
    place = max(functions, key=lambda place: functions[place])
    found["longest function"] = functions[place], ":".join(map(str, place))
    branches = [(count, place) for count, place in _branches(top) if place in functions]
    count, place = max(branches)
    found["most branches of a function"] = count, ":".join(map(str, place))
    return found


def _files(top: Path, folder: str) -> list[Path]:
    """Return the Python files that git knows, or will."""
    listed = ["git", "-C", str(top), "ls-files", "-z", "--cached", "--others", "--exclude-standard", f"{folder}/*.py"]
    names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
    return [top / name for name in names if name and (top / name).exists()]


def _functions(top: Path) -> Iterator[tuple[tuple[str, int], int]]:
    """Yield the place of each function that is not compiled, and its lines."""
    for file in _files(top, "conformance"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.FunctionDef) and "compiled" not in map(ast.unparse, node.decorator_list):
                yield (str(file.relative_to(top)), node.lineno), (node.end_lineno or 0) - node.lineno + 1


def _branches(top: Path) -> Iterator[tuple[int, tuple[str, int]]]:
    """Yield the cyclomatic complexity of functions as ruff counts it, with the place."""
    rule = ["--isolated", "--exit-zero", "--select", "C901", "--config", "lint.mccabe.max-complexity=9"]
    line = [sys.executable, "-m", "ruff", "check", *rule, "--output-format", "json", "conformance"]
    for each in json.loads(subprocess.run(line, cwd=top, check=True, capture_output=True, text=True).stdout):
        count = re.search(r"\((\d+) >", each["message"])
        file = Path(each["filename"]).relative_to(top)
        yield int(count[1]) if count else 0, (str(file), each["location"]["row"])


def main() -> None:
    """Print a line for each figure."""
    for name, (value, place) in measure().items():
        limit = f"of {FIGURES[name]:,}" if name in FIGURES else ""
        print(f"{name:32}{value:>10,} {limit:12}{place}".rstrip())


if __name__ == "__main__":
    main()
