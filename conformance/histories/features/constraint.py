"""`Constraint`: cases of several features that no call meets at once, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Cases: TypeAlias = Mapping[str, frozenset[str]]
_EVERY: Final[frozenset[str]] = frozenset({"*"})


@dataclass(frozen=True, slots=True)
class Constraint:
    """No call of these methods meets one of the cases of each of these features at once.

    cases: feature to some of its values, `*` for all of them. reason: why, in a sentence.
    """

    methods: tuple[str, ...]
    cases: Cases
    reason: str

    def excludes(self, values: Mapping[str, str]) -> bool:
        """Tell whether these values, by feature, are such a combination or contain one."""
        return all(
            name in values and (wanted == _EVERY or values[name] in wanted) for name, wanted in self.cases.items()
        )


def no(methods: str | tuple[str, ...], reason: str, **cases: str) -> Constraint:
    """Return a constraint. cases: the values of each feature, separated by spaces, or `*` for all of them."""
    sets = {name.rstrip("_"): frozenset(value.split()) for name, value in cases.items()}
    return Constraint((methods,) if isinstance(methods, str) else methods, sets, reason)
