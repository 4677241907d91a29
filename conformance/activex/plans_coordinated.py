"""Plans about the dispenser of coordinated transactions: what one has received comes back when it is aborted."""

from __future__ import annotations

from typing import Final

from conformance.activex.further_world import RECEIVE, SEND
from conformance.activex.library import interfaces
from conformance.activex.plans import Plan, create, on
from conformance.activex.plans_further import NOT_NOW, Plans, opened, peeked, queue, sent
from conformance.activex.plans_reads import READS, receives
from conformance.activex.tables_further import COORDINATED
from conformance.activex.values import MISSING, Variant, text

_RELATIVE: Final = ("ReceiveNextByLookupId", "ReceivePreviousByLookupId")


def coordinated() -> Plans:
    """Return plans about the dispenser of coordinated transactions, whoever coordinates them."""
    asked = on("t", "QueryInterface", text(interfaces()["IMSMQTransaction3"].iid))
    begin = on("x", "BeginTransaction", gives="t")
    ends = (on("t", "Abort", MISSING, MISSING), on("t", "Abort", MISSING, MISSING))
    plans: dict[str, tuple[Plan, ...]] = {
        "begun": ((create(COORDINATED, "x"), begin, asked, *ends, begin, asked, *ends),)
    }
    made = (*queue("i", transactional=True), opened("i", SEND, "s"), opened("i", RECEIVE, "r"))
    filled = (*made, *sent("s", 1, transactional=True), create(COORDINATED, "x"), begin)
    known = (on("r", "Peek", MISSING, MISSING, NOT_NOW, gives="p"), on("p", "LookupId", kind="get", gives="$id"))
    given = {"Transaction": Variant("DISPATCH", "t"), "LookupId": text("$id"), "ReceiveTimeout": NOT_NOW}
    for member in (one for one in READS if receives(one) and one.name not in _RELATIVE):
        arguments = [given.get(one.name, MISSING) for one in member.slots[0].arguments if not one.result]
        taken_so = on("r", member.name, *arguments, gives="m1")
        plans[f"received-{member.name}"] = ((*filled, *known, taken_so, peeked("r"), ends[0], peeked("r")),)
    return plans
