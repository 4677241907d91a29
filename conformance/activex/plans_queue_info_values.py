"""Plans about values that a queue's properties take without a refusal: any of their type, in each state (3.10.4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.activex.plans import Act, Plan, on
from conformance.activex.plans_queue_info import STORED, format_name, get, made, new, path, put
from conformance.activex.plans_queue_info import make as make_queue
from conformance.activex.queue_info import MEMBERS
from conformance.activex.values import Variant, long, text

LENGTHS: Final = (1, 124, 125, 126, 249, 250, 251, 1000)
NUMBERS: Final = (-(2**31), -32769, -1, 0, 3, 4, 100, 32768, 2**31 - 1)
STATES: Final[Mapping[str, Plan]] = {
    "new": (new(),),
    "path": (new(), path()),
    "format": (new(), format_name()),
    "created": made(),
    "refreshed": (*made(), on("a", "Refresh")),
    "updated": (*made(), on("a", "Update")),
    "deleted": (*made(), on("a", "Delete")),
}
"""States of an object, by the acts that lead to them."""
PUTTERS: Final = tuple(
    name
    for name, row in MEMBERS.items()
    if row.slot("put") is not None
    and not row.unimplemented
    and row.refusal is None
    and name not in ("PathName", "FormatName")
)
TEXTS: Final = tuple(name for name in STORED if MEMBERS[name].vt == "BSTR")


def any_value(member: str) -> tuple[Variant, ...]:
    """Return values of the type of a property, sensible or not."""
    if MEMBERS[member].vt == "BSTR":
        return (text(""), Variant("BSTR"), *(text("x" * length) for length in LENGTHS), text("{0}"))
    return tuple(long(number) if number >= 0 else Variant("I4", number) for number in NUMBERS)


def any_values() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans that put any value, by property and state of the object."""
    return {
        f"any-{member}": tuple(
            (*state, *(put("a", member, value) for value in any_value(member))) for state in STATES.values()
        )
        for member in PUTTERS
    }


def emptied() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans that put nothing over a value: before Create, before Update, and seen by others."""
    plans: dict[str, tuple[Plan, ...]] = {}
    for member in TEXTS:
        full, empty = put("a", member, STORED[member][0]), put("a", member, _empty(member))
        look = get("a", member)
        other: tuple[Act, ...] = (new("b"), path("b"), *get("b", member))
        again = (on("a", "Refresh"), *look)
        queue = (new(), path(), full, make_queue())
        plans[f"emptied-{member}"] = (
            (new(), path(), full, empty, make_queue(), *look, *other, *again),
            (*queue, on("a", "Refresh"), *look, empty, *look, on("a", "Update"), *look, *other, *again),
            (*queue, empty, on("a", "Update"), *look, *other, *again, full, on("a", "Update"), *again),
        )
    return plans


def _empty(member: str) -> Variant:
    return text("{00000000-0000-0000-0000-000000000000}") if member == "ServiceTypeGuid" else text("")


def groups() -> Mapping[str, tuple[Plan, ...]]:
    """Return all plans by the name of their group."""
    return {**any_values(), **emptied()}
