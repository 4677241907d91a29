"""mqconform judges whether a message queuing implementation does what the open MSMQ specifications say.

The Python API is `run`, `replay`, `judge_packet`, `judge_again` and the types they return and raise; `docs/python.md`
explains them. Importing this package loads none of them: each name is imported when it is first used.
"""

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
"""Names of modules that can be called: the call goes to the function of the same name (`conformance.calling`)."""


def __getattr__(name: str) -> object:
    from importlib import import_module  # A command imports as little as possible before it handles signals.

    if name in _ROOMS:
        return import_module(f"conformance.{name}")
    if name in __all__:
        return getattr(import_module("conformance.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
