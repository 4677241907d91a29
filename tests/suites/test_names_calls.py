"""Creating and opening under malformed names: an honest queue table passes, each defective one is found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import honest_names as parsers
import pytest

from conformance.adapter.session import Result
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.spec.catalogue import assignment
from conformance.suites.names import rejudge
from conformance.suites.names import test_mqdmpr_3_1_7_1_3_create_queue as creating
from conformance.suites.names import test_mqmp_3_1_4_17_open_queue as opening
from conformance.suites.names.checks import local_path
from conformance.verdict import Outcome, Verdict

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
