"""Commands and options of earlier versions that are gone, and what takes their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_CHECKOUT = "`python -m tools.{}` in a checkout of mqconform"
_LAKE = "deltalake and DuckDB on the lake (docs/lake.md)"
REMOVED: Mapping[str, str] = {
    "diff": "`mqconform report BEFORE NOW`",
    "matrix": "`mqconform report RUN RUN...`",
    "grammar extract": _CHECKOUT.format("grammar extract"),
    "grammar build": _CHECKOUT.format("grammar build"),
    "grammar check": _CHECKOUT.format("grammar check"),
    "grammar generate": _CHECKOUT.format("grammar generate"),
    "spec": _CHECKOUT.format("audit"),
    "situations list": _CHECKOUT.format("situations list"),
    "situations show": _CHECKOUT.format("situations show"),
    "diagnose --jobs": "`--workers`",
    "selftest --jobs": "`--workers`",
    "selftest --fault": "the fault's name as an argument: `mqconform selftest NAME`",
    "selftest --record": "`--update`",
    "pipeline compact": _LAKE,
    "pipeline forget": _LAKE,
    "pipeline vacuum": _LAKE,
    "pipeline history": _LAKE,
    "pipeline upgrade": _LAKE,
    "pipeline prepare": _LAKE,
    "pipeline ingest --split": _LAKE,
    "pipeline watch --checkpoint": _LAKE,
}
"""A command, or a command and its option, to what to use instead."""


def successor(arguments: Sequence[str]) -> str | None:
    """Return a sentence on what takes the place of a command or option that is gone; None if none of them is."""
    line = list(arguments[: arguments.index("--")]) if "--" in arguments else list(arguments)
    for old, new in REMOVED.items():
        words = old.split()
        command = [word for word in words if not word.startswith("-")]
        options = {word.partition("=")[0] for word in line[len(command) :]}
        if line[: len(command)] == command and options.issuperset(words[len(command) :]):
            return f"`mqconform {old}` is gone: use {new}."
    return None
