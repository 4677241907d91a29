"""Binds the layers to their ports for users of scapy, without loading scapy for those who are none.

Judging needs no scapy, and it takes a good part of a second to load. So the layers are made when scapy's own TCP and
UDP are there: at once when they are loaded already, otherwise as soon as somebody loads them.
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


class _Watcher:
    """Stands in the import path until scapy's TCP is loaded, and then steps out of it."""

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
    """Have the layers bound now or as soon as scapy is loaded."""
    if WATCHED in sys.modules:
        import_module(LAYERS)
    elif not any(isinstance(finder, _Watcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())
