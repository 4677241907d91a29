"""Mutations of answers: each ideal answer of a plan, changed in one thing, so that it is seen which demands break."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace

from conformance.activex.expected import Seen
from conformance.activex.ideal import E_FAIL, Objects, ideal
from conformance.activex.plans import (
    BLANK_QUEUE,
    MESSAGE_PROPERTIES,
    QUEUE_METHODS,
    QUEUE_PROPERTIES,
    Plan,
    blank_queue,
    message_property,
    queue_method,
    queue_property,
    transactions,
    unimplemented,
)
from conformance.activex.statuses import S_OK
from conformance.activex.tables_transactions import MEMBERS
from conformance.activex.values import Variant
from conformance.verdict import Outcome


def all_plans() -> Iterator[Plan]:
    """Yield every plan of the suite."""
    for members, plans in (
        (MESSAGE_PROPERTIES, message_property),
        (QUEUE_PROPERTIES, queue_property),
        (QUEUE_METHODS, queue_method),
        (BLANK_QUEUE, blank_queue),
    ):
        for member in members:
            yield from plans(member)
    yield from transactions().values()
    for member in MEMBERS:
        if member.unimplemented:
            yield from unimplemented(member)


def mutated(seen: Seen) -> Iterator[Seen]:
    """Yield answers that differ from one in one thing: the status, or the value."""
    if seen.status == S_OK:
        yield replace(seen, status=E_FAIL)
    else:
        yield replace(seen, status=S_OK)
    if seen.value is not None:
        yield replace(seen, value=_other(seen.value))
        if seen.value.vt == "BSTR" and "-" in (seen.value.value or ""):
            yield replace(seen, value=Variant("BSTR", f"x{seen.value.value}"))
            yield replace(seen, value=Variant("BSTR", seen.value.value.replace("-", "-x", 1)))


def _other(value: Variant) -> Variant:
    if isinstance(value.value, bool):
        return replace(value, value=not value.value)
    if isinstance(value.value, int):
        return replace(value, value=value.value ^ 1)
    if isinstance(value.value, bytes):
        return replace(value, value=value.value + b"\0")
    return Variant("BSTR", f"{value.value}x")


def caught(plans: Iterable[Plan] | None = None) -> frozenset[str]:
    """Return the requirements that hold for an ideal answer and fail for a mutated one."""
    found: set[str] = set()
    for plan in all_plans() if plans is None else plans:
        objects = Objects({})
        for act in plan:
            if act.call is None:
                objects.do(act, None)
                continue
            seen = ideal(objects.held[act.object], act.call)
            broken: set[str] = set()
            for wrong in mutated(seen):
                trial = replace(objects, held=copy(objects.held))
                broken |= {v.requirement for v in trial.do(act, wrong) if v.outcome is Outcome.FAIL}
            found |= broken & {v.requirement for v in objects.do(act, seen) if v.outcome is Outcome.PASS}
    return frozenset(found)
