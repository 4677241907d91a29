"""Faults: deviations of the manager that a harness must find. `fault` registers one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from conformance.embedded import deviations
from conformance.embedded.manager import Parts

REGISTERED: dict[str, Fault] = {}  # by name; `conformance.embedded.faults` fills it
_Made = TypeVar("_Made")
_PARTS = Parts()


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A deviation.

    name: what a user calls it. says: what it does, in a sentence. breaks: the 1 to 5 requirements it breaks, from the
    text of the documents and not from what a run has shown. first_seen_as: requirements beside them that a run may
    blame first, and `because`: why that is no mistake of the judge. suite: the suite that must find it, which is the
    name of its folder. replaces: parts of `Parts`, each with the subclass that deviates; several faults of one part
    combine. profile: the MSMQ version it shows in, for a part that this version has and the default one has not. races:
    whether it lets requests in while another is being done, so that they need threads. module: where it is. source: the
    functions and classes there that make it.
    """

    name: str
    says: str
    breaks: tuple[str, ...]
    replaces: tuple[deviations.Replacement, ...]
    module: str
    source: tuple[Any, ...]
    first_seen_as: tuple[str, ...] = ()
    because: str = ""
    profile: str | None = None
    races: bool = False

    @property
    def suite(self) -> str:
        """The suite that must find it."""
        return self.module.split(".")[3]

    def apply(self, parts: Parts) -> None:
        """Put the deviating classes in place."""
        parts.races = parts.races or self.races
        for part, deviating in self.replaces:
            deviations.replace(parts, part, deviating)


def fault(name: str, of: Any, *breaks: str, says: str = "", **declared: Any) -> Callable[[_Made], _Made]:
    """Register the function, or the subclass of a part, that is decorated. Raises ValueError for a name that is taken.

    of, and what the function takes: see `deviations.replacement`. says: the sentence, if there is no docstring.
    declared: what `Fault` has beside.
    """

    def register(made: _Made) -> _Made:
        _add(name, of, made, says or deviations.sentence(made), breaks, made.__module__, (made,), **declared)
        return made

    return register


def also(name: str, of: Any) -> Callable[[_Made], _Made]:
    """Add what is decorated to the fault of this name, which needs several methods or parts."""

    def register(made: _Made) -> _Made:
        present = REGISTERED[name]
        places = (*present.replaces, deviations.replacement(_PARTS, of, made))
        REGISTERED[name] = replace(present, replaces=places, source=(*present.source, made))
        return made

    return register


def row(
    module: str, part: str, name: str, says: str, breaks: tuple[str, ...], /, *, subclass_of: type | None = None,
    under: str = "",
    **members: Any,
) -> None:  # fmt: skip
    """Register a fault of a table: these members of a part deviate, or of a subclass of it.

    module: the `__name__` of the module that has the table. under: what the requirements begin with.
    """
    _add(
        name, part, members, says, tuple(under + each for each in breaks), module, tuple(members.values()), subclass_of
    )


def kebab(name: str, *, letters: bool = False) -> str:
    """Return a name of the documents as the names of faults and demands have it: lower case, with hyphens.

    letters: those of an abbreviation are words of their own.
    """
    words = "(?<=.)(?=[A-Z])" if letters else "(?<=.)(?<![A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    return re.sub(words, "-", name).lower().replace("_", "-").strip("-")


def _add(
    name: str, of: Any, made: Any, says: str, breaks: tuple[str, ...], module: str, source: tuple[Any, ...],
    base: type | None = None, **declared: Any,
) -> None:  # fmt: skip
    """Register a fault. breaks: those of MC-MQAC may be without its name."""
    if name in REGISTERED:
        raise ValueError(f"two faults are named {name}: in {REGISTERED[name].module} and in {module}")
    ids = tuple(each if each.startswith("MQ") else f"MQAC-{each}" for each in breaks)
    places = (deviations.replacement(_PARTS, of, made, base),)
    REGISTERED[name] = Fault(name, says, ids, places, module, source, **declared)
