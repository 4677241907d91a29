"""The gate, its numbers, and differences of two runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import conformance
from conformance.files import resource
from conformance.judge.packets import judge
from conformance.judge.rules import Const
from conformance.report.comparison import (
    ADDED,
    BROKEN,
    CHANGED,
    FIXED,
    GONE,
    diff,
    differences_markdown,
    matrix,
    matrix_markdown,
    sentence,
    text_lines,
)
from conformance.report.gate import Decision, decide
from conformance.report.standing import (
    BaselineError,
    Floor,
    Known,
    RunSummary,
    parse,
    read_baseline,
    read_floor,
    standing,
    update,
)
from conformance.runlog import Run, RunWriter, Tally, read_run
from conformance.runlog.counts import NO_JUDGEMENT
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
def stand(make_run: Callable[..., Run]) -> Callable[..., RunSummary]:
    def make(*told: tuple[str, Outcome] | tuple[str, Outcome, str], **header: object) -> RunSummary:
        return standing(make_run(filled(*told), **header))

    return make


def kinds(now: RunSummary, **options: object) -> list[tuple[str, str]]:
    decision = decide(now, today=TODAY, **options)  # type: ignore[arg-type]
    return [(objection.kind, objection.what) for objection in decision.objections]


def known(requirement: str, subject: str | None = None, *, days: int = 30) -> Known:
    return Known(requirement, "not yet", "https://example.org/1", TODAY + timedelta(days), subject)


def test_without_anything_to_compare_with_every_deviation_shuts_it(stand: Callable[..., RunSummary]) -> None:
    now = stand((MUST, Outcome.FAIL), (OTHER, Outcome.PASS), (THIRD, Outcome.CRASH))
    assert sorted(kinds(now)) == sorted([("deviation", MUST), ("deviation", THIRD)])
    decision = decide(now)
    assert decision.exit_code is ExitCode.DEVIATES
    assert decision.sentence.startswith("gate: shut: 2 deviations (") and MUST in decision.sentence
    assert decide(stand((MUST, Outcome.PASS))).exit_code is ExitCode.CONFORMS


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY])
def test_what_deviated_before_is_no_regression(outcome: Outcome, stand: Callable[..., RunSummary]) -> None:
    before = stand((MUST, Outcome.FAIL), (OTHER, Outcome.PASS))
    assert kinds(stand((MUST, outcome), (OTHER, Outcome.PASS)), before=before) == []
    assert kinds(stand((MUST, outcome), (OTHER, outcome)), before=before) == [("deviation", OTHER)]


def test_a_weaker_demand_counts_at_its_level_alone(stand: Callable[..., RunSummary]) -> None:
    told = (MUST, Outcome.PASS), (SHOULD, Outcome.WARN)
    assert kinds(stand(*told)) == []
    assert kinds(stand(*told, level="should")) == [("deviation", SHOULD)]


def test_another_reading_deviates_under_strict_alone(stand: Callable[..., RunSummary]) -> None:
    assert kinds(stand((MUST, Outcome.READING))) == []
    assert kinds(stand((MUST, Outcome.READING), reading_set="strict")) == [("deviation", MUST)]


def test_judging_less_is_a_regression(stand: Callable[..., RunSummary]) -> None:
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


def test_an_error_of_the_harness_keeps_it_shut(stand: Callable[..., RunSummary]) -> None:
    told = (MUST, Outcome.FAIL), (OTHER, Outcome.ERROR), (THIRD, Outcome.PASS)
    assert kinds(stand(*told), baseline=[known(MUST)]) == [("error", OTHER)]
    assert kinds(stand(*told), before=stand(*told)) == [("error", OTHER)]


def test_nothing_judged_is_not_open(stand: Callable[..., RunSummary]) -> None:
    decision = decide(stand((MUST, Outcome.SKIP)))
    assert decision.exit_code is ExitCode.NOTHING_JUDGED
    assert decision.sentence == "gate: shut: nothing was judged"


def test_the_baseline_excuses_until_its_day(stand: Callable[..., RunSummary]) -> None:
    now = stand((MUST, Outcome.FAIL, "receive"), (MUST, Outcome.FAIL, "peek"), (OTHER, Outcome.PASS))
    assert kinds(now, baseline=[known(MUST)]) == []
    assert kinds(now, baseline=[known(MUST, days=0)]) == []
    assert kinds(now, baseline=[known(MUST, days=-1)]) == [("expired", MUST)]
    assert kinds(now, baseline=[known(MUST, "peek")]) == [("deviation", MUST)]
    assert kinds(now, baseline=[known(MUST, "peek"), known(MUST, "receive")]) == []


def test_an_excuse_that_is_not_needed_is_named(stand: Callable[..., RunSummary]) -> None:
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


def test_an_update_keeps_what_a_person_wrote(tmp_path: Path, stand: Callable[..., RunSummary]) -> None:
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
    tmp_path: Path, stand: Callable[..., RunSummary]
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
    now = RunSummary("x", None, "must", outcomes, deviating, judged, frozenset("a"), frozenset("b"), frozenset(), None)
    decision = decide(now, before=now)
    assert not decision.objections
    assert {requirement for requirement, _ in decision.known} == set(deviating)
    excused = decide(now, baseline=[known(name) for name in deviating], today=TODAY)
    assert not excused.objections


def test_far_fewer_requirements_than_the_floor_shut_it(stand: Callable[..., RunSummary], tmp_path: Path) -> None:
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


def update_in(path: Path, now: RunSummary) -> None:
    path.write_text(update(path, now, today=TODAY, reason="", link="").text, encoding="utf-8")


def test_a_baseline_without_a_floor_sets_none(tmp_path: Path) -> None:
    path = tmp_path / "baseline.toml"
    path.write_text("# nothing known\n", encoding="utf-8")
    assert read_floor(path) is None and read_baseline(path) == ()
    path.write_text("[floor]\njudged = 'many'\n", encoding="utf-8")
    for read in (read_floor, read_baseline):
        with pytest.raises(BaselineError, match="has no judged"):
            read(path)


RULE = "MQMQ-2.2.20.1.destination/offset"
CAPTURE = resource("fixtures/captures/consistent-session.pcapng")


def counted(rules: Iterable[str] = (), phases: Iterable[tuple[str, str]] = ()) -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict("MQMQ-2.2.20.1.destination", Outcome.PASS, "s"), suite="packets", test="t.py::t")
        tally = Tally()
        tally.rules.update(rules)
        tally.phases.update(phases)
        writer.tally(tally)

    return fill


def compared(now: Run, before: Run) -> list[tuple[str, str]]:
    return told(decide(standing(now), before=standing(before)))


def told(decision: Decision) -> list[tuple[str, str]]:
    return [(objection.kind, objection.what) for objection in decision.objections]


def test_a_silent_rule_and_a_silent_phase_are_named(make_run: Callable[..., Run]) -> None:
    before = make_run(counted([RULE], [("packets", "control"), ("packets", "encode")]))
    assert compared(before, before) == []
    assert compared(make_run(counted([], [("packets", "encode")])), before) == [
        ("unjudged", "packets: control"),
        ("unjudged", RULE),
    ]


def test_a_lost_suite_is_told_without_its_phases(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        counted(phases=[("packets", "encode"), ("names", "control")])(writer)
        writer.verdict(Verdict("MQMQ-2.1.1.queue-name", Outcome.PASS, "s"), suite="names", test="n.py::t")

    lost = compared(make_run(counted(phases=[("packets", "encode")])), make_run(fill))
    assert lost == [
        ("floor", "embedded"),
        ("unjudged", "names"),
        ("unjudged", "n.py::t"),
        ("unjudged", "MQMQ-2.1.1.queue-name"),
    ]


def test_records_that_do_not_count_are_compared_without_and_said_so(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict("MQMQ-2.2.20.1.destination", Outcome.PASS, "s"), suite="packets", test="t.py::t")

    old, new = make_run(fill, connector="old"), make_run(counted([RULE]), connector="new")
    for now, before in ((old, new), (new, old)):
        decision = decide(standing(now), before=standing(before))
        assert told(decision) == []
        assert decision.remarks == ("rules and phases are not compared: the record of old does not count them",)
    assert decide(standing(new), before=standing(new)).remarks == ()


def replayed(out: Path) -> Run:
    return read_run(conformance.replay(CAPTURE, out=out).folder)


def test_each_rule_of_a_replay_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation: the rule never applies. Where it was its requirement's only one, the requirement is missed."""
    before = replayed(tmp_path / "before")
    assert compared(replayed(tmp_path / "control"), before) == []
    assert before.tally is not None
    shared = [rule for rule in sorted(before.tally.rules) if "/" in rule]
    ready, never = judge._READY, Const(False)
    monkeypatch.setattr(judge, "_plan", judge._plan.__wrapped__)  # it keeps the rules it was first asked for
    assert len(before.tally.rules) > 50 and len(shared) > 5
    missed = []
    for number, rule in enumerate(shared):
        silent = [judge._Ready(replace(one.rule, applies=never)) if one.rule.id == rule else one for one in ready]
        monkeypatch.setattr(judge, "_READY", tuple(silent))
        lost = compared(replayed(tmp_path / str(number)), before)
        assert ("unjudged", rule) in lost
        assert {what for _, what in lost} <= {rule, rule.partition("/")[0]}
        missed.append(len(lost))
    assert 1 in missed  # the rule alone: its requirement is judged by another one


