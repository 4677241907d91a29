"""Readings that a run infers."""

from __future__ import annotations

from itertools import combinations, product

import pytest
import reading_manager
from cases import all_of
from nightly import amount, sample

from conformance.histories.inference import probing
from conformance.histories.inference.inferring import Behaviour, Conclusion, Inference, Status
from conformance.histories.inference.probing import Worlds, defaults
from conformance.histories.inference.separating_traces import TOGETHER, Trace, from_json, ruled_out, separate, shipped
from conformance.infer import Inferred, infer
from conformance.spec.catalogue import catalogue
from conformance.verdict import ExitCode, Outcome, Verdict
from tools.traces import to_json


def without_subqueues(trace: Trace) -> bool:
    """Whether the managers of these tests, which have none and no outgoing queues, can go through it."""
    lacking = ("messages.move", "outgoing.take")
    return not any(call.method in lacking or ";" in (call.queue or "") for call in trace.calls)


TRACED = sorted({trace.reading for trace in shipped() if without_subqueues(trace)})
# What these alternatives allow holds all that the other one does, so that nothing can rule them out.
WIDER = {
    "R-MQDMPR-lookup-identifier-priority": "within-priority",
    "R-MQDMPR-transactional-express": "express",
}


def others(reading: str) -> list[str]:
    return [name for name in catalogue().readings[reading].alternatives if name != defaults()[reading]]


ONE_BY_ONE = [{reading: other} for reading in TRACED for other in others(reading)]
AT_ONCE = [  # those that do not meet, all of them at once: every alternative in a few runs
    {reading: others(reading)[turn % len(others(reading))] for reading in TRACED if reading not in TOGETHER}
    for turn in range(2)
]
SWITCHED = AT_ONCE + list(
    sample("readings.one-by-one", ONE_BY_ONE, [one for one in ONE_BY_ONE if set(one) & set(TOGETHER)])
)
WALKS = amount("readings.walks-of-a-plan")  # of each plan; the traces alone must find it


def inferred(manager: str, *, walks: int = WALKS) -> Inferred:
    return infer(adapter=f"python:{manager}", in_process=True, with_suites=False, walks=walks)


def of(found: Inferred, reading: str) -> Conclusion:
    return next(one for one in found.conclusions if one.reading == reading)


@all_of("trace", shipped(), ids=lambda trace: f"{trace.reading}-{'-'.join(trace.alternatives)}")
def test_a_shipped_trace_separates_what_it_says(trace: Trace) -> None:
    pair = trace.alternatives
    assert trace.rules_out == ruled_out(trace.reading, pair, trace.calls, trace.given)
    assert ruled_out(trace.reading, pair, trace.calls[:-1], trace.given) != trace.rules_out, (
        "its last call says nothing"
    )
    assert from_json(trace.reading, to_json(trace)) == trace


def test_every_pair_of_alternatives_the_model_splits_on_has_a_trace() -> None:
    there = {(trace.reading, frozenset(trace.alternatives)) for trace in shipped()}
    for reading in TRACED:
        for pair in combinations(catalogue().readings[reading].alternatives, 2):
            assert (reading, frozenset(pair)) in there


def test_the_search_finds_a_shipped_trace_again() -> None:
    trace = next(trace for trace in shipped() if trace.reading == "R-MQDMPR-delete-waiting-read")
    assert separate(trace.reading, *trace.alternatives) == trace


@pytest.mark.parametrize("switched", SWITCHED, ids=lambda switched: "-".join(switched.values()))
def test_a_switched_reading_is_found(switched: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_manager, "CHOICE", switched)
    found = inferred("reading_manager:ReadingManager")
    assert (found.exit_code, found.behaviours) == (ExitCode.CONFORMS, ())
    for reading, followed in defaults(switched).items():
        one = of(found, reading)
        assert followed in one.left, one
        if reading in switched:
            assert one.left == (followed,), one
            assert set(one.proofs) == set(catalogue().readings[reading].alternatives) - {followed}
        elif reading in TRACED:
            assert one.left == (followed,) or WIDER.get(reading) in one.left, one


