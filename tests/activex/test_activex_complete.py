"""Completeness: each entry on a client's objects is judged by a plan, or listed as one that nothing judges."""

from __future__ import annotations

import tomllib

from conformance.activex import (
    constants,
    further_ideal,
    identity,
    library,
    library_mutations,
    plans_coordinated,
    plans_events,
    plans_further,
    plans_query,
    scenes,
)
from conformance.activex.client_plans import client_plans
from conformance.activex.described import claimed, described, ideal
from conformance.activex.guid_texts import BARE, IN_BRACES, broken
from conformance.activex.ideal import judged
from conformance.activex.mutations import all_plans
from conformance.activex.plans import Plan
from conformance.activex.queue_names import Kind, by_format, by_path
from conformance.activex.scene_client import client_objects
from conformance.activex.scene_events import event_objects
from conformance.activex.scene_further import further_objects
from conformance.activex.states import STATES
from conformance.spec.catalogue import catalogue
from conformance.spec.compiled import data_folder
from conformance.verdict import Outcome

SECTIONS = ("1.9", "2.2", "6", *(f"3.{number}" for number in range(1, 18)))
"""Sections whose entries are all judged or listed."""
REASONS = {
    "nothing makes it happen",
    "no value of its type is meant",
    "needs an object that late binding does not hand out",
    "another entry demands the same of a member",
    "needs the plain facets beside the object",
    "the queue manager's own rules judge it",
    "a property of the whole document",
    "no check has been written",
    "a reading decides whether it is demanded",
}


def unjudged() -> dict[str, list[str]]:
    return tomllib.loads((data_folder() / "cells" / "unjudged.toml").read_text(encoding="utf-8"))


def all_judged() -> set[str]:
    types = (name for coclass, states in STATES.items() if states.new is not None for name in claimed(coclass))
    libraries = (name for coclass in library.classes() for name in identity.claimed(coclass))
    further = (
        *(name for plans in plans_further.groups().values() for some in plans.values() for name in of_further(some)),
        *(
            name
            for plans in (plans_query.groups(), plans_query.without_directory(), plans_coordinated.coordinated())
            for some in plans.values()
            for name in of_further(some)
        ),
        *(name for some in plans_events.groups().values() for name in further_ideal.claimed(some, event_objects)),
    )
    mine = {*types, *judged(all_plans()), *scenes.judged(client_plans(), client_objects)}
    return {*mine, *constants.claimed(), *libraries, *further}


def of_further(plans: tuple[Plan, ...]) -> tuple[str, ...]:
    return further_ideal.claimed(plans, further_objects)


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
        assert {verdict.outcome for verdict in described(coclass, ideal(coclass))} == {Outcome.PASS}
        for change in (
            {"slot": 99},
            {"kind": "method", "name": "x"},
            {"arguments": [{"name": "x", "flags": ["in"]}] * 9},
        ):
            (interface,) = ideal(coclass)
            members = [{**member, **change} for member in interface["members"]]
            failed = {
                verdict.requirement
                for verdict in described(coclass, [{**interface, "members": members}])
                if verdict.outcome is Outcome.FAIL
            }
            assert failed == set(claimed(coclass))


def test_constants_are_compared_by_either_spelling() -> None:
    shown = constants.ideal()
    assert {verdict.outcome for verdict in constants.constants(shown)} == {Outcome.PASS}
    acknowledgments = {
        name.replace("EDGEMENT", "EDGMENT"): value for name, value in shown["MQMSGACKNOWLEDGEMENT"].items()
    }
    spelled = {**shown, "MQMSGACKNOWLEDGEMENT": acknowledgments}
    assert {verdict.outcome for verdict in constants.constants(spelled)} == {Outcome.PASS}
    wrong = {name: {one: value + 1 for one, value in each.items()} for name, each in shown.items()}
    for broken_library in (wrong, {}):
        failed = {one.requirement for one in constants.constants(broken_library) if one.outcome is Outcome.FAIL}
        assert failed == set(constants.claimed())


def test_each_requirement_on_type_information_can_fail() -> None:
    types = {name for coclass, states in STATES.items() if states.new is not None for name in claimed(coclass)}
    assert library_mutations.caught() == {*types, *constants.claimed()}


def test_a_driver_without_a_type_library_is_not_judged_by_it() -> None:
    (interface,) = ideal("MSMQTransaction")
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
        "HOST\\private$\\q": Kind.HERE,
        ".\\PRIVATE$\\q": Kind.HERE,
        "host\\q": Kind.HERE,
        "other\\private$\\q": Kind.ELSEWHERE,
        "other\\q": Kind.OTHER,
        "\\private$\\q": Kind.NO_COMPUTER,
        "q": Kind.UNPARSED,
        "host\\private$\\" + "x" * 125: Kind.UNPARSED,
        "host\\private$\\q;s": Kind.SUBQUEUE,
        "host\\private$\\q;s;t": Kind.OTHER,
    }
    assert {name: by_path(name, "HOST").kind for name in kinds} == kinds
    formats = {
        "DIRECT=OS:.\\private$\\q": Kind.HERE,
        "direct=os:host\\SYSTEM$;DeadLetter": Kind.MACHINE,
        "DIRECT=HTTP://host/msmq/q": Kind.SEVERAL,
        "MULTICAST=234.1.1.1:8001": Kind.SEVERAL,
        "DIRECT=OS:host\\a,DIRECT=OS:host\\b": Kind.SEVERAL,
        "PRIVATE=x\\1": Kind.HERE,
        "PRIVATE=x\\2": Kind.OTHER,
        "junk": Kind.UNPARSED,
    }
    assert {name: by_format(name, "HOST", {"private=x\\1": "private$\\q"}).kind for name in formats} == formats
