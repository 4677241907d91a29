"""A Python whose mqconform is another version, or is not there. FAKE_MQCONFORM: `other` or `none`."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any


class Faking(MetaPathFinder):
    """Finds the package, but with another version; or says that there is none."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Of the package alone, the spec that others find."""
        if name != "conformance":
            return None
        if os.environ["FAKE_MQCONFORM"] == "none":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        sys.meta_path.remove(self)
        spec = find_spec(name)
        assert spec is not None and spec.loader is not None
        execute = spec.loader.exec_module

        def executed(module: Any) -> None:
            execute(module)
            module.__version__ = "0.0.0+other"

        spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


if __name__ == "sitecustomize" and "FAKE_MQCONFORM" in os.environ:
    sys.meta_path.insert(0, Faking())
