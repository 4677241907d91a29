"""Scenes: what judges the acts of a plan one after the other, and the ideal answers to them.

A plan's texts may hold names for what is not known before it runs, such as the name of the computer; a scene sees the
acts with the real texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from conformance.activex.expected import Readings, Seen
from conformance.activex.mutations import others
from conformance.activex.plans import Act, Plan
from conformance.activex.statuses import E_FAIL, S_OK
from conformance.activex.values import Variant, text
from conformance.verdict import Outcome, Verdict

COMPUTER: Final = "$computer"
MANAGER: Final = "$manager"
QUEUE: Final = "$queue"
"""Stand for the computer's name, the GUID of its queue manager, and a name that no queue of the computer has."""
SMALL: Final = "$computer-in-small-letters"


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
    {COMPUTER: "HOST", SMALL: "host", MANAGER: "89abcdef-0123-4567-89ab-cdef01234567", QUEUE: "q"}, 45000.5
)


def spoken(act: Act, texts: Mapping[str, str]) -> Act:
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


def known(act: Act, seen: Seen, texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the texts with what an act has answered, if the plan gives that a name that begins with `$`."""
    if act.gives is None or not act.gives.startswith("$") or seen.value is None:
        return texts
    return {**texts, act.gives: str(seen.value.value or "")}


def _played(plan: Plan, stage: Stage, readings: Readings) -> Iterator[tuple[Scene, Act, Seen, tuple[Verdict, ...]]]:
    """Yield each call with the scene before it, its ideal answer and the verdicts on that."""
    scene, texts = stage(readings, IDEAL), IDEAL.texts
    for act in plan:
        act = spoken(act, texts)
        if act.call is None:
            scene.do(act, None)
            continue
        if not scene.knows(act.object):
            return
        seen, before = scene.ideal(act), scene.copy()
        yield before, act, seen, scene.do(act, seen)
        texts = known(act, seen, texts)


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
        yield from (replace(seen, value=other) for other in others(seen.value))


def refuted(plans: Iterable[Plan], stage: Stage, readings: Readings | None = None) -> tuple[Verdict, ...]:
    """Return the verdicts on ideal answers that are not passes: there should be none."""
    return tuple(
        verdict
        for plan in plans
        for _, _, _, verdicts in _played(plan, stage, readings or {})
        for verdict in verdicts
        if verdict.outcome is not Outcome.PASS
    )


def caught(plans: Iterable[Plan], stage: Stage, readings: Readings | None = None) -> frozenset[str]:
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
