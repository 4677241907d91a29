"""The names that users' scripts, records and drivers depend on, one a line, with what belongs to it behind it.

`fixtures/old/0.1/names/KIND.txt` holds the lines of version 0.1, made by `python tests/old/inventory.py FOLDER`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

import conformance
from conformance import plugin
from conformance.adapter import protocol
from conformance.cli.app import app
from conformance.embedded.faults import FAULTS
from conformance.harness.suite_registry import suites
from conformance.pipeline.schemas import TABLES
from conformance.spec.catalogue import catalogue
from conformance.spec.versions import LEVELS, PROFILES, READING_SETS
from conformance.verdict import ExitCode, Outcome


def requirements() -> Iterator[str]:
    """Ids, and the older names of each."""
    for entry in catalogue():
        yield entry.id
        yield from entry.aliases


def readings() -> Iterator[str]:
    """`ID=alternative`, as `--reading` takes them."""
    for reading in catalogue().readings.values():
        yield from (f"{reading.id}={alternative}" for alternative in reading.alternatives)


def faults() -> Iterator[str]:
    """Faults of the embedded manager, as `embedded+FAULT` takes them."""
    yield from FAULTS


def words() -> Iterator[str]:
    """Suites, profiles, levels, reading sets, outcomes, and exit codes with their numbers."""
    yield from (f"suite {name}" for name in suites())
    yield from (f"profile {name}" for name in PROFILES)
    yield from (f"level {name}" for name in LEVELS)
    yield from (f"reading set {name}" for name in READING_SETS)
    yield from (f"outcome {outcome.value}" for outcome in Outcome)
    yield from (f"exit code {code.name} {code.value}" for code in ExitCode)


def methods() -> Iterator[str]:
    """Versions of the adapter protocol, and its methods with their parameters and the members of their results."""
    yield from (f"version {version}" for version in protocol.VERSIONS)
    for name in protocol.methods():
        yield name
        schema = protocol.document(protocol.methods()[name].facet)["methods"][name.rpartition(".")[2]]
        for place in ("params", "result"):
            for variant in schema[place].get("anyOf", [schema[place]]):
                yield from (f"{name} {place} {member}" for member in variant.get("properties", ()))


def commands() -> Iterator[str]:
    """Commands with their options and their arguments, which are told by their number."""

    def below(command: Any, name: str) -> Iterator[str]:
        for parameter in command.params:
            if parameter.param_type_name == "option":
                yield from (f"{name} {spelling}".strip() for spelling in parameter.opts)
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        yield from (f"{name} argument {number}" for number, _ in enumerate(arguments, 1))
        for each, inner in getattr(command, "commands", {}).items():
            yield f"{name} {each}".strip()
            yield from below(inner, f"{name} {each}".strip())

    yield from below(typer.main.get_command(app), "")


def python() -> Iterator[str]:
    """The Python API: names, the parameters of functions, and the options of the pytest plugin."""
    for name in conformance.__all__:
        yield name
        value = getattr(conformance, name)
        if inspect.isfunction(value):
            yield from (f"{name} {parameter}" for parameter in inspect.signature(value).parameters)
    options = _Options()
    plugin.pytest_addoption(options)  # type: ignore[arg-type]
    yield from (f"pytest {name}" for name in options.names)


class _Options:
    """Stands for pytest's parser and notes the options it is given."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def getgroup(self, *_: str) -> _Options:
        return self

    def addoption(self, *names: str, **_: Any) -> None:
        self.names += names


def columns() -> Iterator[str]:
    """Tables of a lake and their columns, as SQL has them."""
    for table in TABLES.values():
        yield from (f"{table.name}.{column}" for column in table.names)


KINDS: dict[str, Callable[[], Iterator[str]]] = {
    "requirements": requirements,
    "readings": readings,
    "faults": faults,
    "words": words,
    "methods": methods,
    "commands": commands,
    "python": python,
    "columns": columns,
}


def lines(kind: str) -> list[str]:
    """Today's names of this kind, each once, sorted."""
    return sorted(set(KINDS[kind]()))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir()
    for each in KINDS:
        (folder / f"{each}.txt").write_text("".join(f"{line}\n" for line in lines(each)), encoding="utf-8")
