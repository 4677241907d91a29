"""Paths of the files that ship with the code: fixtures and grammars, in the wheel or in the checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def resource(name: str) -> Path:
    """Return the path of `fixtures/...` or `grammars/...`: in the installed package, else beside it in a checkout.

    Raises FileNotFoundError for a name that is in neither.
    """
    for base in (_PACKAGE / "_data", _PACKAGE.parent):
        path = base / name
        if path.exists():
            return path
    raise FileNotFoundError(f"{name} is neither in the installed package nor in a checkout: reinstall mqconform")
