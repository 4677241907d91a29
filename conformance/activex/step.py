"""A step: an object, a call and its answer go in; the object afterwards and the verdicts come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from conformance.activex.expected import Demand, Held, Invoke, Readings, Seen, demands
from conformance.activex.states import STATES, after
from conformance.activex.statuses import S_OK
from conformance.activex.tables import CLASSES
from conformance.verdict import Outcome, Verdict

_NAMES = frozenset({"PathName", "FormatName"})


def new(coclass: str) -> Held:
    """Return an object that the client has just created."""
    state = STATES[coclass].new
    if state is None:
        raise ValueError(f"no client creates a {coclass}")
    return Held(coclass, state)


def step(held: Held, call: Invoke, seen: Seen, readings: Readings) -> tuple[Held, tuple[Verdict, ...]]:
    """Judge an answer. Returns the object as the call has left it, and a verdict on each requirement that has a say."""
    name = f"{held.coclass}.{call.member}"
    subject = name if call.kind == "method" else f"{call.kind} {name}"
    return moved(held, call, seen), tuple(verdicts(subject, demands(held, call, seen, readings), seen))


def moved(held: Held, call: Invoke, seen: Seen) -> Held:
    """Return the object as a call has left it: a refused call changes nothing."""
    if seen.status != S_OK:
        return held
    member = CLASSES[held.coclass][call.member]
    name = f"put {member.name}" if call.kind == "put" else member.name
    values, former = dict(held.values), held.former
    if call.kind == "put" and member.kept_as is not None:
        if held.coclass == "MSMQQueueInfo" and member.name in _NAMES:
            values.pop("QueueFormatName", None)
            values.pop("PathName", None)
        if member.kept_as in values:
            former = {**former, member.kept_as: values[member.kept_as]}
        values[member.kept_as] = call.arguments[-1]
    state = after(held.coclass, held.state, name) if call.kind in ("put", "method") else held.state
    if held.coclass == "MSMQQueueInfo" and call.member == "Delete":
        values = {}
    return Held(held.coclass, state, values, held.also, former)


def verdicts(subject: str, found: Iterable[Demand], seen: Seen) -> Iterator[Verdict]:
    """Yield a verdict on each requirement of some demands."""
    for demand in found:
        for name in demand.requirements:
            if demand.holds:
                yield passed(name, subject, demand.readings)
            else:
                yield Verdict(name, Outcome.FAIL, subject, demand.expected, seen.to_json(), demand.readings)


@cache
def passed(requirement: str, subject: str, readings: tuple[tuple[str, str], ...] = ()) -> Verdict:
    """Return the verdict that a requirement holds: one object for all times, which a recorder counts quickly."""
    return Verdict(requirement, Outcome.PASS, subject, readings=readings)
