"""Scenes judge the acts of a plan; mutations of reference answers show what they notice."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from conformance.activex import plans_reads
from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.plans import (
    BLANK_QUEUE,
    MESSAGE_PROPERTIES,
    Act,
    Plan,
    blank_queue,
    message_property,
    unimplemented,
)
from conformance.activex.reference_answers import Ended, Objects, message, played
from conformance.activex.tables import MEMBERS
from conformance.activex.values import E_FAIL, OLE_E_BLANK, S_OK, Variant, text
from conformance.activex.world import World
from conformance.model.values import replace
from conformance.spec.constants import hresults
from conformance.verdict import Outcome, Verdict


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
    for member in plans_reads.GETTERS:
        yield from plans_reads.getter(member)
    yield from plans_reads.methods().values()
    yield from plans_reads.notification().values()
    for member in plans_reads.READS:
        for family in (
            plans_reads.FAMILIES,
            plans_reads.REFUSED_FAMILIES,
            plans_reads.ARGUMENT_FAMILIES,
            plans_reads.CONDITION_FAMILIES,
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
            yield from ((replace(seen, value=other), ended) for other in (*wrong_values(seen.value), Variant("EMPTY")))
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


def wrong_values(value: Variant) -> Iterator[Variant]:
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


def caught_in_reads(plans: Iterable[Plan] | None = None) -> frozenset[str]:
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


COMPUTER: Final = "$computer"
MANAGER: Final = "$manager"
QUEUE: Final = "$queue"
"""Stand for the computer's name, the GUID of its queue manager, and a name that no queue of the computer has."""
SMALL: Final = "$computer-in-small-letters"
CONTEXTS: Final = ("$x1", "$x2")
"""Stand for identifiers of transactions of a coordinator, which no other example has."""
REQUESTS: Final = "coordinator.requests"


def identifiers(name: str) -> Mapping[str, str]:
    """Return the identifiers of an example's transactions. name: one that no other example has."""
    return {word: str(uuid.uuid5(uuid.NAMESPACE_OID, f"{name}/{word}")) for word in CONTEXTS}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a plan runs. texts: what its words stand for. now: the implementation's time as an OLE date."""

    texts: Mapping[str, str]
    now: float | None = None


class Scene(Protocol):
    """The objects of a plan with all that is known of them."""

    def do(self, act: Act, seen: Seen | None) -> tuple[Verdict, ...]:
        """Judge the answer to an act, and keep what it leads to. seen: None for a creation."""

    def knows(self, name: str) -> bool:
        """Tell whether the plan has an object of this name by now."""

    def ideal(self, act: Act) -> Seen:
        """Return an answer that the text allows."""

    def copy(self) -> Scene:
        """Return a scene that goes on from here by itself."""


Stage = Callable[[Readings, Place], Scene]
IDEAL: Final = Place(
    {
        COMPUTER: "HOST",
        SMALL: "host",
        MANAGER: "89abcdef-0123-4567-89ab-cdef01234567",
        QUEUE: "q",
        **identifiers("q"),
    },
    45000.5,
)


def with_texts(act: Act, texts: Mapping[str, str]) -> Act:
    """Return an act with the real texts in its arguments."""
    if act.call is None or not any(one.vt == "BSTR" and "$" in (one.value or "") for one in act.call.arguments):
        return act
    arguments = tuple(_real(one, texts) for one in act.call.arguments)
    return replace(act, call=replace(act.call, arguments=arguments))


def _real(value: Variant, texts: Mapping[str, str]) -> Variant:
    if value.vt != "BSTR" or not value.value:
        return value
    said = str(value.value)
    for word in sorted(texts, key=len, reverse=True):
        said = said.replace(word, texts[word])
    return text(said)


def texts_after(act: Act, seen: Seen, texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the texts with what an act has answered, if the plan gives that a name that begins with `$`.

    Of the requests that a coordinator was sent, it is the identifier of the transaction that was begun last.
    """
    if act.gives is None or not act.gives.startswith("$") or seen.value is None:
        return texts
    told = str(seen.value.value or "")
    if act.call is not None and act.call.member == REQUESTS:
        begun = [one["identifier"] for one in json.loads(told) if one["what"] == "begin"]
        return {**texts, act.gives: begun[-1]} if begun else texts
    return {**texts, act.gives: told}


def _played(plan: Plan, stage: Stage, readings: Readings) -> Iterator[tuple[Scene, Act, Seen, tuple[Verdict, ...]]]:
    """Yield each call with the scene before it, its ideal answer and the verdicts on that."""
    scene, texts = stage(readings, IDEAL), IDEAL.texts
    for act in plan:
        act = with_texts(act, texts)
        if act.call is None:
            scene.do(act, None)
            continue
        if not scene.knows(act.object):
            return
        seen, before = scene.ideal(act), scene.copy()
        yield before, act, seen, scene.do(act, seen)
        texts = texts_after(act, seen, texts)


def judged(plans: Iterable[Plan], stage: Stage, readings: Readings | None = None) -> tuple[str, ...]:
    """Return the requirements that plans judge, in the order in which an ideal object meets them."""
    found: dict[str, None] = {}
    for plan in plans:
        for _, _, _, verdicts in _played(plan, stage, readings or {}):
            found.update(dict.fromkeys(verdict.requirement for verdict in verdicts))
    return tuple(found)


def changed(seen: Seen) -> Iterator[Seen]:
    """Yield answers that differ from one in one thing: the status, or the value."""
    yield replace(seen, status=E_FAIL if seen.status == S_OK else S_OK)
    if seen.value is not None:
        yield from (replace(seen, value=other) for other in wrong_values(seen.value))


def refuted(plans: Iterable[Plan], stage: Stage, readings: Readings | None = None) -> tuple[Verdict, ...]:
    """Return the verdicts on ideal answers that are not passes: there should be none."""
    return tuple(
        verdict
        for plan in plans
        for _, _, _, verdicts in _played(plan, stage, readings or {})
        for verdict in verdicts
        if verdict.outcome is not Outcome.PASS
    )


def caught_in_plans(plans: Iterable[Plan], stage: Stage, readings: Readings | None = None) -> frozenset[str]:
    """Return the requirements that hold for an ideal answer and fail for one that differs from it in one thing."""
    found: set[str] = set()
    for plan in plans:
        for before, act, seen, verdicts in _played(plan, stage, readings or {}):
            passed = {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.PASS}
            for wrong in changed(seen):
                if not passed - found:
                    break
                trial = before.copy()
                broken = {v.requirement for v in trial.do(act, wrong) if v.outcome is Outcome.FAIL}
                found |= broken & passed
    return frozenset(found)
