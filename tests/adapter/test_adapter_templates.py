"""`mqconform adapter new`: what it writes speaks the protocol and conforms; what it cannot write it says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nightly import nightly_only

from conformance.adapter.templates import TEMPLATES, TemplateError, write_template
from conformance.run import run
from conformance.verdict import ExitCode

# What each language needs to be compiled and started, and its compiler told to refuse what it only warns of.
PROGRAMS = {
    "python": ("python3",),
    "node": ("node",),
    "csharp": ("mono", "mcs"),
    "go": ("go",),
    "java": ("java", "javac"),
    "rust": ("rustc", "cc"),
    "c": ("cc",),
}
STRICT = {
    "csharp": ("mcs ", "mcs -langversion:5 -warnaserror "),
    "java": ("javac ", "javac --release 11 -Xlint:all,-auxiliaryclass,-serial -Werror "),
    "rust": ("rustc ", "rustc -D warnings "),
    "c": ("cc ", "cc -Wall -Wextra -Werror "),
}
SUITES = {"node": "cursors,properties,restart", "csharp": "cursors,properties,restart"}


def mqconform(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "conformance", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def need(*programs: str) -> None:
    """Skip where a language is not installed; in CI it has to be."""
    for program in programs:
        if shutil.which(program) is None:
            if os.environ.get("CI"):
                pytest.fail(f"{program} is not installed", pytrace=False)
            pytest.skip(f"{program} is not installed")


def made(language: str, folder: Path) -> list[dict[str, str]]:
    """Write a template, do what is said to come next, and return the steps of its check."""
    need(*PROGRAMS[language])
    done = mqconform("adapter", "new", "--lang", language, str(folder), "--json")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    told = json.loads(done.stdout)
    files = {Path(file) for file in told["files"]}
    assert files == set(folder.iterdir()) and folder / "README.md" in files
    command = (
        told["next"].replace("mqconform", f"'{sys.executable}' -m conformance").replace(*STRICT.get(language, ("", "")))
    )
    tried = subprocess.run(
        ["bash", "-c", f"{command} --json"], capture_output=True, text=True, timeout=240, check=False
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
    steps: list[dict[str, str]] = json.loads(tried.stdout)["steps"]
    return steps


@pytest.mark.parametrize("language", TEMPLATES)
def test_a_template_speaks_the_protocol_and_conforms(language: str, tmp_path: Path) -> None:
    steps = made(language, tmp_path / "my driver")
    assert not [step for step in steps if step["state"] not in ("ok", "missing")]
    good = {step["what"] for step in steps if step["state"] == "ok"}
    assert good >= {"messages.send", "messages.receive", "messages.peek", "messages.cancel", "pending"}
    assert good >= {"kill and restart", "graceful restart", "waiting read", "unknown method", "stop"}
    if language == "python":  # test_adapter_tutorial.py ends with this very driver, and judges it
        return
    suites = SUITES.get(language, "names,cursors,concurrency")
    result = run(adapter=f"stdio:'{tmp_path / 'my driver'}'", suites=suites, max_examples=5, out=tmp_path / "out")
    assert result.exit_code == ExitCode.CONFORMS, (tmp_path / "out").as_posix()


@nightly_only("adapter.templates-default-run")
@pytest.mark.parametrize("language", TEMPLATES)
def test_a_template_conforms_in_the_default_run(language: str, tmp_path: Path) -> None:
    made(language, tmp_path / "my driver")
    result = run(adapter=f"stdio:'{tmp_path / 'my driver'}'", out=tmp_path / "out")
    assert result.exit_code == ExitCode.CONFORMS, result.sentence


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("pyton", "did you mean python?"),
        ("javascript", "did you mean node?"),
        ("C#", "did you mean csharp?"),
        ("golang", "did you mean go?"),
        ("c++", "did you mean c?"),
        ("fortran", f"Templates: {', '.join(TEMPLATES)}."),
    ],
)
def test_an_unknown_language_is_told_the_nearest(language: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="There is no template in") as caught:
        write_template(language, tmp_path / "new")
    assert says in caught.value.sentence and "\n" not in caught.value.sentence
    assert not (tmp_path / "new").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = mqconform("adapter", "new", "--lang", "node", str(tmp_path))
    assert done.returncode == ExitCode.BAD_INPUT and "is not empty" in done.stderr and "Traceback" not in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(TemplateError, match="is not a folder"):
        write_template("python", tmp_path / "mine.txt")
    with pytest.raises(TemplateError, match="can't be written"):
        write_template("python", tmp_path / "mine.txt" / "below")


def test_a_language_that_is_not_installed_is_named(tmp_path: Path) -> None:
    done = mqconform("adapter", "new", "--lang", "node", str(tmp_path / "new"), PATH=str(tmp_path))
    assert done.returncode == 0
    assert done.stderr.strip() == (
        "mqconform: node is not installed here, and this driver needs it: sudo apt-get install nodejs"
    )


@pytest.fixture
def busy() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Twelve processes that never rest, as on the machine of a CI that others use too."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(12)]
    try:
        yield loops
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@nightly_only("adapter.busy-machine")
def test_a_busy_machine_is_no_deviation(busy: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    """The order and the times of answers are those of the machine then, and nobody is blamed for them."""
    write_template("python", tmp_path / "driver")
    connector = f"stdio:'{sys.executable}' '{tmp_path / 'driver' / 'driver.py'}'"
    result = run(adapter=connector, suites="cursors,concurrency,transactions", out=tmp_path / "out")
    assert all(loop.poll() is None for loop in busy)
    assert result.exit_code == ExitCode.CONFORMS, result.sentence
