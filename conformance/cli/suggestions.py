"""Suggestions for a stray argument of `run`, made before the suites are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_CONNECTORS = ("embedded", "stdio:", "tcp:", "python:")


def stray(words: Sequence[str]) -> str | None:
    """Return a message for a first word that is neither a pytest option nor a test file; None if it is one."""
    word = words[0] if words else "-"
    if word.startswith("-"):
        return None
    if Path(word.partition("::")[0]).exists():
        return None
    return f"mqconform run takes no argument {word!r}{_hint(word)}"


def _hint(word: str) -> str:
    from conformance.harness.suite_registry import suites
    from conformance.nearest import nearest
    from conformance.spec.renaming import current

    if word.startswith(_CONNECTORS):
        return f"; did you mean --adapter {word}?"
    names = [nearest(name.strip(), suites()) for name in word.split(",")]
    if all(names):
        return f"; did you mean --suite {','.join(filter(None, names))}?"
    from conformance.spec.catalogue import catalogue

    if current(word) in catalogue().requirements:
        return f"; did you mean --requirement {word}?"
    return ": name suites with --suite and the implementation with --adapter; give pytest arguments after --."
