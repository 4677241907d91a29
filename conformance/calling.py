"""A room that is also a function: `conformance.run(...)` calls `conformance.run.run`, and `conformance.replay` its own.

The names of the Python API are those of the commands, and so are the names of the modules behind them. Importing a
module binds its name in the package, over whatever stood there; so the module itself has to be what is called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def calls(module: str, function: str) -> None:
    """Make the module of this name callable: a call of it is one of its function. Both are looked up when called."""
    kind = type("CallableModule", (ModuleType,), {"__call__": _forward, "_called": function})
    sys.modules[module].__class__ = kind


def _forward(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    return getattr(self, self._called)(*args, **kwargs)
