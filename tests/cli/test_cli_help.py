"""The help of every command: no word of a type checker, as wide as the terminal, examples that can be copied."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from commands import command as run_command

from conformance.cli.app import app
from conformance.cli.shared_options import WIDEST, command_of


def commands(parent: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    below = getattr(parent, "commands", {})
    for name, each in below.items():
        yield from commands(each, (*words, name))
    yield words, parent


ALL = dict(commands(command_of(app)))


def help_of(words: tuple[str, ...], columns: str | None) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns is not None:
        environment["COLUMNS"] = columns
    done = run_command(*words, "--help", env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_no_machine_types(words: tuple[str, ...]) -> None:
    command = ALL[words]
    context = command.make_context("mqconform", [], resilient_parsing=True)
    text = command.get_help(context)
    assert not re.search(r"<(str|int|path|float|list|datetime|bool|file)|PATH\b|\bTEXT\b.*\bTEXT\b|range>|x>=", text)
    assert "......" not in text and "{" not in text.splitlines()[0]
    for option in command.params:
        assert option.help or option.name == "help", f"{words}: {option.name} has no help"


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("100", 100), ("500", WIDEST), ("0", 80)])
def test_it_is_as_wide_as_the_terminal(columns: str, widest: int) -> None:
    text = help_of(("run",), columns)
    lines = [line for line in text.splitlines() if "Example: " not in line]
    assert max(map(len, lines)) <= widest
    assert max(map(len, lines)) > widest - 20, "the width is used"


@pytest.mark.parametrize("words", [each for each in ALL if ALL[each].epilog], ids=" ".join)
def test_an_example_is_on_one_line(words: tuple[str, ...]) -> None:
    command = ALL[words]
    context = command.make_context("mqconform", [], resilient_parsing=True)
    assert f"\n  {command.epilog}" in command.get_help(context)
    assert command.epilog.startswith("Example: mqconform ")


def test_bounds_are_told() -> None:
    text = help_of(("run",), "120")
    assert "[1 to 64]" in text and "--workers N " in text and "--out FOLDER" in text
