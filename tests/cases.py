"""Tests of a long table: one test goes through it and names each case that fails.

`@all_of(names, rows, ids=...)` stands where `@pytest.mark.parametrize` would, which collects a test for each row in
every worker. Each row has a folder and patches of its own; other fixtures are those of the one test.
"""

from __future__ import annotations

import functools
import inspect
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

SHOWN = 10
"""Failures whose traceback is printed; the others are named."""


def all_of(
    names: str | tuple[str, ...], rows: Iterable[Any], *, ids: Callable[[Any], object] | Iterable[str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for every row of a table, also behind one that fails."""
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases, words = [], []
    given = None if ids is None or callable(ids) else list(ids)
    for at, row in enumerate(rows):
        named = getattr(row, "id", None) if hasattr(row, "marks") else None  # pytest.param
        case = row.values if hasattr(row, "marks") else row if len(arguments) > 1 else (row,)
        cases.append(case)
        words.append(str(named or (given[at] if given else ", ".join(_name(value, ids) for value in case))))

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def loop(**fixtures: Any) -> None:
            assert cases, "a table without rows shows nothing"
            failures: list[str] = []
            skipped: list[str] = []
            for name, case in zip(words, cases, strict=True):
                try:
                    with _own(fixtures) as own:
                        test(**dict(zip(arguments, case, strict=True)), **own)
                except pytest.skip.Exception as reason:
                    skipped.append(f"{name}: {reason}")
                except (Exception, pytest.fail.Exception):
                    failures.append(f"{name}\n{traceback.format_exc()}" if len(failures) < SHOWN else name)
            if failures:
                pytest.fail(f"{len(failures)} of {len(cases)} cases fail\n" + "\n".join(failures), pytrace=False)
            if len(skipped) == len(cases):
                pytest.skip(skipped[0])

        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in arguments]
        assert len(left) + len(arguments) == len(signature.parameters), "the test takes each column by its name"
        loop.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return loop

    return decorate


@contextmanager
def _own(fixtures: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give a case a folder within that of the test, and patches that end with it."""
    own = dict(fixtures)
    with ExitStack() as stack:
        if "tmp_path" in own:
            own["tmp_path"] = Path(tempfile.mkdtemp(dir=own["tmp_path"]))
        if "monkeypatch" in own:
            own["monkeypatch"] = stack.enter_context(own["monkeypatch"].context())
        yield own


def _name(value: object, ids: object) -> str:
    said = ids(value) if callable(ids) else None
    text = str(said if said is not None else value)
    return text if len(text) <= 80 else f"{text[:77]}..."
