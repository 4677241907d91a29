"""Binds the layers to their ports for users of scapy, without loading scapy for anyone else.

Judging needs no scapy, which takes a good part of a second to load. The layers are therefore made when scapy's own TCP
and UDP exist: at once when they are loaded already, otherwise as soon as another module loads them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

WATCHED = "scapy.layers.inet"
LAYERS = "conformance.wire.layers"


class _ScapyImportHook:
    """An import finder that waits until scapy's TCP is loaded, and then removes itself."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != WATCHED:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_bind(module: ModuleType) -> None:
                load(module)
                import_module(LAYERS)

            spec.loader.exec_module = load_and_bind  # type: ignore[method-assign]
        return spec


def bind() -> None:
    """Bind the layers now, or as soon as scapy is loaded."""
    if WATCHED in sys.modules:
        import_module(LAYERS)
    elif not any(isinstance(finder, _ScapyImportHook) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ScapyImportHook())
