"""A packet rule with a defect: it raises at messages whose body asks for it. On PYTHONPATH, every process has it."""

from __future__ import annotations

import os
import signal
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any

ENGINE = "conformance.captures.packet_rules"


def _deep(depth: int) -> int:
    return _deep(depth + 1) + 1


def _zero() -> float:
    return 1 / 0


RAISES = {
    b"divides by zero": _zero,
    b"asks for all memory": lambda: bytearray(1 << 62),
    b"calls itself": lambda: _deep(0),
    b"kills its worker": lambda: os.kill(os.getpid(), signal.SIGKILL),
}


def plant(engine: Any) -> None:
    """Put the defect into the module that asks the packet rules."""
    sound = engine.judge_dissected

    def judge(packet: Any, **how: Any) -> Any:
        for mark, act in RAISES.items():
            if mark in packet.data:
                act()
        return sound(packet, **how)

    engine.judge_dissected = judge


class Planting(MetaPathFinder):
    """Plants it when that module is imported, and not before: most processes start without it."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Of that module alone, the spec that others find."""
        if name != ENGINE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        assert spec is not None and spec.loader is not None
        execute = spec.loader.exec_module

        def executed(module: Any) -> None:
            execute(module)
            plant(module)

        spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, Planting())
