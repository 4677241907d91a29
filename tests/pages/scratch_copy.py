"""A folder as the reader of a page has it: a copy of the project, and the files that the page's lines name."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from base_install import Base
from page_lines import ROOT

from conformance.adapter.templates import write_template

CAPTURES = ROOT / "fixtures" / "captures"
ORDINARY, OTHER = "consistent-session.pcapng", "ipv6-extensions.pcapng"
PROJECT = (
    *("README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "hatch_build.py", "mq", "adapters", "benchmarks", "ci"),
    *("conformance", "fixtures", "tools"),
)


@dataclass(frozen=True, slots=True)
class Given:
    """What readers have before they come: records of short runs, without a deviation and with one, and a selftest."""

    base: Base
    good: Path
    bad: Path
    selftest: Path

    def repro(self) -> Path:
        """The file of the deviation that was found."""
        return min((self.bad / "repros").glob("*.json"))


def make_scratch(folder: Path, base: Base) -> None:
    """Fill a new folder with what a clone of the project has, by links: no line writes into one of them.

    Its environment is the base install, with the stamp that `./mq` leaves when it has made it.
    """
    folder.mkdir(parents=True)
    for name in PROJECT:
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "grammars", folder / "grammars")  # one line writes into it
    (folder / "docs").mkdir()
    shutil.copyfile(ROOT / "docs" / "scale.md", folder / "docs" / "scale.md")  # a line makes it again
    (folder / ".venv").symlink_to(base.folder)
    made_for = "{ cat pyproject.toml; echo \"$0\"; \"$0\" -V; } | sha256sum | cut -d' ' -f1 | tr -d '\\n' >.venv/.stamp"
    subprocess.run(["bash", "-c", made_for, sys.executable], cwd=folder, check=True, timeout=60)


def give(line: str, folder: Path, given: Given) -> None:
    """Make the files and folders that a line reads and that no line before it has made."""
    if line.startswith("git ") and not (folder / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True, capture_output=True, timeout=60)
    for name, make in FILES.items():
        named = re.search(rf"(?<![\w./-])(?:\./)?{re.escape(name)}(?![\w.-])", made_by_itself(line))
        if named and not (folder / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            make(folder / name, given)


def made_by_itself(line: str) -> str:
    """The line without what it writes."""
    written = r"--(?:out|mq-out|html|junit|sarif|markdown|allure)[ =](?!lake)\S+|> *\S+|adapter new .*"
    return re.sub(written, "", line)


def _folder_driver(path: Path, given: Given) -> None:
    write_template("python", path)


def _program_driver(path: Path, given: Given) -> None:
    write_template("python", path.with_name(f"{path.name}.d"))
    path.write_text(f'#!/bin/sh\nexec python3 "$(dirname "$0")/{path.name}.d/driver.py" "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def _good(path: Path, given: Given) -> None:
    shutil.copytree(given.good, path)


def _bad(path: Path, given: Given) -> None:
    shutil.copytree(given.bad, path)


def _runs(path: Path, given: Given) -> None:
    _good(path / "one", given)
    _bad(path / "two", given)


def _repro(path: Path, given: Given) -> None:
    shutil.copyfile(given.repro(), path)


def _capture(path: Path, given: Given) -> None:
    shutil.copyfile(CAPTURES / ORDINARY, path)


def _packets(path: Path, given: Given) -> None:
    shutil.copyfile(CAPTURES / "linux-cooked.pcap", path)


def _captures(path: Path, given: Given) -> None:
    path.mkdir(parents=True, exist_ok=True)
    for name in (ORDINARY, OTHER):
        shutil.copyfile(CAPTURES / name, path / name)


def _packed(path: Path, given: Given) -> None:
    path.mkdir(parents=True, exist_ok=True)
    (path / "a.pcap.gz").write_bytes(gzip.compress((CAPTURES / ORDINARY).read_bytes()))


def _replayed(path: Path, given: Given) -> None:
    _made(given, "replay", str(CAPTURES / ORDINARY), "--out", str(path))


def _made(given: Given, *arguments: str) -> None:
    command = [str(given.base.folder / "bin" / "mqconform"), *arguments]
    subprocess.run(command, env=given.base.variables(), check=True, capture_output=True, timeout=300)


def _baseline(path: Path, given: Given) -> None:
    shutil.copyfile(ROOT / "ci" / "tox" / "baseline.toml", path)


def _selftest(path: Path, given: Given) -> None:
    shutil.copyfile(given.selftest, path)


def _own_tests(path: Path, given: Given) -> None:
    """The test that docs/python.md prints."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (text,) = [
        one for one in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL) if "def test_" in one
    ]
    path.mkdir()
    (path / "test_orders.py").write_text(text, encoding="utf-8")


FILES: Mapping[str, Callable[[Path, Given], object]] = {
    "my-driver": _folder_driver,
    "mydriver": _program_driver,
    "driver": _program_driver,
    "out": _bad,
    "out/repros": lambda path, given: shutil.copytree(given.bad / "repros", path),
    "out/repros/0123456789abcdef.json": _repro,
    "mine": _good,
    "theirs": _bad,
    "last": _bad,
    "nightly/": _runs,
    "reports/mine": _good,
    "reports/*/": lambda path, given: _runs(path.parent, given),
    "replayed": _replayed,
    "baseline.toml": _baseline,
    "selftest.json": _selftest,
    "tests/": _own_tests,
    "site.pcapng": lambda path, given: shutil.copyfile(CAPTURES / OTHER, path),
    "growing.pcap": _capture,
    "my.pcapng": _capture,
    "packets.pcap": _packets,
    "captures/": _captures,
    "more/": _captures,
    "old/": _packed,
    "more/*.pcap.gz": lambda path, given: _packed(path.parent, given),
}
"""What the reader of a page has, by the name that its lines give it."""
