"""Collect the tests with the requirements they claim, and narrow a run to the tests that claim a requirement."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.harness.suite_registry import suite_of, suites_folder
from conformance.spec.renaming import current


class NotCollected(RuntimeError):
    """The tests cannot be collected. The message is one sentence. refused: pytest did not accept its arguments."""

    def __init__(self, sentence: str, *, refused: bool) -> None:
        super().__init__(sentence)
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Claiming:
    """A collected test with the requirements it claims.

    node: pytest's id. function: the test's name without parameters.
    """

    suite: str
    node: str
    path: Path
    function: str
    requirements: tuple[str, ...]


def collected(modules: Iterable[Path], arguments: Sequence[str] = ()) -> list[Claiming]:
    """Collect the tests of these modules, in the order they run. arguments: pytest's own, such as `-k WORD`.

    Starts no driver and writes nothing; takes a second or two. Raises NotCollected.
    """
    import pytest

    collector = _Collector()
    options = [
        "-c=/dev/null",
        f"--rootdir={suites_folder()}",
        "-p",
        "no:cacheprovider",
        "--collect-only",
        "-q",
        "--import-mode=append",
    ]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        # A conformance run already active in this process keeps its own plugin: this session has no adapter.
        status = pytest.main(
            [*map(str, modules), *options, "-p", "conformance.plugin", *arguments], plugins=[collector]
        )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        last = next((line for line in reversed(said.getvalue().splitlines()) if line.strip()), "")
        raise NotCollected(last.removeprefix("ERROR: "), refused=status == pytest.ExitCode.USAGE_ERROR)
    return collector.tests


def claiming(tests: Iterable[Claiming], wanted: Collection[str]) -> Iterator[Claiming]:
    """Yield the tests that claim at least one of these requirements."""
    return (test for test in tests if not set(wanted).isdisjoint(test.requirements))


class ByRequirement:
    """Pytest plugin that deselects tests that claim none of these requirements."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = frozenset(wanted)

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        left_out = [item for item in items if self._wanted.isdisjoint(_claims(item))]
        if left_out:
            items[:] = [item for item in items if not self._wanted.isdisjoint(_claims(item))]
            config.hook.pytest_deselected(items=left_out)


class _Collector:
    """Pytest plugin that reads the markers of the collected tests."""

    def __init__(self) -> None:
        self.tests: list[Claiming] = []

    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            path = Path(item.path)
            function = getattr(item, "originalname", None) or item.name
            self.tests.append(Claiming(suite_of(path), item.nodeid, path, function, tuple(_claims(item))))


def _claims(item: Any) -> dict[str, None]:
    """Return the requirements that a test's markers name, under today's ids. Importing its module makes the markers."""
    return {current(str(name)): None for marker in item.iter_markers("requirement") for name in marker.args}
