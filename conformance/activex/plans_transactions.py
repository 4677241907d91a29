"""Plans about transactions: begun, ended once, refused, and attached to a second object (MC-MQAC 3.6, 3.8, 3.9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.activex.plans import Act, Plan, create, on
from conformance.activex.transactions import DISPENSER, TRANSACTION
from conformance.activex.values import MISSING, Variant, long, octets, text, truth

LEFT_OUT: Final = {"Commit": (MISSING,) * 3, "Abort": (MISSING,) * 2}
GIVEN: Final = {"Commit": (truth(False), long(2), long(0)), "Abort": (truth(False), truth(False))}
NOT_SUPPORTED: Final = {
    "Commit": (
        (truth(True), long(2), long(0)),
        (truth(False), long(2), long(1)),
        (truth(False), long(1), long(0)),
        (truth(False), long(4), long(0)),
        (truth(False), long(0), long(0)),
        (MISSING, long(4), MISSING),
        (MISSING, MISSING, long(1)),
        (truth(True), MISSING, MISSING),
    ),
    "Abort": (
        (truth(True), truth(False)),
        (truth(False), truth(True)),
        (truth(True), truth(True)),
        (MISSING, truth(True)),
        (truth(True), MISSING),
    ),
}
NO_TRANSACTIONS: Final = (
    text("a"),
    Variant("R8", "1"),
    Variant("EMPTY"),
    Variant("NULL"),
    truth(True),
    Variant("I2", 1),
    Variant("UI4", 1),
    Variant("UI1", 1),
    octets(b"a"),
    Variant("CY", "1"),
    Variant("DATE", "1"),
)
"""Values that InitNew refuses for their type. Numbers that stand for pointers are left out: nobody may follow them."""

BEGIN: Final[Plan] = (create(DISPENSER, "d"), on("d", "BeginTransaction", gives="t"))


def end(name: str, member: str, arguments: tuple[Variant, ...] | None = None) -> Act:
    return on(name, member, *(LEFT_OUT[member] if arguments is None else arguments))


def get_handle(name: str, gives: str) -> Plan:
    """Return two looks at the ITransaction of an object."""
    return (on(name, "ITransaction", kind="get", gives=gives), on(name, "ITransaction", kind="get"))


def transactions() -> Mapping[str, Plan]:
    """Return the plans of transactions by name."""
    plans: dict[str, Plan] = {}
    handle = on("t", "ITransaction", kind="get", gives="i")
    for first, given in GIVEN.items():
        word = first.lower()
        plans[f"{word}-with-arguments"] = (*BEGIN, end("t", first, given))
        for at in range(len(given)):
            arguments = tuple(MISSING if at == place else value for place, value in enumerate(given))
            plans[f"{word}-without-{at}"] = (*BEGIN, end("t", first, arguments))
        plans[word] = (*BEGIN, end("t", first))
    plans["handles"] = (*BEGIN, on("d", "BeginTransaction", gives="u"), handle, *get_handle("u", "j"), handle)
    for first in ("Commit", "Abort"):
        word = first.lower()
        plans[f"{word}-nothing"] = (create(TRANSACTION, "t"), end("t", first), end("t", first, GIVEN[first]))
        refused = tuple(end("t", first, arguments) for arguments in NOT_SUPPORTED[first])
        plans[f"{word}-not-supported"] = (*BEGIN, *refused, end("t", first), *refused)
        for second in ("Commit", "Abort"):
            plans[f"{word}-then-{second.lower()}"] = (*BEGIN, end("t", first), end("t", second), end("t", second))
            attach = (create(TRANSACTION, "u"), on("u", "InitNew", Variant("UNKNOWN", "i")))
            shared = (end("u", first), end("t", second), end("u", second))
            plans[f"{word}-by-another-then-{second.lower()}"] = (*BEGIN, handle, *attach, *shared)
    plans["two-transactions"] = (
        *BEGIN,
        on("d", "BeginTransaction", gives="u"),
        end("t", "Commit"),
        end("u", "Abort"),
        end("t", "Abort"),
        end("u", "Commit"),
    )
    plans["handle-of-nothing"] = (create(TRANSACTION, "t"), on("t", "ITransaction", kind="get"))
    attached = (create(TRANSACTION, "u"), on("u", "InitNew", Variant("UNKNOWN", "i")))
    plans["attach"] = (*BEGIN, handle, *attached, on("u", "ITransaction", kind="get"), end("u", "Commit"))
    for last in ("Commit", "Abort"):
        refused = tuple(end("u", last, arguments) for arguments in NOT_SUPPORTED[last])
        plans[f"attach-{last.lower()}-not-supported"] = (*BEGIN, handle, *attached, *refused, end("u", last), *refused)
        begins = (on("d", "BeginTransaction", gives=f"t{at}") for at in range(3))
        plans[f"one-after-another-{last.lower()}"] = (
            BEGIN[0],
            *(act for at, begin in enumerate(begins) for act in (begin, end(f"t{at}", last))),
        )
    empty = create(TRANSACTION, "t")
    plans["attach-other-types"] = (empty, *(on("t", "InitNew", value) for value in NO_TRANSACTIONS), end("t", "Commit"))
    no_transaction = (Variant("UNKNOWN", "d"), Variant("DISPATCH", "d"), Variant("UNKNOWN", "u"))
    attempts = tuple(on("u", "InitNew", value) for value in no_transaction)
    plans["attach-other-objects"] = (
        *BEGIN,
        create(TRANSACTION, "u"),
        *attempts,
        end("u", "Commit"),
        end("t", "Commit"),
    )
    again = (Variant("UNKNOWN", "i"), text("a"), Variant("UNKNOWN", "d"))
    plans["attach-twice"] = (*BEGIN, handle, *(on("t", "InitNew", value) for value in again), end("t", "Commit"))
    plans["attach-after-commit"] = (
        *BEGIN,
        handle,
        end("t", "Commit"),
        *attached,
        end("u", "Commit"),
        end("u", "Abort"),
    )
    return plans
