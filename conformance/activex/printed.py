"""Numbers that MC-MQAC prints beside the name of an HRESULT of COM, where the name has another one.

A requirement of the reading takes either number, as far as the reading is accepted; every other one that of the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from conformance.activex.statuses import E_INVALIDARG, E_POINTER
from conformance.spec.catalogue import catalogue, reading_id

NUMBERS: Final = reading_id("R-MQAC-com-result-values")
BY_NAME, AS_PRINTED = "by-name", "as-printed"
_PRINTED: Final[Mapping[int, int]] = {E_INVALIDARG: 0x80000003, E_POINTER: 0x80000005}

Number = tuple[int, tuple[tuple[str, str], ...]]
"""A status, and the readings that it follows."""


@cache
def _disputed() -> frozenset[str]:
    return frozenset(catalogue().readings[NUMBERS].requirements)


def numbers(names: Iterable[str], status: int) -> tuple[Number, ...]:
    """Return the numbers that stand for a status in some requirements, that of its name first."""
    if status not in _PRINTED or not any(name in _disputed() for name in names):
        return ((status, ()),)
    return ((status, ((NUMBERS, BY_NAME),)), (_PRINTED[status], ((NUMBERS, AS_PRINTED),)))


def accepted(names: Iterable[str], status: int, readings: Mapping[str, tuple[str, ...]]) -> tuple[Number, ...]:
    """Return those of the numbers that the accepted readings allow, the default first."""
    return tuple(
        one
        for one in numbers(names, status)
        if all(which in readings.get(reading, (which,)) for reading, which in one[1])
    )