def test_a_manager_written_otherwise_is_read_rightly() -> None:
    found = inferred("memory_manager:HonestManager", walks=0)  # it keeps no journals
    assert found.exit_code is ExitCode.CONFORMS
    followed = {one.reading: one.left[0] for one in found.conclusions if one.status is Status.FOLLOWED}
    assert (
        followed.items()
        >= {
            "R-MQDMPR-zero-timeout-status": "by-kind",
            "R-MQDMPR-deleted-queue-status": "queue-deleted",
            "R-MQDMPR-send-after-delete": "refused",
            "R-MQDMPR-delete-waiting-read": "at-timeout",
            "R-MQDMPR-peek-timeout-state": "unread",
            "R-MQDMPR-parked-cursor-after-timeout": "sees-arrivals",
            "R-MQDMPR-transaction-order": "by-send",
            "R-MQDMPR-lookup-removed-status": "message-not-found",
            "R-MQDMPR-share-with-peek": "local-api",
        }.items()
    )


def test_the_embedded_implementation_follows_what_it_claims() -> None:
    found = infer(adapter="embedded", in_process=True, with_suites=False, walks=1)
    assert found.exit_code is ExitCode.CONFORMS
    followed = {one.reading: one.left[0] for one in found.conclusions if one.status is Status.FOLLOWED}
    assert len(set(followed) & set(TRACED)) >= len(TRACED) - len(WIDER)
    assert followed == {reading: found.claims.get(reading, name) for reading, name in followed.items()}
    assert found.refuted == {}


ALWAYS = [("R-MQDMPR-poll-at-end", "no-effect"), ("R-MQDMPR-waiting-readers-order", "peeks-first")]
IF_TIME = [
    ("R-MQDMPR-lookup-identifier-priority", "within-priority"),
    ("R-MQDMPR-zero-timeout-status", "io-timeout"),
    ("R-MQDMPR-zero-timeout-status", "message-not-found"),
    ("R-MQDMPR-deleted-queue-status", "queue-deleted"),
    ("R-MQDMPR-send-after-delete", "refused"),
    ("R-MQDMPR-delete-waiting-read", "at-timeout"),
    ("R-MQDMPR-cursor-locked-message", "other-failure"),
    ("R-MQDMPR-lookup-first-last", "must-exist"),
    ("R-MQDMPR-lookup-neighbour-of-removed", "nearest"),
    ("R-MQDMPR-lookup-locked-status", "transaction-usage"),
    ("R-MQDMPR-lookup-locked-status", "locked-under-transaction"),
    ("R-MQDMPR-purge-uncommitted-send", "purged"),
    ("R-MQDMPR-share-with-peek", "local-api"),
]


@pytest.mark.parametrize(("reading", "alternative"), sample("readings.switched", ALWAYS + IF_TIME, ALWAYS))
def test_what_the_embedded_implementation_was_switched_to_is_found(reading: str, alternative: str) -> None:
    found = infer(adapter=f"embedded+{reading}={alternative}", in_process=True, with_suites=False, walks=WALKS)
    assert (found.exit_code, found.behaviours, found.refuted) == (ExitCode.CONFORMS, (), {})
    assert of(found, reading).left == (alternative,)


def test_an_alternative_no_check_knows_is_not_said_to_fit_none() -> None:
    reading = "R-MQDMPR-timeout-unit"
    inference = Inference()
    inference.split.discard(reading)
    broken = Verdict("MQDMPR-3.1.2.3.expires", Outcome.FAIL, "messages.receive", "ends", "waits")
    inference.behave(Behaviour(broken, ("w1: receive from q1 -> waits", "and more"), "walk"))
    inference.behave(Behaviour(broken, ("w1: receive from q1 -> waits",), "walk"))
    one = next(found for found in inference.conclusions() if found.reading == reading)
    assert (one.status, one.left) == (Status.UNDECIDED, ("milliseconds", "seconds"))
    assert "the checks know only the default" in one.why
    assert [len(behaviour.story) for behaviour in one.behaviours] == [1]
    inference.split.add(reading)
    told = next(found for found in inference.conclusions() if found.reading == reading)
    assert told.status is Status.FITS_NONE


