"""The suite of names: cases, families and calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import honest_names as parsers
import pytest
from cases import all_of
from honest_names import InMemoryClient
from hypothesis import given
from nightly import amount

from conformance.adapter.session import Result
from conformance.grammar.names import NameError_, bulk
from conformance.harness.hypothesis_settings import suite_settings
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.judge.names import ONLY, Expectation, NameCase, NameObservation, judge_name
from conformance.spec.catalogue import CatalogueError, assignment, catalogue
from conformance.spec.versions import PROFILES
from conformance.suites.names import rejudge
from conformance.suites.names import test_mqdmpr_3_1_7_1_3_create_queue as creating
from conformance.suites.names import test_mqmp_3_1_4_17_open_queue as opening
from conformance.suites.names.checks import CaseError, check, expand, load, local_path, section
from conformance.suites.names.direct_families import DIRECT_FAMILIES, MACHINE_FAMILIES, MULTIPLE_FAMILIES
from conformance.suites.names.families import (
    LIST_FAMILIES,
    PATH_FAMILIES,
    PRIVATE_FAMILIES,
    PUBLIC_FAMILIES,
    Family,
    explore,
    version_of,
)
from conformance.verdict import Outcome, Verdict

SECTIONS = [f"2.1.{last}" for last in range(1, 8)]
# Names the manager gives out are judged where it gives them out, and ports where it connects, not by parsing.
ELSEWHERE = {f"MQMQ-2.1.{last}.sent" for last in range(1, 8)} | {
    "MQMQ-2.1.2.http-default-port",
    "MQMQ-2.1.2.https-default-port",
}

GROUP = """
section = "2.1.3"
form = "format_name"
control = "PUBLIC={G}"
[[group]]
rule = "PublicName"
"""


@pytest.mark.parametrize("number", SECTIONS)
def test_fixtures_are_sound(number: str) -> None:
    for case in section(number).cases:
        assert case.requirement.startswith(f"MQMQ-{number}.")
        assert case.expected
        assert "{" not in case.text or case.text == "[H]{T}\\q" or "{0123ABCD" in case.text


def test_every_requirement_on_names_has_cases() -> None:
    judged = {name for number in SECTIONS for name in section(number).by_requirement()}
    judged |= {f"MQMQ-{number}.{word}" for number in SECTIONS for word in ("kind", "parts")}
    wanted = {name for name in catalogue().requirements if name.startswith("MQMQ-2.1.")}
    assert wanted - judged == ELSEWHERE


def test_every_reading_on_names_is_decided_by_a_case() -> None:
    decided = {case.reading for number in SECTIONS for case in section(number).cases if case.reading}
    assert decided == {name for name in catalogue().readings if name.startswith("R-MQMQ-") and touches_names(name)}


def touches_names(name: str) -> bool:
    return any(touched.startswith("MQMQ-2.1.") for touched in catalogue().readings[name].requirements)


def test_tokens() -> None:
    assert expand("{ax3}{u+0A}") == "aaa\n"
    assert expand("{G}") == "0123ABCD-4567-89ab-CDEF-0123456789ab"
    assert expand({"elements": ["{bx2}", 1]}) == {"elements": ["bb", 1]}
    with pytest.raises(CaseError, match="repeats more than"):
        expand("{ax99999}")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('requirement = "MQMQ-2.1.3.public"\naccept = [{ queue = "q" }]\nkind = "public"', "lacks 'text'"),
        ('requirement = "MQMQ-2.1.3.journal"\nreading = "R-MQMQ-public-journal"\nreject = ["x"]', "neither"),
        ('requirement = "MQMQ-2.1.3.public"\ndisputed = []\naccept = []\nreading = "R-MQMQ-port"', "neither"),
        (
            'requirement = "MQMQ-2.1.3.journal"\nreading = "R-MQMQ-public-journal"\n'
            'disputed = [{ text = "x", under = { refused = "reject" } }]',
            "other alternatives",
        ),
        ('requirement = "MQMQ-2.1.3.trailing-reject"\nreject = ["x", "x"]', "stands twice"),
    ],
)
def test_an_unsound_fixture_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "names.toml"
    path.write_text(GROUP + lines, encoding="utf-8")
    with pytest.raises(CaseError, match=message):
        load(path)


def test_an_unknown_requirement_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "names.toml"
    path.write_text(GROUP + 'requirement = "MQMQ-2.1.3.publik"\nreject = ["x"]', encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"did you mean MQMQ-2\.1\.3\.public"):
        load(path)


OPTIONS = RunOptions("msmq-4.0", "should", assignment("windows"), "windows", 0, 1, 1)
FULL = 0xC00E0027  # any failure that is not about names


class HonestTable:
    """Creates and opens queues of computer BOX; names are those of the honest parser."""

    hello = SimpleNamespace(computer="BOX")

    def __init__(self) -> None:
        self.names = parsers.HonestNames()
        self.paths: set[str] = set()

    def offers(self, method: str) -> bool:
        return method != "reset"

    def need(self, kind: str, *names: str) -> None:
        """It can be given every kind of name."""

    def call(self, method: str, /, **params: Any) -> Result:
        return getattr(self, method.replace("queues.", ""))(**params)

    def create(self, path_name: str) -> Result:
        if self.names.parse(path_name, "path_name")["status"]:
            return Result(parsers.MALFORMED_PATH, {}, None)
        self.paths.add(path_name.casefold())
        return Result(0, {"format_name": f"DIRECT=OS:{path_name}"}, None)

    def open(self, format_name: str, access: str) -> Result:
        form = "multiple_element" if "," in format_name else "format_name"
        if self.names.parse(format_name, form)["status"]:
            return Result(parsers.MALFORMED_FORMAT, {}, None)
        return self.find(format_name)

    def find(self, format_name: str) -> Result:
        elements = [element.casefold().removeprefix("direct=os:") for element in format_name.split(",")]
        found = all(element in self.paths for element in elements)
        return Result(0, {"queue": "h1"}, None) if found else Result(0xC00E0003, {}, None)

    def close(self, queue: str) -> Result:
        return Result(0, {}, None)


class CreatesBeforeRefusing(HonestTable):
    def create(self, path_name: str) -> Result:
        self.paths.add(path_name.casefold())
        return super().create(path_name)

    def open(self, format_name: str, access: str) -> Result:
        return self.find(format_name)


class CreatesMalformed(HonestTable):
    def create(self, path_name: str) -> Result:
        self.paths.add(path_name.casefold())
        return Result(0, {"format_name": f"DIRECT=OS:{path_name}"}, None)


class OpensMalformed(HonestTable):
    def open(self, format_name: str, access: str) -> Result:
        return super().open(format_name, access) if access == "receive" else Result(0, {"queue": "h1"}, None)


class AcceptsReadOnlyElement(HonestTable):
    def open(self, format_name: str, access: str) -> Result:
        return Result(0, {"queue": "h1"}, None) if "," in format_name else super().open(format_name, access)


class CreatesNothing(HonestTable):
    def create(self, path_name: str) -> Result:
        return Result(FULL, {}, None)


class LosesQueuesWhenRefusing(HonestTable):
    def create(self, path_name: str) -> Result:
        answer = super().create(path_name)
        if not answer.ok:
            self.paths.clear()
        return answer


def judged(act: Any, table: HonestTable, argument: Any) -> tuple[list[Verdict], ConformanceFailure | None]:
    seen: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, times: seen.append(verdict))
    client: Any = table
    try:
        act(argument, client, judge, lambda *_: None)
    except ConformanceFailure as failure:
        return seen, failure
    judge.flush()
    return seen, None


@pytest.mark.parametrize("rule", ["queue-name-plus-reject", "separator", "queue-name-too-long"])
def test_honest_table_refuses_creation(rule: str) -> None:
    seen, failure = judged(creating.test_malformed_path_name, HonestTable(), rule)
    assert failure is None
    assert {verdict.outcome for verdict in seen} == {Outcome.PASS}
    assert len(seen) == 4


@pytest.mark.parametrize("number", ["2.1.2", "2.1.4", "2.1.7"])
def test_honest_table_refuses_opening(number: str) -> None:
    seen, failure = judged(opening.test_malformed_format_name, HonestTable(), number)
    assert failure is None
    assert {verdict.outcome for verdict in seen} == {Outcome.PASS}


def test_honest_table_refuses_read_only_elements() -> None:
    seen, failure = judged(opening.test_read_only_element, HonestTable(), True)
    assert failure is None
    assert [verdict.outcome for verdict in seen] == [Outcome.PASS]


@pytest.mark.parametrize(
    ("table", "act", "argument", "breaks"),
    [
        (CreatesMalformed, creating.test_malformed_path_name, "queue-name-plus-reject", creating.INVALID_CREATION),
        (CreatesBeforeRefusing, creating.test_malformed_path_name, "queue-name-plus-reject", creating.NOTHING_CREATED),
        (LosesQueuesWhenRefusing, creating.test_malformed_path_name, "separator", creating.OPENED),
        (OpensMalformed, opening.test_malformed_format_name, "2.1.3", opening.MALFORMED_OPEN),
        (AcceptsReadOnlyElement, opening.test_read_only_element, False, opening.READ_ONLY),
    ],
)
def test_defect_is_found(table: type[HonestTable], act: Any, argument: Any, breaks: str) -> None:
    _, failure = judged(act, table(), argument)
    assert failure is not None
    assert failure.verdict.requirement == breaks


def test_a_table_that_creates_nothing_is_not_praised() -> None:
    for act, argument in (
        (creating.test_malformed_path_name, "separator"),
        (opening.test_malformed_format_name, "2.1.3"),
        (opening.test_read_only_element, True),
    ):
        seen, failure = judged(act, CreatesNothing(), argument)
        assert failure is None
        assert [verdict.outcome for verdict in seen] == [Outcome.INCONCLUSIVE]


def test_repros_are_judged_again() -> None:
    for act, argument, table in (
        (creating.test_malformed_path_name, "queue-name-plus-reject", CreatesMalformed),
        (opening.test_malformed_format_name, "2.1.3", OpensMalformed),
    ):
        _, failure = judged(act, table(), argument)
        assert failure is not None
        faulty: Any = table()
        honest: Any = HonestTable()
        assert rejudge.rejudge(failure.repro, faulty, OPTIONS)[0].outcome is Outcome.FAIL
        assert rejudge.rejudge(failure.repro, honest, OPTIONS)[0].outcome is Outcome.PASS


def test_path_names_move_to_the_computer_judged() -> None:
    assert local_path("HOST\\a+b", "BOX") == "BOX\\private$\\a+b"
    assert local_path("HOST\\private$\\a+b", "BOX") == "BOX\\private$\\a+b"
    assert local_path("no path", "BOX") == "no path"


FAMILIES = (
    *PATH_FAMILIES,
    *DIRECT_FAMILIES,
    *PUBLIC_FAMILIES,
    *PRIVATE_FAMILIES,
    *LIST_FAMILIES,
    *MACHINE_FAMILIES,
    *MULTIPLE_FAMILIES,
)
GRAMMAR = {1: "1.0", 2: "2.0", 3: "2.0", 4: "4.0", 5: "4.0", 6: "4.0"}


def _options(profile: str = "msmq-4.0") -> RunOptions:
    return RunOptions(profile, "must", assignment("windows"), "windows", 0, amount("names.examples-of-a-family"), 1)


def _explored(family: Family, parser: parsers.HonestNames) -> None:
    client: Any = InMemoryClient(parser)
    explore(family, client, Recorder(_options(), lambda *_: None), lambda *_: None, _options())


@all_of("family", FAMILIES, ids=lambda each: f"{each.requirement}-{each.reading}-{each.since}")
def test_honest_parser_passes(family: Family) -> None:
    if family.binds("msmq-4.0"):
        _explored(family, parsers.HonestNames())


@pytest.mark.parametrize(
    ("parser", "breaks"),
    [
        (parsers.AcceptsPlusInQueueName, {"MQMQ-2.1.1.queue-name-plus-reject", "MQMQ-2.1.2.queue-name-reject"}),
        (parsers.RefusesUppercasePrivate, {"MQMQ-2.1.1.keyword-case", "MQMQ-2.1.2.private-queue"}),
        (parsers.TakesPrivateForPublic, {"MQMQ-2.1.1.parts", "MQMQ-2.1.2.parts"}),
        (parsers.ReadsIdentifierAsDecimal, {"MQMQ-2.1.4.parts"}),
        (parsers.TellsMachineAsPublic, {"MQMQ-2.1.6.kind"}),
        (parsers.AcceptsAnyDigit, {"MQMQ-2.1.6.port-range-reject", "MQMQ-2.1.6.octet-zero-reject"}),
        (parsers.AcceptsEverything, {"MQMQ-2.1.1.separator", "MQMQ-2.1.7.separator-reject"}),
        (parsers.RefusesEverything, {"MQMQ-2.1.1.public-path", "MQMQ-2.1.7.elements"}),
    ],
)
def test_a_defect_of_a_family_is_found(
    parser: type[parsers.HonestNames], breaks: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hypothesis.core.global_force_seed", 2)  # rare members of a family: found or not by the seed
    broken: set[str] = set()
    for family in FAMILIES:
        if family.binds("msmq-4.0") and breaks.intersection(family.claims()) - broken:
            try:
                _explored(family, parser())
            except ConformanceFailure as failure:
                broken.add(failure.verdict.requirement)
    assert breaks <= broken


@all_of("family", FAMILIES, ids=lambda each: f"{each.requirement}-{each.reading}-{each.since}")
def test_the_grammars_agree(family: Family) -> None:
    profile = next(each for each in reversed(PROFILES) if family.binds(each))

    @suite_settings(max_examples=8, derandomize=True)
    @given(family.cases(version_of(profile)))
    def run(case: NameCase) -> None:
        for alternative, choices in case.expected.items():
            agreed = [_agrees(case, wanted, alternative, profile) for wanted in choices]
            assert any(agreed), (case, alternative)

    run()


def _agrees(case: NameCase, wanted: Expectation, alternative: str, profile: str) -> bool:
    readings = {} if alternative == ONLY else {str(case.reading): alternative}
    try:
        name = bulk(GRAMMAR[version_of(profile)], readings).parse(case.text, case.form)
    except NameError_:
        return not wanted.accepted
    plain = NameCase(case.text, case.form, *[case.requirement] * 4, {ONLY: (wanted,)})
    seen = NameObservation(True, 0, name.kind, name.parts)
    return judge_name(plain, seen, {})[-1].outcome.value == "pass" and wanted.accepted


@dataclass
class Outcomes:
    """What the suite said of a parser: outcomes counted by requirement, and what failed first for each check."""

    counts: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    failures: dict[str, ConformanceFailure] = field(default_factory=dict)

    def sink(self, verdict: Verdict, times: int) -> None:
        self.counts[verdict.requirement, verdict.outcome] += times


def run(parser: parsers.HonestNames, *, level: str = "must", readings: str = "windows") -> Outcomes:
    options = RunOptions("msmq-4.0", level, assignment(readings), readings, 0, 1, 1)
    found = Outcomes()
    client: Any = InMemoryClient(parser)
    for number in SECTIONS:
        for name in section(number).by_requirement():
            judge = Recorder(options, found.sink)
            try:
                check(number, name, client, judge, lambda *_: None)
            except ConformanceFailure as failure:
                found.failures[name] = failure
            except pytest.skip.Exception:
                continue
            judge.flush()
    return found


def test_honest_parser_passes_everything() -> None:
    found = run(parsers.HonestNames(), level="may")
    assert {name: failure.verdict for name, failure in found.failures.items()} == {}
    assert {outcome for _, outcome in found.counts} == {Outcome.PASS}
    assert len(found.counts) >= 95


@pytest.mark.parametrize(
    ("parser", "breaks"),
    [
        (parsers.AcceptsPlusInQueueName, {"MQMQ-2.1.1.queue-name-plus-reject", "MQMQ-2.1.2.queue-name-reject"}),
        (parsers.RefusesUppercasePrivate, {"MQMQ-2.1.1.keyword-case", "MQMQ-2.1.2.private-queue"}),
        (parsers.TakesPrivateForPublic, {"MQMQ-2.1.1.parts", "MQMQ-2.1.2.parts"}),
        (parsers.ReadsIdentifierAsDecimal, {"MQMQ-2.1.4.parts"}),
        (parsers.TellsMachineAsPublic, {"MQMQ-2.1.6.kind"}),
        (parsers.AcceptsAnyDigit, {"MQMQ-2.1.6.port-range-reject", "MQMQ-2.1.6.octet-zero-reject"}),
        (parsers.StripsSpace, {"MQMQ-2.1.1.computer-alphabet-reject", "MQMQ-2.1.3.trailing-reject"}),
        (parsers.AcceptsEverything, {"MQMQ-2.1.1.separator", "MQMQ-2.1.7.separator-reject", "MQMQ-2.1.1.parts"}),
        (parsers.RefusesEverything, {"MQMQ-2.1.1.public-path", "MQMQ-2.1.7.elements"}),
        (parsers.BreaksAfterHostileName, {"MQMQ-2.1.1.computer-too-long"}),
    ],
)
def test_a_defect_of_the_suite_is_found(parser: type[parsers.HonestNames], breaks: set[str]) -> None:
    found = run(parser())
    broken = {failure.verdict.requirement for failure in found.failures.values()}
    assert breaks <= broken


def test_a_wrong_code_is_a_warning_below_its_level() -> None:
    demand = "MQMQ-2.4.illegal-queue-pathname"
    lax, exact = run(parsers.WrongCode()), run(parsers.WrongCode(), level="should")
    assert not lax.failures
    assert lax.counts[demand, Outcome.WARN] > 0
    assert {failure.verdict.requirement for failure in exact.failures.values()} == {demand}


def test_whoever_refuses_every_name_is_not_praised_for_refusing() -> None:
    counts = run(parsers.RefusesEverything()).counts
    refusals = {name for name in catalogue().requirements if name.startswith("MQMQ-2.1.") and "reject" in name}
    passed = {name for (name, outcome) in counts if outcome is Outcome.PASS} & refusals
    disputed = {name for reading in catalogue().readings.values() for name in reading.requirements}
    assert passed <= disputed


def test_windows_answers_are_readings_under_the_letter() -> None:
    broken = run(parsers.HonestNames(), readings="strict").failures
    assert "MQMQ-2.1.6.port" in broken
    assert "MQMQ-2.1.3.journal" in broken
    assert "MQMQ-2.1.3.public" not in broken


def test_a_failure_can_be_judged_again_from_its_repro() -> None:
    found = run(parsers.AcceptsPlusInQueueName())
    failure = found.failures["MQMQ-2.1.1.queue-name-plus-reject"]
    options = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 1)
    faulty: Any = InMemoryClient(parsers.AcceptsPlusInQueueName())
    honest: Any = InMemoryClient(parsers.HonestNames())
    assert rejudge.rejudge(failure.repro, faulty, options)[0].outcome is Outcome.FAIL
    assert rejudge.rejudge(failure.repro, honest, options)[0].outcome is Outcome.PASS


@pytest.mark.parametrize("repro", [{"kind": "name"}, {"kind": "packet"}, {"kind": "open-name", "access": "send"}])
def test_a_foreign_repro_is_refused(repro: dict[str, str]) -> None:
    options = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 1)
    client: Any = InMemoryClient(parsers.HonestNames())
    client.offers = lambda method: False
    client.hello = type("Hello", (), {"computer": "HOST"})()
    client.call = lambda method, **params: Result(0, {"queue": "h"}, None)
    with pytest.raises(rejudge.NotRepeatable):
        rejudge.rejudge(repro, client, options)
