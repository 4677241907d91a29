"""Completeness: each entry on a client's objects is judged by a plan, or listed as one that nothing judges."""

from __future__ import annotations

import tomllib

from conformance.activex import (
    identity,
    library,
    plans_coordinated,
    plans_events,
    scenes,
    services_plans,
    services_reference_answers,
)
from conformance.activex.all_plans import client_plans
from conformance.activex.expected import BARE, IN_BRACES, broken
from conformance.activex.library import described, members_claimed, reference_members
from conformance.activex.plans import Plan
from conformance.activex.queue_store import QueueKind, by_format, by_path
from conformance.activex.reference_answers import judged
from conformance.activex.scene_client import client_objects
from conformance.activex.scene_coordinated import coordinated_objects
from conformance.activex.scene_events import event_objects
from conformance.activex.scene_services import service_objects
from conformance.activex.scenes import all_plans
from conformance.activex.tables import STATES
from conformance.spec.catalogue import catalogue
from conformance.spec.compiled import data_folder
from conformance.suites.claims_index import tests
from conformance.suites.objects.senders import EVERY_STORY
from conformance.verdict import Outcome

SECTIONS = ("1.9", "2.2", "6", *(f"3.{number}" for number in range(1, 18)))
"""Sections whose entries are all judged or listed."""
REASONS = {
    "nothing makes it happen",
    "no value of its type is meant",
    "needs an object that late binding does not hand out",
    "no check has been written",
    "a reading decides whether it is demanded",
}


def unjudged() -> dict[str, list[str]]:
    return tomllib.loads((data_folder() / "cells" / "unjudged.toml").read_text(encoding="utf-8"))


def all_judged() -> set[str]:
    types = (name for coclass, states in STATES.items() if states.new is not None for name in members_claimed(coclass))
    of_coordinator = [plan for group in plans_coordinated.groups().values() for some in group.values() for plan in some]
    libraries = (name for coclass in library.classes() for name in identity.claimed(coclass))
    further = (
        *(name for plans in services_plans.groups().values() for some in plans.values() for name in of_further(some)),
        *(
            name
            for plans in (
                plans_events.query_groups(),
                plans_events.without_directory(),
                services_plans.coordinated(),
                services_plans.locked(),
            )
            for some in plans.values()
            for name in of_further(some)
        ),
        *(
            name
            for some in plans_events.event_groups().values()
            for name in services_reference_answers.claimed(some, event_objects)
        ),
        *services_reference_answers.claimed(of_coordinator, coordinated_objects),
    )
    elsewhere = (
        name for test in tests() if test.suite in ("directory", "security", "management") for name in test.requirements
    )
    mine = {*types, *judged(all_plans()), *scenes.judged(client_plans(), client_objects)}
    beside = (name for _, demands in EVERY_STORY.values() for name in demands)
    return {*mine, *elsewhere, *beside, *library.enumerations_claimed(), *libraries, *further}


def of_further(plans: tuple[Plan, ...]) -> tuple[str, ...]:
    return services_reference_answers.claimed(plans, service_objects)


def test_every_entry_is_judged_or_listed() -> None:
    entries = {
        entry.id
        for entry in catalogue()
        if entry.document == "MC-MQAC"
        and (entry.section == "6" or ".".join(entry.section.split(".")[:2]) in SECTIONS)
        and entry.checked in ("call", "history", "grammar")
    }
    listed = [name for names in unjudged().values() for name in names]
    assert len(set(listed)) == len(listed)
    assert set(unjudged()) == REASONS
    assert entries - all_judged() == set(listed)


def test_type_information_is_compared_in_each_part() -> None:
    for coclass in ("MSMQQueueInfo", "MSMQTransaction"):
        assert {verdict.outcome for verdict in described(coclass, reference_members(coclass))} == {Outcome.PASS}
        for change in (
            {"slot": 99},
            {"kind": "method", "name": "x"},
            {"arguments": [{"name": "x", "flags": ["in"]}] * 9},
        ):
            (interface,) = reference_members(coclass)
            members = [{**member, **change} for member in interface["members"]]
            failed = {
                verdict.requirement
                for verdict in described(coclass, [{**interface, "members": members}])
                if verdict.outcome is Outcome.FAIL
            }
            assert failed == set(members_claimed(coclass))