def test_a_claim_that_does_not_hold_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = {"R-MQDMPR-send-after-delete": "lost", "R-MQDMPR-delete-waiting-read": "at-once"}
    monkeypatch.setattr(reading_manager, "CLAIMS", claims)
    monkeypatch.setattr(reading_manager, "CHOICE", {"R-MQDMPR-send-after-delete": "refused"})
    found = inferred("reading_manager:ReadingManager")
    assert (found.exit_code, found.refuted) == (ExitCode.DEVIATES, {"R-MQDMPR-send-after-delete": "lost"})


def test_an_answer_that_fits_none_is_told_with_a_short_story() -> None:
    found = inferred("memory_manager:WrongTimeoutStatus", walks=1)
    assert found.exit_code is ExitCode.DEVIATES
    zero = of(found, "R-MQDMPR-zero-timeout-status")
    assert zero.status is Status.FITS_NONE
    shortest = min(zero.behaviours, key=lambda behaviour: len(behaviour.story))
    assert shortest.verdict.requirement in catalogue().readings[zero.reading].requirements
    assert len(shortest.story) <= 5
    # What has nothing to do with it is found all the same.
    assert of(found, "R-MQDMPR-deleted-queue-status").left == ("queue-deleted",)


def test_two_readings_by_turns_fit_no_single_one() -> None:
    found = inferred("reading_manager:NewStatusEachTest", walks=1)
    assert found.exit_code is ExitCode.DEVIATES
    zero = of(found, "R-MQDMPR-zero-timeout-status")
    assert (zero.status, zero.left) == (Status.BOTH_WAYS, ())
    assert len(zero.proofs) == 2 and all(proof.story for proof in zero.proofs.values())
    assert of(found, "R-MQDMPR-share-with-peek").status is Status.FOLLOWED


def test_a_driver_that_dies_is_no_reading() -> None:
    found = inferred("reading_manager:DiesAtPurge")
    assert found.exit_code is ExitCode.DEVIATES
    assert sum(found.crashes.values()) >= 1
    assert "purged too much" in next(iter(found.crashes))
    assert of(found, "R-MQDMPR-purge-uncommitted-send").status is Status.UNDECIDED
    assert of(found, "R-MQDMPR-share-with-peek").left == ("data-model",)


AB = ("a", "b")


def box(**named: str) -> dict[str, frozenset[str]]:
    return {reading: frozenset(alternatives) for reading, alternatives in named.items()}


def test_an_answer_about_one_decides_the_other() -> None:
    either = Worlds.of([box(R="a"), box(S="b")])
    assert (either.possible("R", AB), either.possible("S", AB)) == (AB, AB)
    told = either.meet(Worlds.of([box(R="b")]))
    assert (told.possible("R", AB), told.possible("S", AB)) == (("b",), ("b",))


def test_what_nothing_explains_is_empty() -> None:
    assert Worlds.of([box(R="a")]).meet(Worlds.of([box(R="b")])).empty
    assert not Worlds().empty


def test_a_box_inside_another_is_dropped() -> None:
    assert Worlds.of([box(R="a", S="a"), box(R="a"), box(R="ab", S="a")]).boxes == (box(R="a"), box(R="ab", S="a"))


def test_an_alternative_is_ruled_out() -> None:
    assert Worlds().without("R", "a", AB).possible("R", AB) == ("b",)
    assert Worlds.of([box(R="a")]).without("R", "a", AB).empty


def test_too_many_boxes_keep_all_that_was_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "MAX_BOXES", 4)
    names = ("R", "S", "T")
    each = [box(**dict(zip(names, chosen, strict=True))) for chosen in product("ab", repeat=3) if len(set(chosen)) > 1]
    joined = Worlds.of(each)
    assert len(joined.boxes) <= 4
    for one in each:
        assert not joined.meet(Worlds.of([one])).empty
    assert Worlds.of(each[:4]).meet(Worlds.of([box(R="a", S="a", T="a")])).empty
