"""Deviations of parts: one method of a part, or several members, replaced in a subclass of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any

Replacement = tuple[str, type]
"""A part by its name, and the class that takes its place."""


def replacement(parts: Any, of: Any, made: Any, base: type | None = None) -> Replacement:
    """Return the part that a deviation is of, and its subclass that deviates.

    parts: an object that has each part's class. of: the method in whose place `made` comes, `PART.METHOD` where several
    parts share it, or the name of a part. made: a function that takes the method, bound to the part, then what the
    method takes; for a part, a subclass of it, or a mapping of members (of a subclass of `base`, if that is given).
    """
    part, _, method = (of if isinstance(of, str) else _place(parts, of)).partition(".")
    if method:
        made = _in_place(getattr(parts, part), method, made)
    elif isinstance(made, Mapping):
        made = type(part, (base or getattr(parts, part),), dict(made))
    return part, made


def replace(parts: Any, part: str, deviating: type) -> None:
    """Put a deviating class in place of a part, on top of those that deviate already.

    Raises TypeError if it is among these.
    """
    setattr(parts, part, type(deviating.__name__, (deviating, getattr(parts, part)), {}))


def sentence(made: Any) -> str:
    """Return the docstring in one line."""
    return " ".join((made.__doc__ or "").split())


def _place(parts: Any, method: Any) -> str:
    """Return `PART.METHOD` of a method that one part alone has."""
    function = _function(method)
    owner, _, name = function.__qualname__.rpartition(".")
    cls = getattr(sys.modules[function.__module__], owner)
    found = [each for each in parts.__dataclass_fields__ if getattr(parts, each) is cls]
    if len(found) != 1:
        raise ValueError(f"{function.__qualname__} is of {len(found)} parts: name one, as in 'PART.{name}'")
    return f"{found[0]}.{name}"


@cache  # so that two deviations by one function are not together: see `NotTogether`
def _in_place(part: type, method: str, function: Callable[..., Any]) -> type:
    present = getattr(part, method)

    @wraps(_function(present))
    def call(self: Any, *args: Any, **named: Any) -> Any:
        return function(getattr(super(made, self), method), self, *args, **named)

    made = type(function.__name__, (part,), {method: property(call) if isinstance(present, property) else call})
    return made


def _function(member: Any) -> Any:
    return member.fget if isinstance(member, property) else member
