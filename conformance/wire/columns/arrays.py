"""Functions over arrays, compiled by numba, that are called without numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from conformance.wire.columns.machine_code import Wanted, texts_of

_MAKERS = ("conformance.wire.columns.jit", "conformance.wire.columns.machine_code")


class Compiled:
    """A function of a module that is imported only to compile it.

    module: its module, such as `conformance.capture.columns.walk`. name: of a function there, of arrays and integers,
    that returns an integer; it is made by `jit.compiled`. uses: the modules whose constants and functions its code
    includes; when one of them changes, it is compiled again.

    An array must be contiguous. The first call settles the types of the arrays.
    """

    def __init__(self, module: str, name: str, uses: tuple[str, ...]) -> None:
        self.module, self.name, self.uses = module, name, uses
        self._texts: tuple[str, ...] = ()
        self._made: dict[tuple[Any, ...], Callable[..., int]] = {}

    def wanted(self, *arguments: Any) -> Wanted:
        """Return the machine code for arguments of these types."""
        kinds = tuple((one.dtype.str, one.ndim) if isinstance(one, np.ndarray) else None for one in arguments)
        symbol = f"mqconform.{self.name}"

        def make() -> str:
            from conformance.wire.columns.jit import text_of

            return text_of(getattr(import_module(self.module), self.name), kinds, symbol)

        if not self._texts:
            files = map(_file, (*_MAKERS, self.module, *self.uses))
            self._texts = (*texts_of(files), _numba())
        count = sum(1 if kind is None else 1 + kind[1] for kind in kinds)
        return Wanted(self.name, (*self._texts, repr(kinds)), symbol, count, make)

    def bound(self, *arguments: Any) -> Callable[[], int]:
        """Bind these arguments to a repeatable call, which reads the arrays when it is made."""
        kinds: list[Any] = []
        flat: list[int] = []
        for one in arguments:
            if isinstance(one, np.ndarray):
                if not one.flags.c_contiguous:
                    raise ValueError(f"{self.name} needs contiguous arrays")
                kinds.append((one.dtype, one.ndim))
                flat += [one.ctypes.data, *one.shape]
            else:
                kinds.append(None)
                flat.append(int(one))
        key = tuple(kinds)
        function = self._made.get(key)
        if function is None:
            function = self._made[key] = self.wanted(*arguments).function()
        call = partial(function, *flat)
        call.__dict__["arguments"] = arguments  # they must outlive the call
        return call

    def __call__(self, *arguments: Any) -> int:
        return self.bound(*arguments)()


def _file(module: str) -> Path:
    found = find_spec(module)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"there is no source of {module}", name=module)
    return Path(found.origin)


def _numba() -> str:
    """Return a text that identifies the version of numba, which is slow to import."""
    path = _file("numba").with_name("_version.py")
    return path.read_text("utf-8") if path.is_file() else ""
