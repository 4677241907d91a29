"""The scenes of the further classes: ideal answers pass under every reading, and each requirement can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.activex.all_plans import services_plans
from conformance.activex.expected import Readings, Seen
from conformance.activex.plans import Act, Plan, call_on, create, passes
from conformance.activex.plans_events import EMPTY, GIVEN, SENT, SOON, advise, lookup, notify, scene, unadvise
from conformance.activex.scene_events import TIMED_OUT, event_objects
from conformance.activex.scene_services import driven, service_objects
from conformance.activex.scenes import COMPUTER, IDEAL, Stage, with_texts
from conformance.activex.services import APPLICATION, COLLECTION, DESTINATION, MANAGEMENT, QUERY, QUEUE_INFOS
from conformance.activex.services_plans import ABROAD, ACTIONS, FIRST, direct, init, opened, queue
from conformance.activex.services_reference_answers import caught, judged, refuted
from conformance.activex.values import MISSING, Variant, long, text, truth
from conformance.spec.catalogue import catalogue
from conformance.verdict import Outcome, Verdict

FURTHER = services_plans()
PLANS = {name: one.plans for name, one in FURTHER.items()}
STAGES = {name: one.stage for name, one in FURTHER.items()}
READINGS = (
    "R-MQAC-destination-failed-name",
    "R-MQAC-path-name-conversion",
    "R-MQAC-management-number-types",
    "R-MQAC-init-again",
    "R-MQAC-init-inactive-queue",
    "R-MQAC-directory-of-this-computer",
    "R-MQAC-notification-access",
    "R-MQAC-com-result-values",
    "R-MQAC-query-without-multicast",
)
ALTERNATIVES = {name: tuple(catalogue().readings[name].alternatives) for name in READINGS}


@pytest.mark.parametrize("name", PLANS)
def test_ideal_answers_pass(name: str) -> None:
    assert refuted(PLANS[name], STAGES[name]) == ()


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("at", range(max(map(len, ALTERNATIVES.values()))))
def test_ideal_answers_pass_under_each_alternative(name: str, at: int) -> None:
    readings = {one: (words[min(at, len(words) - 1)],) for one, words in ALTERNATIVES.items()}
    assert refuted(PLANS[name], STAGES[name], readings) == ()


@pytest.mark.parametrize("name", PLANS)
def test_each_requirement_that_a_plan_judges_can_fail(name: str) -> None:
    assert set(judged(PLANS[name], STAGES[name])) - caught(PLANS[name], STAGES[name]) == set()


def test_plans_survive_json() -> None:
    for plans in PLANS.values():
        for plan in plans:
            assert tuple(Act.from_json(act.to_json()) for act in plan) == plan


def answered(plan: Plan, stage: Stage, *given: Seen | None, readings: Readings | None = None) -> set[str]:
    """Play a plan with ideal answers, and others for its last acts; return the requirements that fail then.

    given: the last answers; None for an ideal one.
    """
    objects, found = stage(readings or {}, IDEAL), list[Verdict]()
    first = len(plan) - len(given)
    for at, planned in enumerate(plan):
        act = with_texts(planned, IDEAL.texts)
        if act.call is None and not act.passes_ms:
            objects.do(act, None)
            continue
        other = given[at - first] if at >= first else None
        verdicts = objects.do(act, objects.ideal(act) if other is None else other)
        found += verdicts if at >= first else ()
    return {verdict.requirement for verdict in found if verdict.outcome is Outcome.FAIL}


def told(*events: tuple[str, tuple[Variant, ...]], status: int = 0) -> Seen:
    shown = {f"{at} e {name}": Seen(0, Variant("ARRAY", them, "VARIANT")) for at, (name, them) in enumerate(events)}
    return Seen(status, shown=shown)


QUEUE = Variant("DISPATCH", "q")
ARRIVED = ("Arrived", (QUEUE, long(0)))
EXPIRED = ("ArrivedError", (QUEUE, TIMED_OUT, long(0)))
WAITS = (*scene(), advise(), notify(timeout=SOON))


@pytest.mark.parametrize(
    ("events", "wrong"),
    [((ARRIVED,), False), ((), True), ((ARRIVED, ARRIVED), True), ((EXPIRED,), True), ((ARRIVED, EXPIRED), True)],
)
def test_a_message_in_time_is_told_once(events: tuple[tuple[str, tuple[Variant, ...]], ...], wrong: bool) -> None:
    assert bool(answered((*WAITS, SENT), event_objects, told(*events))) == wrong


def test_a_registration_ends_in_time() -> None:
    early, late = (*WAITS, passes(999)), (*WAITS, passes(999), passes(1))
    assert answered(early, event_objects, told(EXPIRED))
    assert answered(late, event_objects, told(EXPIRED)) == set()
    assert answered(late, event_objects, told())
    assert "MQAC-3.16.4.4.2.arrived-error-method" in answered(
        late, event_objects, told(("ArrivedError", (QUEUE, long(1), long(0))))
    )


def test_who_has_unadvised_hears_nothing() -> None:
    plan = (*WAITS, unadvise(), SENT)
    assert answered(plan, event_objects, told()) == set()
    assert "MQAC-3.16.4.5.4.purpose" in answered(plan, event_objects, told(ARRIVED))


def test_two_sinks_are_told_twice() -> None:
    plan = (*scene(), advise(), advise(gives="$second"), notify(), SENT)
    assert answered(plan, event_objects, told(ARRIVED, ARRIVED)) == set()
    assert answered(plan, event_objects, told(ARRIVED))


def test_what_happens_to_a_registration_of_a_closed_queue_is_left_open() -> None:
    plan = (*WAITS, call_on("q", "Close"))
    for events in ((), (EXPIRED,), (ARRIVED,)):
        assert answered(plan, event_objects, told(*events)) == set()


def test_a_driver_that_sees_no_other_success_is_not_blamed_for_it() -> None:
    twice = (create(DESTINATION, "d"), call_on("d", "Close"), call_on("d", "Close"))
    assert answered(twice, service_objects, Seen(0), Seen(0)) == set()
    assert answered(twice, service_objects, Seen(1), Seen(0))
    assert answered(twice, service_objects, Seen(0), Seen(1)) == set()


def test_a_destination_that_failed_to_take_a_name_shows_either() -> None:
    plan = (*queue("i"), create(DESTINATION, "d"), *ACTIONS["path"], *ACTIONS["path-of-nothing"])
    look = call_on("d", "PathName", kind="get")
    real = with_texts(call_on("d", "PathName", text(FIRST), kind="put"), IDEAL.texts).call
    assert real is not None
    for value, wrong in ((real.arguments[0], False), (text("nothing"), False), (text("other"), True)):
        assert bool(answered((*plan, look), service_objects, Seen(0, value))) == wrong


def test_a_report_decides_what_a_management_object_tells() -> None:
    away = (create("MSMQQueueInfo", "w"), call_on("w", "FormatName", text(ABROAD), kind="put"), opened("w", 2, "s"))
    ask = driven("management.get", target={"type": "queue", "format_name": ABROAD}, properties=[11])
    plan = (*away, create(MANAGEMENT, "g"), init(MISSING, text(ABROAD)), ask, call_on("g", "State", kind="get"))
    connected = Seen(0, text('[{"vt": 31, "value": "CONNECTED"}]'))
    assert answered(plan, service_objects, connected, Seen(0, long(6))) == set()
    assert answered(plan, service_objects, connected, Seen(0, long(5)))


def test_a_queue_that_is_not_open_is_not_managed() -> None:
    plan = (*queue("i"), create(MANAGEMENT, "g"), init(MISSING, text(direct(FIRST))))
    refused = {"R-MQAC-init-inactive-queue": ("refused",)}
    name = "MQAC-3.3.4.1.1.represented-queue-active-format-name"
    assert name in answered(plan, service_objects, Seen(0), readings=refused)
    for status in (0, 0xC00E0004):
        assert answered(plan, service_objects, Seen(status)) == set()
    ready = (*plan, call_on("g", "IsLocal", kind="get"))
    uninitialized = Seen(0xC00E0094)
    assert answered(ready, service_objects, Seen(0xC00E0004), uninitialized) == set()
    assert name in answered(ready, service_objects, Seen(0xC00E0004), Seen(0, Variant("BOOL", True)))


def test_without_a_directory_a_queue_manager_knows_itself_or_nobody() -> None:
    plan = (create(APPLICATION, "a"), call_on("a", "MachineIdOfMachineName", text(COMPUTER)))
    own = {"R-MQAC-directory-of-this-computer": ("known",)}
    assert answered(plan, service_objects, Seen(0xC00E0013)) == set()
    assert answered(plan, service_objects, Seen(0xC00E0013), readings=own)
    assert answered(plan, service_objects, Seen(0, text("01234567-89ab-cdef-0123-456789abcdef")))
    assert answered((GIVEN, *plan), service_objects, Seen(0xC00E0013))


def test_a_query_finds_the_public_queue_that_a_plan_has_made() -> None:
    made = (create("MSMQQueueInfo", "i"), call_on("i", "PathName", text("$computer\\$queue"), kind="put"))
    labelled = (call_on("i", "Label", text("own"), kind="put"), call_on("i", "Create", MISSING, MISSING))
    asked = (create(QUERY, "q"), lookup("LookupQueue", Label=text("own")), call_on("f", "Next", gives="n0"))
    plan, found = (GIVEN, *made, *labelled, *asked), Seen(0, Variant("DISPATCH", "x"))
    assert answered(plan, service_objects, found) == set()
    assert "MQAC-3.13.4.1.3.purpose" in answered(plan, service_objects, Seen(0, Variant("DISPATCH")))
    assert answered((*plan, asked[-1]), service_objects, found, found)
    named = (*plan, call_on("n0", "FormatName", kind="get"))
    assert answered(named, service_objects, Seen(0, text("PUBLIC=01234567-89AB-cdef-0123-456789abcdef"))) == set()
    assert answered(named, service_objects, Seen(0, text("PUBLIC=nothing")))


def test_a_query_is_judged_as_a_set() -> None:
    names = tuple(f"PUBLIC={number:08x}-9078-4445-8f11-394c43cd8907" for number in (0xABCDEF01, 0xABCDEF04, 0xABCDEF02))
    found = Seen(0, Variant("DISPATCH", "x"))
    plan: Plan = (GIVEN, create(QUERY, "q"), lookup("LookupQueue_v2", Label=text("b")))
    for number in range(3):
        plan = (*plan, call_on("f", "Next", gives=f"n{number}"), call_on(f"n{number}", "FormatName", kind="get"))
    end = (Seen(0, Variant("DISPATCH")), None)
    for first, second in ((0, 1), (1, 0)):
        both = (found, Seen(0, text(names[first])), found, Seen(0, text(names[second])))
        assert answered(plan[:-1], service_objects, *both, end[0]) == set()
    assert answered(plan[:-1], service_objects, found, Seen(0, text(names[0])), found, Seen(0, text(names[0])), end[0])
    assert answered(plan[:-1], service_objects, found, Seen(0, text(names[2])), found, Seen(0, text(names[1])), end[0])
    assert answered(plan[:5], service_objects, found, Seen(0, text(names[0]))) == set()


def test_what_no_query_made_has_nothing_to_give() -> None:
    plan = (create(QUEUE_INFOS, "f"), call_on("f", "Next"))
    assert answered(plan, service_objects, Seen(0, Variant("DISPATCH")))
    assert (
        answered((EMPTY, create(QUERY, "q"), lookup("LookupQueue"), call_on("f", "Next")), service_objects, None)
        == set()
    )
    assert answered((create(COLLECTION, "c"), call_on("c", "Count", kind="get")), service_objects, Seen(0, long(1)))


def test_an_open_destination_is_told_open() -> None:
    plan = (
        *queue("i"),
        create(DESTINATION, "d"),
        *ACTIONS["format"],
        call_on("d", "Open"),
        call_on("d", "IsOpen", kind="get"),
    )
    assert answered(plan, service_objects, replace(Seen(0), value=truth(False)))