def test_constants_are_compared_by_either_spelling() -> None:
    shown = library.reference_enumerations()
    assert {verdict.outcome for verdict in library.constants(shown)} == {Outcome.PASS}
    acknowledgments = {
        name.replace("EDGEMENT", "EDGMENT"): value for name, value in shown["MQMSGACKNOWLEDGEMENT"].items()
    }
    spelled = {**shown, "MQMSGACKNOWLEDGEMENT": acknowledgments}
    assert {verdict.outcome for verdict in library.constants(spelled)} == {Outcome.PASS}
    wrong = {name: {one: value + 1 for one, value in each.items()} for name, each in shown.items()}
    for broken_library, codes in ((wrong, library.codes_claimed()), ({}, ())):
        failed = {one.requirement for one in library.constants(broken_library) if one.outcome is Outcome.FAIL}
        assert failed == {*library.enumerations_claimed(), *codes}


def test_each_requirement_on_type_information_can_fail() -> None:
    types = {name for coclass, states in STATES.items() if states.new is not None for name in members_claimed(coclass)}
    claimed = {*library.enumerations_claimed(), *library.codes_claimed()}
    assert library.caught_in_library() == {*types, *claimed}


def test_a_driver_without_a_type_library_is_not_judged_by_it() -> None:
    (interface,) = reference_members("MSMQTransaction")
    members = [{"name": member["name"], "kind": member["kind"]} for member in interface["members"]]
    assert list(described("MSMQTransaction", [{**interface, "members": members}])) == []


def test_rules_that_texts_of_guids_break() -> None:
    bare = "01234567-89AB-CDEF-0123-456789abcdef"
    assert broken(bare, BARE) == broken(f"{{{bare}}}", IN_BRACES) == frozenset()
    assert broken(bare, IN_BRACES) == broken(f"{{{bare}", IN_BRACES) == {"guid"}
    assert broken(f"x{bare}", BARE) == {"guid", "dword-part", "byte-part", "hex-digit"}
    assert broken(bare.replace("-", "-x", 1), BARE) == {"guid", "word-part", "byte-part", "hex-digit"}


def test_what_names_mean() -> None:
    kinds = {
        "HOST\\private$\\q": QueueKind.HERE,
        ".\\PRIVATE$\\q": QueueKind.HERE,
        "host\\q": QueueKind.HERE,
        "other\\private$\\q": QueueKind.ELSEWHERE,
        "other\\q": QueueKind.OTHER,
        "\\private$\\q": QueueKind.NO_COMPUTER,
        "q": QueueKind.UNPARSED,
        "host\\private$\\" + "x" * 125: QueueKind.UNPARSED,
        "host\\private$\\q;s": QueueKind.SUBQUEUE,
        "host\\private$\\q;s;t": QueueKind.OTHER,
    }
    assert {name: by_path(name, "HOST").kind for name in kinds} == kinds
    formats = {
        "DIRECT=OS:.\\private$\\q": QueueKind.HERE,
        "direct=os:host\\SYSTEM$;DeadLetter": QueueKind.MACHINE,
        "DIRECT=HTTP://host/msmq/q": QueueKind.SEVERAL,
        "MULTICAST=234.1.1.1:8001": QueueKind.SEVERAL,
        "DIRECT=OS:host\\a,DIRECT=OS:host\\b": QueueKind.SEVERAL,
        "PRIVATE=x\\1": QueueKind.HERE,
        "PRIVATE=x\\2": QueueKind.OTHER,
        "junk": QueueKind.UNPARSED,
    }
    assert {name: by_format(name, "HOST", {"private=x\\1": "private$\\q"}).kind for name in formats} == formats
