"""The roll-up: worst outcome wins, sections follow the documents, nothing is lost in folding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.report.findings import MAX_SHOWN, groups
from conformance.report.summary import summary
from conformance.report.table import conclusion, folded, judged_words, roll_up, section_title
from conformance.report.text import block, label, value_text, visible
from conformance.runlog import Run, RunWriter, StoryStep
from conformance.spec.catalogue import catalogue
from conformance.verdict import ExitCode, Outcome, Verdict
from tools.section_titles import generate

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"


def record(*outcomes: Outcome, name: str = BROKEN) -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        for outcome in outcomes:
            writer.verdict(Verdict(name, outcome, "s", reason="because"), suite="cursors", test="t")

    return fill


@pytest.mark.parametrize(
    ("outcomes", "rolled"),
    [
        ((Outcome.PASS, Outcome.FAIL, Outcome.SKIP), Outcome.FAIL),
        ((Outcome.PASS, Outcome.WARN), Outcome.WARN),
        ((Outcome.FLAKY, Outcome.TIMEOUT, Outcome.CRASH), Outcome.CRASH),
        ((Outcome.PASS,), Outcome.PASS),
    ],
)
def test_a_requirement_gets_its_worst_outcome(
    make_run: Callable[..., Run], outcomes: tuple[Outcome, ...], rolled: Outcome
) -> None:
    table = roll_up(make_run(record(*outcomes)))
    row = next(row for row in table.rows if row.id == BROKEN)
    assert row.outcome is rolled and row.seen == len(outcomes)
    assert table.counts == {rolled: 1}
    section = next(section for section in table.sections if section.number == "3.2.7.3")
    assert (section.document, section.outcome) == ("MS-MQDMPR", rolled)


def test_each_requirement_says_how_often_its_condition_came_about(make_run: Callable[..., Run]) -> None:
    """What judges shows that it did, a skip that it did not; what is inconclusive leaves it open."""
    run = make_run(record(Outcome.PASS, Outcome.SKIP, Outcome.WARN, Outcome.SKIP, Outcome.SKIP, Outcome.INCONCLUSIVE))
    row = next(row for row in roll_up(run).rows if row.id == BROKEN)
    assert (row.met, row.unmet, row.seen) == (2, 3, 6)
    assert summary(run)["conditions"] == {"met": 1, "not_met": {BROKEN: {"met": 2, "not_met": 3}}}
    assert summary(make_run(record(Outcome.PASS)))["conditions"] == {"met": 1, "not_met": {}}
    assert summary(make_run(record(Outcome.SKIP)))["conditions"]["met"] == 0


@pytest.mark.parametrize("outcome", [Outcome.SKIP, Outcome.INCONCLUSIVE])
def test_what_says_nothing_is_not_coverage(make_run: Callable[..., Run], outcome: Outcome) -> None:
    run = make_run(record(outcome))
    assert roll_up(run).judged == 0
    assert conclusion(run) is ExitCode.NOTHING_JUDGED
    assert summary(run)["exit_code"] == 5


def test_unjudged_requirements_stay_in_the_denominator(make_run: Callable[..., Run]) -> None:
    table = roll_up(make_run(record(Outcome.PASS)))
    assert table.judged == 1
    checkable = [one for one in catalogue() if one.binds("msmq-4.0") and one.checked not in ("none", "white-box")]
    assert table.demanded == len(checkable) > 1


def test_a_demand_of_a_later_version_is_not_demanded(make_run: Callable[..., Run]) -> None:
    later = [one.id for one in catalogue() if not one.binds("msmq-1.0")]
    ids = {row.id for row in roll_up(make_run(profile="msmq-1.0")).rows}
    assert later, "the catalogue has no demand that depends on the version: choose another check"
    assert not ids & set(later)


def test_sections_stand_in_the_order_of_their_numbers(typical: Run) -> None:
    numbers = [
        tuple(map(int, section.number.split(".")))
        for section in roll_up(typical).sections
        if section.document == "MS-MQDMPR"
    ]
    assert numbers == sorted(numbers)
    assert (3, 1, 7, 1, 9) in numbers and (3, 1, 7, 1, 10) in numbers


@pytest.mark.parametrize("at_most", [1, 5, 12, 1000])
def test_folding_sections_loses_no_requirement(typical: Run, at_most: int) -> None:
    table = roll_up(typical)
    small = folded(table.sections, at_most)
    assert sorted(row.id for section in small for row in section.rows) == sorted(row.id for row in table.rows)
    chapters = {(section.document, *section.number.split(".")[:2]) for section in table.sections}
    assert len(small) <= max(at_most, len(chapters)), "only chapters stay apart"
    assert len({(section.document, section.number) for section in small}) == len(small)


def test_findings_are_worst_first_bounded_and_lead_with_the_shortest_story(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        for length in range(9, 0, -1):
            ref = writer.verdict(Verdict(BROKEN, Outcome.FAIL, f"{length}"), suite="cursors", test="t")
            writer.story(ref, [StoryStep("step")] * length)
        record(Outcome.CRASH, name="MQMQ-2.4.illegal-formatname")(writer)
        record(Outcome.WARN, Outcome.READING)(writer)

    run = make_run(fill)
    failures, notable = groups(run, roll_up(run))
    assert [(group.outcome, group.more) for group in failures] == [(Outcome.FAIL, 9 - MAX_SHOWN), (Outcome.CRASH, 0)]
    assert [finding.recorded.verdict.subject for finding in failures[0].shown] == list("12345")
    assert {group.outcome for group in notable} == {Outcome.WARN, Outcome.READING}
    run = make_run(fill, reading_set="strict")
    failures, _ = groups(run, roll_up(run))
    assert failures[-1].outcome is Outcome.READING
    assert BROKEN in summary(run)["failures"]


def test_summary_has_all_keys_whatever_the_run_holds(make_run: Callable[..., Run], typical: Run) -> None:
    empty = summary(make_run(footer=None))
    full = summary(typical)
    assert empty.keys() == full.keys()
    assert (empty["complete"], empty["stop_reason"], empty["exit_code"]) == (False, None, 5)
    assert (full["complete"], full["stop_reason"], full["exit_code"]) == (True, "completed", 1)
    assert full["implementation"] == {"name": "acme-mq", "version": "2.1", "profile": "msmq-4.0"}
    assert sum(full["requirements"].values()) == sum(
        sum(section["requirements"].values()) for section in full["sections"]
    )


def test_hidden_characters_are_shown_as_escapes() -> None:
    assert visible("a\u202eb\u200d\ufeff\x1b[2J\x00\ud800\u2028\n") == (
        "a\\u202eb\\u200d\\ufeff\\x1b[2J\\x00\\ud800\\u2028\\x0a"
    )
    assert visible("é 日本 Ω — ß") == "é 日本 Ω — ß"
    assert block("a\n\tb\r") == "a\n\tb\\x0d"
    assert len(label("x" * (1 << 20))) < 500 and "1,048,576" in label("x" * (1 << 20))


def test_values_are_readable_and_bounded() -> None:
    assert value_text({"status": 0xC00E001B}) == '{"status": "MQ_ERROR_IO_TIMEOUT (0xC00E001B)"}'
    assert value_text(0xC00E001B) == "MQ_ERROR_IO_TIMEOUT (0xC00E001B)"
    assert value_text({"priority": 3, "ok": True, "at": None}) == '{"priority": 3, "ok": true, "at": null}'
    assert value_text("a\nb") == '"a\\nb"'
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    for value in (deep, list(range(10**6)), {str(number): number for number in range(10**5)}, "x" * 10**7, 2**9000):
        assert len(value_text(value)) < 7_000


def test_section_titles_are_those_of_the_documents() -> None:
    assert section_title("MS-MQDMPR", "3.2.7.3") == "Get Next Message For Peek"
    assert section_title("MS-MQMQ", "2.2.19.1") == "BaseHeader"
    assert section_title("MS-MQMQ", "9.9") == section_title("unknown", "") == ""
    missing = {(one.document, one.section) for one in catalogue() if not section_title(one.document, one.section)}
    assert missing == set()


def test_section_titles_are_what_the_documents_generate(documents: Path) -> None:
    path = Path(__file__).parents[2] / "conformance" / "report" / "titles.toml"
    assert path.read_text(encoding="utf-8") == generate(documents)


def test_the_judged_requirements_add_up_and_a_skip_hides_no_pass(make_run: Callable[..., Run]) -> None:
    names = [demand.id for demand in catalogue() if demand.checked == "call"][:4]

    def fill(writer: RunWriter) -> None:
        said = [(names[0], Outcome.PASS), (names[0], Outcome.SKIP), (names[1], Outcome.SKIP), (names[2], Outcome.PASS)]
        said += [(names[3], Outcome.INCONCLUSIVE), (names[3], Outcome.PASS)]
        for at, (name, outcome) in enumerate(said):
            reason = None if outcome is Outcome.PASS else "nobody is there"
            writer.verdict(Verdict(name, outcome, "receive", reason=reason), suite=f"suite{at}", test="t")

    table = roll_up(make_run(fill))
    rolled = {row.id: row.outcome for row in table.rows if row.outcome is not None}
    expected = (Outcome.PASS, Outcome.SKIP, Outcome.PASS, Outcome.INCONCLUSIVE)
    assert rolled == dict(zip(names, expected, strict=True))
    assert table.judged == 3 and judged_words(table) == "1 inconclusive, 2 pass; beside them 1 skip"