def test_each_phase_of_a_replay_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.captures import engine
    from conformance.captures.packet_rules import PacketRules

    before = replayed(tmp_path / "before")
    silent: dict[str, Callable[..., object]] = {
        "judge": lambda *args: [],
        "levelled": lambda *args: [],
    }
    for (name, instead), phase in zip(silent.items(), ("packet", "session"), strict=True):
        with monkeypatch.context() as patched:
            patched.setattr(PacketRules, name, instead)
            lost = compared(replayed(tmp_path / phase), before)
        assert ("unjudged", f"replay: {phase}") in lost
    with monkeypatch.context() as patched:
        patched.setattr(engine.Replay, "conclude", lambda *args: None)
        assert compared(replayed(tmp_path / "senders"), before) == [("unjudged", "replay: senders")]


SILENCED = """
import sys
import conformance
from conformance.suites.packets import cases

honest, (folder, which, *phases) = cases.in_phase, sys.argv[1:]
for phase in phases:
    cases.in_phase = lambda name, verdicts: iter(()) if name == phase else honest(name, verdicts)
    out = f"{folder}/{phase}"
    conformance.run(suites="packets", in_process=True, max_examples=1, out=out, pytest_args=["-k", which])
"""


def test_a_suite_that_no_longer_probes_is_missed(tmp_path: Path) -> None:
    """Nothing fails and no requirement is missing: a refusal alone is what whoever refuses everything has too."""
    which = "test_malformed_packets_are_refused and signature"
    command = [sys.executable, "-c", SILENCED, str(tmp_path), which, "none", "neither", "control", "liveness"]
    subprocess.run(command, check=True, timeout=300)
    before = read_run(tmp_path / "none")
    assert compared(read_run(tmp_path / "neither"), before) == []
    for phase in ("control", "liveness"):
        assert compared(read_run(tmp_path / phase), before) == [("unjudged", f"packets: {phase}")]


