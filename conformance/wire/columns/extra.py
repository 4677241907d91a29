"""The extra `columns`: what the fast path needs beside the base install, and the sentence for its absence."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = ("numpy", "numba", "pyarrow")


class MissingExtraError(Exception):
    """A package of the extra `columns` is not installed. The message is one sentence for the user."""


def need_columns() -> None:
    """Raise MissingExtraError unless everything the fast path needs is installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"judging by columns needs {' and '.join(missing)}, not installed here: pip install 'mqconform[columns]'"
        )
