"""The gate: what shuts it, what excuses, and that it cannot be opened by judging less."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.gate import decide
from conformance.report.standing import (
    BaselineError,
    Floor,
    Known,
    Standing,
    parse,
    read_baseline,
    read_floor,
    standing,
    update,
)
from conformance.runlog import Run, RunWriter
from conformance.spec.catalogue import catalogue
from conformance.verdict import ExitCode, Outcome, Verdict

TODAY = date(2026, 11, 22)
MUST, OTHER, THIRD = [entry.id for entry in catalogue() if entry.level == "must" and entry.checked == "call"][:3]
SHOULD = next(entry.id for entry in catalogue() if entry.level == "should" and entry.checked == "call")
UNSAID = frozenset({Outcome.FLAKY, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.SKIP})


Told = tuple[str, Outcome] | tuple[str, Outcome, str]


def filled(*told: Told) -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        for requirement, outcome, *rest in told:
            subject = rest[0] if rest else "receive"
            reason = "because" if outcome in UNSAID else None
            suite = "names" if subject.startswith("DIRECT") else "cursors"
            writer.verdict(Verdict(requirement, outcome, subject, reason=reason), suite=suite, test=f"{suite}.py::t")

    return fill


@pytest.fixture
def stand(make_run: Callable[..., Run]) -> Callable[..., Standing]:
    def make(
        *told: tuple[str, Outcome] | tuple[str, Outcome, str], level: str | None = None, **header: object
    ) -> Standing:
        return standing(make_run(filled(*told), **header), level)

    return make


def kinds(now: Standing, **options: object) -> list[tuple[str, str]]:
    decision = decide(now, today=TODAY, **options)  # type: ignore[arg-type]
    return [(objection.kind, objection.what) for objection in decision.objections]


def known(requirement: str, subject: str | None = None, *, days: int = 30) -> Known:
    return Known(requirement, "not yet", "https://example.org/1", TODAY + timedelta(days), subject)


def test_without_anything_to_compare_with_every_deviation_shuts_it(stand: Callable[..., Standing]) -> None:
    now = stand((MUST, Outcome.FAIL), (OTHER, Outcome.PASS), (THIRD, Outcome.CRASH))
    assert sorted(kinds(now)) == sorted([("deviation", MUST), ("deviation", THIRD)])
    decision = decide(now)
    assert decision.exit_code is ExitCode.DEVIATES
    assert decision.sentence.startswith("gate: shut: 2 deviations (") and MUST in decision.sentence
    assert decide(stand((MUST, Outcome.PASS))).exit_code is ExitCode.CONFORMS


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY])
def test_what_deviated_before_is_no_regression(outcome: Outcome, stand: Callable[..., Standing]) -> None:
    before = stand((MUST, Outcome.FAIL), (OTHER, Outcome.PASS))
    assert kinds(stand((MUST, outcome), (OTHER, Outcome.PASS)), before=before) == []
    assert kinds(stand((MUST, outcome), (OTHER, outcome)), before=before) == [("deviation", OTHER)]


def test_a_weaker_demand_counts_at_its_level_alone(stand: Callable[..., Standing]) -> None:
    told = (MUST, Outcome.PASS), (SHOULD, Outcome.WARN)
    assert kinds(stand(*told)) == []
    assert kinds(stand(*told, level="should")) == [("deviation", SHOULD)]


def test_another_reading_deviates_under_strict_alone(stand: Callable[..., Standing]) -> None:
    assert kinds(stand((MUST, Outcome.READING))) == []
    assert kinds(stand((MUST, Outcome.READING), reading_set="strict")) == [("deviation", MUST)]


def test_judging_less_is_a_regression(stand: Callable[..., Standing]) -> None:
    before = stand((MUST, Outcome.PASS), (OTHER, Outcome.PASS, "DIRECT=OS:a\\b"))
    assert kinds(stand((MUST, Outcome.PASS)), before=before) == [
        ("floor", "embedded"),
        ("unjudged", "names"),
        ("unjudged", "names.py::t"),
        ("unjudged", OTHER),
    ]
    for nothing in (Outcome.SKIP, Outcome.INCONCLUSIVE, Outcome.ERROR):
        now = stand((MUST, nothing), (OTHER, Outcome.PASS, "DIRECT=OS:a\\b"), (THIRD, Outcome.PASS))
        assert ("unjudged", MUST) in kinds(now, before=before)


def test_a_run_cut_short_does_not_pass(make_run: Callable[..., Run]) -> None:
    fill = filled((MUST, Outcome.PASS))
    for footer in (None, "interrupted", "driver-unusable", "error", "max-failures"):
        assert [kind for kind, _ in kinds(standing(make_run(fill, footer=footer)))] == ["incomplete"]
    assert kinds(standing(make_run(fill, footer="budget"))) == []


def test_an_error_of_the_harness_keeps_it_shut(stand: Callable[..., Standing]) -> None:
    told = (MUST, Outcome.FAIL), (OTHER, Outcome.ERROR), (THIRD, Outcome.PASS)
    assert kinds(stand(*told), baseline=[known(MUST)]) == [("error", OTHER)]
    assert kinds(stand(*told), before=stand(*told)) == [("error", OTHER)]


def test_nothing_judged_is_not_open(stand: Callable[..., Standing]) -> None:
    decision = decide(stand((MUST, Outcome.SKIP)))
    assert decision.exit_code is ExitCode.NOTHING_JUDGED
    assert decision.sentence == "gate: shut: nothing was judged"


def test_the_baseline_excuses_until_its_day(stand: Callable[..., Standing]) -> None:
    now = stand((MUST, Outcome.FAIL, "receive"), (MUST, Outcome.FAIL, "peek"), (OTHER, Outcome.PASS))
    assert kinds(now, baseline=[known(MUST)]) == []
    assert kinds(now, baseline=[known(MUST, days=0)]) == []
    assert kinds(now, baseline=[known(MUST, days=-1)]) == [("expired", MUST)]
    assert kinds(now, baseline=[known(MUST, "peek")]) == [("deviation", MUST)]
    assert kinds(now, baseline=[known(MUST, "peek"), known(MUST, "receive")]) == []


def test_an_excuse_that_is_not_needed_is_named(stand: Callable[..., Standing]) -> None:
    now = stand((MUST, Outcome.FAIL, "receive"), (OTHER, Outcome.PASS))
    excuses = [known(MUST), known(OTHER), known(THIRD), known(MUST, "peek")]
    assert kinds(now, baseline=excuses) == [("needless", OTHER), ("unseen", THIRD), ("needless", f"{MUST} (peek)")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("known = 1", "write each entry as"),
        ("[[knwon]]", "did you mean known?"),
        ("[[known", "is not valid TOML"),
        ("[[known]]\nreason='a'\nlink='b'\nexpires=2027-01-01", "has no requirement"),
        (f"[[known]]\nrequirement='{MUST}x'\nreason='a'\nlink='b'\nexpires=2027-01-01", f"did you mean {MUST}?"),
        (f"[[known]]\nrequirement='{MUST}'\nreason=' '\nlink='b'\nexpires=2027-01-01", "has no reason"),
        (f"[[known]]\nrequirement='{MUST}'\nreason='a'\nlink='b'\nexpires='2027-01-01'", "must be a day"),
        (f"[[known]]\nrequirement='{MUST}'\nreason='a'\nlink='b'\nexpires=2027-01-01T00:00:00", "must be a day"),
        (f"[[known]]\nrequirement='{MUST}'\nreason='a'\nlink='b'\nexpire=2027-01-01", "did you mean expires?"),
        (f"[[known]]\nrequirement='{MUST}'\nsubject=1\nreason='a'\nlink='b'\nexpires=2027-01-01", "must be a text"),
        (f"[[known]]\nrequirement='{MUST}'\nreason='a'\nlink='b'\nexpires=2027-01-01\n" * 2, "twice"),
    ],
)
def test_a_baseline_that_is_wrong_says_where(text: str, told: str) -> None:
    with pytest.raises(BaselineError) as caught:
        parse(text, "b.toml")
    assert told in str(caught.value) and "b.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_update_keeps_what_a_person_wrote(tmp_path: Path, stand: Callable[..., Standing]) -> None:
    path = tmp_path / "baseline.toml"
    path.write_text(
        "# ours\n\n"
        f"[[known]]  # since spring\nrequirement = '{MUST}'\nreason = 'slow disk'\nlink = 'https://x/1'\n"
        "expires = 2026-12-01\n\n"
        f"[[known]]\nrequirement = '{OTHER}'\nreason = 'b'\nlink = 'https://x/2'\nexpires = 2026-12-01\n"
    )
    now = stand((MUST, Outcome.FAIL), (OTHER, Outcome.PASS), (THIRD, Outcome.FAIL))
    found = update(path, now, today=TODAY, reason="new", link="https://x/3")
    assert [entry.requirement for entry in found.removed] == [OTHER]
    assert [entry.requirement for entry in found.added] == [THIRD]
    assert "# ours" in found.text and "# since spring" in found.text and "slow disk" in found.text
    assert f'+requirement = "{THIRD}"' in found.diff and f"-requirement = '{OTHER}'" in found.diff
    path.write_text(found.text)
    assert {entry.requirement for entry in read_baseline(path)} == {MUST, THIRD}
    assert update(path, now, today=TODAY, reason="", link="").diff == ""
    assert kinds(now, baseline=read_baseline(path)) == []


def test_an_update_needs_a_reason_for_what_is_new_and_renews_only_when_asked(
    tmp_path: Path, stand: Callable[..., Standing]
) -> None:
    path = tmp_path / "baseline.toml"
    now = stand((MUST, Outcome.FAIL))
    with pytest.raises(BaselineError, match="give --reason and --link"):
        update(path, now, today=TODAY, reason="", link="https://x")
    path.write_text(update(path, now, today=TODAY, reason="a", link="b").text)
    later = TODAY + timedelta(200)
    assert update(path, now, today=later, reason="", link="").diff == ""
    renewed = update(path, now, today=later, reason="", link="", renew=True)
    assert [entry.requirement for entry in renewed.renewed] == [MUST]
    path.write_text(renewed.text)
    assert read_baseline(path)[0].expires > later


@given(st.dictionaries(st.sampled_from([MUST, OTHER, THIRD, SHOULD]), st.sampled_from(list(Outcome)), min_size=1))
def test_a_run_is_no_regression_of_itself(outcomes: dict[str, Outcome]) -> None:
    deviating = {
        name: {"receive": outcome}
        for name, outcome in outcomes.items()
        if outcome in (Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY)
    }
    judged = frozenset(outcomes) - {name for name, one in outcomes.items() if one in UNSAID - {Outcome.FLAKY}}
    now = Standing("x", None, "must", outcomes, deviating, judged, frozenset("a"), frozenset("b"), frozenset(), None)
    decision = decide(now, before=now)
    assert not decision.objections
    assert {requirement for requirement, _ in decision.known} == set(deviating)
    excused = decide(now, baseline=[known(name) for name in deviating], today=TODAY)
    assert not excused.objections


def test_far_fewer_requirements_than_the_floor_shut_it(stand: Callable[..., Standing], tmp_path: Path) -> None:
    names = [entry.id for entry in catalogue() if entry.level == "must" and entry.checked == "call"][:100]
    whole = stand(*((name, Outcome.PASS) for name in names))
    few, enough = (stand(*((name, Outcome.PASS) for name in names[:number])) for number in (94, 95))
    path = tmp_path / "baseline.toml"
    update_in(path, whole)
    floor = read_floor(path)
    assert floor is not None and floor.least == 95
    assert kinds(few, floor=floor) == [("floor", few.name)]
    (objection,) = decide(few, floor=floor, today=TODAY).objections
    assert objection.why == f"94 requirements were judged, and the floor is 95 (5% below the 100 of {path})"
    assert kinds(enough, floor=floor) == []
    assert ("floor", few.name) in kinds(few, before=whole) and ("floor", few.name) not in kinds(enough, before=whole)
    assert kinds(few, floor=Floor(0, "--floor")) == []
    # What is near enough is not written anew; what is not, is.
    assert not update(path, enough, today=TODAY, reason="", link="").diff
    assert "+judged = 94" in update(path, few, today=TODAY, reason="", link="").diff


def update_in(path: Path, now: Standing) -> None:
    path.write_text(update(path, now, today=TODAY, reason="", link="").text, encoding="utf-8")


def test_a_baseline_without_a_floor_sets_none(tmp_path: Path) -> None:
    path = tmp_path / "baseline.toml"
    path.write_text("# nothing known\n", encoding="utf-8")
    assert read_floor(path) is None and read_baseline(path) == ()
    path.write_text("[floor]\njudged = 'many'\n", encoding="utf-8")
    for read in (read_floor, read_baseline):
        with pytest.raises(BaselineError, match="has no judged"):
            read(path)
