"""Values that are cheap to copy: what the model is made of.

A step of the model copies a dozen values with a member or two changed; with `dataclasses.replace` on frozen classes
that was most of the time a step took. These are frozen to the type checker, which sees every module that touches them,
and plain slots when the code runs.
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
    """A dataclass with slots that nothing may change. eq: whether two with the same members are equal."""
    return _made(cls, eq) if cls is not None else lambda given: _made(given, eq)


def _made(cls: type[T], eq: bool) -> type[T]:
    made: Any = dataclass(slots=True, eq=eq, unsafe_hash=eq)(cls)
    copies = "".join(f"    new.{field.name} = self.{field.name}\n" for field in fields(made))
    scope: dict[str, Any] = {"_new": object.__new__, "_cls": made}
    exec(f"def copy(self):\n    new = _new(_cls)\n{copies}    return new\n", scope)  # the names of members, no input
    made.__copy__ = scope["copy"]
    return made  # type: ignore[no-any-return]


def copied(thing: T) -> T:
    """Another with the same members: for who makes a value and changes it before anybody else sees it."""
    return thing.__copy__()  # type: ignore[attr-defined, no-any-return]


def replace(thing: T, /, **changes: Any) -> T:
    """`thing` with these members changed. Raises AttributeError for a member it does not have."""
    new: T = thing.__copy__()  # type: ignore[attr-defined]
    for name in changes:
        setattr(new, name, changes[name])
    return new
