"""Faults of the network: deviations of the parts of a node. `fault` registers one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from conformance.embedded import deviations
from conformance.embedded.network.node import NetworkParts

_Made = TypeVar("_Made")
_PARTS = NetworkParts()


@dataclass(frozen=True, slots=True, eq=False)
class NetworkFault:
    """A deviation.

    name: what a user calls it. says: what it does, in a sentence. breaks: the requirements it breaks, from the text of
    the documents. replaces: parts of `NetworkParts` and the subclasses that deviate. module: where it is.
    """

    name: str
    says: str
    breaks: tuple[str, ...]
    replaces: tuple[deviations.Replacement, ...]
    module: str


REGISTERED: dict[str, NetworkFault] = {}


def fault(name: str, of: Any, *breaks: str, says: str = "") -> Callable[[_Made], _Made]:
    """Register what is decorated. of, and what that is: see `deviations.replacement`. says: if it has no docstring."""

    def register(made: _Made) -> _Made:
        if name in REGISTERED:
            raise ValueError(f"two faults are named {name}")
        replaces = (deviations.replacement(_PARTS, of, made),)
        REGISTERED[name] = NetworkFault(name, says or deviations.sentence(made), breaks, replaces, made.__module__)
        return made

    return register


def also(name: str, of: Any) -> Callable[[_Made], _Made]:
    """Add what is decorated to the fault of this name, which needs several methods or parts."""

    def register(made: _Made) -> _Made:
        present = REGISTERED[name]
        REGISTERED[name] = replace(present, replaces=(*present.replaces, deviations.replacement(_PARTS, of, made)))
        return made

    return register
