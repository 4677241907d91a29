"""mqconform: does a message queuing implementation do what the open MSMQ specifications say?

The Python API is `run`, `replay`, `judge_packet`, `judge_again` and what they raise and return; `docs/python.md` shows
them. Importing this package loads none of it: each name is looked up when it is first used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

__all__ = [
    "AdapterError",
    "BadInput",
    "Outcome",
    "Run",
    "Verdict",
    "__version__",
    "judge_again",
    "judge_packet",
    "read_run",
    "replay",
    "run",
]

_ROOMS = frozenset({"run", "replay"})
"""Names that are a module and, called, its function."""


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"conformance.{name}")
    if name in __all__:
        return getattr(import_module("conformance.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
