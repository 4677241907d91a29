"""All plans that the scenes judge, by the suite's modules, and what is caught of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from conformance.activex import identity, library, plans_coordinated, plans_events, plans_queue_info, plans_send
from conformance.activex import services_plans as plans_of_services
from conformance.activex.identity import E_NOINTERFACE
from conformance.activex.plans import Plan
from conformance.activex.scene_client import client_objects
from conformance.activex.scene_coordinated import coordinated_objects
from conformance.activex.scene_events import event_objects
from conformance.activex.scene_services import service_objects
from conformance.activex.scenes import Stage, caught_in_plans
from conformance.activex.services_reference_answers import caught
from conformance.activex.values import E_FAIL, S_OK
from conformance.verdict import Outcome, Verdict


def client_plans() -> Iterator[Plan]:
    """Yield every plan."""
    for groups in (
        plans_queue_info.groups(),
        plans_queue_info.value_groups(),
        plans_queue_info.message_queues(),
        plans_queue_info.destinations(),
        plans_send.groups(),
        plans_send.together_groups(),
    ):
        for plans in groups.values():
            yield from plans
    yield from plans_send.transactions().values()


def caught_in_client_plans() -> frozenset[str]:
    """Return the requirements that hold for an ideal answer of a plan and fail for one that differs in one thing."""
    return caught_in_plans(client_plans(), client_objects)


_NOBODY: Final = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Played:
    """Plans and the scene that judges them."""

    plans: tuple[Plan, ...]
    stage: Stage


def services_plans() -> Mapping[str, Played]:
    """Return the plans of the services by a name."""
    return {
        "coordinated": Played(_joined(plans_coordinated.groups().values()), coordinated_objects),
        "events": Played(_joined([plans_events.event_groups()]), event_objects),
        "further": Played(
            _joined([*plans_of_services.groups().values(), plans_of_services.coordinated()]), service_objects
        ),
        "query": Played(_joined([plans_events.query_groups()]), service_objects),
        "no-directory": Played(_joined([plans_events.without_directory()]), service_objects),
    }


def _joined(groups: Iterable[Mapping[str, Iterable[Plan]]]) -> tuple[Plan, ...]:
    return tuple(plan for group in groups for some in group.values() for plan in some)


def caught_in_services_plans() -> frozenset[str]:
    """Return the requirements that hold for an ideal answer of a plan and fail for one that differs in one thing."""
    return frozenset(chain.from_iterable(caught(one.plans, one.stage) for one in services_plans().values()))


def caught_in_descriptions() -> frozenset[str]:
    """Return the requirements that hold for a class as the document declares it and fail for one that is otherwise."""
    right: set[str] = set()
    wrong: set[str] = set()
    for coclass in library.classes():
        ideal = identity.ideal(coclass)
        right |= _failed(identity.described(coclass, ideal), Outcome.PASS)
        for other in _otherwise(ideal):
            wrong |= _failed(identity.described(coclass, other), Outcome.FAIL)
        right |= _failed(identity.identified(coclass, S_OK, None), Outcome.PASS)
        wrong |= _failed(identity.identified(coclass, E_FAIL, None), Outcome.FAIL)
        for iid in identity.queried(coclass):
            right |= _failed(identity.answers(coclass, iid, S_OK, True), Outcome.PASS)
            wrong |= _failed(identity.answers(coclass, iid, E_NOINTERFACE, False), Outcome.FAIL)
    return frozenset(right & wrong)


def _failed(verdicts: Iterable[Verdict], outcome: Outcome) -> set[str]:
    return {verdict.requirement for verdict in verdicts if verdict.outcome is outcome}


def _otherwise(ideal: list[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield descriptions with other identifiers, with members at other places, and without the default interface."""
    yield ideal[1:]
    yield [{**one, "iid": _NOBODY} for one in ideal]
    yield [{**one, "members": [{**each, "slot": each["slot"] + 1} for each in one["members"]]} for one in ideal]
    yield [{**one, "members": [{**each, "name": f"{each['name']}x"} for each in one["members"]]} for one in ideal]
