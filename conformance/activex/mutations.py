"""Mutations of answers: each ideal answer of a plan, changed in one thing, so that it is seen which demands break."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from conformance.activex import (
    plans_queue,
    plans_reads,
    plans_reads_arguments,
    plans_reads_conditions,
    plans_reads_refused,
)
from conformance.activex.expected import Invoke, Seen
from conformance.activex.ideal import Ended, Objects, message, played
from conformance.activex.plans import (
    BLANK_QUEUE,
    MESSAGE_PROPERTIES,
    Act,
    Plan,
    blank_queue,
    message_property,
    unimplemented,
)
from conformance.activex.statuses import E_FAIL, OLE_E_BLANK, S_OK
from conformance.activex.tables import MEMBERS
from conformance.activex.values import Variant
from conformance.activex.world import World
from conformance.spec.constants import hresults
from conformance.verdict import Outcome


def all_plans() -> Iterator[Plan]:
    """Yield every plan that the world of objects judges; `scenes` has the others."""
    for members, plans in (
        (MESSAGE_PROPERTIES, message_property),
        (BLANK_QUEUE, blank_queue),
    ):
        for member in members:
            yield from plans(member)
    for member in MEMBERS:
        if member.unimplemented and member.coclass not in ("MSMQMessage", "MSMQQueue"):
            yield from unimplemented(member)
    yield from read_plans()


def read_plans() -> Iterator[Plan]:
    """Yield the plans of open queues and their reads."""
    for member in plans_queue.GETTERS:
        yield from plans_queue.getter(member)
    yield from plans_queue.methods().values()
    yield from plans_queue.notification().values()
    for member in plans_reads.READS:
        for family in (
            plans_reads.FAMILIES,
            plans_reads_refused.FAMILIES,
            plans_reads_arguments.FAMILIES,
            plans_reads_conditions.FAMILIES,
        ):
            for plans in family:
                yield from plans(member)


Answered = tuple[Seen, Ended]


def mutated(world: World, act: Act, seen: Seen, ended: Ended) -> Iterator[Answered]:
    """Yield answers that differ from one in one thing: the status, the value, or which message is given, if any."""
    assert act.call is not None
    reads = takes_message(world, act)
    if reads:
        yield from ((other, ended) for other in _of_read(world, act.call, seen, act.gives or "message"))
    if not seen.waits:
        yield replace(seen, status=E_FAIL if seen.status == S_OK else S_OK), ended
        if world.known.held[act.object].coclass == "MSMQQueue" and seen.status == S_OK:
            yield Seen(OLE_E_BLANK), ended
            yield Seen(hresults.MQ_ERROR_INVALID_HANDLE), ended
        if seen.value is not None and not reads:
            yield from ((replace(seen, value=other), ended) for other in (*others(seen.value), Variant("EMPTY")))
        for name, one in seen.shown.items():
            yield replace(seen, shown={**seen.shown, name: Seen(E_FAIL)}), ended
            if one.value is not None:
                for other in (_other(one.value), Variant("EMPTY")):
                    yield replace(seen, shown={**seen.shown, name: replace(one, value=other)}), ended
    yield from ((seen, other) for other in ends_mutated(world, ended))


def ends_mutated(world: World, ended: Ended) -> Iterator[Ended]:
    """Yield other ends of waiting reads: one that does not end, ends otherwise, or ends without a reason."""
    for name, (_, call) in world.waiting.items():
        if name in ended:
            yield {other: one for other, one in ended.items() if other != name}
        for other in _of_read(world, call, ended.get(name, Seen(S_OK, waits=True)), name):
            if not other.waits:
                yield {**ended, name: other}


def takes_message(world: World, act: Act) -> bool:
    """Tell whether an act is a read."""
    held = world.known.held[act.object]
    return held.coclass == "MSMQQueue" and act.call is not None and act.call.member.startswith(("Receive", "Peek"))


def _of_read(world: World, call: Invoke, seen: Seen, gives: str) -> Iterator[Seen]:
    yield Seen(E_FAIL)
    if not seen.waits:
        yield Seen(S_OK, waits=True)
    if seen.waits or seen.gives:
        yield Seen(S_OK, Variant("DISPATCH"))
    for name in world.known.sent:
        other = message(world, call, name, gives)
        if other != seen:
            yield other


def others(value: Variant) -> Iterator[Variant]:
    """Yield values that differ from one in one thing: a text with hyphens in each part, a number in each low bit."""
    yield _other(value)
    if isinstance(value.value, int) and not isinstance(value.value, bool):
        yield replace(value, value=value.value ^ 2)
    if value.vt == "BSTR" and "-" in (value.value or ""):
        yield Variant("BSTR", f"x{value.value}")
        yield Variant("BSTR", value.value.replace("-", "-x", 1))


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
    objects = Objects({})
    for world, act, seen, ended, verdicts in played(all_plans() if plans is None else plans, {}):
        holds = {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.PASS} - found
        for wrong, wrong_ends in _wrong(world, act, seen, ended) if holds else ():
            objects.world = world
            broken = (v.requirement for v in objects.do(act, wrong, wrong_ends) if v.outcome is Outcome.FAIL)
            found |= holds.intersection(broken)
    return frozenset(found)


def _wrong(world: World, act: Act, seen: Seen | None, ended: Ended) -> Iterator[tuple[Seen | None, Ended]]:
    if seen is not None:
        yield from mutated(world, act, seen, ended)
    elif act.passes_ms:
        yield from ((None, other) for other in ends_mutated(world, ended))
