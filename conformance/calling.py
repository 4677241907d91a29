"""Callable modules: `conformance.run(...)` calls `conformance.run.run`, and `conformance.replay(...)` likewise.

The functions of the Python API have the names of the commands, and so have the modules behind them. Importing a
module binds its name in the package and replaces a function of that name; so the module itself is made callable.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def calls(module: str, function: str) -> None:
    """Make a module callable: calling it calls the function of this name, which is looked up at each call."""
    kind = type("CallableModule", (ModuleType,), {"__call__": _forward, "_called": function})
    sys.modules[module].__class__ = kind


def _forward(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    return getattr(self, self._called)(*args, **kwargs)
