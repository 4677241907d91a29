"""Immutable values that are cheap to copy, for the model's state.

A step of the model copies a dozen values with one or two members changed. With `dataclasses.replace` on frozen classes,
copying took most of a step's time. These classes are frozen for the type checker, which sees every module that uses
them, and have plain slots at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def value(cls: type[T], /) -> type[T]: ...
@overload
def value(*, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True)
def value(cls: type[T] | None = None, /, *, eq: bool = True) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a dataclass with slots, to be treated as immutable. eq: values with the same members are equal."""
    return _frozen(cls, eq) if cls is not None else lambda given: _frozen(given, eq)


def _frozen(cls: type[T], eq: bool) -> type[T]:
    made: Any = dataclass(slots=True, eq=eq, unsafe_hash=eq)(cls)
    copies = "".join(f"    new.{field.name} = self.{field.name}\n" for field in fields(made))
    scope: dict[str, Any] = {"_new": object.__new__, "_cls": made}
    exec(f"def copy(self):\n    new = _new(_cls)\n{copies}    return new\n", scope)  # only member names, no input
    made.__copy__ = scope["copy"]
    return made  # type: ignore[no-any-return]


def copied(thing: T) -> T:
    """Return a copy with the same members. The caller may change it before anybody else sees it."""
    return thing.__copy__()  # type: ignore[attr-defined, no-any-return]


def replace(thing: T, /, **changes: Any) -> T:
    """Return a copy of `thing` with these members changed. Raises AttributeError for an unknown member."""
    new: T = thing.__copy__()  # type: ignore[attr-defined]
    for name in changes:
        setattr(new, name, changes[name])
    return new
