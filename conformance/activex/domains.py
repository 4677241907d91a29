"""Domains: which values a parameter takes, with values at its limits and just outside of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from conformance.activex.values import INTEGERS, Variant, long, text
from conformance.spec.constants.enumerations import ENUMERATIONS

_GUID = re.compile(r"\{[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}")


class Domain(Protocol):
    """The values that a parameter takes."""

    def admits(self, value: Variant) -> bool:
        """Tell whether the member takes the value."""

    def inside(self) -> tuple[Variant, ...]:
        """Return values that the member takes: those at the limits, where there are limits."""

    def outside(self) -> tuple[Variant, ...]:
        """Return values of the declared type that the member refuses; none if it takes all."""


@dataclass(frozen=True, slots=True)
class Longs:
    """Whole numbers of 32 bits between two limits."""

    low: int = INTEGERS["I4"][0]
    high: int = INTEGERS["I4"][1]

    def admits(self, value: Variant) -> bool:
        return value.vt == "I4" and self.low <= value.value <= self.high

    def inside(self) -> tuple[Variant, ...]:
        middle = (self.low + self.high + 1) // 2
        return tuple(long(number) for number in sorted({self.low, middle, self.high}))

    def outside(self) -> tuple[Variant, ...]:
        least, most = INTEGERS["I4"]
        near = {self.low - 1, self.high + 1, least, most}
        return tuple(Variant("I4", n) for n in sorted(near) if least <= n <= most and not self.low <= n <= self.high)


@dataclass(frozen=True, slots=True)
class Named:
    """The values of an enumeration, and further ones that the member's steps name."""

    enumeration: str
    further: tuple[int, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(sorted({*ENUMERATIONS[self.enumeration].members.values(), *self.further}))

    def admits(self, value: Variant) -> bool:
        return value.vt == "I4" and value.value in self.numbers

    def inside(self) -> tuple[Variant, ...]:
        return tuple(long(number) for number in self.numbers)

    def outside(self) -> tuple[Variant, ...]:
        numbers = self.numbers
        near = {one for number in numbers for one in (number - 1, number + 1)} | {-1, 0x7FFFFFFF}
        return tuple(Variant("I4", number) for number in sorted(near - set(numbers)))


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts. below: they have fewer characters than this. further: texts that the member's section names."""

    below: int | None = None
    further: tuple[str, ...] = ()

    def admits(self, value: Variant) -> bool:
        return value.vt == "BSTR" and (self.below is None or len(value.value or "") < self.below)

    def inside(self) -> tuple[Variant, ...]:
        lengths = (125, 250, 1000) if self.below is None else (self.below - 1,)
        longest = (text("x" * length) for length in lengths)
        named = (text(one) for one in self.further)
        return (text("a"), text(" a  b "), text("Ünï€ \U0001f600"), *named, *longest, text(""))

    def outside(self) -> tuple[Variant, ...]:
        return () if self.below is None else (text("x" * self.below), text("x" * (4 * self.below)))


@dataclass(frozen=True, slots=True)
class Guids:
    """Texts of GUIDs in braces (3.17.4.1.53 and .54)."""

    def admits(self, value: Variant) -> bool:
        return value.vt == "BSTR" and _GUID.fullmatch(value.value or "") is not None

    def inside(self) -> tuple[Variant, ...]:
        return (
            text("{01234567-89AB-CDEF-0123-456789ABCDEF}"),
            text("{" + "F" * 8 + "-FFFF" * 3 + "-" + "F" * 12 + "}"),
        )

    def outside(self) -> tuple[Variant, ...]:
        bare = "01234567-89AB-CDEF-0123-456789ABCDEF"
        wrong = ("G" + bare[1:], bare[:-1], bare + "0", bare.replace("-", ""))
        return (text(bare), *(text("{" + one + "}") for one in wrong), text("{" + bare), text("a"))


@dataclass(frozen=True, slots=True)
class Variants:
    """Values of some types, each shown by the samples, and others that the member refuses."""

    samples: tuple[Variant, ...]
    refused: tuple[Variant, ...] = ()

    def admits(self, value: Variant) -> bool:
        return (value.vt, value.of) in {(sample.vt, sample.of) for sample in self.samples}

    def inside(self) -> tuple[Variant, ...]:
        return self.samples

    def outside(self) -> tuple[Variant, ...]:
        return self.refused
