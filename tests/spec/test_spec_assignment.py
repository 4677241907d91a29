"""One assignment of readings: what verdicts say together, and what they cannot say together."""

from __future__ import annotations

from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from conformance.spec.catalogue import catalogue
from conformance.spec.followed_readings import FollowedReadings, either, narrowed, possible
from conformance.verdict import Outcome, Verdict

READING = "R-MQDMPR-zero-timeout-status"
NAMES = tuple(catalogue().readings[READING].alternatives)
ACCEPTED = {READING: NAMES}
DEMANDS = catalogue().readings[READING].requirements


def verdict(named: str, outcome: Outcome = Outcome.PASS, requirement: str = DEMANDS[0], subject: str = "s") -> Verdict:
    return Verdict(requirement, outcome, subject, readings=((READING, named),))


def whole(*verdicts: Verdict) -> FollowedReadings:
    made = FollowedReadings()
    for number, one in enumerate(verdicts):
        made.add(one, f"test {number}")
    return made


def test_the_default_throughout_is_no_news() -> None:
    run = whole(verdict(NAMES[0]), verdict(either(NAMES[:2])))
    assert run.followed() == {READING: (NAMES[0],)}
    assert run.conclude(ACCEPTED, level="must") == []


def test_another_alternative_is_told_once() -> None:
    (told,) = whole(verdict(NAMES[1])).conclude(ACCEPTED, level="must")
    assert (told.outcome, told.readings) == (Outcome.READING, ((READING, NAMES[1]),))
    assert whole(verdict(NAMES[1], Outcome.READING)).conclude(ACCEPTED, level="must") == []


def test_what_fewer_requirements_show_is_blamed_by_its_subject() -> None:
    for odd, usual in ((NAMES[0], NAMES[1]), (NAMES[1], NAMES[0])):
        many = (verdict(usual, requirement=name, subject="others") for name in DEMANDS[1:3])
        failed, *_ = whole(*many, verdict(odd, subject="peek")).conclude(ACCEPTED, level="must")
        assert (failed.requirement, failed.subject) == (DEMANDS[0], "the run: peek in test 2")


def test_both_ways_fails_once_and_names_both_subjects() -> None:
    run = whole(
        verdict(NAMES[0], subject="peek"),
        verdict(NAMES[0], subject="again"),
        verdict(NAMES[1], requirement=DEMANDS[1], subject="receive"),
    )
    found = run.conclude(ACCEPTED, level="must")
    assert {one.requirement for one in found} == {DEMANDS[0], DEMANDS[1]}
    assert [one.outcome for one in found] == [Outcome.FAIL, Outcome.INCONCLUSIVE]
    assert found[0].requirement in (found[1].reason or ""), "one deviation is one failure"
    assert all(word in (found[0].reason or "") for word in ("peek", "receive")), found[0].reason
    assert found[0].evidence is not None
    sights = found[0].evidence.data["followed"]
    assert {name: (sight["subject"], sight["where"]) for name, sight in sights.items()} == {
        NAMES[0]: ("peek", "test 0"),
        NAMES[1]: ("receive", "test 2"),
    }


def test_what_breaks_the_demand_reads_it_in_no_way() -> None:
    both = (verdict(NAMES[0]), verdict(NAMES[1]))
    broken = Verdict(DEMANDS[1], Outcome.FAIL, "receive", readings=((READING, NAMES[0]),))
    (told,) = whole(*both, broken).conclude(ACCEPTED, level="must")
    assert (told.requirement, told.outcome) == (DEMANDS[1], Outcome.INCONCLUSIVE)
    assert told.reason is not None and READING in told.reason
    apart = whole(*both)
    apart.merge(whole(broken))
    assert [one.outcome for one in apart.conclude(ACCEPTED, level="must")] == [Outcome.INCONCLUSIVE]
    # What else is broken excuses nothing.
    other = next(name for name in catalogue().requirements if name not in DEMANDS)
    found = whole(*both, Verdict(other, Outcome.FAIL, "x")).conclude(ACCEPTED, level="must")
    assert Outcome.FAIL in {one.outcome for one in found}


