"""All plans that the scenes of the further classes judge, and what is caught of them and of descriptions of classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from conformance.activex import identity, library, plans_coordinated, plans_events, plans_further, plans_query
from conformance.activex.further_ideal import caught
from conformance.activex.identity import E_NOINTERFACE
from conformance.activex.plans import Plan
from conformance.activex.scene_events import event_objects
from conformance.activex.scene_further import further_objects
from conformance.activex.scenes import Stage
from conformance.activex.statuses import E_FAIL, S_OK
from conformance.verdict import Outcome, Verdict

_NOBODY: Final = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Played:
    """Plans and the scene that judges them."""

    plans: tuple[Plan, ...]
    stage: Stage


def further_plans() -> Mapping[str, Played]:
    """Return the plans of the further classes by a name."""
    return {
        "events": Played(_joined([plans_events.groups()]), event_objects),
        "further": Played(
            _joined([*plans_further.groups().values(), plans_coordinated.coordinated()]), further_objects
        ),
        "query": Played(_joined([plans_query.groups()]), further_objects),
        "no-directory": Played(_joined([plans_query.without_directory()]), further_objects),
    }


def _joined(groups: Iterable[Mapping[str, Iterable[Plan]]]) -> tuple[Plan, ...]:
    return tuple(plan for group in groups for some in group.values() for plan in some)


def caught_in_further_plans() -> frozenset[str]:
    """Return the requirements that hold for an ideal answer of a plan and fail for one that differs in one thing."""
    return frozenset(chain.from_iterable(caught(one.plans, one.stage) for one in further_plans().values()))


def caught_in_descriptions() -> frozenset[str]:
    """Return the requirements that hold for a class as the document declares it and fail for one that is otherwise."""
    right: set[str] = set()
    wrong: set[str] = set()
    for coclass in library.classes():
        ideal = list(identity.ideal(coclass))
        right |= _told(identity.described(coclass, ideal), Outcome.PASS)
        for other in _otherwise(ideal):
            wrong |= _told(identity.described(coclass, other), Outcome.FAIL)
        right |= _told(identity.identified(coclass, S_OK, None), Outcome.PASS)
        wrong |= _told(identity.identified(coclass, E_FAIL, None), Outcome.FAIL)
        for iid in identity.queried(coclass):
            right |= _told(identity.answers(coclass, iid, S_OK, True), Outcome.PASS)
            wrong |= _told(identity.answers(coclass, iid, E_NOINTERFACE, False), Outcome.FAIL)
    return frozenset(right & wrong)


def _told(verdicts: Iterable[Verdict], outcome: Outcome) -> set[str]:
    return {verdict.requirement for verdict in verdicts if verdict.outcome is outcome}


def _otherwise(ideal: list[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield descriptions with other identifiers, and with members at other places."""
    yield [{**one, "iid": _NOBODY} for one in ideal]
    yield [{**one, "members": [{**each, "slot": each["slot"] + 1} for each in one["members"]]} for one in ideal]
    yield [{**one, "members": [{**each, "name": f"{each['name']}x"} for each in one["members"]]} for one in ideal]