NAMES = ("MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.4.5.receives-return", "MQMQ-2.2.19.1.signature")
DEVIATES = (Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY)
OUTCOMES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(list(Outcome)))


def stands(outcomes: dict[str, Outcome], name: str = "a") -> RunSummary:
    deviating = {one: {"x": outcome} for one, outcome in outcomes.items() if outcome in DEVIATES}
    judged = frozenset(one for one, outcome in outcomes.items() if outcome not in NO_JUDGEMENT)
    return RunSummary(name, None, "must", outcomes, deviating, judged, frozenset(), frozenset(), frozenset(), None)


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        (Outcome.PASS, Outcome.FAIL, BROKEN),
        (None, Outcome.FAIL, BROKEN),
        (Outcome.SKIP, Outcome.TIMEOUT, BROKEN),
        (Outcome.FAIL, Outcome.PASS, FIXED),
        (Outcome.FAIL, None, GONE),
        (Outcome.PASS, None, GONE),
        (Outcome.PASS, Outcome.SKIP, GONE),
        (Outcome.SKIP, Outcome.PASS, ADDED),
        (None, Outcome.PASS, ADDED),
        (Outcome.FAIL, Outcome.CRASH, CHANGED),
        (Outcome.PASS, Outcome.WARN, CHANGED),
        (None, Outcome.SKIP, CHANGED),
        (Outcome.PASS, Outcome.PASS, None),
    ],
)
def test_each_kind_of_change(before: Outcome | None, now: Outcome | None, kind: str | None) -> None:
    name = NAMES[0]
    found = diff(stands({name: before} if before else {}), stands({name: now} if now else {}))
    assert [change.kind for change in found.changes] == ([kind] if kind else [])
    assert found.same == (0 if kind else 1)


@given(OUTCOMES, OUTCOMES)
def test_nothing_is_lost_and_the_other_way_round_is_the_mirror(
    first: dict[str, Outcome], second: dict[str, Outcome]
) -> None:
    there, back = diff(stands(first), stands(second)), diff(stands(second), stands(first))
    assert len(there.changes) + there.same == len(first.keys() | second.keys())
    assert diff(stands(first), stands(first)).changes == ()
    assert {change.requirement for change in there.changes} == {change.requirement for change in back.changes}
    fixed = {change.requirement for change in there.changes if change.kind == FIXED}
    assert fixed <= {change.requirement for change in back.changes if change.kind == BROKEN}
    json.dumps(there.to_json())
    assert sentence(there) and len(text_lines(there)) == len(there.changes)


def test_names_of_others_cannot_write_markdown() -> None:
    evil = "x|y](http://a) <script>`\n# h"
    text = differences_markdown(diff(stands({}, evil), stands({evil: Outcome.FAIL, NAMES[0]: Outcome.PASS}, evil)))
    assert "<script>" not in text and "\n# h" not in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert len([at for at, one in enumerate(line) if one == "|" and line[at - 1] != "\\"]) == 5


def test_a_matrix_has_a_column_for_each_run(typical: Run, hostile: Run) -> None:
    found = matrix([typical, hostile, typical])
    assert found.columns[0] == "embedded" and found.columns[2] == "embedded (2)"
    assert len(found.totals) == 3
    assert all(len(line.cells) == 3 for line in found.lines)
    row = next(line for line in found.lines if (line.document, line.section) == ("MS-MQDMPR", "3.2.7.3"))
    assert row.cells[0].outcome is Outcome.FAIL and row.cells[0] == row.cells[2]
    assert sum(line.cells[0].judged for line in found.lines) == found.totals[0].judged
    json.dumps(found.to_json())
    text = matrix_markdown(found)
    assert "<script>" not in text and "\x1b" not in text
    assert {line.count(" | ") for line in text.splitlines() if not line.startswith("|---")} >= {3}
