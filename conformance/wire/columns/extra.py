"""The extra `columns`: the packages that compiled code needs, and the error when one is missing."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = ("numpy", "numba", "pyarrow")


class MissingExtraError(Exception):
    """A package of the extra `columns` is not installed. The message is one sentence for the user."""


def need_columns() -> None:
    """Raise MissingExtraError unless all packages that compiled code needs are installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"judging by columns needs {' and '.join(missing)}, not installed here: pip install 'mqconform[columns]'"
        )