def test_three_explanations_can_exclude_each_other_only_together() -> None:
    pairs = [either(pair) for pair in ((NAMES[0], NAMES[1]), (NAMES[1], NAMES[2]), (NAMES[0], NAMES[2]))]
    found = whole(*map(verdict, pairs)).conclude(ACCEPTED, level="must")
    assert [one.outcome for one in found] == [Outcome.FAIL]
    assert found[0].evidence is not None
    assert set(found[0].evidence.data["followed"]) == set(pairs)


def test_only_what_holds_says_what_was_followed() -> None:
    others = (Outcome.FAIL, Outcome.WARN, Outcome.SKIP, Outcome.CRASH, Outcome.INCONCLUSIVE)
    broken = [
        Verdict(DEMANDS[0], outcome, "s", readings=((READING, NAMES[1]),), reason="because") for outcome in others
    ]
    assert whole(verdict(NAMES[0]), *broken).conclude(ACCEPTED, level="must") == []


def test_a_weaker_demand_warns() -> None:
    weak = next(entry.id for entry in catalogue() if entry.level == "should")
    found = whole(verdict(NAMES[0], requirement=weak), verdict(NAMES[1], requirement=weak))
    assert [one.outcome for one in found.conclude(ACCEPTED, level="must")] == [Outcome.WARN]
    assert [one.outcome for one in found.conclude(ACCEPTED, level="should")] == [Outcome.FAIL]


SUBSETS = st.sets(st.sampled_from(NAMES), min_size=1).map(sorted)


@given(st.lists(SUBSETS, min_size=1, max_size=6))
def test_a_run_is_consistent_exactly_when_one_alternative_explains_all(sets: list[list[str]]) -> None:
    run = whole(*(verdict(either(names)) for names in sets))
    explains = [name for name in NAMES if all(name in names for names in sets)]
    assert run.followed() == {READING: tuple(explains)}
    assert any(one.outcome is Outcome.FAIL for one in run.conclude(ACCEPTED, level="must")) is not bool(explains)


@given(st.lists(SUBSETS, max_size=4), st.lists(SUBSETS, max_size=4))
def test_parts_say_together_what_the_whole_says(one: list[list[str]], other: list[list[str]]) -> None:
    parts = whole(*(verdict(either(names)) for names in one))
    parts.merge(whole(*(verdict(either(names)) for names in other)))
    together = whole(*(verdict(either(names)) for names in [*one, *other]))
    assert parts.followed() == together.followed()


@given(st.lists(st.tuples(SUBSETS, st.sampled_from(DEMANDS)), max_size=5), st.randoms())
def test_the_order_of_the_verdicts_does_not_matter(told: list[tuple[list[str], str]], random: Random) -> None:
    """Which worker ran which test is a matter of luck."""
    verdicts = [(verdict(either(names), requirement=name), f"test {at}") for at, (names, name) in enumerate(told)]
    found = []
    for _ in range(2):
        run = FollowedReadings()
        for one, where in verdicts:
            run.add(one, where)
        found.append(run.conclude(ACCEPTED, level="must"))
        random.shuffle(verdicts)
    assert found[0] == found[1]


def test_either_and_possible_are_inverse() -> None:
    assert possible(either(NAMES)) == set(NAMES)
    assert possible(NAMES[0]) == {NAMES[0]}


STATES = st.lists(st.dictionaries(st.just(READING), SUBSETS.map(frozenset)), min_size=1, max_size=3)


@given(STATES, STATES)
def test_a_step_never_rules_out_what_a_state_still_assumes(
    before: list[dict[str, frozenset[str]]], after: list[dict[str, frozenset[str]]]
) -> None:
    for reading, named in narrowed(before, after, ACCEPTED):
        assert reading == READING
        for state, name in product(after, NAMES):
            if name in state.get(READING, NAMES):
                assert name in possible(named)


def test_a_step_that_tells_nothing_names_nothing() -> None:
    first, both = frozenset(NAMES[:1]), frozenset(NAMES[:2])
    assert narrowed([{}], [{}], ACCEPTED) == ()
    assert narrowed([{}], [{READING: first}, {}], ACCEPTED) == ()
    assert narrowed([{READING: first}], [{READING: first}], ACCEPTED) == ()
    assert narrowed([{}], [{READING: frozenset(NAMES)}], ACCEPTED) == ()
    assert narrowed([{READING: both}], [{READING: first}], ACCEPTED) == ((READING, NAMES[0]),)
    assert narrowed([{}], [{READING: first}], {READING: NAMES[:1]}) == ((READING, NAMES[0]),)
